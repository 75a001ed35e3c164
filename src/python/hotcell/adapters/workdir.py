"""The working directory of a caller's code: a copy of it in the cell, and the changes of that copy in the caller's directory."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping

from ..results import Result

logger = logging.getLogger("hotcell.adapters.workdir")


def options_for(directory: Path) -> Dict[str, Any]:
    """Arguments of run that give a program a copy of the directory at the directory's own path, and begin the program there."""
    return {"dirs": [{"host": str(directory), "mode": "cow"}], "workdir": str(directory)}


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
        _remove(entries, directory)
        if entries:
            _add(entries, output / changes["directory"], directory)


def keep_file(source: Path, directory: Path, path: str) -> None:
    """Move a file into the directory; `path` is the file's new one, relative to the directory. A failure is logged."""
    try:
        target = _inside(directory, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        _move(source, target)
    except OSError as error:
        logger.warning("%s was not kept: %s", path, error)


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


def _remove(entries: Iterable[Mapping[str, Any]], directory: Path) -> None:
    """Remove what the program has removed, and what is of another kind now; what is in a directory goes before it."""
    gone = [entry for entry in entries if _kind(entry, "was") and _kind(entry, "was") != _kind(entry, "now")]
    for entry in sorted(gone, key=lambda entry: str(entry["path"]), reverse=True):
        try:
            target = _inside(directory, entry["path"])
            (os.rmdir if _kind(entry, "was") == "directory" else os.unlink)(target)
        except OSError as error:
            logger.warning("%s was not removed: %s", entry["path"], error)


def _add(entries: Iterable[Mapping[str, Any]], source: Path, directory: Path) -> None:
    """Make what is new, in order, so that a directory comes before what is in it; modes of directories come last."""
    there = [entry for entry in sorted(entries, key=lambda entry: str(entry["path"])) if _kind(entry, "now")]
    for entry in there:
        try:
            _add_one(entry, source / entry["path"], _inside(directory, entry["path"]))
        except OSError as error:
            logger.warning("%s was not kept: %s", entry["path"], error)
    for entry in reversed(there):
        if _kind(entry, "now") == "directory":
            _set_mode(entry, directory)


def _add_one(entry: Mapping[str, Any], source: Path, target: Path) -> None:
    kind, same = _kind(entry, "now"), entry["change"] == "mode"
    if kind == "directory":
        target.mkdir(exist_ok=True)
    elif kind == "file" and not same:
        source.chmod(int(entry["now"]["mode"], 8) & 0o777)
        _move(source, target)
    elif kind == "file":
        os.chmod(target, int(entry["now"]["mode"], 8) & 0o777)
    else:
        raise OSError("links that a program has moved are not kept")


def _set_mode(entry: Mapping[str, Any], directory: Path) -> None:
    try:
        os.chmod(_inside(directory, entry["path"]), int(entry["now"]["mode"], 8) & 0o777)
    except OSError as error:
        logger.warning("the mode of %s was not kept: %s", entry["path"], error)


def _inside(directory: Path, path: str) -> Path:
    """The path below the directory. OSError: a link stands in the place of one of its directories."""
    target = directory / path
    expected = os.path.join(os.path.realpath(directory), os.path.dirname(path)).rstrip("/")
    if os.path.realpath(target.parent) != expected:
        raise OSError("its directory is a link")
    return target


def _move(source: Path, target: Path) -> None:
    """Move a file, also to another file system; a file at the target is replaced at once."""
    try:
        os.replace(source, target)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    handle, name = tempfile.mkstemp(prefix=".hotcell-", dir=target.parent)
    try:
        with open(source, "rb") as old, open(handle, "wb") as new:
            shutil.copyfileobj(old, new)
        shutil.copymode(source, name)
        os.replace(name, target)
    except OSError:
        os.unlink(name)
        raise
