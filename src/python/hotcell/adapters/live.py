"""RunPython's session: one interpreter in a cell for all runs, so that functions, classes and objects of any type stay.

For values that can be sent, the caller's namespace is authoritative: values that differ from the session's, data frames and arrays
are sent again for each run that names them. The session has a single tool, whatever the caller allows: by it stand-ins ask for what
the caller's namespace has, and the registry allows, at that moment (standins.py). The directories of ok_dests are made in the cell
before each run as the caller has them, and what a run has changed in them is changed in the caller's after it (dests.py).
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import errno
import functools
import inspect
import json
import shutil
import tempfile
import threading
import warnings
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from ..errors import HotcellError, NeedsSession
from ..session import Run, Session, SessionEnded
from .allow import registry_state
from .dests import UNTOLD, Dests, DestsError
from .standins import Desk, is_json, raised

PATIENCE = 1.0  # seconds until a run that was interrupted is interrupted once more
NEVER_BEGUN = ("idle", "life", "cpu", "runs", "output")  # reasons for a session's end that come between runs only

@dataclass
class _Request:
    """One run: its code and values, and the caller's context and event loop."""

    code: str
    rules: Callable[[Sequence[str]], Dict[str, Any]]  # of the policy, for the places that the code may write to
    values: Any
    returns: List[str]
    context: contextvars.Context
    loop: asyncio.AbstractEventLoop
    state: Any  # state of the registry when the caller asked for the run
    cancelled: bool = False


# Tells what became of the run's changes of files: why there are none, None if all is well. DestsError: they could not be made.
Told = Callable[[], Optional[str]]


class _Session(Session):
    _interface = "runpython"


class Live:
    """One session, begun at its first run, and begun again after it has ended."""

    def __init__(self, desk: Desk, options: Mapping[str, Any], ok_dests: Optional[Sequence[str]]) -> None:
        self._desk, self._options, self._ok_dests = desk, options, ok_dests
        self._dests: Optional[Dests] = None  # the directories of the session
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

    async def run(self, code: str, rules: Callable[[Sequence[str]], Dict[str, Any]], values: Any, returns: List[str],
                  state: Any) -> Tuple[Run, Told]:
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

    def _run(self, request: _Request) -> Tuple[Run, Told]:
        with self._lock:
            self._current = request
            try:
                return self._run_in(self._ready(request), request)
            except SessionEnded as error:
                if error.reason not in NEVER_BEGUN:
                    raise
                self.close()
                warnings.warn(f"{error}: what it had is lost, another is begun", stacklevel=2)
                return self._run_in(self._ready(request), request)
            finally:
                self._current = None
                if self._dests is not None:
                    self._dests.rest()
                if self._session is not None and self._session.ended:
                    self.close()

    def _ready(self, request: _Request) -> Session:
        """The session, with its directories as the caller has them now."""
        if self._dests is not None and not self._dests.renew(self._ok_dests):
            self._end_because("the directories that code may change are others now")
        if self._dests is None:
            self._dests = Dests(self._ok_dests, live=True)
        self._desk.holds = self._dests.holds
        return self._open(request.rules(self._dests.places()), self._dests)

    def _end_because(self, why: str) -> None:
        if self._session is not None:
            warnings.warn(f"{why}: what the session had is lost", stacklevel=2)
        self.close()

    def _open(self, rules: Dict[str, Any], dests: Dests) -> Session:
        if self._session is not None and rules != self._rules:
            self._finish()
            self._session = None
            self._forget()
            warnings.warn("the rules for code have changed: what the session had is lost", stacklevel=2)
        if self._session is None:
            directory = tempfile.mkdtemp(prefix="hotcell-")
            try:
                tools = [self._desk.tool(_answer(weakref.ref(self)))]
                full = {**rules, "prelude": {"code": dests.prelude() + self._desk.prelude()}, "limits": dests.limits()}
                self._session = _Session(policy=full, tools=tools, output_dir=Path(directory, "output"), **dests.options(), **self._options)
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
        if self._dests is not None:
            self._dests.close()
            self._dests = None
        self._forget()

    def _run_in(self, session: Session, request: _Request) -> Tuple[Run, Told]:
        self._context, self._calls = request.context, _Calls(request.loop)
        self._desk.begin(request.state)
        try:
            return self._run_through(session, request)
        finally:
            self._calls.end()
            self._calls = None

    def _run_through(self, session: Session, request: _Request) -> Tuple[Run, Told]:
        values = request.values
        self._bring_files(session)
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
        return run, self._take_files(session, request, run)

    def _bring_files(self, session: Session) -> None:
        """Make the directories in the cell as the caller has them."""
        dests = self._dests
        if dests is None or not dests.places() or not dests.renewed:  # the first run finds what the prelude has made
            return
        for complete in (False, True):
            run = session.run(dests.begin(complete))
            if not run.ok:
                raise DestsError(errno.EIO, f"the files of ok_dests could not be brought into the cell: {_reason(run)}")
            if not dests.bring(run.output_dir):
                return
        raise DestsError(errno.EAGAIN, "the files of ok_dests change while they are brought into the cell")

    def _take_files(self, session: Session, request: _Request, run: Run) -> Told:
        """Make the changes of files, before another run begins."""
        dests = self._dests
        if dests is None or not dests.places() or run.rejection is not None:
            return lambda: None
        if request.cancelled or not run.kept:  # the next run finds the directories as the caller has them
            return lambda: UNTOLD
        try:
            told = session.run("hotcell_dests_end()")
            if not told.ok:
                raise DestsError(errno.EIO, f"the changes of files could not be carried out of the cell: {_reason(told)}")
            untold = dests.apply(told.output_dir, told.manifest["limits"]["file"]) if registry_state() == request.state else None
        except HotcellError as error:
            return functools.partial(_raise, error)
        return lambda: untold

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
            raise NeedsSession(f"{', '.join(new)}: not set up: {run.error.traceback if run.error else run.reason}")
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


def _reason(run: Run) -> str:
    return str(run.error.message if run.error else run.reason)


def _raise(error: BaseException) -> None:
    raise error


def _end(session: Session, directory: str) -> None:
    session.close()
    shutil.rmtree(directory, ignore_errors=True)
