"""AsyncSandbox: a Sandbox for an event loop."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Callable, List, Optional, Sequence

from ..errors import UsageError
from ..listening import aside
from ..turns import Turn
from .sandbox import Outcome, Sandbox

KILL_AFTER = 10.0  # seconds after which a cancelled command that does not end is killed, and the session with it


class AsyncSandbox:
    """As Sandbox, for an event loop: `await open()`, then the same methods as coroutines. Cancelling a task ends its command;
    the session goes on, unless the command ignores that."""

    def __init__(self, **options: Any) -> None:
        self._options, self._turn = options, Turn()
        self._sandbox: Optional[Sandbox] = None

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox, once it is open. UsageError before that."""
        if self._sandbox is None:
            raise UsageError("the sandbox has not begun: await open()", 64)
        return self._sandbox

    async def open(self) -> "AsyncSandbox":
        """Begin the session. Raises as Sandbox does."""
        begun: List[Sandbox] = []
        try:
            await aside(lambda _: begun.append(Sandbox(**self._options)), None, lambda _: None)
        except BaseException:  # the task was cancelled: the session may have begun all the same
            for sandbox in begun:
                sandbox.close()
            raise
        self._sandbox = begun[0]
        return self

    async def do(self, work: Callable[[Sandbox], Any]) -> Any:
        """Call `work` with the sandbox in a thread, when it is its turn, and return the result. A cancellation ends the command
        first; some frameworks cancel a task again and again until it has ended."""
        async with self._turn.ataken():
            session = self.sandbox.session
            task = asyncio.ensure_future(aside(lambda _: work(self.sandbox), None, lambda _: None))
            try:
                return await asyncio.shield(task)
            except asyncio.CancelledError:
                session.interrupt()
                late = asyncio.get_running_loop().call_later(KILL_AFTER, session._kill)
                while not task.done():
                    with contextlib.suppress(asyncio.CancelledError):
                        await asyncio.wait([task])
                late.cancel()
                with contextlib.suppress(Exception):
                    task.result()
                raise

    async def exec(self, argv: Sequence[str], **options: Any) -> Outcome:
        """As Sandbox.exec."""
        outcome: Outcome = await self.do(lambda sandbox: sandbox.exec(argv, **options))
        return outcome

    async def close(self) -> None:
        """As Sandbox.close."""
        if self._sandbox is not None:
            await self.do(lambda sandbox: sandbox.close())
