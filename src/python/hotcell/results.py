"""The results of a job as typed, read-only objects made from its manifest.

Sizes are bytes, times are seconds. The value, the error, results, returned variables, and denials that are not attested
come from the program's own process, and are as trustworthy as the program; the launcher saw all other facts itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from . import facts, values
from .errors import TamperedError
from .facts import Denial, Usage
from .temporary import Temporary

STATUSES = tuple(facts.STATUSES)


class Repr(str):
    """The text of a value that did not come back as itself: its class is not carried, it is too large, or this process lacks
    the library that it needs. A str that the program returned is never of this class."""


@dataclass(frozen=True)
class Stream:
    """Standard output or standard error. `bytes` counts the bytes that the program wrote, `text` is the part that was
    kept, `redactions` counts the places that were made unreadable in it."""

    text: str
    bytes: int
    truncated: bool
    redactions: int

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class File:
    """A file that the program left below the output directory. `path` is relative to it, `bytes` its size, `sha256` its
    hash in hexadecimal as the launcher computed it."""

    path: str
    bytes: int
    sha256: str
    directory: Optional[Path] = field(repr=False, default=None)
    escaped: bool = field(repr=False, default=False)

    @property
    def location(self) -> Path:
        """The file's path on this host. FileNotFoundError: the output directory is not known."""
        if self.directory is None:
            raise FileNotFoundError(f"{self.path}: the job's output directory is not known")
        name = unescape(self.path) if self.escaped else os.fsencode(self.path)
        if name.startswith(b"/") or b".." in name.split(b"/"):
            raise TamperedError(f"{self.path}: not below the output directory")
        return self.directory / os.fsdecode(name)

    def read(self) -> bytes:
        """The file's content. TamperedError if it is no longer what the launcher recorded."""
        descriptor = os.open(self.location, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            content = file.read(self.bytes + 1)
        if len(content) != self.bytes or hashlib.sha256(content).hexdigest() != self.sha256:
            raise TamperedError(f"{self.path}: the content is not what was recorded")
        return content


@dataclass(frozen=True)
class Figure(File):
    """A figure: PNG, SVG or PDF of matplotlib, JSON or HTML of plotly. `mime` is its MIME type; `chart` is the data of the
    chart as the program's process reports it (type, axes, points), None without it. See hotcell-manifest(5)."""

    mime: str = ""
    chart: Optional[Dict[str, Any]] = field(repr=False, default=None)


@dataclass(frozen=True)
class Error:
    """The exception that ended the program, as the program's process reports it. `line`, `column` and `end_column` are the
    place in the program, from 1; `hint` says what to do about it. None: not known. `classes` has the full names of a class that
    is not built in, and of its bases up to the first built-in one, such as ("json.decoder.JSONDecodeError", "ValueError")."""

    type: str
    message: str
    traceback: str
    line: Optional[int] = None
    column: Optional[int] = None
    end_column: Optional[int] = None
    hint: Optional[str] = None
    classes: Tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One finding of the check of the source. Lines and columns count from 1; `what` is the name that it is about."""

    rule: str
    message: str
    line: Optional[int] = None
    column: Optional[int] = None
    end_column: Optional[int] = None
    what: Optional[str] = None
    hint: Optional[str] = None


@dataclass(frozen=True)
class Rejection(Finding):
    """Why the program was refused before any of it ran: the first finding, and all of them."""

    findings: Tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Check:
    """The result of a check of a source, which does not run it. `safe`: it would not be refused."""

    safe: bool
    reason: Optional[str]
    findings: Tuple[Finding, ...]
    warnings: Tuple[Finding, ...]
    columns: Dict[str, List[str]]
    raw: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Result:
    """How a job ended, and its results.

    `manifest` is the parsed manifest, see hotcell-manifest(5), from which all other members are made.
    `output_dir` is the directory of files, figures and manifest.json; None if the job has none. If the caller named none,
    it is a temporary one, which goes with the Result and its files, with close(), or at the end of a `with` block; save()
    copies what is in it. `tool_errors` are the exceptions, with their tracebacks, that the caller's tools raised; the program
    got their texts alone.
    """

    status: str
    exit_code: int
    reason: Optional[str]
    partial: bool
    job_id: str
    stdout: Stream
    stderr: Stream
    error: Optional[Error]
    rejection: Optional[Rejection]
    figures: Tuple[Figure, ...]
    files: Tuple[File, ...]
    denials: Tuple[Denial, ...]
    warnings: Tuple[str, ...]
    usage: Usage
    output_dir: Optional[Path]
    manifest: Mapping[str, Any] = field(repr=False)
    tool_errors: Tuple[BaseException, ...] = field(default=(), repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether the program ended well."""
        return self.status == "ok"

    @property
    def command_status(self) -> Optional[int]:
        """The exit status of a job that was a command, as a shell has it: 128 and the signal's number if one ended it, 127 if the tree
        does not have the program, 126 if it may not be executed. None for a program in Python, and for a command that was not run or
        did not come to an end."""
        if not (self.manifest.get("code") or {}).get("command"):
            return None
        exit_status = self.guest.get("exit")
        return exit_status if isinstance(exit_status, int) else None

    @property
    def text(self) -> str:
        """The part of standard output that was kept."""
        return self.stdout.text

    @property
    def guest(self) -> Mapping[str, Any]:
        """The report of the program's own process; empty if it sent none."""
        return self.manifest.get("guest") or {}

    @property
    def bundle(self) -> Dict[str, Any]:
        """The last expression's value by MIME type; empty if there is none."""
        return self.guest.get("value") or {}

    @property
    def value(self) -> Any:
        """The last expression's value, as itself: also a tuple, a Decimal, a data frame. Values of other classes become the
        JSON that they are like, or a Repr. None if there is none. ValueError if the program's process has sent a malformed one."""
        bundle = self.bundle
        if values.MIME in bundle:
            with contextlib.suppress(ImportError):
                return values.untagged(bundle[values.MIME])
        if "application/json" in bundle:
            return bundle["application/json"]
        return Repr(bundle["text/plain"]) if isinstance(bundle.get("text/plain"), str) else None

    @property
    def displays(self) -> Tuple[Dict[str, Any], ...]:
        """What the program showed with display(), in order: each by MIME type, like `bundle`. HTML and SVG are the program's: a
        page that shows them runs what is in them."""
        return tuple(self.guest.get("displays") or ())

    @property
    def results(self) -> Optional[Dict[str, Any]]:
        """The dict `results` that the program filled, if the policy gives it one."""
        return self.guest.get("results")

    @property
    def columns(self) -> Dict[str, List[str]]:
        """Names of the columns of each input that is a data frame."""
        return self.guest.get("columns") or {}

    @property
    def returned(self) -> "Returned":
        """The variables that `returns` asked for."""
        return Returned(self)

    def close(self) -> None:
        """Remove the temporary directory of the results now. Without one, as the caller has named a directory, it does nothing."""
        temporary = self.__dict__.get("_temporary")
        if temporary is not None:
            temporary.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *why: Any) -> None:
        self.close()

    def save(self, directory: "os.PathLike[str] | str") -> Path:
        """Copy figures, files, the saved program, what was changed in copies of directories (for `hotcell workspace`) and
        manifest.json into `directory`, which is made if needed; files of the same name are replaced. Returns its absolute path.
        InputError: it cannot be written; TamperedError: a file is no longer what the launcher recorded."""
        from . import place
        place.make_ready(directory)
        target = Path(directory).absolute()
        for file in (*self.figures, *self.files):
            place.keep(target, file, file.read())
        code = self.manifest.get("code_path")
        for name in () if code is None or self.output_dir is None else (code, record_of(code)):
            place.write(target, os.fsencode(name), (self.output_dir / name).read_bytes(), 0o600)
        for name in () if self.output_dir is None else folders_of_changes(self.manifest):
            shutil.rmtree(target / name, ignore_errors=True)
            shutil.copytree(self.output_dir / name, target / name, symlinks=True)
        place.write(target, b"manifest.json", self._manifest_text(), 0o600)
        return target

    def _manifest_text(self) -> bytes:
        """The launcher's own text of the manifest if it is there, else the same anew."""
        with contextlib.suppress(OSError, ValueError):
            text = (self.output_dir or Path(os.devnull)).joinpath("manifest.json").read_bytes()
            if json.loads(text) == self.manifest:
                return text
        return (json.dumps(self.manifest, indent=2, ensure_ascii=False) + "\n").encode()

    def file(self, path: str) -> File:
        """The file or figure with this path. KeyError if the manifest does not list it."""
        for entry in (*self.files, *self.figures):
            if entry.path == path:
                return entry
        raise KeyError(path)


class Returned(Mapping[str, Any]):
    """The variables that a job returned, as a mapping; each is loaded when it is looked up.

    Values come back as themselves. A variable that could not be returned raises KeyError with the reason; `why(name)`
    returns the reason. ValueError: the program's process has sent a malformed value.
    """

    def __init__(self, result: Result) -> None:
        self._result = result
        self._entries: Dict[str, Any] = result.guest.get("returned") or {}

    def __getitem__(self, name: str) -> Any:
        entry = self._entries[name]
        if entry.get("error"):
            raise KeyError(f"{name}: {entry['error']}")
        tagged = entry.get("mime") == values.MIME
        value = entry["json"] if "json" in entry else _load(self._result.file(entry["path"]))
        return values.untagged(value) if tagged else _as_type(value, entry.get("type"))

    def __iter__(self) -> Any:
        return (name for name, entry in self._entries.items() if not entry.get("error"))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def why(self, name: str) -> Optional[str]:
        """The reason why `name` was not returned; None if it was."""
        return (self._entries.get(name) or {"error": "was not asked for"}).get("error")


def _as_type(value: Any, name: Optional[str]) -> Any:
    """Turn a list back into a tuple or set, and null into NaN, by the name of the variable's type in the cell."""
    if isinstance(value, list) and name in ("tuple", "set", "frozenset"):
        kind = {"tuple": tuple, "set": set, "frozenset": frozenset}[name]
        try:
            return kind(value)
        except TypeError:  # a set of tuples, which JSON has turned into lists
            return value
    return float("nan") if value is None and name in ("float", "numpy.float64") else value


def _load(file: File) -> Any:
    """Load a variable from its file. It never unpickles, as the file comes from a cell."""
    content = file.read()
    if file.path.endswith(".npz"):
        return _load_packed(content)
    if file.path.endswith(".npy"):
        return values.array_of(content)
    if file.path.endswith(".jsonl"):
        import pandas
        return pandas.read_json(io.BytesIO(content), lines=True, dtype=False, convert_dates=False, precise_float=True)
    if file.path.endswith(".csv"):
        import pandas
        return pandas.read_csv(io.BytesIO(content))
    return json.loads(content) if file.path.endswith(".json") else content


def _load_packed(content: bytes) -> Any:
    """Load a value from a .npz file that a hostile program may have made; every error is a ValueError."""
    try:
        return values.read_file(io.BytesIO(content), len(content))
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(f"not a value of hotcell: {error}") from error


# ---- from a manifest ----

def result_from_manifest(manifest: Mapping[str, Any], output_dir: Optional[Path], temporary: Optional[Temporary] = None,
                         tool_errors: Iterable[BaseException] = ()) -> Result:
    """Make a Result from a parsed manifest. Members that this version does not know are only in `manifest`. `temporary` is
    the directory that `output_dir` is in, and goes with the Result."""
    directory = output_dir if output_dir is not None and output_dir.is_dir() else None
    guest = manifest.get("guest") or {}
    charts = {entry["path"]: entry.get("chart") for entry in guest.get("figures") or ()}
    return hold(Result(
        status=manifest["status"], exit_code=manifest["exit_code"], reason=manifest["reason"],
        partial=manifest["partial"], job_id=manifest["job_id"],
        stdout=_pick(Stream, manifest["stdout"]), stderr=_pick(Stream, manifest["stderr"]),
        error=_pick(Error, {**guest["error"], "classes": tuple(guest["error"].get("classes", ()))}) if guest.get("error") else None,
        rejection=_rejection(manifest.get("rejection")),
        figures=tuple(_pick(Figure, entry, directory=directory, chart=charts.get(entry["path"])) for entry in manifest["figures"]),
        files=tuple(_pick(File, entry, directory=directory) for entry in manifest["files"]),
        denials=tuple(_pick(Denial, entry) for entry in manifest["denials"]),
        warnings=tuple(manifest["warnings"]), usage=_pick(Usage, manifest["usage"]),
        output_dir=directory, manifest=manifest, tool_errors=tuple(tool_errors)), temporary)


def hold(result: Any, temporary: Optional[Temporary]) -> Any:
    """Have the temporary directory stay as long as the result or one of its files; returns `result`."""
    for each in (result, *result.figures, *result.files) if temporary is not None else ():
        object.__setattr__(each, "_temporary", temporary)  # no member: it is not compared and not shown
    return result


def record_of(code_path: str) -> str:
    """The path of the record that stands beside a saved program: run_X.json beside run_X.py, and beside run_X.command.json."""
    for ending in (".command.json", ".py"):
        if code_path.endswith(ending):
            return code_path[:-len(ending)] + ".json"
    raise ValueError(f"{code_path!r} is not the path of a saved program")


def has_results(manifest: Mapping[str, Any]) -> bool:
    """Whether the job left anything besides its manifest."""
    return bool(manifest["figures"] or manifest["files"] or manifest.get("code_path") or folders_of_changes(manifest))


def folders_of_changes(manifest: Mapping[str, Any]) -> List[str]:
    """Names of the directories of the results that hold what the job changed in copies of directories ("cow")."""
    found = {str((entry.get("changes") or {}).get("directory") or "").partition("/")[0] for entry in manifest.get("dirs") or ()}
    return sorted(name for name in found if name.startswith("changes-"))


def check_from_json(raw: Mapping[str, Any]) -> Check:
    """Make a Check from the parsed output of `hotcell check --json`."""
    return Check(safe=raw["safe"], reason=raw.get("reason"), findings=findings_of(raw.get("findings")),
                 warnings=findings_of(raw.get("warnings")), columns=dict(raw.get("columns") or {}), raw=raw)


def findings_of(entries: Optional[List[Any]]) -> Tuple[Finding, ...]:
    """Findings from a list of objects, or of plain messages."""
    return tuple(_pick(Finding, entry) if isinstance(entry, dict) else Finding(rule="", message=str(entry))
                 for entry in entries or ())


def _rejection(raw: Optional[Mapping[str, Any]]) -> Optional[Rejection]:
    if not raw:
        return None
    return _pick(Rejection, {**raw, "findings": findings_of(raw.get("findings"))})


def _pick(kind: Any, raw: Mapping[str, Any], **more: Any) -> Any:
    """An instance of the dataclass `kind` from an object of a manifest, without members that the class does not have."""
    return kind(**{name: raw[name] for name in kind.__dataclass_fields__ if name in raw}, **more)


def unescape(name: str) -> bytes:
    """The bytes of an escaped name, which has \\xHH for bytes that JSON cannot hold, and every backslash doubled."""
    out, i = bytearray(), 0
    while i < len(name):
        if name[i] == "\\" and name[i + 1:i + 2] == "x":
            out.append(int(name[i + 2:i + 4], 16))
            i += 4
        else:
            i += name[i:i + 2] == "\\\\"
            out += name[i].encode()
            i += 1
    return bytes(out)
