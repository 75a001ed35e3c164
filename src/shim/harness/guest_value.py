"""The value of the last expression in the forms that viewers know, for objects that have more than a repr."""
import sys

DATA_RESOURCE = "application/vnd.dataresource+json"
EXACT = "application/vnd.hotcell.value+json"  # values.MIME: it is not for programs to give
MOST_ROWS = 1000  # rows of a table; --return gives the whole table
MOST_COLUMNS = 1000
MOST_CELLS = 50000
STOPS = (TimeoutError, MemoryError, KeyboardInterrupt)  # exceptions that end the look at an object
TOO_LARGE = object()  # stands for a form that is too large; being neither JSON nor text, it is left out with a warning
METHODS = (("_repr_html_", "text/html"), ("_repr_markdown_", "text/markdown"), ("_repr_latex_", "text/latex"),
           ("_repr_svg_", "image/svg+xml"), ("_repr_png_", "image/png"), ("_repr_jpeg_", "image/jpeg"),
           ("_repr_json_", "application/json"))


def forms(value, drawing, output, room):
    """Returns {MIME type: str, or for JSON types the object}. A form whose method raises is left out."""
    found = {}
    try:
        fill(found, value, drawing, output, room)
    except STOPS:
        pass
    return found


def fill(found, value, drawing, output, room):
    """Add the forms to `found`. STOPS pass through."""
    for add in (add_table, add_figure, add_methods, add_bundle):
        attempt(add, found, value, drawing, output, room)


def attempt(action, *arguments):
    """Call `action` and ignore its exceptions, except STOPS: an object that takes too long gets no further calls."""
    try:
        return action(*arguments)
    except STOPS:
        raise
    except BaseException:  # the guest's classes take part in this: it may be anything
        return None


def is_a(value, module, *names):
    classes = (getattr(sys.modules.get(module), name, None) for name in names)
    return isinstance(value, tuple(c for c in classes if isinstance(c, type)))


# ---- tables ----

def add_table(found, value, drawing, output, room):
    if is_a(value, "pandas", "Series"):
        value = value.to_frame("values" if value.name is None else value.name)
    if is_a(value, "pandas", "DataFrame"):
        found[DATA_RESOURCE] = data_resource(value, room // 4)


def data_resource(frame, room):
    """The first rows, as many as fit into `room` bytes, with the types of the columns."""
    import json
    width = max(1, frame.shape[1])
    if width > MOST_COLUMNS:
        return TOO_LARGE
    count = min(len(frame), MOST_ROWS, max(1, MOST_CELLS // width))
    while True:
        text = table_json(frame.iloc[:count])
        if len(text) <= room or count <= 1:
            break
        count = max(1, min(count // 2, count * room // len(text)))
    if len(text) > room:
        return TOO_LARGE
    return {**json.loads(text), "rows": len(frame), "truncated": count < len(frame)}


def table_json(frame):
    try:
        return frame.to_json(orient="table", date_format="iso", double_precision=15)
    except (ValueError, NotImplementedError, TypeError, OverflowError):
        return with_plain_labels(frame).to_json(orient="table", date_format="iso", double_precision=15)


def with_plain_labels(frame):
    """The frame with str labels, each used once: the form has no multi-level columns and no duplicate names."""
    frame = frame.copy()
    labels = []
    for label in frame.columns:
        text = "_".join(map(str, label)) if isinstance(label, tuple) else str(label)
        labels.append(text if text not in labels else f"{text}_{len(labels)}")
    frame.columns = labels
    if frame.index.nlevels > 1 or not frame.index.is_unique:
        frame.index = [str(label) for label in frame.index]
    frame.index.name = None
    return frame


# ---- figures ----

def add_figure(found, value, drawing, output, room):
    if not is_a(value, "matplotlib.figure", "Figure"):
        return
    wanted = drawing.rules.get("formats", ["png"])
    for form, mime in (("png", "image/png"), ("svg", "image/svg+xml")):
        if form in wanted or (form == "png" and "svg" not in wanted):
            found[mime] = content(mime, image(value, form, mime, drawing, output), room)


def image(figure, form, mime, drawing, output):
    """The figure as image data: from the file that was just saved, if there is one, else drawn now."""
    for other, paths in drawing.images:
        if other is figure and paths.get(mime):
            return read_file(f"{output}/{paths[mime]}")
    import warnings
    from io import BytesIO
    data = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure.savefig(data, format=form, dpi=150, bbox_inches="tight")
    return data.getvalue()


# ---- methods of objects ----

def has(value, method):
    """Whether the value's type has the method. Plotly's figures do not count: their forms contain all of plotly.js, and they
    are saved as files anyway."""
    kind = type(value)
    return not isinstance(value, type) and hasattr(kind, method) and not hasattr(kind, "to_plotly_json")


def add_methods(found, value, drawing, output, room):
    for method, mime in METHODS:
        if mime not in found:
            attempt(add_method, found, value, method, mime, room)


def add_method(found, value, method, mime, room):
    if has(value, method):
        add(found, mime, getattr(value, method)(), room)


def add_bundle(found, value, drawing, output, room):
    if not has(value, "_repr_mimebundle_"):
        return
    bundle = value._repr_mimebundle_(include=None, exclude=None)
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    for mime, data in list(dict.items(bundle))[:32]:
        if is_form(mime):
            attempt(add, found, mime, data, room)


def add(found, mime, data, room):
    data = content(mime, data[0] if isinstance(data, tuple) and data else data, room)
    if data is not None:
        found[str.__str__(mime)] = data


def is_form(mime):
    """Whether it is a MIME type of a form that a program may give."""
    return isinstance(mime, str) and is_mime(str.__str__(mime)) and str.__str__(mime) not in ("text/plain", EXACT)


def is_mime(text):
    return (isinstance(text, str) and len(text) <= 100 and text.isascii() and text == text.lower()
            and all(part and part.replace("+", "").replace("-", "").replace(".", "").isalnum() for part in text.split("/"))
            and text.count("/") == 1)


def content(mime, data, room):
    """The data as a str (binary data as base64), or for JSON types as it is; None if it is neither bytes nor a str."""
    if mime.endswith("json"):
        return data
    if isinstance(data, (bytes, bytearray)):
        if mime.startswith("text/") or mime == "image/svg+xml":
            return data.decode("utf-8", "replace")
        if len(data) > room:
            return TOO_LARGE
        import binascii
        return binascii.b2a_base64(data, newline=False).decode("ascii")
    return str.__str__(data) if isinstance(data, str) else None
