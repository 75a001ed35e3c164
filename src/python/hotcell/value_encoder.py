"""Encoders, which turn values into JSON with tags, and the table of the types that they know; see values."""

from __future__ import annotations

from .value_arrays import json_array, put_array, put_scalar
from .value_frames import put_frame, put_index, put_instant, put_interval, put_nothing, put_period, put_series
from .value_tags import DEEPEST, MAX_INT, MOST, MOST_IN_FILE, NotCarried, TooLarge, advice_for, base64_of, is_text, loaded_class, too_deep, type_name
from .value_times import put_datetime, put_time, seconds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Tuple


class Encoder:
    """Turns values into JSON. `tags` is whether there is a tag in it."""

    most = MOST

    def __init__(self) -> None:
        self.tags = False
        self.count = 0
        self.whole: Any = None  # what encode was called with from outside
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
            raise TooLarge(f"it has more than {self.most} values")
        if depth == 0:
            self.whole = value
        if depth > DEEPEST:
            raise too_deep(self.whole)
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if -MAX_INT <= value <= MAX_INT else self.tag("int", hex(value))
        if kind is float:
            return value if value - value == 0 else self.tag("float", repr(value))
        if kind is str:
            return value if is_text(value) else self.tag("str", base64_of(value.encode("utf-8", "surrogatepass")))
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
            raise TooLarge(f"it has more than {self.most} values")
        return [self.encode(item, depth + 1) for item in values]

    def mapping(self, value: Dict[Any, Any], depth: int) -> Any:
        """A dict as an object, or with a tag if an object cannot say it."""
        pairs = list(value.items())
        plain = all(type(key) is str and is_text(key) for key, _ in pairs)
        if plain and not (len(pairs) == 1 and pairs[0][0].startswith("$")):
            return {key: self.encode(item, depth + 1) for key, item in pairs}
        return self.tag("dict", [self.items(pair, depth + 2) for pair in pairs])


class Inline(Encoder):
    """The whole value is JSON of about `room` bytes at most."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = self.limit = room

    def put(self, array: Any) -> Any:
        """The array as .npy in base64."""
        from io import BytesIO

        import numpy
        self.room -= array.nbytes // 3 * 4 + 200
        if self.room < 0:
            raise TooLarge(f"it has more bytes than the {self.limit} that it may have", True)
        data = BytesIO()
        numpy.save(data, array, allow_pickle=False)
        return base64_of(data.getvalue())

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
            return put_other


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
        return self.put(json_array(items))


def _writer_of(value: Any, kind: type) -> Callable[[Any, Any, int], Any]:
    for module, name, writer in WRITERS:
        if loaded_class(module, name) is kind:
            return writer
    for module, name, within, writer in FAMILIES:
        base = loaded_class(module, name)
        if isinstance(base, type) and issubclass(kind, base) and kind.__module__.split(".")[0] == within:
            return writer
    raise NotCarried(f"{type_name(kind)} is not carried: {advice_for(kind)}")


def put_sequence(name: str) -> Callable[[Any, Any, int], Any]:
    """What writes a sequence under the tag `name`, as the list of its items."""
    return lambda to, value, depth: to.tag(name, to.items(value, depth))


def put_text(name: str, text: Callable[[Any], Any]) -> Callable[[Any, Any, int], Any]:
    """What writes a value under the tag `name`, as the text that `text` makes of it."""
    return lambda to, value, depth: to.tag(name, text(value))


def put_other(to: Any, value: Any, depth: int) -> Any:
    """The form of a value of another kind, if the encoder's caller has one for it. NotCarried: it has none."""
    found = to.other(value)
    return to.tag("other", found[0]) if len(found) == 1 else to.encode(found[1], depth)


def put_bytes(name: str) -> Callable[[Any, Any, int], Any]:
    """What writes bytes under the tag `name`, in base64."""
    def put(to: Any, value: Any, depth: int) -> Any:
        if hasattr(to, "room"):
            to.room -= len(value) // 3 * 4
            if to.room < 0:
                raise TooLarge(f"it has more bytes than the {to.limit} that it may have", True)
        return to.tag(name, base64_of(value))
    return put


WRITERS: Tuple[Any, ...] = (
    ("builtins", "tuple", put_sequence("tuple")), ("builtins", "set", put_sequence("set")),
    ("builtins", "frozenset", put_sequence("frozenset")), ("builtins", "bytes", put_bytes("bytes")),
    ("builtins", "bytearray", put_bytes("bytearray")),
    ("builtins", "complex", lambda to, value, depth: to.tag("complex", to.items((value.real, value.imag), depth))),
    ("builtins", "range", lambda to, value, depth: to.tag("range", to.items((value.start, value.stop, value.step), depth))),
    ("pathlib", "PosixPath", lambda to, value, depth: to.tag("path", to.encode(str(value), depth))),
    ("pathlib", "PurePosixPath", lambda to, value, depth: to.tag("purepath", to.encode(str(value), depth))),
    ("types", "SimpleNamespace", lambda to, value, depth: to.tag("namespace", to.encode(dict(vars(value)), depth))),
    ("decimal", "Decimal", put_text("decimal", str)), ("uuid", "UUID", put_text("uuid", str)),
    ("datetime", "date", put_text("date", lambda value: value.isoformat())), ("datetime", "time", put_time),
    ("datetime", "datetime", put_datetime), ("datetime", "timedelta", put_text("timedelta", seconds_of)),
    ("numpy", "ndarray", put_array), ("pandas", "DataFrame", put_frame), ("pandas", "Series", put_series),
    ("pandas", "Timestamp", put_instant("timestamp")), ("pandas", "Timedelta", put_instant("timedelta64")),
    ("pandas", "Period", put_period), ("pandas", "Interval", put_interval),
    ("pandas._libs.tslibs.nattype", "NaTType", put_nothing), ("pandas._libs.missing", "NAType", put_nothing),
)
FAMILIES: Tuple[Any, ...] = (("numpy", "generic", "numpy", put_scalar), ("pandas", "Index", "pandas", put_index))
