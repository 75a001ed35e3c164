"""Prepares values for a cell: plain values become JSON, files stay paths, frames and arrays become temporary files."""

from __future__ import annotations

import base64
import contextlib
import json
import math
import os
import re
import shutil
import sys
import tempfile
from collections import abc
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

from .errors import InputError
from .value_encoder import Inline
from .value_tags import MOST_IN_FILE, NotCarried, TooLarge, is_data, is_text
from .values import write_file

Directory = Union[str, "os.PathLike[str]", Mapping[str, Union[str, "os.PathLike[str]"]]]  # its path, or members of a spec's "dirs"


def module(name: str) -> Any:
    """A module if the process has imported it, else None: then no value can be an instance of its classes."""
    return sys.modules.get(name)


def is_frame(value: object) -> bool:
    """Whether it is a pandas DataFrame."""
    pandas = module("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def is_array(value: object) -> bool:
    """Whether it is a numpy array."""
    numpy = module("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_column(value: object) -> bool:
    """Whether it is a pandas Series or Index."""
    pandas = module("pandas")
    return pandas is not None and isinstance(value, (pandas.Series, pandas.Index))


def mapping_of(value: object, what: str) -> Mapping[str, Any]:
    """An argument that is a mapping; {} for None. InputError for another type; `what` is the argument's name."""
    if value is None:
        return {}
    if not isinstance(value, abc.Mapping):
        raise InputError(f"{what}: expected a mapping, names and values, got {type(value).__name__}")
    return value


def list_of(value: object, what: str) -> List[Any]:
    """An argument that is one item or several, as a list; a str is one item. InputError for another type."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if not isinstance(value, abc.Iterable):
        raise InputError(f"{what}: expected a list, got {type(value).__name__}")
    return list(value)


def returns_of(returns: object) -> List[Any]:
    """The argument `returns`: variables without a format come back as themselves."""
    return [f"{name}=exact" if isinstance(name, str) and "=" not in name else name for name in list_of(returns, "returns")]


def path_of(value: object, what: str) -> str:
    """An argument that is a name or a path, as a str. InputError for another type."""
    try:
        return os.fspath(value)  # type: ignore[call-overload,no-any-return]
    except TypeError as error:
        raise InputError(f"{what}: expected a name or a path, got {type(value).__name__}") from error


def code_of(value: object) -> str:
    """A program. InputError for what is no str, and for a text that no spec can hold, with the line."""
    if not isinstance(value, str):
        raise InputError(f"code: expected str, or for a command a list of str, got {type(value).__name__}")
    if not is_text(value):
        found = re.search("[\0\ud800-\udfff]", value)
        line = value.count("\n", 0, found.start() if found else 0) + 1
        raise InputError(f"code: line {line}: contains {'a NUL byte' if found and found[0] == chr(0) else 'half of a surrogate pair'}")
    return value


Code = Union[str, Sequence[str]]  # a program in Python, or a command as a list of arguments


def program_of(value: object) -> Dict[str, Any]:
    """The member of a spec for a program in Python, which is a str, or for a command, a list of arguments. InputError for
    anything else."""
    if isinstance(value, (list, tuple)):
        return {"command": list_of(value, "command")}
    return {"code": code_of(value)}


def limits_of(limits: object, **short: Any) -> Dict[str, Any]:
    """The members of a policy's "limits": those of `limits`, and those of `short`, which have arguments of their own."""
    every = {**mapping_of(limits, "limits"), **{name: value for name, value in short.items() if value is not None}}
    for name, value in every.items():
        if isinstance(value, float) and not math.isfinite(value):  # JSON has none, and would say so without the name
            raise InputError(f"limits.{name}: expected a finite number, got {value}")
    return every


def stdin_of(value: object) -> Union[None, str, Dict[str, str]]:
    """A program's standard input as the member "stdin" of a spec, which has bytes, and text with NUL, as base64."""
    if value is None or isinstance(value, str) and "\0" not in value:
        return value
    if isinstance(value, str):
        value = value.encode("utf-8")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"data": base64.b64encode(value).decode("ascii")}
    raise InputError(f"input: expected str or bytes, got {type(value).__name__}")


def to_json(value: object, what: str) -> str:
    """Strict JSON; numpy's numbers become Python's. InputError for a value that JSON cannot hold, NaN included; `what` is the argument's name."""
    try:
        return json.dumps(value, allow_nan=False, default=_number)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what}: {error}") from error


def _number(value: Any) -> Any:
    if _is_number(value):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no JSON value")


SCALARS = frozenset((type(None), bool, int, float, str))
PLAIN = (bool, int, float, str, list, tuple, dict)  # a subclass of one of these goes in as its base
VALUE = "hcvalue"     # extension of a file that holds a value as JSON with tags; the cell's side is READERS of guest_data
MOST_INPUTS = 64        # of a job, as in job/job.h
MOST_INLINE = 64 << 20  # bytes of the arrays and bytes in a variable


class _Carried:
    """A variable's value that JSON cannot say, as JSON with tags: it goes into the cell as an input."""

    def __init__(self, text: str) -> None:
        self.text = text


class _Variable(Inline):
    """As Inline, for values of callers: numpy's numbers become Python's, and subclasses of PLAIN the class that they extend."""

    most = MOST_IN_FILE

    def __init__(self) -> None:
        super().__init__(MOST_INLINE)
        self.within_data = False  # of a frame or an array, whose objects stay what they are

    def writer_of(self, value: Any, kind: type) -> Callable[[Any, Any, int], Any]:
        """As of Encoder."""
        try:
            writer = super().writer_of(value, kind)
            if _is_number(value):
                return lambda to, each, depth: writer(to, each, depth) if to.within_data else to.encode(each.item(), depth)
            return _data_writer(writer) if is_data(value) else writer
        except NotCarried:
            base = next((base for base in PLAIN if issubclass(kind, base)), None)
            if base is None:
                raise
            return lambda to, each, depth: to.encode(_as_plain(each, base), depth)


def _data_writer(writer: Callable[[Any, Any, int], Any]) -> Callable[[Any, Any, int], Any]:
    def put(to: Any, value: Any, depth: int) -> Any:
        outer, to.within_data = to.within_data, True
        try:
            return writer(to, value, depth)
        finally:
            to.within_data = outer
    return put


def _as_plain(value: Any, base: Any) -> Any:
    """The value of a subclass of `base` as one of `base` itself, whatever methods the subclass has."""
    if base is dict:
        return dict(value.items())
    return base(base.__iter__(value)) if base in (list, tuple) else getattr(base, f"__{base.__name__}__")(value)


def _is_number(value: object) -> bool:
    numpy = module("numpy")
    return numpy is not None and isinstance(value, numpy.generic) and value.dtype.kind in "biufU" and type(value.item()) in SCALARS


def _is_plain(value: Any) -> bool:
    """Whether JSON says the value exactly, but for numbers such as nan, and texts that JSON of a job cannot hold."""
    kind = type(value)
    if kind is dict:
        return all(type(key) is str for key in value) and _is_plain(list(value.values()))
    if kind is list:
        return set(map(type, value)) <= SCALARS or all(map(_is_plain, value))
    return kind in SCALARS


def _form(value: Any) -> Any:
    """A variable's value as JSON, or _Carried if JSON cannot say it. NotCarried, TooLarge."""
    with contextlib.suppress(ValueError, RecursionError):  # nan; a list in itself
        if _is_plain(value):
            text = json.dumps(value, allow_nan=False)
            if "\\u0000" not in text and "\\ud" not in text:
                return value
    encoder = _Variable()
    node = encoder.encode(value, 0)
    return _Carried(json.dumps(node)) if encoder.tags else node


def split_vars(variables: object, inputs: object) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """The arguments `vars` and `inputs` as the members of a spec that take their values: (variables that are JSON, inputs and all other
    variables). InputError for a value that has no form, and a name that is in both."""
    plain: Dict[str, Any] = {}
    rest = dict(mapping_of(inputs, "inputs"))
    for name, value in mapping_of(variables, "vars").items():
        form = _variable(name, value)
        if not isinstance(form, _Carried):
            plain[name] = form
        elif name in rest:
            raise InputError(f"vars: {name!r}: the name is given twice among inputs and vars")
        else:
            rest[name] = form
            if len(rest) > MOST_INPUTS:
                raise InputError(f"vars: more than {MOST_INPUTS} inputs and variables that JSON cannot say: put several into one dict")
    return plain, rest


def _variable(name: Any, value: Any) -> Any:
    try:
        return _form(value)
    except NotCarried as error:
        raise InputError(f"vars: {name}: {error}") from error
    except TooLarge as error:
        raise InputError(f"vars: {name}: {error}: give it as a file with inputs=") from error


def dirs_of(dirs: Any) -> List[Dict[str, str]]:
    """The directories as a spec has them, from paths and from mappings of "host", "place" and "mode". InputError for others."""
    several = [dirs] if isinstance(dirs, (Mapping, os.PathLike)) else list_of(dirs, "dirs")
    return [{name: path_of(value, "dirs") for name, value in one.items()} if isinstance(one, Mapping) else {"host": path_of(one, "dirs")}
            for one in several]


def dir_option(one: Mapping[str, str]) -> str:
    """The directory as the option --dir has it. InputError: it cannot be written so."""
    text = ":".join([one.get("host", ""), *(one[name] for name in ("place", "mode") if one.get(name))])
    if ":" in one.get("host", "") + one.get("place", "") or set(one) - {"host", "place", "mode"} or "host" not in one:
        raise InputError(f"dirs: {dict(one)!r}: expected \"host\", \"place\" and \"mode\", paths without a colon")
    return text


class Staging:
    """A private directory of temporary files, made with the first file and removed at the end of the block."""

    def __init__(self) -> None:
        self._directory: Optional[Path] = None

    def __enter__(self) -> "Staging":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

    @property
    def directory(self) -> Path:
        """The directory, which only this user can enter."""
        if self._directory is None:
            self._directory = Path(tempfile.mkdtemp(prefix="hotcell-"))
        return self._directory

    def inputs(self, values: Optional[Mapping[str, Any]]) -> Dict[str, str]:
        """{name: path} of the inputs; frames and arrays are written to files. InputError for other values."""
        return {name: self._input(name, value) for name, value in mapping_of(values, "inputs").items()}

    def _input(self, name: str, value: Any) -> str:
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        if not name.isidentifier():
            raise InputError(f"inputs: {name!r} is no Python identifier")
        if isinstance(value, _Carried):
            path = self.directory / f"{name}.{VALUE}"
            path.write_text(value.text, encoding="ascii")
            return str(path)
        if is_array(value) and type(value) is module("numpy").ndarray and not value.dtype.hasobject:
            path = self.directory / f"{name}.npy"
            module("numpy").save(path, value, allow_pickle=False)
            return str(path)
        if is_frame(value) or is_array(value) or is_column(value):
            return self._packed(name, value)
        try:
            _form(value)
            advice = "give it with vars="
        except (NotCarried, TooLarge) as error:
            advice = str(error)
        raise InputError(f"inputs: {name}: expected a path, a pandas DataFrame, Series or Index, or a numpy array, got "
                         f"{type(value).__name__}: {advice}")

    def _packed(self, name: str, value: Any) -> str:
        path = self.directory / f"{name}.npz"
        try:
            with open(path, "wb") as file:
                write_file(file, value)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise InputError(f"inputs: {name}: {error}") from error
        return str(path)

    def has(self, path: str) -> bool:
        """Whether it is the path of one of these files."""
        return self._directory is not None and Path(path).parent == self._directory

    def empty(self) -> str:
        """The path of an empty file."""
        path = self.directory / "empty.jsonl"
        path.touch()
        return str(path)

    def policy(self, rules: Mapping[str, Any]) -> str:
        """The path of a new policy file with these members."""
        path = self.directory / "policy.json"
        path.write_text(to_json(rules, "policy"))
        return str(path)

    def key(self) -> str:
        """The path of a new key file, which only this user can read."""
        path = self.directory / "key"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(os.urandom(32))
        return str(path)


LARGE = 8 << 20  # bytes of an input from which on it does not go into a request, but before it
MOST_OF_RUN = 24 << 20  # bytes of all inputs of a session's run that go into its request
Large = Dict[str, Union[bytes, Path]]  # content by the name of its input: bytes, or a file that has it


def contents(inputs: Optional[Mapping[str, Any]], large: Optional[Large] = None) -> Dict[str, Dict[str, str]]:
    """Inputs for a daemon or session, which takes no paths: {name: {"file": its name, "text" or "data": its content}}.
    InputError for a file that cannot be read. Content of LARGE bytes and more goes into `large` instead, if that is given."""
    with Staging() as staging:
        return {name: _content(name, path, staging, large, LARGE) for name, path in staging.inputs(inputs).items()}


def contents_of_run(inputs: Optional[Mapping[str, Any]], placed: Large) -> Dict[str, Dict[str, str]]:
    """As contents, for a run of a session. If all inputs together are too large for one request, those of a MiB and more go into
    `placed` instead, by the path in the session's working directory at which the run expects them ("path")."""
    with Staging() as staging:
        paths = staging.inputs(inputs)
        apart = sum(os.path.getsize(path) for path in paths.values() if os.path.isfile(path)) > MOST_OF_RUN
        large: Large = {}
        files = {name: _content(name, path, staging, large if apart else None, 1 << 20) for name, path in paths.items()}
    for name, source in large.items():
        file = files[name]["file"]
        path = file if file not in placed else f"{len(placed)}-{file}"
        placed[path], files[name]["path"] = source, path
    return files


def _content(name: str, path: str, staging: Staging, large: Optional[Large], least: int) -> Dict[str, str]:
    """UTF-8 as "text", other content as "data" in base64, which is longer."""
    try:
        apart = large is not None and os.path.getsize(path) >= least
        if large is not None and apart and not staging.has(path):  # a large file is read when it is sent
            large[name] = Path(path)
            return {"file": os.path.basename(path)}
        raw = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"inputs: {name}: {path}: {error.strerror}") from error
    if large is not None and apart:
        large[name] = raw
        return {"file": os.path.basename(path)}
    try:
        text = raw.decode("utf-8") if b"\0" not in raw else None
    except ValueError:
        text = None
    file = {"file": os.path.basename(path)}
    return {**file, "data": base64.b64encode(raw).decode()} if text is None else {**file, "text": text}
