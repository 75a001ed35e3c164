"""HotcellSandbox: a sandbox of Pydantic AI.

    async with HotcellSandbox() as sandbox:
        await agent.run(prompt, sandbox=sandbox)

The interface is that of the protocols SandboxBackend and SandboxFilesystem, which need no class to extend.
"""

from __future__ import annotations

import asyncio
import posixpath
from dataclasses import dataclass
from typing import Any, Callable, List, Mapping, Optional, Sequence, Union

from . import frameworks
from .sandbox import Entry, Sandbox
from .sandbox_async import AsyncSandbox

SANDBOXES = "pydantic_ai.sandboxes"
TimedOut = frameworks.named(SANDBOXES, "SandboxTimeoutError", TimeoutError)
SandboxRef = frameworks.named(SANDBOXES, "SandboxRef", None)


@dataclass(frozen=True)
class CommandResult:
    """How a command ended. `stdout_dropped` and `stderr_dropped` count the characters that were left out."""

    exit_code: int
    stdout: str
    stderr: str
    stdout_dropped: int = 0
    stderr_dropped: int = 0


@dataclass(frozen=True)
class FileEntry:
    """A name in a directory; `size` is None for what is no file."""

    name: str
    path: str
    is_dir: bool = False
    size: Optional[int] = None


class HotcellFilesystem:
    """The files of a sandbox, by absolute paths. Raises as files do: FileNotFoundError and the like."""

    def __init__(self, sandbox: AsyncSandbox) -> None:
        self._sandbox = sandbox

    async def read_bytes(self, path: str) -> bytes:
        """A file's content."""
        content: bytes = await self._sandbox.do(lambda sandbox: sandbox.read(path))
        return content

    async def write_bytes(self, path: str, data: bytes) -> None:
        """Write a file; missing directories are made."""
        await self._sandbox.do(lambda sandbox: sandbox.write(path, data))

    async def read_text(self, path: str, encoding: str = "utf-8") -> str:
        """A file's content as text. UnicodeDecodeError."""
        return (await self.read_bytes(path)).decode(encoding)

    async def write_text(self, path: str, content: str, encoding: str = "utf-8") -> None:
        """Write text; missing directories are made."""
        await self.write_bytes(path, content.encode(encoding))

    async def stat(self, path: str) -> FileEntry:
        """What a name stands for."""
        place = posixpath.normpath(path)
        if place == "/":
            return FileEntry("/", "/", True)
        for entry in await self.list_dir(posixpath.dirname(place)):
            if entry.path == place:
                return entry
        raise FileNotFoundError(2, "No such file or directory", path)

    async def list_dir(self, path: str) -> List[FileEntry]:
        """The entries of a directory."""
        entries: List[Entry] = await self._sandbox.do(lambda sandbox: sandbox.list(path))
        return [FileEntry(entry.name, posixpath.join(path, entry.name), entry.kind == "directory",
                          entry.bytes if entry.kind == "file" else None) for entry in entries]

    async def make_dir(self, path: str) -> None:
        """Make a directory, with its parents."""
        await self._sandbox.do(lambda sandbox: sandbox.make(path))

    async def remove(self, path: str) -> None:
        """Remove a file, or a directory with all that is in it."""
        await self._sandbox.do(lambda sandbox: sandbox.remove(path, recursive=True))

    async def exists(self, path: str) -> bool:
        """Whether there is such a name."""
        try:
            await self.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True


class HotcellSandbox:
    """A sandbox for runs of agents; takes the arguments of Sandbox. It begins with its first use, or with "async with"."""

    provider = "hotcell"

    def __init__(self, **options: Any) -> None:
        self._sandbox = _Lazy(**options)
        self.fs = HotcellFilesystem(self._sandbox)

    @property
    def sandbox_id(self) -> str:
        """The session's id. UsageError before the session has begun."""
        return self._sandbox.sandbox.id

    @property
    def ref(self) -> Any:
        """The framework's reference to this sandbox; None before it has begun."""
        return SandboxRef(sandbox_id=self.sandbox_id) if SandboxRef is not None and self._sandbox.begun else None

    async def run(self, command: Union[str, Sequence[str]], *, shell: bool = False, cwd: Optional[str] = None,
                  env: Optional[Mapping[str, str]] = None, timeout: Optional[float] = None, output_limit: Optional[int] = None) -> CommandResult:
        """Execute a command: a list of arguments, or with shell=True a line for a shell. `output_limit`: characters of both streams
        that are kept, the last ones; at most 10 MiB of each stream, its beginning, are looked at. A timeout raises TimeoutError."""
        if isinstance(command, str) != shell:
            raise TypeError("a command that is a text needs shell=True, and a list of arguments must not have it")
        argv = ["sh", "-c", command] if isinstance(command, str) else list(command)
        done = await self._sandbox.exec(argv, cwd=cwd, env=env, timeout=timeout)
        if done.timed_out:
            raise TimedOut(f"{argv[0]}: the command took longer than {timeout} seconds")
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        over = max(0, len(out) + len(err) - output_limit) if output_limit is not None else 0
        of_out = min(over, len(out))
        return CommandResult(done.status, out[of_out:], err[over - of_out:], done.lost[0] + of_out, done.lost[1] + over - of_out)

    async def start(self, command: Union[str, Sequence[str]], **options: Any) -> Any:
        """Not to be had: NotImplementedError, as commands of a session run one after the other."""
        raise NotImplementedError("commands of a session run one after the other: use run() with timeout=")

    async def working_dir(self) -> str:
        """The directory in which commands begin."""
        home: str = await self._sandbox.do(lambda sandbox: sandbox.home)
        return home

    async def resolve(self, path: str, *, base: Optional[str] = None) -> str:
        """The absolute path of a path that may be relative; it need not exist."""
        return posixpath.normpath(posixpath.join(await self.working_dir(), base or ".", path))

    async def close(self) -> None:
        """End the session; its files go."""
        await self._sandbox.close()

    async def __aenter__(self) -> "HotcellSandbox":
        await self._sandbox.open()
        return self

    async def __aexit__(self, *why: Any) -> None:
        await self.close()


class _Lazy(AsyncSandbox):
    """A sandbox that begins when it is first used."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._opening = asyncio.Lock()

    @property
    def begun(self) -> bool:
        """Whether it has begun."""
        return self._sandbox is not None

    async def do(self, work: Callable[[Sandbox], Any]) -> Any:
        """As AsyncSandbox.do."""
        async with self._opening:
            if not self.begun:
                await self.open()
        return await super().do(work)
