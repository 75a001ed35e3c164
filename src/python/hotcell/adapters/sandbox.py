"""Sandbox: a session whose commands and files are used as those of a machine, for the frameworks that have such an interface.

A command runs in a directory of its own, with its own environment, input and time; output comes back as bytes. Paths that are not
absolute are below /output. What a command leaves running ends with it; commands of one sandbox run one after the other.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import pkgutil
import posixpath
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from ..errors import InputError, PolicyError
from ..session import Run, Session
from ..staging import dirs_of, path_of

HOME = "/output"
STREAM = 10 << 20  # bytes of standard output, and of standard error, that exec returns
PART = 2 << 20  # bytes of a file in one command
SCRIPT = (pkgutil.get_data(__package__, "sandbox_in_cell.py") or b"").decode()
MOST_READ = 100 << 20  # bytes of a file that are read, unless the caller says otherwise: a program may have made it huge
MOST_INPUT = 64 << 20  # limits.stdin of a command

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Outcome:
    """How a command ended. `status` is its exit status as in a shell; `lost` counts the bytes of stdout and of stderr that were
    cut; `timed_out`: it was ended as its time was up; `refused`: it may not be executed. If a limit has ended it, the last line of
    `stderr` says which."""

    status: int
    stdout: bytes
    stderr: bytes
    lost: Tuple[int, int] = (0, 0)
    timed_out: bool = False
    refused: bool = False

    @property
    def truncated(self) -> bool:
        """Whether output was cut."""
        return self.lost != (0, 0)


@dataclass(frozen=True)
class Entry:
    """A name in a directory. `kind` is "file", "directory", "link" or "other"; `bytes` is the size, `mode` the permissions."""

    name: str
    kind: str
    bytes: int
    mode: int


class Sandbox:
    """A session under a policy with commands, such as "shell". Takes the arguments of hotcell.Session, and raises as it does.

    timeout  seconds that a command has if its call names none; None: an hour
    home     directory of the sandbox, in which commands begin. One that is not below /output or a place of `dirs` is an empty
             directory that the cell gets for it
    """

    def __init__(self, *, policy: Any = "shell", timeout: Optional[float] = None, home: str = HOME, dirs: Sequence[Any] = (),
                 **options: Any) -> None:
        self.home = posixpath.normpath(posixpath.join("/", path_of(home, "home")))
        if self.home == "/":
            raise InputError("home: expected a directory below /")
        self._timeout = _seconds(timeout) or 3600
        given = dirs_of(dirs)
        places = [HOME, *(os.path.abspath(each.get("place") or each.get("host", "")) for each in given)]
        if not any(posixpath.commonpath((self.home, place)) == place for place in places):
            given = [*given, {"host": tempfile.gettempdir(), "place": self.home, "mode": "scratch"}]
        self.session = Session(policy=policy, dirs=given, **options)
        if self.home != HOME:
            self.make(self.home)

    @property
    def id(self) -> str:
        """The session's id."""
        return self.session.id

    def place(self, path: Optional[Path]) -> str:
        """The absolute path in the cell; None: the sandbox's own directory."""
        return posixpath.normpath(posixpath.join(self.home, path_of(path, "path") if path is not None else "."))

    def exec(self, argv: Sequence[str], *, input: Union[None, str, bytes] = None, cwd: Optional[Path] = None,
             env: Optional[Mapping[str, str]] = None, timeout: Optional[float] = None, bound: int = STREAM) -> Outcome:
        """Execute a program of the tree. `timeout` in seconds; `bound`: bytes of each stream that are kept. A command that fails
        or is ended is an Outcome; PolicyError: the policy executes no commands."""
        events: List[Dict[str, Any]] = []
        argv = _arguments(argv)
        run = self.session.run(argv, input=input, env=env, workdir=self.place(cwd), timeout=_seconds(timeout) or self._timeout,
                               limits={"stdout": bound, "stderr": bound, "stdin": MOST_INPUT}, on_event=events.append)
        if run.status == "rejected":
            raise PolicyError(f"{argv[0]}: {run.reason}", 78)
        return _outcome(run, events, argv[0])

    def _operate(self, operation: str, path: Path, *numbers: int, input: Optional[bytes] = None) -> Dict[str, Any]:
        """What sandbox_in_cell answers. OSError of the right kind, with the caller's path."""
        argv = ["python3", "-I", "-c", SCRIPT, operation, self.place(path), *(str(number) for number in numbers)]
        done = self.exec(argv, input=input, cwd="/", bound=PART * 2)
        try:
            answer = json.loads(done.stdout)
            if "errno" not in answer:
                return {**answer, "data": base64.b64decode(answer.get("data", ""))}
            number, words = int(answer["errno"]), str(answer["strerror"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise OSError(errno.EIO, f"the command that does it failed: {done.stderr.decode(errors='replace').strip()[-500:]}",
                          os.fspath(path)) from None
        if number == errno.EROFS:  # as of a user who has no right to write there
            raise PermissionError(number, words, os.fspath(path))
        raise OSError(number, words, os.fspath(path))

    def read(self, path: Path, most: int = MOST_READ) -> bytes:
        """The bytes of a file. OSError: FileNotFoundError and the like, and with errno.EFBIG if it has more than `most` bytes."""
        content = bytearray()
        while True:
            answer = self._operate("read", path, len(content), PART)
            content += answer["data"]
            if max(int(answer["size"]), len(content)) > most:
                raise OSError(errno.EFBIG, f"it has {answer['size']} bytes, and at most {most} are read", os.fspath(path))
            if len(answer["data"]) < PART:
                return bytes(content)

    def write(self, path: Path, content: bytes) -> None:
        """Put a file in, in the place of an older one; missing directories are made. OSError."""
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise InputError(f"content: expected bytes, got {type(content).__name__}")
        for offset in range(0, max(1, len(content)), PART):
            self._operate("write", path, offset, input=content[offset:offset + PART])

    def list(self, path: Path = ".") -> "List[Entry]":
        """The entries of a directory, sorted by name. OSError."""
        return [Entry(str(name), str(kind), int(size), int(mode)) for name, kind, size, mode in self._operate("entries", path)["entries"]]

    def make(self, path: Path) -> None:
        """Make a directory, with its parents. OSError."""
        self._operate("make", path)

    def remove(self, path: Path, recursive: bool = False) -> None:
        """Remove a name; a directory that is not empty only with `recursive`. OSError."""
        self._operate("remove", path, int(recursive))

    def close(self) -> None:
        """End the session; its files go."""
        self.session.close()


def _seconds(timeout: Optional[float]) -> Optional[float]:
    """A time limit; None if there is none, as for 0. InputError for what is no number, and below 0."""
    if timeout is None or timeout == 0:
        return None
    if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or not timeout > 0:
        raise InputError(f"timeout: expected a number of seconds above 0, got {timeout!r:.80}")
    return timeout


def _arguments(argv: object) -> List[str]:
    """A command. InputError for a text, whose letters nobody means, for an empty list, and for what is no text in one."""
    if not isinstance(argv, (list, tuple)) or not argv or not all(isinstance(each, str) for each in argv):
        raise InputError(f"argv: expected a list of str, the program and its arguments, got {argv!r:.80}")
    return list(argv)


def shell(command: str) -> List[str]:
    """The arguments of a command in a shell that prints both streams to standard output, in the order in which they come."""
    return ["sh", "-c", f"exec 2>&1\n{command}"]


def _outcome(run: Run, events: Iterable[Mapping[str, Any]], program: str) -> Outcome:
    heard = {"stdout": bytearray(), "stderr": bytearray()}
    whole = {"stdout", "stderr"}  # streams of which all that was kept has been heard
    for event in events:
        if event["event"] in heard:
            heard[event["event"]] += _bytes(event)
        elif event["event"] == "cut":
            whole.discard(event.get("stream"))
    out, err = (bytes(heard[name]) if "\ufffd" in stream.text and name in whole else stream.text.encode("utf-8", "surrogatepass")
                for name, stream in (("stdout", run.stdout), ("stderr", run.stderr)))
    lost = tuple(max(1, stream.bytes - len(kept)) if stream.truncated else 0 for stream, kept in ((run.stdout, out), (run.stderr, err)))
    refused = run.command_status == 126 and err.startswith(f"hotcell: {program}: Permission denied".encode())
    if run.status not in ("ok", "error"):
        err += f"hotcell: {run.reason}\n".encode()
    return Outcome(137 if run.command_status is None else run.command_status, out, err, (lost[0], lost[1]), run.status == "timeout", refused)


def _bytes(event: Mapping[str, Any]) -> bytes:
    return base64.b64decode(event["data"]) if "data" in event else str(event["text"]).encode("utf-8", "surrogatepass")
