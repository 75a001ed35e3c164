"""Values of Python as JSON with tags, and back: exact, without pickle, and without importing anything that the JSON names.

JSON holds None, bool, int, float, str, list and dict as they are. Every other value is an object with one member whose name
begins with "$": {"$tuple": [1, 2]}, {"$decimal": "1.10"}. Arrays become .npy: in base64 within the JSON, or as members of a
.npz file, whose member HEADER is then the JSON. Only values of exactly the types below are carried; subclasses are not.

This file is part of the package, and also frozen into the program that runs in a cell; so it imports no other module of the
package, and imports modules only when it needs them. What it reads may come from a hostile program.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

MIME = "application/vnd.hotcell.value+json"
HEADER = "__hotcell_value__"  # member of a .npz file, with the JSON of the value that the file holds
DEEPEST = 48                  # levels of nested JSON, as there
MOST = 400000                 # values within one JSON document of a manifest, as in shim/harness/text.c
MOST_IN_FILE = 20000000       # values within a file
MOST_ROWS = 1 << 31           # of a frame: its index may take no memory
MOST_ALIKE = 100              # elements of a set, or keys of a dict, with the same hash: each is compared to all others
MOST_HEADER = 10000           # bytes of the header of a .npy file, as in numpy
MAX_INT = (1 << 63) - 1
PLAIN_KINDS = "biufcmM"       # kinds of numpy's dtypes that columns have
MASKED = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "boolean")
ADVICE = "convert it first, such as to str"


class NotCarried(TypeError):
    """A value that has no form here."""


class TooLarge(ValueError):
    """A value with too many parts or bytes."""


# ---- files and documents ----

def tagged(value: Any, room: int) -> Any:
    """The value as JSON with tags, in at most about `room` bytes, for a manifest. None if JSON without tags says the same, or
    the value is not carried; TooLarge itself if it is too large."""
    if type(value) is str and len(value) > room:
        return None  # as JSON it is too large, too
    try:
        encoder = Inline(room)
        node = encoder.encode(value, 0)
        return node if encoder.tags else None
    except TooLarge:
        return TooLarge
    except TimeoutError:
        raise
    except BaseException:  # the guest's classes may take part in this: it may be anything
        return None


def tagged_mime() -> str:
    """The MIME type of JSON with tags."""
    return MIME


def untagged(node: Any) -> Any:
    """The value of JSON with tags. ValueError if it is not well formed, ImportError if a library is missing."""
    return _read(Decoder(_array_of_text), node)


def to_letter(value: Any, room: int, other: Callable[[Any], Any]) -> Any:
    """The value as JSON with tags, of about `room` bytes at most, for a process that reads it with of_letter. Of a value that is
    not carried, `other` gives what is carried in its place: (None, another value), or (what the other process's `other` gets as
    JSON,); or it raises NotCarried. NotCarried, TooLarge."""
    return Letter(room, other).encode(value, 0)


def of_letter(node: Any, other: Callable[[Any], Any]) -> Any:
    """The value of a letter, which may come from a hostile program. What the sender's `other` has put there in place of a value is
    given to `other`, whose result is the value. ValueError if the letter is not well formed."""
    return _read(Decoder(_array_of_text, other), node)


def write_file(file: Any, value: Any) -> None:
    """Write a value with arrays, such as a DataFrame, to a binary file object as .npz. NotCarried: the value has no form."""
    encoder = Packed()
    node = encoder.encode(value, 0)
    pack(file, encoder, node)


def pack(file: Any, encoder: Any, node: Any) -> None:
    """Write the arrays that an encoder has put aside, and the JSON that names them."""
    import numpy
    numpy.savez(file, **{HEADER: _json_array(node)}, **encoder.arrays)


def read_file(file: Any, limit: Optional[int] = None) -> Any:
    """The value from a file that write_file wrote; a dict of arrays from another .npz file. `limit`: the file's bytes, if it may
    come from a hostile program: then nothing in it is compressed, and all arrays have at most as many bytes together. ValueError
    and errors of zipfile: it is not such a file."""
    if limit is not None:
        import zipfile
        with zipfile.ZipFile(file) as archive:
            members = _plain_members(file, archive, limit)
            return _read_arrays(members, lambda name: array_of(archive.read(members[name])), True)
    import numpy
    with numpy.load(file, allow_pickle=False) as arrays:
        return _read_arrays(arrays.files, lambda name: arrays[name], False)


def _read_arrays(names: Any, load: Callable[[str], Any], hostile: bool) -> Any:
    """The value whose JSON is in the array HEADER, or without that a dict of all arrays."""
    import json
    if HEADER not in names:
        return {name: load(name) for name in names}
    used = {HEADER}

    def get(name: Any) -> Any:
        if not isinstance(name, str) or name in used:
            raise ValueError("no name of an array, or named twice")
        used.add(name)
        return load(name)
    return _read(Decoder(get), json.loads(load(HEADER).tobytes()), hostile)


def _plain_members(file: Any, archive: Any, limit: int) -> Dict[str, Any]:
    """{name of an array: member} of an archive. ValueError: its members could become more than `limit` bytes, or are not told apart."""
    members: Dict[str, Any] = {}
    end = total = 0
    for member in sorted(archive.infolist(), key=lambda member: member.header_offset):
        file.seek(member.header_offset)
        header = file.read(30)
        name = member.filename[:-4] if member.filename.endswith(".npy") else member.filename
        total += member.file_size
        if member.compress_type or member.file_size != member.compress_size or total > limit:
            raise ValueError("compressed, or larger than the file")
        if len(header) < 30 or member.header_offset < end or name in members:
            raise ValueError("members that overlap, or two of one name")
        end = member.header_offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little") + member.file_size
        members[name] = member
    return members


def _read(decoder: Any, node: Any, hostile: bool = True) -> Any:
    try:
        return decoder.decode(node, 0)
    except ImportError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) and not hostile:
            raise
        raise ValueError(f"a value that is not well formed: {type(error).__name__}: {str(error)[:300]}") from error


def array_of(data: bytes) -> Any:
    """The array of a .npy file that may come from a hostile program. ValueError: it is none, or would have more bytes than the
    file, or items of no bytes in a number that the file's size does not bound."""
    import ast
    from io import BytesIO

    from numpy.lib import format as npy
    begin = {b"\x93NUMPY\x01\0": 10, b"\x93NUMPY\x02\0": 12, b"\x93NUMPY\x03\0": 12}.get(data[:8])
    if begin is None:
        raise ValueError("no .npy file")
    size = int.from_bytes(data[8:begin], "little")
    if size > MOST_HEADER:
        raise ValueError("a header that is too large")
    try:
        header = ast.literal_eval(data[begin:begin + size].decode("utf-8" if data[6] == 3 else "latin-1").strip())
        dtype, count = npy.descr_to_dtype(header["descr"]), 1
        for length in _expect(header["shape"], tuple):
            if _expect(length, int) < 0:
                raise ValueError("a negative length")
            count *= length
        if dtype.hasobject or dtype.subdtype is not None or count * max(dtype.itemsize, 1) > len(data):
            raise ValueError("objects, or more items than bytes")
        return npy.read_array(BytesIO(data), allow_pickle=False)
    except Exception as error:  # MemoryError and RecursionError, too
        raise ValueError(f"no .npy file: {type(error).__name__}: {str(error)[:300]}") from error


def _json_array(value: Any) -> Any:
    import json

    import numpy
    return numpy.frombuffer(json.dumps(value).encode("ascii"), dtype="uint8")


def _array_of_text(text: Any) -> Any:
    return array_of(_bytes_of(text))


def _base64(data: Any) -> str:
    import binascii
    return binascii.b2a_base64(data, newline=False).decode("ascii")


# ---- writing ----

class Encoder:
    """Turns values into JSON. `tags` is whether there is a tag in it."""

    most = MOST

    def __init__(self) -> None:
        self.tags = False
        self.count = 0
        self.writers: Dict[type, Any] = {}  # of types that were met, so that a column looks its type up once

    def put(self, array: Any) -> Any:
        """Put an array aside; returns what stands for it in the JSON."""
        raise NotImplementedError

    def put_list(self, items: List[Any]) -> Any:
        """Put a long list of JSON aside."""
        raise NotImplementedError

    def encode(self, value: Any, depth: int) -> Any:
        """The value as JSON. NotCarried, TooLarge."""
        self.count += 1
        if self.count > self.most:
            raise TooLarge(f"more than {self.most} values")
        if depth > DEEPEST:
            raise TooLarge("nested too deeply")
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if -MAX_INT <= value <= MAX_INT else self.tag("int", hex(value))
        if kind is float:
            return value if value - value == 0 else self.tag("float", repr(value))
        if kind is str:
            return value if _is_text(value) else self.tag("str", _base64(value.encode("utf-8", "surrogatepass")))
        if kind is list:
            return self.items(value, depth)
        if kind is dict:
            return self.mapping(value, depth)
        if kind not in self.writers:
            self.writers[kind] = self.writer_of(value, kind)
        return self.writers[kind](self, value, depth + 1)

    def writer_of(self, value: Any, kind: type) -> Callable[[Any, Any, int], Any]:
        """The function that writes values of a type. NotCarried."""
        return _writer_of(value, kind)

    def tag(self, name: str, content: Any) -> Dict[str, Any]:
        """A value that JSON lacks."""
        self.tags = True
        return {f"${name}": content}

    def items(self, values: Any, depth: int) -> List[Any]:
        """Each of the values as JSON."""
        if self.count + len(values) > self.most:
            raise TooLarge(f"more than {self.most} values")
        return [self.encode(item, depth + 1) for item in values]

    def mapping(self, value: Dict[Any, Any], depth: int) -> Any:
        """A dict as an object, or with a tag if an object cannot say it."""
        pairs = list(value.items())
        plain = all(type(key) is str and _is_text(key) for key, _ in pairs)
        if plain and not (len(pairs) == 1 and pairs[0][0].startswith("$")):
            return {key: self.encode(item, depth + 1) for key, item in pairs}
        return self.tag("dict", [self.items(pair, depth + 2) for pair in pairs])


class Inline(Encoder):
    """The whole value is JSON of about `room` bytes at most."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def put(self, array: Any) -> Any:
        """The array as .npy in base64."""
        from io import BytesIO

        import numpy
        self.room -= array.nbytes // 3 * 4 + 200
        if self.room < 0:
            raise TooLarge("too many bytes")
        data = BytesIO()
        numpy.save(data, array, allow_pickle=False)
        return _base64(data.getvalue())

    def put_list(self, items: List[Any]) -> Any:
        """The list as it is."""
        return items


class Letter(Inline):
    """As Inline, and asks `other` for what is carried in place of a value that is not, see to_letter."""

    def __init__(self, room: int, other: Callable[[Any], Any]) -> None:
        super().__init__(room)
        self.other = other

    def writer_of(self, value: Any, kind: type) -> Callable[[Any, Any, int], Any]:
        """As of Encoder, for every type."""
        try:
            return super().writer_of(value, kind)
        except NotCarried:
            return _put_other


class Packed(Encoder):
    """Arrays are put aside as members of a .npz file."""

    most = MOST_IN_FILE

    def __init__(self) -> None:
        super().__init__()
        self.arrays: Dict[str, Any] = {}

    def put(self, array: Any) -> Any:
        """The name of the array in the file."""
        name = f"a{len(self.arrays)}"
        self.arrays[name] = array
        return name

    def put_list(self, items: List[Any]) -> Any:
        """The name of an array that holds the list as JSON."""
        return self.put(_json_array(items))


def _is_text(text: str) -> bool:
    """Whether reports can hold the text: no NUL and no half of a surrogate pair."""
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _class(module: str, name: str) -> Any:
    """A class, None if the process has not imported its module: then no value is of this class."""
    return getattr(sys.modules.get(module), name, None)


def _writer_of(value: Any, kind: type) -> Callable[[Any, Any, int], Any]:
    for module, name, writer in WRITERS:
        if _class(module, name) is kind:
            return writer
    for module, name, within, writer in FAMILIES:
        base = _class(module, name)
        if isinstance(base, type) and issubclass(kind, base) and kind.__module__.split(".")[0] == within:
            return writer
    raise NotCarried(f"{_name(kind)} is not carried: {ADVICE}")


def _name(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _put_sequence(name: str) -> Callable[[Any, Any, int], Any]:
    return lambda to, value, depth: to.tag(name, to.items(value, depth))


def _put_text(name: str, text: Callable[[Any], Any]) -> Callable[[Any, Any, int], Any]:
    return lambda to, value, depth: to.tag(name, text(value))


def _put_other(to: Any, value: Any, depth: int) -> Any:
    found = to.other(value)
    return to.tag("other", found[0]) if len(found) == 1 else to.encode(found[1], depth)


def _put_bytes(name: str) -> Callable[[Any, Any, int], Any]:
    def put(to: Any, value: Any, depth: int) -> Any:
        if hasattr(to, "room"):
            to.room -= len(value) // 3 * 4
            if to.room < 0:
                raise TooLarge("too many bytes")
        return to.tag(name, _base64(value))
    return put


def _put_time(to: Any, value: Any, depth: int) -> Any:
    return to.tag("time", [value.replace(tzinfo=None, fold=0).isoformat(), value.fold, _zone(value.tzinfo)])


def _put_datetime(to: Any, value: Any, depth: int) -> Any:
    zone, offset = _zone(value.tzinfo), None
    if zone is not None and zone[0] == "pytz":
        offset = _seconds(value.utcoffset())
        if value.tzinfo.normalize(value).replace(tzinfo=None) != value.replace(tzinfo=None):
            raise NotCarried(f"{value!r} has a time zone of pytz that was not set with its localize(): use that, or zoneinfo")
    return to.tag("datetime", [value.replace(tzinfo=None, fold=0).isoformat(), value.fold, zone, offset])


def _seconds(delta: Any) -> List[int]:
    return [delta.days, delta.seconds, delta.microseconds]


def _zone(zone: Any) -> Optional[List[Any]]:
    """A time zone: its kind, and its name or its distance from UTC."""
    import datetime
    if zone is None:
        return None
    kind = type(zone)
    if kind is datetime.timezone:
        plain = datetime.timezone(zone.utcoffset(None))
        name = zone.tzname(None)
        if zone is datetime.timezone.utc:
            return ["utc"]
        return ["offset", *_seconds(zone.utcoffset(None)), None if name == plain.tzname(None) else name]
    if kind is _class("zoneinfo", "ZoneInfo") and zone.key:
        return ["zoneinfo", zone.key]
    base = _class("pytz.tzinfo", "BaseTzInfo")
    if base is not None and isinstance(zone, base) and kind.__module__.split(".")[0] == "pytz" and zone.zone:
        return ["pytz", zone.zone]
    if kind is _class("pytz", "_FixedOffset"):
        return ["pytz_offset", *_seconds(zone.utcoffset(None))]
    if kind is _class("dateutil.tz", "tzutc") or kind.__module__ == "dateutil.tz.tz" and kind.__name__ == "tzutc":
        return ["dateutil_utc"]
    raise NotCarried(f"a time zone of type {_name(kind)} is not carried: use zoneinfo.ZoneInfo or datetime.timezone")


def _put_array(to: Any, value: Any, depth: int) -> Any:
    if value.dtype == object:
        return to.tag("objects", [list(value.shape), to.put_list(to.items(value.ravel().tolist(), depth + 1))])
    if value.dtype.hasobject:
        raise NotCarried(f"an array of dtype {value.dtype} is not carried: it has fields of Python objects")
    return to.tag("ndarray", to.put(value))


def _put_scalar(to: Any, value: Any, depth: int) -> Any:
    if value.dtype.kind in "SU":
        return to.tag("numpy", [value.dtype.kind, to.encode(value.item(), depth + 1)])
    if value.dtype.kind == "V" or value.dtype.hasobject:
        raise NotCarried(f"a numpy scalar of dtype {value.dtype} is not carried: give it as an array")
    return to.tag("numpy", [value.dtype.str, _base64(value.tobytes())])


def _put_instant(name: str) -> Callable[[Any, Any, int], Any]:
    """Of a Timestamp or Timedelta of pandas: its number of units, its unit and its time zone."""
    def put(to: Any, value: Any, depth: int) -> Any:
        zone = _zone(getattr(value, "tzinfo", None))
        return to.tag(name, [int(value.asm8.view("i8")), getattr(value, "unit", "ns") if hasattr(value, "as_unit") else "ns", zone])
    return put


def _put_period(to: Any, value: Any, depth: int) -> Any:
    return to.tag("period", [int(value.ordinal), value.freqstr])


def _put_interval(to: Any, value: Any, depth: int) -> Any:
    return to.tag("interval", [to.encode(value.left, depth + 1), to.encode(value.right, depth + 1), value.closed])


def _put_index(to: Any, value: Any, depth: int) -> Any:
    return to.tag("index", _index(to, value, "index", depth))


def _put_series(to: Any, value: Any, depth: int) -> Any:
    return to.tag("series", {"index": _index(to, value.index, "index", depth + 1), "data": _column(to, value, "series", depth + 1),
                             "name": to.encode(value.name, depth + 2), "attrs": to.encode(value.attrs, depth + 2)})


def _put_frame(to: Any, value: Any, depth: int) -> Any:
    named = [(_shown(value.columns[at]), value.iloc[:, at]) for at in range(value.shape[1])]
    return to.tag("frame", {
        "columns": _index(to, value.columns, "names of columns", depth + 1), "index": _index(to, value.index, "index", depth + 1),
        "data": [_column(to, column, f"column {name}", depth + 2) for name, column in named],
        "attrs": _within(to, value.attrs, "attrs", depth + 2)})


def _shown(label: Any) -> str:
    return repr(label)[:100]


def _within(to: Any, value: Any, where: str, depth: int) -> Any:
    """As encode, but an error names the place."""
    try:
        return to.encode(value, depth)
    except NotCarried as error:
        raise NotCarried(f"{where}: {error}") from None


def _index(to: Any, index: Any, where: str, depth: int) -> Dict[str, Any]:
    import pandas
    names = [_within(to, name, f"name of the {where}", depth + 2) for name in index.names]
    if isinstance(index, pandas.MultiIndex):
        return {"levels": [_index(to, level.rename(None), where, depth + 2) for level in index.levels],
                "codes": [to.put(codes_of(codes)) for codes in index.codes], "names": names}
    if isinstance(index, pandas.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "names": names}
    if isinstance(index.dtype, pandas.SparseDtype):
        raise NotCarried(f"{where} (dtype {index.dtype}): only a column may be sparse: make it dense first, with astype")
    return {"data": _column(to, index, where, depth + 1), "freq": _freq_of(index, where), "names": names}


def codes_of(codes: Any) -> Any:
    """The codes of a level or a category as an array that is in nobody else's hands."""
    import numpy
    return numpy.ascontiguousarray(codes)


def _freq_of(index: Any, where: str) -> Optional[str]:
    """The frequency of an index of times; one that its name does not say in full is refused."""
    import pandas
    if not isinstance(index, (pandas.DatetimeIndex, pandas.TimedeltaIndex)) or index.freq is None:
        return None
    if not _is_freq(index.freqstr) or pandas.tseries.frequencies.to_offset(index.freqstr) != index.freq:
        raise NotCarried(f"{where}: the frequency {index.freqstr} has no name that says all of it: set index.freq = None")
    return str(index.freqstr)


def _is_freq(text: Any) -> bool:
    return isinstance(text, str) and 0 < len(text) <= 32 and text.isascii() and text.replace("-", "").isalnum()


def _column(to: Any, data: Any, where: str, depth: int) -> Dict[str, Any]:
    """The data of a Series or an Index."""
    try:
        return _column_of(to, data, depth)
    except NotCarried as error:
        raise NotCarried(f"{where} (dtype {data.dtype}): {error}") from None


def _column_of(to: Any, data: Any, depth: int) -> Dict[str, Any]:
    import numpy
    import pandas
    dtype = data.dtype
    if isinstance(dtype, numpy.dtype) and dtype.kind in PLAIN_KINDS:
        return {"plain": to.put(data.to_numpy())}
    if dtype == object:
        return {"objects": to.put_list(_objects(to, data, depth + 1))}
    if isinstance(dtype, pandas.CategoricalDtype):
        codes = data.codes if isinstance(data, pandas.Index) else data.cat.codes.to_numpy()
        return {"codes": to.put(codes_of(codes)), "categories": _index(to, dtype.categories, "categories", depth + 1),
                "ordered": bool(dtype.ordered)}
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return {"zoned": to.put(pandas.DatetimeIndex(data).tz_convert("UTC").tz_localize(None).to_numpy()), "zone": _zone(dtype.tz)}
    if isinstance(dtype, pandas.PeriodDtype):
        return {"periods": to.put(pandas.PeriodIndex(data).asi8), "freq": dtype.freq.freqstr}
    if isinstance(dtype, pandas.IntervalDtype):
        both = pandas.IntervalIndex(data)
        return {"left": _column_of(to, both.left, depth + 1), "right": _column_of(to, both.right, depth + 1), "closed": both.closed}
    if isinstance(dtype, pandas.SparseDtype) and dtype.subtype.kind in PLAIN_KINDS:
        array = data.array
        return {"sparse": to.put(numpy.asarray(array.sp_values)), "at": to.put(array.sp_index.to_int_index().indices),
                "length": len(array), "fill": to.encode(array.fill_value, depth + 1)}
    if type(dtype).__module__.startswith("pandas.") and dtype.name in MASKED:
        mask = numpy.asarray(data.isna(), dtype=bool)
        return {"values": to.put(data.to_numpy(dtype=dtype.numpy_dtype, na_value=0)), "mask": to.put(mask)}
    if isinstance(dtype, pandas.StringDtype) and getattr(dtype, "na_value", pandas.NA) is pandas.NA:
        texts = [None if item is pandas.NA else item for item in data.array]
        return {"strings": to.put_list(to.items(texts, depth + 1)), "storage": dtype.storage}
    raise NotCarried(f"the dtype is not carried: {ADVICE} with astype")


def _objects(to: Any, data: Any, depth: int) -> List[Any]:
    """The items of an object column as JSON; most often all are texts, for which there is a short way."""
    items = data.array.tolist() if hasattr(data.array, "tolist") else list(data)
    if all(type(item) is str for item in items) and _is_text("".join(items) or "-"):
        return items
    return to.items(items, depth)


def _nothing(to: Any, value: Any, depth: int) -> Any:
    import pandas
    return to.tag("nat" if value is pandas.NaT else "na", 0)


WRITERS: Tuple[Any, ...] = (
    ("builtins", "tuple", _put_sequence("tuple")), ("builtins", "set", _put_sequence("set")),
    ("builtins", "frozenset", _put_sequence("frozenset")), ("builtins", "bytes", _put_bytes("bytes")),
    ("builtins", "bytearray", _put_bytes("bytearray")),
    ("builtins", "complex", lambda to, value, depth: to.tag("complex", to.items((value.real, value.imag), depth))),
    ("builtins", "range", lambda to, value, depth: to.tag("range", to.items((value.start, value.stop, value.step), depth))),
    ("pathlib", "PosixPath", lambda to, value, depth: to.tag("path", to.encode(str(value), depth))),
    ("pathlib", "PurePosixPath", lambda to, value, depth: to.tag("purepath", to.encode(str(value), depth))),
    ("types", "SimpleNamespace", lambda to, value, depth: to.tag("namespace", to.encode(dict(vars(value)), depth))),
    ("decimal", "Decimal", _put_text("decimal", str)), ("uuid", "UUID", _put_text("uuid", str)),
    ("datetime", "date", _put_text("date", lambda value: value.isoformat())), ("datetime", "time", _put_time),
    ("datetime", "datetime", _put_datetime), ("datetime", "timedelta", _put_text("timedelta", _seconds)),
    ("numpy", "ndarray", _put_array), ("pandas", "DataFrame", _put_frame), ("pandas", "Series", _put_series),
    ("pandas", "Timestamp", _put_instant("timestamp")), ("pandas", "Timedelta", _put_instant("timedelta64")),
    ("pandas", "Period", _put_period), ("pandas", "Interval", _put_interval),
    ("pandas._libs.tslibs.nattype", "NaTType", _nothing), ("pandas._libs.missing", "NAType", _nothing),
)
FAMILIES: Tuple[Any, ...] = (("numpy", "generic", "numpy", _put_scalar), ("pandas", "Index", "pandas", _put_index))


# ---- reading ----

class Decoder:
    """Makes values of JSON that anybody may have written. `get` returns an array for what stands for it in the JSON."""

    most = MOST_IN_FILE

    def __init__(self, get: Callable[[Any], Any], other: Optional[Callable[[Any], Any]] = None) -> None:
        self.get = get
        self.other = other  # makes values of what Letter puts there in their place; None: there is no such thing
        self.count = 0

    def decode(self, node: Any, depth: int) -> Any:
        """The value of a node."""
        self.count += 1
        if self.count > self.most or depth > 2 * DEEPEST:
            raise ValueError("too many values, or nested too deeply")
        if isinstance(node, list):
            return self.items(node, depth)
        if not isinstance(node, dict):
            return node
        if len(node) == 1:
            (name, content), = node.items()
            if name.startswith("$"):
                if name not in READERS:
                    raise ValueError(f"no tag of a value: {name[:50]!r}")
                return READERS[name](self, content, depth + 1)
        return {key: self.decode(item, depth + 1) for key, item in node.items()}

    def items(self, nodes: Any, depth: int) -> List[Any]:
        """The values of the nodes of a list."""
        return [self.decode(item, depth + 1) for item in _expect(nodes, list)]

    def array(self, name: Any, kinds: str = PLAIN_KINDS) -> Any:
        """An array of one dimension, whose dtype is of one of these kinds."""
        array = self.get(name)
        if array.ndim != 1 or array.dtype.kind not in kinds:
            raise ValueError("an array of a wrong kind")
        return array

    def list(self, content: Any) -> List[Any]:
        """A long list of nodes, which may be in an array."""
        import json
        if isinstance(content, str):
            content = json.loads(self.array(content, "u").tobytes())
        return _expect(content, list)


def _expect(node: Any, kind: Any) -> Any:
    if not isinstance(node, kind) or isinstance(node, bool) and kind is int:
        raise ValueError(f"expected another type than {type(node).__name__}")
    return node


def _parts(node: Any, *kinds: Any) -> List[Any]:
    """A list of as many items as there are kinds, each of its kind."""
    if len(_expect(node, list)) != len(kinds):
        raise ValueError(f"expected {len(kinds)} items")
    return [_expect(item, kind) for item, kind in zip(node, kinds)]


def _bytes_of(text: Any) -> bytes:
    import base64
    return base64.b64decode(_expect(text, str), validate=True)


def _get_dict(of: Any, content: Any, depth: int) -> Any:
    pairs = [(of.decode(key, depth), of.decode(item, depth))
             for key, item in (_parts(pair, object, object) for pair in _expect(content, list))]
    _told_apart([key for key, _ in pairs])
    return dict(pairs)


def _get_set(kind: Any) -> Callable[[Any, Any, int], Any]:
    return lambda of, content, depth: kind(_told_apart(of.items(content, depth)))


def _told_apart(items: List[Any], bits: int = 64) -> List[Any]:
    """The items. ValueError if many have the same hash, or the same one when it is folded to 32 bits, as pandas does: a table of
    them would take time with the square of their number."""
    counts: Dict[int, int] = {}
    for item in items if len(items) > MOST_ALIKE else ():
        key = hash(item)
        key = key if bits == 64 else (key ^ key >> 32) & 0xffffffff
        counts[key] = counts.get(key, 0) + 1
        if counts[key] > MOST_ALIKE:
            raise ValueError("too many items with the same hash")
    return items


def _get_other(of: Any, content: Any, depth: int) -> Any:
    if of.other is None:
        raise ValueError("no tag of a value: '$other'")
    return of.other(content)


def _get_path(of: Any, content: Any, depth: int) -> Any:
    import pathlib
    return pathlib.PosixPath(_expect(of.decode(content, depth), str))


def _get_purepath(of: Any, content: Any, depth: int) -> Any:
    import pathlib
    return pathlib.PurePosixPath(_expect(of.decode(content, depth), str))


def _get_namespace(of: Any, content: Any, depth: int) -> Any:
    import types
    space = types.SimpleNamespace()
    space.__dict__.update((_expect(name, str), value) for name, value in _expect(of.decode(content, depth), dict).items())
    return space


def _get_decimal(of: Any, content: Any, depth: int) -> Any:
    import decimal
    return decimal.Decimal(_expect(content, str))


def _get_uuid(of: Any, content: Any, depth: int) -> Any:
    import uuid
    return uuid.UUID(_expect(content, str))


def _get_date(of: Any, content: Any, depth: int) -> Any:
    import datetime
    return datetime.date.fromisoformat(content)


def _get_time(of: Any, content: Any, depth: int) -> Any:
    import datetime
    text, fold, zone = _parts(content, str, int, object)
    return datetime.time.fromisoformat(text).replace(fold=fold, tzinfo=_zone_of(zone))


def _get_datetime(of: Any, content: Any, depth: int) -> Any:
    import datetime
    text, fold, zone, offset = _parts(content, str, int, object, object)
    moment, tz = datetime.datetime.fromisoformat(text), _zone_of(zone)
    if offset is not None:
        return tz.fromutc(moment - _delta(offset)).replace(fold=fold)
    return moment.replace(fold=fold, tzinfo=tz)


def _delta(content: Any) -> Any:
    import datetime
    return datetime.timedelta(*_parts(content, int, int, int))


def _zone_of(zone: Any) -> Any:
    """A time zone. Names are those of the time zone database: other names could make a library open any file."""
    import datetime
    import re
    if zone is None:
        return None
    kind, rest = _expect(zone, list)[0], zone[1:]
    if kind == "utc":
        return datetime.timezone.utc
    if kind == "offset":
        name = rest.pop()
        return datetime.timezone(_delta(rest), *([] if name is None else [_expect(name, str)]))
    if kind == "pytz_offset":
        import pytz
        return pytz.FixedOffset(_delta(rest).total_seconds() // 60)
    if kind == "dateutil_utc":
        import dateutil.tz
        return dateutil.tz.tzutc()
    name, = _parts(rest, str)
    if len(name) > 64 or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*", name):
        raise ValueError("no name of a time zone")
    if kind == "zoneinfo":
        import zoneinfo
        return zoneinfo.ZoneInfo(name)
    if kind == "pytz":
        import pytz
        return pytz.timezone(name)
    raise ValueError("no kind of a time zone")


def _get_array(of: Any, content: Any, depth: int) -> Any:
    return of.get(content)


def _get_objects(of: Any, content: Any, depth: int) -> Any:
    shape, items = _parts(content, list, object)
    return _object_array(of.items(of.list(items), depth)).reshape([_expect(size, int) for size in shape])


def _object_array(items: List[Any]) -> Any:
    """An array of objects; numpy would take lists of the same length for a second dimension."""
    import numpy
    array = numpy.empty(len(items), dtype=object)
    for at, item in enumerate(items):
        array[at] = item
    return array


def _get_scalar(of: Any, content: Any, depth: int) -> Any:
    import re

    import numpy
    kind, data = _parts(content, str, object)
    if kind in ("S", "U"):
        return numpy.bytes_(_expect(of.decode(data, depth), bytes)) if kind == "S" else numpy.str_(_expect(of.decode(data, depth), str))
    if not re.fullmatch(r"[<>|][biufcmM][0-9]{1,2}(\[[0-9]{0,9}[A-Za-z]{1,2}\])?", kind):
        raise ValueError("no dtype of a scalar")
    dtype, raw = numpy.dtype(kind), _bytes_of(data)
    if len(raw) != dtype.itemsize:
        raise ValueError("a scalar of another size")
    return numpy.frombuffer(raw, dtype=dtype)[0]


UNITS = ("s", "ms", "us", "ns")


def _get_timestamp(of: Any, content: Any, depth: int) -> Any:
    import numpy
    import pandas
    count, unit, zone = _parts(content, int, str, object)
    moment = pandas.Timestamp(numpy.datetime64(count, UNITS[UNITS.index(unit)]))
    return moment if zone is None else moment.tz_localize("UTC").tz_convert(_zone_of(zone))


def _get_timedelta64(of: Any, content: Any, depth: int) -> Any:
    import numpy
    import pandas
    count, unit, _ = _parts(content, int, str, object)
    return pandas.Timedelta(numpy.timedelta64(count, UNITS[UNITS.index(unit)]))


def _freq(text: Any) -> str:
    if not _is_freq(text):
        raise ValueError("no name of a frequency")
    return str(text)


def _get_period(of: Any, content: Any, depth: int) -> Any:
    import pandas
    ordinal, freq = _parts(content, int, str)
    return pandas.Period(ordinal=ordinal, freq=_freq(freq))


def _get_interval(of: Any, content: Any, depth: int) -> Any:
    import pandas
    left, right, closed = _parts(content, object, object, str)
    return pandas.Interval(of.decode(left, depth), of.decode(right, depth), closed)


def _get_nat(of: Any, content: Any, depth: int) -> Any:
    import pandas
    return pandas.NaT


def _get_na(of: Any, content: Any, depth: int) -> Any:
    import pandas
    return pandas.NA


def _get_index(of: Any, content: Any, depth: int) -> Any:
    return _index_of(of, content, depth)


def _get_series(of: Any, content: Any, depth: int) -> Any:
    index = _index_of(of, content["index"], depth)
    data = _column_data(of, content["data"], depth, len(index))
    _count_rows(of, index, [data])
    series = _series(data, index)
    series.name = of.decode(content["name"], depth)
    series.attrs.update(_expect(of.decode(content["attrs"], depth), dict))
    return series


def _series(data: Any, index: Any) -> Any:
    """A Series that keeps the data's type: without `dtype`, pandas would turn objects such as Timestamps into another."""
    import pandas
    if len(data) != len(index):
        raise ValueError("a column that is not as long as the index")
    return pandas.Series(data, index=index, dtype=data.dtype)


def _get_frame(of: Any, content: Any, depth: int) -> Any:
    import pandas
    index = _index_of(of, content["index"], depth)
    columns = [_column_data(of, each, depth, len(index)) for each in _expect(content["data"], list)]
    _count_rows(of, index, columns)
    frame = pandas.DataFrame({at: _series(data, index) for at, data in enumerate(columns)}, index=index)
    frame.columns = _index_of(of, content["columns"], depth)
    frame.attrs.update(_expect(of.decode(content["attrs"], depth), dict))
    return frame


def _count_rows(of: Any, index: Any, columns: List[Any]) -> None:
    """Count rows that take no memory, as all columns are sparse and the index a range, as values: others can be no more than the
    bytes that were read."""
    import pandas
    if columns and isinstance(index, pandas.RangeIndex) and all(isinstance(data, pandas.arrays.SparseArray) for data in columns):
        of.count += len(index)
        if of.count > of.most:
            raise ValueError("too many rows")


def _index_of(of: Any, content: Any, depth: int, of_items: bool = False) -> Any:
    """An index. `of_items`: it is for categories or levels, which are looked up."""
    import pandas
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    names = of.items(content["names"], depth)
    if "levels" in content:
        levels = [_index_of(of, level, depth + 2, True) for level in _expect(content["levels"], list)]
        codes = [of.array(name, "i") for name in _expect(content["codes"], list)]
        return pandas.MultiIndex(levels=levels, codes=codes, names=names)
    name, = names
    if "range" in content:
        counts = range(*_parts(content["range"], int, int, int))
        if len(counts) > (of.most if of_items else MOST_ROWS):
            raise ValueError("too many rows")
        return pandas.RangeIndex(counts, name=name)
    data = _column_data(of, content["data"], depth + 1)
    if of_items and data.dtype == object:
        _told_apart(data.tolist(), 32)
    index = pandas.Index(data, name=name, tupleize_cols=False, dtype=object) if data.dtype == object else pandas.Index(data, name=name)
    if content["freq"] is not None:
        index.freq = _freq(content["freq"])
    return index


def _column_data(of: Any, content: Any, depth: int, rows: Optional[int] = None) -> Any:
    """The data of a column of a series or frame that has this many rows, or of something else, None: an array of numpy or pandas."""
    import pandas
    if depth > 2 * DEEPEST:
        raise ValueError("nested too deeply")
    if "plain" in content:
        return of.array(content["plain"])
    if "objects" in content:
        return _object_array(of.items(of.list(content["objects"]), depth))
    if "codes" in content:
        categories = _index_of(of, content["categories"], depth + 1, True)
        return pandas.Categorical.from_codes(of.array(content["codes"], "i"), dtype=pandas.CategoricalDtype(
            categories, ordered=_expect(content["ordered"], bool)))
    if "zoned" in content:
        return pandas.DatetimeIndex(of.array(content["zoned"], "M"), tz="UTC").tz_convert(_zone_of(content["zone"])).array
    if "periods" in content:
        return pandas.arrays.PeriodArray(of.array(content["periods"], "i"), dtype=pandas.PeriodDtype(_freq(content["freq"])))
    if "left" in content:
        left, right = (pandas.Index(_column_data(of, content[side], depth + 1)) for side in ("left", "right"))
        return pandas.arrays.IntervalArray.from_arrays(left, right, closed=content["closed"])
    if "sparse" in content:
        return _sparse(of, content, depth, rows)
    if "values" in content:
        values, mask = of.array(content["values"], "biuf"), of.array(content["mask"], "b")
        kind = {"b": "BooleanArray", "f": "FloatingArray"}.get(values.dtype.kind, "IntegerArray")
        return getattr(pandas.arrays, kind)(values, mask)
    if "strings" in content:
        texts = of.items(of.list(content["strings"]), depth)
        storage = {"python": "python", "pyarrow": "pyarrow"}[content["storage"]]
        return pandas.array([pandas.NA if text is None else _expect(text, str) for text in texts], dtype=pandas.StringDtype(storage))
    raise ValueError("no kind of a column")


def _sparse(of: Any, content: Any, depth: int, rows: Optional[int]) -> Any:
    """A sparse column; anything else, such as an index, would make it dense, whatever length it claims."""
    import pandas
    from pandas._libs.sparse import IntIndex
    values, length = of.array(content["sparse"]), _expect(content["length"], int)
    if length != rows:
        raise ValueError("sparse, but no column of this length")
    fill = of.decode(content["fill"], depth)
    return pandas.arrays.SparseArray(values, sparse_index=IntIndex(length, of.array(content["at"], "i").astype("int32")),
                                     dtype=pandas.SparseDtype(values.dtype, fill))


READERS: Dict[str, Any] = {
    "$int": lambda of, content, depth: int(_expect(content, str), 16), "$float": lambda of, content, depth: float(_expect(content, str)),
    "$str": lambda of, content, depth: _bytes_of(content).decode("utf-8", "surrogatepass"),
    "$dict": _get_dict, "$tuple": lambda of, content, depth: tuple(of.items(content, depth)),
    "$set": _get_set(set), "$frozenset": _get_set(frozenset),
    "$bytes": lambda of, content, depth: _bytes_of(content), "$bytearray": lambda of, content, depth: bytearray(_bytes_of(content)),
    "$complex": lambda of, content, depth: complex(*_parts(of.items(content, depth), float, float)),
    "$range": lambda of, content, depth: range(*_parts(of.items(content, depth), int, int, int)),
    "$other": _get_other, "$path": _get_path, "$purepath": _get_purepath, "$namespace": _get_namespace,
    "$decimal": _get_decimal, "$uuid": _get_uuid, "$date": _get_date, "$time": _get_time, "$datetime": _get_datetime,
    "$timedelta": lambda of, content, depth: _delta(content), "$ndarray": _get_array, "$objects": _get_objects, "$numpy": _get_scalar,
    "$timestamp": _get_timestamp, "$timedelta64": _get_timedelta64, "$period": _get_period, "$interval": _get_interval,
    "$nat": _get_nat, "$na": _get_na, "$index": _get_index, "$series": _get_series, "$frame": _get_frame,
}
