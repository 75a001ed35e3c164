"""Clients of hotcelld, which runs jobs, over its Unix socket or over TCP with a token. See hotcelld(8)."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, FrozenSet, Iterable, Iterator, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote_from_bytes, urlencode

from .errors import DaemonLost, DaemonUnavailable, HotcellError, JobError, NotFound, Problem, UsageError, problem_of, unexpected
from .listening import Event, Listener, check_listener
from .place import keep, make_ready, raw_name, write
from .results import Result, record_of, result_from_manifest
from .staging import Code, Large, contents, limits_of, list_of, mapping_of, path_of, program_of, returns_of, split_vars, stdin_of, to_json
from .temporary import Temporary
from .tools import Toolbox, Tools, failure_of, tools_by_name
from .uploads import Body, forgotten, settled
from .wire import (Answer, Aside, Call, Connection, Flow, Notify, Place, adrive, aresult_of, begun, drive, events, exchange, find_place, request,
                   result_of, watched)

if TYPE_CHECKING:
    from .admin import Admin, AsyncAdmin
    from .daemon_sessions import AsyncDaemonSession, AsyncOpening, DaemonSession
    from .jobs import Amount
    from .launcher import PathLike

PATIENCE = 5.0  # seconds for a request that is sent while an exception ends the caller

ABOUT = """A client of hotcelld, the daemon that runs jobs of its tenants in cells, some of which are made ahead of time.

        {with} hotcell.{name}() as daemon:
            result = {await}daemon.run("print(6 * 7)")

    socket   path of the daemon's socket, or http://HOST:PORT; https://HOST:PORT of a server in front of it that encrypts;
             /PREFIX behind the port if its routes begin with that there; None: $HOTCELL_SOCKET
    token    the tenant's bearer token, for URLs only; None: $HOTCELL_TOKEN
    ca_file  the certificates of the authorities that vouch for an https:// server; None: those that this host trusts
             (or $SSL_CERT_FILE)

    A request that the daemon refuses raises a Problem, whose `retry` says whether it is safe to send it again.
    DaemonUnavailable: no daemon listens at the address.
    """


# ---- bodies of requests ----

def spec_of(code: Optional[str], *, policy: Any = None, tree: Optional["PathLike"] = None,
            inputs: Optional[Mapping[str, Any]] = None, vars: Optional[Mapping[str, Any]] = None, input: Union[None, str, bytes] = None,
            args: Optional[Sequence[str]] = None, env: Optional[Mapping[str, str]] = None, limits: Optional[Mapping[str, "Amount"]] = None,
            timeout: Optional["Amount"] = None, memory: Optional["Amount"] = None, returns: Optional[Sequence[str]] = None,
            persist_code: bool = False, interface: str = "python", tools: Optional[Toolbox] = None,
            volumes: Optional[Mapping[str, "PathLike"]] = None, **plain: Any) -> Union[bytes, Body]:
    """The body of a request: a spec as JSON, with the contents of its inputs, unless they are large. `plain` are arguments of hotcell.run that are
    members of a spec as they are."""
    large: Large = {}
    variables, files = split_vars(vars, inputs)
    if policy is not None and (not isinstance(policy, str) or "/" in policy):
        raise UsageError("policy: a daemon has its policies by their names", 64)
    spec = {
        **plain, **({} if code is None else program_of(code)), "policy": policy, "tree": None if tree is None else path_of(tree, "tree"),
        "tools": {name: tool.described() for name, tool in (tools or {}).items()} or None,
        "persist_code": persist_code or None, "interface": interface, "inputs": contents(files, large) or None, "vars": variables or None,
        "limits": limits_of(limits, timeout=timeout, memory=memory) or None,
        "return": returns_of(returns) or None,
        "volumes": [{"name": name, "place": path_of(place, "volumes")} for name, place in mapping_of(volumes, "volumes").items()] or None,
        "stdin": stdin_of(input), "args": list_of(args, "args") or None, "env": mapping_of(env, "env") or None,
    }
    body = Body({name: value for name, value in spec.items() if value is not None}, large)
    return body if large else body.encoded()


_TAKEN = {"run": {"output_dir", "on_event", "tools", "check"}, "submit": {"key", "tools"}, "session": {"output_dir", "tools"}}
_DAEMONS_OWN = frozenset({"volumes"})  # members of a daemon's spec that hotcell.run does not take
_ELSEWHERE = {"outlive": "a job of submit() goes on without whoever sent it"}


def spec_arguments() -> FrozenSet[str]:
    """Names of the arguments of hotcell.run that are members of a daemon's spec, all but the program and its tools."""
    from .jobs import NOT_IN_SPECS, run  # which needs this module
    return frozenset(inspect.signature(run).parameters) - {"code", "tools", *NOT_IN_SPECS}


def _body(method: str, code: Optional[str], tools: Optional[Toolbox], spec: Mapping[str, Any]) -> Union[bytes, Body]:
    """The body of the request of `method`. TypeError: `spec` has an argument that a daemon does not take."""
    known = spec_arguments() | _DAEMONS_OWN
    for name in spec:
        if name not in known:
            from .jobs import run
            advice = _ELSEWHERE.get(name, "it is for a cell on this host" if name in inspect.signature(run).parameters else "")
            raise unexpected(method, name, _TAKEN[method.rpartition(".")[2]] | known, advice)
    return spec_of(code, tools=tools, **spec)


def _session_body(method: str, session_id: Optional[str], tools: Toolbox, spec: Mapping[str, Any]) -> Union[None, bytes, Body]:
    """The body of the request that begins a session. None: the session of this id is there already."""
    if session_id is None:
        return _body(method, None, tools, spec)
    for name in spec:
        raise unexpected(method, name, (), "the session of this id has its own")
    return None


# ---- flows ----

def quoted(name: str, what: str) -> str:
    """An id as one part of a route. NotFound for a text that cannot be an id: the daemon would take a slash in it, also an
    escaped one, for another route."""
    if not isinstance(name, str):
        raise TypeError(f"{what}: expected a string, got {type(name).__name__}")
    if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}", name):
        raise problem_of({"type": "urn:hotcell:problem:not-found", "status": 404, "retry": "not_started",
                          "detail": f"there is none of this {what}: {name!r}"}, 404)
    return name


def _job_path(job_id: str, *more: str) -> str:
    return "/".join(["/v1/jobs", quoted(job_id, "job_id"), *more])


def _file_path(path: str, name: bytes) -> str:
    return f"{path}/files/{quote_from_bytes(name, safe='/')}"


def named_id(place: Place, answer: Any, member: str) -> str:
    """The id in an answer of the daemon. It becomes the name of a directory, and so must not be a path. DaemonLost if it is
    no id."""
    found = answer.get(member) if isinstance(answer, dict) else None
    if not isinstance(found, str) or not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}", found):
        raise DaemonLost(f"{place.name}: it does not say which job or session it runs")
    return found


class _End:
    """Reads the events of a job, answers calls of tools among them, and keeps how the job has ended."""

    def __init__(self, place: Place, listener: Optional[Listener] = None, tools: Optional[Toolbox] = None,
                 job_id: str = "") -> None:
        self._place, self._listener, self._tools = place, listener, Toolbox() if tools is None else tools
        self.job_id = job_id
        self.manifest: Optional[Dict[str, Any]] = None
        self.problem: Optional[Dict[str, Any]] = None

    def see(self, event: Event) -> Optional[Flow]:
        if event["event"] == "manifest":
            self.manifest = event["manifest"]
        elif event["event"] == "problem":
            self.problem = event["problem"]
        return told(self._listener, event, answer_flow(self._place, _job_path(self.job_id), self._tools, event))

    def see_head(self, answer: Answer) -> None:
        parent, _, name = answer.headers.get("location", "").rpartition("/")
        self.job_id = named_id(self._place, {"id": name if parent.endswith("/v1/jobs") else ""}, "id")

    @contextlib.contextmanager
    def known(self) -> Iterator[None]:
        """Add the job's id to a DaemonLost, so that its handler can ask for the job later."""
        try:
            yield
        except DaemonLost as error:
            error.job_id = self.job_id or None
            raise

    def result(self) -> Dict[str, Any]:
        """The manifest of the job. Raises its Problem, or DaemonLost if the events ended without an end of the job."""
        if self.problem is not None:
            raise problem_of(self.problem)
        if not isinstance(self.manifest, dict):
            raise DaemonLost(f"{self._place.name}: the events of the job ended before the job")
        return self.manifest

    def fetched(self, output_dir: Optional["PathLike"]) -> Flow:
        """Fetch the files of the job: returns its Result."""
        return (yield from fetch_flow(self._place, self.job_id, self.result(), output_dir, self._tools.errors))


def told(listener: Optional[Listener], event: Event, more: Optional[Flow]) -> Optional[Flow]:
    """The flow that tells the listener of an event, and then goes on with `more`."""
    return more if listener is None else _told(listener, event, more)


def _told(listener: Listener, event: Event, more: Optional[Flow]) -> Flow:
    yield Notify(listener, event)
    if more is not None:
        yield from more


def answer_flow(place: Place, path: str, tools: Toolbox, event: Event) -> Optional[Flow]:
    """The flow that answers a call of a tool. None: the event is no call, or the tool is not one of `tools`. `path` is the
    route of the job or of the session."""
    tool = tools.get(str(event.get("name"))) if event["event"] == "tool_call" else None
    if tool is None:
        return None
    number, arguments = event.get("id"), event.get("arguments")
    if not isinstance(number, int) or not isinstance(arguments, dict):
        raise DaemonLost(f"{place.name}: a call of a tool that is none")
    flow = _answer_flow(place, f"{path}/tools/{number}", Call(tool, arguments, tools))
    return _aside(flow) if inspect.iscoroutinefunction(tool.fn) else flow


def _aside(flow: Flow) -> Flow:
    """Have the flow run beside the others if there is an event loop: so coroutines run side by side."""
    yield Aside(flow)


def _answer_flow(place: Place, path: str, call: Call) -> Flow:
    answer = yield call
    try:
        yield from begun(exchange(place, "POST", path, answer))
    except NotFound:  # the job has ended, or does not wait for this answer any more
        pass
    except Problem as error:  # the daemon refuses this answer: the call fails, and not the job
        with contextlib.suppress(Problem):
            yield from begun(exchange(place, "POST", path, failure_of(error)))


def run_flow(place: Place, body: Union[bytes, Body], output_dir: Optional["PathLike"], listener: Optional[Listener] = None,
             tools: Optional[Toolbox] = None) -> Flow:
    """Run a job, wait for its end, fetch its files: returns a Result."""
    check_listener(listener)
    make_ready(output_dir)
    uploads: List[str] = []
    try:
        sent = yield from settled(place, body, uploads)
        result = yield from _run_flow(place, sent, output_dir, listener, tools)
    except HotcellError:
        yield from forgotten(place, uploads)
        raise
    yield from forgotten(place, uploads)
    return result


def _run_flow(place: Place, body: bytes, output_dir: Optional["PathLike"], listener: Optional[Listener],
              tools: Optional[Toolbox]) -> Flow:
    end = _End(place, listener, tools)
    with end.known():
        try:
            yield from watched(events(place, "POST", "/v1/jobs", body, on_head=end.see_head), end.see)
        except BaseException:
            if end.job_id and place.path is None and end.manifest is None:
                post_at_once(place, _job_path(end.job_id, "cancel"))
            raise
        return (yield from end.fetched(output_dir))


def post_at_once(place: Place, path: str) -> None:
    """Send a request without an event loop, while an exception ends the caller. A job over the Unix socket needs no such
    request, as it ends with the connection."""
    with contextlib.suppress(OSError, DaemonUnavailable):
        connection = Connection(place, PATIENCE)
        with connection.socket:
            connection.socket.sendall(request(place, "POST", path))
            connection.socket.recv(1)


def fetch_flow(place: Place, job_id: str, manifest: Dict[str, Any], output_dir: Optional["PathLike"],
               tool_errors: Iterable[BaseException] = ()) -> Flow:
    """Fetch the files of a job and write its manifest: returns its Result."""
    temporary = Temporary() if output_dir is None else None
    where = temporary.path / "output" if temporary is not None else Path(output_dir or ".").absolute()
    found = yield from files_flow(place, _job_path(job_id), manifest, where)
    if output_dir is not None or found.figures or found.files or manifest["code_path"]:
        write(where, b"manifest.json", (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode(), 0o600)
    return result_from_manifest(manifest, where, temporary, tool_errors)


def files_flow(place: Place, path: str, manifest: Dict[str, Any], where: Path) -> Flow:
    """Fetch the files that a manifest lists into `where`: returns its Result. `path` is the route of the job or session."""
    try:
        found = result_from_manifest(manifest, where)
        kept = manifest["code_path"]
        names = [] if kept is None else [os.fsencode(kept), os.fsencode(record_of(kept))]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DaemonLost(f"{place.name}: the manifest is not as it should be: {error!r}") from error
    for file in (*found.figures, *found.files):
        _, content = yield from begun(exchange(place, "GET", _file_path(path, raw_name(file))))
        keep(where, file, content)
    for name in names:
        _, content = yield from begun(exchange(place, "GET", _file_path(path, name)))
        write(where, name, content, 0o600)
    return found


def json_flow(place: Place, method: str, path: str, body: Any = None,
              headers: Optional[Mapping[str, str]] = None) -> Flow:
    """Returns the answer's JSON, None for an empty answer."""
    _, content = yield from exchange(place, method, path, body, headers)
    try:
        return json.loads(content) if content else None
    except ValueError as error:
        raise DaemonLost(f"{place.name}: the answer is no JSON") from error


def _submit_flow(place: Place, body: Union[bytes, Body], key: Optional[str]) -> Flow:
    """Submit a job. Its uploads stay: it may have to wait for its turn."""
    headers = {"Prefer": "respond-async", **({} if key is None else {"Idempotency-Key": key})}
    sent = yield from settled(place, body, [], key is not None)
    job = yield from json_flow(place, "POST", "/v1/jobs", sent, headers)
    named_id(place, job, "job_id")
    return job


def _wait_flow(place: Place, job_id: str, output_dir: Optional["PathLike"], listener: Optional[Listener],
               tools: Toolbox) -> Flow:
    check_listener(listener)
    end = _End(place, listener, tools, job_id)
    with end.known():
        yield from watched(begun(events(place, "GET", _job_path(job_id, "events"))), end.see)
        return (yield from end.fetched(output_dir))


def file_flow(place: Place, job: str, path: str) -> Flow:
    """Returns a file's content. `job` is the route of the job or of the session."""
    _, content = yield from exchange(place, "GET", _file_path(job, os.fsencode(path)))
    return content


def checked(result: Result, check: bool) -> Result:
    """The result. With `check`, JobError if the program did not end well."""
    if check and not result.ok:
        raise JobError(result) from (result.tool_errors[-1] if result.tool_errors else None)
    return result


def _place_of(socket: Optional["PathLike"], token: Optional[str], ca_file: Optional["PathLike"]) -> Place:
    place = find_place(socket, token, ca_file)
    if place is None:
        raise UsageError("no daemon: name its socket, or set HOTCELL_SOCKET", 64)
    return place


def _card_flow(place: Place, policy: Optional[str]) -> Flow:
    """Returns the card as text."""
    query = "" if policy is None else f"?{urlencode({'policy': policy})}"
    _, content = yield from exchange(place, "GET", f"/v1/card{query}", None, {"Accept": "text/plain"})
    return content.decode("utf-8", "replace")


class _JobBase:
    """What Job and AsyncJob have in common."""

    def __init__(self, place: Place, job_id: str, tools: Optional[Toolbox] = None,
                 info: Optional[Mapping[str, Any]] = None) -> None:
        self._place, self._tools, self._id = place, Toolbox() if tools is None else tools, job_id
        self._info: Mapping[str, Any] = info or {}

    @property
    def id(self) -> str:
        """The job's id, by which Daemon.job() finds it again, also in another process."""
        return self._id

    @property
    def status(self) -> Optional[str]:
        """What the daemon answered last about the job, without asking it again: the job's state, such as "queued", or its status if it
        has ended; None: nothing yet."""
        return self._info.get("status") or self._info.get("state")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._id}: {self.status or 'not asked for yet'}>"

    def _see(self, info: Dict[str, Any]) -> Dict[str, Any]:
        self._info = {name: info.get(name) for name in ("state", "status")}
        return info

    def _ended(self, result: Result, check: bool) -> Result:
        self._info = {"status": result.status}
        return checked(result, check)


# ---- for callers that wait ----

class Job(_JobBase):
    """A job that a daemon has accepted. It runs, or is reported as failed, even if no client waits for it or the daemon is
    restarted. Every method raises NotFound if there is no such job, or no more."""

    def info(self) -> Dict[str, Any]:
        """The job's state and times, and its manifest or problem once it has ended."""
        return self._see(result_of(json_flow(self._place, "GET", _job_path(self.id))))

    def events(self) -> Iterator[Event]:
        """The job's events from its beginning on, as they happen: dicts, see hotcelld(8)."""
        return drive(events(self._place, "GET", _job_path(self.id, "events")))

    def result(self, *, output_dir: Optional["PathLike"] = None, on_event: Optional[Listener] = None,
               check: bool = False) -> Result:
        """Wait for the job's end and fetch its files. If it was submitted with tools, its calls are answered only while this
        method waits.

        Raises the job's Problem if it ended without a result, DaemonLost (after which this can be called again), and JobError
        with check=True."""
        return self._ended(result_of(_wait_flow(self._place, self.id, output_dir, on_event, self._tools)), check)

    def file(self, path: str) -> bytes:
        """The content of a file or figure, by its path in the manifest; while the job runs, of a figure that an event named."""
        content: bytes = result_of(file_flow(self._place, _job_path(self.id), path))
        return content

    def cancel(self) -> None:
        """End the job, if it has not ended."""
        result_of(json_flow(self._place, "POST", _job_path(self.id, "cancel")))

    def delete(self) -> None:
        """Remove the job and its files if it has ended; otherwise end it."""
        result_of(json_flow(self._place, "DELETE", _job_path(self.id)))


class Daemon:
    __doc__ = ABOUT.format(name="Daemon", **{"with": "with", "await": ""})

    def __init__(self, socket: Optional["PathLike"] = None, *, token: Optional[str] = None,
                 ca_file: Optional["PathLike"] = None) -> None:
        self._place = _place_of(socket, token, ca_file)

    def run(self, code: Code, *, output_dir: Optional["PathLike"] = None, on_event: Optional[Listener] = None,
            tools: Optional[Tools] = None, check: bool = False, **spec: Any) -> Result:
        """Run `code` and wait for its end. `spec` are arguments of hotcell.run: policy and tree by their names, inputs, vars,
        input, args, env, limits, timeout, memory, seed, returns, persist_code, labels, interface; and `volumes`, {name: path in the
        cell} of directories that the daemon keeps between the tenant's jobs. `tools`, as of hotcell.run, run in this process.
        `on_event`, a function or coroutine function, is called with each event as it comes, the output among them. If an exception
        ends the wait, the job is ended.

        Raises Problem (QuotaProblem, InputProblem, PolicyProblem, LaunchProblem) for a request that the daemon refuses,
        DaemonUnavailable, DaemonLost, InputError for a value that no spec can hold, and JobError with check=True."""
        named = tools_by_name(tools)
        return checked(result_of(run_flow(self._place, _body("Daemon.run", code, named, spec), output_dir, on_event, named)), check)

    def submit(self, code: Code, *, key: Optional[str] = None, tools: Optional[Tools] = None, **spec: Any) -> Job:
        """Submit a job without waiting for its end. A second call with the same `key` and the same job returns the same job:
        so after DaemonLost the call can safely be repeated with that key. Raises as run does."""
        named = tools_by_name(tools)
        info = result_of(_submit_flow(self._place, _body("Daemon.submit", code, named, spec), key))
        return Job(self._place, info["job_id"], named, info)

    def session(self, session_id: Optional[str] = None, *, output_dir: Optional["PathLike"] = None,
                tools: Optional[Tools] = None, **spec: Any) -> "DaemonSession":
        """Begin a session: an interpreter that keeps its state. `spec` as of run, without arguments for a single program.

        With `session_id`: the session of this id, which another process may have begun, and no `spec`. NotFound: there is no
        such session, or no more. Its programs can call those of `tools` that it was begun with."""
        from .daemon_sessions import DaemonSession, session_flow  # which needs this module
        named = tools_by_name(tools)
        body = _session_body("Daemon.session", session_id, named, spec)
        make_ready(output_dir)
        return DaemonSession(self._place, result_of(session_flow(self._place, session_id, body)), output_dir, named)

    def sessions(self) -> List[Dict[str, Any]]:
        """The tenant's sessions: dicts with session_id, state and times."""
        return list(result_of(json_flow(self._place, "GET", "/v1/sessions"))["sessions"])

    def job(self, job_id: str) -> Job:
        """A job by its id. No request is sent: its methods raise NotFound if there is no such job."""
        return Job(self._place, job_id)

    def jobs(self) -> List[Dict[str, Any]]:
        """The tenant's jobs, newest first."""
        return list(result_of(json_flow(self._place, "GET", "/v1/jobs"))["jobs"])

    def volumes(self) -> List[Dict[str, Any]]:
        """The tenant's volumes: dicts with name, bytes, files and changed."""
        return list(result_of(json_flow(self._place, "GET", "/v1/volumes"))["volumes"])

    def remove_volume(self, name: str) -> None:
        """Remove a volume with all that is in it. NotFound: there is none; another Problem: a job or session has it."""
        result_of(json_flow(self._place, "DELETE", f"/v1/volumes/{quoted(name, 'volume')}"))

    def card(self, policy: Optional[str] = None) -> str:
        """What the writer of a program, such as a model, should know of the cells of a policy, as text; None: the tenant's
        policy."""
        text: str = result_of(_card_flow(self._place, policy))
        return text

    def health(self) -> Dict[str, Any]:
        """The daemon's state. Raises LaunchProblem if it accepts no jobs."""
        return dict(result_of(json_flow(self._place, "GET", "/healthz")))

    @property
    def admin(self) -> "Admin":
        """The requests of the daemon's administrators."""
        from .admin import Admin  # which needs this module
        return Admin(self._place)

    def __enter__(self) -> "Daemon":
        return self

    def __exit__(self, *why: Any) -> None:
        """Nothing to close: each request has a connection of its own."""


# ---- for an event loop ----

class AsyncJob(_JobBase):
    """As Job, for an event loop."""

    async def info(self) -> Dict[str, Any]:
        """As Job.info."""
        return self._see(await aresult_of(json_flow(self._place, "GET", _job_path(self.id))))

    def events(self) -> AsyncIterator[Event]:
        """As Job.events, for "async for"."""
        return adrive(events(self._place, "GET", _job_path(self.id, "events")), {})

    async def result(self, *, output_dir: Optional["PathLike"] = None, on_event: Optional[Listener] = None,
                     check: bool = False) -> Result:
        """As Job.result."""
        return self._ended(await aresult_of(_wait_flow(self._place, self.id, output_dir, on_event, self._tools)), check)

    async def file(self, path: str) -> bytes:
        """As Job.file."""
        content: bytes = await aresult_of(file_flow(self._place, _job_path(self.id), path))
        return content

    async def cancel(self) -> None:
        """As Job.cancel."""
        await aresult_of(json_flow(self._place, "POST", _job_path(self.id, "cancel")))

    async def delete(self) -> None:
        """As Job.delete."""
        await aresult_of(json_flow(self._place, "DELETE", _job_path(self.id)))


class AsyncDaemon:
    __doc__ = ABOUT.format(name="AsyncDaemon", **{"with": "async with", "await": "await "})

    def __init__(self, socket: Optional["PathLike"] = None, *, token: Optional[str] = None,
                 ca_file: Optional["PathLike"] = None) -> None:
        self._place = _place_of(socket, token, ca_file)

    async def run(self, code: Code, *, output_dir: Optional["PathLike"] = None, on_event: Optional[Listener] = None,
                  tools: Optional[Tools] = None, check: bool = False, **spec: Any) -> Result:
        """As Daemon.run. Coroutine functions among the tools run in this loop, others in threads. Cancelling the task ends
        the job."""
        named = tools_by_name(tools)
        flow = run_flow(self._place, _body("AsyncDaemon.run", code, named, spec), output_dir, on_event, named)
        return checked(await aresult_of(flow), check)

    async def submit(self, code: Code, *, key: Optional[str] = None, tools: Optional[Tools] = None,
                     **spec: Any) -> AsyncJob:
        """As Daemon.submit."""
        named = tools_by_name(tools)
        info = await aresult_of(_submit_flow(self._place, _body("AsyncDaemon.submit", code, named, spec), key))
        return AsyncJob(self._place, info["job_id"], named, info)

    def session(self, session_id: Optional[str] = None, *, output_dir: Optional["PathLike"] = None,
                tools: Optional[Tools] = None, **spec: Any) -> "AsyncOpening":
        """As Daemon.session: `await daemon.session()`, or `async with daemon.session() as session`."""
        from .daemon_sessions import AsyncOpening  # which needs this module
        return AsyncOpening(self._session(session_id, output_dir, tools, spec))

    async def _session(self, session_id: Optional[str], output_dir: Optional["PathLike"], tools: Optional[Tools],
                       spec: Dict[str, Any]) -> "AsyncDaemonSession":
        from .daemon_sessions import AsyncDaemonSession, session_flow
        named = tools_by_name(tools)
        body = _session_body("AsyncDaemon.session", session_id, named, spec)
        make_ready(output_dir)
        info = await aresult_of(session_flow(self._place, session_id, body))
        return AsyncDaemonSession(self._place, info, output_dir, named)

    async def sessions(self) -> List[Dict[str, Any]]:
        """As Daemon.sessions."""
        return list((await aresult_of(json_flow(self._place, "GET", "/v1/sessions")))["sessions"])

    def job(self, job_id: str) -> AsyncJob:
        """As Daemon.job."""
        return AsyncJob(self._place, job_id)

    async def jobs(self) -> List[Dict[str, Any]]:
        """As Daemon.jobs."""
        return list((await aresult_of(json_flow(self._place, "GET", "/v1/jobs")))["jobs"])

    async def volumes(self) -> List[Dict[str, Any]]:
        """As Daemon.volumes."""
        return list((await aresult_of(json_flow(self._place, "GET", "/v1/volumes")))["volumes"])

    async def remove_volume(self, name: str) -> None:
        """As Daemon.remove_volume."""
        await aresult_of(json_flow(self._place, "DELETE", f"/v1/volumes/{quoted(name, 'volume')}"))

    async def card(self, policy: Optional[str] = None) -> str:
        """As Daemon.card."""
        text: str = await aresult_of(_card_flow(self._place, policy))
        return text

    async def health(self) -> Dict[str, Any]:
        """As Daemon.health."""
        return dict(await aresult_of(json_flow(self._place, "GET", "/healthz")))

    @property
    def admin(self) -> "AsyncAdmin":
        """As Daemon.admin."""
        from .admin import AsyncAdmin  # which needs this module
        return AsyncAdmin(self._place)

    async def __aenter__(self) -> "AsyncDaemon":
        return self

    async def __aexit__(self, *why: Any) -> None:
        """As Daemon.__exit__."""
