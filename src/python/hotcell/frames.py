"""Writes data frames to .npz files and reads them, exactly: types, missing values, labels and index are the same in the cell.

Text formats would turn "007" into 7 and dates into strings, and lose the index. The arrays hold no Python objects: columns
that have no numpy type are stored as JSON. The member HEADER describes each array.

This file is part of the package, and also frozen into the program that runs in a cell; so it imports no other module of the
package.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List

HEADER = "__hotcell_frame__"
PLAIN_KINDS = "biufcmM"  # kinds of numpy's dtypes that are stored as they are


# ---- writing ----

def write_frame(file: Any, frame: Any) -> None:
    """Write a DataFrame to a binary file object."""
    import numpy
    arrays: Dict[str, Any] = {}
    header = {
        "rows": len(frame),
        "labels": _labels(frame.columns),
        "columns": [_put(arrays, frame.iloc[:, i]) for i in range(frame.shape[1])],
        "index": None if _is_default(frame.index) else
                 [_put(arrays, frame.index.get_level_values(i).to_series()) for i in range(frame.index.nlevels)],
        "index_names": _label_list(frame.index.names),
    }
    arrays[HEADER] = _json_array(header)
    numpy.savez(file, **arrays)


def _is_default(index: Any) -> bool:
    import pandas
    return (isinstance(index, pandas.RangeIndex) and (index.start, index.step, index.name) == (0, 1, None))


def _labels(columns: Any) -> Dict[str, Any]:
    """The labels of the columns, level by level; a label is a str, a number or None."""
    levels = [_label_list(columns.get_level_values(i)) for i in range(columns.nlevels)]
    return {"levels": levels, "names": _label_list(columns.names)}


def _label_list(labels: Any) -> List[Any]:
    return [_plain(label) for label in labels]


def _plain(value: Any) -> Any:
    import numpy
    if isinstance(value, numpy.generic):
        value = value.item()
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def _put(arrays: Dict[str, Any], series: Any) -> Dict[str, Any]:
    """Add the arrays of one column. Returns its entry in the header."""
    import pandas
    dtype = series.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        return {"kind": "category", "codes": _add(arrays, series.cat.codes.to_numpy()), "ordered": bool(dtype.ordered),
                "categories": _put(arrays, dtype.categories.to_series())}
    if isinstance(dtype, pandas.DatetimeTZDtype):
        utc = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return {"kind": "zoned", "array": _add(arrays, utc), "zone": _zone(dtype.tz)}
    if getattr(dtype, "kind", "O") in PLAIN_KINDS and hasattr(dtype, "newbyteorder"):
        return {"kind": "plain", "array": _add(arrays, series.to_numpy())}
    return {"kind": "objects", "array": _add(arrays, _json_array(_objects(series))),
            "dtype": "object" if dtype == object else str(dtype)}


def _zone(zone: Any) -> Any:
    """The name of a time zone, or the seconds from UTC for one with a fixed offset."""
    offset = zone.utcoffset(None)
    return offset.total_seconds() if offset is not None and str(zone) != "UTC" else str(zone)


def _objects(series: Any) -> List[Any]:
    import pandas
    return [None if value is None or value is pandas.NA or value is pandas.NaT else _object(value) for value in series]


def _object(value: Any) -> Any:
    """A cell's value as JSON: floats such as NaN as {"float": text}, lists and dicts as {"json": value}, other objects as
    text."""
    import numpy
    if isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"float": repr(value)}
    if isinstance(value, (str, bool, int, float)):
        return value
    try:
        return {"json": json.loads(json.dumps(value, allow_nan=False))}
    except (TypeError, ValueError):
        return str(value)  # dates, decimals, intervals, and so on


def _add(arrays: Dict[str, Any], array: Any) -> str:
    name = f"a{len(arrays)}"
    arrays[name] = array
    return name


def _json_array(value: Any) -> Any:
    import numpy
    return numpy.frombuffer(json.dumps(value).encode("utf-8", "surrogatepass"), dtype="uint8")


# ---- reading ----

def read_frame(file: Any) -> Any:
    """A DataFrame from a file that write_frame wrote; a dict of arrays from another .npz file."""
    import numpy
    with numpy.load(file, allow_pickle=False) as arrays:
        return _frame(arrays) if HEADER in arrays else dict(arrays)


def _frame(arrays: Any) -> Any:
    import pandas
    header = _from_json(arrays[HEADER])
    index = pandas.RangeIndex(header["rows"])
    if header["index"] is not None:
        levels = [pandas.Index(_column(arrays, level)) for level in header["index"]]
        index = levels[0] if len(levels) == 1 else pandas.MultiIndex.from_arrays(levels)
        index.names = header["index_names"]
    columns = [pandas.Series(_column(arrays, each), index=index) for each in header["columns"]]
    frame = pandas.DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = _index_of(header["labels"])
    return frame


def _index_of(labels: Any) -> Any:
    import pandas
    levels = labels["levels"]
    if len(levels) == 1:
        return pandas.Index(levels[0], name=labels["names"][0], dtype=None if levels[0] else object)
    return pandas.MultiIndex.from_arrays(levels, names=labels["names"])


def _column(arrays: Any, each: Any) -> Any:
    import pandas
    if each["kind"] == "category":
        categories = pandas.Index(_column(arrays, each["categories"]))
        return pandas.Categorical.from_codes(arrays[each["codes"]], categories, ordered=each["ordered"])
    if each["kind"] == "zoned":
        return pandas.DatetimeIndex(arrays[each["array"]], tz="UTC").tz_convert(_zone_of(each["zone"]))
    if each["kind"] == "plain":
        return arrays[each["array"]]
    if "dateutil" in each["dtype"]:
        raise ValueError("a type with no name of a time zone")  # see _zone_of
    return pandas.array([_value(item) for item in _from_json(arrays[each["array"]])], dtype=each["dtype"])


def _zone_of(zone: Any) -> Any:
    """A time zone for pandas. Only names of the time zone database are allowed: others could make pandas open any file."""
    if isinstance(zone, (int, float)):
        import datetime
        return datetime.timezone(datetime.timedelta(seconds=zone))
    if not re.fullmatch(r"(?!dateutil|tz)[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*", zone):
        raise ValueError("no name of a time zone")
    return zone


def _value(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return float(item["float"]) if "float" in item else item["json"]


def _from_json(array: Any) -> Any:
    return json.loads(array.tobytes())
