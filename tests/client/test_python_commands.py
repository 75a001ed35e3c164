"""hotcell.Session.start: commands beside the runs of a session, from Python."""

import asyncio
import concurrent.futures
import json
import signal
import sys
import threading
from pathlib import Path

import pytest

import cells
import daemons

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
import hotcell  # noqa: E402
from hotcell import commands  # noqa: E402

pytestmark = pytest.mark.usefixtures("shell_tree")

POLICY = {"extends": "shell", **({} if cells.counts_memory(cells.caller()) else {"limits": {"enforcement": "rlimits"}})}


@pytest.fixture(name="session")
def open_session():
    with hotcell.Session(policy=POLICY, binary=cells.HOTCELL) as session:
        yield session


def test_a_command_is_written_to_and_read_beside_runs(session):
    server = session.start(["sh", "-c", "while read n; do echo $((n + 1)); done; echo over >&2; exit 3"])
    assert session.run("x = 41").ok and server.pid > 1
    server.write("41\n")
    assert server.read() == b"42\n"
    assert [each.id for each in session.commands()] == [server.id]
    server.write(b"1\n")
    server.close_stdin()
    assert server.wait() == 3 and server.read() == b"2\n" and server.read() == b"" and server.read("stderr") == b"over\n"
    assert server.end["status"] == "error" and server.end["process"] == {"exit": 3}
    assert session.commands() == [] and session.run("x").value == 41


def test_events_signals_and_refusals(session):
    deaf = session.start(["sh", "-c", "trap 'echo int' INT; echo up; while :; do sleep 0.01; done"], env={"A": "b"}, workdir="/tmp")
    events = deaf.events()
    assert next(events)["text"] == "up\n"
    deaf.signal(signal.SIGINT)
    assert next(event for event in events if event.get("text") == "int\n")
    with pytest.raises(TimeoutError):
        deaf.wait(0.05)
    deaf.kill()
    assert deaf.wait() == 128 + 9 and deaf.end["status"] == "killed"
    for wrong in (lambda: deaf.write("x"), lambda: deaf.signal("SEGV"), lambda: deaf.signal(999), lambda: session.start([]),
                  lambda: session.start(["true"], limits={"nothing": 1}), lambda: deaf.read("stdin")):
        with pytest.raises(hotcell.InputError):
            wrong()
    assert session.run("1").value == 1


def test_a_thread_starts_commands_while_a_run_goes_on_in_another(session):
    session.run("import os\nos.mkfifo('/tmp/go')")
    runs = []
    thread = threading.Thread(target=lambda: runs.append(session.run("open('/tmp/go').read()")))
    thread.start()
    quick = session.start(["sh", "-c", "echo quick"], timeout=30)
    assert quick.wait() == 0 and quick.read() == b"quick\n"
    assert session.start(["sh", "-c", "echo over > /tmp/go"]).wait() == 0
    thread.join(cells.PATIENCE)
    assert runs[0].value == "over\n"


WRITES = "import os\nfor i in range(20000):\n    os.write(1, b'x' if i % 3 else b'\\xff')\n    {}\n    os.sched_yield()"


@pytest.mark.parametrize("also, most", [("pass", 100), ("os.write(2, b'y')", commands.MOST_WAITING // commands.EVENT)], ids=["one stream", "two streams"])
def test_single_bytes_that_wait_are_no_events_of_their_own(session, also, most):
    """Each byte is told by itself where the program and the session's process run in turn."""
    written = session.start(["python3", "-c", WRITES.format(also)])
    while session.commands():
        pass
    session.run("1")
    events = list(written.events())
    assert len(events) <= most + 3 and events[-1]["event"] == "exited"
    if also == "pass":
        told = b"".join(commands.output_of(each) for each in events[:-1])
        assert told == b"".join(b"x" if i % 3 else b"\xff" for i in range(20000))


def test_output_beyond_what_may_wait_is_cut(session, monkeypatch):
    monkeypatch.setattr(commands, "MOST_WAITING", 20000)
    written = session.start(["python3", "-c", "import os\nos.write(1, b'x' * 60000)\nos.write(2, b'end')"])
    while session.commands():
        pass
    session.run("1")
    events = list(written.events())
    assert [each["stream"] for each in events if each["event"] == "cut"] == ["stdout"] and events[-1]["event"] == "exited"
    assert sum(len(each["text"]) for each in events if each["event"] == "stdout") <= 20000


def test_the_end_of_the_session_ends_them():
    with hotcell.Session(policy=POLICY, binary=cells.HOTCELL) as session:
        command = session.start(["sleep", "999"])
    assert command.wait() == 128 + 9 and command.end["reason"] == "the session has ended"
    with pytest.raises(hotcell.SessionEnded):
        session.start(["true"])


def test_a_policy_without_commands_refuses_them(base_tree):
    with hotcell.Session(policy={"extends": "default", "tree": str(base_tree)}, binary=cells.HOTCELL) as session:
        with pytest.raises(hotcell.InputError, match="commands.allow"):
            session.start(["true"])
        assert session.commands() == []


def test_the_same_in_an_event_loop():
    async def main():
        async with hotcell.AsyncSession(policy=POLICY, binary=cells.HOTCELL) as session:
            server = await session.start(["cat"])
            await server.write("one\n")
            assert await server.read() == b"one\n"
            waits = asyncio.ensure_future(server.wait())
            assert (await session.run("1 + 1")).value == 2
            assert [each.id for each in await session.commands()] == [server.id]
            await server.close_stdin()
            assert await waits == 0
            stuck = await session.start(["sleep", "999"])
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(stuck.wait(), 0.3)
            await stuck.kill()
            assert [event["event"] async for event in stuck.events()] == ["exited"]
    asyncio.run(main())


@pytest.fixture(name="daemon", scope="module")
def shell_daemon():
    user = cells.caller()
    folder = cells.new_directory(user)
    (folder / "commands.json").write_text(json.dumps({"name": "commands", **POLICY}))
    with daemons.Daemon(user, base=False, env={"HOTCELL_POLICIES": str(folder)}) as running:
        yield hotcell.Daemon(running.socket), hotcell.AsyncDaemon(running.socket)


def test_a_daemons_session_has_them_too(daemon):
    with daemon[0].session(policy="commands") as session:
        server = session.start(["sh", "-c", "while read n; do echo $((n + 1)); done; echo over >&2; exit 3"])
        assert session.run("6 * 7").value == 42
        server.write("41\n")
        assert server.read() == b"42\n" and [each.id for each in session.commands()] == [server.id]
        server.write(b"1\n")
        server.close_stdin()
        assert server.wait() == 3 and server.read() == b"2\n" and server.read() == b"" and server.read("stderr") == b"over\n"
        stuck = session.start(["sleep", "999"], timeout="300s")
        stuck.signal("TERM")
        assert stuck.wait() == 128 + 15 and [event["event"] for event in stuck.events()] == []
        with pytest.raises(hotcell.InputError, match="expected the name of a program"):
            session.start([])


def test_events_of_a_daemons_command_go_on_after_an_interrupt(daemon):
    with daemon[0].session(policy="commands") as session:
        server = session.start(["cat"])
        server.write("one\n")
        assert server.read() == b"one\n"
        with pytest.raises(KeyboardInterrupt):
            server._stream.throw(KeyboardInterrupt)
        with pytest.raises(hotcell.DaemonLost, match="ended before the command"):
            server.read()
        server.write("two\n")
        assert server.read() == b"two\n"


def test_threads_and_tasks_read_one_command_of_a_daemon_at_once(daemon):
    program = ["sh", "-c", "read _; for i in 1 2 3 4 5 6 7 8; do echo $i; echo e$i >&2; done"]
    wanted = [b"".join(b"%d\n" % i for i in range(1, 9)), b"".join(b"e%d\n" % i for i in range(1, 9))]

    async def all_of(command, stream):
        return b"".join([piece async for piece in pieces(command, stream)])

    async def pieces(command, stream):
        while piece := await command.read(stream):
            yield piece

    async def main():
        async with await daemon[1].session(policy="commands") as session:
            command = await session.start(program)
            reading = [asyncio.ensure_future(all_of(command, stream)) for stream in ("stdout", "stderr")]
            waiting = asyncio.ensure_future(command.wait())
            await command.write("\n")
            assert await asyncio.gather(*reading) == wanted and await waiting == 0
    asyncio.run(main())
    with daemon[0].session(policy="commands") as session, concurrent.futures.ThreadPoolExecutor() as pool:
        command = session.start(program)
        reading = [pool.submit(lambda stream=stream: b"".join(iter(lambda: command.read(stream), b""))) for stream in ("stdout", "stderr")]
        waiting = pool.submit(command.wait)
        command.write("\n")
        assert [one.result() for one in reading] == wanted and waiting.result() == 0


def test_a_daemons_session_in_an_event_loop_has_them_too(daemon):
    async def main():
        async with await daemon[1].session(policy="commands") as session:
            server = await session.start(["cat"])
            await server.write("one\n")
            assert await server.read() == b"one\n"
            await server.kill()
            assert await server.wait() == 128 + 9 and await session.commands() == []
            stuck = await session.start(["sh", "-c", "echo one; exec sleep 999"])
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(stuck.wait(), 0.3 * cells.SLOWNESS)
            await stuck.kill()
            assert await stuck.wait() == 128 + 9 and await stuck.read() == b"one\n" and await stuck.read() == b""
    asyncio.run(main())
