"""Directories for results that the caller gave no directory for."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, List, Optional, Tuple

from .errors import InputError


class Temporary:
    """A temporary directory, which is removed when nothing refers to this object any more, at the end of the process, or by
    close(). `parent` is the one that it is made in, which stays as long. InputError: it cannot be made."""

    def __init__(self, parent: Optional["Temporary"] = None) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix="hotcell-", dir=parent.path if parent else None))
        except OSError as error:
            raise InputError(f"no temporary directory for results can be made ({error.strerror or error}): give output_dir") from error
        self._parent = parent
        self._remove = weakref.finalize(self, _remove, self.path, os.getpid())

    def close(self) -> None:
        """Remove the directory now."""
        self._remove()

    def __reduce__(self) -> Tuple[Any, ...]:
        return (_Borrowed, (self.path,))


class _Borrowed(Temporary):  # pylint: disable=too-few-public-methods
    """The same directory in a copy, or in another process; the original removes it."""

    def __init__(self, path: Path) -> None:  # pylint: disable=super-init-not-called
        self.path = path

    def close(self) -> None:
        pass


def _remove(path: Path, pid: int) -> None:
    if os.getpid() != pid:  # a forked process has a copy of the object
        return
    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        with contextlib.suppress(OSError):
            _remove_stubborn(path)


def _remove_stubborn(path: Path) -> None:
    """Remove a directory in which a program may have made directories without rights for its owner, or nested ones very deeply.
    Every directory is moved to the top before it is removed, so that there is never a long path or many open files."""
    top = _usable(path)
    names = os.urandom(8).hex()
    moved, before = 0, -1
    try:
        while moved != before:
            before = moved
            for outer in _entries(top):
                with contextlib.suppress(OSError):
                    inner = _usable(outer, top)
                    try:
                        for name in _entries(inner):
                            os.close(_usable(name, inner))
                            os.rename(name, f"{names}-{moved}", src_dir_fd=inner, dst_dir_fd=top)
                            moved += 1
                    finally:
                        os.close(inner)
                    os.rmdir(outer, dir_fd=top)
    finally:
        os.close(top)
    os.rmdir(path)


def _entries(directory: int) -> List[str]:
    """Names of the directories in a directory; all else in it is removed."""
    with os.scandir(directory) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_directory in found:
        if not is_directory:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=directory)
    return [name for name, is_directory in found if is_directory]


def _usable(path: "os.PathLike[str] | str", directory: Optional[int] = None) -> int:
    """Open a directory, no link to one, and give its owner all rights to it. OSError."""
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    place = os.open(path, flags | os.O_PATH, dir_fd=directory)  # needs no rights
    try:
        with contextlib.suppress(OSError):
            os.chmod(f"/proc/self/fd/{place}", 0o700)
        return os.open(".", flags | os.O_RDONLY, dir_fd=place)
    finally:
        os.close(place)
