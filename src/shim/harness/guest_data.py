"""The job's data: variables from JSON, inputs as DataFrames, arrays or paths."""


def variables(document):
    import json
    return json.loads(document)["vars"]


def load(name, path, form):
    """(value, its columns or None, None), or (None, None, why not)."""
    kind, reader = READERS[form]
    try:
        value = reader(path)
        return value, columns(value), None
    except Exception as error:
        return None, None, f"Could not load {kind} {name} from {path}: {str(error).strip() or type(error).__name__}"


def columns(value):
    return [str(column) for column in value.columns] if hasattr(value, "columns") else None


def read_jsonl(path):
    import pandas
    return pandas.read_json(path, lines=True)


def read_json(path):
    import pandas
    return pandas.read_json(path)


def read_csv(path):
    import pandas
    return pandas.read_csv(path)


def read_npy(path):
    import numpy
    with open(path, "rb") as file:
        return numpy.load(file, allow_pickle=False)


def read_npz(path):
    import numpy
    with numpy.load(path, allow_pickle=False) as arrays:
        return frame(arrays) if FRAME in arrays else dict(arrays)


# ---- data frames as the Python package writes them, see its frames.py ----

FRAME = "__hotcell_frame__"


def frame(arrays):
    import pandas
    header = from_json(arrays[FRAME])
    index = pandas.RangeIndex(header["rows"])
    if header["index"] is not None:
        levels = [pandas.Index(column(arrays, level)) for level in header["index"]]
        index = levels[0] if len(levels) == 1 else pandas.MultiIndex.from_arrays(levels)
        index.names = header["index_names"]
    columns = [pandas.Series(column(arrays, each), index=index) for each in header["columns"]]
    result = pandas.DataFrame(dict(enumerate(columns)), index=index)
    result.columns = labels(header["labels"])
    return result


def labels(header):
    import pandas
    levels = header["levels"]
    if len(levels) == 1:
        return pandas.Index(levels[0], name=header["names"][0], dtype=None if levels[0] else object)
    return pandas.MultiIndex.from_arrays(levels, names=header["names"])


def column(arrays, each):
    import pandas
    if each["kind"] == "category":
        categories = pandas.Index(column(arrays, each["categories"]))
        return pandas.Categorical.from_codes(arrays[each["codes"]], categories, ordered=each["ordered"])
    if each["kind"] == "zoned":
        return pandas.DatetimeIndex(arrays[each["array"]], tz="UTC").tz_convert(each["zone"])
    if each["kind"] == "plain":
        return arrays[each["array"]]
    return pandas.array([value(item) for item in from_json(arrays[each["array"]])], dtype=each["dtype"])


def value(item):
    if not isinstance(item, dict):
        return item
    return float(item["float"]) if "float" in item else item["json"]


def from_json(array):
    import json
    return json.loads(array.tobytes())


READERS = {
    "jsonl": ("DataFrame", read_jsonl),
    "json": ("DataFrame", read_json),
    "csv": ("DataFrame", read_csv),
    "npy": ("array", read_npy),
    "npz": ("arrays", read_npz),
    "path": ("path", str),
}
