"""Commands that go on beside the runs of a session, see hotcell-session(1), COMMANDS BESIDE RUNS."""

from __future__ import annotations

import base64
import signal as signals
from collections import deque
from typing import TYPE_CHECKING, Any, AsyncIterator, Deque, Dict, Iterator, List, Mapping, Optional, Set, Union

from .errors import InputError, without_place
from .listening import aside
from .staging import limits_of, list_of, mapping_of, path_of

if TYPE_CHECKING:
    from .jobs import Amount
    from .launcher import PathLike
    from .session import Session

MOST_WAITING = 8 << 20  # bytes of a command's output that wait to be read
PIECE = 4096  # bytes of output from which on what follows is an event of its own
EVENT = 512  # bytes that an event takes beside its output
SLICE = 0.2  # seconds for which a thread waits before it looks whether its task was cancelled


def signal_name(number: Union[int, str]) -> str:
    """The name of a signal as requests have it, "TERM". InputError: it is none."""
    try:
        name = signals.Signals(number).name if isinstance(number, int) else str(number)
    except ValueError as error:
        raise InputError(f"signal: {error}") from error
    return name[3:] if name.startswith("SIG") else name


def output_of(event: Dict[str, Any]) -> bytes:
    """What an event says that a command has printed."""
    text: Optional[str] = event.get("text")
    return base64.b64decode(event["data"]) if text is None else text.encode("utf-8")


def size_of(event: Dict[str, Any]) -> int:
    """Bytes that an event with output takes."""
    return EVENT + len(event.get("text") or event.get("data") or "")


def joined(one: Dict[str, Any], other: Dict[str, Any]) -> Dict[str, Any]:
    """One event for the output of two."""
    data = output_of(one) + output_of(other)
    rest = {name: value for name, value in one.items() if name not in ("text", "data")}
    try:
        return {**rest, "text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {**rest, "data": base64.b64encode(data).decode()}


def command_spec(command: Any, env: Optional[Mapping[str, str]], workdir: Optional["PathLike"], limits: Optional[Mapping[str, "Amount"]],
                 timeout: Optional["Amount"]) -> Dict[str, Any]:
    """The request that starts a command. InputError for what is no command."""
    rest = {"env": mapping_of(env, "env"), "limits": limits_of(limits, timeout=timeout),
            "workdir": None if workdir is None else path_of(workdir, "workdir")}
    return {"command": list_of(command, "command"), **{name: value for name, value in rest.items() if value}}


class Command:
    """A command of a Session that goes on beside its runs.

        with hotcell.Session(policy="shell") as session:
            server = session.start(["sh", "-c", "while read n; do echo $((n + 1)); done"])
            server.write("41\\n")
            server.read()           # b"42\\n"
            server.close_stdin()
            server.wait()           # 0

    `id` names it in the session, `pid` is its process in the cell, `argv` its arguments. `end` is its last event, once it has
    been read: "process", "status", "reason", "wall", "cpu" and the counts of its output. What it prints waits until it is read;
    beyond 8 MiB it is dropped. Methods may be called from other threads, also while a run goes on. They raise SessionEnded when
    the session ends before they are done, and InputError for what is refused.
    """

    def __init__(self, session: "Session", command_id: str, argv: List[str]) -> None:
        self.id, self.argv, self.pid = command_id, argv, 0
        self.end: Optional[Dict[str, Any]] = None
        self._session = session
        self._events: Deque[Dict[str, Any]] = deque()
        self._waiting = 0  # bytes that events with output take
        self._cut: Set[str] = set()  # streams of which no more is kept
        self._answers: Deque[Dict[str, Any]] = deque()
        self._unread: Dict[str, bytes] = {"stdout": b"", "stderr": b""}

    def __repr__(self) -> str:
        return f"<Command {self.id}: {self.argv!r}{'' if self.end is None else ', ended'}>"

    # ---- what the session's reader calls ----

    def _take(self, event: Dict[str, Any]) -> None:
        if event["event"] in ("started", "done", "error"):
            self._answers.append(event)
        elif event["event"] in self._unread:
            self._take_output(event)
        else:
            self._events.append(event)

    def _take_output(self, event: Dict[str, Any]) -> None:
        """Keep output until it is read. Small pieces become one: a program may write single bytes."""
        stream, last = event["event"], self._events[-1] if self._events else {"event": ""}
        if stream in self._cut:
            return
        joins = last["event"] == stream and size_of(last) < PIECE
        kept = joined(last, event) if joins else event
        waiting = self._waiting + size_of(kept) - (size_of(last) if joins else 0)
        if waiting > MOST_WAITING:
            self._cut.add(stream)
            self._events.append({"event": "cut", "command": self.id, "stream": stream})
            return
        if joins:
            self._events.pop()
        self._events.append(kept)
        self._waiting = waiting

    def _first_event(self) -> Optional[Dict[str, Any]]:
        event = self._events.popleft() if self._events else None
        if event is not None and event["event"] in self._unread:
            self._waiting -= size_of(event)
        return event

    def _answer(self) -> Dict[str, Any]:
        answer = self._session._next(lambda: self._answers.popleft() if self._answers else None)
        if answer["event"] == "error":
            raise InputError(without_place(answer["message"]))
        return answer

    def _request(self, name: str, members: Dict[str, Any]) -> None:
        with self._session._asking:
            self._session._ask({name: {"id": self.id, **members}})
            self._answer()

    def _event(self, timeout: Optional[float]) -> Dict[str, Any]:
        if self.end is not None and not self._events:
            return self.end
        event = self._session._next(self._first_event, timeout)
        if event["event"] == "exited":
            self.end = event
        return event

    # ---- what a caller does ----

    def events(self, timeout: Optional[float] = None) -> Iterator[Dict[str, Any]]:
        """What it prints, as events "stdout", "stderr" and "cut", and "exited" at last. Output that wait() has passed over is
        in read(). TimeoutError: no event has come for so many seconds."""
        while self.end is None:
            yield self._event(timeout)

    def read(self, stream: str = "stdout", timeout: Optional[float] = None) -> bytes:
        """What it has printed since the last call, as soon as there is something; b"" at its end. TimeoutError: nothing has come
        for so many seconds."""
        if stream not in self._unread:
            raise InputError(f"stream: expected 'stdout' or 'stderr', got {stream!r}")
        while not self._unread[stream] and (self.end is None or self._events):
            self._keep(self._event(timeout))
        data, self._unread[stream] = self._unread[stream], b""
        return data

    def _keep(self, event: Dict[str, Any]) -> None:
        if event["event"] in self._unread:
            self._unread[event["event"]] += output_of(event)

    def write(self, data: Union[str, bytes]) -> None:
        """Give it a piece of its standard input. InputError: it has ended, or 64 KiB wait to be read."""
        self._request("command_input", {"text": data} if isinstance(data, str) else {"data": base64.b64encode(data).decode()})

    def close_stdin(self) -> None:
        """End its standard input."""
        self._request("command_input", {"end": True})

    def signal(self, number: Union[int, str]) -> None:
        """Send a signal, such as signal.SIGINT or "INT", to its process group. InputError: it has ended."""
        self._request("command_signal", {"signal": signal_name(number)})

    def kill(self) -> None:
        """Kill all of its processes."""
        self.signal("KILL")

    def wait(self, timeout: Optional[float] = None) -> int:
        """Wait for its end. Returns its exit status, or 128 and the number of the signal that ended it. What it prints until then
        is kept for read(). TimeoutError: it has not ended, and nothing has come of it, for so many seconds."""
        while self.end is None:
            self._keep(self._event(timeout))
        process = self.end["process"]
        return int(process["exit"] if "exit" in process else 128 + process["signal"])


class AsyncCommand:
    """As Command, of an AsyncSession."""

    def __init__(self, command: Command) -> None:
        self._command = command

    @property
    def id(self) -> str:
        """As Command.id."""
        return self._command.id

    @property
    def pid(self) -> int:
        """As Command.pid."""
        return self._command.pid

    @property
    def argv(self) -> List[str]:
        """As Command.argv."""
        return self._command.argv

    @property
    def end(self) -> Optional[Dict[str, Any]]:
        """As Command.end."""
        return self._command.end

    def __repr__(self) -> str:
        return repr(self._command).replace("Command", "AsyncCommand", 1)

    async def events(self) -> AsyncIterator[Dict[str, Any]]:
        """As Command.events."""
        while self._command.end is None:
            yield await patiently(self._command._event)

    async def read(self, stream: str = "stdout") -> bytes:
        """As Command.read."""
        data: bytes = await patiently(lambda timeout: self._command.read(stream, timeout))
        return data

    async def write(self, data: Union[str, bytes]) -> None:
        """As Command.write."""
        await aside(lambda _: self._command.write(data), None, lambda _: None)

    async def close_stdin(self) -> None:
        """As Command.close_stdin."""
        await aside(lambda _: self._command.close_stdin(), None, lambda _: None)

    async def signal(self, number: Union[int, str]) -> None:
        """As Command.signal."""
        await aside(lambda _: self._command.signal(number), None, lambda _: None)

    async def kill(self) -> None:
        """As Command.kill."""
        await self.signal("KILL")

    async def wait(self) -> int:
        """As Command.wait."""
        status: int = await patiently(self._command.wait)
        return status


async def patiently(work: Any) -> Any:
    """The result of work(timeout), which is tried again each time that its time is over, so that the task can be cancelled."""
    while True:
        try:
            return await aside(lambda _: work(SLICE), None, lambda _: None)
        except TimeoutError:
            continue
