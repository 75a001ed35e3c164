"""What writers and readers of values share: limits, errors, and checks of what was read."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

MIME = "application/vnd.hotcell.value+json"
HEADER = "__hotcell_value__"  # member of a .npz file, with the JSON of the value that the file holds
DEEPEST = 48                  # levels of nested JSON, as in shim/harness/text.c
MOST = 400000                 # values within one JSON document of a manifest, as in shim/harness/text.c
MOST_IN_FILE = 20000000       # values within a file
MOST_ROWS = 1 << 31           # rows of a frame, whose index may take no memory
MOST_ALIKE = 100              # elements of a set, or keys of a dict, with the same hash: each is compared to all others
MOST_HEADER = 10000           # bytes of the header of a .npy file, as in numpy
MAX_INT = (1 << 63) - 1
PLAIN_KINDS = "biufcmM"       # kinds of numpy's dtypes that columns have
MASKED = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "boolean")
DATA = (("pandas", "DataFrame"), ("pandas", "Series"), ("pandas", "Index"), ("numpy", "ndarray"))
ADVICE = "convert it first, such as to str"
ADVICES = (  # instead of ADVICE, for a class and its subclasses; the first that fits counts
    ("numpy", "matrix", "convert it first, with numpy.asarray"), ("numpy.ma", "MaskedArray", "convert it first, with filled()"),
    ("numpy", "ndarray", "convert it first, with numpy.asarray"), ("pandas", "DataFrame", "convert it first, with pandas.DataFrame"),
    ("pandas", "Series", "convert it first, with pandas.Series"), ("enum", "Enum", "give its value or its name"),
)


class NotCarried(TypeError):
    """A value that has no form as JSON with tags."""


class TooLarge(ValueError):
    """A value with too many parts or bytes. `bytes_only`: another limit in bytes would do."""

    def __init__(self, text: str, bytes_only: bool = False) -> None:
        super().__init__(text)
        self.bytes_only = bytes_only


def too_deep(value: Any) -> TooLarge:
    """The error for a value, within another one, that is on too deep a level."""
    return TooLarge("it contains itself" if contains_itself(value) else f"it has more than {DEEPEST} levels of nested values")


def contains_itself(value: Any) -> bool:
    """Whether a list, tuple or dict leads back to itself, as far as it is looked at."""
    within, done, steps = set(), set(), [(value, False)]
    while steps and len(done) < MOST:
        item, left = steps.pop()
        if left:
            within.discard(id(item))
            done.add(id(item))
        elif id(item) in within:
            return True
        elif id(item) not in done and type(item) in (list, tuple, dict):
            within.add(id(item))
            steps.append((item, True))
            steps += [(each, False) for each in (item.values() if type(item) is dict else item)]
    return False


def is_data(value: Any) -> bool:
    """Whether it is a table or an array, of a library's class or a subclass: what callers want as itself."""
    classes = [loaded_class(module, name) for module, name in DATA]
    return isinstance(value, tuple(kind for kind in classes if isinstance(kind, type)))


def is_text(text: str) -> bool:
    """Whether reports can hold the text: no NUL and no half of a surrogate pair."""
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def loaded_class(module: str, name: str) -> Any:
    """A class, None if the process has not imported its module: then no value is of this class."""
    return getattr(sys.modules.get(module), name, None)


def advice_for(kind: type) -> str:
    """What to do with a value of a class that is not carried."""
    for module, name, advice in ADVICES:
        base = loaded_class(module, name)
        if isinstance(base, type) and issubclass(kind, base):
            return advice
    return ADVICE


def type_name(kind: type) -> str:
    """The name of a class in messages: with its module, unless it is a built-in one."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def base64_of(data: Any) -> str:
    """Bytes in base64, as ASCII text without line breaks."""
    import binascii
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def bytes_of(text: Any) -> bytes:
    """The bytes of base64. ValueError: it is none."""
    import base64
    return base64.b64decode(expect(text, str), validate=True)


def expect(node: Any, kind: Any) -> Any:
    """The node, if it is of this kind; True and False are no int. ValueError."""
    if not isinstance(node, kind) or isinstance(node, bool) and kind is int:
        raise ValueError(f"expected another type than {type(node).__name__}")
    return node


def parts_of(node: Any, *kinds: Any) -> List[Any]:
    """A list of as many items as there are kinds, each of its kind."""
    if len(expect(node, list)) != len(kinds):
        raise ValueError(f"expected {len(kinds)} items")
    return [expect(item, kind) for item, kind in zip(node, kinds)]


def told_apart(items: List[Any], bits: int = 64) -> List[Any]:
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
