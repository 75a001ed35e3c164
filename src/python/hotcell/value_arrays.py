"""Arrays and scalars of numpy as JSON with tags, and back; see values."""

from __future__ import annotations

from .value_tags import MOST_HEADER, NotCarried, base64_of, bytes_of, expect, parts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List


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
        for length in expect(header["shape"], tuple):
            if expect(length, int) < 0:
                raise ValueError("a negative length")
            count *= length
        if dtype.hasobject or dtype.subdtype is not None or count * max(dtype.itemsize, 1) > len(data):
            raise ValueError("objects, or more items than bytes")
        return npy.read_array(BytesIO(data), allow_pickle=False)
    except Exception as error:  # MemoryError and RecursionError, too
        raise ValueError(f"no .npy file: {type(error).__name__}: {str(error)[:300]}") from error


def json_array(value: Any) -> Any:
    """The bytes of the value as JSON, in an array of numpy."""
    import json

    import numpy
    return numpy.frombuffer(json.dumps(value).encode("ascii"), dtype="uint8")


def array_of_text(text: Any) -> Any:
    """The array of a .npy file that is written in base64."""
    return array_of(bytes_of(text))


def put_array(to: Any, value: Any, depth: int) -> Any:
    """The tagged form of an array of numpy: its .npy file."""
    if value.dtype == object:
        return to.tag("objects", [list(value.shape), to.put_list(to.items(value.ravel().tolist(), depth + 1))])
    if value.dtype.hasobject:
        raise NotCarried(f"an array of dtype {value.dtype} is not carried: it has fields of Python objects")
    return to.tag("ndarray", to.put(value))


def put_scalar(to: Any, value: Any, depth: int) -> Any:
    """The tagged form of a scalar of numpy: its dtype, and its bytes or, of a text, its value."""
    if value.dtype.kind in "SU":
        return to.tag("numpy", [value.dtype.kind, to.encode(value.item(), depth + 1)])
    if value.dtype.kind == "V" or value.dtype.hasobject:
        raise NotCarried(f"a numpy scalar of dtype {value.dtype} is not carried: give it as an array")
    return to.tag("numpy", [value.dtype.str, base64_of(value.tobytes())])


def get_array(of: Any, content: Any, depth: int) -> Any:
    """The array of such a form."""
    return of.get(content)


def get_objects(of: Any, content: Any, depth: int) -> Any:
    """The array of objects of such a form: its shape and its items."""
    shape, items = parts_of(content, list, object)
    return object_array(of.items(of.list(items), depth)).reshape([expect(size, int) for size in shape])


def object_array(items: List[Any]) -> Any:
    """An array of objects; numpy would take lists of the same length for a second dimension."""
    import numpy
    array = numpy.empty(len(items), dtype=object)
    for at, item in enumerate(items):
        array[at] = item
    return array


def get_scalar(of: Any, content: Any, depth: int) -> Any:
    """The scalar of numpy of such a form."""
    import re

    import numpy
    kind, data = parts_of(content, str, object)
    if kind in ("S", "U"):
        return numpy.bytes_(expect(of.decode(data, depth), bytes)) if kind == "S" else numpy.str_(expect(of.decode(data, depth), str))
    if not re.fullmatch(r"[<>|][biufcmM][0-9]{1,2}(\[[0-9]{0,9}[A-Za-z]{1,2}\])?", kind):
        raise ValueError("no dtype of a scalar")
    dtype, raw = numpy.dtype(kind), bytes_of(data)
    if len(raw) != dtype.itemsize:
        raise ValueError("a scalar of another size")
    return numpy.frombuffer(raw, dtype=dtype)[0]
