"""HotcellCodeExecutor: a code executor of AutoGen, for blocks in Python and for a shell.

    async with HotcellCodeExecutor(timeout=60) as executor:
        agent = CodeExecutorAgent("executor", code_executor=executor)

The interface is that of autogen_core's CodeExecutor. Blocks share one session: variables of Python stay from block to block, and
both kinds find the same files.
"""

from __future__ import annotations

import asyncio
from typing import Any, Optional, Sequence, Tuple

from . import frameworks
from .code_session import failure
from .sandbox import Sandbox, shell
from .sandbox_async import AsyncSandbox

CORE = "autogen_core.code_executor"
PYTHON, SHELL = ("python", "py", "python3"), ("sh", "bash", "shell")


class _CodeResult:
    """How blocks ended, where AutoGen is not installed."""

    def __init__(self, exit_code: int, output: str) -> None:
        self.exit_code, self.output = exit_code, output


CodeResult = frameworks.named(CORE, "CodeResult", _CodeResult)


class HotcellCodeExecutor(frameworks.base(CORE, "CodeExecutor")):  # type: ignore[misc]
    """Executes code blocks. `timeout` is the seconds of one block; other arguments are those of Sandbox."""

    def __init__(self, *, timeout: float = 60, **options: Any) -> None:
        self._timeout = timeout
        self._options = options
        self._sandbox: Optional[AsyncSandbox] = None

    async def start(self) -> None:
        """Begin the session. Raises as Sandbox does."""
        if self._sandbox is None:
            self._sandbox = await AsyncSandbox(**self._options).open()

    async def stop(self) -> None:
        """End the session; its files go."""
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            await sandbox.close()

    async def restart(self) -> None:
        """Begin anew, with no variables and no files."""
        await self.stop()
        await self.start()

    async def __aenter__(self) -> "HotcellCodeExecutor":
        await self.start()
        return self

    async def __aexit__(self, *why: Any) -> None:
        await self.stop()

    async def execute_code_blocks(self, code_blocks: Sequence[Any], cancellation_token: Any = None) -> Any:
        """Execute the blocks in their order, until one fails: a CodeResult. asyncio.TimeoutError: a block took too long;
        asyncio.CancelledError: the token was cancelled; ValueError: the executor has not been started."""
        if self._sandbox is None:
            raise ValueError("the executor has not been started: await start(), or use it in \"async with\"")
        status, outputs = 0, []
        for block in code_blocks:
            task = asyncio.ensure_future(self._execute(str(block.language).lower(), block.code))
            if cancellation_token is not None:
                cancellation_token.link_future(task)
            status, output = await task
            outputs.append(output)
            if status != 0:
                break
        return CodeResult(exit_code=status, output="".join(outputs))

    async def _execute(self, language: str, code: str) -> Tuple[int, str]:
        assert self._sandbox is not None
        if language in SHELL:
            argv = shell(code) if language != "bash" else ["bash", *shell(code)[1:]]
            done = await self._sandbox.exec(argv, timeout=self._timeout)
            status, output, late = done.status, (done.stdout + done.stderr).decode(errors="replace"), done.timed_out
        elif language in PYTHON:
            status, output, late = await self._sandbox.do(lambda sandbox: self._run(sandbox, code))
        else:
            return 1, f"unknown language {language}: expected one of {', '.join((*PYTHON, *SHELL))}\n"
        if late:
            raise asyncio.TimeoutError(f"the block took longer than {self._timeout} seconds")
        return status, output

    def _run(self, sandbox: Sandbox, code: str) -> Tuple[int, str, bool]:
        """A block of Python: its exit status, its output, and whether its time was up."""
        run = sandbox.session.run(code, timeout=self._timeout)
        output = f"{run.stdout}{run.stderr}"
        why = failure(run)
        return 0 if run.ok else run.exit_code or 1, output if not why or why in output else f"{output}{why}\n", run.status == "timeout"
