"""Directories for results that the caller gave no directory for."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Optional, Tuple

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
    if os.getpid() == pid:  # a forked process has a copy of the object
        shutil.rmtree(path, ignore_errors=True)
