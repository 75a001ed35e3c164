"""Destinations: directories of the caller's, ok_dests, in which a model's code changes files as if it ran in this process.

In its cell the code finds each directory at its own path: a copy in memory, see dests_in_cell. After the run the client reads
what the code has made of it, checks every word, and makes the same changes in the caller's directory, all or none, see changes.
Nothing but what lies below the directory can change. In a session this is done for each of its runs.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

from ..errors import HotcellError
from ..temporary import Temporary
from . import changes
from .changes import Changes, Entry, Ready

SHELF = "/.hotcell"  # directory in the cell from which the code's directories are filled
FILES = ("hotcell-dests.json", "hotcell-dests.bin")  # files in /output: the report, and the contents of files
MOST_COPIED = 128 << 20  # bytes of all files that are copied into a cell; larger ones can be read there, not changed
MOST_REPORTED = 64 << 20  # bytes of a report
MOST_DESTS = 6
PAGE = 4096  # bytes: of a file in the cell, holes and what is between them are multiples of it
MOST_LINKS = 40  # most links on the way to a directory, as in the kernel
ROOM = 256 << 20  # bytes in a cell's /tmp, beside what is copied
TMP_BYTES, TMP_ENTRIES = 64 << 20, 2000  # most bytes and entries of the caller's /tmp that a cell gets
TREES = ("bin", "dev", "etc", "input", "lib", "lib32", "lib64", "output", "proc", "sbin", "usr")  # in a cell, not for places
UNTOLD = "the code ended without a word about the files that it changed: they stay as they were"
HIDDEN_STATE = "/var/lib/hotcell"


class DestsError(HotcellError, PermissionError):
    """Changes of files that a run made in its cell cannot be made in the caller's directories: in the directory named, none was made."""


@dataclass
class _Root:
    """One directory. `base`: what was in it when the run began, by path, without what the code is not shown."""

    path: str             # path on the host, without links
    place: str            # path in the cell
    fd: int = -1          # open; -1: the directory does not exist yet
    base: Dict[bytes, Entry] = field(default_factory=dict)
    source: Optional[str] = None        # the host's directory that the place is filled from
    skipped: Set[bytes] = field(default_factory=set)  # names directly in it that the code does not see
    shown: Set[bytes] = field(default_factory=set)    # files that are not copied
    copied: int = 0       # bytes that are
    brought: Dict[bytes, int] = field(default_factory=dict)  # files whose contents were brought to a session's cell -> their numbers, from 1


class Dests:
    """The destinations of one run: a context, in which the directories are open. Or (`live`) those of a session, which looks at them
    anew before each run.

    What is left of an earlier run's changes, whose process was killed, is finished when it begins."""

    def __init__(self, ok_dests: Optional[Sequence[str]], live: bool = False) -> None:
        self._staging, self._live = Temporary(), live
        self.renewed = 0  # how often it was looked anew
        self._roots: List[_Root] = []
        try:
            self._find(ok_dests)
            self._write_plan()
        except BaseException:
            self.close()
            raise
        self._identity = self._identify()

    def _identify(self) -> List[Any]:
        """What tells whether these are the directories that the session's cell has."""
        return [(root.path, root.place, *(os.fstat(root.fd)[1:3] if root.fd >= 0 else ())) for root in self._roots]

    def renew(self, ok_dests: Optional[Sequence[str]]) -> bool:
        """Before another run of a session: look at the directories anew. False: they are others than those of the session's cell."""
        self.rest()
        shutil.rmtree(self._contents(), ignore_errors=True)
        self._roots = []
        self.renewed += 1
        self._find(ok_dests)
        self._write_plan()
        return self._identify() == self._identity

    def rest(self) -> None:
        """Between the runs of a session: close the directories."""
        for root in self._roots:
            if root.fd >= 0:
                os.close(root.fd)
                root.fd = -1

    def __enter__(self) -> "Dests":
        return self

    def __exit__(self, *why: Any) -> None:
        self.close()

    def close(self) -> None:
        """Close the directories, and remove what was made for the cell."""
        self.rest()
        self._staging.close()

    # ---- before the run ----

    def _find(self, ok_dests: Optional[Sequence[str]]) -> None:
        paths = _paths(ok_dests)
        if len(paths) > MOST_DESTS:
            raise DestsError(errno.E2BIG, f"more than {MOST_DESTS} directories in ok_dests")
        room = MOST_COPIED
        for number, path in enumerate(paths):
            own = path.isprintable() and path.split("/")[1] not in TREES and len(path) <= 1000
            root = _Root(path, path if own else f"/mnt/hotcell-{number}")
            self._roots.append(root)
            if not os.path.isdir(path):  # the code may make it
                made = "is made, as a session has it from its beginning" if self._live else "is made if the code writes there"
                warnings.warn(f"ok_dests: there is no directory {path}; it {made}", stacklevel=5)
            if not os.path.isdir(path) and self._live:
                _make(path)
            elif not os.path.isdir(path):
                root.source = str(Path(self._staging.path, f"new{number}"))
                os.mkdir(root.source)
                continue
            root.fd = _open(path)
            _finish(root)
            if path == "/tmp":
                root.skipped = {os.fsencode(other.split("/")[2]) for other in paths if other.startswith("/tmp/")}
                self._farm(root, number)
            else:
                root.source = path
                root.base = _scan(root)
            if os.geteuid() == 0:
                _shut(root)
            room -= _choose(root, room)

    def _farm(self, root: _Root, number: int) -> None:
        """Show the code the caller's own files in /tmp: in a directory of other names for them, as much as is bearable."""
        root.source = str(Path(self._staging.path, f"tmp{number}-{self.renewed}"))
        for earlier in Path(self._staging.path).glob(f"tmp{number}-*"):
            shutil.rmtree(earlier, ignore_errors=True)
        os.mkdir(root.source)
        left = [TMP_ENTRIES, TMP_BYTES]
        farm = os.open(root.source, changes.DIRECTORY)
        try:
            for name in sorted(map(os.fsencode, os.listdir(root.fd))):
                if name not in root.skipped and not name.startswith((b".", b"hotcell-")):
                    root.base.update(_farm_entry(root.fd, farm, name, left))
        finally:
            os.close(farm)

    def _write_plan(self) -> None:
        if not self._roots:
            return
        places = [{"place": root.place, "source": f"{SHELF}/{number}", "links": _links(root.base),
                   "shown": _texts(root.shown), "skipped": _texts(root.skipped), "hidden": changes.text_of(changes.HIDDEN),
                   "closed": _texts(path for path, entry in root.base.items() if entry.kind in ("other", "closed"))}
                  for number, root in enumerate(self._roots)]
        plan = {"places": places, "umask": _umask(), "files": FILES, "cwd": self._here()}
        where = Path(self._staging.path, "plan")
        where.mkdir(exist_ok=True)
        (where / "plan.json").write_text(json.dumps(plan))
        if self.renewed:
            for place, root in zip(places, self._roots):
                place["entries"] = _rows(root)
            (where / f"plan-{self.renewed}.json").write_text(json.dumps(plan))  # a name that the cell has not looked up before
            Path(where, f"plan-{self.renewed - 1}.json").unlink(missing_ok=True)
        (where / "code.py").write_bytes(Path(__file__).with_name("dests_in_cell.py").read_bytes())

    def _contents(self) -> Path:
        return Path(self._staging.path, "plan", str(self.renewed))

    def begin(self, complete: bool) -> str:
        """Code that makes the places in a session's cell as the directories are; `complete`: contents were brought."""
        return f"hotcell_dests_begin({self.renewed}, {f'{SHELF}/plan/{self.renewed}' if complete else None!r})"

    def bring(self, output: Optional[Path]) -> bool:
        """Bring the contents that the cell lacks, as that code has written down. False: it lacks none."""
        try:
            lacking = _read(output, FILES[0]).get("lacking")
        except OSError as error:
            raise _bad("lacking contents") from error
        if not isinstance(lacking, list) or len(lacking) != len(self._roots):
            raise _bad("lacking contents")
        if not any(lacking):
            return False
        self.renewed += 1  # a plan that the cell has looked up before may be shown as it was
        self._contents().mkdir()
        number = 0
        for root, paths in zip(self._roots, lacking):
            asked = {path for path in paths if isinstance(path, str)} if isinstance(paths, list) else set()
            for row in _rows(root) if asked else ():
                path = row["path"].encode("latin-1")
                if row["path"] not in asked or row["kind"] != "file" or path in root.shown:
                    continue
                number += 1
                if _bring_one(root, path, self._contents() / str(number)):
                    root.brought[path] = number
                else:  # somebody has removed it since
                    del root.base[path]
        self._write_plan()
        return True

    def _here(self) -> Optional[str]:
        """Where the code begins: in the current directory, if that is in one of the directories, or holds one, so that paths that are
        relative to it lead there."""
        here = os.getcwd()
        for root in self._roots:
            if here == root.path or here.startswith(root.path.rstrip("/") + "/") and root.place != "/tmp":
                return root.place + here[len(root.path):]
        if here != "/" and any(root.place == root.path and root.path.startswith(f"{here}/") for root in self._roots):
            return here
        return None

    def options(self) -> Dict[str, Any]:
        """Arguments of hotcell.run: the directories."""
        if not self._roots:
            return {}
        dirs = [{"host": str(Path(self._staging.path, "plan")), "place": f"{SHELF}/plan"}]
        for number, root in enumerate(self._roots):
            dirs.append({"host": str(root.source), "place": f"{SHELF}/{number}"})
            if root.place != "/tmp":
                dirs.append({"host": str(root.source), "place": root.place, "mode": "scratch"})
        return {"dirs": dirs}

    def holds(self, path: str) -> bool:
        """Whether the code finds what is at a path of the caller's in the cell, or makes it there: it is to be changed there then."""
        real = os.path.realpath(path)
        for root in sorted(self._roots, key=lambda root: -len(root.path)):
            if f"{real}/".startswith(f"{root.path}/") and root.place == root.path:
                below = os.fsencode(real[len(root.path) + 1:])
                top = below.partition(b"/")[0]
                if root.path == "/tmp":
                    return top in root.base or not top.startswith(b".") and not os.path.lexists(b"/tmp/" + top)
                return below not in root.shown
        return False

    def limits(self) -> Dict[str, Any]:
        """Members of a policy's "limits" for the copies."""
        if not self._roots:
            return {}
        entries = sum(len(root.base) for root in self._roots)
        return {"tmp": sum(root.copied for root in self._roots) + 4096 * entries + ROOM, "tmp_files": min(entries + 4096, 1000000)}

    def places(self) -> List[str]:
        """Where code may write in the cell."""
        return [root.place for root in self._roots]

    def prelude(self) -> str:
        """Code of the policy, which fills the directories and sees to the report; in a session it makes the functions that do."""
        return (LIVE_PRELUDE if self._live else PRELUDE) + self._home() if self._roots else ""

    def _home(self) -> str:
        """Code by which ~ is the caller's home in the cell, if that is one of the directories or has one of them."""
        home = os.path.expanduser("~")
        real = os.path.realpath(home)
        inside = any(root.place == root.path and (root.path == real or root.path.startswith(f"{real}/")) for root in self._roots)
        return f"__import__('os').environ['HOME'] = {home!r}\n" if inside and home.startswith("/") and real != "/" else ""

    # ---- after it ----

    def apply(self, output: Optional[Path], most: int) -> Optional[str]:
        """Make the code's changes. `output` is the job's output directory, `most` the bytes that a file could have in the cell.
        Returns why nothing was told, None if all is well. DestsError: they cannot be made."""
        if not self._roots:
            return None
        if output is None:
            return UNTOLD
        try:
            report = _read(output, FILES[0])
            data = os.open(output / FILES[1], os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return UNTOLD
        try:
            if isinstance(report.get("error"), str):
                raise DestsError(errno.EIO, f"the changes of files could not be carried out of the cell: {report['error']}")
            listed = report.get("places")
            if not isinstance(listed, list) or len(listed) != len(self._roots):
                raise _bad("places")
            contents = _Contents(data, os.fstat(data).st_size, most)
            told = [_Told(root, rows, contents, self._roots) for root, rows in zip(self._roots, listed)]
            for one in told:
                one.check_links(told)
            for one in told:
                one.apply()
        finally:
            os.close(data)
        return None


PRELUDE = f'''
def hotcell_dests():
    import json
    with open("{SHELF}/plan/code.py") as file:
        code = compile(file.read(), "<hotcell>", "exec", dont_inherit=True)
    space = {{"__name__": "hotcell_dests"}}
    exec(code, space)
    def plan(name):
        with open(f"{SHELF}/plan/{{name}}.json") as file:
            return json.load(file)
    report = space["Report"](plan("plan"), "/output")
    return lambda number, contents: report.begin(plan(f"plan-{{number}}"), contents), report.write
'''
LIVE_PRELUDE = PRELUDE + "hotcell_dests_begin, hotcell_dests_end = hotcell_dests()\ndel hotcell_dests\n"
PRELUDE += "__import__('atexit').register(hotcell_dests()[1])\ndel hotcell_dests\n"


def _paths(ok_dests: Optional[Sequence[str]]) -> List[str]:
    """The real paths of the destinations, none in another, except below /tmp. None stands for the current directory and /tmp,
    as far as a cell can have them."""
    wanted = [".", "/tmp"] if ok_dests is None else ok_dests
    found = [_real_path(os.path.expanduser(dest)) for dest in wanted]
    if ok_dests is None:
        found = [path for path in found if _can_be_given(path)]
    found = [path for path in dict.fromkeys(found) if not os.path.lexists(path) or os.path.isdir(path)]
    return [path for path in found if not any(path.startswith(other.rstrip("/") + "/") and other != "/tmp" for other in found)]


def _real_path(dest: str) -> str:
    """The path without links, as os.path.realpath has it. DestsError: another user's link is on the way, who can lead it anywhere."""
    at, rest, links = "/", os.path.join(os.getcwd(), dest).split("/"), 0
    while rest:
        name = rest.pop(0)
        if name in ("", "."):
            continue
        below = os.path.dirname(at) if name == ".." else os.path.join(at, name)
        target = _target_of(below, dest)
        if target is None:
            at = below
            continue
        links += 1
        if links > MOST_LINKS:
            raise DestsError(errno.ELOOP, os.strerror(errno.ELOOP), dest)
        at, rest = "/" if target.startswith("/") else at, target.split("/") + rest
    return at


def _target_of(path: str, dest: str) -> Optional[str]:
    """The target of a symbolic link; None: the path is no link, or cannot be looked at."""
    try:
        fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)  # nobody can exchange it after its owner was looked at
    except OSError:
        return None
    try:
        state = os.fstat(fd)
        if not stat.S_ISLNK(state.st_mode):
            return None
        if state.st_uid not in (0, os.geteuid()):
            raise DestsError(errno.EPERM, f"'{os.path.basename(path)}' is a symbolic link of another user (uid {state.st_uid}), who can lead "
                             "it anywhere: give the path without links", dest)
        return os.readlink("", dir_fd=fd)
    finally:
        os.close(fd)


def _can_be_given(path: str) -> bool:
    """Whether a cell can have the directory, see hotcell(1)."""
    state = os.environ.get("HOTCELL_STATE") or os.path.expanduser("~/.local/share/hotcell")
    kept = ("/proc", "/sys", "/dev", "/run/hotcell", "/etc/hotcell", HIDDEN_STATE, os.path.realpath(state))
    around = any(f"{one}/".startswith(f"{path}/") or f"{path}/".startswith(f"{one}/") for one in kept)
    return path == "/tmp" or path != "/" and not around and os.access(path, os.W_OK | os.X_OK)


def _open(path: str) -> int:
    try:
        return changes.open_root(path)
    except OSError as error:
        raise DestsError(error.errno, error.strerror, path) from error


def _make(path: str) -> None:
    try:
        os.close(changes.open_root(path, make=True))
    except OSError as error:
        raise DestsError(error.errno, error.strerror, path) from error


def _finish(root: _Root) -> None:
    try:
        with changes.locked(root.fd):
            changes.finish(root.fd)
    except OSError as error:
        raise DestsError(error.errno, error.strerror, root.path) from error


def _scan(root: _Root) -> Dict[bytes, Entry]:
    try:
        return changes.scan(root.fd)
    except OSError as error:
        raise DestsError(error.errno, f"{root.path}: {error.strerror}") from error


def _shut(root: _Root) -> None:
    """As root: what an ordinary user who owns the directory could not look into is closed to the code, too."""
    owner = os.fstat(root.fd).st_uid
    for path in [path for path, entry in root.base.items() if entry.kind == "dir" and not _is_open(entry, owner, 5)]:
        if path in root.base:
            root.base[path] = root.base[path]._replace(kind="closed")
            for below in [below for below in root.base if below.startswith(path + b"/")]:
                del root.base[below]


def _is_open(entry: Entry, owner: int, rights: int) -> bool:
    return entry.mode & rights == rights or entry.uid == owner and entry.mode >> 6 & rights == rights


def _rows(root: _Root) -> List[Dict[str, Any]]:
    """What a session's cell is to have at a place. Of files that nobody may read for the code it has the names."""
    owner, rows = os.fstat(root.fd).st_uid, []
    for path in sorted(root.base, key=lambda path: path.split(b"/")):
        entry = root.base[path]
        kind = "dir" if entry.is_dir else entry.kind
        if kind == "file" and not _is_open(entry, owner, 4):
            kind = "other"
        rows.append({"path": changes.text_of(path), "number": root.brought.get(path, 0), "kind": kind, "mode": entry.mode & 0o777, "size": entry.size,
                     "mtime": entry.mtime, "target": changes.text_of(entry.target)})
    return rows


def _bring_one(root: _Root, path: bytes, target: Path) -> bool:
    """Copy a file's content for the cell. False: it has gone, or something else has its name."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError), changes.parent(root.fd, path) as (folder, name):
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return False
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with open(fd, "rb") as file, open(target, "xb") as copy:
            shutil.copyfileobj(file, copy)
        return True
    return False


def _choose(root: _Root, room: int) -> int:
    """Choose the files that are copied, the small ones first; returns their bytes."""
    sizes = sorted((entry.size, path) for path, entry in root.base.items() if entry.kind == "file")
    for size, path in sizes:
        if root.copied + size > room:
            root.shown.add(path)
        else:
            root.copied += size
    return root.copied


def _farm_entry(folder: int, farm: int, name: bytes, left: List[int]) -> Dict[bytes, Entry]:
    """Give an entry of the caller's another name in `farm`. Returns the entries, none if it is too much or not the caller's."""
    entry = changes.look(folder, name)
    if entry is None or entry.uid != os.geteuid() or entry.kind not in ("file", "symlink") or left[0] < 1 or entry.size > left[1]:
        return {}
    left[0] -= 1
    left[1] -= entry.size
    try:
        if entry.kind == "symlink":
            os.symlink(entry.target, name, dir_fd=farm)
        else:
            os.link(name, name, src_dir_fd=folder, dst_dir_fd=farm, follow_symlinks=False)
    except OSError:
        return {}
    return {name: entry}


def _links(base: Mapping[bytes, Entry]) -> Dict[str, str]:
    """Paths of files that have another path in the same directory, each with the first of these."""
    first: Dict[Tuple[int, int], bytes] = {}
    links = {}
    for path in sorted(base, key=lambda path: path.split(b"/")):
        entry = base[path]
        if not entry.is_dir:
            before = first.setdefault((entry.dev, entry.ino), path)
            if before != path:
                links[changes.text_of(path)] = changes.text_of(before)
    return links


def _texts(paths: Iterable[bytes]) -> List[str]:
    return [changes.text_of(path) for path in paths]


def _umask() -> int:
    """This process's umask, which cannot be asked for without being set otherwise."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o022


# ---- what the cell tells ----

def _read(output: Optional[Path], name: str) -> Dict[str, Any]:
    """A report. OSError: there is none."""
    if output is None:
        raise FileNotFoundError(name)
    fd = os.open(output / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        content = file.read(MOST_REPORTED + 1)
    try:
        report = json.loads(content) if len(content) <= MOST_REPORTED else None
    except (ValueError, RecursionError):
        report = None
    if not isinstance(report, dict):
        raise _bad("it is no report")
    return report


def _bad(what: str) -> DestsError:
    return DestsError(errno.EPROTO, f"what the cell tells of changed files is malformed: {what}")


@dataclass
class _Contents:
    """The file of contents. No byte of it is read twice, so that what is written is no more than what the cell has written."""

    fd: int
    size: int
    most: int    # bytes that a file could have in the cell
    at: int = 0  # up to where it was told of

    def take(self, start: int, length: int) -> bool:
        """Note that a part of a file comes from there; false: it is before that of an earlier one, or not there."""
        if start < self.at or start + length > self.size:
            return False
        self.at = start + length
        return True


class _Told:
    """What a cell tells of one place, checked: nothing in it is believed. DestsError."""

    def __init__(self, root: _Root, rows: Any, contents: _Contents, roots: Sequence[_Root]) -> None:
        self._root, self._contents, self._roots = root, contents, roots
        self._base = root.base
        self._most = max([contents.most, *(entry.size for entry in root.base.values() if entry.kind == "file")])
        self._rows: Dict[bytes, Dict[str, Any]] = {}
        self._changes = Changes({}, [], [], [], [], [])
        self._waiting: Set[bytes] = set()  # paths that get something that is made ready
        self._targets: Dict[bytes, bytes] = {}  # path that will be a symbolic link -> its target
        self._new_links: List[bytes] = []  # those of them that are not as they were
        if not isinstance(rows, list) or len(rows) > changes.MOST_ENTRIES:
            raise _bad("entries")
        for row in rows:
            self._take(row)
        self._take_away()

    def _refuse(self, path: bytes, why: str, number: int = errno.EPERM) -> DestsError:
        return DestsError(number, f"{why}: no change of files in this directory is made", os.path.join(self._root.path, os.fsdecode(path)))

    # ---- one entry ----

    def _take(self, row: Any) -> None:
        if not isinstance(row, dict):
            raise _bad("an entry")
        path = self._path(row.get("path"))
        kind, mode = row.get("kind"), _number(row.get("mode"), 0o7777) & 0o777
        above = path.rpartition(b"/")[0]
        if path in self._rows or above and self._rows.get(above, {}).get("kind") != "dir":
            raise _bad("the order of entries")
        old = self._base.get(above)
        if old is not None and old.kind == "closed":
            raise self._refuse(path, "files cannot be put into a directory that the cell was not shown")
        take = {"dir": self._take_directory, "kept": self._take_kept, "moved": self._take_moved, "link": self._take_link,
                "file": self._take_file, "symlink": self._take_symlink}.get(kind if isinstance(kind, str) else "")
        if take is None:
            raise self._refuse(path, "only files, directories and links can come out of a cell")
        self._rows[path] = row
        take(path, row, mode)

    def _path(self, text: Any) -> bytes:
        try:
            path: bytes = text.encode("latin-1")
        except (AttributeError, UnicodeEncodeError):
            raise _bad("a path") from None
        if not changes.is_path(path):
            raise _bad("a path")
        if changes.is_hidden(path) or path.partition(b"/")[0] in self._root.skipped:
            raise self._refuse(path, "the name is taken")
        return path

    def _old(self, text: Any) -> Tuple[bytes, Entry]:
        path = self._path(text)
        entry = self._base.get(path)
        if entry is None or entry.is_dir:
            raise _bad("an earlier path")
        return path, entry

    def _take_directory(self, path: bytes, row: Mapping[str, Any], mode: int) -> None:
        old = self._base.get(path)
        if old is None or not old.is_dir:
            self._changes.directories.append((path, mode))
            self._changes.expected[path] = old
        elif old.kind == "dir" and old.mode & 0o777 != mode:
            self._changes.modes.append((path, mode))
            self._changes.expected[path] = old

    def _take_kept(self, path: bytes, row: Mapping[str, Any], mode: int) -> None:
        _, old = self._old(row["path"])
        if old.kind == "symlink":
            self._targets[path] = old.target
        self._keep_mode(path, path, old, mode)

    def _keep_mode(self, path: bytes, source: bytes, old: Entry, mode: int) -> None:
        """Note a new mode of something that keeps its content. What the cell had no copy of has no mode there."""
        if old.kind == "file" and source not in self._root.shown and mode != old.mode & 0o777 and mode != 0:
            self._changes.modes.append((path, mode))
            self._changes.expected.setdefault(path, self._base.get(path))

    def _take_moved(self, path: bytes, row: Mapping[str, Any], mode: int) -> None:
        source, old = self._old(row.get("old"))
        if old.kind == "symlink":
            self._take_target(path, old.target)
        self._changes.expected[source] = old
        self._make_ready(Ready(path, source=source))
        self._keep_mode(path, source, old, mode)

    def _take_link(self, path: bytes, row: Mapping[str, Any], mode: int) -> None:
        to = self._path(row.get("to"))
        if self._rows.get(to, {}).get("kind") in (None, "dir") or to == path:
            raise _bad("a link")
        if to in self._targets:
            self._take_target(path, self._targets[to])
        self._make_ready(Ready(path, same_as=to) if to in self._waiting else Ready(path, source=to))
        self._changes.expected.setdefault(to, self._base.get(to))

    def _take_file(self, path: bytes, row: Mapping[str, Any], mode: int) -> None:
        size, mtime = _number(row.get("size"), self._most), _number(row.get("mtime"), 1 << 62)
        parts = self._parts(row.get("parts"), size)
        old = self._base.get(path)
        if row.get("within") is True and old is not None and old.kind == "file" and old.uid != os.geteuid():
            self._check_writable(path)

        def write(fd: int) -> None:
            for at, length, start in parts:
                _copy(self._contents.fd, start, fd, at, length)
            os.ftruncate(fd, size)
        self._make_ready(Ready(path, content=write, mode=mode, mtime=mtime))

    def _parts(self, parts: Any, size: int) -> List[Tuple[int, int, int]]:
        """The parts of a file that are no holes. They begin and end with pages, so that they take no more room than their bytes."""
        if not isinstance(parts, list):
            raise _bad("the parts of a file")
        checked, end = [], 0
        for part in parts:
            if not isinstance(part, list) or len(part) != 3:
                raise _bad("the parts of a file")
            at, length, start = (_number(one, 1 << 62) for one in part)
            whole = at % PAGE == 0 and ((at + length) % PAGE == 0 or at + length == size)
            if at < end or at + length > size or not whole or not self._contents.take(start, length):
                raise _bad("the parts of a file")
            checked.append((at, length, start))
            end = at + length
        return checked

    def _check_writable(self, path: bytes) -> None:
        """As open() does outside: a file of another user that the caller may not write is not replaced either. The modes of
        the caller's own have counted in the cell."""
        where = os.path.join(os.fsencode(f"/proc/self/fd/{self._root.fd}"), path)
        if not os.access(where, os.W_OK, effective_ids=True):
            raise self._refuse(path, "the file may not be written", errno.EACCES)

    def _take_symlink(self, path: bytes, row: Mapping[str, Any], mode: int) -> None:
        try:
            target: bytes = row["target"].encode("latin-1")
        except (AttributeError, KeyError, UnicodeEncodeError):
            raise _bad("a symbolic link") from None
        if not 0 < len(target) < 4096 or b"\0" in target:
            raise _bad("a symbolic link")
        self._take_target(path, target)
        self._make_ready(Ready(path, target=target))

    def _take_target(self, path: bytes, target: bytes) -> None:
        """Note that the path will be a symbolic link, a new one or one from another path: it may lead elsewhere from there."""
        old = self._base.get(path)
        if not (old is not None and old.kind == "symlink" and old.target == target):
            self._new_links.append(path)
            if not self._leads_inside(path, target):
                raise self._leads_out(path)
        self._targets[path] = target

    def _leads_out(self, path: bytes) -> DestsError:
        return self._refuse(path, "the symbolic link leads out of the directories that may be changed")

    def _leads_inside(self, path: bytes, target: bytes) -> bool:
        parts = [part for part in target.split(b"/") if part not in (b"", b".")]
        first = next((i for i, part in enumerate(parts) if part != b".."), len(parts))
        if b".." in parts[first:]:  # behind a link it would lead elsewhere
            return False
        start = b"/" if target.startswith(b"/") else os.path.join(os.fsencode(self._root.place), os.path.dirname(path))
        end = os.path.normpath(os.path.join(start, target))
        own = [os.fsencode(root.place) for root in self._roots if root.place == root.path or root is self._root]
        return any(end == place or end.startswith(place + b"/") for place in own)

    def check_links(self, told: Sequence["_Told"]) -> None:
        """Whether each new symbolic link leads inside by way of other links, too: the caller's own may lead out."""
        links = {os.path.join(one._place, path): target for one in told for path, target in one._links()}
        for path in self._new_links:
            at = os.path.join(self._place, path)
            for _ in range(MOST_LINKS):  # one that needs more leads nowhere
                found = next((before for before in _paths_to(at) if before in links), None)
                if found is None:
                    break
                target, rest = links[found], at[len(found):]
                at = os.path.normpath(os.path.join(os.path.dirname(found), target) + rest)
                if b"/../" in target.lstrip(b"./") + b"/" or not any(f"{os.fsdecode(at)}/".startswith(f"{one._root.place}/") for one in told):
                    raise self._leads_out(path)

    @property
    def _place(self) -> bytes:
        return os.fsencode(self._root.place)

    def _links(self) -> Iterable[Tuple[bytes, bytes]]:
        """The symbolic links that there were, and those that there will be."""
        before = {path: entry.target for path, entry in self._base.items() if entry.kind == "symlink"}
        return {**before, **self._targets}.items()

    def _make_ready(self, ready: Ready) -> None:
        self._waiting.add(ready.path)
        self._changes.ready.append(ready)
        self._changes.expected[ready.path] = self._base.get(ready.path)

    # ---- all of them ----

    def _take_away(self) -> None:
        for path in sorted(self._base, key=lambda path: path.split(b"/"), reverse=True):
            entry, row = self._base[path], self._rows.get(path)
            if row is not None and entry.is_dir == (row["kind"] == "dir"):
                continue
            if entry.kind == "closed":
                raise self._refuse(path, "a directory that the cell was not shown cannot be removed or renamed")
            self._changes.away.append(path)
            self._changes.expected[path] = entry

    def apply(self) -> None:
        """Make the changes. DestsError: no change was made."""
        root = self._root
        if not self._changes:
            return
        if root.fd < 0:
            root.fd = changes.open_root(root.path, make=True)
        try:
            with changes.locked(root.fd):
                self._check_now()
                changes.make(root.fd, self._changes)
        except DestsError:
            raise
        except OSError as error:
            raise DestsError(error.errno, f"{error.strerror}: no change of files in this directory is made",
                             os.path.join(root.path, os.fsdecode(error.filename or b""))) from error

    def _check_now(self) -> None:
        """Whether everything that changes is as it was when the run began, and may be changed."""
        folders = set()
        for path, entry in self._changes.expected.items():
            folders.add(path.rpartition(b"/")[0])
            now = changes.look(self._root.fd, path)
            if now is not None and now.kind == "dir" and entry is not None and entry.kind == "closed":
                now = entry
            if now != entry:
                raise self._refuse(path, "it was changed outside while the code ran" if entry else "it is there already", errno.EEXIST)
        for path in self._changes.away:
            if self._base[path].kind == "dir":
                self._check_children(path)
        for folder in sorted(folders):
            self._check_folder(folder)

    def _check_children(self, path: bytes) -> None:
        with os.scandir(os.path.join(os.fsencode(f"/proc/self/fd/{self._root.fd}"), path)) as entries:
            for entry in entries:
                if path + b"/" + entry.name not in self._base:
                    raise self._refuse(path, "something was put into it while the code ran", errno.ENOTEMPTY)

    def _check_folder(self, folder: bytes) -> None:
        old = self._base.get(folder)
        if folder and (old is None or old.kind != "dir"):
            return  # the directory is made
        if old is not None and old.uid == os.geteuid():
            if old.mode & 0o300 != 0o300:  # the code has opened it for a time, as the caller could
                self._changes.opened.append((folder, dict(self._changes.modes).get(folder, old.mode & 0o777)))
                self._changes.expected.setdefault(folder, old)
            return
        where = os.path.join(os.fsencode(f"/proc/self/fd/{self._root.fd}"), folder)
        if not os.access(where, os.W_OK | os.X_OK, effective_ids=True):
            raise self._refuse(folder, "the directory may not be written", errno.EACCES)


def _paths_to(path: bytes) -> Iterator[bytes]:
    """The paths on the way to a path, from the top, and the path itself."""
    for number, byte in enumerate(path):
        if byte == ord("/") and number:
            yield path[:number]
    yield path


def _number(value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise _bad("a number")
    return value


def _copy(old: int, start: int, new: int, at: int, length: int) -> None:
    while length > 0:
        piece = os.pread(old, min(length, 1 << 20), start)
        if not piece:
            raise DestsError(errno.EIO, "the content of a file is incomplete")
        os.pwrite(new, piece, at)
        start, at, length = start + len(piece), at + len(piece), length - len(piece)
