"""HotcellBackend: the sandbox of an agent of deepagents, which finds, reads and edits files by commands.

    backend = HotcellBackend()
    agent = create_deep_agent(model=model, backend=backend)

The interface is that of deepagents' BaseSandbox: execute, upload_files, download_files and id; the rest is the framework's.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Tuple

from . import frameworks
from .sandbox import Sandbox, shell

PROTOCOL = "deepagents.backends.protocol"
OUTPUT = 1 << 20  # bytes of a command's output that are returned


@dataclass
class _ExecuteResponse:
    """How a command ended, where deepagents is not installed."""

    output: str
    exit_code: Optional[int] = None
    truncated: bool = False


@dataclass
class _FileUploadResponse:
    path: str
    error: Optional[str] = None


@dataclass
class _FileDownloadResponse:
    path: str
    content: Optional[bytes] = None
    error: Optional[str] = None


ExecuteResponse = frameworks.named(PROTOCOL, "ExecuteResponse", _ExecuteResponse)
FileUploadResponse = frameworks.named(PROTOCOL, "FileUploadResponse", _FileUploadResponse)
FileDownloadResponse = frameworks.named(PROTOCOL, "FileDownloadResponse", _FileDownloadResponse)

# The framework's words for errors of files.
ERRORS = {errno.ENOENT: "file_not_found", errno.EISDIR: "is_directory", errno.ENOTDIR: "invalid_path", errno.EINVAL: "invalid_path"}


class HotcellBackend(frameworks.base("deepagents.backends.sandbox", "BaseSandbox")):  # type: ignore[misc]
    """A sandbox for one agent. Takes the arguments of Sandbox; `timeout` is the seconds of a command that names none.

    output_bytes  bytes of a command's output that are returned; the rest is cut, and `truncated` says so
    """

    def __init__(self, *, output_bytes: int = OUTPUT, timeout: float = 1800, **options: Any) -> None:
        super().__init__()
        self._output_bytes = output_bytes
        self.sandbox = Sandbox(timeout=timeout, **options)

    @property
    def id(self) -> str:
        """The session's id."""
        return self.sandbox.id

    def execute(self, command: str, *, timeout: Optional[int] = None) -> Any:
        """Execute a command in a shell. Both streams are the output; a command whose time is up says so in its last line. A
        timeout of 0 or None is that of the backend."""
        done = self.sandbox.exec(shell(command), timeout=timeout or None, bound=self._output_bytes)
        return ExecuteResponse(output=(done.stdout + done.stderr).decode(errors="replace"), exit_code=done.status,
                               truncated=done.truncated)

    def upload_files(self, files: Sequence[Tuple[str, bytes]]) -> List[Any]:
        """Put files in. A file that cannot be written has an error in its response, and the others are written all the same."""
        return [FileUploadResponse(path=path, error=_attempt(path, lambda: self.sandbox.write(path, content))[1])
                for path, content in files]

    def download_files(self, paths: Sequence[str]) -> List[Any]:
        """Read files. A file that cannot be read has an error in its response."""
        found = ((path, _attempt(path, lambda: self.sandbox.read(path))) for path in paths)
        return [FileDownloadResponse(path=path, content=content, error=error) for path, (content, error) in found]

    def close(self) -> None:
        """End the session; its files go."""
        self.sandbox.close()


def _attempt(path: str, work: Callable[[], Any]) -> Tuple[Any, Optional[str]]:
    """What the work returns, and the framework's word for an error."""
    if not path.startswith("/") or "\0" in path:
        return None, "invalid_path"
    try:
        return work(), None
    except OSError as error:
        return None, ERRORS.get(error.errno or 0, "permission_denied")
