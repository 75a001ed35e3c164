"""The Python package in real use: many calls of tools at once, answers that are none, frames, waits that are broken off; by the
command, and by a daemon over its socket and over TCP."""

import asyncio
import contextlib
import contextvars
import os
import signal
import socket
import sys
from pathlib import Path

import cells
import daemons
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402
from hotcell import wire  # noqa: E402
from hotcell.tools import call_tool  # noqa: E402

BOUNDS = {"tree": "base", "memory": "256M", "timeout": 30 * cells.SLOWNESS}
CALLS = 100
TOGETHER = 8  # calls that wait for one another
MANY = f"import asyncio\nsum(await asyncio.gather(*(tools.double.call_async(n=i) for i in range({CALLS}))))"
SUM = CALLS * (CALLS - 1)


class Double:
    """A coroutine function that answers nobody before several wait for it."""

    def __init__(self):
        self.open, self.all_there, self.seen = 0, None, []

    async def double(self, n: int) -> int:
        self.all_there = self.all_there or asyncio.Event()
        self.open += 1
        if self.open == TOGETHER:
            self.all_there.set()
        await asyncio.wait_for(self.all_there.wait(), cells.PATIENCE)
        self.seen.append(n)
        return n * 2

    def check(self, result):
        assert result.value == SUM, result.manifest
        assert sorted(self.seen) == list(range(CALLS)) and [c["status"] for c in result.manifest["tools"]] == ["ok"] * CALLS


@pytest.fixture(autouse=True)
def directory_of_its_own(base_tree, monkeypatch):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    monkeypatch.delenv("HOTCELL_SOCKET", raising=False)


@pytest.fixture(name="daemon", scope="module")
def daemon_on_both(base_tree):
    port, config = daemons.config_with_token("a-token-of-the-team")
    with daemons.Daemon(config={**config, "workers": 1}) as d:
        d.url = f"http://127.0.0.1:{port}"
        yield d
        assert d.end() == 0, d.log


@pytest.fixture(name="place", params=["unix", "tcp"])
def either_place(request, daemon):
    """Arguments of Daemon and AsyncDaemon."""
    return {"socket": daemon.socket} if request.param == "unix" else {"socket": daemon.url, "token": "a-token-of-the-team"}


# ---- calls ----

def test_many_calls_at_once_by_the_command():
    tool = Double()
    tool.check(asyncio.run(hotcell.arun(MANY, tools=[tool.double], **BOUNDS)))


def test_many_calls_at_once_in_a_session():
    async def double(n: int) -> int:
        return n * 2
    with hotcell.Session(tools=[double], **BOUNDS) as session:
        assert session.run(MANY).value == SUM
        assert session.run(MANY).value == SUM


def test_many_calls_at_once_by_a_daemon(place):
    async def main(tool, other):
        client = hotcell.AsyncDaemon(**place)
        tool.check(await client.run(MANY, tools=[tool.double], **BOUNDS))
        async with await client.session(tools=[other.double], **BOUNDS) as session:
            other.check(await session.run(MANY))
    asyncio.run(main(Double(), Double()))
    assert hotcell.Daemon(**place).run(MANY, tools=[hotcell.Tool(lambda n: n * 2, name="double")], **BOUNDS).value == SUM


def test_a_coroutine_goes_when_its_job_has_gone(place):
    ended = []

    async def hang():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append(True)
            raise

    async def main():
        tool = hotcell.Tool(hang, timeout=0.1)
        result = await hotcell.AsyncDaemon(**place).run("try: tools.hang()\nexcept ToolError as e: print(e)", tools=[tool], **BOUNDS)
        assert "longer than" in result.text and ended == [True]
    asyncio.run(main())


def answers():
    """Of tools: what is returned, and what the program is told of it."""
    def deep():
        value = 1
        for _ in range(100):
            value = [value]
        return value

    def much():
        return "x" * (2 << 20)

    async def much_later():
        return "x" * (2 << 20)

    def fail():
        raise LookupError("a \0 and half a pair: \ud800" + "." * (2 << 20))
    return {
        "deep": (deep, "ValueError: the result is nested deeper than"), "much": (much, "ValueError: the result has 2097154 bytes"),
        "much_later": (much_later, "ValueError: the result has 2097154 bytes"), "fail": (fail, "LookupError: a \\0 and half a pair: \\ud800..."),
        "odd": (object, "TypeError: Object of type object cannot be sent to the program"), "nan": (lambda: float("nan"), "ValueError: Out of range"),
        "nul": (lambda: ["a\0b"], "ValueError: there is a NUL"), "half": (lambda: "\ud800", "UnicodeEncodeError"),
        "good": (lambda: {"a": ("é", None)}, "{'a': ['é', None]}"),
    }


ASK = "for name in names:\n    try: print(getattr(tools, name)())\n    except ToolError as error: print(str(error)[:100])"


@pytest.mark.parametrize("how", ["command", "daemon", "session", "async"])
def test_what_no_answer_can_be_is_an_error_of_its_call_alone(how, daemon):
    tools = {name: fn for name, (fn, _) in answers().items()}
    options = {"vars": {"names": list(tools)}, "tools": {name: hotcell.Tool(fn, parameters={}) for name, fn in tools.items()}, **BOUNDS}
    if how == "command":
        result = hotcell.run(ASK, **options)
    elif how == "daemon":
        result = hotcell.Daemon(daemon.socket).run(ASK, **options)
    elif how == "async":
        result = asyncio.run(hotcell.AsyncDaemon(daemon.socket).run(ASK, **options))
    else:
        names = options.pop("vars")
        with hotcell.Session(**options) as session:
            result = session.run(ASK, vars=names)
    lines = result.text.splitlines()
    assert len(lines) == len(tools), result
    for line, (_, expected) in zip(lines, answers().values()):
        assert line.startswith(expected), (line, expected)


@pytest.mark.parametrize("how", ["command", "daemon"])
def test_a_number_that_nobody_could_read_is_refused_with_its_call_alone(how, daemon):
    """Python's json reads no integer of more than 4300 digits: whoever answers tools, or reads events, would fail over it."""
    code = "import sys\nsys.set_int_max_str_digits(0)\nfor digits in (4300, 4301, 1):\n" \
           "    try: print(tools.size(n=10 ** digits - 1))\n    except ToolError as error: print(error)"
    options = {"tools": [hotcell.Tool(lambda n: n.bit_length(), name="size", parameters={})], **BOUNDS}
    result = hotcell.run(code, **options) if how == "command" else hotcell.Daemon(daemon.socket).run(code, **options)
    assert result.text.splitlines() == ["14285", "arguments: a number of more than 4300 digits", "4"], result


def test_a_tool_may_say_that_it_answers_more():
    tools = {"much": hotcell.Tool(lambda: "x" * (2 << 20), result_size="4M"), "little": hotcell.Tool(lambda: "x" * 100, result_size=90)}
    result = hotcell.run("print(len(tools.much()))\ntry: tools.little()\nexcept ToolError as e: print(e)", tools=tools, **BOUNDS)
    assert result.text == f"{2 << 20}\nValueError: the result has 102 bytes, and result_size is 90\n"


# ---- sessions of a daemon's ----

def test_a_frame_goes_through_a_session(place, scientific):
    pandas = cells.need_module("pandas")
    frame = pandas.DataFrame({"n": range(1000), "word": [f"é{n:03}" for n in range(1000)], "kind": pandas.Categorical(["a", "b"] * 500),
                              "when": pandas.date_range("2024-01-01", periods=1000, freq="h", tz="Europe/Zurich")})
    options = {**BOUNDS, "tree": "scientific", "memory": "1G", "timeout": 60 * cells.SLOWNESS}
    with hotcell.Daemon(**place).session(inputs={"df": frame[:0]}, output_dir="out", **options) as session:
        assert session.run("len(df)").value == 0 and session.run("len(df)", inputs={"df": frame}, check=True).value == 1000
        session.run("df['twice'] = df.n * 2", check=True)
        back = session.run("by_kind = df.groupby('kind', observed=True).n.sum().reset_index()", returns=["df=exact", "by_kind=exact"], check=True)
    pandas.testing.assert_frame_equal(back.returned["df"], frame.assign(twice=frame.n * 2), check_freq=False)
    assert list(back.returned["by_kind"].n) == [249500, 250000]


FOREVER = "x = 1\nprint('up', flush=True)\nwhile True: pass"


def test_a_wait_that_is_broken_off_ends_its_run_and_not_the_session(place):
    async def main():
        async with await hotcell.AsyncDaemon(**place).session(**BOUNDS) as session:
            up = asyncio.Event()
            task = asyncio.create_task(session.run(FOREVER, on_event=lambda event: event["event"] == "stdout" and up.set()))
            await up.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await session.run("x")).value == 1 and (await session.info())["runs"] == 2
    asyncio.run(main())
    with hotcell.Daemon(**place).session(**BOUNDS) as session:
        def press(event):
            if event["event"] == "stdout":
                raise KeyboardInterrupt
        with pytest.raises(KeyboardInterrupt):
            session.run(FOREVER, on_event=press)
        cells.wait_until("the end of the run", lambda: session.info()["state"] != "running", cells.PATIENCE)
        assert session.info()["last"]["manifest"]["status"] == "error" and session.run("x").value == 1


def test_a_wait_is_broken_off_while_it_reads():
    said = []

    def flow():
        said.append((yield wire.Read(None)))
        yield wire.Write(None, b"")
        return "the end"

    def interrupt():
        said.append("interrupt")
        yield wire.Open(None)
    steps = wire.unhurried(flow(), interrupt)
    assert isinstance(next(steps), wire.Read)
    assert isinstance(steps.throw(KeyboardInterrupt()), wire.Open) and isinstance(steps.send(None), wire.Read)
    assert isinstance(steps.send(b"data"), wire.Write) and said == ["interrupt", b"data"]
    with pytest.raises(KeyboardInterrupt):
        steps.send(True)
    steps = wire.unhurried(flow(), interrupt)
    next(steps)
    steps.throw(KeyboardInterrupt())
    steps.send(None)
    with pytest.raises(KeyboardInterrupt):  # the second time at once
        steps.throw(KeyboardInterrupt())
    assert len(said) == 3


# ---- callers in an event loop ----

LANGUAGE = contextvars.ContextVar("language")


def test_a_coroutine_is_called_where_a_loop_runs(place):
    """As in a notebook: who waits holds up that loop, and the coroutine has another one, with the same variables."""
    async def greet(name: str) -> str:
        await asyncio.sleep(0)
        return f"{LANGUAGE.get()} {name}"

    async def main():
        LANGUAGE.set("bonjour")
        client = hotcell.Daemon(**place)
        with client.session(tools=[greet], **BOUNDS) as session:
            return [client.run("tools.greet('you')", tools=[greet], **BOUNDS).value, session.run("tools.greet('me')").value]
    assert asyncio.run(main()) == ["bonjour you", "bonjour me"]


def test_a_coroutine_whose_caller_is_interrupted_is_cancelled():
    ended = []

    async def hang():
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def main():
        call_tool(hotcell.Tool(hang), {}, hotcell.tools.Toolbox())
    loop = asyncio.new_event_loop()  # asyncio.run would not raise it here
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(main())
    finally:
        loop.close()
    assert ended


# ---- daemons without room, or that die ----

def test_an_answer_that_a_daemon_has_no_room_for_fails_its_call_alone(base_tree):
    room, answer = 1 << 16, "x" * 10000
    config = {"workers": 2, "http": {"body": room, "bodies": room}}
    with daemons.Daemon(config=config) as d, contextlib.closing(d.connect()) as other:
        def much() -> str:
            other.request("POST", "/v1/jobs", body=b" " * 60000, headers={"Content-Length": str(room)})
            cells.wait_until("it counts", lambda: d.post(b"}".ljust(len(answer))).status == 503)
            return answer
        code = "try: tools.much()\nexcept ToolError as error: print(error)\n'goes on'"
        result = hotcell.Daemon(d.socket).run(code, tools=[much], **BOUNDS)
        assert result.value == "goes on" and "at the same time" in result.stdout.text, result.manifest


def test_who_asks_again_is_told_what_became_of_the_job(base_tree):
    with daemons.Daemon() as d:
        client = hotcell.Daemon(d.socket)
        session = client.session(**BOUNDS)

        def kill(event):
            if event["event"] == "stdout":
                d.process.send_signal(signal.SIGKILL)
                d.process.wait()
        job = client.submit("import time\nprint('up', flush=True)\ntime.sleep(1000)", **BOUNDS)
        with pytest.raises(hotcell.DaemonLost) as lost:
            job.result(on_event=kill)
        assert (lost.value.retry, lost.value.job_id) == ("started_outcome_unknown", job.id)
        d.start_again()
        with pytest.raises(hotcell.LaunchProblem) as problem:
            client.job(lost.value.job_id).result()
        assert problem.value.retry == "started_outcome_unknown" and problem.value.kind == "worker-lost"
        with pytest.raises(hotcell.NotFound, match="end with the daemon") as gone:
            session.run("1")
        assert gone.value.retry == "not_started"
        session.close()
        assert client.run("1", **BOUNDS).ok


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("cannot say it")


ENDS = {"mute": Mute(), "exit": SystemExit(3), "interrupt": KeyboardInterrupt(), "cancelled": asyncio.CancelledError()}


def test_a_tool_that_ends_oddly_is_an_error_of_its_call_alone():
    """Nothing that a tool raises, and no program that makes it do so, ends the thread that answers."""
    def fail(name: str):
        raise ENDS[name]

    async def fail_later(name: str):
        raise ENDS[name]

    def twice():
        return {1: "a", "1": "b"}

    def good():
        return 1
    with hotcell.Session(tools=[fail, fail_later, twice, good], **BOUNDS) as session:
        for call in [f"{tool}(name={name!r})" for tool in ("fail", "fail_later") for name in ENDS] + ["twice()"]:
            run = session.run(f"try: tools.{call}\nexcept ToolError as error: text = str(error)\n[text, tools.good()]")
            assert run.ok and run.value[1] == 1 and "client" not in run.value[0], (call, run.value)
