"""Figures that are open or were shown when the program ended, as files below /output/figures."""
import sys


class Capture:
    def __init__(self, directory, count, size):
        self.directory = directory
        self.count = count
        self.size = size
        self.saved = []  # (path relative to the output directory, MIME type, kind)
        self.warnings = []

    def attempt(self, what, save, *arguments):
        try:
            save(self, *arguments)
        except BaseException as error:  # the guest's classes take part in this: it may be anything
            line = f"{what} figure capture skipped: {type(error).__name__}: {error}"
            self.warnings.append(line)
            print(line, file=sys.stderr)

    def path(self, prefix, suffix):
        import os
        os.makedirs(os.path.join(self.directory, "figures"), exist_ok=True)
        name = f"figures/{prefix}_{os.urandom(6).hex()}.{suffix}"
        return name, os.path.join(self.directory, name)

    def keep(self, name, path, mime, kind):
        import os
        size = os.stat(path).st_size
        if size > self.size:
            os.unlink(path)
            self.warnings.append(f"A {kind} figure was left out: {size} bytes, more than {self.size}.")
            return
        self.saved.append((name, mime, kind))

    def over(self, kind, total):
        if total > self.count:
            self.warnings.append(f"{total - self.count} of {total} {kind} figures were left out: "
                                 f"no more than {self.count} are kept.")


def capture(namespace, value, shown, directory, count, size):
    kept = Capture(directory, count, size)
    if "matplotlib.pyplot" in sys.modules:
        kept.attempt("Matplotlib", save_matplotlib)
    if "plotly.basedatatypes" in sys.modules or shown:
        kept.attempt("Plotly", save_plotly, namespace, value, shown)
    if not kept.saved:
        remove_empty(directory)
    return kept.saved, kept.warnings


def save_matplotlib(kept):
    pyplot = sys.modules["matplotlib.pyplot"]
    numbers = pyplot.get_fignums()
    for number in numbers[:kept.count]:
        kept.attempt("Matplotlib", save_open_figure, pyplot, number)
    kept.over("matplotlib", len(numbers))
    pyplot.close("all")


def save_open_figure(kept, pyplot, number):
    import warnings
    name, path = kept.path("fig", "png")
    try:
        with warnings.catch_warnings():  # about glyphs and layouts: the program did not ask to save anything
            warnings.simplefilter("ignore")
            pyplot.figure(number).savefig(path, format="png", dpi=150, bbox_inches="tight")
    except BaseException:
        discard(path)
        raise
    kept.keep(name, path, "image/png", "matplotlib")


def save_plotly(kept, namespace, value, shown):
    figure_class = sys.modules["plotly.basedatatypes"].BaseFigure
    figures = list(shown)
    for candidate in [*namespace.values(), value]:
        if isinstance(candidate, figure_class) and not any(candidate is other for other in figures):
            figures.append(candidate)
    for figure in figures[:kept.count]:
        kept.attempt("Plotly", save_plotly_figure, figure)
    kept.over("plotly", len(figures))


def save_plotly_figure(kept, figure):
    import plotly.io
    text = plotly.io.to_json(figure)
    name, path = kept.path("plotly", "json")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except BaseException:
        discard(path)
        raise
    kept.keep(name, path, "application/vnd.plotly.v1+json", "plotly")


def discard(path):
    """Half a figure is none."""
    import os
    try:
        os.unlink(path)
    except OSError:
        pass


def remove_empty(directory):
    import os
    try:
        os.rmdir(os.path.join(directory, "figures"))
    except OSError:
        pass  # it is not there, or the guest's own
