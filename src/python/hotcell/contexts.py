"""Contexts of a session: interpreters side by side in its cell, see hotcell-session(1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Type, Union

from .errors import HotcellError, InputError
from .staging import path_of

if TYPE_CHECKING:
    from .daemon_sessions import AsyncDaemonSession, DaemonSession
    from .launcher import PathLike
    from .session import AsyncSession, Run, Session
    from .staging import Code


def context_spec(name: Optional[str], checkpoint: Optional[str], workdir: Optional["PathLike"]) -> Dict[str, Any]:
    """The request for a new context."""
    for what, text in (("name", name), ("checkpoint", checkpoint)):
        if text is not None and not isinstance(text, str):
            raise InputError(f"{what}: expected a string, got {text!r}")
    spec = {"name": name, "from": checkpoint, "workdir": None if workdir is None else path_of(workdir, "workdir")}
    return {member: value for member, value in spec.items() if value is not None}


def in_context(name: str, context: Optional[str]) -> Dict[str, Any]:
    """The request about a checkpoint, of a context or, for None, of the first."""
    return {"name": name} if context is None else {"name": name, "context": context}


class _Named:
    """What both kinds of contexts have."""

    def __init__(self, record: Dict[str, Any]) -> None:
        self.name: str = record["name"]
        self.workdir: str = record["workdir"]  # the directory of the cell that it began in

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class Context(_Named):
    """An interpreter of a session, from session.context() or session.contexts(): names, modules, the environment and threads are its
    own; files, limits, tools and commands are the session's. One context runs at a time, and the threads of the others stand still.
    In a `with` block it ends with the block. Methods wait for their turn, as those of the session."""

    def __init__(self, session: Union["Session", "DaemonSession"], record: Dict[str, Any]) -> None:
        super().__init__(record)
        self._session = session

    def run(self, code: "Code", **spec: Any) -> "Run":
        """As run() of the session, in this context."""
        return self._session.run(code, context=self.name, **spec)

    def checkpoint(self, name: str) -> None:
        """As checkpoint() of the session, of this context."""
        self._session.checkpoint(name, self.name)

    def rollback(self, name: str) -> None:
        """As rollback() of the session, of this context. The checkpoint may be another context's."""
        self._session.rollback(name, self.name)

    def restart(self) -> None:
        """Begin it anew: the interpreter becomes what it was before the session's first run, in `workdir`. Files stay."""
        self._session._restart_context(self.name)

    def end(self) -> None:
        """End it. The session's first context, "main", ends with the session: InputError."""
        self._session._end_context(self.name)

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *_: Any) -> None:
        try:
            if not self._session.ended:
                self.end()
        except HotcellError:
            if kind is None:  # else what the block raised says more
                raise


class AsyncContext(_Named):
    """As Context, of a session for an event loop."""

    def __init__(self, session: Union["AsyncSession", "AsyncDaemonSession"], record: Dict[str, Any]) -> None:
        super().__init__(record)
        self._session = session

    async def run(self, code: "Code", **spec: Any) -> "Run":
        """As Context.run."""
        return await self._session.run(code, context=self.name, **spec)

    async def checkpoint(self, name: str) -> None:
        """As Context.checkpoint."""
        await self._session.checkpoint(name, self.name)

    async def rollback(self, name: str) -> None:
        """As Context.rollback."""
        await self._session.rollback(name, self.name)

    async def restart(self) -> None:
        """As Context.restart."""
        await self._session._restart_context(self.name)

    async def end(self) -> None:
        """As Context.end."""
        await self._session._end_context(self.name)

    async def __aenter__(self) -> "AsyncContext":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], *_: Any) -> None:
        try:
            if not self._session.ended:
                await self.end()
        except HotcellError:
            if kind is None:
                raise
