"""Saves figures below /output: when the program shows them, and at its end those that are open or have changed.

Methods of the program's figures may do anything, and have the program's rights: the harness's own functions (files.c) open
the files, and a figure only gets a file object to write into.
"""
import sys

MIMES = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf",
         "json": "application/vnd.plotly.v1+json", "html": "text/html"}


class Capture:
    def __init__(self, state, output, count, size):
        self.state = state  # guest_hooks.Drawing
        self.rules = state.rules
        self.output = output
        self.count = count
        self.size = size
        self.saved = []  # (path relative to the output directory, MIME type, kind)
        self.warnings = []
        self.late = False  # a figure took too long: no others are saved

    def attempt(self, what, save, *arguments):
        if self.late:
            return
        try:
            save(self, *arguments)
        except BaseException as error:  # the guest's classes take part in this: it may be anything
            self.late = isinstance(error, TimeoutError)
            line = f"{what} figure capture skipped: {type(error).__name__}: {error}"
            self.warnings.append(line)
            print(line, file=sys.stderr)

    def folder(self):
        return f"{self.output}/{self.state.directory}"

    def write(self, name, kind, save):
        """Have save(file) write one file. Returns its path below the output directory, or None if it was too large."""
        size = write_figure(f"{self.folder()}/{name}", save, self.size)
        if size > self.size:
            self.warnings.append(f"A {kind} figure was left out: {size} bytes, more than {self.size}.")
            return None
        return self.keep(name, kind)

    def keep(self, name, kind):
        relative = f"{self.state.directory}/{name}"
        self.saved.append((relative, MIMES[name.rpartition(".")[2]], kind))
        return relative

    def over(self, kind, total, earlier=0):
        """Warn of figures beyond the limit. `total`: figures of this kind; `earlier`: figures that count already."""
        room = max(0, self.count - earlier)
        if total > room:
            self.warnings.append(f"{total - room} of {total} {kind} figures were left out: "
                                 f"no more than {self.count} are kept.")


def write_figure(path, save, most):
    """Have save(file) write a figure, and announce it. Returns its size in bytes; one above `most` bytes is not kept."""
    from io import BytesIO
    file = BytesIO()  # a figure on disk is always whole, also if the cell is killed meanwhile
    save(file)
    data = file.getvalue()
    if len(data) > most:
        discard(path)
    else:
        make_folder(path.rpartition("/")[0])
        put_file(path, data)
        tell_figure(path)
    return len(data)


def capture(namespace, value, state, output, count, size):
    kept = Capture(state, output, count, size)
    if "matplotlib.pyplot" in sys.modules:
        kept.attempt("Matplotlib", list_shown)
        kept.attempt("Matplotlib", save_matplotlib)
    if "plotly.basedatatypes" in sys.modules or state.shown:
        kept.attempt("Plotly", save_plotly, namespace, value)
    if not kept.saved:
        remove_empty(kept.folder())
    return kept.saved, kept.warnings


def list_shown(kept):
    """List the figures that show() has saved already."""
    for path, form, kind in kept.state.saved:
        kept.saved.append((path, MIMES[form], kind))
    kept.over("shown matplotlib", kept.state.shows)

def save_matplotlib(kept):
    pyplot = sys.modules["matplotlib.pyplot"]
    numbers = pyplot.get_fignums()
    figures = [pyplot.figure(number) for number in numbers]
    for figure in figures:
        kept.attempt("Matplotlib", renew_shown_figure, figure)
    for drawn in kept.state.drawn:
        for name in drawn.names:
            kept.keep(name, "matplotlib")
    figures = [figure for figure in figures if not drawn_of(kept.state, figure)]
    earlier = min(kept.count, kept.state.shows + len(kept.state.drawn))
    room = kept.count - earlier
    first_only = kept.rules.get("which", "all") == "first"
    for figure in figures[:min(room, 1) if first_only else room]:
        kept.attempt("Matplotlib", save_open_figure, figure)
    if not first_only:
        kept.over("matplotlib", len(figures) + len(kept.state.drawn), earlier - len(kept.state.drawn))
    pyplot.close("all")


def save_open_figure(kept, figure):
    stem = new_stem()
    images = {}
    kept.state.images.append((figure, images))
    for form in kept.rules.get("formats", ["png"]):
        images[MIMES[form]] = kept.write(f"{stem}.{form}", "matplotlib", lambda file, form=form: draw(figure, file, form))


def new_stem(kind="fig"):
    import os
    return f"{kind}_{os.urandom(6).hex()}"


def draw(figure, file, form):
    import warnings
    with warnings.catch_warnings():  # about glyphs and layouts: the program itself does not save the figure
        warnings.simplefilter("ignore")
        figure.savefig(file, format=form, dpi=150, bbox_inches="tight")


# ---- figures that are shown ----

class Drawn:
    """A figure as it was when it was shown, and whether it has changed since."""

    def __init__(self, figure, stem):
        from _weakref import ref
        self.figure = ref(figure)
        self.stem = stem
        self.names = []
        self.changed = True

    def save(self, state, output):
        figure, self.names = self.figure(), []
        folder = f"{output}/{state.directory}"
        for form in state.rules.get("formats", ["png"]):
            name = f"{self.stem}.{form}"
            if write_figure(f"{folder}/{name}", lambda file, form=form: draw(figure, file, form), state.size) <= state.size:
                self.names.append(name)
        self.changed = False
        self.watch(figure)

    def watch(self, figure):
        """Have matplotlib call stale() when something in the figure changes."""
        before = getattr(figure, "stale_callback", None)
        if getattr(before, "__func__", None) is Drawn.stale:  # set by an earlier call, perhaps in an earlier run
            before = before.__self__.before
        self.before = before
        figure.stale_callback = self.stale

    def stale(self, figure, value):
        self.changed = True
        if self.before:
            self.before(figure, value)


def drawn_of(state, figure):
    return next((drawn for drawn in state.drawn if drawn.figure() is figure), None)


def show_open(state, output):
    """Save the open figures that are not empty, and keep them open."""
    managers = sys.modules["matplotlib.pyplot"]._pylab_helpers.Gcf.figs
    for number in sorted(managers):
        figure = managers[number].canvas.figure
        drawn = drawn_of(state, figure)
        if drawn is None and len(state.drawn) < state.count and figure.get_axes():
            drawn = Drawn(figure, new_stem())
            drawn.save(state, output)
            state.drawn.append(drawn)
        elif drawn and drawn.changed:
            drawn.save(state, output)


def renew_shown_figure(kept, figure):
    drawn = drawn_of(kept.state, figure)
    if drawn is None:
        return
    if drawn.changed:
        drawn.save(kept.state, kept.output)
    names = {name.rpartition(".")[2]: f"{kept.state.directory}/{name}" for name in drawn.names}
    kept.state.images.append((figure, {MIMES[form]: path for form, path in names.items()}))


def save_plotly(kept, namespace, value):
    figure_class = sys.modules["plotly.basedatatypes"].BaseFigure
    figures = list(kept.state.shown)
    for candidate in [*namespace.values(), value]:
        if isinstance(candidate, figure_class) and not any(candidate is other for other in figures):
            figures.append(candidate)
    for figure in figures[:kept.count]:
        kept.attempt("Plotly", save_plotly_figure, figure)
    kept.over("plotly", len(figures))


def save_plotly_figure(kept, figure):
    stem, before = next((row[1:] for row in kept.state.written if row[0] is figure), (new_stem("plotly"), {}))
    for form in kept.rules.get("plotly", ["json"]):
        text = PLOTLY_WRITERS[form](figure)
        if before.get(form) == hash(text):
            kept.keep(f"{stem}.{form}", "plotly")
        else:
            kept.write(f"{stem}.{form}", "plotly", lambda file, text=text: write_text(file, text))


def show_plotly(state, output, figure):
    """Save a figure that is shown, and remember what was written, as the figure may still change."""
    stem, written = new_stem("plotly"), {}
    for form in state.rules.get("plotly", ["json"]):
        text = PLOTLY_WRITERS[form](figure)
        if write_figure(f"{output}/{state.directory}/{stem}.{form}", lambda file, text=text: write_text(file, text),
                    state.size) <= state.size:
            written[form] = hash(text)
    state.written.append((figure, stem, written))


def plotly_json(figure):
    import plotly.io
    return plotly.io.to_json(figure)


def plotly_html(figure):
    """An HTML page that needs no other file, and no network."""
    import plotly.io
    return plotly.io.to_html(figure, include_plotlyjs=True, full_html=True)


PLOTLY_WRITERS = {"json": plotly_json, "html": plotly_html}


def write_text(file, text):
    file.write(text.encode("utf-8", "surrogatepass"))


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
        pass  # it does not exist, or has files of the guest
