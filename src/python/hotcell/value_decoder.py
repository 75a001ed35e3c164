"""The decoder, which makes values of JSON with tags, and the table of the tags that it knows; see values."""

from __future__ import annotations

from .value_arrays import get_array, get_objects, get_scalar
from .value_frames import get_frame, get_index, get_interval, get_na, get_nat, get_period, get_series, get_timedelta64, get_timestamp
from .value_tags import DEEPEST, MOST_IN_FILE, PLAIN_KINDS, bytes_of, expect, parts_of, told_apart
from .value_times import delta_of, get_date, get_datetime, get_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional


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
        return [self.decode(item, depth + 1) for item in expect(nodes, list)]

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
        return expect(content, list)


def get_dict(of: Any, content: Any, depth: int) -> Any:
    """The dictionary of a list of its keys and values."""
    pairs = [(of.decode(key, depth), of.decode(item, depth))
             for key, item in (parts_of(pair, object, object) for pair in expect(content, list))]
    told_apart([key for key, _ in pairs])
    return dict(pairs)


def get_set(kind: Any) -> Callable[[Any, Any, int], Any]:
    """What reads a set, or another `kind` of set, from the list of its items."""
    return lambda of, content, depth: kind(told_apart(of.items(content, depth)))


def get_other(of: Any, content: Any, depth: int) -> Any:
    """The value of a tag that only a letter has: its `other` function makes it."""
    if of.other is None:
        raise ValueError("no tag of a value: '$other'")
    return of.other(content)


def get_path(of: Any, content: Any, depth: int) -> Any:
    """The path of this kind, from its text."""
    import pathlib
    return pathlib.PosixPath(expect(of.decode(content, depth), str))


def get_purepath(of: Any, content: Any, depth: int) -> Any:
    """The pure path of this kind, from its text."""
    import pathlib
    return pathlib.PurePosixPath(expect(of.decode(content, depth), str))


def get_namespace(of: Any, content: Any, depth: int) -> Any:
    """The types.SimpleNamespace with these members."""
    import types
    space = types.SimpleNamespace()
    space.__dict__.update((expect(name, str), value) for name, value in expect(of.decode(content, depth), dict).items())
    return space


def get_decimal(of: Any, content: Any, depth: int) -> Any:
    """The decimal number of this text."""
    import decimal
    return decimal.Decimal(expect(content, str))


def get_uuid(of: Any, content: Any, depth: int) -> Any:
    """The UUID of this text."""
    import uuid
    return uuid.UUID(expect(content, str))


READERS: Dict[str, Any] = {
    "$int": lambda of, content, depth: int(expect(content, str), 16), "$float": lambda of, content, depth: float(expect(content, str)),
    "$str": lambda of, content, depth: bytes_of(content).decode("utf-8", "surrogatepass"),
    "$dict": get_dict, "$tuple": lambda of, content, depth: tuple(of.items(content, depth)),
    "$set": get_set(set), "$frozenset": get_set(frozenset),
    "$bytes": lambda of, content, depth: bytes_of(content), "$bytearray": lambda of, content, depth: bytearray(bytes_of(content)),
    "$complex": lambda of, content, depth: complex(*parts_of(of.items(content, depth), float, float)),
    "$range": lambda of, content, depth: range(*parts_of(of.items(content, depth), int, int, int)),
    "$other": get_other, "$path": get_path, "$purepath": get_purepath, "$namespace": get_namespace,
    "$decimal": get_decimal, "$uuid": get_uuid, "$date": get_date, "$time": get_time, "$datetime": get_datetime,
    "$timedelta": lambda of, content, depth: delta_of(content), "$ndarray": get_array, "$objects": get_objects, "$numpy": get_scalar,
    "$timestamp": get_timestamp, "$timedelta64": get_timedelta64, "$period": get_period, "$interval": get_interval,
    "$nat": get_nat, "$na": get_na, "$index": get_index, "$series": get_series, "$frame": get_frame,
}
