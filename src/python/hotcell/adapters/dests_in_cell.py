"""Runs in a cell, before and after a program: its text is in the prelude of RunPython's policies, see dests.

A destination is a directory of the caller's. Its place in the cell is a scratch directory, into which fill() copies what the
caller has: from a directory beside it that is read-only, and shows the caller's own. When the program is over, report() writes
down what there is at each place then: paths, kinds, modes, and the content of what is not as it was. Nobody believes a word of
that report without checking it, as the program could have written it itself.

In a session this happens for each run. Before all runs but the first renew() makes the place as the caller's directory is then: what
is as the caller has it stays, with the files that the program has open. The directory beside it is of no use then, as it is an
overlay, which may show what the caller has changed as it was: the client's plan says what there is, and brings contents that lack.
"""

import contextlib
import io
import json
import os
import stat
import sys

CHUNK = 1 << 20  # bytes that are copied at once


def _text_of(path):
    return path.decode("latin-1")


class Place:
    """One destination in the cell, as it was when the program began."""

    def __init__(self, plan):
        self.root = plan["place"].encode()
        self.source = plan["source"].encode() if plan["source"] else None  # the caller's own; None: nothing is shown of it
        self.original = None  # of a session: path -> what stat said when the place was filled
        self._take_plan(plan)

    def _take_plan(self, plan):
        self.links = {path.encode("latin-1"): first.encode("latin-1") for path, first in plan["links"].items()}
        self.shown = {path.encode("latin-1") for path in plan["shown"]}    # too large to be copied
        self.closed = {path.encode("latin-1") for path in plan["closed"]}  # neither files nor links, or of another file system
        self.skipped = {path.encode("latin-1") for path in plan["skipped"]}
        self.hidden = plan["hidden"].encode("latin-1")  # beginning of names that the program does not see, and may not make
        self.modes = {}
        self.before = {}  # path -> what stat says of it
        self.of_inode = {}  # inode -> the path that it had first

    def fill(self):
        """Copy what the caller has, and note it."""
        if self.source is not None:
            self._fill_directory(b"")
            for path, mode in reversed(list(self.modes.items())):
                os.chmod(self.at(path), mode)
        self._note()

    def _note(self):
        """Note what there is."""
        for path, found, _ in self._walk(b""):
            self.before[path] = found
            self.of_inode.setdefault(found.st_ino, path)
        if self.original is None:
            self.original = self.before

    # ---- before a later run of a session ----

    def renew(self, plan, contents):
        """Make the place as the plan says. `contents`: directory with the contents that the last call has asked for; None: this is the
        first call for a run. Returns the paths of files whose contents lack."""
        self._take_plan(plan)
        mode = stat.S_IMODE(os.lstat(self.root).st_mode)
        if mode & 0o700 != 0o700:
            os.chmod(self.root, mode | 0o700)
        wanted = {row["path"].encode("latin-1"): row for row in plan["entries"]}
        self._remove_others(b"", wanted)
        names, lacking = _names_of(self.links), []
        for path, row in wanted.items():
            if not self._make(path, row, names.get(self.links.get(path, path), 1), contents):
                lacking.append(path)
        for path, mode in reversed(list(self.modes.items())):
            os.chmod(self.at(path), mode)
        self._note()
        return lacking

    def _remove_others(self, path, wanted):
        """Remove what the caller has not, or as another kind of thing."""
        for entry in _entries_of(self.at(path)):
            below = os.path.join(path, entry.name)
            if below in self.skipped or path == b"" and self.root == b"/tmp" and entry.name.startswith(b"."):
                continue
            row = wanted.get(below)
            if row is None or (row["kind"] == "dir") != entry.is_dir(follow_symlinks=False):
                _remove(entry)
            elif row["kind"] == "dir":
                os.chmod(entry.path, 0o700)
                self._remove_others(below, wanted)

    def _make(self, path, row, names, contents):
        """Make one entry. False: its content lacks, or that of the file that it is another name of."""
        target, kind = self.at(path), row["kind"]
        there = os.lstat(target) if os.path.lexists(target) else None
        if kind == "dir":
            self.modes[path] = row["mode"]
            if there is None:
                os.mkdir(target, 0o700)
            return True
        if kind == "other":
            if there is None or (stat.S_IFMT(there.st_mode), stat.S_IMODE(there.st_mode), there.st_size) != (stat.S_IFREG, 0, 0):
                _unlink(target)
                _stand_in(target)
            return True
        if path in self.links:
            first = self.at(self.links[path])
            if os.path.lexists(first) and (there is None or os.lstat(first).st_ino != there.st_ino):
                _unlink(target)
                os.link(first, target, follow_symlinks=False)
            return True
        link = row["target"].encode("latin-1") if kind == "symlink" else os.path.join(self.source, path) if path in self.shown else None
        if link is not None:
            if there is None or not stat.S_ISLNK(there.st_mode) or os.readlink(target) != link:
                _unlink(target)
                os.symlink(link, target)
            return True
        if there is not None and stat.S_ISREG(there.st_mode) and there.st_nlink == names and (
                there.st_size, there.st_mtime_ns, stat.S_IMODE(there.st_mode)) == (row["size"], row["mtime"], row["mode"]):
            return True
        new = contents and row["number"] and f"{contents}/{row['number']}".encode()
        if not new or not os.path.lexists(new):
            return False
        _unlink(target)
        _copy_file(new, target, os.lstat(new))
        os.chmod(target, row["mode"])
        os.utime(target, ns=(row["mtime"], row["mtime"]))
        return True

    def at(self, path):
        """Where a path below this place is in the cell."""
        return os.path.join(self.root, path) if path else self.root

    def _fill_directory(self, path):
        for entry in _entries_of(os.path.join(self.source, path) if path else self.source):
            below = os.path.join(path, entry.name)
            if below not in self.skipped and entry.name != self.hidden and not entry.name.startswith(self.hidden + b"-"):
                self._fill_entry(below, entry)

    def _fill_entry(self, path, entry):
        source, target = entry.path, self.at(path)
        if path in self.closed and not entry.is_dir(follow_symlinks=False):
            _stand_in(target)
        elif path in self.links:
            os.link(self.at(self.links[path]), target, follow_symlinks=False)
        elif entry.is_symlink():
            os.symlink(os.readlink(source), target)
        elif entry.is_dir(follow_symlinks=False):
            os.mkdir(target, 0o700)
            self.modes[path] = stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode) & 0o777
            try:
                if path not in self.closed:
                    self._fill_directory(path)
            except PermissionError:  # nobody but its owner may look into it: nor may the program
                self.closed.add(path)
                self.modes[path] = 0
        elif path in self.shown:
            os.symlink(source, target)
        else:
            _copy_file(source, target, entry.stat(follow_symlinks=False))

    def _walk(self, path):
        """(path, what stat says, depth first in the order of names) of everything at this place."""
        for entry in _entries_of(self.at(path)):
            below = os.path.join(path, entry.name)
            if below in self.skipped or path == b"" and self.root == b"/tmp" and entry.name.startswith(b"."):
                continue
            state = entry.stat(follow_symlinks=False)
            yield below, state, entry
            if entry.is_dir(follow_symlinks=False) and below not in self.closed:
                yield from self._walk(below)

    # ---- after the program ----

    def report(self, data):
        """The entries of this place. Contents go to the file `data`."""
        first, listed = {}, []
        for path, state, entry in self._walk(b""):
            row = {"path": _text_of(path), "mode": stat.S_IMODE(state.st_mode), "mtime": state.st_mtime_ns}
            listed.append(row)
            if entry.is_dir(follow_symlinks=False):
                row["kind"] = "dir"
            elif self._is_same(path, state):
                row["kind"] = "kept"
                first.setdefault(state.st_ino, path)
            elif state.st_ino in first:
                row.update(kind="link", to=_text_of(first[state.st_ino]))
            else:
                first[state.st_ino] = path
                self._describe(row, path, state, entry, data)
        return listed

    def _is_same(self, path, state):
        """Whether the path has the same inode as before, and content that nobody touched."""
        before = self.before.get(path)
        return before is not None and before.st_ino == state.st_ino and self._is_untouched(before, path, state)

    def _is_untouched(self, before, path, state):
        if (before.st_size, before.st_mtime_ns, stat.S_IFMT(before.st_mode)) != (state.st_size, state.st_mtime_ns, stat.S_IFMT(state.st_mode)):
            return False
        mapped = "mmap" in sys.modules  # what is written through a mapping leaves no trace in a file's times here
        if before.st_ctime_ns == state.st_ctime_ns and not mapped or not stat.S_ISREG(state.st_mode) or self.source is None:
            return True
        old = self.of_inode[state.st_ino]
        first = self.original.get(old)
        if first is None or (first.st_ino, first.st_mtime_ns) != (before.st_ino, before.st_mtime_ns):  # the source may be of an earlier time
            return False
        return old in self.closed or _same_content(os.path.join(self.source, old), self.at(path))

    def _describe(self, row, path, state, entry, data):
        old = self.of_inode.get(state.st_ino)
        if old is not None and self._is_untouched(self.before[old], path, state):
            row.update(kind="moved", old=_text_of(old))
        elif entry.is_symlink():
            row.update(kind="symlink", target=_text_of(os.readlink(entry.path)))
        elif entry.is_file(follow_symlinks=False):
            row.update(kind="file", size=state.st_size, parts=_append(data, entry.path), within=old is not None)
        else:
            row["kind"] = "other"


def _entries_of(path):
    """The entries of a directory, in the order of their names. A program may have taken its own right to look into it."""
    with os.scandir(path) if os.access(path, os.R_OK | os.X_OK) else _scan_closed(path) as entries:
        return sorted(entries, key=lambda entry: entry.name)


@contextlib.contextmanager
def _scan_closed(path):
    mode = stat.S_IMODE(os.lstat(path).st_mode)
    os.chmod(path, 0o700)
    try:
        yield os.scandir(path)
    finally:
        os.chmod(path, mode)


def _names_of(links):
    """The numbers of names of files that have several, by the first of these."""
    names = {}
    for first in links.values():
        names[first] = names.get(first, 1) + 1
    return names


def _unlink(path):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _remove(entry):
    """Remove an entry, and what is in it."""
    if not entry.is_dir(follow_symlinks=False):
        os.unlink(entry.path)
        return
    os.chmod(entry.path, 0o700)
    for below in _entries_of(entry.path):
        _remove(below)
    os.rmdir(entry.path)


def _stand_in(path):
    """An empty file that nobody may open, for what cannot be copied: it can be renamed and removed."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0))


def _copy_file(source, target, state):
    try:
        old = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except PermissionError:
        _stand_in(target)
        return
    new = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        for at, length in _extents(old, state.st_size):
            _copy_part(old, new, at, length)
        os.ftruncate(new, state.st_size)
        os.fchmod(new, stat.S_IMODE(state.st_mode) & 0o777)
        os.utime(new, ns=(state.st_atime_ns, state.st_mtime_ns))
    finally:
        os.close(old)
        os.close(new)


def _extents(fd, size):
    """(offset, length) of the parts of a file that are no holes."""
    at = 0
    while at < size:
        try:
            at = os.lseek(fd, at, os.SEEK_DATA)
            end = min(os.lseek(fd, at, os.SEEK_HOLE), size)
        except OSError:  # only a hole is left
            return
        if end <= at:
            return
        yield at, end - at
        at = end


def _copy_part(old, new, at, length):
    while length > 0:
        piece = os.pread(old, min(length, CHUNK), at)
        if not piece:
            return
        os.pwrite(new, piece, at)
        at, length = at + len(piece), length - len(piece)


def _append(data, path):
    """Append a file's content to `data`. Returns its parts: (offset in the file, length, offset in `data`)."""
    parts = []
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except PermissionError:  # the program has taken the right to read from its own file
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        os.chmod(path, 0o600)
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        os.chmod(path, mode)
    try:
        for at, length in _extents(fd, os.fstat(fd).st_size):
            start = data.tell()
            while length > 0:
                piece = os.pread(fd, min(length, CHUNK), at + data.tell() - start)
                if not piece:
                    break
                data.write(piece)
                length -= len(piece)
            parts.append((at, data.tell() - start, start))
    finally:
        os.close(fd)
    return parts


def _same_content(one, other):
    try:
        with open(one, "rb", 0) as a, open(other, "rb", 0) as b:
            while True:
                piece = a.read(CHUNK)
                if piece != b.read(CHUNK):
                    return False
                if not piece:
                    return True
    except OSError:
        return False


def _flush_files():
    """Write out what files that the program's variables hold have not written yet."""
    for thing in list(vars(sys.modules["__main__"]).values()):
        if type(thing) in (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom):
            try:
                thing.flush()
            except (OSError, ValueError):  # the file is closed, or open for reading alone
                pass


class Report:
    """All places, and the two files for what the program has done to them."""

    def __init__(self, plan, directory):
        os.umask(plan["umask"])
        self.places = [Place(one) for one in plan["places"]]
        for place in self.places:
            place.fill()
        self.here = None  # the caller's current directory
        self._go_to(plan["cwd"])
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        self.files = [os.open(f"{directory}/{name}", flags, 0o600) for name in plan["files"]]

    def _go_to(self, here):
        """Go to the caller's current directory, unless the program was sent there before and has gone elsewhere since."""
        try:
            os.getcwd()
            lost = False
        except FileNotFoundError:
            lost = True
        if here and (lost or here != self.here):
            os.chdir(here)
        self.here = here

    def begin(self, plan, contents):
        """Before a later run of a session: make the places as the plan says, and write down which contents lack."""
        os.umask(plan["umask"])
        lacking = [[_text_of(path) for path in place.renew(one, contents)] for place, one in zip(self.places, plan["places"])]
        self._go_to(plan["cwd"])
        for file in self.files:
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
        os.write(self.files[0], json.dumps({"lacking": lacking}).encode())
        os.lseek(self.files[0], 0, os.SEEK_SET)

    def write(self):
        """Write down what has become of all places, or the exception that prevents it."""
        index, data = self.files
        try:
            _flush_files()
            with open(os.dup(data), "wb") as contents:
                listed = [place.report(contents) for place in self.places]
            answer = {"places": listed}
        except BaseException as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        os.ftruncate(index, 0)
        with open(os.dup(index), "wb") as file:
            file.write(json.dumps(answer).encode())
