"""What a caller hears while a program runs (on_event), runs that wait for their turn, sessions that are found again."""

import asyncio
import base64
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import cells
import daemons
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402

BOUNDS = {"tree": "base", "timeout": 10 * cells.SLOWNESS, "memory": "256M"}
LONG = "import time\nprint('up', flush=True)\ntime.sleep(100)"
ODD = "import sys\nprint('one', flush=True)\nsys.stderr.write('two')\nsys.stderr.flush()\nsys.stdout.buffer.write('é'.encode()[:1])\n" \
      "sys.stdout.flush()\nsys.stdout.buffer.write('é'.encode()[1:])\nsys.stdout.flush()"


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):
    with daemons.Daemon(config={"workers": 2}) as d:
        yield d
        assert d.end() == 0, d.log


@pytest.fixture(name="here", autouse=True)
def directory_of_its_own(base_tree, monkeypatch):
    directory = cells.new_directory(cells.caller())
    monkeypatch.chdir(directory)
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    monkeypatch.delenv("HOTCELL_SOCKET", raising=False)
    return directory


async def in_async_session(code, **more):
    async with hotcell.AsyncSession(**BOUNDS) as session:
        return await session.run(code, **more)


def in_session(code, **more):
    with hotcell.Session(**BOUNDS) as session:
        return session.run(code, **more)


def in_daemon_session(daemon):
    def way(code, **more):
        with hotcell.Daemon(daemon.socket).session(**BOUNDS) as session:  # a tenant has four at most
            return session.run(code, **more)
    return way


WAYS = {
    "run": lambda d: lambda code, **more: hotcell.run(code, **BOUNDS, **more),
    "arun": lambda d: lambda code, **more: asyncio.run(hotcell.arun(code, **BOUNDS, **more)),
    "run by a daemon": lambda d: lambda code, **more: hotcell.run(code, socket=d.socket, **BOUNDS, **more),
    "arun by a daemon": lambda d: lambda code, **more: asyncio.run(hotcell.arun(code, socket=d.socket, **BOUNDS, **more)),
    "Session": lambda d: in_session,
    "AsyncSession": lambda d: lambda code, **more: asyncio.run(in_async_session(code, **more)),
    "Daemon": lambda d: lambda code, **more: hotcell.Daemon(d.socket).run(code, **BOUNDS, **more),
    "AsyncDaemon": lambda d: lambda code, **more: asyncio.run(hotcell.AsyncDaemon(d.socket).run(code, **BOUNDS, **more)),
    "DaemonSession": in_daemon_session,
}


@pytest.fixture(name="way", params=list(WAYS))
def every_way(request, daemon):
    return WAYS[request.param](daemon)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_every_way_of_running_tells_a_function_and_a_coroutine_function(way, asynchronous):
    heard = []

    async def later(event):
        await asyncio.sleep(0)
        heard.append(event)
    result = way(ODD, on_event=later if asynchronous else heard.append)
    assert result.ok, result
    for stream, whole in ("stdout", "one\né"), ("stderr", "two"):
        assert "".join(event["text"] for event in heard if event["event"] == stream) == whole, heard
    last = [event for event in heard if event["event"] in ("manifest", "result")]
    assert [event["manifest"]["stdout"]["text"] for event in last] == ["one\né"], heard


def test_every_way_refuses_a_listener_that_is_no_function_before_the_program_runs(way):
    for listener in (5, [print]):
        with pytest.raises(TypeError, match=f"^on_event: expected a function or a coroutine function, got {type(listener).__name__}$"):
            way("print('ran')", on_event=listener)
    assert way("1", on_event=None).ok


def test_every_way_tells_it_while_the_program_runs_and_ends_it_if_the_listener_fails(way):
    def fail(event):
        if event["event"] == "stdout":
            raise KeyError(event["text"])
    with pytest.raises(KeyError, match="up"):
        way(LONG, on_event=fail)


def test_output_that_is_no_text(here):
    heard = []
    program = "import sys\nsys.stdout.buffer.write(b'\\xff\\0')\nsys.stdout.flush()\nprint('x' * 200_000)"
    result = hotcell.run(program, on_event=heard.append, limits={"stdout": "1M"}, **BOUNDS)
    told = [base64.b64decode(event["data"]) if "data" in event else event["text"].encode() for event in heard[:-1]]
    assert result.ok and "data" in heard[0] and heard[-1]["event"] == "manifest"
    assert b"".join(told) == b"\xff\0" + b"x" * 200_000 + b"\n"


def test_figures_are_announced_while_the_program_runs(scientific, here):
    heard = []
    program = "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('/output/figures/a.png')"
    result = hotcell.run(program, tree=scientific, timeout=60 * cells.SLOWNESS, on_event=heard.append)
    figure = [event["figure"] for event in heard if event["event"] == "figure" and event["figure"]["path"] == "figures/a.png"][-1]
    assert figure["mime"] == "image/png" and figure["bytes"] in [each.bytes for each in result.figures]


def test_a_task_that_is_cancelled_while_it_listens_ends_its_cell(here):
    async def main():
        up = asyncio.Event()
        task = asyncio.create_task(hotcell.arun(LONG, on_event=lambda e: up.set(), **{**BOUNDS, "timeout": 100}))
        await up.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    asyncio.run(main())


# ---- sessions ----

def test_an_async_session_keeps_its_state_and_survives_a_cancelled_task(here):
    async def double(n: int) -> int:
        await asyncio.sleep(0)
        return 2 * n

    async def main():
        session = hotcell.AsyncSession(tools=[double], **{**BOUNDS, "timeout": 100})
        with pytest.raises(hotcell.UsageError, match="has not begun"):
            await session.run("1")
        assert repr(session) == "<AsyncSession, not begun>"
        async with session:
            await session.run("x = 20")
            up = asyncio.Event()
            task = asyncio.create_task(session.run("x = 21\n" + LONG, on_event=lambda e: up.set()))
            await up.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await session.checkpoint("one")
            runs = await asyncio.gather(*(session.run(f"x += {n}; tools.double(x)") for n in range(3)))
            assert [run.value for run in runs] == [42, 44, 48] and [run.run for run in runs] == [3, 4, 5]
            await session.rollback("one")
            assert [run.value for run in await session.branch(["x", "x + 1"])] == [21, 22]
            await session.keep(2)
            assert session.id in repr(session) and not session.ended
        assert session.ended and session.manifest["status"] == "ok"
        with pytest.raises(hotcell.SessionEnded):
            await session.run("1")
    asyncio.run(main())


def test_a_second_cancellation_ends_an_async_session(here):
    async def main():
        session = await hotcell.AsyncSession(**{**BOUNDS, "timeout": 100}).open()
        up = asyncio.Event()
        stubborn = "while True:\n    try:\n        print('up', flush=True)\n        while True: pass\n    except KeyboardInterrupt:\n        pass"
        task = asyncio.create_task(session.run(stubborn, on_event=lambda event: up.set()))
        await up.wait()
        for _ in range(2):
            task.cancel()
            for _ in range(3):  # turns of the loop, in which the task hears of it
                await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(hotcell.HotcellError):
            await session.run("1")
        await session.close()
    asyncio.run(main())


def concurrent(run):
    """The values of runs that begin together, in threads."""
    values = []
    threads = [threading.Thread(target=lambda: values.append(run("x += 1; x").value)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(values)


def test_runs_of_other_threads_and_tasks_wait_for_their_turn(daemon):
    with hotcell.Session(**BOUNDS) as local:
        local.run("x = 0")
        assert concurrent(local.run) == [1, 2, 3, 4]
    with hotcell.Daemon(daemon.socket).session(vars={"x": 0}, **BOUNDS) as session:
        assert concurrent(session.run) == [1, 2, 3, 4]

    async def main():
        async with await hotcell.AsyncDaemon(daemon.socket).session(vars={"x": 0}, **BOUNDS) as other:
            return [run.value for run in await asyncio.gather(*(other.run("x += 1; x") for _ in range(4)))]
    assert asyncio.run(main()) == [1, 2, 3, 4]


def test_a_listener_cannot_wait_for_its_own_run(daemon):
    with hotcell.Session(**BOUNDS) as local, hotcell.Daemon(daemon.socket).session(**BOUNDS) as session:
        for one in local, session:
            with pytest.raises(hotcell.InputError, match="this run has called the listener"):
                one.run("print(1)", on_event=lambda event, one=one: one.run("2"))
            assert one.run("3").value == 3


def test_a_session_is_found_again_by_its_id(daemon, here):
    client = hotcell.Daemon(daemon.socket)
    calls = []

    def note(text: str) -> None:
        calls.append(text)
    begun = client.session(tools=[note], vars={"x": 41}, **BOUNDS)
    assert begun.id in [each["session_id"] for each in client.sessions()] and begun.id in repr(begun)
    again = client.session(begun.id, tools=[note], output_dir="again")
    assert again.run("x += 1; tools.note('a'); open('/output/f', 'w').write('b'); x").value == 42 and calls == ["a"]
    assert (here / "again" / "f").read_text() == "b"

    async def main():
        found = await hotcell.AsyncDaemon(daemon.socket).session(begun.id)
        assert begun.id in [each["session_id"] for each in await hotcell.AsyncDaemon(daemon.socket).sessions()]
        return (await found.run("x")).value
    assert asyncio.run(main()) == 42
    with pytest.raises(TypeError, match="unexpected argument 'vars': the session of this id has its own"):
        client.session(begun.id, vars={"x": 1})
    begun.close()
    for wrong in ("none", "a/b", "../jobs"):
        with pytest.raises(hotcell.NotFound):
            client.session(wrong)


INTERRUPTED = """
import hotcell, signal, sys
with hotcell.Session(tree="base", timeout=100) as session:
    session.run("x = 1")
    try:
        session.run("x = 2\\nprint('up', flush=True)\\nwhile True: pass", on_event=lambda e: e.get("text", "").startswith("up") and print("up", flush=True))
    except KeyboardInterrupt:
        print("interrupted", session.run("x").value, signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_the_keyboard_interrupts_a_run_and_not_its_session(here):
    """As a terminal does it: all processes of its group get the signal."""
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    assert process.stdout.readline() == "up\n"
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=cells.PATIENCE)[0] == "interrupted 2 True\n" and process.returncode == 0


# ---- what objects and errors say ----

def test_what_a_job_says_of_itself(daemon):
    job = hotcell.Daemon(daemon.socket).submit("1", **BOUNDS)
    assert repr(job) in (f"<Job {job.id}: queued>", f"<Job {job.id}: running>")
    assert job.result().value == 1 and (repr(job), job.status) == (f"<Job {job.id}: ok>", "ok")
    other = hotcell.Daemon(daemon.socket).job(job.id)
    assert repr(other) == f"<Job {job.id}: not asked for yet>" and other.info() and repr(other) == f"<Job {job.id}: ok>"
    assert "id, by which" in hotcell.Job.id.__doc__


def test_a_misspelt_argument_is_named_with_the_right_one(daemon):
    client = hotcell.Daemon(daemon.socket)
    for call, message in ((lambda: client.run("1", timeot=3), r"Daemon\.run\(\) got an unexpected argument 'timeot': did you mean 'timeout'\?"),
                          (lambda: client.run("1", on_events=print), r"'on_events': did you mean 'on_event'\?"),
                          (lambda: client.session(memry=3), r"Daemon\.session\(\) got an unexpected argument 'memry': did you mean 'memory'\?"),
                          (lambda: client.session(**BOUNDS).run("1", return_="x"), r"run\(\) got an unexpected argument 'return_'"),
                          (lambda: client.run("1", frobnicate=3), r"unexpected argument 'frobnicate'$")):
        with pytest.raises(TypeError, match=message):
            call()


def test_arguments_that_a_session_has_as_a_whole_or_not_at_all(base_tree):
    with hotcell.Session(tree="base") as session:
        for name, advice in (("tools", "give it to Session"), ("memory", "give it to Session"), ("dirs", "give it to Session"),
                             ("timeot", "did you mean 'timeout'")):
            with pytest.raises(TypeError, match=rf"run\(\) got an unexpected argument '{name}': .*{advice}"):
                session.run("1", **{name: []})
        assert session.run("1").value == 1


def test_a_missing_token_is_a_problem_of_its_own(base_tree):
    port, config = daemons.config_with_token("the-token-of-the-team")
    with daemons.Daemon(config=config) as d:
        with pytest.raises(hotcell.AuthProblem, match="wants a valid token, and none was sent") as problem:
            hotcell.Daemon(f"http://127.0.0.1:{port}").jobs()
        assert isinstance(problem.value, hotcell.PolicyProblem) and problem.value.status == 401
        d.end()


def test_the_card_of_a_policy(daemon, here):
    policy = {"extends": "none", "tree": "base"}
    card = hotcell.card(policy)
    assert "memory" in card and asyncio.run(hotcell.acard(policy)) == card
    with pytest.raises(hotcell.HotcellError, match="nothing-of-this-name"):
        hotcell.card("nothing-of-this-name")
