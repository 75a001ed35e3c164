"""Figures that are open or were shown when the program ended, as files below /output."""
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
        self.late = False  # one took too long: the others are not tried

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
        import os
        return os.path.join(self.output, self.state.directory)

    def write(self, name, kind, save):
        """Have save(path) write one file. Its path below the output directory, or None if it was left out."""
        import os
        os.makedirs(self.folder(), exist_ok=True)
        path = os.path.join(self.folder(), name)
        try:
            save(path)
            size = os.stat(path).st_size
        except BaseException:
            discard(path)
            raise
        if size > self.size:
            discard(path)
            self.warnings.append(f"A {kind} figure was left out: {size} bytes, more than {self.size}.")
            return None
        relative = f"{self.state.directory}/{name}"
        self.saved.append((relative, MIMES[name.rpartition(".")[2]], kind))
        return relative

    def over(self, kind, total, earlier=0):
        """Say how many there were too many; `earlier` have their place already."""
        room = max(0, self.count - earlier)
        if total > room:
            self.warnings.append(f"{total - room} of {total} {kind} figures were left out: "
                                 f"no more than {self.count} are kept.")


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
    """What show() has saved already, where the policy has it do that."""
    for path, form, kind in kept.state.saved:
        kept.saved.append((path, MIMES[form], kind))
    kept.over("shown matplotlib", kept.state.shows)


def save_matplotlib(kept):
    pyplot = sys.modules["matplotlib.pyplot"]
    numbers = pyplot.get_fignums()
    earlier = min(kept.count, kept.state.shows)
    room = kept.count - earlier
    first_only = kept.rules.get("which", "all") == "first"
    for number in numbers[:min(room, 1) if first_only else room]:
        kept.attempt("Matplotlib", save_open_figure, pyplot.figure(number))
    if not first_only:
        kept.over("matplotlib", len(numbers), earlier)
    pyplot.close("all")


def save_open_figure(kept, figure):
    import os
    stem = f"fig_{os.urandom(6).hex()}"
    images = {}
    kept.state.images.append((figure, images))
    for form in kept.rules.get("formats", ["png"]):
        images[MIMES[form]] = kept.write(f"{stem}.{form}", "matplotlib", lambda path, form=form: draw(figure, path, form))


def draw(figure, path, form):
    import warnings
    with warnings.catch_warnings():  # about glyphs and layouts: the program did not ask to save anything
        warnings.simplefilter("ignore")
        figure.savefig(path, format=form, dpi=150, bbox_inches="tight")


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
    import os
    stem = f"plotly_{os.urandom(6).hex()}"
    for form in kept.rules.get("plotly", ["json"]):
        text = PLOTLY_WRITERS[form](figure)
        kept.write(f"{stem}.{form}", "plotly", lambda path, text=text: write_text(path, text))


def plotly_json(figure):
    import plotly.io
    return plotly.io.to_json(figure)


def plotly_html(figure):
    """A page that needs no other file, and no network."""
    import plotly.io
    return plotly.io.to_html(figure, include_plotlyjs=True, full_html=True)


PLOTLY_WRITERS = {"json": plotly_json, "html": plotly_html}


def write_text(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def discard(path):
    """Half a figure is none."""
    import os
    try:
        os.unlink(path)
    except OSError:
        pass


def remove_empty(folder):
    import os
    try:
        os.rmdir(folder)
    except OSError:
        pass  # it is not there, or the guest's own
