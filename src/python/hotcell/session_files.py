"""Files of an open session: put into its working directory, read, listed and removed between its runs."""

from __future__ import annotations

import base64
import io
import os
from dataclasses import dataclass
from typing import IO, Any, Awaitable, Callable, Dict, Generator, Iterator, List, Mapping, Optional, Tuple, Union

from .errors import InputError

PART = 4 << 20  # bytes of a file in one request

Content = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]", IO[bytes]]
# Yields requests (name, members), and gets their answers.
Steps = Generator[Tuple[str, Dict[str, Any]], Mapping[str, Any], Any]


def advance(steps: Steps, answer: Optional[Mapping[str, Any]]) -> Tuple[Optional[Tuple[str, Dict[str, Any]]], Any]:
    """Gives the steps the answer to their last request, None at first. (their next request, None), or (None, their result)."""
    try:
        return steps.send(answer), None  # type: ignore[arg-type]
    except StopIteration as done:
        return None, done.value


@dataclass(frozen=True)
class SessionFile:
    """A name in a session's working directory. `kind` is "file", "directory", "link" or "other"; `bytes` is the size of a
    file, and 0 of anything else; `modified` is a time in UTC, as manifests write it."""

    path: str
    kind: str
    bytes: int
    modified: str


def _path(path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"path: expected a path, got {type(path).__name__}")
    return os.fspath(path)  # type: ignore[return-value]


def _parts(content: Content) -> Iterator[bytes]:
    """The content in parts, of which there is at least one."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    if isinstance(content, os.PathLike):
        try:
            with open(content, "rb") as file:
                yield from _parts(file)
        except OSError as error:
            raise InputError(f"{os.fspath(content)}: {error.strerror}") from error
        return
    if isinstance(content, (bytes, bytearray, memoryview)):
        content = io.BytesIO(content)
    if not hasattr(content, "read"):
        raise InputError(f"expected bytes, text, a Path or an open file, got {type(content).__name__}")
    part = content.read(PART)
    if not isinstance(part, bytes):
        raise InputError("expected a file that is open in binary mode")
    yield part
    while part:
        part = content.read(PART)
        if part:
            yield part


def _total(content: Content) -> Optional[int]:
    """Bytes of the content; None: only reading it to its end will tell."""
    if isinstance(content, os.PathLike):
        try:
            return os.stat(content).st_size if os.path.isfile(content) else None
        except OSError as error:
            raise InputError(f"{os.fspath(content)}: {error.strerror}") from error
    if isinstance(content, str):
        return len(content.encode("utf-8", "surrogatepass"))
    return memoryview(content).nbytes if isinstance(content, (bytes, bytearray, memoryview)) else None


def write_steps(path: Any, content: Content) -> Steps:
    """Put a file in; returns its SessionFile. The session keeps the parts out of sight until it has the last one."""
    name, parts, offset = _path(path), _parts(content), 0
    part = next(parts)
    try:
        while True:
            following = next(parts, None)
            request = {"path": name, "offset": offset, "data": base64.b64encode(part).decode()}
            if following is not None:
                request["more"] = True
                total = None if offset else _total(content)
                request.update({} if total is None else {"total": total})
            answer = yield "write_file", request
            if following is None:
                return SessionFile(**answer["file"])
            offset, part = offset + len(part), following
    except Exception:
        if offset:
            yield "write_file", {"path": name, "abandon": True}
        raise


def place_steps(placed: Mapping[str, Content]) -> Steps:
    """Put in the large inputs of a run, which are expected at these paths."""
    for path, content in placed.items():
        yield from write_steps(path, content)


def read_steps(path: Any, offset: int, length: Optional[int]) -> Steps:
    """Returns the bytes of a file."""
    parts: List[bytes] = []
    while True:
        left = PART if length is None else min(PART, length)
        answer = yield "read_file", {"path": _path(path), "offset": offset, "bytes": left}
        part = base64.b64decode(answer["data"])
        parts.append(part)
        offset += len(part)
        length = None if length is None else length - len(part)
        if answer["end"] or not part or length == 0:
            return b"".join(parts)


def list_steps(path: Any) -> Steps:
    """Returns the SessionFiles of a directory, whose names come in pages."""
    files: List[SessionFile] = []
    page: Dict[str, Any] = {}
    while True:
        answer = yield "list_files", {"path": _path(path), **page}
        above = "" if answer["path"] == "." else answer["path"] + "/"
        files += [SessionFile(above + file["name"], file["kind"], file["bytes"], file["modified"]) for file in answer["files"]]
        if answer["next"] is None:
            return files
        page = {"after": answer["next"]}


def stat_steps(path: Any) -> Steps:
    """Returns the SessionFile of a name."""
    answer = yield "stat_file", {"path": _path(path)}
    return SessionFile(**answer["file"])


def remove_steps(path: Any) -> Steps:
    """Remove a name."""
    yield "remove_file", {"path": _path(path)}


class SessionFiles:
    """The files in a session's working directory, /output. Paths are relative to it; links are never followed.

        session.files.write("data.bin", payload)
        session.run("size = len(open('data.bin', 'rb').read())")
        session.files.read("report.txt")

    Each method waits for its turn, as a run does: files are those between two runs. InputError: the path is none below the
    working directory, there is no such file, it is no plain file, or a limit of the session has no room for it; nothing has
    changed then. Large files go in parts of 4 MiB, and a file gets its name with the last one: a write that fails half-way
    leaves an older file of that name as it is."""

    def __init__(self, perform: Callable[[Steps], Any]) -> None:
        self._perform = perform

    def write(self, path: Union[str, "os.PathLike[str]"], content: Content) -> SessionFile:
        """Put in a file, in the place of an older one; missing directories are made. `content`: bytes, text (as UTF-8), the
        Path of a file of this host, or an open binary file. A file counts as a result of a run only if a program changes it."""
        file: SessionFile = self._perform(write_steps(path, content))
        return file

    def read(self, path: Union[str, "os.PathLike[str]"], offset: int = 0, length: Optional[int] = None) -> bytes:
        """The bytes of a file from `offset` on, at most `length`; None: to its end."""
        content: bytes = self._perform(read_steps(path, offset, length))
        return content

    def list(self, path: Union[str, "os.PathLike[str]"] = ".") -> "List[SessionFile]":
        """The entries of a directory, sorted by name. Names that are no UTF-8 are left out."""
        files: List[SessionFile] = self._perform(list_steps(path))
        return files

    def stat(self, path: Union[str, "os.PathLike[str]"]) -> SessionFile:
        """What a name stands for; a link is not followed."""
        file: SessionFile = self._perform(stat_steps(path))
        return file

    def remove(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Remove a file, a link, or an empty directory."""
        self._perform(remove_steps(path))


class AsyncSessionFiles:
    """As SessionFiles, for an event loop."""

    def __init__(self, perform: Callable[[Steps], Awaitable[Any]]) -> None:
        self._perform = perform

    async def write(self, path: Union[str, "os.PathLike[str]"], content: Content) -> SessionFile:
        """As SessionFiles.write."""
        file: SessionFile = await self._perform(write_steps(path, content))
        return file

    async def read(self, path: Union[str, "os.PathLike[str]"], offset: int = 0, length: Optional[int] = None) -> bytes:
        """As SessionFiles.read."""
        content: bytes = await self._perform(read_steps(path, offset, length))
        return content

    async def list(self, path: Union[str, "os.PathLike[str]"] = ".") -> "List[SessionFile]":
        """As SessionFiles.list."""
        files: List[SessionFile] = await self._perform(list_steps(path))
        return files

    async def stat(self, path: Union[str, "os.PathLike[str]"]) -> SessionFile:
        """As SessionFiles.stat."""
        file: SessionFile = await self._perform(stat_steps(path))
        return file

    async def remove(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """As SessionFiles.remove."""
        await self._perform(remove_steps(path))
