"""display() and the module IPython.display, for programs written for notebooks: rich results, in order, each as it was when it
was shown.

Methods of the displayed objects are called while the program runs, at the cost of its own time and memory; so the exceptions by
which the harness ends or interrupts a program pass through.
"""
import sys

MOST = 100  # displays of one job or run
MOST_VALUES = 200000  # values in the JSON of all displays: the launcher takes no report with many more
LEAST = 512  # bytes that a display needs at least
STOPS = (TimeoutError, MemoryError, KeyboardInterrupt)
MODULES = ("IPython", "IPython.display", "IPython.core", "IPython.core.display")


def display(state, output, objects, raw=False, display_id=None):
    """Show each object. Returns a handle if there is a display_id, as in a notebook."""
    handle = Handle(state, output, display_id) if display_id else None
    for value in objects:
        show(state, output, value, raw, handle)
    return handle


class Handle:
    """A display that can be shown anew."""

    def __init__(self, state, output, display_id):
        self.shown_in = state, output
        self.display_id = new_id() if display_id is True else str(display_id)

    def display(self, obj, raw=False, **options):
        show(*self.shown_in, obj, raw, self)

    def update(self, obj, raw=False, **options):
        update(*self.shown_in, obj, self.display_id, raw)


def new_id():
    import os
    return os.urandom(8).hex()


def update(state, output, value, display_id, raw=False):
    """Put the value in the place of the last display with this id."""
    at = state.display_ids.get(display_id)
    if at is not None:
        give_back(state, state.displays[at])
        state.displays[at] = print_one(state, output, value, raw) or "{}"


def show(state, output, value, raw, handle):
    if len(state.displays) >= MOST:
        state.displays_left_out += 1
        return
    text = print_one(state, output, value, raw)
    if text is None:
        state.displays_left_out += 1
        return
    if handle:
        state.display_ids[handle.display_id] = len(state.displays)
    state.displays.append(text)


def counted(text):
    """Values in a JSON text, or some more."""
    return 1 + text.count(",") + text.count("[") + text.count("{")


def give_back(state, text):
    state.display_room += len(text) + 1
    state.display_values -= counted(text)


def print_one(state, output, value, raw):
    """The JSON text of the value's forms by MIME type, or None if there is no room for it."""
    room = state.display_room - 1
    if room < LEAST:
        return None
    plain, value, forms = given_forms(value) if raw and isinstance(value, dict) else forms_of(state, output, value, room)
    text, left_out, whole = print_bundle(plain, value, forms, room)
    if state.display_values + counted(text) > MOST_VALUES:
        return None
    if not whole:
        state.display_warnings.append("The text of a display was cut: it is too long.")
    for mime in left_out:
        state.display_warnings.append(f"A display as {mime} was left out: it is too large.")
    state.display_room -= len(text) + 1
    state.display_values += counted(text)
    return text


def given_forms(bundle):
    """The forms of display({MIME type: data}, raw=True)."""
    tools = {name: part("value", name) for name in ("is_form", "add")}
    forms = {}
    for mime, data in list(dict.items(bundle))[:32]:
        if tools["is_form"](mime):
            tools["add"](forms, mime, data, 1 << 30)
    plain = bundle.get("text/plain")
    return plain if isinstance(plain, str) else "", None, forms


def forms_of(state, output, value, room):
    forms = {}
    if is_a(value, "matplotlib.figure", "Figure"):
        save_figure(state, output, value)
    if is_a(value, "plotly.basedatatypes", "BaseFigure"):
        show_plotly(state, output, value, forms)
        return f"<{type(value).__name__} of plotly>", None, forms
    part("value", "fill")(forms, value, state, output, room)
    return text_of(value, room), value, forms


def is_a(value, module, name):
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def text_of(value, room):
    if type(value) in (list, tuple, str, bytes):
        value = value[:room]  # the repr of all of a large one takes long
    try:
        text = repr(value)
    except STOPS:
        raise
    except Exception as error:
        text = f"<unprintable {type(value).__name__} object: {type(error).__name__}>"
    return text


def save_figure(state, output, figure):
    """Save a figure of matplotlib that is displayed, as it is now."""
    try:
        saved = part("figures", "keep")(state, output, figure, anew=True)
    except STOPS:
        raise
    except Exception as error:
        part("figures", "skip")(state, "Matplotlib", error)
    else:
        if saved:
            state.images.insert(0, (figure, {state.rows[path][0]: path for path in saved.files}))


def show_plotly(state, output, figure, forms):
    import json
    import plotly.io
    state.shown.append(figure)
    if len(state.shown) <= state.count:
        part("figures", "show_plotly")(state, output, figure)
    forms["application/vnd.plotly.v1+json"] = json.loads(plotly.io.to_json(figure))


# ---- IPython.display ----

def fill_module(module, show_one):
    """Fill IPython or one of its modules; `show_one` is display()."""
    if module.__name__ in ("IPython", "IPython.core"):
        module.get_ipython = lambda: None  # there is no shell
        __import__(module.__name__ + ".display")
        return
    for name, value in {**PUBLIC, "display": show_one, "update_display": show_one.update}.items():
        setattr(module, name, value)


def clear_output(wait=False):
    """Nothing: what was shown stays in the job's result."""


def load(path):
    import os
    return read_file(os.fspath(path))


class DisplayObject:
    """Data with a MIME type, from `data` or from the file `filename`."""

    MIME = None
    BINARY = False

    def __init__(self, data=None, url=None, filename=None, metadata=None):
        if data is None and filename is not None:
            data = load(filename) if self.BINARY else load(filename).decode("utf-8", "replace")
        self.data, self.url, self.filename, self.metadata = data, url, filename, metadata

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.MIME: self.data} if self.MIME and self.data is not None else {}

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"


class TextDisplayObject(DisplayObject):
    def __repr__(self):
        return str(self.data)


class Pretty(TextDisplayObject):
    pass


class HTML(TextDisplayObject):
    MIME = "text/html"


class Markdown(TextDisplayObject):
    MIME = "text/markdown"


class Latex(TextDisplayObject):
    MIME = "text/latex"


class Math(Latex):
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.MIME: f"$\\displaystyle {str(self.data).strip('$')}$"}


class SVG(DisplayObject):
    MIME = "image/svg+xml"


class Javascript(DisplayObject):
    MIME = "application/javascript"


class JSON(DisplayObject):
    MIME = "application/json"

    def __init__(self, data=None, url=None, filename=None, expanded=False, metadata=None, root="root", **options):
        super().__init__(data, url, filename, metadata)
        if isinstance(self.data, str):
            import json
            self.data = json.loads(self.data)


class Image(DisplayObject):
    """A picture: PNG, JPEG, GIF or WebP, from bytes or a file; of a picture at a URL only the address is shown."""

    BINARY = True
    KINDS = ((b"\x89PNG", "png"), (b"\xff\xd8", "jpeg"), (b"GIF8", "gif"), (b"RIFF", "webp"))

    def __init__(self, data=None, url=None, filename=None, format=None, embed=None, width=None, height=None, retina=False,
                 unconfined=False, metadata=None, alt=None):
        if isinstance(data, str) or hasattr(data, "__fspath__"):
            text = str(data)
            data, url, filename = (None, text, filename) if "://" in text else (None, url, text)
        super().__init__(data, url, filename, metadata)
        found = next((kind for begin, kind in self.KINDS if (self.data or b"").startswith(begin)), None)
        self.format = found or {"jpg": "jpeg"}.get(str(format).lower(), str(format or "png").lower())
        self.width, self.height = width, height

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.data is not None:
            return {f"image/{self.format}": self.data}
        import html
        return {"text/html": f'<img src="{html.escape(str(self.url))}"/>'}


PUBLIC = {each.__name__: each for each in (
    clear_output, DisplayObject, TextDisplayObject, Pretty, HTML, Markdown, Latex, Math, SVG, Javascript, JSON, Image)}
PUBLIC["DisplayHandle"] = Handle
for each in PUBLIC.values():
    each.__module__ = "IPython.core.display"
