"""Returns the variables that the job asks for, as JSON or as files below /output/values, and the dict "results" as JSON."""
import sys

DEEPEST = 40  # levels of nested lists and dicts
MOST = 100000  # values in one JSON document
INLINE = 65536  # bytes of JSON that go into the manifest; larger JSON becomes a file
LONGEST = 10000  # characters of str(object) for an object that is not JSON
MAX_INT = (1 << 63) - 1
MOST_TOLD = 20  # warnings about the items of one dict
LIKE = (int, float, str, bytes, list, tuple, set, frozenset, dict)  # what an object of a subclass comes back as
STANDIN = "application/vnd.hotcell.standin+json"  # MIME type of a stand-in for an object that stayed with the caller (adapters/in_cell.py)


class NotJson(ValueError):
    pass


def collect(space, wanted, output, room, texts):
    """Returns {name: entry of the manifest} for `wanted`, [{"name", "format"}], and a list of warnings; at most `room` bytes of JSON
    in all. The variable named `texts` (None: none) is a dict that comes back as far as it can be carried: see DictEncoder."""
    room //= len(wanted)
    found, warnings = {}, []
    for row in wanted:
        place = Place(output, row["name"], room, warnings if row["name"] == texts else None)
        try:
            found[row["name"]] = one(space, row["format"], place)
        except TimeoutError as error:
            found[row["name"]] = {"error": describe(error)}
            break
    return {row["name"]: {"error": "another variable took too long"} for row in wanted} | found, warnings


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
    """The place for one variable: the manifest, or a file of its name. `warnings`: a list that is told of what cannot be carried in
    a dict, whose other items come back; None: a variable is carried as a whole or not at all."""

    def __init__(self, output, name, room, warnings):
        self.output = output
        self.name = name
        self.warnings = warnings
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
    of a class that is not carried."""
    if place.warnings is not None and isinstance(value, dict):
        return as_items(value, place)
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
        if is_a(value, "pandas", "DataFrame", "Series", "Index") or is_a(value, "numpy", "ndarray"):
            raise
        return as_json(value, place)
    return packed(encoder, node, place)


def packed(encoder, node, place):
    """What an encoder has made of a value, as a file or in the manifest."""
    if encoder.arrays:
        return place.file("npz", "application/x-npz", lambda file: part("values", "pack")(file, encoder, node))
    return place.json(node, part("values", "tagged_mime")() if encoder.tags else "application/json")


def as_items(value, place):
    """A dict whose items come back as themselves, as far as they can be carried; the place's warnings name the others."""
    encoder = dict_encoder(place.name)
    encoder.encode_dict(value)
    while True:
        try:
            entry = packed(encoder, encoder.node(), place)
            break
        except OSError:
            if not encoder.leave_out_largest():
                raise
    place.warnings += encoder.warnings()
    return entry


def dict_encoder(name):
    """An encoder for the dict with this name. The class is made here, as the part of its base may not be loaded before."""
    base, NotCarried = part("values", "Packed"), part("values", "NotCarried")

    class DictEncoder(base):
        """Encodes a dict item by item. In an item, an object that cannot be carried becomes what it is like, or text; an item that
        is too large or contains itself is left out. `told` says all this by the item's key: {key and reason: None}, in order."""

        def __init__(self):
            super().__init__()
            self.told = {}
            self.item = ""  # names the item that is encoded now, such as results['a']
            self.in_key = False
            self.pairs = []  # (name of the item, its key, the item, names of its arrays)

        def encode_dict(self, value):
            for key, item in list(dict.items(value)):
                count, arrays, self.whole = self.count, list(self.arrays), value
                self.item = f"{name}[{briefly(key)}]"
                try:
                    self.in_key = True
                    key = self.encode(key, 3)
                    self.in_key = False
                    item = self.encode(item, 3)
                    self.pairs.append((self.item, key, item, list(self.arrays)[len(arrays):]))
                except TimeoutError:
                    raise
                except BaseException as error:  # the guest's classes take part in this: it may be anything
                    what = "its key: " if self.in_key else ""
                    self.count, self.arrays = count, {each: self.arrays[each] for each in arrays}
                    self.tell(f"was left out: {what}{reason_of(error)}")

        def node(self):
            """The dict as JSON."""
            plain = all(type(key) is str and not key.startswith("$") for _, key, _, _ in self.pairs)
            return {key: item for _, key, item, _ in self.pairs} if plain else self.tag("dict", [[key, item] for _, key, item, _ in self.pairs])

        def leave_out_largest(self):
            """Take an item back, as /output has no room for all of them. False: there is none left."""
            import json
            if not self.pairs:
                return False
            sizes = [sum(self.arrays[each].nbytes for each in arrays) + len(json.dumps(item)) for _, _, item, arrays in self.pairs]
            at = sizes.index(max(sizes))
            self.item, _, _, arrays = self.pairs.pop(at)
            for each in arrays:
                del self.arrays[each]
            self.tell(f"was left out: its {sizes[at]} bytes have no room in the output directory")
            return True

        def tell(self, text):
            self.told[f"{self.item} {text}"] = None

        def warnings(self):
            told = list(self.told)
            more = [f"{name}: {len(told) - MOST_TOLD} further values were changed or left out"] if len(told) > MOST_TOLD else []
            return told[:MOST_TOLD] + more

        def writer_of(self, value, kind):
            try:
                return super().writer_of(value, kind)
            except NotCarried as error:
                if self.in_key:
                    raise
                like, why = next((base for base in LIKE if issubclass(kind, base)), None), str(error)
                return lambda to, each, depth: to.encode(to.instead(each, like, why), depth)

        def instead(self, value, like, why):
            """What comes back for an object that cannot be carried: an object of the built-in class that it is of, or its text."""
            if like is not None:
                self.tell(f"came back as {like.__name__}: {why}")
                return base_value(value, like)
            text = shown(value)
            self.tell(f"came back as text{', cut to %d characters' % LONGEST if len(text) == LONGEST else ''}: {why}")
            return text
    return DictEncoder()


def base_value(value, like):
    """The value of a subclass of `like` as one of `like` itself, whatever methods the subclass has."""
    if like is dict:
        return dict(dict.items(value))
    return getattr(like, f"__{like.__name__}__")(value) if like in (int, float, str) else like(like.__iter__(value))


def briefly(key):
    """A key of a dict in a message."""
    try:
        text = repr(key)
        return text if len(text) <= 60 else f"{text[:57]}..."
    except BaseException:
        return f"<unprintable {type_name(key)} object>"


def reason_of(error):
    """The reason why a value was left out: the text of an encoder's errors, which need no name of a class."""
    kinds = part("values", "NotCarried"), part("values", "TooLarge")
    return str(error) if isinstance(error, kinds) else describe(error)


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
    """Returns the value as JSON of at most `room` bytes, warnings, and whether there is such JSON. Objects that are not JSON become
    text. Of a dict, the items that cannot be JSON or have no room are left out."""
    try:
        plain = Plain(text_for_others=True).convert(value, 0)
        size = size_of(plain)
        if size <= room:
            return plain, [], True
        why = f"{size} bytes, more than {room}"
    except BaseException as error:  # the guest's classes take part in this: it may be anything
        why = words_of(error)
    if isinstance(value, dict):
        return (*items_of(value, room), True)
    return None, [f"The results were left out: {why}."], False


def items_of(value, room):
    """The items of a dict that are JSON and have room, and warnings about the others."""
    found, told = {}, []
    for key, item in list(dict.items(value)):
        plain = Plain(text_for_others=True)
        plain.whole = value
        try:
            pair = {plain.key(key): plain.convert(item, 1)}
            size = size_of(pair)
            if size > room:
                raise NotJson(f"{size} bytes, more than the {room} that are left")
            found.update(pair)
            room -= size
        except TimeoutError as error:
            told.append(f"The JSON of results ends before {briefly(key)}: {describe(error)}")
            break
        except BaseException as error:
            told.append(f"The JSON of results[{briefly(key)}] was left out: {words_of(error)}")
    return found, told[:MOST_TOLD] + ([f"The JSON of {len(told) - MOST_TOLD} further results was left out"] if len(told) > MOST_TOLD else [])


def words_of(error):
    """The reason why there is no JSON."""
    return str(error) if isinstance(error, NotJson) else describe(error)


def size_of(plain):
    import json
    return len(json.dumps(plain, allow_nan=False))


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
