"""HTTP to hotcelld as flows, which do no input or output themselves.

A flow is a generator. It yields operations (Open, Write, Read, Call, Notify, Aside), whose outcomes its driver sends back into it,
and values for the caller. drive() performs the operations by waiting, adrive() in an event loop: so each request is
implemented once for both kinds of callers.
"""

from __future__ import annotations

import functools
import json
import os
import re
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, Generator, Iterator, Mapping, Optional, Set, Union

from .errors import AuthProblem, DaemonLost, DaemonUnavailable, Problem, UsageError, problem
from .listening import Event, Listener, atell, tell
from .staging import path_of
from .tools import Tool, Toolbox, acall_tool, call_tool

if TYPE_CHECKING:
    import asyncio
    import ssl

PATIENCE = 30.0  # seconds to connect, and seconds for which a daemon may read nothing of a request
BLOCK = 1 << 16  # bytes read or sent at once
MAX_HEAD = 1 << 16  # bytes of an answer's head, and of a line between chunks
Flow = Generator[Any, Any, Any]


# ---- the daemon's address ----

@dataclass(frozen=True)
class Place:
    """The address of a daemon: the path of its Unix socket, or host, port and bearer token; behind a server that encrypts
    also the beginning of its routes there (`prefix`) and the file of the authority that vouches for that server."""

    path: Optional[str] = None
    host: str = ""
    port: int = 0
    token: Optional[str] = field(default=None, repr=False)
    prefix: str = ""
    encrypted: bool = False
    ca_file: Optional[str] = None  # None: the authorities that this host trusts
    token_source: str = field(default="", compare=False)  # how the caller gave the token

    @property
    def name(self) -> str:
        """The address as messages write it."""
        return self.path if self.path is not None else f"{'https' if self.encrypted else 'http'}://{self.authority}{self.prefix}"

    @property
    def authority(self) -> str:
        """Host and port as the header Host has them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def context(self) -> "Optional[ssl.SSLContext]":
        """What checks the server and encrypts; None: nothing is encrypted. UsageError: the authority's file is none."""
        return _context(self.ca_file) if self.encrypted else None


@functools.lru_cache(maxsize=16)
def _context(ca_file: Optional[str]) -> "ssl.SSLContext":
    import ssl  # takes long to import
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise UsageError(f"ca_file: {ca_file}: {error.strerror or error}", 64) from error


_URL = re.compile(r"(https?)://(\[[0-9A-Fa-f:.]+\]|[^:/\[\]@?#]+)(?::([0-9]{1,5}))?((?:/[A-Za-z0-9._~-]+)*)/?")
_EXPECTED = "expected a path, http://HOST:PORT or https://HOST:PORT, with /PREFIX behind it or without"


def find_place(socket: Union[str, "os.PathLike[str]", None] = None, token: Optional[str] = None,
               ca_file: Union[str, "os.PathLike[str]", None] = None) -> Optional[Place]:
    """The address `socket`, a path or an URL, else $HOTCELL_SOCKET; None if there is neither. UsageError for a text that is no
    address.

    `token` is for URLs only; None: $HOTCELL_TOKEN. `ca_file` is for https:// only.
    """
    named = path_of(socket, "socket") if socket is not None else os.environ.get("HOTCELL_SOCKET", "")
    if not named:
        return None
    if "://" not in named:
        if re.fullmatch(r"[^/]+:[0-9]{1,5}", named) and not os.path.exists(named):
            raise UsageError(f"{_EXPECTED}, got {named!r}: did you mean http://{named}?", 64)
        return Place(path=named)
    match = _URL.fullmatch(named)
    encrypted = named.startswith("https:")
    port = int(match[3] or (443 if encrypted else 0)) if match else 0
    if not match or not 0 < port < 65536 or "/.." in match[4]:
        raise UsageError(f"{_EXPECTED}, got {named!r}", 64)
    source = "token=..." if token else "$HOTCELL_TOKEN" if os.environ.get("HOTCELL_TOKEN") else ""
    return Place(host=match[2].strip("[]"), port=port, token=token or os.environ.get("HOTCELL_TOKEN"), token_source=source, prefix=match[4],
                 encrypted=encrypted, ca_file=path_of(ca_file, "ca_file") if ca_file is not None else None)


# ---- operations ----

@dataclass
class Open:
    """Connect to `place`; the outcome is the connection."""

    place: Place


@dataclass
class Write:
    """Send all of `data`. The outcome is False if the daemon has closed its end."""

    connection: Any
    data: bytes


@dataclass
class Read:
    """Receive; the outcome is the next bytes, b"" at the end of the connection."""

    connection: Any


@dataclass
class Call:
    """Call a tool of the caller; the outcome is its answer. It blocks a waiting driver, but not an event loop."""

    tool: Tool
    arguments: Dict[str, Any]
    tools: Toolbox


@dataclass
class Notify:
    """Call a listener of the caller, a function or a coroutine function, with an event."""

    listener: Listener
    event: Event


@dataclass
class Aside:
    """Run a flow beside this one in an event loop, or at once without one. If it fails, so does this one."""

    flow: Flow


OPERATIONS = (Open, Write, Read, Call, Notify, Aside)


def perform(operation: Any) -> Any:
    """Perform an operation by waiting; returns its outcome."""
    if isinstance(operation, Open):
        return Connection(operation.place)
    if isinstance(operation, Call):
        return call_tool(operation.tool, operation.arguments, operation.tools)
    if isinstance(operation, Notify):
        return tell(operation.listener, operation.event)
    if isinstance(operation, Aside):
        return result_of(operation.flow)
    return operation.connection.perform(operation)


async def aperform(operation: Any) -> Any:
    """Perform an operation in an event loop; returns its outcome."""
    if isinstance(operation, Open):
        return await AsyncConnection.open(operation.place)
    if isinstance(operation, Call):
        return await acall_tool(operation.tool, operation.arguments, operation.tools)
    if isinstance(operation, Notify):
        return await atell(operation.listener, operation.event)
    return await operation.connection.perform(operation)


def _is_of_tls(error: Exception) -> bool:
    return any(kind.__name__ == "SSLError" for kind in type(error).__mro__)  # without loading the module, which takes long


def unavailable(place: Place, error: Exception) -> DaemonUnavailable:
    """The exception for a failed connection, with advice."""
    why = getattr(error, "verify_message", None) or getattr(error, "strerror", None) or str(error) or "it does not answer"
    advice = "start hotcelld(8), or say where it is"
    if hasattr(error, "verify_message"):  # ssl.SSLCertVerificationError
        why = f"its certificate is not trusted: {why}"
        given = f"that is not so in the file of ca_file, {place.ca_file}" if place.ca_file else "no ca_file was given"
        advice = f"ca_file, or SSL_CERT_FILE, has to name who vouches for this server; {given}"
    elif _is_of_tls(error) or place.encrypted and (isinstance(error, TimeoutError) or not str(error)):
        why = "it does not encrypt, or not as this client does" if _is_of_tls(error) else "it does not answer as a server that encrypts"
        advice = f"without encryption its address is http://{place.authority}{place.prefix}"
    elif isinstance(error, PermissionError):
        advice = "socket.mode and socket.group of hotcelld.conf(5) say who may"
    return DaemonUnavailable(f"connect to hotcelld at {place.name}: {why}: {advice}")


class Connection:
    """A connection that blocks its thread. DaemonUnavailable if it cannot be made within `patience` seconds."""

    def __init__(self, place: Place, patience: float = PATIENCE) -> None:
        try:
            if place.path is not None:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.settimeout(patience)
                self.socket.connect(place.path)
            else:
                context = place.context()
                self.socket = socket.create_connection((place.host, place.port), patience)
                if context is not None:
                    self.socket = context.wrap_socket(self.socket, server_hostname=place.host)
        except OSError as error:
            if hasattr(self, "socket"):
                self.socket.close()
            raise unavailable(place, error) from error

    def perform(self, operation: Union[Write, Read]) -> Any:
        """Perform an operation; returns its outcome. DaemonLost: the connection broke."""
        if isinstance(operation, Write):
            return self._write(memoryview(operation.data))
        self.socket.settimeout(None)
        try:
            return self.socket.recv(BLOCK)
        except OSError as error:
            raise DaemonLost(f"read the answer: {error.strerror}") from error

    def _write(self, rest: memoryview) -> bool:
        """Send in pieces, as the timeout is for each piece, and not for the whole request."""
        self.socket.settimeout(PATIENCE)
        try:
            while rest:
                rest = rest[self.socket.send(rest[:BLOCK]):]
        except (BrokenPipeError, ConnectionResetError):
            return False  # the daemon's answer may say why
        except OSError as error:
            raise DaemonLost(f"send the request: {error.strerror or error}") from error
        return True

    def close(self) -> None:
        """The other side hears the end."""
        self.socket.close()


class AsyncConnection:
    """A connection for an event loop."""

    def __init__(self, reader: "asyncio.StreamReader", writer: "asyncio.StreamWriter") -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, place: Place) -> "AsyncConnection":
        """Connect. DaemonUnavailable: no daemon answers."""
        import asyncio
        try:
            if place.path is not None:
                return cls(*await asyncio.wait_for(asyncio.open_unix_connection(place.path), PATIENCE))
            connect = asyncio.open_connection(place.host, place.port, ssl=place.context())
            return cls(*await asyncio.wait_for(connect, PATIENCE))
        except (OSError, asyncio.TimeoutError) as error:
            raise unavailable(place, error) from error

    async def perform(self, operation: Union[Write, Read]) -> Any:
        """Perform an operation; returns its outcome. DaemonLost: the connection broke."""
        if isinstance(operation, Write):
            return await self._write(memoryview(operation.data))
        try:
            return await self.reader.read(BLOCK)
        except OSError as error:
            raise DaemonLost(f"read the answer: {error.strerror}") from error

    async def _write(self, data: memoryview) -> bool:
        """As Connection._write."""
        import asyncio
        try:
            for at in range(0, len(data), BLOCK):
                self.writer.write(data[at:at + BLOCK])
                await asyncio.wait_for(self.writer.drain(), PATIENCE)
        except (BrokenPipeError, ConnectionResetError):
            return False
        except asyncio.TimeoutError as error:  # in some versions of Python it is an OSError without a text
            raise DaemonLost("send the request: timed out") from error
        except OSError as error:
            raise DaemonLost(f"send the request: {error.strerror or error}") from error
        return True

    def close(self) -> None:
        """The other side hears the end."""
        self.writer.close()


def drive(flow: Flow) -> Iterator[Any]:
    """Run a flow by waiting: yields its values for the caller, and returns its result."""
    try:
        operation = next(flow)
        while True:
            if isinstance(operation, OPERATIONS):
                try:
                    outcome = perform(operation)
                except BaseException as error:
                    operation = flow.throw(error)
                    continue
            else:
                outcome = yield operation
            operation = flow.send(outcome)
    except StopIteration as end:
        return end.value
    finally:
        flow.close()


class Beside:
    """The flows that run beside one flow (Aside)."""

    def __init__(self) -> None:
        self._tasks: Set["asyncio.Future[Any]"] = set()

    async def perform(self, operation: Any) -> Any:
        """As aperform; also starts flows beside it, and raises the exception of one that has failed."""
        import asyncio
        if isinstance(operation, Aside):
            self._tasks.add(asyncio.ensure_future(aresult_of(operation.flow)))
            return None
        if not self._tasks:
            return await aperform(operation)
        main = asyncio.ensure_future(aperform(operation))
        try:
            while not main.done():
                done, _ = await asyncio.wait({main, *self._tasks}, return_when=asyncio.FIRST_COMPLETED)
                for task in done & self._tasks:
                    self._tasks.remove(task)
                    task.result()
            return main.result()
        finally:
            if not main.done():
                main.cancel()
                await asyncio.wait({main})

    async def finish(self) -> None:
        """Cancel the flows that still run, and wait for them."""
        import asyncio
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


async def adrive(flow: Flow, end: Dict[str, Any]) -> AsyncIterator[Any]:
    """As drive, in an event loop. The flow's result is stored as end["value"]."""
    beside = Beside()
    try:
        operation = next(flow)
        while True:
            outcome: Any = None
            if isinstance(operation, OPERATIONS):
                try:
                    outcome = await beside.perform(operation)
                except BaseException as error:
                    operation = flow.throw(error)
                    continue
            else:
                yield operation
            operation = flow.send(outcome)
    except StopIteration as stop:
        end["value"] = stop.value
    finally:
        flow.close()
        await beside.finish()


def result_of(flow: Flow) -> Any:
    """Run a flow by waiting; returns its result, and drops values for the caller."""
    steps = drive(flow)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


async def aresult_of(flow: Flow) -> Any:
    """As result_of, in an event loop."""
    end: Dict[str, Any] = {}
    async for _ in adrive(flow, end):
        pass
    return end["value"]


# ---- answers ----

class Answer:
    """An HTTP response that is fed in pieces: status, headers, and the part of the body that take() has not returned yet."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Dict[str, str] = {}
        self.done = False
        self._raw = bytearray()    # bytes that are not parsed yet
        self._body = bytearray()   # bytes of the body for take()
        self._left: Optional[int] = None  # bytes left of the body or of the chunk; None: up to the end of the connection
        self._chunked = False
        self._last = False         # the last chunk was read, and only trailer lines follow

    def feed(self, data: bytes) -> None:
        """Parse the next bytes; b"": the connection has ended. DaemonLost: the answer is not valid HTTP, or not whole."""
        if not data:
            self._end()
            return
        self._raw += data
        while not self.done and (self._body_step() if self.status else self._head_step()):
            pass

    def take(self) -> bytes:
        """The bytes of the body that arrived since the last call."""
        taken = bytes(self._body)
        self._body.clear()
        return taken

    def _end(self) -> None:
        if self.status and not self._chunked and self._left is None:
            self.done = True
        if not self.done:
            raise DaemonLost("the connection was closed in the middle of the answer")

    def _head_step(self) -> bool:
        end = self._raw.find(b"\r\n\r\n")
        if end < 0 and len(self._raw) <= MAX_HEAD:
            return False
        lines = bytes(self._raw[:max(end, 0)]).decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.[0-9] ([1-9][0-9][0-9])( .*)?", lines[0])
        if not match:
            raise DaemonLost("the answer is not HTTP")
        del self._raw[:end + 4]
        if match[1].startswith("1"):
            return True
        self.headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        self.status = int(match[1])
        self._begin_body()
        return True

    def _begin_body(self) -> None:
        self._chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
        length = self.headers.get("content-length")
        if self.status in (204, 304) or length == "0" and not self._chunked:
            self.done = True
        elif not self._chunked and length is not None:
            if not re.fullmatch("[0-9]{1,15}", length):
                raise DaemonLost("Content-Length is no number")
            self._left = int(length)

    def _body_step(self) -> bool:
        if self._chunked and self._left is None:
            return self._chunk_line()
        take = len(self._raw) if self._left is None else min(self._left, len(self._raw))
        self._body += self._raw[:take]
        del self._raw[:take]
        if self._left is None:
            return False
        self._left -= take
        if self._left or self._chunked and len(self._raw) < 2:
            return False
        if self._chunked:
            if self._raw[:2] != b"\r\n":
                raise DaemonLost("a chunk is longer than it said")
            del self._raw[:2]
            self._left = None
            return True
        self.done = True
        return False

    def _chunk_line(self) -> bool:
        end = self._raw.find(b"\r\n")
        if end < 0 and len(self._raw) <= MAX_HEAD:
            return False
        line = bytes(self._raw[:max(end, 0)])
        del self._raw[:end + 2]
        if self._last:
            self.done = not line
            return True
        match = re.fullmatch(rb"([0-9A-Fa-f]{1,12})[ \t]*(;.*)?", line)
        if not match:
            raise DaemonLost("the size of a chunk is no number")
        size = int(match[1], 16)
        self._last = size == 0
        self._left = size or None
        return True


# ---- requests ----

def request(place: Place, method: str, path: str, body: Optional[bytes] = None,
            headers: Optional[Mapping[str, str]] = None) -> bytes:
    """The bytes of an HTTP request. One connection carries one request."""
    host = "localhost" if place.path is not None else place.authority
    lines = [f"{method} {place.prefix}{path} HTTP/1.1", f"Host: {host}", "Connection: close"]
    if place.token is not None:
        lines.append(f"Authorization: Bearer {place.token}")
    if body is not None and "Content-Type" not in (headers or {}):
        lines += ["Content-Type: application/json"]
    if method == "POST":
        lines.append(f"Content-Length: {len(body or b'')}")
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if any(character in line for line in lines for character in "\r\n\0"):
        raise UsageError("a token or a header with a line break in it", 64)
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + (body or b"")


def exchange(place: Place, method: str, path: str, body: Any = None,
             headers: Optional[Mapping[str, str]] = None) -> Flow:
    """A flow that sends a request, with `body` as JSON, and returns (answer, its body). It raises the answer's Problem."""
    connection = yield Open(place)
    answer = Answer()
    try:
        yield Write(connection, request(place, method, path, None if body is None else encode(body), headers))
        while not answer.done:
            answer.feed((yield Read(connection)))
    except DaemonLost as error:
        raise _lost(place, answer, error) from error
    finally:
        connection.close()
    content = answer.take()
    if answer.status >= 400:
        raise _problem(place, answer.status, content)
    return answer, content


def _lost(place: Place, answer: Answer, error: DaemonLost) -> DaemonLost:
    """The exception with the daemon's address, and if nothing of an answer came, with what may be wrong with that."""
    plain = place.path is None and not place.encrypted and not answer.status
    advice = f": if that server encrypts, its address is https://{place.authority}{place.prefix}" if plain else ""
    return DaemonLost(f"{place.name}: {error}{advice}")


def _problem(place: Place, status: int, content: bytes) -> Problem:
    """The exception for an answer with an error status. Of a token it says where it came from."""
    found = problem(status, content)
    if isinstance(found, AuthProblem):
        sent = f"that of {place.token_source} is none" if place.token_source else "none was sent: give token=..., or set HOTCELL_TOKEN"
        found.args = (f"{place.name} wants a valid token, and {sent}",)
    return found


def encode(body: Any) -> bytes:
    """A body as JSON; bytes are JSON already. ValueError for a value that JSON cannot hold."""
    return body if isinstance(body, bytes) else json.dumps(body, allow_nan=False).encode("utf-8", "surrogatepass")


def events(place: Place, method: str, path: str, body: Any = None, headers: Optional[Mapping[str, str]] = None,
           on_head: Optional[Callable[[Answer], None]] = None) -> Flow:
    """A flow that yields each event of a stream as a dict, and returns when the stream ends. `on_head` is called once, with
    the answer's head. It raises the answer's Problem."""
    connection = yield Open(place)
    answer, rest = Answer(), bytearray()
    try:
        more = {"Accept": "application/x-ndjson", **(headers or {})}
        yield Write(connection, request(place, method, path, None if body is None else encode(body), more))
        while not answer.done:
            answer.feed((yield Read(connection)))
            if answer.status >= 400 or not answer.status:
                continue
            if on_head is not None:
                on_head(answer)
                on_head = None
            first, *more_lines = answer.take().split(b"\n")
            rest += first  # the earlier part of a long line is not searched again
            for line in more_lines:
                yield event_of(bytes(rest))
                rest = bytearray(line)
    except DaemonLost as error:
        raise _lost(place, answer, error) from error
    finally:
        connection.close()
    if answer.status >= 400:
        raise _problem(place, answer.status, answer.take())


def begun(flow: Flow) -> Flow:
    """The same flow, for a job or run that the daemon has accepted already: DaemonUnavailable, which says that nothing was
    sent, becomes DaemonLost."""
    try:
        return (yield from flow)
    except DaemonUnavailable as error:
        raise DaemonLost(f"{error}: what it has begun may go on") from error


def watched(flow: Flow, take: Callable[[Any], Optional[Flow]]) -> Flow:
    """The same flow, but its values for the caller go to `take`, which may return a flow that is run first."""
    try:
        step = next(flow)
        while True:
            outcome: Any = None
            try:
                if isinstance(step, OPERATIONS):
                    outcome = yield step
                else:
                    more = take(step)
                    if more is not None:
                        yield from more
            except BaseException as error:
                step = flow.throw(error)
                continue
            step = flow.send(outcome)
    except StopIteration as end:
        return end.value
    finally:
        flow.close()


def unhurried(flow: Flow, interrupt: Callable[[], Flow]) -> Flow:
    """The same flow; but if KeyboardInterrupt or the like comes while it reads, or a listener fails, it runs the flow
    `interrupt`, goes on to its end without the listener, and then raises that exception. A second one ends it at once."""
    broken: Optional[BaseException] = None
    try:
        step = next(flow)
        while True:
            outcome: Any = None
            try:
                if broken is None or not isinstance(step, Notify):
                    outcome = yield step
            except BaseException as error:
                reads = isinstance(step, Read) and not isinstance(error, Exception)
                if broken is not None or isinstance(error, GeneratorExit) or not (reads or isinstance(step, Notify)):
                    step = flow.throw(error)
                    continue
                broken = error
                yield from interrupt()
                if reads:
                    continue
            step = flow.send(outcome)
    except StopIteration as end:
        if broken is not None:
            raise broken from None
        return end.value
    finally:
        flow.close()


def event_of(line: bytes) -> Dict[str, Any]:
    """The event in a line of a stream. DaemonLost if it is none."""
    try:
        event = json.loads(line)
    except ValueError as error:
        raise DaemonLost(f"no event: {error}") from error
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise DaemonLost("no event")
    return event
