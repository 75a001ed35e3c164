"""Tools: callables of this process that a program in a cell may call, described by their signatures.

The callables run here. The launcher checks each call and sends it over a socket (hotcell(1), --tool-fd); a thread
answers, functions one after the other, coroutines side by side in the caller's event loop. A callable must return JSON, or
what typed.plain_of makes JSON of; an exception that it raises becomes a ToolError in the program, which has its text alone.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import json
import socket
import sys
import threading
import typing
from collections import abc, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Coroutine, Deque, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

from .errors import InputError
from .staging import list_of
from .typed import Builder, described, plain_of
from .values import NotCarried, TooLarge, to_letter

if TYPE_CHECKING:
    import asyncio

TYPED = "$hotcell"  # the only member of a result with tags
RESULT_SIZE = 1 << 20  # bytes of a tool's result, unless the Tool has another limit
DEPTH = 60             # levels of a result; the line that it stands in may have 64
PATIENCE = 1.0         # seconds to wait until a thread has begun
MAX_MESSAGE = 4000     # characters of an exception's text
KEPT_ERRORS = 100      # exceptions of tools that are kept for one result


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

    A limit that is None has the default of hotcell-policy(5): 100 calls in one job, and 1 MiB of a result.
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
        own["parameters"] = self.parameters if self.parameters is not None else self._signature.schema
        return {name: value for name, value in own.items() if value is not None}

    @functools.cached_property
    def _signature(self) -> Signature:
        return Signature(self.fn)

    def outcome_of(self, value: Any) -> Dict[str, Any]:
        """The answer to a call whose callable has returned `value`. TypeError or ValueError if the value is not carried, or too
        large: the launcher would drop the connection after an answer that it cannot read."""
        most = _bytes_of(self.result_size or RESULT_SIZE)
        _check(value, 0)
        try:
            line = _line(value if not isinstance(value, dict) or TYPED not in value else _typed(value, most, None))
        except TypeError as error:
            line = _line(_typed(value, most, error))
        plain = json.loads(line, object_pairs_hook=_members)
        _check(plain, 0)
        if len(line) > most:
            raise ValueError(f"the result has {len(line)} bytes, and result_size is {most}")
        return {"value": plain}

    def call(self, arguments: Dict[str, Any]) -> Any:
        """Call the callable with arguments that its annotations describe, or with JSON if the tool has `parameters` of its
        own. Positional-only parameters get their arguments by position."""
        _refuse(arguments, _inner(self.fn)[1] - set((self.parameters or {}).get("properties", ())))
        if self.parameters is None:
            arguments = self._signature.build(arguments)
        try:
            parameters = inspect.signature(self.fn).parameters.values()
        except (TypeError, ValueError):
            return self.fn(**arguments)
        first, left = [], dict(arguments)
        by_position = [p for p in parameters if p.kind is p.POSITIONAL_ONLY]
        while by_position and by_position[-1].name not in left:
            by_position.pop()
        for p in by_position:  # one that is left out before others must not get their arguments
            if p.name not in left and p.default is p.empty:
                raise TypeError(f"{p.name!r} is missing")
            first.append(left.pop(p.name, p.default))
        return self.fn(*first, **left)


class Toolbox(Dict[str, Tool]):
    """The tools of a job or session by their names, and the exceptions that they raised, the last ones of many."""

    def __init__(self, *tools: Any) -> None:
        super().__init__(*tools)
        self.errors: "Deque[BaseException]" = deque(maxlen=KEPT_ERRORS)

    def failed(self, error: BaseException) -> Dict[str, Any]:
        """Keep the exception of a call, with its traceback; returns the answer to the call, which has its text alone."""
        self.errors.append(error)
        return failure_of(error)


Tools = Union[Sequence[Union[Callable[..., Any], Tool]], Mapping[str, Union[Callable[..., Any], Tool]]]


def tools_by_name(tools: Optional[Tools]) -> Toolbox:
    """{name: Tool} from a list of callables, which have their own names, or from a mapping. InputError for an object that
    cannot be called or described, for a name that no program can write, and for two tools of one name."""
    named = [(None, fn) for fn in list_of(tools, "tools")] if not isinstance(tools, abc.Mapping) else list(tools.items())
    found = Toolbox()
    for name, fn in named:
        tool = fn if isinstance(fn, Tool) else Tool(fn)
        name = name or tool.called
        if not callable(tool.fn):
            raise InputError(f"tools: {name}: {type(tool.fn).__name__} cannot be called")
        if name in found:
            raise InputError(f"tools: two are called {name}")
        if not isinstance(name, str) or not name.isidentifier():
            raise InputError(f"tools: {name!r} is no name that a program can write: give one, as in tools={{'name': fn}}")
        try:
            tool.described()
        except InputError as error:
            raise InputError(f"tools: {name}: {error}") from error
        found[name] = tool
    return found


# ---- signatures ----

class Signature:
    """What a program is told of a callable's parameters, and how their values are checked and made of JSON. What a partial has
    bound is no parameter. InputError for a parameter that a call by names cannot give, and for an annotation that no schema
    can describe."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.schema: Optional[Dict[str, Any]] = None  # None: the callable has no signature
        self._builders: Dict[str, Builder] = {}
        self._others: Optional[Builder] = None        # builds the arguments in **names; None: the tool takes no such arguments
        try:
            parameters = inspect.signature(fn).parameters
        except (TypeError, ValueError):
            return
        hints, (_, bound) = _hints(fn), _inner(fn)
        self.schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        for name, parameter in parameters.items():
            if name not in bound:
                self._add(name, parameter, hints.get(name, Any if parameter.annotation is parameter.empty else parameter.annotation))

    def _add(self, name: str, parameter: inspect.Parameter, kind: Any) -> None:
        assert self.schema is not None
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise InputError(f"*{name}: a program gives arguments by their names: use a list")
        try:
            schema, builder, _ = described(kind)
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
        if parameter.kind is parameter.VAR_KEYWORD:
            self.schema["additionalProperties"], self._others = schema or True, builder
            return
        if parameter.default is parameter.empty:
            self.schema["required"].append(name)
        elif _is_json(parameter.default):
            schema = {**schema, "default": parameter.default}
        self.schema["properties"][name] = schema
        self._builders[name] = builder

    def build(self, arguments: Dict[str, Any]) -> Dict[str, Any]:
        """The arguments as the annotations want them. ValueError for one that does not fit its annotation, or has no parameter."""
        if self.schema is None:
            return dict(arguments)
        if self._others is None:
            _refuse(arguments, set(arguments) - set(self._builders))
        return {name: _built(name, value, self._builders.get(name, self._others)) for name, value in arguments.items()}


def _refuse(arguments: Mapping[str, Any], names: Set[str]) -> None:
    """ValueError if there is an argument of one of these names."""
    for name in arguments:
        if name in names:
            raise ValueError(f"{name[:64]!r} is not expected")


def _built(name: str, value: Any, builder: Optional[Builder]) -> Any:
    try:
        return value if builder is None else builder(value)
    except Exception as error:
        raise ValueError(f"{name}: {error}") from error


def _inner(fn: Any) -> Tuple[Any, Set[str]]:
    """The callable within partials and wrappers, and the names of the arguments that partials have bound."""
    bound: Set[str] = set()
    while True:
        function = getattr(fn, "__func__", fn)
        method = getattr(function, "__partialmethod__", getattr(function, "_partialmethod", None))
        if isinstance(fn, functools.partial):
            bound |= set(fn.keywords)
            fn = fn.func
        elif isinstance(method, functools.partialmethod):
            bound |= set(method.keywords)
            fn = method.func
        elif callable(getattr(fn, "__wrapped__", None)) and not hasattr(fn, "__signature__"):
            fn = fn.__wrapped__
        else:
            return fn, bound


def _hints(fn: Callable[..., Any]) -> Dict[str, Any]:
    """The annotations of a callable, or of the method __call__ of an object."""
    of = _inner(fn)[0]
    of = of if inspect.isroutine(of) or inspect.isclass(of) else getattr(of, "__call__", of)
    try:
        return typing.get_type_hints(of.__init__ if inspect.isclass(of) else of)
    except TypeError:  # it has none
        return {}
    except Exception as error:  # such as a name that only type checkers know
        raise InputError(f"an annotation cannot be resolved ({error}): give the schema with Tool(fn, parameters=...)") from error


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
    return json.dumps(value, allow_nan=False, ensure_ascii=False, default=plain_of).encode()


def _typed(value: Any, most: int, error: Optional[TypeError]) -> Dict[str, Any]:
    """A result with values that JSON has not, such as frames, arrays and dates, as the program gets it: JSON with tags (values.py), in a
    member that guest_tools.py knows. `error` is raised if there is a value that is not carried."""
    def other(each: Any) -> Any:
        try:
            return None, plain_of(each)
        except TypeError as no:
            raise NotCarried(str(no)) from no
    try:
        return {TYPED: to_letter(value, most, other)}
    except TooLarge as large:
        raise ValueError(f"the result has more bytes than result_size, {most}") from large
    except NotCarried as no:
        raise (TypeError(str(no)) if error is None else error) from no


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


def call_tool(tool: Tool, arguments: Dict[str, Any], tools: Toolbox) -> Dict[str, Any]:
    """The answer to a call of one of `tools`, made in this thread; a coroutine runs in an event loop of its own."""
    try:
        value = tool.call(arguments)
        if inspect.isawaitable(value):
            value = run_to_end(value)
        return tool.outcome_of(value)
    except Exception as error:
        return tools.failed(error)


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
        with contextlib.suppress(RuntimeError, futures.TimeoutError):  # the loop is closed, or the thread has not begun
            loop, task = begun.result(PATIENCE)
            loop.call_soon_threadsafe(task.cancel)
            futures.wait([ended])
        raise


async def acall_tool(tool: Tool, arguments: Dict[str, Any], tools: Toolbox) -> Dict[str, Any]:
    """As call_tool, for an event loop: coroutine functions run in it, others in a thread."""
    import asyncio
    try:
        value = tool.call(arguments) if inspect.iscoroutinefunction(tool.fn) else await asyncio.to_thread(tool.call, arguments)
        return tool.outcome_of(await value if inspect.isawaitable(value) else value)
    except Exception as error:
        return tools.failed(error)


class Server:
    """Answers the calls of one job. `theirs` is the descriptor for --tool-fd.

    A callable that is running when the job ends goes on to its own end, which is not awaited.
    """

    def __init__(self, tools: Toolbox) -> None:
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
            answer = self._tools.failed(error)
        self._write(call["id"], answer)

    async def _say(self, call_id: Any, tool: Tool, value: Awaitable[Any]) -> None:
        try:
            answer = tool.outcome_of(await value)
        except BaseException as error:
            self._write(call_id, self._tools.failed(error))
            if not isinstance(error, Exception):  # a cancellation, say, which the caller's loop must see
                raise
            return
        self._write(call_id, answer)

    def _write(self, call_id: Any, answer: Dict[str, Any]) -> None:
        with self._writing, contextlib.suppress(OSError):  # the job has ended
            self._ours.sendall(_line({"id": call_id, **answer}) + b"\n")
