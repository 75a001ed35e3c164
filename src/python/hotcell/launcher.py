"""Start the hotcell command, and never leave it running.

The command line is a list, never a shell's; what may be long or private goes in on standard input. Whatever
ends the waiting (an exception, a cancelled task, ctrl-C), the command gets SIGTERM, on which it kills the cell and
removes what it made, and is waited for. If this process is killed, the command sees that, and does the same.
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

if TYPE_CHECKING:  # what takes long to import is imported by those who use it
    import asyncio

PATIENCE = 10.0  # seconds that a command has to end after SIGTERM, before SIGKILL, on which its cell dies too

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Completed:
    """A command that has ended. A negative `status` is the signal that ended it."""

    status: int
    stdout: bytes
    stderr: bytes

    @property
    def message(self) -> str:
        """What it said of itself, without its name in front."""
        lines = [line for line in self.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        return "\n".join(line[len("hotcell: "):] if line.startswith("hotcell: ") else line for line in lines)


def find_binary(binary: Optional[PathLike] = None) -> str:
    """The hotcell command: `binary`, else $HOTCELL, else on PATH, else in the build directory beside this source.

    Raises NotInstalled if there is none, or if the one that was named is not a program.
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
    """Its command line and what it inherits, so that it ends when this process does: whichever thread starts it, and
    whatever children this process has forked."""
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


def run_command(command: List[str], stdin: bytes = b"", fds: Sequence[int] = (), outlive: bool = False) -> Completed:
    """Run `hotcell run` or `hotcell check` to its end. It inherits the descriptors `fds`, and may outlive this process."""
    with _tied(command, outlive) as (tied, more):
        try:
            process = subprocess.Popen(tied, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       pass_fds=(*fds, *more))
        except OSError as error:
            raise NotInstalled(f"{command[0]}: {error.strerror}") from error
        with process:
            try:
                stdout, stderr = process.communicate(stdin)
            except BaseException:
                _end(process)
                raise
    return Completed(process.returncode, stdout, stderr)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.communicate(timeout=PATIENCE)  # reads on: a command that cannot write could not end
    except BaseException:
        process.kill()
        raise


async def arun_command(command: List[str], stdin: bytes = b"", fds: Sequence[int] = (), outlive: bool = False) -> Completed:
    """The same without holding up the event loop."""
    import asyncio
    with _tied(command, outlive) as (tied, more):
        try:
            process = await asyncio.create_subprocess_exec(
                *tied, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=(*fds, *more))
        except OSError as error:
            raise NotInstalled(f"{command[0]}: {error.strerror}") from error
        try:
            stdout, stderr = await process.communicate(stdin)
        except BaseException:
            await _aend(process)
            raise
    assert process.returncode is not None
    return Completed(process.returncode, stdout, stderr)


async def _aend(process: "asyncio.subprocess.Process") -> None:
    import asyncio
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.communicate(), PATIENCE)
    except BaseException:  # also a second cancellation, which must not leave it running either
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
