"""HotcellSandboxEnvironment: the sandbox "hotcell" of inspect_ai, one session for each sample.

    Task(dataset, solver, sandbox="hotcell")                    # policy "shell"
    Task(dataset, solver, sandbox=("hotcell", "policy.json"))   # a policy's name or file

The interface is that of inspect_ai's SandboxEnvironment. Commands run as the cell's one user.
"""

from __future__ import annotations

import errno
from typing import Any, Dict, List, Mapping, Optional, Union

from . import frameworks
from .sandbox import Outcome
from .sandbox_async import AsyncSandbox

UTIL = "inspect_ai.util"
MAX_EXEC, MAX_EXEC_STR = 10 << 20, "10 MiB"  # bytes of each stream of a command
MAX_READ, MAX_READ_STR = 100 << 20, "100 MiB"  # bytes of a file
USERS = (None, "guest", "1000")


class _ExecResult:
    """What exec returns where inspect_ai is not installed."""

    def __init__(self, success: bool, returncode: int, stdout: str, stderr: str) -> None:
        self.success, self.returncode, self.stdout, self.stderr = success, returncode, stdout, stderr


class _OutputLimitExceededError(Exception):
    def __init__(self, limit_str: str, truncated_output: Optional[str]) -> None:
        super().__init__(f"the limit of {limit_str} was exceeded")
        self.limit_str, self.truncated_output = limit_str, truncated_output


ExecResult = frameworks.named(UTIL, "ExecResult", _ExecResult)
OutputLimitExceededError = frameworks.named(UTIL, "OutputLimitExceededError", _OutputLimitExceededError)
_Limits = frameworks.named(UTIL, "SandboxEnvironmentLimits", None)


class HotcellSandboxEnvironment(frameworks.base(UTIL, "SandboxEnvironment")):  # type: ignore[misc]
    """A sandbox of one sample. `sandbox` is an AsyncSandbox that is open."""

    def __init__(self, sandbox: AsyncSandbox) -> None:
        super().__init__()
        self.sandbox = sandbox

    @classmethod
    async def sample_init(cls, task_name: str, config: Any, metadata: Mapping[str, str]) -> "Dict[str, HotcellSandboxEnvironment]":
        """Begin the session of a sample. `config`: None, a policy's name or path, or arguments of Sandbox."""
        return {"default": cls(await AsyncSandbox(**_options(config)).open())}

    @classmethod
    async def sample_cleanup(cls, task_name: str, config: Any, environments: "Mapping[str, HotcellSandboxEnvironment]",
                             interrupted: bool) -> None:
        """End the sessions of a sample; their files go."""
        for environment in environments.values():
            await environment.sandbox.close()

    async def exec(self, cmd: List[str], input: Union[None, str, bytes] = None, cwd: Optional[str] = None,
                   env: Optional[Mapping[str, str]] = None, user: Optional[str] = None, timeout: Optional[float] = None,
                   timeout_retry: bool = True, concurrency: bool = True) -> Any:
        """Execute a command. Raises TimeoutError, PermissionError (it may not be executed), UnicodeDecodeError, and
        OutputLimitExceededError. Another user than the cell's own is refused: the result says so."""
        if user not in USERS:
            return ExecResult(False, 126, f"unable to find user {user}: no matching entries in passwd file\n",
                              f"hotcell: user {user!r} is refused: a cell has one user, guest, and no rights of root\n")
        limit = getattr(_Limits, "MAX_EXEC_OUTPUT_SIZE", MAX_EXEC)
        done: Outcome = await self.sandbox.exec(cmd, input=input, cwd=cwd, env=env or None, timeout=timeout, bound=limit)
        if done.timed_out:
            raise TimeoutError(f"{cmd[0]}: the command took longer than {timeout} seconds")
        if done.refused:
            raise PermissionError(done.stderr.decode(errors="replace").strip())
        if done.truncated:
            raise OutputLimitExceededError(getattr(_Limits, "MAX_EXEC_OUTPUT_SIZE_STR", MAX_EXEC_STR),
                                           (done.stdout + done.stderr)[:limit].decode(errors="replace"))
        return ExecResult(done.status == 0, done.status, done.stdout.decode(), done.stderr.decode())

    async def write_file(self, file: str, contents: Union[str, bytes]) -> None:
        """Write a file; missing directories are made. PermissionError, IsADirectoryError."""
        content = contents.encode() if isinstance(contents, str) else bytes(contents)
        await self.sandbox.do(lambda sandbox: sandbox.write(file, content))

    async def read_file(self, file: str, text: bool = True) -> Union[str, bytes]:
        """Read a file. FileNotFoundError, IsADirectoryError, PermissionError, UnicodeDecodeError, OutputLimitExceededError."""
        limit = getattr(_Limits, "MAX_READ_FILE_SIZE", MAX_READ)
        try:
            content: bytes = await self.sandbox.do(lambda sandbox: sandbox.read(file, limit))
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            raise OutputLimitExceededError(getattr(_Limits, "MAX_READ_FILE_SIZE_STR", MAX_READ_STR), None) from error
        return content.decode() if text else content


def _options(config: Any) -> Dict[str, Any]:
    """Arguments of Sandbox from what a task gives as its sandbox's configuration."""
    if config is None:
        return {}
    if isinstance(config, str):
        return {"policy": config}
    return dict(config if isinstance(config, Mapping) else config.model_dump(exclude_none=True))


frameworks.named(UTIL, "sandboxenv", lambda name: lambda kind: kind)(name="hotcell")(HotcellSandboxEnvironment)
