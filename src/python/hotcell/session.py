"""Sessions: an interpreter in a cell that keeps its state from run to run, see hotcell-session(1)."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from . import place
from .commands import AsyncCommand, Command, command_spec
from .contexts import AsyncContext, Context, context_spec, in_context
from .daemon import checked
from .errors import HotcellError, InputError, LaunchFailed, NotInstalled, UsageError, named, unexpected, without_place
from .jobs import Amount, Policy, failure, policy_argument
from .launcher import PATIENCE, Completed, PathLike, find_binary
from .listening import Listener, aside, check_listener, tell
from .results import File, Result, hold, result_from_manifest
from .session_files import AsyncSessionFiles, SessionFiles, Steps, advance, place_steps
from .staging import (Code, Directory, Large, Staging, contents, contents_of_run, dir_option, dirs_of, limits_of, list_of, mapping_of, path_of,
                      program_of, returns_of, split_vars, stdin_of, to_json)
from .temporary import Temporary
from .tools import Server, Tool, Tools, tools_by_name
from .turns import Turn

if TYPE_CHECKING:
    import asyncio

Answerer = Callable[[str], Any]  # called with a prompt, returns a line or None, or an awaitable of one
MAX_REQUEST = 64 << 20  # bytes of a request, as for a daemon; the command would end the session at somewhat more


@dataclass(frozen=True)
class Run(Result):
    """The result of one run. `run` is its number; `state` says which state the next run finds: "kept", or "rolled back to
    run 3" and the like; `branch` is the number of its branch, or None; `context` is the context that it was in."""

    run: int = 0
    state: str = ""
    branch: Optional[int] = None
    context: str = "main"

    @property
    def kept(self) -> bool:
        """Whether the next run finds this run's changes."""
        return self.state == "kept"


def run_of(answer: Mapping[str, Any], output_dir: Path, temporary: Optional[Temporary] = None,
           tool_errors: Iterable[BaseException] = ()) -> Run:
    """A Run from the answer to a run. If the session's directory is a temporary one, the Run gets its files to itself, as a
    later run may write others of the same names."""
    plain = result_from_manifest(answer["manifest"], output_dir, None, tool_errors)
    members = {member.name: getattr(plain, member.name) for member in fields(Result)}
    own = Temporary(temporary) if temporary is not None and (plain.figures or plain.files) else None
    if own is not None:
        members.update({name: tuple(_copied(file, own.path) for file in members[name]) for name in ("figures", "files")})
    run: Run = hold(Run(**members, run=answer["run"], state=answer["state"], branch=answer.get("branch"),
                         context=plain.manifest.get("context", "main")), own)
    return run


def _copied(file: File, directory: Path) -> File:
    """The file in another directory; where it is if it cannot be copied, as a later branch has written it anew."""
    try:
        place.keep(directory, file, file.read())
    except (OSError, HotcellError):
        return file
    return replace(file, directory=directory)


class SessionEnded(HotcellError):
    """The session has ended. `reason` is the reason of the event "end" in hotcell-session(1); `manifest` is the manifest of
    the whole session, or None."""

    def __init__(self, reason: str, manifest: Optional[Dict[str, Any]]) -> None:
        super().__init__(f"the session is over: {(manifest or {}).get('reason') or reason}")
        self.reason = reason
        self.manifest = manifest


class Session:
    """An interpreter that keeps its state from run to run. A run that is killed is undone, as `Run.state` says.

        with hotcell.Session(timeout=10) as session:
            session.run("x = 1")
            session.run("x + n", vars={"n": 41}).value

    policy      name, path, or a policy as a dict; None: the policy "default"
    tree        name or path of the root file system, with layers "scientific+geo"; None: the policy's
    inputs      name: path of a file, pandas DataFrame, Series or Index, or numpy array; a variable of that name
    output_dir  directory for files, figures and manifest.json; None: a temporary one, which goes with the Session. The files
                of each Run are then its own; in a directory that was named, a later run may replace them
    limits      members of a policy's "limits"; limits of time and output apply to each run
    timeout, memory  short for limits["timeout"] and limits["memory"]
    seed        makes random numbers and hashes repeatable
    guard       False: turn off the policy's rules for Python code; the kernel's layers stay on
    tenant, job_id, labels  are written into the manifests
    sign        key file to sign the manifests with
    tools       callables that runs may call as tools.NAME(...): a list, or name: callable; a Tool has limits
    env         environment variables of the programs, beside the policy's
    binary      the hotcell command, see launcher.find_binary
    dirs        directories of this host, as of hotcell.run, with the modes "ro" and "cow": of these `manifest` has the changes
                when the session has ended
    workdir     directory of the cell that the session begins in; None: /output

    `files` has the files of the session's working directory, see SessionFiles. Raises as hotcell.run does. Once the session has
    ended, every method but close() raises SessionEnded, or LaunchFailed if hotcell itself has failed. Runs of other threads wait
    for their turn; interrupt() does not.
    """

    _interface = "python"  # in whose words hints are
    _loop: Optional["asyncio.AbstractEventLoop"] = None  # event loop of an AsyncSession, in which coroutines among the tools run

    @named
    def __init__(self, *, policy: Optional[Policy] = None, tree: Optional[PathLike] = None,
                 inputs: Optional[Mapping[str, Any]] = None, output_dir: Optional[PathLike] = None,
                 limits: Optional[Mapping[str, Amount]] = None, timeout: Optional[Amount] = None,
                 memory: Optional[Amount] = None, seed: Optional[int] = None, guard: Optional[bool] = None,
                 tenant: Optional[str] = None, job_id: Optional[str] = None,
                 labels: Optional[Mapping[str, str]] = None, sign: Optional[PathLike] = None,
                 tools: Optional[Tools] = None, env: Optional[Mapping[str, str]] = None, binary: Optional[PathLike] = None,
                 dirs: Optional[Sequence[Directory]] = None, workdir: Optional[PathLike] = None) -> None:
        self.manifest: Optional[Dict[str, Any]] = None  # manifest of the whole session, once the session has ended
        self._reason = "closed"
        self._writing = threading.Lock()
        self._asking = threading.RLock()  # one request about a command at a time
        self._reading = threading.Condition()  # guards the next five
        self._reads = False  # a thread waits for the process's next line
        self._buffer = bytearray()  # what has come of a line
        self._answers: Deque[Dict[str, Any]] = deque()  # answers that nobody has taken, but for those of commands
        self._lists: Deque[Dict[str, Any]] = deque()  # answers to the request for a list of commands
        self._commands: Dict[str, Command] = {}
        self._turn = Turn()
        self._shows = False  # the command sends events of runs
        self._staging = Staging()
        self._server: Optional[Server] = None
        callables = self._tools = tools_by_name(tools)
        every = limits_of(limits, timeout=timeout, memory=memory)
        self._temporary = Temporary() if output_dir is None else None
        self.output_dir = (self._temporary.path / "output") if self._temporary is not None else Path(path_of(output_dir, "output_dir")).absolute()
        plain = {"--tree": tree, "--seed": seed, "--tenant": tenant, "--job-id": job_id, "--sign": sign,
                 "--output": self.output_dir, "--workdir": workdir, "--guard": None if guard is None else "on" if guard else "off"}
        with contextlib.ExitStack() as undo:
            undo.enter_context(self._staging)
            if self._temporary is not None:
                undo.callback(self._temporary.close)
            command = [find_binary(binary), "session", f"--interface={self._interface}", *self._policy(policy, every, callables)]
            for name, value in plain.items():
                command += [] if value is None else [name, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
            for name, path in self._staging.inputs(inputs).items():
                command += ["--input", f"{name}={path}"]
            for each in dirs_of(dirs):
                command += ["--dir", dir_option(each)]
            for name, text in mapping_of(labels, "labels").items():
                command += ["--label", f"{name}={text}"]
            for name, text in mapping_of(env, "env").items():
                command += ["--env", f"{name}={text}"]
            if callables:
                self._server = Server(callables)
                self._server.start(self._loop)
                undo.callback(self._server.close)
                command += ["--tool-fd", str(self._server.theirs)]
            self._start(command)
            undo.pop_all()

    def _policy(self, policy: Optional[Policy], limits: Dict[str, Amount], tools: Mapping[str, Tool]) -> List[str]:
        """Options for the policy; limits and tools of the caller become a policy that extends it."""
        over: Dict[str, Any] = {"limits": limits} if limits else {}
        if tools:
            over["tools"] = {name: tool.described() for name, tool in tools.items()}
        if over and isinstance(policy, Mapping):
            policy = {**policy, **{name: {**policy.get(name, {}), **value} for name, value in over.items()}}
        elif over:
            base = policy_argument(policy, self._staging) or "default"
            policy = {"extends": os.path.abspath(base) if "/" in base else base, **over}
        named = policy_argument(policy, self._staging)
        return [] if named is None else ["--policy", named]

    def _start(self, command: List[str]) -> None:
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=subprocess.PIPE, start_new_session=True,  # ctrl-C is not for it
                                             pass_fds=() if self._server is None else (self._server.theirs,))
        except OSError as error:
            raise NotInstalled(f"{command[0]}: {error.strerror}") from error
        self.id: str = self._answer()["session"]

    @property
    def files(self) -> SessionFiles:
        """The files of the session's working directory, between runs."""
        return SessionFiles(self._perform)

    @property
    def ended(self) -> bool:
        """Whether the session is known to have ended."""
        return bool(self._process.stdout and self._process.stdout.closed)

    def run(self, code: Code, *, vars: Optional[Mapping[str, Any]] = None, returns: Optional[Sequence[str]] = None,
            limits: Optional[Mapping[str, Amount]] = None, timeout: Optional[Amount] = None,
            persist_code: bool = False, inputs: Optional[Mapping[str, Any]] = None, input: Union[None, str, bytes] = None,
            args: Optional[Sequence[str]] = None, env: Optional[Mapping[str, str]] = None,
            workdir: Optional[PathLike] = None, check: bool = False, on_event: Optional[Listener] = None,
            on_input: Optional[Answerer] = None, context: Optional[str] = None, **other: Any) -> Run:
        """Run `code` in the state that earlier runs left. Parameters as of hotcell.run, without those that are given to the
        session as a whole, such as `tools`, `policy`, `memory` and `dirs`: TypeError. `limits` of time and output only; the variables
        of `env` are there for this run only; `workdir` is the directory of the cell that a command begins in; `context` is the name of the
        context that it runs in, the first for None. `on_input` is called with the
        prompt each time that the program calls input(), and returns the line, or None for the end of input; without it input() reads `input`. The
        time until it returns counts as the run's.

        A program that fails, is refused or is killed is a Run too: `Run.state` says which state the next run finds. Raises
        InputError for a request that is not valid, SessionEnded, LaunchFailed if hotcell itself has failed, and JobError
        with check=True.

        Ctrl-C in the main thread, or an exception of `on_event`, interrupts the run: it is raised when the run has ended, and
        the session goes on. A second ctrl-C ends the session.
        """
        check_listener(on_event)
        check_listener(on_input, "on_input")
        placed: Large = {}
        spec = run_spec(code, vars, returns, limits, timeout, persist_code, inputs, input, args, env, workdir, placed, context, **other)
        if on_input is not None:
            spec["interactive"] = True
        with self._turn.taken():
            self._tools.errors.clear()
            self._take_steps(place_steps(placed))
            self._show(on_event is not None)
            self._ask({"run": spec})
            with self._interruptible():
                result = self._result(self._follow(on_event, on_input))
        checked(result, check)
        return result

    def start(self, command: Sequence[str], *, env: Optional[Mapping[str, str]] = None, workdir: Optional[PathLike] = None,
              limits: Optional[Mapping[str, Amount]] = None, timeout: Optional[Amount] = None) -> Command:
        """Start a command, a list of arguments, that goes on beside runs and other commands, under a policy that lets commands be
        executed. `limits` are those of its own: "timeout" (by default it goes on as long as the session), "cpu", "stdout",
        "stderr". May be called while a run goes on in another thread. InputError: it is refused, or sixteen go on already."""
        spec = command_spec(command, env, workdir, limits, timeout)
        with self._asking:
            with self._reading:
                started = Command(self, f"c{len(self._commands) + 1}", spec["command"])
                self._commands[started.id] = started
            self._ask({"start": spec, "id": started.id})
            started.pid = started._answer()["pid"]
        return started

    def commands(self) -> List[Command]:
        """The commands that go on."""
        with self._asking:
            self._ask({"commands": True})
            listed = self._next(lambda: self._lists.popleft() if self._lists else None)["commands"]
        return [self._commands[one["command"]] for one in listed]

    def _show(self, shows: bool) -> None:
        """Have the command send events of runs, or no more."""
        if shows != self._shows:
            self._ask({"stream": shows})
            self._answer()
            self._shows = shows

    def _answer_input(self, answerer: Answerer, prompt: str) -> None:
        """Give the run the line that the answerer returns."""
        line = answerer(prompt)
        if inspect.isawaitable(line):
            if self._loop is None:
                raise TypeError("on_input: a coroutine function needs an AsyncSession")
            import asyncio
            line = asyncio.run_coroutine_threadsafe(_awaited(line), self._loop).result()
        self._ask(input_line(line))

    def _follow(self, listener: Optional[Listener], answerer: Optional[Answerer] = None) -> Dict[str, Any]:
        """The answer to a run. Events before it, and the answer itself, go to the listener; if it fails, the run is
        interrupted, and its exception raised when the run has ended."""
        broken: Optional[BaseException] = None
        while True:
            answer = self._answer()
            asked = answerer is not None and answer["event"] == "input_request"
            if (listener is not None or asked) and broken is None:
                try:
                    if listener is not None:
                        tell(listener, answer)
                    if answerer is not None and asked:
                        self._answer_input(answerer, answer["input_request"]["prompt"])
                except BaseException as error:
                    broken = error
                    if answer["event"] != "result":
                        self.interrupt()
            if answer["event"] == "result" and broken is not None:
                raise broken
            if answer["event"] == "result":
                return answer

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """For a block that waits for a run: ctrl-C, where it would raise KeyboardInterrupt, interrupts the run, and raises at
        the end of the block. An exception within the wait itself could lose a part of an answer."""
        broken = False

        def interrupt(number: int, frame: Any) -> None:
            nonlocal broken
            if broken:
                raise KeyboardInterrupt
            broken = True
            if not self._writing.locked():  # else an interrupt is being sent
                self.interrupt()
        if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if broken:
            raise KeyboardInterrupt

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the running program; without one nothing happens."""
        self._ask({"interrupt": True})

    def checkpoint(self, name: str, context: Optional[str] = None) -> None:
        """Save the present state of a context, None: the first, under a name, replacing an earlier checkpoint of that name. InputError: the
        name is not valid, there are too many checkpoints, or there is no such context."""
        self._request({"checkpoint": in_context(name, context)})

    def rollback(self, name: str, context: Optional[str] = None) -> None:
        """Bring a context, None: the first, back to the state of a checkpoint, which is kept. InputError: there is no checkpoint of this
        name, or no such context."""
        self._request({"rollback": in_context(name, context)})

    def context(self, name: Optional[str] = None, *, checkpoint: Optional[str] = None, workdir: Optional[PathLike] = None) -> Context:
        """Begin a context: one more interpreter in the session's cell, see Context. `name`: None: the session names it; `checkpoint`: the
        checkpoint that it is a copy of, None: the interpreter as it was before the first run; `workdir`: the directory of the cell that it
        begins in. InputError: there are eight already, one has this name, or there is no room for its process."""
        answer = self._request({"new_context": context_spec(name, checkpoint, workdir)})
        return next(Context(self, one) for one in answer["contexts"] if one["name"] == answer["context"])

    def contexts(self) -> List[Context]:
        """The contexts, the first of which, "main", the session began with."""
        return [Context(self, one) for one in self._request({"contexts": True})["contexts"]]

    def _restart_context(self, name: str) -> None:
        self._request({"restart_context": name})

    def _end_context(self, name: str) -> None:
        self._request({"end_context": name})

    def branch(self, codes: Sequence[Union[str, Mapping[str, Any]]]) -> List[Run]:
        """Run several programs (or dicts of arguments of run), each from the present state. Afterwards keep() has to choose
        one of the resulting states. InputError: a request was not valid."""
        placed: Large = {}
        specs = run_specs(codes, placed)
        with self._turn.taken():
            self._show(False)
            self._take_steps(place_steps(placed))
            self._ask({"branch": specs})
            return self._branches()

    def _branches(self) -> List[Run]:
        results, wrong = [], None
        for answer in iter(self._read, None):
            if answer["event"] == "done":
                break
            if answer["event"] == "error" and "branch" not in answer:
                raise InputError(without_place(answer["message"]))  # the whole request is wrong: nothing has run
            if answer["event"] == "error":
                wrong = wrong or InputError(without_place(answer["message"]))
            else:
                results.append(self._result(answer))
        if wrong:
            raise wrong
        return results

    def keep(self, branch: int) -> None:
        """Go on with the state of the branch of this number, from 1; 0: with the state before. InputError: there is no such
        branch."""
        self._request({"keep": branch})

    def changes(self) -> List[Dict[str, Any]]:
        """What the runs so far have changed in the copies of directories (mode "cow"): for each a dict with its "place",
        "host" and "changes", as manifests have them. Nothing is applied to the directories."""
        dirs: List[Dict[str, Any]] = self._request({"list_changes": True})["dirs"]
        return dirs

    def _kill(self) -> None:
        """End the session at once, whatever it does; may be called from another thread. Other methods then raise."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()

    def close(self) -> None:
        """End the session. Afterwards `manifest` is the manifest of the whole session."""
        with self._turn.taken():
            with contextlib.suppress(HotcellError):
                self._ask({"close": True})
                while True:
                    self._answer()
            self._end()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *why: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.id}{': ended' if self.ended else ''}>"

    def _request(self, request: Dict[str, Any]) -> Dict[str, Any]:
        with self._turn.taken():
            self._ask(request)
            return self._answer()

    def _perform(self, steps: Steps) -> Any:
        """Ask what the steps ask, with no run in between, and return their result."""
        with self._turn.taken():
            return self._take_steps(steps)

    def _take_steps(self, steps: Steps) -> Any:
        with contextlib.closing(steps):
            request, result = advance(steps, None)
            while request:
                self._ask(dict([request]))
                request, result = advance(steps, self._answer())
            return result

    def _ask(self, request: Dict[str, Any]) -> None:
        line = to_json(request, "request").encode("utf-8", "surrogatepass") + b"\n"
        if len(line) > MAX_REQUEST:
            raise InputError(f"a request of {len(line)} bytes, and at most {MAX_REQUEST} are taken; put large files in with files.write() before the run")
        assert self._process.stdin is not None
        with self._writing, contextlib.suppress(BrokenPipeError, ValueError):  # the process has ended: its last answers tell why
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _answer(self) -> Dict[str, Any]:
        """The session's next answer, unless that is an error or tells of the session's end: these are raised."""
        answer = self._read()
        if answer["event"] == "error":
            raise InputError(without_place(answer["message"]))
        return answer

    def _read(self) -> Dict[str, Any]:
        try:
            return self._next(lambda: self._answers.popleft() if self._answers else None)
        except HotcellError:
            raise
        except BaseException:  # answers could no longer be told apart
            self._end()
            raise

    def _next(self, wanted: Callable[[], Optional[Dict[str, Any]]], timeout: Optional[float] = None) -> Dict[str, Any]:
        """What `wanted` takes out of what has come: of the threads that wait, one reads for all. TimeoutError."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if until is None else max(until - time.monotonic(), 0)
            with self._reading:
                found = wanted()
                if found is not None:
                    return found
                if self.ended:
                    raise SessionEnded(self._reason, self.manifest)
                if left == 0:
                    raise TimeoutError("nothing has come in time")
                if self._reads:
                    self._reading.wait(left)
                    continue
                self._reads = True
            try:
                self._receive(left)
            finally:
                with self._reading:
                    self._reads = False
                    self._reading.notify_all()

    def _receive(self, timeout: Optional[float]) -> None:
        """Wait for what the process writes, and sort the lines that have come."""
        assert self._process.stdout is not None
        ready = select.poll()
        ready.register(self._process.stdout, select.POLLIN)
        if not ready.poll(None if timeout is None else timeout * 1000):
            return
        lines: List[bytes] = []
        try:
            data = os.read(self._process.stdout.fileno(), 1 << 16)
            self._buffer += data
            if b"\n" in data:
                *lines, rest = bytes(self._buffer).split(b"\n")
                self._buffer = bytearray(rest)
        except BaseException:  # a part of an answer may be lost
            self._end()
            raise
        for line in lines:
            self._sort(json.loads(line))
        if not data and not self.ended:
            raise self._failure()

    def _sort(self, answer: Dict[str, Any]) -> None:
        if answer["event"] == "end":
            self._reason, self.manifest = answer["reason"], answer["manifest"]
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE)  # the process removes its temporary files
            self._end()
            return
        with self._reading:
            command = self._commands.get(answer.get("command", ""))
            if command is not None:
                command._take(answer)
            elif answer["event"] == "done" and answer["request"] == "commands":
                self._lists.append(answer)
            elif "command" not in answer:
                self._answers.append(answer)

    def _failure(self) -> HotcellError:
        assert self._process.stderr is not None
        stderr = self._process.stderr.read()
        self._end()
        if self._process.returncode == 0:
            return LaunchFailed("the session ended without a word", 70)
        return failure(Completed(self._process.returncode, b"", stderr), None)

    def _result(self, answer: Dict[str, Any]) -> Run:
        return run_of(answer, self.output_dir, self._temporary, self._tools.errors)

    def _end(self) -> None:
        process = self._process
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()
        if self._server is not None:
            self._server.close()
        self._staging.__exit__(None, None, None)


async def _awaited(line: Any) -> Any:
    return await line


def input_line(line: Optional[str]) -> Dict[str, Any]:
    """The request with a line for a program that calls input(); None: the end of its input. InputError for another type."""
    if line is not None and not isinstance(line, str):
        raise InputError(f"on_input: expected a line or None, got {type(line).__name__}")
    return {"input": line if line is None or line.endswith("\n") else f"{line}\n"}


class _InLoop(Session):
    """The session of an AsyncSession, used in threads."""

    def __init__(self, loop: "asyncio.AbstractEventLoop", **arguments: Any) -> None:
        self._loop = loop
        super().__init__(**arguments)


class AsyncSession:
    """As Session, for an event loop.

        async with hotcell.AsyncSession(timeout=10) as session:
            await session.run("x = 1")

    Takes the arguments of Session; the session begins with the block, or with open(). Coroutine functions among the tools
    run in this event loop. Runs of other tasks wait for their turn.
    """

    _kind = _InLoop

    def __init__(self, **arguments: Any) -> None:
        self._arguments, self._turn = arguments, Turn()
        self._session: Optional[_InLoop] = None

    async def open(self) -> "AsyncSession":
        """Begin the session. Raises as Session does."""
        import asyncio
        loop, begun = asyncio.get_running_loop(), []

        def begin(_: Optional[Listener]) -> None:
            begun.append(self._kind(loop, **self._arguments))
        try:
            await aside(begin, None, lambda _: None)
        except BaseException:  # the task was cancelled: the session may have begun all the same
            for session in begun:
                session.close()
            raise
        self._session = begun[0]
        return self

    @property
    def _begun(self) -> _InLoop:
        if self._session is None:
            raise UsageError("the session has not begun: use \"async with\", or await open()", 64)
        return self._session

    @property
    def id(self) -> str:
        """The session's id."""
        return self._begun.id

    @property
    def files(self) -> AsyncSessionFiles:
        """As Session.files."""
        return AsyncSessionFiles(self._perform)

    @property
    def output_dir(self) -> Path:
        """The directory of files, figures and manifest.json."""
        return self._begun.output_dir

    @property
    def manifest(self) -> Optional[Dict[str, Any]]:
        """The manifest of the whole session, once it has ended."""
        return self._begun.manifest

    @property
    def ended(self) -> bool:
        """Whether the session is known to have ended."""
        return self._begun.ended

    def __repr__(self) -> str:
        return repr(self._session).replace("Session", "AsyncSession", 1) if self._session else "<AsyncSession, not begun>"

    async def run(self, code: str, *, on_event: Optional[Listener] = None, **spec: Any) -> Run:
        """As Session.run. Cancelling the task interrupts the run, and the task ends with the run; cancelling it a second time
        ends the session."""
        session = self._begun
        check_listener(on_event)

        def work(listener: Optional[Listener]) -> Run:
            return session.run(code, on_event=listener, **spec)
        run: Run = await self._wait(work, on_event)
        return run

    async def start(self, command: Sequence[str], *, env: Optional[Mapping[str, str]] = None, workdir: Optional[PathLike] = None,
                    limits: Optional[Mapping[str, Amount]] = None, timeout: Optional[Amount] = None) -> AsyncCommand:
        """As Session.start."""
        def begin(_: Optional[Listener]) -> Command:
            return self._begun.start(command, env=env, workdir=workdir, limits=limits, timeout=timeout)
        started: Command = await aside(begin, None, lambda _: None)
        return AsyncCommand(started)

    async def commands(self) -> List[AsyncCommand]:
        """As Session.commands."""
        listed: List[Command] = await aside(lambda _: self._begun.commands(), None, lambda _: None)
        return [AsyncCommand(each) for each in listed]

    async def interrupt(self) -> None:
        """As Session.interrupt."""
        await aside(lambda _: self._begun.interrupt(), None, lambda _: None)

    async def checkpoint(self, name: str, context: Optional[str] = None) -> None:
        """As Session.checkpoint."""
        await self._wait(lambda _: self._begun.checkpoint(name, context))

    async def rollback(self, name: str, context: Optional[str] = None) -> None:
        """As Session.rollback."""
        await self._wait(lambda _: self._begun.rollback(name, context))

    async def context(self, name: Optional[str] = None, *, checkpoint: Optional[str] = None, workdir: Optional[PathLike] = None) -> AsyncContext:
        """As Session.context."""
        made: Context = await self._wait(lambda _: self._begun.context(name, checkpoint=checkpoint, workdir=workdir))
        return AsyncContext(self, {"name": made.name, "workdir": made.workdir})

    async def contexts(self) -> List[AsyncContext]:
        """As Session.contexts."""
        listed: List[Context] = await self._wait(lambda _: self._begun.contexts())
        return [AsyncContext(self, {"name": one.name, "workdir": one.workdir}) for one in listed]

    async def _restart_context(self, name: str) -> None:
        await self._wait(lambda _: self._begun._restart_context(name))

    async def _end_context(self, name: str) -> None:
        await self._wait(lambda _: self._begun._end_context(name))

    async def branch(self, codes: Sequence[Union[str, Mapping[str, Any]]]) -> List[Run]:
        """As Session.branch."""
        runs: List[Run] = await self._wait(lambda _: self._begun.branch(codes))
        return runs

    async def keep(self, branch: int) -> None:
        """As Session.keep."""
        await self._wait(lambda _: self._begun.keep(branch))

    async def changes(self) -> List[Dict[str, Any]]:
        """As Session.changes."""
        dirs: List[Dict[str, Any]] = await self._wait(lambda _: self._begun.changes())
        return dirs

    async def _perform(self, steps: Steps) -> Any:
        return await self._wait(lambda _: self._begun._perform(steps))

    async def close(self) -> None:
        """As Session.close."""
        if self._session is not None:
            await self._wait(lambda _: self._begun.close())

    async def _wait(self, work: Callable[[Optional[Listener]], Any], listener: Optional[Listener] = None) -> Any:
        async with self._turn.ataken():
            return await aside(work, listener, self._stop)

    def _stop(self, again: bool) -> None:
        if again:
            self._begun._kill()
        else:
            self._begun.interrupt()

    async def __aenter__(self) -> "AsyncSession":
        return await self.open()

    async def __aexit__(self, *why: Any) -> None:
        await self.close()


RUN_ARGUMENTS = ("code", "vars", "returns", "limits", "timeout", "persist_code", "inputs", "input", "args", "env", "workdir", "on_event", "on_input", "check",
                 "context")
# Arguments of hotcell.run that are given to a session.
WITH_SESSION = ("policy", "tree", "memory", "seed", "guard", "tenant", "job_id", "labels", "sign", "tools", "output_dir", "binary", "dirs")


def advice_for(name: str) -> str:
    """What to do about an argument of hotcell.run that a run of a session does not take; "" for another."""
    return "it is for a session as a whole: give it to Session" if name in WITH_SESSION else ""


def run_spec(code: Code, vars: Optional[Mapping[str, Any]] = None, returns: Optional[Sequence[str]] = None,
             limits: Optional[Mapping[str, Amount]] = None, timeout: Optional[Amount] = None,
             persist_code: bool = False, inputs: Optional[Mapping[str, Any]] = None, input: Union[None, str, bytes] = None,
             args: Optional[Sequence[str]] = None, env: Optional[Mapping[str, str]] = None, workdir: Optional[PathLike] = None,
             placed: Optional[Large] = None, context: Optional[str] = None, **other: Any) -> Dict[str, Any]:
    """The request for a run, see hotcell-session(1). `placed` gets content that has to be put into the session's working directory
    before, by its path there. InputError for inputs that are not valid, TypeError for an argument that
    a run does not take."""
    for name in other:
        raise unexpected("run", name, RUN_ARGUMENTS, advice_for(name))
    variables, files = split_vars(vars, inputs)
    rest = {"vars": variables, "return": returns_of(returns), "limits": limits_of(limits, timeout=timeout),
            "persist_code": persist_code, "inputs": contents(files) if placed is None else contents_of_run(files, placed),
            "args": list_of(args, "args"), "env": mapping_of(env, "env"),
            "workdir": None if workdir is None else path_of(workdir, "workdir")}
    given: Dict[str, Any] = {} if input is None else {"stdin": stdin_of(input)}
    if context is not None:
        given["context"] = context
    return {**program_of(code), **given, **{name: value for name, value in rest.items() if value}}


def run_specs(codes: Sequence[Union[str, Mapping[str, Any]]], placed: Large) -> List[Dict[str, Any]]:
    """The requests for branches, from programs or dicts of arguments of run_spec; `placed` as of run_spec."""
    specs = []
    for code in list_of(codes, "branch"):
        named = {"code": code} if isinstance(code, str) else mapping_of(code, "branch")
        if "code" not in named:
            raise InputError("branch: expected 'code', the program of each run")
        specs.append(run_spec(**named, placed=placed))
    return specs
