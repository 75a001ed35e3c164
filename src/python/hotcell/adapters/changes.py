"""Changes of a directory of the caller's, made all or not at all, whenever the process is killed.

What is to be put in place is first made ready in a directory of its own, in the one to be changed: a hidden one, whose name
begins with HIDDEN and ends at random. What is known of it stands in a record in the user's own directory, see own. With the
changes in this record they are decided: finish() makes them, also for a process that was killed in the midst of them. Before
that, finish() takes away what was made ready. Anybody can put a directory of such a name there: one that no record knows by its
inode is passed over. Every name is looked up in a directory that is open already, and no link is followed; so that nothing
outside of the directory changes, whoever else moves things about in it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import stat
import struct
import time
import warnings
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from .own import DIRECTORY, open_own

HIDDEN = b".hotcell-changes"
RECORD, NEW = "changes", "new-"  # beginnings of names in the user's own directory: of records, and of records that are being written
LOCKS = "locks"  # in the user's own directory: a file whose bytes are locked, one for each directory
LOCK_SECONDS, LOCK_PAUSE = 10, 0.05
MOST_ENTRIES = 100_000  # most entries of one directory, with all directories below it


def is_path(path: bytes) -> bool:
    """Whether it is a path below a directory, and cannot be one of anything else."""
    parts = path.split(b"/")
    return b"\0" not in path and len(path) <= 4000 and all(part not in (b"", b".", b"..") and len(part) <= 255 for part in parts)


def is_hidden(path: bytes) -> bool:
    """Whether one of its names is one for hidden directories."""
    return any(part == HIDDEN or part.startswith(HIDDEN + b"-") for part in path.split(b"/"))


def checked(path: bytes, shown: str) -> bytes:
    """The path. PermissionError, with the path as `shown`: it is no path below a directory, or one of its names is a hidden one."""
    if not is_path(path) or is_hidden(path):
        raise PermissionError(errno.EPERM, "it is no path below the directory that is to be changed", shown)
    return path


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
        with parent(root, path) as (folder, name):
            return _look(folder, name)
    except (FileNotFoundError, NotADirectoryError):
        return None


def scan(root: int) -> Dict[bytes, Entry]:
    """All that is below an open directory, by path, without hidden directories. Directories of other file systems are "closed",
    and not looked into, as those that the caller may not read, and the user's own one. OSError with EFBIG: too much."""
    found: Dict[bytes, Entry] = {}
    with _own() as own:
        _scan(root, b"", identity(own), found)
    return found


def identity(fd: int) -> List[int]:
    """What an open directory is known by: device and inode."""
    state = os.fstat(fd)
    return [state.st_dev, state.st_ino]


@contextlib.contextmanager
def _own() -> Iterator[int]:
    fd = open_own()
    try:
        yield fd
    finally:
        os.close(fd)


def _scan(fd: int, path: bytes, own: List[int], found: Dict[bytes, Entry]) -> None:
    dev = os.fstat(fd).st_dev
    with os.scandir(fd) as entries:
        names = sorted(os.fsencode(entry.name) for entry in entries)
    for name in names:
        if is_hidden(name):
            continue
        if len(found) >= MOST_ENTRIES:
            raise OSError(errno.EFBIG, f"it has more than {MOST_ENTRIES} files and directories")
        below = path + b"/" + name if path else name
        with contextlib.suppress(FileNotFoundError):
            found[below] = entry = _look(fd, name)
            if entry.kind != "dir":
                continue
            inner = _open_to_scan(fd, name) if entry.dev == dev and [entry.dev, entry.ino] != own else None
            if inner is None:
                found[below] = entry._replace(kind="closed")
                continue
            try:
                _scan(inner, below, own, found)
            finally:
                os.close(inner)


def _open_to_scan(fd: int, name: bytes) -> Optional[int]:
    try:
        return os.open(name, DIRECTORY, dir_fd=fd)
    except PermissionError:
        return None


def open_root(path: "str | bytes", make: bool = False) -> int:
    """Open a directory by an absolute path without links: none is followed. `make`: what is not there yet is made. OSError; EPERM
    for the user's own directory, and what is in it."""
    with _own() as own:
        forbidden = identity(own)
    fd = os.open("/", os.O_PATH | DIRECTORY)
    try:
        for name in [name for name in os.fsencode(path).split(b"/") if name]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=fd)
            below = os.open(name, os.O_PATH | DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = below
            if identity(fd) == forbidden:
                raise PermissionError(errno.EPERM, "hotcell keeps there what has to be safe from code", os.fsdecode(path))
        opened = os.open(b".", DIRECTORY, dir_fd=fd)
    finally:
        os.close(fd)
    return opened


@contextlib.contextmanager
def locked(root: int) -> Iterator[None]:
    """Have the directory for this process alone, among those of this user that use this module. The lock is one byte of a file in
    the user's own directory, so that nobody else can hold it. OSError with EAGAIN: another process of the user's has it for longer
    than LOCK_SECONDS."""
    with _own() as own:
        fd = os.open(LOCKS, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=own)
    try:
        with contextlib.suppress(NoLocks):
            _lock(fd, int.from_bytes(hashlib.sha256(_prefix(root).encode()).digest()[:7], "big"))
        yield
    finally:
        os.close(fd)


class NoLocks(Exception):
    """The file system of the user's own directory has no locks."""


def _lock(fd: int, offset: int) -> None:
    """Lock a byte for this open file, until it is closed."""
    wanted = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, offset, 1, 0)
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, wanted)
            return
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise NoLocks from error
        if time.monotonic() > end:
            raise BlockingIOError(errno.EAGAIN, f"another process of this user has been changing the directory for {LOCK_SECONDS} s")
        time.sleep(LOCK_PAUSE)


@dataclass
class Ready:
    """Something that waits in the hidden directory, under a number, for its place."""

    path: bytes
    content: Any = None            # a function that writes a file's content to a descriptor
    source: Optional[bytes] = None  # or: an existing path, of which this is another name
    same_as: Optional[bytes] = None  # or: a path of an earlier one, of which this is another name
    target: Optional[bytes] = None  # or: target of a symbolic link
    mode: int = 0o600
    mtime: int = 0                 # nanoseconds


@dataclass
class Changes:
    """Changes of one directory. Paths are relative to it."""

    expected: Dict[bytes, Optional[Entry]]  # what has to be at each path that changes; None: nothing
    away: List[bytes]                       # removed, each directory behind what is in it
    directories: List[Tuple[bytes, int]]    # made, with their modes, each before what is in it
    ready: List[Ready]
    modes: List[Tuple[bytes, int]]          # (path, mode) of entries that stay
    opened: List[Tuple[bytes, int]]         # the caller's own directories without the right to write, and the modes that they get at the end

    def __bool__(self) -> bool:
        return bool(self.away or self.directories or self.ready or self.modes)


def text_of(path: bytes) -> str:
    """A path as JSON holds it."""
    return path.decode("latin-1")


def make(root: int, changes: Changes) -> None:
    """Make the changes, all or, with an exception, none. The directory is locked by the caller."""
    if not changes:
        return
    with _own() as own:
        record = _Record(own, f"{_prefix(root)}{secrets.token_hex(16)}")
        record.write({})
        try:
            os.mkdir(record.hidden, 0o700, dir_fd=root)
            hidden = os.open(record.hidden, DIRECTORY, dir_fd=root)
        except BaseException:
            record.remove()
            raise
        try:
            known = {"hidden": identity(hidden)}
            record.write(known)
            record.write({**known, **_prepare(root, hidden, changes)})  # from here on the changes are made, now or later
        except BaseException:
            _clear(root, hidden, record)
            raise
        finally:
            os.close(hidden)
    finish(root)


class _Record:
    """What the user's own directory, which is open, knows of one hidden directory: its inode, and when they are decided the
    changes."""

    def __init__(self, own: int, name: str) -> None:
        self._own, self._name = own, name
        self.hidden = HIDDEN + b"-" + name.rpartition("-")[2].encode()  # its name

    def write(self, content: Dict[str, Any]) -> None:
        """Replace the content, at once."""
        _write(self._own, NEW + self._name, json.dumps(content).encode())
        os.rename(NEW + self._name, self._name, src_dir_fd=self._own, dst_dir_fd=self._own)

    def read(self) -> Dict[str, Any]:
        """The content; nothing if it is damaged."""
        with open(os.open(self._name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._own), "rb") as file:
            try:
                content: Dict[str, Any] = json.loads(file.read())
            except ValueError:
                return {}
        return content

    def remove(self) -> None:
        """Remove it, and what a process that was killed has not written wholly."""
        for name in (NEW + self._name, self._name):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._own)


def _prefix(root: int) -> str:
    """How the names of records begin that are of this directory."""
    return "-".join(map(str, (RECORD, *identity(root)))) + "-"


def _prepare(root: int, hidden: int, changes: Changes) -> Dict[str, Any]:
    numbers: Dict[bytes, int] = {}
    copies: Dict[bytes, bytes] = {}  # path of a file that can have no other name -> name of its copy in the hidden directory
    place = []
    for number, ready in enumerate(changes.ready):
        name = b"%d" % number
        _make_ready(root, hidden, name, ready, numbers, copies)
        numbers[ready.path] = number
        place.append([number, text_of(ready.path), _look(hidden, name).ino])
    before = {text_of(path): _mark(entry) for path, entry in changes.expected.items()}
    return {"before": before, "place": place, "away": [text_of(path) for path in changes.away],
            "directories": [[text_of(path), mode] for path, mode in changes.directories],
            "modes": [[text_of(path), mode] for path, mode in changes.modes],
            "opened": [[text_of(path), mode] for path, mode in changes.opened]}


def _mark(entry: Optional[Entry]) -> Optional[List[Any]]:
    """What a record knows an entry by: inodes get used again."""
    return None if entry is None else [entry.is_dir, entry.ino, entry.size, entry.mtime]


def _make_ready(root: int, hidden: int, name: bytes, ready: Ready, numbers: Dict[bytes, int], copies: Dict[bytes, bytes]) -> None:
    if ready.same_as is not None:
        os.link(b"%d" % numbers[ready.same_as], name, src_dir_fd=hidden, dst_dir_fd=hidden, follow_symlinks=False)
    elif ready.source in copies:  # once is enough: many would fill the disk
        os.link(copies[ready.source], name, src_dir_fd=hidden, dst_dir_fd=hidden, follow_symlinks=False)
    elif ready.source is not None:
        with parent(root, ready.source) as (folder, last):
            if not _link(folder, last, hidden, name):
                copies[ready.source] = name
    elif ready.target is not None:
        os.symlink(ready.target, name, dir_fd=hidden)
    else:
        fd = create(hidden, name)
        try:
            ready.content(fd)
            os.fchmod(fd, ready.mode & 0o777)
            os.utime(fd, ns=(ready.mtime, ready.mtime))
        finally:
            os.close(fd)


def _link(folder: int, last: bytes, hidden: int, name: bytes) -> bool:
    """Give an existing file another name, or copy it where the file system or the kernel forbids that; False: the new name is a copy's."""
    try:
        os.link(last, name, src_dir_fd=folder, dst_dir_fd=hidden, follow_symlinks=False)
        return True
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
    entry = _look(folder, last)
    if entry.kind == "symlink":
        os.symlink(entry.target, name, dir_fd=hidden)
        return False
    with open(os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder), "rb") as old:
        if not stat.S_ISREG(os.fstat(old.fileno()).st_mode):
            raise PermissionError(errno.EPERM, "it can have no other name", os.fsdecode(last))
        with open(create(hidden, name), "wb") as new:
            shutil.copyfileobj(old, new)
            new.flush()
            os.fchmod(new.fileno(), entry.mode & 0o777)
            os.utime(new.fileno(), ns=(entry.mtime, entry.mtime))
    return False


def create(folder: int, name: "str | bytes") -> int:
    """A new file in an open directory, open for writing, which only its owner may read. FileExistsError."""
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)


def _write(folder: int, name: "str | bytes", content: bytes) -> None:
    with open(create(folder, name), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def parent(root: int, path: bytes) -> Iterator[Tuple[int, bytes]]:
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


# ---- from the record ----

def finish(root: int) -> None:
    """Make the changes that this user has decided, and remove what else a killed process of his has left. A path that cannot be
    changed is warned of. The directory is locked by the caller."""
    prefix = _prefix(root)
    with _own() as own:
        for name in sorted(os.listdir(own)):
            if name.startswith(prefix):
                _finish_one(root, _Record(own, name))
            elif name.startswith(NEW + prefix):
                _Record(own, name[len(NEW):]).remove()


def _finish_one(root: int, record: _Record) -> None:
    content = record.read()
    hidden = _open_hidden(root, record, content.get("hidden"))
    if hidden is None:
        record.remove()
        return
    try:
        if "place" in content:
            _run(root, hidden, content)
        _clear(root, hidden, record)
    finally:
        os.close(hidden)


def _run(root: int, hidden: int, content: Dict[str, Any]) -> None:
    try:
        steps = _Finish(root, hidden, content)
    except PermissionError as error:
        warnings.warn(f"{error.filename}: {error.strerror}: no change that a killed process has left is made", stacklevel=2)
        return
    steps.run()


def _open_hidden(root: int, record: _Record, known: Optional[List[int]]) -> Optional[int]:
    """Open the hidden directory; None: the directory is gone, or another one has its name. If the process was killed before its inode was
    known, nothing is in it."""
    if known is None:
        with contextlib.suppress(OSError):
            os.rmdir(record.hidden, dir_fd=root)
        return None
    try:
        hidden = os.open(record.hidden, DIRECTORY, dir_fd=root)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES):
            return None
        raise
    state = os.fstat(hidden)
    if identity(hidden) == known and state.st_uid == os.geteuid() and stat.S_IMODE(state.st_mode) == 0o700:
        return hidden
    os.close(hidden)
    return None


def _clear(root: int, hidden: int, record: _Record) -> None:
    """Remove what was made ready and is left, the hidden directory, and the record."""
    for name in map(os.fsencode, os.listdir(hidden)):
        if name.isdigit():
            os.unlink(name, dir_fd=hidden)
    with contextlib.suppress(FileNotFoundError):  # somebody has moved it
        os.rmdir(record.hidden, dir_fd=root)
    record.remove()


def _checked(text: str) -> bytes:
    """A path of a record, checked again as one that a cell tells. PermissionError."""
    return checked(text.encode("latin-1"), text)


class _Finish:
    """Makes the changes of a record. Each step may have been made before. PermissionError: one is no change of the directory."""

    def __init__(self, root: int, hidden: int, record: Dict[str, Any]) -> None:
        self.root, self.hidden = root, hidden
        self.before: Dict[bytes, Any] = {_checked(path): mark for path, mark in record["before"].items()}
        self.place = [(number, _checked(path), ino) for number, path, ino in record["place"]]
        self.away = [_checked(path) for path in record["away"]]
        self.directories, self.modes, self.opened = (
            [(_checked(path), mode) for path, mode in record[name]] for name in ("directories", "modes", "opened"))
        self.new = {path: ino for _, path, ino in self.place}
        self.made = {path for path, _ in self.directories}

    def run(self) -> None:
        """Take all steps."""
        for path, mode in self.opened:
            self._try(self._set_mode, path, mode | 0o700)
        in_the_way = {path for path in self.away if path in self.new or path in self.made}
        first = [path for path in self.away if path in in_the_way or any(path.startswith(other + b"/") for other in in_the_way)]
        for path in first:
            self._try(self._remove, path)
        for path, _ in self.directories:
            self._try(self._make_directory, path)
        for number, path, _ in self.place:
            self._try(self._place, path, b"%d" % number)
        for path in self.away:
            if path not in first:
                self._try(self._remove, path)
        for path, mode in reversed([*self.opened, *self.directories, *self.modes]):
            self._try(self._set_mode, path, mode)

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
            with parent(self.root, path) as (folder, name):
                mark = self._mark(folder, name)
                if mark is not None and mark == self.before[path]:  # else it is gone already, or another's
                    (os.rmdir if mark[0] else os.unlink)(name, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):  # the entry went with its directory
            pass

    def _make_directory(self, path: bytes) -> None:
        with parent(self.root, path) as (folder, name):
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=folder)
            if _look(folder, name).kind != "dir":
                raise FileExistsError(errno.EEXIST, "something else is there")

    def _place(self, path: bytes, number: bytes) -> None:
        ours = self._mark(self.hidden, number)
        if ours is None:
            return  # the entry is in its place
        with parent(self.root, path) as (folder, name):
            if self._mark(folder, name) not in (None, ours, self.before[path]):
                raise FileExistsError(errno.EEXIST, "something else is there")
            os.rename(number, name, src_dir_fd=self.hidden, dst_dir_fd=folder)

    def _set_mode(self, path: bytes, mode: int) -> None:
        with parent(self.root, path) as (folder, name):
            mark = self._mark(folder, name)
            if mark is None:
                return
            if not (mark == self.before.get(path) or mark[1] == self.new.get(path) or mark[0] and path in self.made):
                raise PermissionError(errno.EPERM, "something else is there")
            fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                if not stat.S_ISLNK(os.fstat(fd).st_mode):
                    os.chmod(f"/proc/self/fd/{fd}", mode & 0o777)
            finally:
                os.close(fd)
