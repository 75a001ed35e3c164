"""The order of requests to one session: one at a time, and callers from other threads and tasks wait for their turn."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from typing import TYPE_CHECKING, AsyncIterator, Iterator, Optional, Tuple

from .errors import InputError

if TYPE_CHECKING:
    import asyncio

_within: "contextvars.ContextVar[Tuple[int, ...]]" = contextvars.ContextVar("hotcell_within", default=())


class Turn:
    """The turn of a session. A listener or a tool that asks the session whose run has called it would wait for itself:
    InputError."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: Optional["asyncio.AbstractEventLoop"] = None
        self._in_loop: Optional["asyncio.Lock"] = None  # belongs to _loop

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the turn, and hold it for a block."""
        token = self._enter()
        try:
            with self._lock:
                yield
        finally:
            _within.reset(token)

    @contextlib.asynccontextmanager
    async def ataken(self) -> AsyncIterator[None]:
        """As taken, for tasks of an event loop."""
        import asyncio
        loop = asyncio.get_running_loop()
        if self._in_loop is None or self._loop is not loop:
            self._loop, self._in_loop = loop, asyncio.Lock()
        token = self._enter()
        try:
            async with self._in_loop:
                yield
        finally:
            _within.reset(token)

    def _enter(self) -> "contextvars.Token[Tuple[int, ...]]":
        if id(self) in _within.get():
            raise InputError("this run has called the listener or tool, which cannot use the same session before the run ends")
        return _within.set((*_within.get(), id(self)))
