"""Starts the hotcell command, and never leaves it running.

The command line is a list, without a shell; texts that may be long or private go to standard input. If an exception, a
cancelled task or ctrl-C ends the wait, the command gets SIGTERM, on which it kills the cell and removes its temporary
files, and its end is awaited. If this process is killed, the command notices, and does the same.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, List, Optional, Sequence, Tuple, Union

from .errors import NotInstalled
from .staging import path_of

if TYPE_CHECKING:  # asyncio takes long to import: the functions that use it import it
    import asyncio

    from .listening import Live

PATIENCE = 10.0  # seconds from SIGTERM to SIGKILL, on which the command's cell dies too

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Completed:
    """A command that has ended. A negative `status` is the signal that ended it."""

    status: int
    stdout: bytes
    stderr: bytes

    @property
    def message(self) -> str:
        """Standard error as text, without "hotcell: " in front of the lines."""
        lines = [line for line in self.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        return "\n".join(line[len("hotcell: "):] if line.startswith("hotcell: ") else line for line in lines)


def find_binary(binary: Optional[PathLike] = None) -> str:
    """The path of the hotcell command: `binary`, else $HOTCELL, else on PATH, else in the build directory of this source.

    Raises NotInstalled if there is no command, or if `binary` or $HOTCELL is not a program.
    """
    for named, whence in ((binary, "binary"), (os.environ.get("HOTCELL"), "$HOTCELL")):
        if named:
            path = path_of(named, whence)
            found = shutil.which(path)
            if not found:
                raise NotInstalled(f"{path} ({whence}) is not a program that can be started")
            return found
    built = Path(__file__).resolve().parents[3] / "build" / "hotcell"
    found = shutil.which("hotcell") or shutil.which(str(built))
    if not found:
        raise NotInstalled("no hotcell command: install it, or name it with binary= or $HOTCELL")
    return found


@contextlib.contextmanager
def _tied(command: List[str], outlive: bool) -> Iterator[Tuple[List[str], Tuple[int, ...]]]:
    """The command line, and the descriptors to inherit, of a command that ends when this process ends, whichever thread
    starts it and whatever children this process has forked. With `outlive`: the plain command line."""
    if outlive:
        yield command, ()
        return
    try:
        fds = [os.pidfd_open(os.getpid())]
    except (AttributeError, OSError):  # not in this Python, or not in this kernel or container
        fds = list(os.pipe())
    try:
        yield [*command[:2], "--caller-fd", str(fds[0]), *command[2:]], (fds[0],)
    finally:
        for fd in fds:
            os.close(fd)


def run_command(command: List[str], stdin: bytes = b"", fds: Sequence[int] = (), outlive: bool = False,
                live: Optional["Live"] = None) -> Completed:
    """Run a hotcell command and wait for its end. It inherits the descriptors `fds`; with `outlive` it goes on if this
    process is killed; `live` tells what its program prints meanwhile. NotInstalled: it cannot be started."""
    with _tied(command, outlive) as (tied, more):
        try:
            process = subprocess.Popen([*tied[:2], *live.options, *tied[2:]] if live else tied, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       pass_fds=(*fds, *more, *(live.fds if live else ())))
        except OSError as error:
            raise NotInstalled(f"{command[0]}: {error.strerror}") from error
        with process:
            try:
                if live:
                    live.begun()
                stdout, stderr = live.follow(process, stdin) if live else process.communicate(stdin)
            except BaseException:
                if live:
                    live.close()
                _end(process)
                raise
    return Completed(process.returncode, stdout, stderr)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.communicate(timeout=PATIENCE)  # keeps reading: a command blocked in a write could not end
    except BaseException:
        process.kill()
        raise


async def arun_command(command: List[str], stdin: bytes = b"", fds: Sequence[int] = (), outlive: bool = False,
                       live: Optional["Live"] = None) -> Completed:
    """As run_command, for an event loop."""
    import asyncio
    with _tied(command, outlive) as (tied, more):
        try:
            process = await asyncio.create_subprocess_exec(
                *tied[:2], *(live.options if live else ()), *tied[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, pass_fds=(*fds, *more, *(live.fds if live else ())))
        except OSError as error:
            raise NotInstalled(f"{command[0]}: {error.strerror}") from error
        try:
            stdout, stderr = await (_afollow(process, stdin, live) if live else process.communicate(stdin))
        except BaseException:
            if live:
                live.close()
            await _aend(process)
            raise
    assert process.returncode is not None
    return Completed(process.returncode, stdout, stderr)


async def _afollow(process: "asyncio.subprocess.Process", stdin: bytes, live: "Live") -> Tuple[bytes, bytes]:
    """As process.communicate, and tell what the program prints meanwhile."""
    import asyncio
    live.begun()
    tasks = [asyncio.ensure_future(process.communicate(stdin)), asyncio.ensure_future(live.afollow())]
    try:
        output, _ = await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)  # two readers of one pipe would be an error
        raise
    return output  # type: ignore[no-any-return]


async def _aend(process: "asyncio.subprocess.Process") -> None:
    import asyncio
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.communicate(), PATIENCE)
    except BaseException:  # a second cancellation, too, must not leave the command running
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
