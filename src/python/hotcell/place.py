"""Writes a job's files into its output directory. Their names come from a cell, through a daemon, so that directories
are opened one after the other, by descriptors and without following links."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Iterator, Optional

from .errors import InputError, TamperedError
from .results import File, unescape
from .staging import path_of

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def write(directory: Path, name: bytes, content: bytes, mode: int = 0o666) -> None:
    """Write a file below `directory`, which is made if needed. TamperedError: `name` leads out of it; InputError: the file
    cannot be written, for instance because a directory on the way is a link."""
    *folders, last = name.split(b"/")
    if any(part in (b"", b".", b"..") for part in (*folders, last)):
        raise TamperedError(f"{os.fsdecode(name)}: not below the output directory")
    try:
        with _enter(directory, folders) as folder:
            _replace(folder, last, content, mode)
    except OSError as error:
        raise InputError(f"{directory}/{os.fsdecode(name)}: {error.strerror}") from error


@contextlib.contextmanager
def _enter(directory: Path, folders: "list[bytes]") -> Iterator[int]:
    """The descriptor of a folder below `directory`; folders are made if needed."""
    directory.mkdir(parents=True, exist_ok=True)
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=fd)
            below = os.open(part, DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def _replace(folder: int, name: bytes, content: bytes, mode: int) -> None:
    """Write a file under a temporary name, and rename it when it is complete."""
    temporary = f".hotcell-{os.getpid()}-{os.urandom(6).hex()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    try:
        with open(fd, "wb") as file:
            file.write(content)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def make_ready(output_dir: Optional["os.PathLike[str] | str"]) -> None:
    """Make the output directory if the caller names one. InputError, before the job runs, if files cannot be written
    there."""
    if output_dir is None:
        return
    directory = Path(path_of(output_dir, "output_dir"))
    try:
        with contextlib.suppress(FileExistsError):
            directory.mkdir(parents=True)
        os.close(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except OSError as error:
        raise InputError(f"output directory {directory}: {error.strerror}") from error
    if not os.access(directory, os.W_OK | os.X_OK):
        raise InputError(f"output directory {directory}: not writable")


def keep(directory: Path, file: File, content: bytes) -> None:
    """Write a file that a manifest lists. TamperedError: its size or hash is not what the manifest says."""
    if len(content) != file.bytes or hashlib.sha256(content).hexdigest() != file.sha256:
        raise TamperedError(f"{file.path}: the content is not what the manifest says")
    write(directory, raw_name(file), content)


def raw_name(file: File) -> bytes:
    """The file's path below the output directory, as bytes for the file system."""
    return unescape(file.path) if file.escaped else os.fsencode(file.path)
