"""Saves figures below /output: when the program shows them, and at its end those that are open or have changed.

Methods of the program's figures may do anything, and have the program's rights: the harness's own functions (files.c) open
the files, and a figure only gets a file object to write into.
"""
import sys

MIMES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "svg": "image/svg+xml", "pdf": "application/pdf",
         "json": "application/vnd.plotly.v1+json", "html": "text/html"}


def mime_of(name):
    return MIMES.get(name.rpartition(".")[2])


# ---- files ----

def write_figure(path, save, most):
    """Have save(file) write a figure, and announce it. Returns its size in bytes and the hash of its content; a figure above
    `most` bytes is not kept."""
    from io import BytesIO
    file = BytesIO()  # a figure on disk is always whole, also if the cell is killed meanwhile
    save(file)
    data = file.getvalue()
    if len(data) > most:
        discard(path)
        return len(data), None
    make_folder(path.rpartition("/")[0])
    put_file(path, data)
    return len(data), tell(path, data)


def tell(path, data):
    """Announce a figure with the hash of its content, by which the launcher tells it from other files. Returns the hash."""
    digest = hash_of(data)
    name = figure_path(path)
    if name is not None:
        tell_figure(name, digest)
    return digest


def hash_of(data):
    import sys
    if sys.version_info >= (3, 12):
        from _sha2 import sha256
    else:
        from _sha256 import sha256
    return sha256(data).hexdigest()


def discard(path):
    """Remove an earlier version of the figure."""
    try:
        remove_file(path)
    except OSError:
        pass


def remove_empty(folder):
    try:
        remove_folder(folder)
    except OSError:
        pass  # the directory does not exist, or has files of the guest


def new_stem(kind):
    import os
    return f"{kind}_{os.urandom(6).hex()}"


# ---- figures of matplotlib ----

class Saved:
    """A figure as it was when it was saved, and whether it has changed since."""

    def __init__(self, figure, stem=None):
        from _weakref import ref
        self.figure = ref(figure)
        self.stem = stem  # stem of the names of the harness's own files; None: the program has saved the figure itself
        self.files = {}  # path below the output directory -> hash of its content
        self.changed = True
        self.left_out = False  # there were too many figures

    def write(self, state, output):
        figure, before = self.figure(), self.files
        self.files = {}
        for form in state.rules.get("formats", ["png"]):
            path = f"{state.directory}/{self.stem}.{form}"
            size, digest = write_figure(f"{output}/{path}", lambda file, form=form: draw(state, figure, file, form), state.size)
            if digest is None:
                state.warn(f"A matplotlib figure was left out: {size} bytes, more than {state.size}.")
                state.rows.pop(path, None)
            else:
                self.add(state, path, digest)
        for path in before.keys() - self.files.keys():
            discard(f"{output}/{path}")
        self.describe(state)
        self.watch(figure)

    def add(self, state, path, digest):
        self.files[path] = digest
        state.rows[path] = (mime_of(path), "matplotlib", None)

    def describe(self, state):
        """Put the data of the chart beside the figure's first file."""
        path = next(iter(self.files), None)
        if path is not None and state.rules.get("data", True):
            state.rows[path] = (*state.rows[path][:2], chart_of(self.figure()))

    def watch(self, figure):
        """Have matplotlib call stale() when something in the figure changes."""
        self.changed = False
        before = getattr(figure, "stale_callback", None)
        if getattr(before, "__func__", None) is Saved.stale:  # set by an earlier call, perhaps in an earlier run
            before = before.__self__.before
        self.before = before
        figure.stale_callback = self.stale

    def stale(self, figure, value):
        if not getattr(figure.canvas, "_is_idle_drawing", False):  # pyplot.savefig() draws the figure once more
            self.changed = True
        if self.before:
            self.before(figure, value)

    def holds(self, state, output):
        """Whether the figure's files have a form that the policy wants, and show the figure as it is now. Files that the
        program has removed or written over are forgotten."""
        for path in [path for path, digest in self.files.items() if not is_whole(f"{output}/{path}", digest)]:
            del self.files[path]
            state.rows.pop(path, None)
        forms = {mime_of(path) for path in self.files}
        wanted = {MIMES[form] for form in state.rules.get("formats", ["png"])}
        enough = forms if self.stem is None and state.rules.get("saved") == "any" else forms & wanted
        return not self.changed and bool(not wanted or enough)


def chart_of(figure):
    try:
        return part("charts", "of_figure")(figure)
    except (TimeoutError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException:  # the guest's classes take part in this: it may be anything
        return None


def is_whole(path, digest):
    try:
        return hash_of(read_file(path)) == digest
    except OSError:
        return False


def draw(state, figure, file, form):
    import warnings
    with warnings.catch_warnings():  # about glyphs and layouts: the program itself does not save the figure
        warnings.simplefilter("ignore")
        state.savefig(figure, file, format=form, dpi=150, bbox_inches="tight")


def saved_of(state, figure):
    """The last Saved of the figure; None: it was not saved in this run."""
    return next((saved for saved in reversed(state.saved) if saved.figure() is figure), None)


def keep(state, output, figure, stem=None, anew=False):
    """Save the figure, unless it is saved as it is. Returns its Saved, or None if there are too many figures. `anew`: as another
    figure, if it has changed since it was saved."""
    saved = saved_of(state, figure)
    if saved and (saved.left_out or saved.holds(state, output)):
        return None if saved.left_out else saved
    if not saved or saved.stem is None or anew:
        saved = Saved(figure, stem or new_stem("fig"))
        state.saved.append(saved)
        state.asked += 1
        saved.left_out = state.asked > (1 if state.first_only else state.count)
    if saved.left_out:
        return None
    saved.write(state, output)
    return saved


def tell_saved(state, figure, path):
    """Announce a file that the program itself has saved in the directory for figures."""
    name = figure_path(path)
    if mime_of(name) is None:
        return
    saved = saved_of(state, figure)
    if not saved or saved.changed:
        saved = Saved(figure)
        state.saved.append(saved)
    saved.add(state, name, tell(path, read_file(path)))
    saved.describe(state)
    saved.watch(figure)


def open_figures():
    pyplot = sys.modules["matplotlib.pyplot"]
    managers = pyplot._pylab_helpers.Gcf.figs
    return [managers[number].canvas.figure for number in pyplot.get_fignums()]


def is_empty(figure):
    return len(figure.get_children()) <= 1  # its background


def show_open(state, output):
    """Save the open figures that are not empty."""
    for figure in open_figures():
        try:
            if not is_empty(figure):
                keep(state, output, figure)
        except (MemoryError, TimeoutError):
            raise
        except Exception as error:
            skip(state, "Matplotlib", error)


def show_current(state, output, figure):
    """Save one figure as plot_N, in the policy's first format and the others. Returns the name of its file, or None."""
    state.shows += 1
    before = len(state.warnings)
    saved = keep(state, output, figure, f"plot_{state.shows}")
    if saved is None:
        return None
    if len(state.warnings) > before:
        raise ValueError(state.warnings.pop())
    return next((path.rpartition("/")[2] for path in saved.files), None)


# ---- figures of plotly ----

def plotly_json(figure):
    import plotly.io
    return plotly.io.to_json(figure)


def plotly_html(figure):
    """An HTML page that needs no other file, and no network."""
    import plotly.io
    return plotly.io.to_html(figure, include_plotlyjs=True, full_html=True)


PLOTLY_WRITERS = {"json": plotly_json, "html": plotly_html}


class Shown:
    """A figure of plotly as it was when it was saved."""

    def __init__(self, figure):
        self.figure = figure
        self.stem = new_stem("plotly")
        self.texts = {}  # form -> hash of the text that was written

    def write(self, state, output):
        for form in state.rules.get("plotly", ["json"]):
            text = PLOTLY_WRITERS[form](self.figure)
            if self.texts.get(form) == hash(text):
                continue
            path = f"{state.directory}/{self.stem}.{form}"
            data = text.encode("utf-8", "surrogatepass")
            size, digest = write_figure(f"{output}/{path}", lambda file, data=data: file.write(data), state.size)
            if digest is None:
                state.warn(f"A plotly figure was left out: {size} bytes, more than {state.size}.")
                state.rows.pop(path, None)
            else:
                state.rows[path] = (mime_of(path), "plotly", None)
            self.texts[form] = hash(text)


def show_plotly(state, output, figure):
    """Save a figure that is shown."""
    shown = Shown(figure)
    state.written.append(shown)
    shown.write(state, output)


# ---- at the end ----

def capture(namespace, value, state, output):
    """Save what is not saved yet. Returns the rows (path, MIME type, kind, data of the chart or None) of all figures in the order in which they were
    saved, and the warnings."""
    if "matplotlib.pyplot" in sys.modules:
        attempt(state, "Matplotlib", save_matplotlib, state, output)
    if "plotly.basedatatypes" in sys.modules or state.shown:
        attempt(state, "Plotly", save_plotly, namespace, value, state, output)
    if not state.rows:
        remove_empty(f"{output}/{state.directory}")
    return [(path, *row) for path, row in state.rows.items()], state.warnings


def attempt(state, what, action, *arguments):
    if state.late:
        return
    try:
        action(*arguments)
    except BaseException as error:  # the guest's classes take part in this: it may be anything
        state.late = isinstance(error, TimeoutError)
        skip(state, what, error)


def skip(state, what, error):
    line = f"{what} figure capture skipped: {type(error).__name__}: {error}"
    state.warn(line)
    print(line, file=sys.stderr)


def save_matplotlib(state, output):
    figures = open_figures()
    for figure in figures[:1] if state.first_only else figures:
        attempt(state, "Matplotlib", keep_open, state, output, figure)
    if not state.first_only:
        over(state, "matplotlib", state.asked)
    sys.modules["matplotlib.pyplot"].close("all")


def keep_open(state, output, figure):
    saved = keep(state, output, figure)
    if not saved:
        return
    state.images.append((figure, {mime_of(path): path for path in saved.files}))
    if state.first_only:  # it is the one that is wanted, whatever else the program has saved
        first = {path: state.rows.pop(path) for path in saved.files}
        state.rows = {**first, **state.rows}


def over(state, kind, total):
    """Warn of figures beyond the limit; `total`: figures of this kind."""
    if total > state.count:
        state.warn(f"{total - state.count} of {total} {kind} figures were left out: no more than {state.count} are kept.")


def save_plotly(namespace, value, state, output):
    figure_class = sys.modules["plotly.basedatatypes"].BaseFigure
    figures = list(state.shown)
    for candidate in [*namespace.values(), value]:
        if isinstance(candidate, figure_class) and not any(candidate is other for other in figures):
            figures.append(candidate)
    earlier = list(state.written)
    for at, figure in enumerate(figures[:state.count]):
        attempt(state, "Plotly", save_plotly_figure, figure, earlier, figures[at + 1:], state, output)
    over(state, "plotly", len(figures))


def save_plotly_figure(figure, earlier, later, state, output):
    """Save a figure as it is now; of a figure that was shown several times, only what was shown last is renewed."""
    shown = next((shown for shown in earlier if shown.figure is figure), None)
    if shown is None:
        show_plotly(state, output, figure)
        return
    earlier.remove(shown)
    if not any(figure is other for other in later):
        shown.write(state, output)
