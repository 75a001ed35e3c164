"""The job's data: variables from JSON, inputs as DataFrames, arrays or paths."""


PART = 65536  # bytes of a file that are looked at for advice


def variables(document):
    import json
    return {normal(name): value for name, value in json.loads(document)["vars"].items()}


def normal(name):
    """The name as the compiler has it."""
    if name.isascii():
        return name
    import unicodedata
    return unicodedata.normalize("NFKC", name)


def load(name, path, form, read_npz):
    """Load one input from its path: returns (value, names of its columns or None, None, None), or for a table that pandas cannot
    read as it is (its path, None, None, a warning), or (None, None, why it cannot be loaded, None)."""
    value, names, why, error = read(name, path, form, read_npz, path)
    if why is None:
        part("owned", "remember")(name, value)
    if why is None or form not in TABLES or isinstance(error, ImportError):
        return value, names, why, None
    with open(path, "rb") as file:
        start = file.read(PART)
    if not start.strip():
        return path, None, None, f"{name} is the path of the file, as {path} is empty: it has no columns, and no rows."
    return path, None, None, (f"{name} is the path of the file, as pandas cannot read {path} as it is: {first_line(error)}. "
                              f"To read it: {advice(name, start, form, error)}")


def read(name, file, form, read_npz, called):
    """Returns (value, names of its columns or None, None, None), or (None, None, why not, the exception). `file` is a path or an
    open file, whose name for messages is `called`."""
    kind, reader = READERS[form]
    try:
        value = (reader or read_npz)(file)
        return value, columns(value), None, None
    except Exception as error:
        return None, None, f"Could not load {kind} {name} from {called}: {str(error).strip() or type(error).__name__}", error


def first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300].rstrip(".")


def advice(name, start, form, error):
    """How the program may read a table that pandas cannot read as it is. `start`: its first bytes."""
    line, options = start.splitlines()[0], []
    if isinstance(error, UnicodeError):
        options.append('encoding="utf-16"' if start[:2] in UTF16 else 'encoding="latin-1"')
    if form == "csv":
        sep = max(",;\t|", key=lambda mark: line.count(mark.encode()))
        options += [f"sep={sep!r}"] if sep != "," else []
        return f"pd.read_csv({', '.join([name, *(options or [SKIP])])})"
    if not options and form == "json" and is_json(line):
        options.append("lines=True")
    if not options:
        return f"json.load(open({name}))" if form == "json" and len(start) < PART and is_json(start) else f"open({name}).read()"
    return f"pd.read_json({', '.join([name, *options])})"


def is_json(text):
    import json
    try:
        json.loads(text)
        return True
    except ValueError:
        return False


def given(document, read_npz):
    """Load the inputs that came with a run of a session: returns ({name: value}, {name: names of its columns}, None, warnings),
    or (None, None, why not, None). The launcher has put those with a path into the working directory."""
    import base64
    import io
    import json
    values, names, warnings = {}, {}, []
    for each in json.loads(document)["given"]:
        name, file, path, form = each["name"], each["file"], each.get("path"), each["format"]
        if path is not None:
            value, found, why, warning = load(name, path, form, read_npz)
            warnings += [warning] if warning else []
        elif form == "path":
            return None, None, f"There is no room for the file of {name} in the working directory, or its name cannot stand there", None
        else:
            content = file["text"].encode() if "text" in file else base64.b64decode(file["data"])
            value, found, why, _ = read(name, io.BytesIO(content), form, read_npz, file.get("file", name))
        if why is not None:
            return None, None, why, None
        values[name] = value
        part("owned", "remember")(name, value)
        if found is not None:
            names[name] = found
    return values, names, None, warnings


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


def read_value(path):
    import json
    if isinstance(path, str):
        with open(path, "rb") as file:
            return part("values", "untagged")(json.load(file))
    return part("values", "untagged")(json.load(path))


SKIP = 'on_bad_lines="skip"'
UTF16 = (b"\xff\xfe", b"\xfe\xff")
TABLES = ("csv", "json", "jsonl")
READERS = {
    "frame": ("DataFrame", read_jsonl),
    "jsonl": ("DataFrame", read_jsonl),
    "json": ("DataFrame", read_json),
    "csv": ("DataFrame", read_csv),
    "npy": ("array", read_npy),
    "npz": ("arrays", None),
    "hcvalue": ("value", read_value),
    "path": ("path", str),
}
