"""run, arun, check and verify: one call, one command, one cell."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .daemon import checked, run_flow, spec_of
from .errors import BY_EXIT_CODE, DaemonUnavailable, HotcellError, LaunchFailed, TamperedError, UsageError, named, without_place
from .launcher import Completed, PathLike, arun_command, find_binary, run_command
from .listening import Listener, Live, atell, check_listener, tell
from .results import Check, Result, check_from_json, has_results, result_from_manifest
from .staging import Code, Directory, Staging, code_of, dirs_of, limits_of, list_of, mapping_of, path_of, program_of, returns_of, split_vars, stdin_of, to_json
from .temporary import Temporary
from .tools import Server, Toolbox, Tools, tools_by_name
from .wire import Flow, aresult_of, find_place, result_of

if TYPE_CHECKING:
    import asyncio

    from typing_extensions import ParamSpec

    Arguments = ParamSpec("Arguments")
    OfDict = Callable[[Dict[str, Any]], Awaitable[Result]]

Policy = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Amount = Union[int, float, str]


@named
def run(code: Code, *, policy: Optional[Policy] = None, tree: Optional[PathLike] = None,
        inputs: Optional[Mapping[str, Any]] = None, vars: Optional[Mapping[str, Any]] = None,
        input: Union[None, str, bytes] = None, args: Optional[Sequence[str]] = None, env: Optional[Mapping[str, str]] = None,
        output_dir: Optional[PathLike] = None, limits: Optional[Mapping[str, Amount]] = None,
        seed: Optional[int] = None, returns: Optional[Sequence[str]] = None, persist_code: bool = False,
        tenant: Optional[str] = None, job_id: Optional[str] = None, labels: Optional[Mapping[str, str]] = None,
        sign: Optional[PathLike] = None, guard: Optional[bool] = None, timeout: Optional[Amount] = None,
        memory: Optional[Amount] = None, session: Optional[str] = None, step: Optional[str] = None,
        wait: bool = False, tools: Optional[Tools] = None, outlive: bool = False, check: bool = False,
        interface: str = "python", on_event: Optional[Listener] = None, socket: Optional[PathLike] = None,
        binary: Optional[PathLike] = None, dirs: Optional[Sequence[Directory]] = None,
        workdir: Optional[PathLike] = None) -> Result:
    """Run `code` in a cell of its own and return its Result.

    code        a program in Python; or, as a list, a command: the name of a program of the tree and its arguments, where the
                policy executes any ("shell" does); Result.command_status is then the command's exit status
    policy      name, path, or a policy as a dict; None: the policy "default"
    tree        name or path of the root file system, "scientific+geo" with the layer geo; None: the policy's tree
    inputs      name: path of a file, pandas DataFrame, Series or Index, or numpy array; a variable of that name
    vars        name: value; the program gets a variable of that name. Values are JSON, or of another type that hotcell-python(3)
                names in VALUES, such as Decimal, set or datetime, and come as themselves
    input       standard input of the program, as text or bytes; None: it is at its end from the start
    args        arguments of the program, sys.argv[1:]
    env         environment variables of the program, beside the policy's
    output_dir  directory for results; None: a temporary one, which goes with the Result, see Result.close and Result.save
    limits      members of a policy's "limits"; sizes are bytes or "512M", durations seconds or "90s"
    seed        makes random numbers and hashes repeatable, 0 to 4294967295
    returns     names of variables to return as themselves, or "NAME=FORMAT": json, npy, csv, jsonl
    persist_code  keep the program with its results
    tenant, job_id, labels  are written into the manifest
    sign        key file to sign the manifest with
    guard       False: turn off the policy's rules for Python code; the kernel's layers stay on
    timeout, memory  short for limits["timeout"] (seconds) and limits["memory"] (bytes)
    session, step  put results into output_dir/SESSION/STEP; steps of a session run one at a time
    wait        True: wait for the session's running step, instead of raising InputError
    tools       callables that the program may call as tools.NAME(...): a list, or name: callable; a Tool has limits
    outlive     True: the job goes on if this process is killed; otherwise it is ended
    check       True: raise JobError unless the job ends well
    interface   whose words hints for the program's writer are in: python, cli, http, mcp, or those of an adapter
    on_event    a function or coroutine function that is called with each event as it comes: what the program prints, figures
                as they are made, the manifest; dicts as of hotcelld(8). The program waits while it runs. An exception that it
                raises ends the job
    socket      address of the hotcelld that runs the job, see Daemon; None: $HOTCELL_SOCKET. Without an address, or if
                $HOTCELL_SOCKET's daemon does not answer or cannot run this job, the command runs it on this host. A
                daemon takes policies and trees by name, and not guard, tenant, job_id, sign, session, step, outlive,
                dirs and workdir
    binary      path of the hotcell command, see launcher.find_binary; the job then runs on this host
    dirs        directories of this host that the program may read: paths, or {"host": path, "place": path in the cell,
                "mode": "ro", "cow" for a copy to change, or "rw" where the policy allows it}
    workdir     directory of the cell that the program begins in; None: /output

    A program that fails, is refused or exceeds a limit is a Result too. Raises NotInstalled, UsageError, InputError,
    PolicyError, LaunchFailed, and for a job that a daemon runs also Problem, DaemonUnavailable and DaemonLost.
    """
    arguments = {name: value for name, value in locals().items() if name not in HOW_CALLED}
    _check_outlive(outlive)
    check_listener(on_event)
    flow = _daemon_flow(socket, binary, arguments, on_event)
    if flow is not None:
        with contextlib.suppress(*([] if socket is not None else [DaemonUnavailable])):
            return checked(result_of(flow), check)
    with _Job(binary, arguments) as job, _live(on_event) as live:
        result = job.result(run_command(job.command, job.stdin, job.serve(), outlive, live))
    if on_event is not None:
        tell(on_event, {"event": "manifest", "manifest": result.manifest})
    return checked(result, check)


def _called_as(function: "Callable[Arguments, Any]") -> "Callable[[OfDict], Callable[Arguments, Awaitable[Result]]]":
    """Have a coroutine function of one dict called as `function` is; the dict has all of its arguments by their names."""
    signature = inspect.signature(function)

    def decorator(job: "OfDict") -> "Callable[Arguments, Awaitable[Result]]":
        @functools.wraps(job)
        async def wrapper(*given: Any, **named: Any) -> Result:
            bound = signature.bind(*given, **named)
            bound.apply_defaults()
            return await job(bound.arguments)

        wrapper.__signature__ = signature  # type: ignore[attr-defined]
        return wrapper

    return decorator


@named
@_called_as(run)
async def arun(given: Dict[str, Any]) -> Result:
    """As run, for an event loop. Cancelling the task ends the cell: before the task ends, or right after it if a daemon
    runs the job."""
    import asyncio
    check, on_event, socket, binary = (given[name] for name in HOW_CALLED)
    arguments = {name: value for name, value in given.items() if name not in HOW_CALLED}
    outlive = arguments["outlive"]
    _check_outlive(outlive)
    check_listener(on_event)
    flow = _daemon_flow(socket, binary, arguments, on_event)
    if flow is not None:
        with contextlib.suppress(*([] if socket is not None else [DaemonUnavailable])):
            return checked(await aresult_of(flow), check)
    with _Job(binary, arguments) as job, _live(on_event) as live:
        fds = job.serve(asyncio.get_running_loop())
        result = job.result(await arun_command(job.command, job.stdin, fds, outlive, live))
    if on_event is not None:
        await atell(on_event, {"event": "manifest", "manifest": result.manifest})
    return checked(result, check)


@contextlib.contextmanager
def _live(listener: Optional[Listener]) -> Iterator[Optional[Live]]:
    """The pipes of a job whose events the caller wants; None without a listener."""
    if listener is None:
        yield None
        return
    with contextlib.closing(Live(listener)) as live:
        yield live


# Arguments of run that say how it is called, and nothing of the job.
HOW_CALLED = ("check", "on_event", "socket", "binary")
# Arguments of run for which a daemon has no member of a spec: those that a job that it runs must not have, and all.
NOT_FOR_DAEMONS = ("guard", "tenant", "job_id", "sign", "session", "step", "outlive", "dirs", "workdir")
NOT_IN_SPECS = (*HOW_CALLED, *NOT_FOR_DAEMONS, "output_dir", "wait")


def _check_outlive(outlive: Any) -> None:
    """TypeError unless `outlive` is a bool: any text, such as "no", would count as True."""
    if not isinstance(outlive, bool):
        raise TypeError(f"outlive: expected True or False, got {outlive!r:.80}")


def _daemon_flow(socket: Optional[PathLike], binary: Optional[PathLike], arguments: Mapping[str, Any],
                 listener: Optional[Listener]) -> Optional[Flow]:
    """The flow that has a daemon run the job. None: the command runs it, as no daemon is named, or $HOTCELL_SOCKET's
    daemon cannot run this job."""
    place = find_place(socket) if binary is None or socket is not None else None
    if place is None:
        return None
    policy, tree = arguments["policy"], arguments["tree"]
    paths = isinstance(policy, str) and "/" in policy or tree is not None and "/" in path_of(tree, "tree")
    given = {**arguments, "outlive": arguments["outlive"] or None}
    unfit = [name for name in NOT_FOR_DAEMONS if given[name] not in (None, [], {}, ())]
    if policy is not None and not isinstance(policy, str) or paths:
        unfit.append("policies and trees that it does not have by name")
    if unfit and socket is None:
        return None
    if unfit:
        raise UsageError(f"not for a job that a daemon runs: {', '.join(unfit)}", 64)
    spec = {name: value for name, value in arguments.items() if name not in NOT_IN_SPECS}
    spec["tools"] = tools_by_name(spec["tools"])
    return run_flow(place, spec_of(**spec), arguments["output_dir"], listener, spec["tools"])


class _Job:
    """One job for the command: its command line and standard input, its temporary files, and its result."""

    def __init__(self, binary: Optional[PathLike], arguments: Dict[str, Any]) -> None:
        self._arguments = arguments
        self._staging = Staging()
        self._session: Optional[str] = None
        self._step: Optional[str] = None
        self.command = [find_binary(binary), "run", "--warm=no", "--json", "--spec", "-"]
        self.stdin = b""
        self._tools = Toolbox()
        self._server: Optional[Server] = None
        self._temporary: Optional[Temporary] = None  # until the result has it

    def __enter__(self) -> "_Job":
        with contextlib.ExitStack() as undo:
            undo.enter_context(self._staging)
            if self._arguments["output_dir"] is None and self._arguments["session"] is None:
                self._temporary = Temporary()
                undo.callback(self._temporary.close)
                self._arguments["output_dir"] = self._temporary.path / "output"
            self._take_options()
            self.stdin = to_json(self._spec(**self._arguments), "spec").encode("utf-8", "surrogatepass")
            undo.pop_all()
        return self

    def _take_options(self) -> None:
        """Turn the arguments for which a spec has no member into options of the command line."""
        take = self._arguments.pop
        guard, self._session, self._step, wait = take("guard"), take("session"), take("step"), take("wait")
        take("outlive")  # an argument of launcher.run_command
        self._tools = tools_by_name(take("tools"))
        if guard is not None and not isinstance(guard, bool):
            raise TypeError(f"guard: expected True or False, got {guard!r:.80}")
        if guard is not None:
            self.command += ["--guard", "on" if guard else "off"]
        for name, value in (("--session", self._session), ("--step", self._step)):
            if value is not None:
                self.command += [name, value]
        if wait:
            self.command += ["--wait"]

    def __exit__(self, *why: Any) -> None:
        if self._server is not None:
            self._server.close()
        if self._temporary is not None:
            self._temporary.close()
        self._staging.__exit__(*why)

    def serve(self, loop: Optional["asyncio.AbstractEventLoop"] = None) -> Tuple[int, ...]:
        """Start answering the program's calls of tools. Returns the descriptors that the command inherits."""
        if not self._tools:
            return ()
        self._server = Server(self._tools)
        self._server.start(loop)
        self.command += ["--tool-fd", str(self._server.theirs)]
        return (self._server.theirs,)

    def _spec(self, code: Code, policy: Optional[Policy], inputs: Optional[Mapping[str, Any]], vars: Optional[Mapping[str, Any]],
              output_dir: Optional[PathLike], limits: Optional[Mapping[str, Amount]],
              timeout: Optional[Amount], memory: Optional[Amount], returns: Optional[Sequence[str]],
              persist_code: bool, input: Union[None, str, bytes], args: Optional[Sequence[str]],
              env: Optional[Mapping[str, str]], dirs: Optional[Sequence[Directory]], **plain: Any) -> Dict[str, Any]:
        spec = {name: os.fspath(value) if isinstance(value, os.PathLike) else value
                for name, value in plain.items() if value is not None}
        spec.update(program_of(code))
        variables, files = split_vars(vars, inputs)
        for name, value in (("policy", policy_argument(policy, self._staging)),
                            ("limits", limits_of(limits, timeout=timeout, memory=memory)),
                            ("inputs", self._staging.inputs(files)), ("vars", variables), ("persist_code", persist_code),
                            ("return", returns_of(returns)), ("dirs", dirs_of(dirs)),
                            ("args", list_of(args, "args")), ("env", mapping_of(env, "env")),
                            ("output_dir", path_of(output_dir, "output_dir") if output_dir is not None else None)):
            if value:
                spec[name] = value
        if input is not None:
            spec["stdin"] = stdin_of(input)
        if self._tools:
            spec["tools"] = {name: tool.described() for name, tool in self._tools.items()}
        return spec

    def result(self, ended: Completed) -> Result:
        manifest = _parse(ended.stdout)
        if manifest is None or ended.status in BY_EXIT_CODE:
            raise failure(ended, manifest)
        if self._temporary is not None and not has_results(manifest):
            return result_from_manifest(manifest, None, None, self._tools.errors)
        where = Path(self._arguments["output_dir"] or ".")
        if self._session is not None and self._step is not None:
            where = where / self._session / self._step
        temporary, self._temporary = self._temporary, None
        return result_from_manifest(manifest, where.absolute(), temporary, self._tools.errors)


def policy_argument(policy: Optional[Policy], staging: Staging) -> Optional[str]:
    """A name stays a name, a path object becomes a path with a slash, a dict a temporary file."""
    if policy is None or isinstance(policy, str):
        return policy
    if isinstance(policy, Mapping):
        return staging.policy(policy)
    path = path_of(policy, "policy")
    return path if "/" in path else f"./{path}"


@named
def check(code: str, *, policy: Optional[Policy] = None, tree: Optional[PathLike] = None,
          inputs: Sequence[str] = (), binary: Optional[PathLike] = None) -> Check:
    """Check `code` in a cell as run does before it runs a program, and return all findings. None of it runs.

    `inputs` are the names of the data frames that the program would get. Raises as run does.
    """
    with Staging() as staging:
        return check_result(run_command(*_check_command(staging, code, policy, tree, inputs, binary)))


@named
async def acheck(code: str, *, policy: Optional[Policy] = None, tree: Optional[PathLike] = None,
                 inputs: Sequence[str] = (), binary: Optional[PathLike] = None) -> Check:
    """As check, for an event loop."""
    with Staging() as staging:
        return check_result(await arun_command(*_check_command(staging, code, policy, tree, inputs, binary)))


def _check_command(staging: Staging, code: str, policy: Optional[Policy], tree: Optional[PathLike],
                   inputs: Sequence[str], binary: Optional[PathLike]) -> Tuple[List[str], bytes]:
    command = [find_binary(binary), "check", "--json", "--interface=python"]
    named = policy_argument(policy, staging)
    command += [] if named is None else ["--policy", named]
    command += [] if tree is None else ["--tree", path_of(tree, "tree")]
    for name in list_of(inputs, "inputs"):
        command += ["--input", f"{name}={staging.empty()}"]  # the check uses the name only
    return [*command, "-"], code_of(code).encode("utf-8", "surrogatepass")


def check_result(ended: Completed) -> Check:
    """A Check from the output of `hotcell check --json`."""
    raw = _parse(ended.stdout)
    if raw is None or ended.status in BY_EXIT_CODE:
        raise failure(ended, None)
    return check_from_json(raw)


@named
def verify(manifest: PathLike, *, sign: Optional[PathLike] = None, binary: Optional[PathLike] = None) -> None:
    """Check a manifest.json: each listed file's hash, and with `sign`, a key file, its signature.

    Raises TamperedError if a hash or the signature differs, InputError if the file is no manifest, PolicyError for a bad
    key file.
    """
    ended = run_command(_verify_command(manifest, sign, binary), outlive=True)
    _verified(ended)


@named
async def averify(manifest: PathLike, *, sign: Optional[PathLike] = None,
                  binary: Optional[PathLike] = None) -> None:
    """As verify, for an event loop."""
    _verified(await arun_command(_verify_command(manifest, sign, binary), outlive=True))


@named
def card(policy: Optional[Policy] = None, *, binary: Optional[PathLike] = None) -> str:
    """What the writer of a program, such as a model, should know of its cell: the libraries, limits and rules of a policy as
    text, for a prompt. Daemon.card() tells the same of a daemon's cells. Raises as run does."""
    with Staging() as staging:
        return _card_of(run_command(_card_command(staging, policy, binary), outlive=True))


@named
async def acard(policy: Optional[Policy] = None, *, binary: Optional[PathLike] = None) -> str:
    """As card, for an event loop."""
    with Staging() as staging:
        return _card_of(await arun_command(_card_command(staging, policy, binary), outlive=True))


def _card_command(staging: Staging, policy: Optional[Policy], binary: Optional[PathLike]) -> List[str]:
    named = policy_argument(policy, staging)
    return [find_binary(binary), "policy", "card", *([] if named is None else [named])]


def _card_of(ended: Completed) -> str:
    if ended.status != 0:
        raise failure(ended, None)
    return ended.stdout.decode("utf-8", "replace")


async def apolicy(policy: Optional[Policy] = None, *, binary: Optional[PathLike] = None) -> Dict[str, Any]:
    """A policy as a dict, with all that it extends; None: the policy "default". Raises as arun does."""
    with Staging() as staging:
        named = policy_argument(policy, staging)
        command = [find_binary(binary), "policy", "show", "default" if named is None else named]
        ended = await arun_command(command, outlive=True)
    parsed = _parse(ended.stdout)
    if ended.status != 0 or parsed is None:
        raise failure(ended, None)
    return parsed


def _verify_command(manifest: PathLike, sign: Optional[PathLike], binary: Optional[PathLike]) -> List[str]:
    key = [] if sign is None else ["--sign", path_of(sign, "sign")]
    return [find_binary(binary), "verify", *key, "--", path_of(manifest, "manifest")]


def _verified(ended: Completed) -> None:
    if ended.status == 1:
        raise TamperedError(ended.message)
    if ended.status != 0:
        raise failure(ended, None)


def failure(ended: Completed, manifest: Optional[Dict[str, Any]]) -> HotcellError:
    """The exception for a command that failed."""
    if ended.status < 0:
        return LaunchFailed(f"hotcell was ended by signal {-ended.status}", ended.status, manifest)
    message = without_place(ended.message) or f"hotcell ended with status {ended.status}"
    return BY_EXIT_CODE.get(ended.status, LaunchFailed)(message, ended.status, manifest)


def _parse(stdout: bytes) -> Optional[Dict[str, Any]]:
    try:
        parsed = json.loads(stdout)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


@contextlib.contextmanager
def signing_key() -> Iterator[str]:
    """The path of a new key file, which is removed at the end of the block."""
    with Staging() as staging:
        yield staging.key()
