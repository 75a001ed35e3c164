"""Data frames as .npz files, exact: types, missing values, labels and index come out in the cell as they were.

Text formats would turn "007" into 7, dates into strings and lose the index. The arrays hold no Python objects: what is
not of a numpy type goes as JSON. The member HEADER says what each array is; src/shim/harness/guest_data.py reads it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

HEADER = "__hotcell_frame__"
PLAIN_KINDS = "biufcmM"  # of numpy's dtypes


def write_frame(path: Path, frame: Any) -> None:
    """Write a DataFrame. TypeError or ValueError for objects that JSON cannot hold."""
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
    with open(path, "wb") as file:
        numpy.savez(file, **arrays)


def _is_default(index: Any) -> bool:
    import pandas
    return (isinstance(index, pandas.RangeIndex) and (index.start, index.step, index.name) == (0, 1, None))


def _labels(columns: Any) -> Dict[str, Any]:
    """Labels of columns: one or several levels, each text, number or None."""
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
    """Add a column's arrays. Returns what the header says of it."""
    import pandas
    dtype = series.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        return {"kind": "category", "codes": _add(arrays, series.cat.codes.to_numpy()), "ordered": bool(dtype.ordered),
                "categories": _put(arrays, dtype.categories.to_series())}
    if isinstance(dtype, pandas.DatetimeTZDtype):
        utc = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return {"kind": "zoned", "array": _add(arrays, utc), "zone": str(dtype.tz)}
    if getattr(dtype, "kind", "O") in PLAIN_KINDS and hasattr(dtype, "newbyteorder"):
        return {"kind": "plain", "array": _add(arrays, series.to_numpy())}
    return {"kind": "objects", "array": _add(arrays, _json_array(_objects(series))),
            "dtype": "object" if dtype == object else str(dtype)}


def _objects(series: Any) -> List[Any]:
    import pandas
    return [None if value is None or value is pandas.NA or value is pandas.NaT else _object(value) for value in series]


def _object(value: Any) -> Any:
    """As JSON; a float that JSON does not know, and what is no value at all, in a form of its own."""
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
