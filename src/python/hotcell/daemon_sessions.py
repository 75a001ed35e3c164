"""Sessions in a daemon: interpreters that keep their state from run to run, see hotcelld(8), SESSIONS."""

from __future__ import annotations

import contextlib
import inspect
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Coroutine, Dict, Generator, List, Mapping, Optional, Sequence, Union

from .contexts import AsyncContext, Context, context_spec, in_context
from .daemon import Listener, answer_flow, checked, file_flow, files_flow, json_flow, named_id, post_at_once, quoted, told
from .commands import command_spec
from .daemon_commands import AsyncDaemonCommand, DaemonCommand
from .errors import DaemonLost, HotcellError, InputError, InputProblem, NotFound, PolicyProblem, Problem, problem_of, without_place
from .listening import check_listener
from .session import Answerer, Run, SessionEnded, input_line, run_of, run_spec, run_specs
from .session_files import AsyncSessionFiles, SessionFiles, Steps, advance, place_steps
from .staging import Large
from .temporary import Temporary
from .tools import Toolbox
from .turns import Turn
from .uploads import Body, forgotten, settled
from .wire import Flow, Notify, Place, aresult_of, events, result_of, unhurried, watched

if TYPE_CHECKING:
    from .jobs import Amount
    from .launcher import PathLike
    from .staging import Code

Program = Union[str, Mapping[str, Any]]


def session_flow(place: Place, session_id: Optional[str], body: Union[None, bytes, Body]) -> Flow:
    """Returns the daemon's record of the session `session_id`, or of the new session that `body` asks for."""
    if session_id is None:
        uploads: List[str] = []
        assert body is not None
        try:
            sent = yield from settled(place, body, uploads)
            info = yield from json_flow(place, "POST", "/v1/sessions", sent)
        except HotcellError:
            yield from forgotten(place, uploads)
            raise
        yield from forgotten(place, uploads)  # the session's cell has its inputs now
        return info
    return (yield from json_flow(place, "GET", f"/v1/sessions/{quoted(session_id, 'session_id')}"))


class _SessionFlows:
    """The flows of a session, for both kinds of callers."""

    def __init__(self, place: Place, info: Dict[str, Any], output_dir: Optional["PathLike"],
                 tools: Toolbox) -> None:
        self.id: str = named_id(place, info, "session_id")
        self.manifest: Optional[Dict[str, Any]] = None  # manifest of the whole session, once the session has ended
        self._temporary = Temporary() if output_dir is None else None
        self.output_dir = (self._temporary.path / "output") if self._temporary is not None else Path(output_dir or ".").absolute()
        self._place, self._tools, self._turn = place, tools, Turn()
        self._path = f"/v1/sessions/{self.id}"

    @property
    def ended(self) -> bool:
        """Whether the session is known to have ended."""
        return self.manifest is not None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}{'' if self.manifest is None else ': ended'}>"

    def _post(self, what: str, body: Any = None) -> Flow:
        try:
            return (yield from json_flow(self._place, "POST", f"{self._path}/{what}", body))
        except NotFound as error:
            raise (yield from self._over(error)) from error
        except PolicyProblem as error:
            raise _refused(error) from error

    def _input(self, answerer: Answerer, prompt: str) -> Flow:
        """Have the answerer say a line, and send it to the run."""
        lines: List[Any] = []

        def hear(event: Dict[str, Any]) -> Any:
            line = answerer(prompt)
            if not inspect.isawaitable(line):
                lines.append(line)
                return None

            async def later() -> None:
                lines.append(await line)
            return later()
        yield Notify(hear, {"event": "input_request"})
        with contextlib.suppress(Problem):  # the run has ended meanwhile
            yield from self._post("input", input_line(lines[0] if lines else None))

    def _run(self, code: Code, listener: Optional[Listener], on_input: Optional[Answerer] = None, **spec: Any) -> Flow:
        ends: List[Dict[str, Any]] = []
        check_listener(listener)
        check_listener(on_input, "on_input")
        self._tools.errors.clear()

        def see(event: Dict[str, Any]) -> Optional[Flow]:
            if event["event"] in ("result", "problem"):
                ends.append(event)
            if on_input is not None and event["event"] == "input_request":
                return told(listener, event, self._input(on_input, event["input_request"]["prompt"]))
            return told(listener, event, answer_flow(self._place, self._path, self._tools, event))
        placed: Large = {}
        body = {**run_spec(code, placed=placed, **spec), **({} if on_input is None else {"interactive": True})}
        yield from self._files(place_steps(placed))
        stream = events(self._place, "POST", f"{self._path}/runs", body)
        try:
            yield from unhurried(watched(stream, see), self._interrupt)
        except NotFound as error:
            raise (yield from self._over(error)) from error
        except PolicyProblem as error:
            raise _refused(error) from error
        except BaseException as error:
            if not ends and not isinstance(error, HotcellError):
                post_at_once(self._place, f"{self._path}/interrupt")
            raise
        if not ends:
            raise DaemonLost(f"{self._place.name}: the events of the run ended before the run")
        return (yield from self._take(ends[-1]))

    def _running(self) -> Flow:
        """Returns the daemon's records of the commands that go on."""
        listed = yield from json_flow(self._place, "GET", f"{self._path}/commands")
        return [one for one in listed["commands"] if one["state"] == "running"]

    def _interrupt(self) -> Flow:
        with contextlib.suppress(HotcellError):
            yield from self._post("interrupt")

    def _take(self, answer: Dict[str, Any]) -> Flow:
        """Fetch the files of a run, and return its Run. Raises the run's problem."""
        if answer["event"] == "problem":
            problem = problem_of(answer["problem"])
            raise (yield from self._over(problem)) if isinstance(problem, NotFound) else _refused(problem)
        try:
            yield from files_flow(self._place, self._path, answer["manifest"], self.output_dir)
            return run_of(answer, self.output_dir, self._temporary, self._tools.errors)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DaemonLost(f"{self._place.name}: the result is not as it should be: {error!r}") from error

    def _over(self, error: Problem) -> Flow:
        """The exception for status 410 (the session has ended, and the daemon knows why) or 404 (there is no such session or
        checkpoint, or no more)."""
        if error.status != 410:
            return error
        info: Dict[str, Any] = {}
        with contextlib.suppress(HotcellError):
            info = yield from json_flow(self._place, "GET", self._path)
        return SessionEnded(info.get("reason") or str(error), info.get("manifest") or error.manifest)

    def _branch(self, codes: Sequence[Program]) -> Flow:
        placed: Large = {}
        specs = run_specs(codes, placed)
        yield from self._files(place_steps(placed))
        answer = yield from self._post("branches", {"runs": specs})
        results = []
        for each in answer["branches"]:
            if each["event"] == "error":
                raise InputError(without_place(each["message"]))
            results.append((yield from self._take(each)))
        return results

    def _new_context(self, spec: Dict[str, Any]) -> Flow:
        return (yield from self._post("contexts", spec))

    def _contexts(self) -> Flow:
        try:
            return (yield from json_flow(self._place, "GET", f"{self._path}/contexts"))["contexts"]
        except NotFound as error:
            raise (yield from self._over(error)) from error

    def _restart(self, name: str) -> Flow:
        return self._post(f"contexts/{quoted(name, 'context')}/restart")

    def _end(self, name: str) -> Flow:
        try:
            yield from json_flow(self._place, "DELETE", f"{self._path}/contexts/{quoted(name, 'context')}")
        except NotFound as error:
            raise (yield from self._over(error)) from error
        except PolicyProblem as error:
            raise _refused(error) from error

    def _files(self, steps: Steps) -> Flow:
        with contextlib.closing(steps):
            request, result = advance(steps, None)
            while request:
                name, members = request
                answer = yield from self._post(f"workdir/{name.partition('_')[0]}", members)
                request, result = advance(steps, answer)
            return result

    def _close(self) -> Flow:
        if self.manifest is not None:
            return
        with contextlib.suppress(NotFound):
            ended = yield from json_flow(self._place, "DELETE", self._path)
            self.manifest = (ended or {}).get("manifest")


def _refused(error: Problem) -> Problem:
    """Status 422 becomes an InputProblem: the session's policy is settled, so the request is wrong, as without a daemon."""
    return InputProblem(str(error), 65, error.document) if error.status == 422 else error


class DaemonSession(_SessionFlows):
    """A session in a daemon, from Daemon.session(). It works as hotcell.Session; once it has ended, methods raise
    SessionEnded.

    There is one run at a time: those of other threads wait for their turn. The session belongs to the tenant and not to this
    connection, so that another process can use it, by Daemon.session(id): if a run of another process goes on, a run is refused
    with a Problem whose `retry` is "not_started". interrupt() waits for no turn.
    """

    @property
    def files(self) -> SessionFiles:
        """The files of the session's working directory, as of Session. Whatever another process does with the session at the
        time is a Problem whose `retry` is "not_started"."""
        return SessionFiles(lambda steps: self._wait(self._files(steps)))

    def _wait(self, flow: Flow) -> Any:
        """Run a flow when it is its turn."""
        with self._turn.taken():
            return result_of(flow)

    def run(self, code: Code, *, on_event: Optional[Listener] = None, check: bool = False, **spec: Any) -> Run:
        """Run `code` in the state that earlier runs left. `spec`: inputs, vars, input, args, env, returns, limits,
        timeout, persist_code, on_input, context.

        If an exception such as KeyboardInterrupt, or one of `on_event`, ends the wait, the run is interrupted and its end awaited; if a second one
        ends that wait too, the run goes on, and the next run is refused until it has ended.
        """
        run: Run = self._wait(self._run(code, on_event, **spec))
        checked(run, check)
        return run

    def start(self, command: Sequence[str], *, env: Optional[Mapping[str, str]] = None, workdir: Optional["PathLike"] = None,
              limits: Optional[Mapping[str, "Amount"]] = None, timeout: Optional["Amount"] = None) -> DaemonCommand:
        """As Session.start."""
        return DaemonCommand(self, result_of(self._post("commands", command_spec(command, env, workdir, limits, timeout))))

    def commands(self) -> List[DaemonCommand]:
        """As Session.commands."""
        return [DaemonCommand(self, one) for one in result_of(self._running())]

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the running program; without one nothing happens."""
        result_of(self._post("interrupt"))

    def checkpoint(self, name: str, context: Optional[str] = None) -> None:
        """Save the present state of a context, None: the first, under a name. NotFound: there is no such context."""
        self._wait(self._post("checkpoints", in_context(name, context)))

    def rollback(self, name: str, context: Optional[str] = None) -> None:
        """Bring a context, None: the first, back to the state of a checkpoint, which is kept."""
        self._wait(self._post("rollback", in_context(name, context)))

    def context(self, name: Optional[str] = None, *, checkpoint: Optional[str] = None, workdir: Optional["PathLike"] = None) -> Context:
        """As Session.context."""
        return Context(self, self._wait(self._new_context(context_spec(name, checkpoint, workdir))))

    def contexts(self) -> List[Context]:
        """As Session.contexts. It does not wait for a run."""
        return [Context(self, one) for one in result_of(self._contexts())]

    def _restart_context(self, name: str) -> None:
        self._wait(self._restart(name))

    def _end_context(self, name: str) -> None:
        self._wait(self._end(name))

    def branch(self, codes: Sequence[Program]) -> List[Run]:
        """Run several programs (or dicts of arguments of run), each from the present state. Afterwards keep() has to choose
        one of the resulting states."""
        runs: List[Run] = self._wait(self._branch(codes))
        return runs

    def keep(self, branch: int) -> None:
        """Go on with the state of the branch of this number, from 1; 0: with the state before."""
        self._wait(self._post("keep", {"branch": branch}))

    def changes(self) -> List[Dict[str, Any]]:
        """What the runs so far have changed in the copies of volumes: for each a dict with its "place", "volume" and "changes", as
        manifests have those of directories. The volumes change when the session ends."""
        dirs: List[Dict[str, Any]] = self._wait(self._post("workdir/changes", {}))["dirs"]
        return dirs

    def info(self) -> Dict[str, Any]:
        """The daemon's record of the session: its state, its runs, the last result."""
        info: Dict[str, Any] = result_of(json_flow(self._place, "GET", self._path))
        return info

    def file(self, path: str) -> bytes:
        """The content of a file or figure, by its path in a run's manifest."""
        content: bytes = result_of(file_flow(self._place, self._path, path))
        return content

    def close(self) -> None:
        """End the session. Afterwards `manifest` is the manifest of the whole session."""
        result_of(self._close())

    def __enter__(self) -> "DaemonSession":
        return self

    def __exit__(self, *why: Any) -> None:
        self.close()


class AsyncDaemonSession(_SessionFlows):
    """As DaemonSession, for an event loop: runs of other tasks wait for their turn."""

    @property
    def files(self) -> AsyncSessionFiles:
        """As DaemonSession.files."""
        return AsyncSessionFiles(lambda steps: self._wait(self._files(steps)))

    async def _wait(self, flow: Flow) -> Any:
        """Run a flow when it is its turn."""
        async with self._turn.ataken():
            return await aresult_of(flow)

    async def run(self, code: Code, *, on_event: Optional[Listener] = None, check: bool = False, **spec: Any) -> Run:
        """As DaemonSession.run. Cancelling the task interrupts the run, and the task ends with the run."""
        run: Run = await self._wait(self._run(code, on_event, **spec))
        checked(run, check)
        return run

    async def start(self, command: Sequence[str], *, env: Optional[Mapping[str, str]] = None, workdir: Optional["PathLike"] = None,
                    limits: Optional[Mapping[str, "Amount"]] = None, timeout: Optional["Amount"] = None) -> AsyncDaemonCommand:
        """As DaemonSession.start."""
        return AsyncDaemonCommand(self, await aresult_of(self._post("commands", command_spec(command, env, workdir, limits, timeout))))

    async def commands(self) -> List[AsyncDaemonCommand]:
        """As DaemonSession.commands."""
        return [AsyncDaemonCommand(self, one) for one in await aresult_of(self._running())]

    async def interrupt(self) -> None:
        """As DaemonSession.interrupt."""
        await aresult_of(self._post("interrupt"))

    async def checkpoint(self, name: str, context: Optional[str] = None) -> None:
        """As DaemonSession.checkpoint."""
        await self._wait(self._post("checkpoints", in_context(name, context)))

    async def rollback(self, name: str, context: Optional[str] = None) -> None:
        """As DaemonSession.rollback."""
        await self._wait(self._post("rollback", in_context(name, context)))

    async def context(self, name: Optional[str] = None, *, checkpoint: Optional[str] = None, workdir: Optional["PathLike"] = None) -> AsyncContext:
        """As DaemonSession.context."""
        return AsyncContext(self, await self._wait(self._new_context(context_spec(name, checkpoint, workdir))))

    async def contexts(self) -> List[AsyncContext]:
        """As DaemonSession.contexts."""
        return [AsyncContext(self, one) for one in await aresult_of(self._contexts())]

    async def _restart_context(self, name: str) -> None:
        await self._wait(self._restart(name))

    async def _end_context(self, name: str) -> None:
        await self._wait(self._end(name))

    async def branch(self, codes: Sequence[Program]) -> List[Run]:
        """As DaemonSession.branch."""
        runs: List[Run] = await self._wait(self._branch(codes))
        return runs

    async def keep(self, branch: int) -> None:
        """As DaemonSession.keep."""
        await self._wait(self._post("keep", {"branch": branch}))

    async def changes(self) -> List[Dict[str, Any]]:
        """As DaemonSession.changes."""
        dirs: List[Dict[str, Any]] = (await self._wait(self._post("workdir/changes", {})))["dirs"]
        return dirs

    async def info(self) -> Dict[str, Any]:
        """As DaemonSession.info."""
        info: Dict[str, Any] = await aresult_of(json_flow(self._place, "GET", self._path))
        return info

    async def file(self, path: str) -> bytes:
        """As DaemonSession.file."""
        content: bytes = await aresult_of(file_flow(self._place, self._path, path))
        return content

    async def close(self) -> None:
        """As DaemonSession.close."""
        await aresult_of(self._close())

    async def __aenter__(self) -> "AsyncDaemonSession":
        return self

    async def __aexit__(self, *why: Any) -> None:
        await self.close()


class AsyncOpening(Coroutine[Any, Any, AsyncDaemonSession]):
    """A session that is being begun: awaited, it is the session; in `async with` it is that, too, and closed at the end."""

    def __init__(self, begun: Coroutine[Any, Any, AsyncDaemonSession]) -> None:
        self._begun = begun

    def __await__(self) -> Generator[Any, Any, AsyncDaemonSession]:
        return self._begun.__await__()

    def send(self, value: Any) -> Any:
        return self._begun.send(value)

    def throw(self, *why: Any) -> Any:
        return self._begun.throw(*why)

    def close(self) -> None:
        self._begun.close()

    async def __aenter__(self) -> AsyncDaemonSession:
        self._session = await self._begun
        return self._session

    async def __aexit__(self, *why: Any) -> None:
        await self._session.close()
