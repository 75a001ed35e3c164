"""RunPython's session: one interpreter in a cell for all runs, so that functions, classes and objects of any type stay.

For values that can be sent, the caller's namespace is authoritative: values that differ from the session's, data frames and arrays
are sent again for each run that names them. The session has a single tool, whatever the caller allows: by it stand-ins ask for what
the caller's namespace has, and the registry allows, at that moment (standins.py).
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import inspect
import json
import shutil
import tempfile
import threading
import warnings
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional

from ..errors import NeedsSession
from ..session import Run, Session, SessionEnded
from .standins import Desk, is_json, raised

PATIENCE = 1.0  # seconds until a run that was interrupted is interrupted once more
NEVER_BEGUN = ("idle", "life", "cpu", "runs", "output")  # reasons for a session's end that come between runs only

@dataclass
class _Request:
    """One run: its code and values, and the caller's context and event loop."""

    code: str
    rules: Dict[str, Any]
    values: Any
    returns: List[str]
    context: contextvars.Context
    loop: asyncio.AbstractEventLoop
    state: Any  # state of the registry when the caller asked for the run
    cancelled: bool = False


class _Session(Session):
    _interface = "runpython"


class Live:
    """One session, begun at its first run, and begun again after it has ended."""

    def __init__(self, desk: Desk, options: Mapping[str, Any]) -> None:
        self._desk, self._options = desk, options
        self._lock = threading.Lock()
        self._session: Optional[Session] = None
        self._rules: Dict[str, Any] = {}
        self._finish: Callable[[], Any] = lambda: None
        self._current: Optional[_Request] = None
        self._calls: Optional[_Calls] = None
        self._forget()

    def _forget(self) -> None:
        """Forget which values the session has."""
        self._known: Dict[str, Any] = {}
        self._set_up: Dict[str, Any] = {}
        self._context = contextvars.copy_context()

    # ---- answered here ----

    def _answer(self, message: Mapping[str, Any]) -> Any:
        calls = self._calls
        if calls is None:
            return raised(RuntimeError("the run that calls has ended"))
        value = self._context.run(self._desk.answer, **message)
        return calls.wait_for(value, self._context) if inspect.isawaitable(value) else value

    # ---- running ----

    async def run(self, code: str, rules: Dict[str, Any], values: Any, returns: List[str], state: Any) -> Run:
        """Run code with the caller's values. Cancelling the task interrupts the run, whose end is awaited."""
        request = _Request(code, rules, values, returns, contextvars.copy_context(), asyncio.get_running_loop(), state)
        work = request.loop.run_in_executor(None, self._run, request)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            request.cancelled = True
            while not work.done():  # the code may not have begun when the first interrupt comes, and may hold out against it
                session = self._session
                if session is not None and self._current is request:
                    session.interrupt()
                await asyncio.wait([work], timeout=PATIENCE)
            work.exception()  # marks the exception as retrieved
            raise

    def _run(self, request: _Request) -> Run:
        with self._lock:
            self._current = request
            try:
                return self._run_in(self._open(request.rules), request)
            except SessionEnded as error:
                if error.reason not in NEVER_BEGUN:
                    raise
                self.close()
                warnings.warn(f"{error}: what it had is lost, another is begun", stacklevel=2)
                return self._run_in(self._open(request.rules), request)
            finally:
                self._current = None
                if self._session is not None and self._session.ended:
                    self.close()

    def _open(self, rules: Dict[str, Any]) -> Session:
        if self._session is not None and rules != self._rules:
            self.close()
            warnings.warn("the rules for code have changed: what the session had is lost", stacklevel=2)
        if self._session is None:
            directory = tempfile.mkdtemp(prefix="hotcell-")
            try:
                tools = [self._desk.tool(_answer(weakref.ref(self)))]
                full = {**rules, "prelude": {"code": self._desk.prelude()}}
                self._session = _Session(policy=full, tools=tools, output_dir=Path(directory, "output"), **self._options)
            except BaseException:
                shutil.rmtree(directory, ignore_errors=True)
                raise
            self._rules = rules
            self._finish = weakref.finalize(self, _end, self._session, directory)
        return self._session

    def close(self) -> None:
        """End the session: the next run begins another."""
        self._finish()
        self._session = None
        self._forget()

    def _run_in(self, session: Session, request: _Request) -> Run:
        self._context, self._calls = request.context, _Calls(request.loop)
        self._desk.begin(request.state)
        try:
            return self._run_through(session, request)
        finally:
            self._calls.end()
            self._calls = None

    def _run_through(self, session: Session, request: _Request) -> Run:
        values = request.values
        self._prepare(session, values)
        if request.cancelled:
            raise InterruptedError("cancelled before it began")
        fresh = {name: value for name, value in values.vars.items()
                 if name not in self._known or self._known[name] != json.dumps(value)}
        run = session.run(request.code, vars=fresh, inputs=values.inputs, returns=request.returns)
        if not run.kept:
            self._forget()
        elif run.ok:
            self._known.update({name: json.dumps(value) for name, value in fresh.items()})
        else:  # what it assigned before it failed does not come back: the caller's values go in again
            for name in (*values.vars, *values.plan):
                self._known.pop(name, None)
                self._set_up.pop(name, None)
        for name in values.inputs:
            self._known.pop(name, None)
        for name in (*values.inputs, *values.vars):
            self._set_up.pop(name, None)
        return run

    def learn(self, exported: Mapping[str, Any]) -> None:
        """Note values that came from the session into the caller's namespace, and which the session thus has."""
        for name, value in exported.items():
            if is_json(value):
                self._known[name] = json.dumps(value)
            else:
                self._known.pop(name, None)
            self._set_up.pop(name, None)

    def _prepare(self, session: Session, values: Any) -> None:
        """Bind what is not JSON: other values, modules, stand-ins."""
        new = {name: json.dumps(node) for name, node in values.plan.items()}
        new = {name: text for name, text in new.items() if self._set_up.get(name) != text or name in values.changing}
        if not new:
            return
        run = session.run("hotcell_setup(hotcell_plan)", vars={"hotcell_plan": {name: values.plan[name] for name in new}})
        if not run.ok:
            raise NeedsSession(f"{', '.join(new)}: not set up: {run.error.message if run.error else run.reason}")
        self._set_up.update(new)
        for name in new:
            self._known.pop(name, None)


def _answer(live: "weakref.ref[Live]") -> Callable[..., Any]:
    """The session's tool. It has only a weak reference to the session's owner, as the session has a reference to it."""
    def hotcell_call(**message: Any) -> Any:
        here = live()
        if here is None:
            raise RuntimeError("the caller has gone")
        return here._answer(message)
    return hotcell_call


class _Calls:
    """Runs the coroutines that a run calls in the caller's event loop. One thread answers all calls of a session: a coroutine
    that does not end blocks it until the run ends, and no longer."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._work: Optional["concurrent.futures.Future[Any]"] = None
        self._over = False

    def wait_for(self, value: Any, context: contextvars.Context) -> Any:
        """The result of a coroutine. CancelledError: the run has ended."""
        with self._lock:
            self._work = context.run(asyncio.run_coroutine_threadsafe, _awaited(value), self._loop)
            if self._over:
                self._work.cancel()
        return self._work.result()

    def end(self) -> None:
        """Cancel the coroutines, as the run has ended."""
        with self._lock:
            self._over = True
            if self._work is not None:
                self._work.cancel()


async def _awaited(value: Any) -> Any:
    return await value


def _end(session: Session, directory: str) -> None:
    session.close()
    shutil.rmtree(directory, ignore_errors=True)
