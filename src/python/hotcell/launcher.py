"""Start the hotcell command, and never leave it running.

The command line is a list, never a shell's; what may be long or private goes in on standard input. Whatever
ends the waiting (an exception, a cancelled task, ctrl-C), the command gets SIGTERM, on which it kills the cell and
removes what it made, and is waited for.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional, Sequence, Union

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


def run_command(command: List[str], stdin: bytes = b"", fds: Sequence[int] = ()) -> Completed:
    """Run a command to its end. It inherits the descriptors `fds`."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   pass_fds=fds)
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


async def arun_command(command: List[str], stdin: bytes = b"", fds: Sequence[int] = ()) -> Completed:
    """Run a command to its end without holding up the event loop."""
    import asyncio
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=fds)
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
