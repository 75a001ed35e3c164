"""Tools: callables of this process that a program in a cell may call, described by their signatures.

The callables run here. The launcher checks each call and sends it over a socket (hotcell(1), --tool-fd); a thread
answers, functions one after the other, coroutines side by side in the caller's event loop. A callable must return JSON;
an exception that it raises becomes a ToolError in the program.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import json
import socket
import sys
import threading
import types
import typing
from collections import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Coroutine, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import InputError
from .staging import list_of

if TYPE_CHECKING:
    import asyncio

RESULT_SIZE = 1 << 20  # bytes of a tool's result, unless the Tool has another limit
DEPTH = 60             # levels of a result; the line that it stands in may have 64
PATIENCE = 1.0         # seconds to wait until a thread has begun
MAX_MESSAGE = 4000     # characters of an exception's text
PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object",
         type(None): "null", tuple: "array"}


@dataclass(frozen=True)
class Tool:
    """A callable with its description and its limits for a cell.

    name            the program calls tools.NAME; None: the callable's own name
    description     None: the callable's docstring
    parameters      JSON Schema of the arguments; None: made from the signature
    calls           calls in one job
    rate            calls a second
    timeout         of one call: seconds, or text such as "5s"
    argument_size, result_size  bytes, or text such as "64K"

    A limit that is None has the default of hotcell-policy(5).
    """

    fn: Callable[..., Any]
    name: Optional[str] = None
    description: Optional[str] = None
    parameters: Optional[Mapping[str, Any]] = None
    calls: Optional[int] = None
    rate: Optional[float] = None
    timeout: Union[int, float, str, None] = None
    argument_size: Union[int, str, None] = None
    result_size: Union[int, str, None] = None

    @property
    def called(self) -> str:
        """The name by which the program calls the tool."""
        return self.name or getattr(self.fn, "__name__", type(self.fn).__name__)

    def described(self) -> Dict[str, Any]:
        """The tool as a member of a spec's "tools"."""
        own = {name: getattr(self, name) for name in ("calls", "rate", "timeout", "argument_size", "result_size")}
        own["description"] = self.description if self.description is not None else inspect.getdoc(self.fn)
        own["parameters"] = self.parameters if self.parameters is not None else schema_of(self.fn)
        return {name: value for name, value in own.items() if value is not None}

    def outcome_of(self, value: Any) -> Dict[str, Any]:
        """The answer to a call whose callable has returned `value`. TypeError or ValueError if the value is no JSON, or too
        large: the launcher would drop the connection after an answer that it cannot read."""
        _check(value, 0)
        line = _line(value)
        json.loads(line, object_pairs_hook=_members)
        size, most = len(line), _bytes_of(self.result_size or RESULT_SIZE)
        if size > most:
            raise ValueError(f"the result has {size} bytes, and result_size is {most}")
        return {"value": value}

    def call(self, arguments: Dict[str, Any]) -> Any:
        """Call the callable. Positional-only parameters get their arguments by position."""
        try:
            parameters = inspect.signature(self.fn).parameters.values()
        except (TypeError, ValueError):
            return self.fn(**arguments)
        first = [arguments.pop(p.name) for p in parameters if p.kind is p.POSITIONAL_ONLY and p.name in arguments]
        return self.fn(*first, **arguments)


Tools = Union[Sequence[Union[Callable[..., Any], Tool]], Mapping[str, Union[Callable[..., Any], Tool]]]


def tools_by_name(tools: Optional[Tools]) -> Dict[str, Tool]:
    """{name: Tool} from a list of callables, which have their own names, or from a mapping. InputError for an object that
    cannot be called, and for two tools of one name."""
    named = [(None, fn) for fn in list_of(tools, "tools")] if not isinstance(tools, abc.Mapping) else list(tools.items())
    found: Dict[str, Tool] = {}
    for name, fn in named:
        tool = fn if isinstance(fn, Tool) else Tool(fn)
        name = name or tool.called
        if not callable(tool.fn):
            raise InputError(f"tools: {name}: {type(tool.fn).__name__} cannot be called")
        if name in found:
            raise InputError(f"tools: two are called {name}")
        found[name] = tool
    return found


# ---- signatures ----

def schema_of(fn: Callable[..., Any]) -> Optional[Dict[str, Any]]:
    """A JSON Schema of a callable's arguments; None if it has no signature."""
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return None
    try:
        hints = typing.get_type_hints(fn)
    except Exception:  # annotations may name types that exist for type checkers only
        hints = {}
    schema: Dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            schema["additionalProperties"] = True
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            schema["properties"][name] = _property(hints.get(name, Any), parameter)
            if parameter.default is parameter.empty:
                schema["required"].append(name)
    return schema


def _property(kind: Any, parameter: inspect.Parameter) -> Dict[str, Any]:
    """The schema of one parameter, with its default if that is JSON."""
    found = schema_of_type(kind)
    if parameter.default is not parameter.empty and _is_json(parameter.default):
        found["default"] = parameter.default
    return found


def schema_of_type(kind: Any) -> Dict[str, Any]:
    """The JSON Schema of an annotation; {}, any value, for a type that JSON Schema cannot express."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return {"enum": list(arguments)} if _is_json(list(arguments)) else {}
    if origin is typing.Union or origin is getattr(types, "UnionType", typing.Union):
        parts = [schema_of_type(one) for one in arguments]
        if all(list(part) == ["type"] and isinstance(part["type"], str) for part in parts):
            return {"type": [part["type"] for part in parts]}
        return {}
    if origin in (list, abc.Sequence, abc.Iterable, set, frozenset) and arguments:
        items = schema_of_type(arguments[0])
        return {"type": "array", "items": items} if items else {"type": "array"}
    if origin in (dict, abc.Mapping):
        return {"type": "object"}
    plain = PLAIN.get(origin or kind) if isinstance(origin or kind, type) else None
    return {"type": plain} if plain else {}


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


# ---- answering ----

def _bytes_of(size: Union[int, str]) -> int:
    """The bytes of a size such as 65536 or "64K". A text that is no size gives sys.maxsize: the launcher refuses it."""
    text = str(size).strip()
    power = " KMGT".find(text[-1:]) if text else -1
    number = text[:-1] if power > 0 else text
    return int(number) << 10 * max(power, 0) if number.isdigit() else sys.maxsize


def _line(value: Any) -> bytes:
    """A value as JSON in UTF-8. UnicodeEncodeError for a lone surrogate."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def _check(value: Any, depth: int) -> None:
    """ValueError for a value that hotcell does not read: too deep, or with a NUL."""
    if depth > DEPTH:
        raise ValueError(f"the result is nested deeper than {DEPTH} levels")
    if isinstance(value, str) and "\0" in value:
        raise ValueError("there is a NUL in the result's text")
    within = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    for item in within:
        _check(item, depth + 1)


def _members(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """The members of a JSON object. ValueError for two of one name: as keys of a dict, 1 and "1" become the same name."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("two keys of the result have one name in JSON")
    return members


def failure_of(error: BaseException) -> Dict[str, Any]:
    """The answer to a call whose callable has raised `error`: the text of the program's ToolError."""
    text = text_of(error)
    return {"error": f"{type(error).__name__}: {text}" if text else type(error).__name__}


def text_of(error: BaseException) -> str:
    """str(error), cut and escaped for an answer; empty if str() itself fails."""
    try:
        text = str(error)
    except Exception:
        return ""
    return text[:MAX_MESSAGE].replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def call_tool(tool: Tool, arguments: Dict[str, Any]) -> Dict[str, Any]:
    """The answer to a call, made in this thread; a coroutine runs in an event loop of its own."""
    try:
        value = tool.call(arguments)
        if inspect.isawaitable(value):
            value = run_to_end(value)
        return tool.outcome_of(value)
    except Exception as error:
        return failure_of(error)


def run_to_end(value: Awaitable[Any]) -> Any:
    """Run an awaitable in an event loop of its own, and return its result: in this thread, or in another one if this thread
    has a running loop, as in notebooks."""
    import asyncio

    async def result() -> Any:
        return await value
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(result())
    return _run_aside(result())


def _run_aside(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in another thread, with the variables of this context, and wait for it. If an exception ends the wait,
    the coroutine is cancelled."""
    import asyncio
    from concurrent import futures
    begun: "futures.Future[Tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]]]" = futures.Future()
    ended: "futures.Future[Any]" = futures.Future()

    async def main() -> Any:
        task = asyncio.ensure_future(work)
        begun.set_result((asyncio.get_running_loop(), task))
        return await task

    def run() -> None:
        try:
            ended.set_result(asyncio.run(main()))
        except BaseException as error:  # is raised in the waiting thread
            ended.set_exception(error)
    try:
        threading.Thread(target=contextvars.copy_context().run, args=(run,), name="hotcell-tools", daemon=True).start()
        return ended.result()
    except BaseException:
        with contextlib.suppress(RuntimeError, futures.TimeoutError):  # its loop is closed; or the thread has not begun
            loop, task = begun.result(PATIENCE)
            loop.call_soon_threadsafe(task.cancel)
            futures.wait([ended])
        raise


async def acall_tool(tool: Tool, arguments: Dict[str, Any]) -> Dict[str, Any]:
    """As call_tool, for an event loop: coroutine functions run in it, others in a thread."""
    import asyncio
    try:
        value = tool.call(arguments) if inspect.iscoroutinefunction(tool.fn) else await asyncio.to_thread(tool.call, arguments)
        return tool.outcome_of(await value if inspect.isawaitable(value) else value)
    except Exception as error:
        return failure_of(error)


class Server:
    """Answers the calls of one job. `theirs` is the descriptor for --tool-fd.

    A callable that is running when the job ends goes on to its own end, which is not awaited.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._ours, self._theirs = socket.socketpair()
        self.theirs = self._theirs.fileno()
        self._loop: Optional["asyncio.AbstractEventLoop"] = None
        self._writing = threading.Lock()
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._serve,), name="hotcell-tools", daemon=True)

    def start(self, loop: Optional["asyncio.AbstractEventLoop"] = None) -> None:
        """Start the thread. Coroutine functions run in `loop`, side by side; without a loop, each runs in a loop of its own."""
        self._loop = loop
        self._thread.start()

    def close(self) -> None:
        """Answer no more calls, and close the sockets."""
        self._theirs.close()
        try:
            self._ours.shutdown(socket.SHUT_RDWR)  # ends the thread's read
        except OSError:
            pass
        if not self._thread.is_alive():
            self._ours.close()

    def _serve(self) -> None:
        try:
            with self._ours, self._ours.makefile("r", encoding="utf-8", newline="\n") as stream:
                for line in stream:
                    self._answer(json.loads(line))
        except OSError:
            pass

    def _answer(self, call: Dict[str, Any]) -> None:
        """Run a call and send its answer. A coroutine in the caller's loop sends its answer itself when it has ended."""
        try:
            tool = self._tools[call["name"]]
            value = tool.call(call["arguments"])
            if inspect.isawaitable(value):
                import asyncio
                work = self._say(call["id"], tool, value)
                if self._loop is not None:
                    asyncio.run_coroutine_threadsafe(work, self._loop)
                    return
                with contextlib.suppress(BaseException):  # the answer was sent
                    asyncio.run(work)
                return
            answer = tool.outcome_of(value)
        except BaseException as error:  # this is our own thread: sys.exit() in a tool ends only that call
            answer = failure_of(error)
        self._write(call["id"], answer)

    async def _say(self, call_id: Any, tool: Tool, value: Awaitable[Any]) -> None:
        try:
            answer = tool.outcome_of(await value)
        except BaseException as error:
            self._write(call_id, failure_of(error))
            if not isinstance(error, Exception):  # a cancellation, say, which the caller's loop must see
                raise
            return
        self._write(call_id, answer)

    def _write(self, call_id: Any, answer: Dict[str, Any]) -> None:
        with self._writing, contextlib.suppress(OSError):  # the job has ended
            self._ours.sendall(_line({"id": call_id, **answer}) + b"\n")
