"""Changes of a directory of the caller's, made all or not at all, whenever the process is killed.

What is to be put in place is first made ready in a directory of its own below the one to be changed, HIDDEN. With its journal
written, the changes are decided: finish() makes them, also for a process that was killed in the midst of them. Before that,
finish() takes away what was made ready. Every name is looked up in a directory that is open already, and no link is
followed; so that nothing outside of the directory changes, whoever else moves things about in it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
import warnings
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

HIDDEN = b".hotcell-changes"
JOURNAL = b"journal"
MOST_ENTRIES = 100_000  # of one directory, with all below it
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Entry(NamedTuple):
    """What one path was when the directory was scanned. `kind`: "dir", "file", "symlink", "other", or "closed", for a
    directory that cannot be looked into. Size and time are those of a file or link: 0 of a directory, as they change with
    what is in it."""

    kind: str
    ino: int
    mode: int
    size: int = 0
    mtime: int = 0  # nanoseconds
    uid: int = 0
    dev: int = 0
    target: bytes = b""

    @property
    def is_dir(self) -> bool:
        """Whether it is a directory, also one that cannot be looked into."""
        return self.kind in ("dir", "closed")


def _look(folder: int, name: bytes) -> Entry:
    """The entry of a name in an open directory. OSError."""
    state = os.stat(name, dir_fd=folder, follow_symlinks=False)
    kinds = {stat.S_IFDIR: "dir", stat.S_IFREG: "file", stat.S_IFLNK: "symlink"}
    kind = kinds.get(stat.S_IFMT(state.st_mode), "other")
    size, mtime = (0, 0) if kind == "dir" else (state.st_size, state.st_mtime_ns)
    target = os.readlink(name, dir_fd=folder) if kind == "symlink" else b""
    return Entry(kind, state.st_ino, stat.S_IMODE(state.st_mode), size, mtime, state.st_uid, state.st_dev, target)


def look(root: int, path: bytes) -> Optional[Entry]:
    """The entry of a path now; None if there is none."""
    try:
        with _parent(root, path) as (folder, name):
            return _look(folder, name)
    except (FileNotFoundError, NotADirectoryError):
        return None


def scan(root: int) -> Dict[bytes, Entry]:
    """All that is below an open directory, by path. Directories of other file systems are "closed", and not looked into, as
    those that the caller may not read. OSError with EFBIG: too much."""
    found: Dict[bytes, Entry] = {}
    _scan(root, b"", os.fstat(root).st_dev, found)
    return found


def _scan(fd: int, path: bytes, dev: int, found: Dict[bytes, Entry]) -> None:
    with os.scandir(fd) as entries:
        names = sorted(os.fsencode(entry.name) for entry in entries)
    for name in names:
        if path == b"" and name == HIDDEN:
            continue
        if len(found) >= MOST_ENTRIES:
            raise OSError(errno.EFBIG, f"it has more than {MOST_ENTRIES} files and directories")
        below = path + b"/" + name if path else name
        with contextlib.suppress(FileNotFoundError):
            found[below] = entry = _look(fd, name)
            if entry.kind != "dir":
                continue
            inner = _open_to_scan(fd, name) if entry.dev == dev else None
            if inner is None:
                found[below] = entry._replace(kind="closed")
                continue
            try:
                _scan(inner, below, dev, found)
            finally:
                os.close(inner)


def _open_to_scan(fd: int, name: bytes) -> Optional[int]:
    try:
        return os.open(name, DIRECTORY, dir_fd=fd)
    except PermissionError:
        return None


def open_root(path: "str | bytes") -> int:
    """Open a directory whose path has no links. OSError."""
    return os.open(path, DIRECTORY)


@contextlib.contextmanager
def locked(root: int) -> Iterator[None]:
    """Have the directory for this process alone, among those that use this module."""
    mine = os.open(b".", DIRECTORY, dir_fd=root)  # a lock belongs to the open file
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(mine, fcntl.LOCK_EX)
        yield
    finally:
        os.close(mine)


@dataclass
class Ready:
    """Something that waits in HIDDEN, under a number, for its place."""

    path: bytes
    content: Any = None            # a function that writes a file's content to a descriptor
    source: Optional[bytes] = None  # or: an existing path, of which this is another name
    same_as: Optional[bytes] = None  # or: a path of an earlier one, of which this is another name
    target: Optional[bytes] = None  # or: of a symbolic link
    mode: int = 0o600
    mtime: int = 0                 # nanoseconds


@dataclass
class Changes:
    """Changes of one directory. Paths are relative to it."""

    expected: Dict[bytes, Optional[Entry]]  # of all paths that change: what has to be there. None: nothing
    away: List[bytes]                       # removed, each directory behind what is in it
    directories: List[Tuple[bytes, int]]    # made, with their modes, each before what is in it
    ready: List[Ready]
    modes: List[Tuple[bytes, int]]          # of what stays
    opened: List[Tuple[bytes, int]]         # the caller's own directories that he may not write to: their modes at the end

    def __bool__(self) -> bool:
        return bool(self.away or self.directories or self.ready or self.modes)


def text_of(path: bytes) -> str:
    """A path as JSON holds it."""
    return path.decode("latin-1")


def make(root: int, changes: Changes) -> None:
    """Make the changes, all or, with an exception, none. The directory is locked by the caller."""
    if not changes:
        return
    os.mkdir(HIDDEN, 0o700, dir_fd=root)
    try:
        hidden = os.open(HIDDEN, DIRECTORY, dir_fd=root)
    except BaseException:
        os.rmdir(HIDDEN, dir_fd=root)
        raise
    try:
        journal = _prepare(root, hidden, changes)
        _write(hidden, b"new", json.dumps(journal).encode())
        os.rename(b"new", JOURNAL, src_dir_fd=hidden, dst_dir_fd=hidden)  # from here on the changes are made, now or later
    except BaseException:
        _clear(root, hidden)
        raise
    finally:
        os.close(hidden)
    finish(root)


def _prepare(root: int, hidden: int, changes: Changes) -> Dict[str, Any]:
    numbers: Dict[bytes, int] = {}
    place = []
    for number, ready in enumerate(changes.ready):
        name = b"%d" % number
        _make_ready(root, hidden, name, ready, numbers)
        numbers[ready.path] = number
        place.append([number, text_of(ready.path)])
    state = os.fstat(root)
    before = {text_of(path): _mark(entry) for path, entry in changes.expected.items()}
    return {"root": [state.st_dev, state.st_ino], "before": before, "away": [text_of(path) for path in changes.away],
            "directories": [[text_of(path), mode] for path, mode in changes.directories], "place": place,
            "modes": [[text_of(path), mode] for path, mode in changes.modes],
            "opened": [[text_of(path), mode] for path, mode in changes.opened]}


def _mark(entry: Optional[Entry]) -> Optional[List[Any]]:
    """What a journal knows an entry by: inodes get used again."""
    return None if entry is None else [entry.is_dir, entry.ino, entry.size, entry.mtime]


def _make_ready(root: int, hidden: int, name: bytes, ready: Ready, numbers: Dict[bytes, int]) -> None:
    if ready.same_as is not None:
        os.link(b"%d" % numbers[ready.same_as], name, src_dir_fd=hidden, dst_dir_fd=hidden, follow_symlinks=False)
    elif ready.source is not None:
        with _parent(root, ready.source) as (folder, last):
            _link(folder, last, hidden, name, ready)
    elif ready.target is not None:
        os.symlink(ready.target, name, dir_fd=hidden)
    else:
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=hidden)
        try:
            ready.content(fd)
            os.fchmod(fd, ready.mode & 0o777)
            os.utime(fd, ns=(ready.mtime, ready.mtime))
        finally:
            os.close(fd)


def _link(folder: int, last: bytes, hidden: int, name: bytes, ready: Ready) -> None:
    """Give an existing file another name, or copy it where the file system or the kernel forbids that."""
    try:
        os.link(last, name, src_dir_fd=folder, dst_dir_fd=hidden, follow_symlinks=False)
        return
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
    entry = _look(folder, last)
    if entry.kind == "symlink":
        os.symlink(entry.target, name, dir_fd=hidden)
        return
    with open(os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder), "rb") as old:
        if entry.kind != "file":
            raise PermissionError(errno.EPERM, "it can have no other name", os.fsdecode(last))
        _write(hidden, name, old.read())
    os.chmod(name, entry.mode & 0o777, dir_fd=hidden)
    os.utime(name, ns=(entry.mtime, entry.mtime), dir_fd=hidden)


def _write(folder: int, name: bytes, content: bytes) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    with open(fd, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def _parent(root: int, path: bytes) -> Iterator[Tuple[int, bytes]]:
    """The open directory of a path, and the path's last name in it. OSError: a directory on the way is none."""
    *folders, last = path.split(b"/")
    fd = os.open(b".", DIRECTORY, dir_fd=root)
    try:
        for name in folders:
            below = os.open(name, os.O_PATH | DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd, last
    finally:
        os.close(fd)


# ---- from the journal ----

def finish(root: int) -> None:
    """Make the changes that are decided, and remove what else a killed process has left. OSError: HIDDEN is not this
    module's own; a path that cannot be changed is warned of. The directory is locked by the caller."""
    try:
        hidden = os.open(HIDDEN, DIRECTORY, dir_fd=root)
    except FileNotFoundError:
        return
    try:
        state = os.fstat(hidden)
        if state.st_uid != os.geteuid() or stat.S_IMODE(state.st_mode) != 0o700:
            raise PermissionError(errno.EPERM, "it is in the way: remove or rename it", os.fsdecode(HIDDEN))
        journal = _read_journal(root, hidden)
        if journal is not None:
            _Finish(root, hidden, journal).run()
        _clear(root, hidden)
    finally:
        os.close(hidden)


def _read_journal(root: int, hidden: int) -> Optional[Dict[str, Any]]:
    try:
        fd = os.open(JOURNAL, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=hidden)
    except FileNotFoundError:
        return None
    with open(fd, "rb") as file:
        journal: Dict[str, Any] = json.loads(file.read())
    state = os.fstat(root)
    if journal.get("root") != [state.st_dev, state.st_ino]:  # a copy of the directory: the changes are the original's
        return None
    return journal


def _clear(root: int, hidden: int) -> None:
    """Remove HIDDEN, its journal last of what is in it."""
    names = sorted((os.fsencode(name) for name in os.listdir(hidden)), key=lambda name: name == JOURNAL)
    for name in names:
        os.unlink(name, dir_fd=hidden)
    os.rmdir(HIDDEN, dir_fd=root)


class _Finish:
    """Makes the changes of a journal. Each step may have been made before."""

    def __init__(self, root: int, hidden: int, journal: Dict[str, Any]) -> None:
        self.root, self.hidden, self.journal = root, hidden, journal
        self.before: Dict[bytes, Any] = {path.encode("latin-1"): mark for path, mark in journal["before"].items()}
        self.new = {path.encode("latin-1") for _, path in journal["place"]}
        self.made = {path.encode("latin-1") for path, _ in journal["directories"]}

    def run(self) -> None:
        for path, mode in self.journal["opened"]:
            self._try(self._set_mode, path.encode("latin-1"), mode | 0o700)
        away = [path.encode("latin-1") for path in self.journal["away"]]
        in_the_way = {path for path in away if path in self.new or path in self.made}
        first = [path for path in away if path in in_the_way or any(path.startswith(other + b"/") for other in in_the_way)]
        for path in first:
            self._try(self._remove, path)
        for path, _ in self.journal["directories"]:
            self._try(self._make_directory, path.encode("latin-1"))
        for number, path in self.journal["place"]:
            self._try(self._place, path.encode("latin-1"), b"%d" % number)
        for path in away:
            if path not in first:
                self._try(self._remove, path)
        modes = [*self.journal["opened"], *self.journal["directories"], *self.journal["modes"]]
        for path, mode in reversed(modes):
            self._try(self._set_mode, path.encode("latin-1"), mode)

    @staticmethod
    def _try(step: Any, path: bytes, *more: Any) -> None:
        try:
            step(path, *more)
        except OSError as error:
            warnings.warn(f"{os.fsdecode(path)}: this change could not be made: {error.strerror}", stacklevel=2)

    @staticmethod
    def _mark(folder: int, name: bytes) -> Optional[List[Any]]:
        try:
            return _mark(_look(folder, name))
        except FileNotFoundError:
            return None

    def _remove(self, path: bytes) -> None:
        try:
            with _parent(self.root, path) as (folder, name):
                mark = self._mark(folder, name)
                if mark is not None and mark == self.before[path]:  # else it is gone already, or another's
                    (os.rmdir if mark[0] else os.unlink)(name, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):  # it went with the directory that it was in
            pass

    def _make_directory(self, path: bytes) -> None:
        with _parent(self.root, path) as (folder, name):
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=folder)
            if _look(folder, name).kind != "dir":
                raise FileExistsError(errno.EEXIST, "something else is there")

    def _place(self, path: bytes, number: bytes) -> None:
        ours = self._mark(self.hidden, number)
        if ours is None:
            return  # it is in its place
        with _parent(self.root, path) as (folder, name):
            if self._mark(folder, name) not in (None, ours, self.before[path]):
                raise FileExistsError(errno.EEXIST, "something else is there")
            os.rename(number, name, src_dir_fd=self.hidden, dst_dir_fd=folder)

    def _set_mode(self, path: bytes, mode: int) -> None:
        with _parent(self.root, path) as (folder, name):
            mark = self._mark(folder, name)
            if mark is None or not (mark[0] or path in self.new or mark == self.before[path]):
                return
            fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                if not stat.S_ISLNK(os.fstat(fd).st_mode):
                    os.chmod(f"/proc/self/fd/{fd}", mode & 0o777)
            finally:
                os.close(fd)
