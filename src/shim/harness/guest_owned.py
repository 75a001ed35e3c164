"""Tells data that the program made from what it was given, which a policy with guarded writes does not let it change in place."""
import sys

LIBRARIES = ("numpy", "pandas", "scipy", "collections", "array")  # whose objects hold data
given = {}  # name of an input -> (its value, ids of the arrays that hold its data)


def remember(name, value):
    """Note an input. One of the same name, of a session's earlier run, is the program's from now on."""
    given[name] = (value, set(map(id, arrays_of(value))))


def made(value):
    """Whether the object is data that the program made: it is no input, and shares no memory with one."""
    kind = type(value)
    if isinstance(value, type) or not (kind is bytearray or kind.__module__.partition(".")[0] in LIBRARIES):
        return False
    arrays = set(map(id, arrays_of(value)))
    return not any(value is one or arrays & theirs for one, theirs in given.values())


def arrays_of(value):
    """The arrays that own the memory of an object's data."""
    if isinstance(value, dict):
        return [array for item in value.values() for array in arrays_of(item)]
    parts = getattr(getattr(value, "_mgr", None), "arrays", None)
    if parts is None:
        parts = [getattr(value, "_data", value)]
    return [owner(part) for part in parts]


def owner(array):
    array = next((found for name in ("_ndarray", "_codes", "_data") if (found := getattr(array, name, None)) is not None), array)
    numpy = sys.modules.get("numpy")
    while numpy is not None and isinstance(array, numpy.ndarray) and isinstance(array.base, numpy.ndarray):
        array = array.base
    return array
