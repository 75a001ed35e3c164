"""The job's data: variables from JSON, inputs as DataFrames, arrays or paths."""


def variables(document):
    import json
    return json.loads(document)["vars"]


def load(name, path, form, read_npz, called=None):
    """Load one input: returns (value, names of its columns or None, None), or (None, None, why not). `path` is a path or an
    open file, whose name for messages is `called`."""
    kind, reader = READERS[form]
    try:
        value = (reader or read_npz)(path)
        return value, columns(value), None
    except Exception as error:
        return None, None, f"Could not load {kind} {name} from {called or path}: {str(error).strip() or type(error).__name__}"


def given(document, read_npz):
    """Load the inputs that came with a run of a session: returns ({name: value}, {name: names of its columns}, None), or
    (None, None, why not)."""
    import base64
    import io
    import json
    values, names = {}, {}
    for each in json.loads(document)["given"]:
        name, file = each["name"], each["file"]
        content = file["text"].encode() if "text" in file else base64.b64decode(file["data"])
        value, found, why = load(name, io.BytesIO(content), each["format"], read_npz, file.get("file", name))
        if why is not None:
            return None, None, why
        values[name] = value
        if found is not None:
            names[name] = found
    return values, names, None


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
    if not isinstance(path, str):
        return numpy.load(path, allow_pickle=False)
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
