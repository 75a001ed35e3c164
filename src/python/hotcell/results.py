"""The results of a job as typed, read-only objects made from its manifest.

Sizes are bytes, times are seconds. The value, the error, results, returned variables, and denials that are not attested
come from the program's own process, and are as trustworthy as the program; the launcher saw all other facts itself.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

from . import facts
from .errors import TamperedError
from .facts import Denial, Usage

STATUSES = tuple(facts.STATUSES)


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
    """A figure: PNG, SVG or PDF of matplotlib, JSON or HTML of plotly. `mime` is its MIME type."""

    mime: str = ""


@dataclass(frozen=True)
class Error:
    """The exception that ended the program, as the program's process reports it."""

    type: str
    message: str
    traceback: str


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
    `output_dir` is the directory of files, figures and manifest.json; None if the job has none. `tool_errors` are the
    exceptions, with their tracebacks, that the caller's tools raised; the program got their texts alone.
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
        """The last expression's value: as JSON if it can be, else its repr. None if there is none."""
        bundle = self.bundle
        return bundle["application/json"] if "application/json" in bundle else bundle.get("text/plain")

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

    def file(self, path: str) -> File:
        """The file or figure with this path. KeyError if the manifest does not list it."""
        for entry in (*self.files, *self.figures):
            if entry.path == path:
                return entry
        raise KeyError(path)


class Returned(Mapping[str, Any]):
    """The variables that a job returned, as a mapping; each is loaded when it is looked up.

    JSON values stay as they are; arrays become numpy arrays, frames pandas DataFrames. A variable that could not be
    returned raises KeyError with the reason; `why(name)` returns the reason.
    """

    def __init__(self, result: Result) -> None:
        self._result = result
        self._entries: Dict[str, Any] = result.guest.get("returned") or {}

    def __getitem__(self, name: str) -> Any:
        entry = self._entries[name]
        if entry.get("error"):
            raise KeyError(f"{name}: {entry['error']}")
        value = entry["json"] if "json" in entry else _load(self._result.file(entry["path"]))
        return _as_type(value, entry.get("type"))

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
        return _load_frame(content)
    if file.path.endswith(".npy"):
        import numpy
        return numpy.load(io.BytesIO(content), allow_pickle=False)
    if file.path.endswith(".jsonl"):
        import pandas
        return pandas.read_json(io.BytesIO(content), lines=True, dtype=False, convert_dates=False, precise_float=True)
    if file.path.endswith(".csv"):
        import pandas
        return pandas.read_csv(io.BytesIO(content))
    return json.loads(content) if file.path.endswith(".json") else content


def _load_frame(content: bytes) -> Any:
    """Load a frame from a file that a hostile program may have made: compressed members, which could be far larger than
    the file, are refused, and every error is a ValueError."""
    import zipfile

    from .frames import read_frame
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as members:
            if any(member.compress_type != zipfile.ZIP_STORED for member in members.infolist()):
                raise ValueError("compressed")
        return read_frame(io.BytesIO(content))
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(f"not a data frame: {error}") from error


# ---- from a manifest ----

def result_from_manifest(manifest: Mapping[str, Any], output_dir: Optional[Path]) -> Result:
    """Make a Result from a parsed manifest. Members that this version does not know are only in `manifest`."""
    directory = output_dir if output_dir is not None and output_dir.is_dir() else None
    guest = manifest.get("guest") or {}
    return Result(
        status=manifest["status"], exit_code=manifest["exit_code"], reason=manifest["reason"],
        partial=manifest["partial"], job_id=manifest["job_id"],
        stdout=_pick(Stream, manifest["stdout"]), stderr=_pick(Stream, manifest["stderr"]),
        error=_pick(Error, guest["error"]) if guest.get("error") else None,
        rejection=_rejection(manifest.get("rejection")),
        figures=tuple(_pick(Figure, entry, directory=directory) for entry in manifest["figures"]),
        files=tuple(_pick(File, entry, directory=directory) for entry in manifest["files"]),
        denials=tuple(_pick(Denial, entry) for entry in manifest["denials"]),
        warnings=tuple(manifest["warnings"]), usage=_pick(Usage, manifest["usage"]),
        output_dir=directory, manifest=manifest)


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
