"""Frames, series, indexes and other values of pandas as JSON with tags, and back; see values."""

from __future__ import annotations

from .value_arrays import object_array
from .value_tags import ADVICE, DEEPEST, MASKED, MOST_ROWS, PLAIN_KINDS, NotCarried, expect, is_text, parts_of, told_apart
from .value_times import zone_content, zone_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional


def put_instant(name: str) -> Callable[[Any, Any, int], Any]:
    """Of a Timestamp or Timedelta of pandas: its number of units, its unit and its time zone."""
    def put(to: Any, value: Any, depth: int) -> Any:
        zone = zone_content(getattr(value, "tzinfo", None))
        return to.tag(name, [int(value.asm8.view("i8")), getattr(value, "unit", "ns") if hasattr(value, "as_unit") else "ns", zone])
    return put


def put_period(to: Any, value: Any, depth: int) -> Any:
    """The tagged form of a period of pandas: its ordinal number and its frequency."""
    return to.tag("period", [int(value.ordinal), value.freqstr])


def put_interval(to: Any, value: Any, depth: int) -> Any:
    """The tagged form of an interval of pandas: its bounds, and which of them belong to it."""
    return to.tag("interval", [to.encode(value.left, depth + 1), to.encode(value.right, depth + 1), value.closed])


def put_index(to: Any, value: Any, depth: int) -> Any:
    """The tagged form of an index of pandas."""
    return to.tag("index", _index(to, value, "index", depth))


def put_series(to: Any, value: Any, depth: int) -> Any:
    """The tagged form of a series of pandas: its column, its index and its name."""
    return to.tag("series", {"index": _index(to, value.index, "index", depth + 1), "data": _column(to, value, "series", depth + 1),
                             "name": to.encode(value.name, depth + 2), "attrs": to.encode(value.attrs, depth + 2)})


def put_frame(to: Any, value: Any, depth: int) -> Any:
    """The tagged form of a data frame: its columns, their labels and its index."""
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
        return {"zoned": to.put(pandas.DatetimeIndex(data).tz_convert("UTC").tz_localize(None).to_numpy()), "zone": zone_content(dtype.tz)}
    if isinstance(dtype, pandas.PeriodDtype):
        return {"periods": to.put(pandas.PeriodIndex(data).asi8), "freq": dtype.name[len("period["):-1]}  # pandas 2.2 calls the offset otherwise: ME
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
    if all(type(item) is str for item in items) and is_text("".join(items) or "-"):
        return items
    return to.items(items, depth)


def put_nothing(to: Any, value: Any, depth: int) -> Any:
    """The tagged form of a missing value of pandas, NaT or NA."""
    import pandas
    return to.tag("nat" if value is pandas.NaT else "na", 0)


UNITS = ("s", "ms", "us", "ns")


def get_timestamp(of: Any, content: Any, depth: int) -> Any:
    """The timestamp of such a form."""
    import numpy
    import pandas
    count, unit, zone = parts_of(content, int, str, object)
    moment = pandas.Timestamp(numpy.datetime64(count, UNITS[UNITS.index(unit)]))
    return moment if zone is None else moment.tz_localize("UTC").tz_convert(zone_of(zone))


def get_timedelta64(of: Any, content: Any, depth: int) -> Any:
    """The length of time of such a form."""
    import numpy
    import pandas
    count, unit, _ = parts_of(content, int, str, object)
    return pandas.Timedelta(numpy.timedelta64(count, UNITS[UNITS.index(unit)]))


def _freq(text: Any) -> str:
    if not _is_freq(text):
        raise ValueError("no name of a frequency")
    return str(text)


def get_period(of: Any, content: Any, depth: int) -> Any:
    """The period of such a form."""
    import pandas
    ordinal, freq = parts_of(content, int, str)
    return pandas.Period(ordinal=ordinal, freq=_freq(freq))


def get_interval(of: Any, content: Any, depth: int) -> Any:
    """The interval of such a form."""
    import pandas
    left, right, closed = parts_of(content, object, object, str)
    return pandas.Interval(of.decode(left, depth), of.decode(right, depth), closed)


def get_nat(of: Any, content: Any, depth: int) -> Any:
    """NaT, the missing time."""
    import pandas
    return pandas.NaT


def get_na(of: Any, content: Any, depth: int) -> Any:
    """NA, the missing value."""
    import pandas
    return pandas.NA


def get_index(of: Any, content: Any, depth: int) -> Any:
    """The index of such a form."""
    return _index_of(of, content, depth)


def get_series(of: Any, content: Any, depth: int) -> Any:
    """The series of such a form."""
    index = _index_of(of, content["index"], depth)
    data = _column_data(of, content["data"], depth, len(index))
    _count_rows(of, index, [data])
    series = _series(data, index)
    series.name = of.decode(content["name"], depth)
    series.attrs.update(expect(of.decode(content["attrs"], depth), dict))
    return series


def _series(data: Any, index: Any) -> Any:
    """A Series that keeps the data's type: without `dtype`, pandas would turn objects such as Timestamps into another."""
    import pandas
    if len(data) != len(index):
        raise ValueError("a column that is not as long as the index")
    return pandas.Series(data, index=index, dtype=data.dtype)


def get_frame(of: Any, content: Any, depth: int) -> Any:
    """The data frame of such a form."""
    import pandas
    index = _index_of(of, content["index"], depth)
    columns = [_column_data(of, each, depth, len(index)) for each in expect(content["data"], list)]
    _count_rows(of, index, columns)
    frame = pandas.DataFrame({at: _series(data, index) for at, data in enumerate(columns)}, index=index)
    frame.columns = _index_of(of, content["columns"], depth)
    frame.attrs.update(expect(of.decode(content["attrs"], depth), dict))
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
        levels = [_index_of(of, level, depth + 2, True) for level in expect(content["levels"], list)]
        codes = [of.array(name, "i") for name in expect(content["codes"], list)]
        return pandas.MultiIndex(levels=levels, codes=codes, names=names)
    name, = names
    if "range" in content:
        counts = range(*parts_of(content["range"], int, int, int))
        if len(counts) > (of.most if of_items else MOST_ROWS):
            raise ValueError("too many rows")
        return pandas.RangeIndex(counts, name=name)
    data = _column_data(of, content["data"], depth + 1)
    if of_items and data.dtype == object:
        told_apart(data.tolist(), 32)
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
        return object_array(of.items(of.list(content["objects"]), depth))
    if "codes" in content:
        categories = _index_of(of, content["categories"], depth + 1, True)
        return pandas.Categorical.from_codes(of.array(content["codes"], "i"), dtype=pandas.CategoricalDtype(
            categories, ordered=expect(content["ordered"], bool)))
    if "zoned" in content:
        return pandas.DatetimeIndex(of.array(content["zoned"], "M"), tz="UTC").tz_convert(zone_of(content["zone"])).array
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
        return pandas.array([pandas.NA if text is None else expect(text, str) for text in texts], dtype=pandas.StringDtype(storage))
    raise ValueError("no kind of a column")


def _sparse(of: Any, content: Any, depth: int, rows: Optional[int]) -> Any:
    """A sparse column; anything else, such as an index, would make it dense, whatever length it claims."""
    import pandas
    from pandas._libs.sparse import IntIndex
    values, length = of.array(content["sparse"]), expect(content["length"], int)
    if length != rows:
        raise ValueError("sparse, but no column of this length")
    fill = of.decode(content["fill"], depth)
    return pandas.arrays.SparseArray(values, sparse_index=IntIndex(length, of.array(content["at"], "i").astype("int32")),
                                     dtype=pandas.SparseDtype(values.dtype, fill))
