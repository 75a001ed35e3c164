"""Commands that go on beside the runs of a session in a daemon, see hotcelld(8), SESSIONS."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterator, List, Optional, Union

from .commands import output_of, signal_name
from .errors import DaemonLost, InputError
from .turns import Turn
from .wire import Flow, adrive, aresult_of, drive, events, result_of

if TYPE_CHECKING:
    from .daemon_sessions import _SessionFlows


class _CommandFlows:
    """What both kinds of a daemon's commands have in common."""

    def __init__(self, session: "_SessionFlows", info: Dict[str, Any]) -> None:
        self.id: str = info["command_id"]
        self.argv: List[str] = info["command"]
        self.pid: int = info["pid"]
        self.end: Optional[Dict[str, Any]] = None
        self._session = session
        self._unread: Dict[str, bytes] = {"stdout": b"", "stderr": b""}
        self._stream: Any = None  # its events behind those that have been read; a call that is interrupted or cancelled ends it
        self._seen = 0  # events that have been read
        self._turn = Turn()  # of those that read its events

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}: {self.argv!r}{'' if self.end is None else ', ended'}>"

    def _post(self, what: str, body: Dict[str, Any]) -> Flow:
        return (yield from self._session._post(f"commands/{self.id}/{what}", body))

    def _input(self, data: Union[str, bytes]) -> Flow:
        return self._post("input", {"text": data} if isinstance(data, str) else {"data": base64.b64encode(data).decode()})

    def _events(self) -> Flow:
        return events(self._session._place, "GET", f"{self._session._path}/commands/{self.id}/events")

    def _lost(self) -> DaemonLost:
        return DaemonLost(f"{self._session._place.name}: the events of the command {self.id} ended before the command")

    def _take(self, event: Dict[str, Any]) -> Dict[str, Any]:
        self._seen += 1
        if event["event"] == "exited":
            self.end = event
        return event

    def _keep(self, event: Dict[str, Any]) -> None:
        if event["event"] in self._unread:
            self._unread[event["event"]] += output_of(event)

    def _taken(self, stream: str) -> bytes:
        data, self._unread[stream] = self._unread[stream], b""
        return data

    def _lacks(self, stream: str) -> bool:
        """Has nothing come of this stream that was not read, and may something come?"""
        return not self._unread[stream] and self.end is None

    def _checked(self, stream: str) -> str:
        if stream not in self._unread:
            raise InputError(f"stream: expected 'stdout' or 'stderr', got {stream!r}")
        return stream

    def _status(self) -> int:
        process = (self.end or {})["process"]
        return int(process["exit"] if "exit" in process else 128 + process["signal"])


class DaemonCommand(_CommandFlows):
    """A command of a DaemonSession, which works as Command. The daemon keeps 1 MiB of what it prints."""

    def _event(self) -> Dict[str, Any]:
        try:
            if self._stream is None:
                self._stream = drive(self._events())
                for _ in range(self._seen):
                    next(self._stream)
            return self._take(next(self._stream))
        except BaseException as error:
            self._stream = None
            if isinstance(error, StopIteration):
                raise self._lost() from None
            raise

    def events(self) -> Iterator[Dict[str, Any]]:
        """As Command.events, behind what was read already; "started" is the first."""
        while self.end is None:
            with self._turn.taken():
                event = self._event() if self.end is None else None
            if event is not None:
                yield event

    def read(self, stream: str = "stdout") -> bytes:
        """As Command.read."""
        while self._lacks(self._checked(stream)):
            with self._turn.taken():
                if self._lacks(stream):  # another thread may have read it meanwhile
                    self._keep(self._event())
        return self._taken(stream)

    def write(self, data: Union[str, bytes]) -> None:
        """As Command.write."""
        result_of(self._input(data))

    def close_stdin(self) -> None:
        """As Command.close_stdin."""
        result_of(self._post("input", {"end": True}))

    def signal(self, number: Union[int, str]) -> None:
        """As Command.signal."""
        result_of(self._post("signal", {"signal": signal_name(number)}))

    def kill(self) -> None:
        """As Command.kill."""
        self.signal("KILL")

    def wait(self) -> int:
        """As Command.wait."""
        while self.end is None:
            with self._turn.taken():
                if self.end is None:
                    self._keep(self._event())
        return self._status()


class AsyncDaemonCommand(_CommandFlows):
    """As DaemonCommand, for an event loop."""

    async def _event(self) -> Dict[str, Any]:
        try:
            if self._stream is None:
                self._stream = adrive(self._events(), {})
                for _ in range(self._seen):
                    await self._stream.__anext__()
            return self._take(await self._stream.__anext__())
        except BaseException as error:
            self._stream = None
            if isinstance(error, StopAsyncIteration):
                raise self._lost() from None
            raise

    async def events(self) -> AsyncIterator[Dict[str, Any]]:
        """As DaemonCommand.events."""
        while self.end is None:
            async with self._turn.ataken():
                event = await self._event() if self.end is None else None
            if event is not None:
                yield event

    async def read(self, stream: str = "stdout") -> bytes:
        """As DaemonCommand.read."""
        while self._lacks(self._checked(stream)):
            async with self._turn.ataken():
                if self._lacks(stream):  # another task may have read it meanwhile
                    self._keep(await self._event())
        return self._taken(stream)

    async def write(self, data: Union[str, bytes]) -> None:
        """As DaemonCommand.write."""
        await aresult_of(self._input(data))

    async def close_stdin(self) -> None:
        """As DaemonCommand.close_stdin."""
        await aresult_of(self._post("input", {"end": True}))

    async def signal(self, number: Union[int, str]) -> None:
        """As DaemonCommand.signal."""
        await aresult_of(self._post("signal", {"signal": signal_name(number)}))

    async def kill(self) -> None:
        """As DaemonCommand.kill."""
        await self.signal("KILL")

    async def wait(self) -> int:
        """As DaemonCommand.wait."""
        while self.end is None:
            async with self._turn.ataken():
                if self.end is None:
                    self._keep(await self._event())
        return self._status()
