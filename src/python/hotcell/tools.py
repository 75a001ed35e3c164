"""Tools: callables of the caller's that a program in a cell may call, described by their signatures.

The callables stay here. The launcher checks each call and hands it over on a socket (hotcell(1), --tool-fd); a thread
answers, one call after the other, coroutines in a loop of the caller's side by side. What a callable returns must be JSON; what it raises is a ToolError in the program.
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

RESULT_SIZE = 1 << 20  # what a tool may answer, unless it says otherwise
DEPTH = 60             # of nested values, in a line that may be nested in 64
PATIENCE = 1.0         # seconds for a thread to begin
MAX_MESSAGE = 4000     # characters of an exception's text
PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object",
         type(None): "null", tuple: "array"}


@dataclass(frozen=True)
class Tool:
    """A callable with what the cell is told of it, and its limits. What is None is the default of hotcell-policy(5);
    description and parameters (a JSON Schema) then come from the docstring and the signature."""

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
        """The name that the program calls it by."""
        return self.name or getattr(self.fn, "__name__", type(self.fn).__name__)

    def described(self) -> Dict[str, Any]:
        """As a spec has it."""
        own = {name: getattr(self, name) for name in ("calls", "rate", "timeout", "argument_size", "result_size")}
        own["description"] = self.description if self.description is not None else inspect.getdoc(self.fn)
        own["parameters"] = self.parameters if self.parameters is not None else schema_of(self.fn)
        return {name: value for name, value in own.items() if value is not None}

    def outcome_of(self, value: Any) -> Dict[str, Any]:
        """An answer, with what the callable has returned. Raises what JSON raises if it is no JSON, ValueError if there
        is too much of it: the launcher takes nothing more from who sends it what it does not read."""
        _check(value, 0)
        line = _line(value)
        json.loads(line, object_pairs_hook=_members)
        size, most = len(line), _bytes_of(self.result_size or RESULT_SIZE)
        if size > most:
            raise ValueError(f"the result has {size} bytes, and result_size is {most}")
        return {"value": value}

    def call(self, arguments: Dict[str, Any]) -> Any:
        """With what the launcher let through. Arguments that have no names for Python go by position."""
        try:
            parameters = inspect.signature(self.fn).parameters.values()
        except (TypeError, ValueError):
            return self.fn(**arguments)
        first = [arguments.pop(p.name) for p in parameters if p.kind is p.POSITIONAL_ONLY and p.name in arguments]
        return self.fn(*first, **arguments)


Tools = Union[Sequence[Union[Callable[..., Any], Tool]], Mapping[str, Union[Callable[..., Any], Tool]]]


def tools_by_name(tools: Optional[Tools]) -> Dict[str, Tool]:
    """Of a list of callables, which have their own names, or a mapping."""
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
    """A JSON Schema of the arguments; None if the callable does not tell them."""
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return None
    try:
        hints = typing.get_type_hints(fn)
    except Exception:  # names that are not there at run time
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
    """A default that is no JSON stays with the callable."""
    found = schema_of_type(kind)
    if parameter.default is not parameter.empty and _is_json(parameter.default):
        found["default"] = parameter.default
    return found


def schema_of_type(kind: Any) -> Dict[str, Any]:
    """Of an annotation; what JSON cannot tell apart, or has no word for, is any value."""
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
    """Of a size as limits have it. What is none is for the launcher to refuse."""
    text = str(size).strip()
    power = " KMGT".find(text[-1:]) if text else -1
    number = text[:-1] if power > 0 else text
    return int(number) << 10 * max(power, 0) if number.isdigit() else sys.maxsize


def _line(value: Any) -> bytes:
    """As JSON in UTF-8, in which there is no half of a surrogate pair."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def _check(value: Any, depth: int) -> None:
    """ValueError for JSON that hotcell does not read."""
    if depth > DEPTH:
        raise ValueError(f"the result is nested deeper than {DEPTH} levels")
    if isinstance(value, str) and "\0" in value:
        raise ValueError("there is a NUL in the result's text")
    within = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    for item in within:
        _check(item, depth + 1)


def _members(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """Of an object in JSON, where 1 and "1" are one name."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("two keys of the result have one name in JSON")
    return members


def failure_of(error: BaseException) -> Dict[str, Any]:
    """An answer: what the program's ToolError says."""
    text = text_of(error)
    return {"error": f"{type(error).__name__}: {text}" if text else type(error).__name__}


def text_of(error: BaseException) -> str:
    """Of an exception, as an answer can hold it; none if its own code fails to say it."""
    try:
        text = str(error)
    except Exception:
        return ""
    return text[:MAX_MESSAGE].replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def call_tool(tool: Tool, arguments: Dict[str, Any]) -> Dict[str, Any]:
    """The answer to a call, in this thread; a coroutine has a loop of its own."""
    try:
        value = tool.call(arguments)
        if inspect.isawaitable(value):
            value = _run_to_end(value)
        return tool.outcome_of(value)
    except Exception as error:
        return failure_of(error)


def _run_to_end(value: Awaitable[Any]) -> Any:
    """What it gives, in a loop of its own: in this thread, or in another where one runs here already, as in notebooks."""
    import asyncio

    async def result() -> Any:
        return await value
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(result())
    return _run_aside(result())


def _run_aside(work: Coroutine[Any, Any, Any]) -> Any:
    """Wait for a thread that runs it, with the variables of this context. If the wait is broken off, it is cancelled."""
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
        except BaseException as error:  # whoever waits has it
            ended.set_exception(error)
    try:
        threading.Thread(target=contextvars.copy_context().run, args=(run,), name="hotcell-tools", daemon=True).start()
        return ended.result()
    except BaseException:
        with contextlib.suppress(RuntimeError, futures.TimeoutError):  # it has ended, and its loop with it; or never begun
            loop, task = begun.result(PATIENCE)
            loop.call_soon_threadsafe(task.cancel)
            futures.wait([ended])
        raise


async def acall_tool(tool: Tool, arguments: Dict[str, Any]) -> Dict[str, Any]:
    """The same without holding up the event loop: coroutine functions run in it, others in a thread."""
    import asyncio
    try:
        value = tool.call(arguments) if inspect.iscoroutinefunction(tool.fn) else await asyncio.to_thread(tool.call, arguments)
        return tool.outcome_of(await value if inspect.isawaitable(value) else value)
    except Exception as error:
        return failure_of(error)


class Server:
    """Answers the calls of one job. `theirs` is the descriptor for --tool-fd.

    A callable that is running when the job ends goes on to its own end; nobody waits for it.
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
        """Coroutine functions run in `loop`, as many at once as are called; without one, each in a loop of its own."""
        self._loop = loop
        self._thread.start()

    def close(self) -> None:
        """Nobody is answered any more."""
        self._theirs.close()
        try:
            self._ours.shutdown(socket.SHUT_RDWR)  # which the thread hears
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
        """Say what came of it. A coroutine in a loop says it itself, when it has ended: more of them go on at once."""
        try:
            tool = self._tools[call["name"]]
            value = tool.call(call["arguments"])
            if inspect.isawaitable(value):
                import asyncio
                work = self._say(call["id"], tool, value)
                if self._loop is not None:
                    asyncio.run_coroutine_threadsafe(work, self._loop)
                    return
                with contextlib.suppress(BaseException):  # it has been said
                    asyncio.run(work)
                return
            answer = tool.outcome_of(value)
        except BaseException as error:  # the thread is nobody else's: sys.exit() in a tool ends that call
            answer = failure_of(error)
        self._write(call["id"], answer)

    async def _say(self, call_id: Any, tool: Tool, value: Awaitable[Any]) -> None:
        try:
            answer = tool.outcome_of(await value)
        except BaseException as error:
            self._write(call_id, failure_of(error))
            if not isinstance(error, Exception):  # of the loop: somebody else's, too
                raise
            return
        self._write(call_id, answer)

    def _write(self, call_id: Any, answer: Dict[str, Any]) -> None:
        with self._writing, contextlib.suppress(OSError):  # nobody waits for it any more
            self._ours.sendall(_line({"id": call_id, **answer}) + b"\n")
