"""Calls of `on_event`: what a program prints, and the figures that it makes, while it runs.

The command copies a program's output to pipes (hotcell(1), --live-stdout); Live reads these and makes the events that hotcelld
would send. A listener is a function or a coroutine function; events reach it one after the other.
"""

from __future__ import annotations

import base64
import contextlib
import contextvars
import inspect
import json
import os
import selectors
import subprocess
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Tuple

from .tools import run_to_end

if TYPE_CHECKING:
    import asyncio

BLOCK = 1 << 16  # bytes read at once
STREAMS = ("stdout", "stderr", "figures")

Event = Dict[str, Any]
Listener = Callable[[Event], Any]


def check_listener(listener: object, name: str = "on_event") -> None:
    """TypeError, before anything runs, if an argument that takes a function has none."""
    if listener is not None and not callable(listener):
        raise TypeError(f"{name}: expected a function or a coroutine function, got {type(listener).__name__}")


def tell(listener: Listener, event: Event) -> None:
    """Call a listener, and wait for its end if it is a coroutine function."""
    outcome = listener(event)
    if inspect.isawaitable(outcome):
        run_to_end(outcome)


async def atell(listener: Listener, event: Event) -> None:
    """As tell, in an event loop."""
    outcome = listener(event)
    if inspect.isawaitable(outcome):
        await outcome


class Live:
    """The pipes to which a command copies the output of its program. `options` and `fds` are for the command."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._rest = {stream: b"" for stream in STREAMS}  # the beginning of a character or line whose rest has not come
        self._reading: Dict[str, int] = {}
        self.options: List[str] = []
        self.fds: List[int] = []
        for stream in STREAMS:
            self._reading[stream], writing = os.pipe()
            self.fds.append(writing)
            self.options += [f"--live-{stream}", str(writing)]

    def begun(self) -> None:
        """The command has its own copies of the writing ends: close ours, or their end of file would never come."""
        while self.fds:
            os.close(self.fds.pop())

    def close(self) -> None:
        """A command that still writes learns that nobody reads."""
        self.begun()
        while self._reading:
            os.close(self._reading.popitem()[1])

    def follow(self, process: "subprocess.Popen[bytes]", stdin: bytes) -> Tuple[bytes, bytes]:
        """As process.communicate, and tell the events meanwhile."""
        assert process.stdin and process.stdout and process.stderr
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(stdin)  # the command reads all of it before it writes anything
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdin = None
        own = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
        with selectors.DefaultSelector() as selector:
            for fd in own:
                selector.register(fd, selectors.EVENT_READ)
            for stream, fd in self._reading.items():
                selector.register(fd, selectors.EVENT_READ, stream)
            while selector.get_map():
                for key, _ in selector.select():
                    data = os.read(key.fd, BLOCK)
                    if key.data is None:
                        own[key.fd] += data
                    for event in () if key.data is None else self._events(key.data, data):
                        tell(self._listener, event)
                    if not data:
                        selector.unregister(key.fd)
        stdout, stderr = own.values()
        return bytes(stdout), bytes(stderr)

    async def afollow(self) -> None:
        """Tell the events until the command has ended, in an event loop."""
        import asyncio
        turn = asyncio.Lock()
        tasks = [asyncio.ensure_future(self._afollow_one(stream, turn)) for stream in list(self._reading)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _afollow_one(self, stream: str, turn: "asyncio.Lock") -> None:
        import asyncio
        reader = asyncio.StreamReader()
        pipe = open(self._reading.pop(stream), "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            data = b"begin"
            while data:
                data = await reader.read(BLOCK)
                for event in self._events(stream, data):
                    async with turn:
                        await atell(self._listener, event)
        finally:
            transport.close()

    def _events(self, stream: str, data: bytes) -> Iterator[Event]:
        """The events in the next bytes of a stream; b"" is its end."""
        whole = self._rest[stream] + data
        if stream == "figures":
            *lines, self._rest[stream] = whole.split(b"\n")
            yield from ({"event": "figure", "figure": json.loads(line)} for line in lines)
            return
        begun = _unfinished(whole) if data else 0
        self._rest[stream] = whole[len(whole) - begun:]
        whole = whole[:len(whole) - begun]
        if whole:
            yield {"event": stream, **_text_or_data(whole)}


def _unfinished(data: bytes) -> int:
    """The number of bytes at the end that are the beginning of a character in UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(data) - error.start if error.reason == "unexpected end of data" else 0
    return 0


def _text_or_data(output: bytes) -> Dict[str, str]:
    """Output as an event has it: "text", or base64 as "data" if it is not UTF-8 or has a NUL."""
    with contextlib.suppress(UnicodeDecodeError):
        if b"\0" not in output:
            return {"text": output.decode("utf-8")}
    return {"data": base64.b64encode(output).decode()}


async def aside(work: Callable[[Optional[Listener]], Any], listener: Optional[Listener], stop: Callable[[bool], None]) -> Any:
    """Run `work`, which blocks, in a thread of its own, and return its result. It gets a listener that passes events on to
    `listener` in this event loop.

    If an exception, such as a cancellation, ends the wait, stop(False) is called, and the end of `work` awaited; if a second
    one ends that wait too, stop(True) is called."""
    import asyncio
    loop = asyncio.get_running_loop()
    said: "asyncio.Queue[Tuple[Optional[Event], Any, Optional[BaseException]]]" = asyncio.Queue()

    def say(event: Optional[Event], value: Any = None, error: Optional[BaseException] = None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(said.put_nowait, (event, value, error))

    def run() -> None:
        try:
            say(None, work(None if listener is None else say))
        except BaseException as error:  # is raised in the event loop
            say(None, None, error)

    async def outcome(hear: Optional[Listener]) -> Tuple[Any, Optional[BaseException]]:
        while True:
            event, value, error = await said.get()
            if event is None:
                return value, error
            if hear is not None:
                await atell(hear, event)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), name="hotcell", daemon=True).start()
    try:
        value, error = await outcome(listener)
    except BaseException:
        stop(False)
        try:
            await outcome(None)
        except BaseException:
            stop(True)
            raise
        raise
    if error is not None:
        raise error
    return value
