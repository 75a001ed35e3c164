"""The working directory of a caller's code: a copy of it in the cell, and the changes of that copy in the caller's directory.

Every name is looked up in a directory that is open already, and no link is followed: nothing outside of the directory changes,
whoever else moves things about in it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import logging
import os
import secrets
import shutil
import stat
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional

from ..results import Result
from . import changes as writer

logger = logging.getLogger("hotcell.adapters.workdir")


WAYS = ("cow", "ro", None)  # modes in which a program can have the directory, the best first; None: not at all


def options_for(directory: Path, mode: Optional[str] = "cow") -> Dict[str, Any]:
    """Arguments of run that give a program the directory at the directory's own path, as a copy ("cow") or to read it alone ("ro"),
    and begin the program there; none if there is no mode."""
    return {"dirs": [{"host": str(directory), "mode": mode}], "workdir": str(directory)} if mode else {}


def refuses_directory(message: str) -> bool:
    """Whether a job was refused because no cell can have the directory: its place is the cell's own, or it is too large."""
    return message.startswith("directory")


def apply_changes(result: Result, output: Path, directory: Path) -> None:
    """Do to the directory what the program did to its copy. What cannot be done is logged, and the rest is done."""
    for given in result.manifest.get("dirs") or ():
        changes = given.get("changes") or {}
        for left in (changes.get("skipped") or {}).get("entries", ()):
            logger.warning("%s was not kept: %s", left["path"], left["reason"])
        entries = [entry for entry in _entries(changes, output) if not entry.get("escaped")]
        if entries:
            with _opened(directory) as root:
                _remove(entries, root)
                _add(entries, output / changes["directory"], root)


def keep_file(source: Path, directory: Path, path: str) -> None:
    """Move a file into the directory; `path` is the file's new one, relative to the directory. A failure is logged."""
    try:
        with _opened(directory) as root:
            names = _checked(path).split(b"/")
            for depth in range(1, len(names)):
                with writer.parent(root, b"/".join(names[:depth])) as (folder, name), contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
            with writer.parent(root, _checked(path)) as (folder, name):
                move_file(source, folder, name)
    except OSError as error:
        logger.warning("%s was not kept: %s", path, error)


@contextlib.contextmanager
def _opened(directory: Path) -> Iterator[int]:
    """The directory, open. The path to it is the caller's own."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def _checked(path: str) -> bytes:
    """A path below the directory, as bytes. PermissionError: it is none."""
    return writer.checked(os.fsencode(path), path)


def _entries(changes: Mapping[str, Any], output: Path) -> List[Dict[str, Any]]:
    """All changes: those in the manifest, or, if these are not all, those of the list beside it, whose hash the manifest has."""
    if not changes.get("more"):
        return list(changes.get("entries") or ())
    content = (output / (changes["directory"] + ".json")).read_bytes()
    if hashlib.sha256(content).hexdigest() != changes["list_sha256"]:
        raise OSError("the list of changes is another one than the manifest's")
    return list(json.loads(content)["entries"])


def _kind(entry: Mapping[str, Any], when: str) -> str:
    return str((entry.get(when) or {}).get("kind", ""))


def _remove(entries: Iterable[Mapping[str, Any]], root: int) -> None:
    """Remove what the program has removed, and what is of another kind now; what is in a directory goes before it."""
    gone = [entry for entry in entries if _kind(entry, "was") and _kind(entry, "was") != _kind(entry, "now")]
    for entry in sorted(gone, key=lambda entry: str(entry["path"]), reverse=True):
        try:
            with writer.parent(root, _checked(entry["path"])) as (folder, name):
                (os.rmdir if _kind(entry, "was") == "directory" else os.unlink)(name, dir_fd=folder)
        except OSError as error:
            logger.warning("%s was not removed: %s", entry["path"], error)


def _add(entries: Iterable[Mapping[str, Any]], source: Path, root: int) -> None:
    """Make what is new, in order, so that a directory comes before what is in it; modes of directories come last."""
    there = [entry for entry in sorted(entries, key=lambda entry: str(entry["path"])) if _kind(entry, "now")]
    made: Dict[str, List[int]] = {}
    for entry in there:
        try:
            with writer.parent(root, _checked(entry["path"])) as (folder, name):
                _add_one(entry, source / entry["path"], folder, name, made)
        except OSError as error:
            logger.warning("%s was not kept: %s", entry["path"], error)
    for entry in reversed(there):
        if _kind(entry, "now") == "directory":
            try:
                with writer.parent(root, _checked(entry["path"])) as (folder, name):
                    _set_mode(entry, folder, name, made)
            except OSError as error:
                logger.warning("the mode of %s was not kept: %s", entry["path"], error)


def _add_one(entry: Mapping[str, Any], source: Path, folder: int, name: bytes, made: Dict[str, List[int]]) -> None:
    """`made` gets the device and inode of a directory that is made."""
    kind, same = _kind(entry, "now"), entry["change"] == "mode"
    if kind == "directory":
        with contextlib.suppress(FileExistsError):  # or of another kind: then what is in it is not kept
            os.mkdir(name, 0o700, dir_fd=folder)
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
            made[entry["path"]] = [state.st_dev, state.st_ino]
    elif kind == "file" and not same:
        source.chmod(int(entry["now"]["mode"], 8) & 0o777)
        move_file(source, folder, name)
    elif kind == "file":
        _set_mode(entry, folder, name, made)
    else:
        raise OSError("links that a program has moved are not kept")


def _set_mode(entry: Mapping[str, Any], folder: int, name: bytes, made: Mapping[str, List[int]]) -> None:
    """Set the mode of a directory that was made, or of what has the kind and mode that it had: another user, who can write to the
    directory, may have given something of the caller's this name."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        state = os.fstat(fd)
        is_kind = (stat.S_ISDIR if _kind(entry, "now") == "directory" else stat.S_ISREG)(state.st_mode)
        known = made.get(entry["path"])
        was = (entry.get("was") or {}).get("mode")
        same = [state.st_dev, state.st_ino] == known if known else was is not None and int(was, 8) & 0o777 == state.st_mode & 0o777
        if not is_kind or not same:
            raise PermissionError(errno.EPERM, "something else is there", entry["path"])
        os.chmod(f"/proc/self/fd/{fd}", int(entry["now"]["mode"], 8) & 0o777)
    finally:
        os.close(fd)


def move_file(source: Path, folder: int, name: bytes) -> None:
    """Move a file into an open directory, also to another file system; a file of that name is replaced at once."""
    try:
        os.replace(source, name, dst_dir_fd=folder)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    new = f".hotcell-{secrets.token_hex(16)}"
    with open(writer.create(folder, new), "wb") as file:
        try:
            with open(source, "rb") as old:
                shutil.copyfileobj(old, file)
                file.flush()
                os.fchmod(file.fileno(), stat.S_IMODE(os.fstat(old.fileno()).st_mode))
            os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            os.unlink(new, dir_fd=folder)
            raise
