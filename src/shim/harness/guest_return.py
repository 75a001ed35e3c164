"""Returns the variables that the job asks for, as JSON or as files below /output/values, and the dict "results" as JSON."""
import sys

DEEPEST = 40  # levels of nested lists and dicts
MOST = 100000  # values in one JSON document
INLINE = 65536  # bytes of JSON that go into the manifest; larger JSON becomes a file
LONGEST = 10000  # characters of str(object) for an object that is not JSON
MAX_INT = (1 << 63) - 1
STANDIN = "application/vnd.hotcell.standin+json"  # MIME type of a stand-in for an object that stayed with the caller (adapters/in_cell.py)


class NotJson(ValueError):
    pass


def collect(space, wanted, output, room, texts):
    """Returns {name: entry of the manifest} for `wanted`, [{"name", "format"}]; at most `room` bytes of JSON in all. In the variable
    named `texts` (None: in none), objects that cannot be carried become text, as in `results`."""
    room //= len(wanted)
    found = {}
    for row in wanted:
        try:
            found[row["name"]] = one(space, row["format"], Place(output, row["name"], room, row["name"] == texts))
        except TimeoutError as error:
            found[row["name"]] = {"error": describe(error)}
            break
    return {row["name"]: {"error": "another variable took too long"} for row in wanted} | found


def one(space, form, place):
    if place.name not in space:
        return {"error": "the program has no variable of this name"}
    value = space[place.name]
    try:
        return {"type": type_name(value), **WRITERS[form](value, place)}
    except TimeoutError:
        raise
    except BaseException as error:  # the guest's classes take part in this: it may be anything
        return {"type": type_name(value), "error": describe(error)}


def describe(error):
    try:
        return f"{type(error).__name__}: {error}"[:500]
    except BaseException:
        return "an exception that cannot be shown"


def type_name(value):
    kind = type(value)
    try:
        module, name = kind.__module__, kind.__qualname__
        return name[:200] if module in ("builtins", "__main__") else f"{module}.{name}"[:200]
    except BaseException:  # a metaclass may do anything
        return "object"


class Place:
    """The place for one variable: the manifest, or a file of its name."""

    def __init__(self, output, name, room, text_for_others):
        self.output = output
        self.name = name
        self.text_for_others = text_for_others
        self.room = min(room, INLINE)

    def file(self, suffix, mime, write, mode="wb"):
        folder = f"{self.output}/values"
        make_folder(folder)
        path = f"{folder}/{self.name}.{suffix}"
        try:
            with open(create_file(path), mode, **({} if "b" in mode else {"encoding": "utf-8", "newline": ""})) as file:
                write(file)
        except BaseException:
            discard(path, folder)
            raise
        return {"path": f"values/{self.name}.{suffix}", "mime": mime}

    def json(self, value, mime="application/json"):
        import json
        text = json.dumps(value, allow_nan=False)
        if len(text) <= self.room:
            return {"json": value} if mime == "application/json" else {"json": value, "mime": mime}
        return self.file("json", mime, lambda file: file.write(text), "w")


def discard(path, folder):
    """Remove an incomplete file, and its directory if that is empty."""
    for remove, what in ((remove_file, path), (remove_folder, folder)):
        try:
            remove(what)
        except OSError:
            pass


def as_auto(value, place):
    if is_a(value, "pandas", "DataFrame", "Series"):
        return as_jsonl(value, place)
    if is_a(value, "numpy", "ndarray") and value.ndim and not value.dtype.hasobject:
        return as_npy(value, place)
    return as_json(value, place)


def as_json(value, place):
    return place.json(Plain().convert(value, 0))


def as_npy(value, place):
    import numpy
    array = numpy.asarray(value)
    if array.dtype.hasobject:
        raise TypeError("an array of Python objects has no form as .npy")
    return place.file("npy", "application/x-npy", lambda file: numpy.save(file, array, allow_pickle=False))


def as_csv(value, place):
    frame = table(value)
    return place.file("csv", "text/csv", lambda file: frame.to_csv(file, index=False), "w")


def as_jsonl(value, place):
    frame = table(value)

    def write(file):
        frame.to_json(file, orient="records", lines=True, date_format="iso", double_precision=15)
    return place.file("jsonl", "application/jsonl", write, "w")


def without_class(value):
    """The list or dict that a container of the module collections is like; another value itself."""
    kind = type(value)
    if kind.__module__ != "collections" or kind.__name__ not in ("Counter", "OrderedDict", "defaultdict", "deque"):
        return value
    return list(value) if kind.__name__ == "deque" else dict(value)


def as_exact(value, place):
    """The value as itself, for the Python package (values.py). Only values that are like JSON, such as an OrderedDict, may be
    of a class that is not carried, and where objects become text, all values."""
    if is_a(value, "numpy", "ndarray") and type(value) is sys.modules["numpy"].ndarray and not value.dtype.hasobject:
        return as_npy(value, place)
    value = without_class(value)
    encoder = part("values", "Packed")()
    try:
        node = encoder.encode(value, 0)
    except TypeError:
        reference = getattr(type(value), "_hotcell_reference", None)
        if reference is not None:
            return place.json(reference.__get__(value), STANDIN)
        if place.text_for_others:
            place.text_for_others = False
            return as_exact(Carried().convert(value, 0), place)
        if is_a(value, "pandas", "DataFrame", "Series", "Index") or is_a(value, "numpy", "ndarray"):
            raise
        return as_json(value, place)
    if encoder.arrays:
        return place.file("npz", "application/x-npz", lambda file: part("values", "pack")(file, encoder, node))
    return place.json(node, part("values", "tagged_mime")() if encoder.tags else "application/json")


WRITERS = {"exact": as_exact, "auto": as_auto, "json": as_json, "npy": as_npy, "csv": as_csv, "jsonl": as_jsonl}


def table(value):
    """The value as a DataFrame; an index other than 0, 1, 2, ... becomes a column."""
    import pandas
    if is_a(value, "pandas", "Series"):
        value = value.to_frame("value" if value.name is None else value.name)
    elif not is_a(value, "pandas", "DataFrame"):
        value = pandas.DataFrame(value)
    counts_only = isinstance(value.index, pandas.RangeIndex) and value.index.name is None
    return value if counts_only else value.reset_index()


def is_a(value, module, *names):
    """Whether the value is an instance of a library's class; False if the library was never imported."""
    classes = (getattr(sys.modules.get(module), name, None) for name in names)
    return isinstance(value, tuple(c for c in classes if isinstance(c, type)))


def results(value, room):
    """Returns (the value as JSON, None), or (None, why not). Objects that are not JSON become text."""
    try:
        import json
        plain = Plain(text_for_others=True).convert(value, 0)
        size = len(json.dumps(plain, allow_nan=False))
        return (plain, None) if size <= room else (None, f"{size} bytes, more than {room}")
    except BaseException as error:
        return None, describe(error)


class Plain:
    """Turns a value into dicts, lists, strings and numbers that JSON can hold."""

    def __init__(self, text_for_others=False):
        self.text_for_others = text_for_others
        self.count = 0
        self.whole = None  # what convert was called with from outside

    def convert(self, value, depth):
        self.count += 1
        if self.count > MOST:
            raise NotJson(f"more than {MOST} values")
        if depth == 0:
            self.whole = value
        if depth > DEEPEST:
            circular = part("values", "contains_itself")(self.whole)
            raise NotJson("it contains itself" if circular else f"nested more than {DEEPEST} levels deep")
        if value is None or value is True or value is False:
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            number = int.__int__(value)
            return number if -MAX_INT <= number <= MAX_INT else str(number)
        if isinstance(value, float):
            number = float.__float__(value)
            return number if number - number == 0 else None  # JSON knows no infinity, and no NaN
        if isinstance(value, dict):
            return {self.key(key): self.convert(item, depth + 1) for key, item in list(dict.items(value))}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self.convert(item, depth + 1) for item in list(value)]
        return self.of_library(value, depth)

    def of_library(self, value, depth):
        if is_a(value, "numpy", "ndarray"):
            if value.size > MOST:
                raise NotJson(f"an array of {value.size} elements")
            return self.convert(value.tolist(), depth)
        if is_a(value, "pandas", "DataFrame", "Series"):
            if value.size > MOST:
                raise NotJson(f"a table of {value.size} cells")
            return self.convert(value.to_dict(), depth)
        if is_a(value, "pandas", "Index"):
            return self.convert(value.tolist(), depth)
        if is_missing(value):
            return None
        if is_a(value, "datetime", "date", "time"):
            return value.isoformat()
        if is_a(value, "numpy", "generic"):
            plain = value.item()
            if not isinstance(plain, (bytes, complex)) and plain is not value:
                return self.convert(plain, depth)
        if self.text_for_others:
            return shown(value)
        raise NotJson(f"{type_name(value)} is not JSON")

    def key(self, key):
        if isinstance(key, str):
            text = str.__str__(key)
            if "\0" in text or not is_unicode(text):
                raise NotJson("a key with a NUL or half a surrogate pair cannot be listed")
            return text
        if is_a(key, "datetime", "date"):
            return key.isoformat()
        return shown(key)


class Carried(Plain):
    """As Plain with text for others, but what can be carried stays as it is, NaN among it."""

    def __init__(self):
        super().__init__(text_for_others=True)

    def convert(self, value, depth):
        return float.__float__(value) if isinstance(value, float) else super().convert(value, depth)

    def of_library(self, value, depth):
        try:
            part("values", "Packed")().encode(value, depth)
        except TypeError:
            return super().of_library(value, depth)
        return value


def is_unicode(text):
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_missing(value):
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NaT or value is pandas.NA)


def shown(value):
    try:
        return str(value)[:LONGEST]
    except BaseException:
        return f"<unprintable {type_name(value)} object>"
