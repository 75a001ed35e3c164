"""The job's data: variables from JSON, inputs as DataFrames, arrays or paths."""


def variables(document):
    import json
    return json.loads(document)["vars"]


def load(name, path, form, read_npz):
    """(value, its columns or None, None), or (None, None, why not)."""
    kind, reader = READERS[form]
    try:
        value = (reader or read_npz)(path)
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


READERS = {
    "jsonl": ("DataFrame", read_jsonl),
    "json": ("DataFrame", read_json),
    "csv": ("DataFrame", read_csv),
    "npy": ("array", read_npy),
    "npz": ("arrays", None),
    "path": ("path", str),
}
