"""The Python package as a client of a daemon: waiting and awaiting, files, events, problems, daemons that lie."""

import asyncio
import contextlib
import datetime
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import cells
import daemons
import impostors
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402
from hotcell import wire  # noqa: E402

BOUNDS = {"tree": "base", "timeout": 10 * cells.SLOWNESS, "memory": "256M"}
LONG = "import time\nprint('up', flush=True)\ntime.sleep(100)"


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):
    with daemons.Daemon(config={"workers": 2, "quotas": {"queued": 3}}) as d:
        yield d
        assert d.end() == 0, d.log


@pytest.fixture(name="here", autouse=True)
def directory_of_its_own(monkeypatch):
    directory = cells.new_directory(cells.caller())
    monkeypatch.chdir(directory)
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    monkeypatch.delenv("HOTCELL_SOCKET", raising=False)
    return directory


@pytest.fixture(name="client", params=["waits", "awaits"])
def either_client(request, daemon):
    """Both clients, the one that awaits behind a face that waits."""
    if request.param == "waits":
        return hotcell.Daemon(daemon.socket)
    return Face(hotcell.AsyncDaemon(daemon.socket))


class Face:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        method = getattr(self.inner, name)
        return (lambda *a, **k: wait(method(*a, **k))) if callable(method) else method


def wait(thing):
    if hasattr(thing, "__aiter__"):
        async def listed():
            return [each async for each in thing]
        return asyncio.run(listed())

    async def awaited():
        return await thing
    value = asyncio.run(awaited()) if asyncio.iscoroutine(thing) else thing
    return Face(value) if isinstance(value, (hotcell.AsyncJob, hotcell.AsyncDaemonSession)) else value


def test_a_job_and_its_files(client, here):
    kinds = []
    result = client.run("import os\nos.makedirs('d')\nopen('d/é x', 'w').write('kept')\nopen(b'\\xff\\\\', 'w').write('odd')\nprint(n)\nn + 1",
                        vars={"n": 41}, labels={"k": "v"}, persist_code=True, output_dir="out", on_event=lambda e: kinds.append(e["event"]), **BOUNDS)
    assert (result.ok, result.value, result.text) == (True, 42, "41\n") and result.manifest["labels"] == {"k": "v"}
    assert result.file("d/é x").read() == b"kept" and [f.read() for f in result.files if f.escaped] == [b"odd"]
    assert json.loads((here / "out" / "manifest.json").read_text()) == result.manifest
    assert (here / "out" / result.manifest["code_path"]).read_text().startswith("import os")
    assert {"stdout", "manifest"} <= set(kinds)


def test_results_are_those_of_the_command(client):
    for code in ("print(1)\n[1, 'é']", "1/0", "x = = 1", "import subprocess; subprocess"):
        one, other = client.run(code, **BOUNDS), hotcell.run(code, **BOUNDS)
        for name in ("status", "exit_code", "reason", "value", "text", "error", "rejection", "partial"):
            assert getattr(one, name) == getattr(other, name), (code, name)


def test_frames_and_arrays_go_both_ways(client, scientific):
    pandas, numpy = cells.need_module("pandas"), cells.need_module("numpy")
    frame = pandas.DataFrame({"when": pandas.to_datetime(["2024-01-02", None]), "id": ["007", "8"]})
    result = client.run("back = df.copy()\ntwice = a * 2", inputs={"df": frame, "a": numpy.arange(3)}, returns=["back=exact", "twice=npy"],
                        tree="scientific", timeout=60 * cells.SLOWNESS)
    pandas.testing.assert_frame_equal(result.returned["back"], frame)
    assert list(result.returned["twice"]) == [0, 2, 4]


def test_without_files_there_is_no_directory(client, here):
    assert client.run("1", **BOUNDS).output_dir is None and not os.listdir(here)


def test_results_without_a_directory_go_with_their_result(client, here, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(here))
    result = client.run("open('x', 'w').write('kept')", **BOUNDS)
    assert result.file("x").read() == b"kept" and len(os.listdir(here)) == 1
    del result
    assert not os.listdir(here)
    session = client.session(**BOUNDS)
    first = session.run("open('x', 'w').write('first')")
    later = session.run("open('x', 'w').write('later')")
    assert (first.file("x").read(), later.file("x").read()) == (b"first", b"later")
    session.close()


def test_a_job_that_is_not_waited_for(client):
    job = client.submit("print('é', flush=True)\nopen('f', 'w').write('x')", key=f"key-{id(client)}", **BOUNDS)
    events = list(job.events())
    assert [e["state"] for e in events if e["event"] == "state"][-1] == "done"
    said = "".join(e["text"] for e in events if e["event"] == "stdout")
    assert said == "é\n" or {e["event"] for e in events} == {"manifest", "state"}, events  # it may have ended before this was asked
    assert job.file("f") == b"x" and job.info()["state"] == "done" and job.result(output_dir="out").text == "é\n"
    again = client.submit("print('é', flush=True)\nopen('f', 'w').write('x')", key=f"key-{id(client)}", **BOUNDS)
    assert again.id == job.id and job.id in [row["job_id"] for row in client.jobs()]
    job.delete()
    with pytest.raises(hotcell.NotFound) as caught:
        client.job(job.id).info()
    assert caught.value.status == 404


def test_a_job_that_is_cancelled(client):
    job = client.submit(LONG, **{**BOUNDS, "timeout": 100})
    job.cancel()
    with pytest.raises((hotcell.JobError, hotcell.Problem)):
        job.result(check=True)


def test_problems_are_exceptions(client):
    for options, kind, exit_code in (({"policy": "nothing"}, hotcell.PolicyError, 78), ({"tree": "nothing"}, hotcell.PolicyError, 78),
                                     ({"vars": {"class": 1}}, hotcell.InputError, 65)):
        with pytest.raises(kind) as caught:
            client.run("1", **{**BOUNDS, **options})
        assert isinstance(caught.value, hotcell.Problem) and caught.value.exit_code == exit_code, options
        assert caught.value.retry in ("not_started", "finished"), options
    with pytest.raises(hotcell.UsageError):
        client.run("1", policy={"extends": "default"})
    with pytest.raises(hotcell.InputError, match="output directory /dev/null: Not a directory") as caught:
        client.run("1", output_dir="/dev/null", on_event=lambda _: pytest.fail("it runs"), **BOUNDS)
    assert not isinstance(caught.value, hotcell.Problem)
    with pytest.raises(hotcell.InputError, match="output directory /dev/null"):
        client.session(output_dir="/dev/null", **BOUNDS)
    with pytest.raises(hotcell.JobError):
        client.run("1/0", check=True, **BOUNDS)
    assert client.health()["status"] == "ok"


@pytest.fixture(name="admin", params=["waits", "awaits"])
def either_admin(request, daemon):
    if request.param == "waits":
        return hotcell.Daemon(daemon.socket).admin
    return Face(hotcell.AsyncDaemon(daemon.socket).admin)


def test_an_administrator_looks_at_jobs_and_ends_them(admin, daemon):
    client = hotcell.Daemon(daemon.socket)
    done, job = client.submit("1/0", policy="none", **BOUNDS), client.submit(LONG, **{**BOUNDS, "timeout": 100})
    since = datetime.datetime.now() - datetime.timedelta(hours=1)
    list(done.events())
    assert done.id in [row["job_id"] for row in admin.jobs(state="done", status="error", policy="none", since=since)]
    assert [row["job_id"] for row in admin.jobs(number=1)] == [job.id] and admin.jobs(since="2999-01-01T00:00:00Z") == []
    assert admin.job(job.id)["asked"]["limits"]["timeout"] == "100s" or admin.job(job.id)["asked"]["limits"]["timeout"] == 100
    assert admin.cancel(job.id, reason="zu laut: ü")["job_id"] == job.id
    assert job.result().reason == "cancelled by the administrator: zu laut: ü"
    with client.session(**BOUNDS) as session:
        assert [row["session_id"] for row in admin.sessions()] == [session.id] and admin.sessions(tenant="uid-61399") == []
    with pytest.raises(hotcell.InputProblem, match="status: expected ok, error"):
        admin.jobs(status="zzz")
    for wrong in (lambda: admin.job("no/such"), lambda: admin.cancel("none", reason="x"), lambda: admin.hold("nobody")):
        with pytest.raises(hotcell.NotFound):
            wrong()


def test_what_is_no_name_is_not_looked_for(admin, daemon):
    client = hotcell.Daemon(daemon.socket)
    done = client.submit("1", **BOUNDS)
    done.result()
    with pytest.raises(hotcell.NotFound, match="^nope: .*there is no such job"):
        admin.job("nope")
    for wrong in ("../jobs", f"../jobs/{done.id}", f"{done.id}/events", ".", "..", "", "a\0b", "ü", "\udcff"):
        for ask in (client.job(wrong).info, client.job(wrong).cancel, client.job(wrong).delete, lambda: admin.job(wrong), lambda: admin.hold(wrong)):
            with pytest.raises(hotcell.NotFound, match="there is none of this"):
                ask()
    for ask, name in ((admin.job, "job_id"), (admin.cancel, "job_id"), (admin.hold, "tenant"), (admin.release, "tenant"),
                      (lambda value: client.job(value).info(), "job_id")):
        for value, kind in ((5, "int"), (["alice"], "list"), (None, "NoneType"), (b"x", "bytes")):
            with pytest.raises(TypeError, match=f"^{name}: expected a string, got {kind}$"):
                ask(value)
    assert done.info()["state"] == "done"


def test_an_administrator_holds_tenants_and_drains_the_daemon(admin, daemon):
    client = hotcell.Daemon(daemon.socket)
    name = client.submit("1", **BOUNDS).info()["tenant"]
    assert admin.hold(name, reason="later")["hold"]["reason"] == "later"
    waiting = client.submit("2", **BOUNDS)
    told = waiting.info()
    assert told["hold"]["reason"] == "later" and told["reason"].endswith(": later")
    assert [row["held"] for row in admin.tenants() if row["tenant"] == name] == [True]
    assert admin.release(name)["held"] is False and waiting.result().value == 2
    try:
        assert admin.drain(reason="a new kernel")["draining"] is True
        with pytest.raises(hotcell.LaunchProblem, match="drained"):
            client.run("1", **BOUNDS)
    finally:
        assert admin.resume()["draining"] is False
    assert client.run("1", **BOUNDS).ok


def test_a_full_queue_says_so(daemon):
    client = hotcell.Daemon(daemon.socket)
    jobs, refused = [], None
    while refused is None:
        assert len(jobs) < 10
        try:
            jobs.append(client.submit(LONG, **{**BOUNDS, "timeout": 100}))
        except hotcell.QuotaProblem as problem:
            refused = problem
    assert (refused.quota, refused.retry) == ("queued", "not_started")
    for job in jobs:
        job.cancel()
    for job in jobs:
        list(job.events())


def test_limits_that_are_raised_are_refused_with_all_of_them(client):
    with pytest.raises(hotcell.PolicyProblem, match="limits.enforcement: rlimits is asked for.*; limits.open_files: 60000 is asked for") as refused:
        client.run("1", **{**BOUNDS, "limits": {"pids": 4096, "cpu_weight": 100, "enforcement": "rlimits", "open_files": 60000}})
    assert (refused.value.retry, refused.value.retry_after) == ("not_started", None)
    assert {one["limit"] for one in refused.value.limits} == {"limits.enforcement", "limits.open_files"}
    assert {(one["of"], one["name"]) for one in refused.value.limits} == {("policy", "default")}
    with pytest.raises(hotcell.PolicyProblem) as refused:
        client.run("1", **{**BOUNDS, "policy": "nothing"})
    assert refused.value.limits == []


@pytest.mark.parametrize("method", ["run", "submit", "session"])
@pytest.mark.parametrize("name, advice", [("outlive", "a job of submit\\(\\) goes on"), ("guard", "it is for a cell on this host"), ("polices", "$")])
def test_an_argument_that_a_daemon_has_no_use_for_is_an_error_of_the_caller(client, here, method, name, advice):
    with pytest.raises(TypeError, match=rf"Daemon\.{method}\(\) got an unexpected argument '{name}'.*{advice}"):
        getattr(client, method)(*([] if method == "session" else ["1"]), **{name: True}, **({} if method == "submit" else {"output_dir": "out"}))
    assert not list(here.iterdir())


@pytest.mark.parametrize("value", ["yes", "no", 1, None])
def test_whether_a_job_outlives_its_caller_is_said_outright(run, value):
    with pytest.raises(TypeError, match="outlive: expected True or False, got"):
        run("1", outlive=value, **BOUNDS)


def test_a_task_that_is_cancelled_ends_its_job(daemon):
    async def main():
        client, up = hotcell.AsyncDaemon(daemon.socket), asyncio.Event()
        task = asyncio.create_task(client.run(LONG, on_event=lambda e: e["event"] == "stdout" and up.set(), **{**BOUNDS, "timeout": 100}))
        await up.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        newest = (await client.jobs())[0]["job_id"]
        return await client.job(newest).result()
    assert asyncio.run(main()).status == "killed"


def test_many_at_once(daemon):
    async def main():
        client = hotcell.AsyncDaemon(daemon.socket)
        return [r.value for r in await asyncio.gather(*(client.run(f"{i} * 2", **BOUNDS) for i in range(4)))]
    assert asyncio.run(main()) == [0, 2, 4, 6]


# ---- hotcell.run ----

@pytest.fixture(name="run", params=["run", "arun"])
def either_run(request):
    return hotcell.run if request.param == "run" else lambda *a, **k: asyncio.run(hotcell.arun(*a, **k))


def by_daemon(result):
    return result.manifest["tenant"] is not None


def test_run_uses_a_daemon_where_one_is_named(run, daemon, monkeypatch):
    assert not by_daemon(run("1", **BOUNDS))
    assert by_daemon(run("1", socket=daemon.socket, **BOUNDS))
    monkeypatch.setenv("HOTCELL_SOCKET", str(daemon.socket))
    assert by_daemon(run("1", **BOUNDS)) and not by_daemon(run("1", binary=cells.HOTCELL, **BOUNDS))
    for options in ({"policy": {"extends": "default"}}, {"guard": False}, {"job_id": "x"}, {"policy": Path("p.json")}):
        if isinstance(options.get("policy"), Path):
            Path("p.json").write_text('{"extends": "default"}')
        result = run("1", **BOUNDS, **options)
        assert result.ok and not by_daemon(result), options
        with pytest.raises(hotcell.UsageError):
            run("1", socket=daemon.socket, **BOUNDS, **options)


def test_run_without_the_daemon_that_is_named(run, here, monkeypatch):
    with pytest.raises(hotcell.DaemonUnavailable) as caught:
        run("1", socket=here / "none", **BOUNDS)
    assert caught.value.retry == "not_started" and isinstance(caught.value, hotcell.LaunchFailed)
    assert str(caught.value) == f"connect to hotcelld at {here}/none: No such file or directory: start hotcelld(8), or say where it is"
    monkeypatch.setenv("HOTCELL_SOCKET", str(here / "none"))
    assert run("1", **BOUNDS).ok
    monkeypatch.setenv("HOTCELL_SOCKET", "http://nowhere")
    with pytest.raises(hotcell.UsageError):
        run("1", **BOUNDS)


def test_the_older_runner_has_no_use_for_a_daemon(daemon, here, scientific):  # pylint: disable=unused-argument
    """It names directories of its own host, which get what the program leaves."""
    spec = {"code": "print(6 * 7)", "df_paths": {}, "output_dir": str(here / "out")}
    (here / "spec.json").write_text(json.dumps(spec))
    jobs = daemon.get("/v1/jobs").json["jobs"]
    done = subprocess.run([sys.executable, PACKAGE / "hotcell-runner", "spec.json"], env={**os.environ, "HOTCELL_SOCKET": str(daemon.socket)},
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", ""), done
    assert json.loads((here / "out" / "_sandbox_result.json").read_text())["exit_code"] == 0
    assert daemon.get("/v1/jobs").json["jobs"] == jobs


def test_a_daemon_that_dies_leaves_an_unknown_outcome(base_tree):
    with daemons.Daemon() as d:
        def kill(event):
            if event["event"] == "stdout":
                d.process.send_signal(signal.SIGKILL)
        with pytest.raises(hotcell.DaemonLost) as caught:
            hotcell.Daemon(d.socket).run(LONG, on_event=kill, **{**BOUNDS, "timeout": 100})
        assert caught.value.retry == "started_outcome_unknown"


# ---- daemons that listen no more ----

@contextlib.contextmanager
def deaf(daemon):
    """Gives what makes the daemon hear of no other connection, until the end of the block; those that it has go on."""
    aside = Path(f"{daemon.socket}.aside")
    try:
        yield lambda: Path(daemon.socket).rename(aside)
    finally:
        aside.rename(daemon.socket)


@pytest.mark.parametrize("later", [False, True])
def test_a_job_that_has_begun_is_not_run_again_on_this_host(run, daemon, monkeypatch, later):
    """The answer to a call needs a connection of its own, and there is none to be had."""
    monkeypatch.setenv("HOTCELL_SOCKET", str(daemon.socket))
    calls = []
    with deaf(daemon) as go_deaf:
        def once():
            calls.append(1)
            go_deaf()

        async def once_later():
            once()
        with pytest.raises(hotcell.DaemonLost) as lost:
            run("tools.once()", tools={"once": once_later if later else once}, **BOUNDS)
    assert len(calls) == 1 and lost.value.retry == "started_outcome_unknown"
    assert hotcell.Daemon(daemon.socket).job(lost.value.job_id).info()["job_id"] == lost.value.job_id


def test_a_job_whose_files_cannot_be_fetched_can_be_asked_for_again(client, daemon, here):
    with deaf(daemon) as go_deaf, pytest.raises(hotcell.DaemonLost) as lost:
        client.run("open('f', 'w').write('x')", on_event=lambda e: e["event"] == "manifest" and go_deaf(), **BOUNDS)
    job = client.job(lost.value.job_id)
    with deaf(daemon) as go_deaf:
        go_deaf()
        with pytest.raises(hotcell.DaemonLost) as lost:
            job.result()
    assert lost.value.job_id == job.id
    assert job.result(output_dir="out").ok and (here / "out" / "f").read_text() == "x"


def test_a_run_of_a_session_whose_files_cannot_be_fetched(client, daemon):
    session = client.session(**BOUNDS)
    with deaf(daemon) as go_deaf, pytest.raises(hotcell.DaemonLost) as lost:
        session.run("n = 1; open('f', 'w').write('x')", on_event=lambda e: e["event"] == "result" and go_deaf())
    assert lost.value.retry == "started_outcome_unknown" and session.run("n").value == 1 and session.file("f") == b"x"
    with deaf(daemon) as go_deaf:
        go_deaf()
        with pytest.raises(hotcell.DaemonUnavailable) as caught:
            session.run("n += 1")
    assert caught.value.retry == "not_started" and session.run("n").value == 1
    session.close()


# ---- daemons that take their time ----

def post(asynchronous, path, body):
    flow = wire.exchange(wire.Place(path=str(path)), "POST", "/", body)
    return asyncio.run(wire.aresult_of(flow)) if asynchronous else wire.result_of(flow)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_daemon_that_takes_nothing_of_a_request_is_lost(here, monkeypatch, asynchronous):
    monkeypatch.setattr(wire, "PATIENCE", 0.1)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(here / "socket"))
        server.listen()
        with pytest.raises(hotcell.DaemonLost, match="send the request: timed out"):
            post(asynchronous, here / "socket", bytes(8 << 20))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_daemon_that_takes_a_request_slowly_is_waited_for(here, monkeypatch, asynchronous):
    """It takes longer for the whole than anybody is patient, and for no part of it."""
    pace = threading.Event()
    monkeypatch.setattr(wire, "PATIENCE", 2 * cells.SLOWNESS)

    def serve(server):
        connection, _ = server.accept()
        with connection:
            last = b""
            while not last.endswith(b"end"):
                pace.wait(0.2 * cells.SLOWNESS)
                last = connection.recv(1 << 16)
            connection.sendall(impostors.respond(b"{}", "application/json"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(here / "socket"))
        server.listen()
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        try:
            answer, body = post(asynchronous, here / "socket", bytes(15 << 16) + b"end")
        finally:
            pace.set()
            thread.join()
    assert (answer.status, body) == (200, b"{}")


# ---- daemons that are none ----

@pytest.mark.parametrize("name", impostors.LIES)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_nothing_that_a_daemon_says_is_believed(name, asynchronous):
    outside = cells.new_directory(cells.caller())
    with impostors.impostor(impostors.LIES[name][0]) as directory:
        (directory / "out").mkdir()
        (directory / "out" / "link").symlink_to(outside)
        with pytest.raises(hotcell.HotcellError):
            if asynchronous:
                asyncio.run(hotcell.AsyncDaemon(directory / "socket").run("1", output_dir=directory / "out"))
            else:
                hotcell.Daemon(directory / "socket").run("1", output_dir=directory / "out")
        assert os.listdir(directory / "out") == ["link"] and not os.listdir(outside)


@pytest.mark.parametrize("name", ["../../outside", "/tmp/outside", "..", "", "a/b", "x\n", 5, None, ["one"]])
def test_what_a_daemon_calls_a_job_is_no_path(name):
    """It would be a directory below hotcell-output, and the daemon chooses what goes there."""
    body = json.dumps({"job_id": name, "session_id": name}).encode()
    for answer in (impostors.respond(body, "application/json"), impostors.respond(b"[]", "application/json")):
        with impostors.impostor([answer]) as directory:
            daemon = hotcell.Daemon(directory / "socket")
            for begin in (lambda: daemon.submit("1"), daemon.session):
                with pytest.raises(hotcell.DaemonLost):
                    begin()


HEAD = b"HTTP/1.1 200 OK\r\n"
ANSWERS = [
    (HEAD + b"Content-Length: 5\r\n\r\nhello", b"hello"),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", b"hello0123456789"),
    (b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"\r\nto the end", b"to the end"),
    (b"HTTP/1.1 204 No Content\r\n\r\n", b""), (HEAD + b"Content-Length: 0\r\n\r\n", b""),
]


@pytest.mark.parametrize("text, body", ANSWERS)
@pytest.mark.parametrize("piece", [1, 2, 7, 1000])
def test_answers_are_read_in_any_pieces(text, body, piece):
    answer = wire.Answer()
    for at in range(0, len(text), piece):
        answer.feed(text[at:at + piece])
    if not answer.done:
        answer.feed(b"")
    assert answer.done and answer.take() == body


@pytest.mark.parametrize("piece", [1, 2, 7, 1000])
def test_events_are_read_in_any_pieces(piece):
    """Also of a line that nobody ends, which is none."""
    lines = [{"event": "stdout", "text": "a" * size} for size in (0, 1, 30)]
    text = HEAD + b"\r\n" + b"".join(json.dumps(line).encode() + b"\n" for line in lines) + b'{"event": "half'
    pieces = [text[at:at + piece] for at in range(0, len(text), piece)] + [b""]
    flow, said = wire.events(wire.Place("nowhere"), "GET", "/"), []
    step = next(flow)
    with pytest.raises(StopIteration):
        while True:
            if isinstance(step, dict):
                said.append(step)
                step = next(flow)
            else:
                step = flow.send(pieces.pop(0) if isinstance(step, wire.Read) else io.BytesIO())
    assert said == lines


# ---- tools and sessions ----

def tools_of(seen):
    def note(word: str, times: int = 1) -> int:
        """Write it down."""
        seen.extend([word] * times)
        return len(seen)

    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n * 2

    def fail():
        raise KeyError("no")
    return [hotcell.Tool(note, calls=3), later, fail]


TOOLS = "print(tools.note('a', times=2), tools.later(4), tools.note.__doc__)\ntry: tools.fail()\nexcept ToolError as e: print(e)"


def test_tools_are_called_here(client):
    seen = []
    result = client.run(TOOLS, tools=tools_of(seen), **BOUNDS)
    assert (result.text, seen) == ("2 8 Write it down.\nKeyError: 'no'\n", ["a", "a"]), result
    assert [call["name"] for call in result.manifest["tools"]] == ["note", "later", "fail"]
    job = client.submit("[tools.later(n) for n in range(3)]", tools=tools_of(seen), **BOUNDS)
    assert job.result().value == [0, 2, 4]
    assert client.run("tools.note(5)", tools=tools_of(seen), **BOUNDS).error.type == "ToolError" and len(seen) == 2
    assert client.run("for _ in range(9): tools.note('b')", tools=tools_of(seen), **BOUNDS).error.type == "ToolError"
    assert seen.count("b") == 3


def test_run_has_its_tools_called_through_a_daemon(run, daemon):
    seen = []
    result = run("tools.note('x')", socket=daemon.socket, tools=tools_of(seen), **BOUNDS)
    assert result.value == 1 and by_daemon(result) and seen == ["x"]


def test_a_session_of_the_daemons(client, here):
    seen, printed = [], []
    session = client.session(tools=tools_of(seen), output_dir="out", vars={"n": 1}, **BOUNDS)
    run = session.run("x = n\nopen('f', 'w').write('kept')\nprint('é')\nx", on_event=lambda e: printed.append(e.get("text")))
    assert (run.value, run.run, run.state, run.text) == (1, 1, "kept", "é\n") and "".join(filter(None, printed)) == "é\n"
    assert (here / "out" / "f").read_text() == "kept" and session.file("f") == b"kept"
    assert session.run("tools.note('a') + later", vars={"later": 41}).value == 42 and seen == ["a"]
    session.checkpoint("one")
    killed = session.run("x = 2\nwhile True: pass", limits={"timeout": 0.3 * cells.SLOWNESS, "grace": 0})
    assert (killed.status, killed.kept) == ("timeout", False)
    assert [r.value for r in session.branch(["x += 1; x", {"code": "x += y; x", "vars": {"y": 5}}])] == [2, 6]
    session.keep(2)
    assert session.run("x").value == 6 and session.info()["state"] == "idle"
    session.rollback("one")
    assert session.run("x").value == 1
    with pytest.raises(hotcell.Problem):
        session.rollback("two")
    with pytest.raises(hotcell.JobError):
        session.run("1/0", check=True)
    session.interrupt()
    session.close()
    assert len(session.manifest["runs"]) == 8 and session.manifest["status"] == "ok"
    with pytest.raises(hotcell.SessionEnded) as ended:
        session.run("x")
    assert ended.value.reason == "closed" and len(ended.value.manifest["runs"]) == 8


def test_a_session_is_closed_behind_its_block(daemon):
    with hotcell.Daemon(daemon.socket).session(**BOUNDS) as session:
        assert session.run("1").value == 1
        for wrong in (lambda: session.run(5), lambda: session.run("1", limits=5), lambda: session.branch(5),
                      lambda: session.run("1", timeout="x"), lambda: session.branch([]),
                      lambda: session.rollback("none"), lambda: session.keep(1), lambda: session.checkpoint("a b")):
            with pytest.raises(hotcell.InputError):  # as of a session without a daemon
                wrong()
    assert session.manifest["runs"][0]["state"] == "kept"

    async def main():
        client = hotcell.AsyncDaemon(daemon.socket)
        async with await client.session(**BOUNDS) as one:
            assert (await one.run("2")).value == 2
        async with client.session(**BOUNDS) as two:
            assert (await two.run("3")).value == 3
        with pytest.raises(hotcell.SessionEnded):
            await two.run("4")
        for opened in await asyncio.gather(client.session(**BOUNDS), asyncio.create_task(client.session(**BOUNDS))):
            assert (await opened.run("5")).value == 5
            await opened.close()
        with pytest.raises(hotcell.NotFound):
            async with client.session("20260101T000000Z-000000000000"):
                pass
    asyncio.run(main())
    assert {session["state"] for session in hotcell.Daemon(daemon.socket).sessions()} <= {"ended"}
