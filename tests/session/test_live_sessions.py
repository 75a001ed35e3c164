"""Sessions whose interpreter lives: what a run leaves to the next, and what is left when a run is killed."""

import errno
import json
import os
import select
import subprocess
from pathlib import Path

import pytest

import cells
import session_client
from live_sessions import (  # pylint: disable=unused-import
    FORGED, INTERRUPT, SHORT, answers_of_branches, done, fixture_bare,
    fixture_own, fixture_session, is_at_rest, refused, stream)

# How a run ends, as hotcell-session(1) has it: the program, what else its request says, its status, and whether its process is gone.
ENDS = {
    "well": ("x = 2", {}, "ok", False),
    "well, with threads that never do": ("x = 2; import threading\ndef spin():\n while True: pass\n"
                                         "threading.Thread(target=spin, daemon=True).start()", {}, "ok", False),
    "by an exception": ("x = 2; 1 / 0", {}, "error", False),
    "by sys.exit": ("x = 2; import sys; sys.exit(3)", {}, "error", False),
    "refused by its syntax": ("x = 2; def", {}, "rejected", False),
    "by an interrupt": ("while True: pass", {"vars": {"x": 2}, **INTERRUPT}, "error", False),
    "by a TimeoutError": ("x = 2\nwhile True: pass", {"limits": {"timeout": "2s", "grace": "1500ms"}}, "timeout", False),
    "over its time": ("x = 2\nwhile True: pass", {"limits": SHORT}, "timeout", True),
    "over its time in C": ("x = 2\nsum(range(10 ** 12))", {"limits": SHORT}, "timeout", True),
    "over its CPU time": ("x = 2\nwhile True: pass", {"limits": {"cpu": "300ms"}}, "cpu", True),
    # Slowly: where no cgroup tells, it is looked at every 20 milliseconds, and later where much else runs.
    "by a MemoryError": ("import time\nx = 2\ndef grow():\n y = []\n while True: y.append(bytearray(1 << 20)); time.sleep(0.004)\ngrow()", {}, "memory", False),
    "by a MemoryError of its own": ("x = 2\ny = b'x' * (1 << 46)", {}, "error", False),
    "over its memory": ("x = 2\ny = b'x' * (1 << 30)", {}, "memory", True),
    "with too much output": ("x = 2; print('x' * (1 << 20))", {"limits": {"stdout": "64K"}}, "ok", False),
    "as a flood of output": ("x = 2\nwhile True: print('x' * 65536)", {"limits": SHORT}, "timeout", True),
    "by a RecursionError": ("x = 2\ndef deeper(): deeper()\ndeeper()", {}, "error", False),
    "by a stack overflow": ("x = 2; import ctypes, threading; threading.stack_size(1 << 17)\n"
                            "again = ctypes.CFUNCTYPE(None)(lambda: again())\n"
                            "thread = threading.Thread(target=again); thread.start(); thread.join()", {}, "error", True),
    "by os._exit": ("x = 2; import os; os._exit(0)", {}, "error", True),
    "by a segmentation fault": ("x = 2; import ctypes; ctypes.string_at(0)", {}, "error", True),
    "by os.abort": ("x = 2; import os; os.abort()", {}, "error", True),
    "by killing itself": ("x = 2; import os; os.kill(os.getpid(), 9)", {}, "error", True),
    "by raising a signal": ("x = 2; import signal; signal.raise_signal(9)", {}, "error", True),
    "by killing its first process": ("x = 2; import os; os.kill(1, 9)", {}, "error", False),
    "by killing all": ("x = 2; import os; os.kill(-1, 9)", {}, "error", False),
    "without its descriptors": ("x = 2; import os; os.closerange(0, 1024)", {}, "error", True),
    "as a fork bomb": ("x = 2; import os\nwhile True: os.fork()", {}, "error", False),
    "as a thread bomb": ("x = 2; import threading\ngate = threading.Event()\n"
                         "while True:\n try: threading.Thread(target=gate.wait).start()\n"
                         " except RuntimeError: import time, os; time.sleep(0.2); os._exit(1)", {}, "pids", True),
    "as the launcher": (FORGED + "x = 2; send(11)", {}, "error", True),
    "as a copy": (FORGED + "x = 2; send(12)", {}, "error", True),
    "as a copy that takes over": (FORGED + "x = 2; send(13)", {}, "error", True),
}
# The same as its rows have it: what a row calls them, its status, and what becomes of the run.
ROWS = {
    "ends well": ["well"],
    "leaves threads behind": ["well, with threads that never do"],
    "prints more than is kept of it": ["with too much output"],
    "is refused: its syntax, the policy": ["refused by its syntax"],
    "raises an exception, sys.exit": ["by an exception", "by sys.exit"],
    "recurses too deep: RecursionError": ["by a RecursionError"],
    "is interrupted": ["by an interrupt"],
    "gets the TimeoutError of limits.timeout": ["by a TimeoutError"],
    "gets the MemoryError of limits.memory_soft": ["by a MemoryError"],
    "is refused memory: any other MemoryError": ["by a MemoryError of its own"],
    "is denied a fork, or a signal to others": ["as a fork bomb", "by killing its first process", "by killing all"],
    "goes on after that for limits.grace": ["over its time", "over its time in C", "as a flood of output"],
    "runs over limits.cpu": ["over its CPU time"],
    "runs over limits.memory": ["over its memory"],
    "dies of threads beyond limits.pids": ["as a thread bomb"],
    "crashes: SIGSEGV, SIGABRT, its stack": ["by a segmentation fault", "by os.abort", "by a stack overflow"],
    "calls os._exit": ["by os._exit"],
    "kills itself: signal.raise_signal(9)": ["by raising a signal", "by killing itself"],
    "closes the descriptors that report": ["without its descriptors"],
    "writes to them what it likes": ["as the launcher", "as a copy", "as a copy that takes over"],
}


def test_the_manual_has_the_table_of_ends():
    table = [line.removeprefix(".It ").split(" Ta ") for line in (cells.BUILD / "man/hotcell-session.1").read_text().splitlines()
             if line.startswith(".It ") and line.count(" Ta ") == 2][1:]
    assert {end for ends in ROWS.values() for end in ends} == set(ENDS)
    assert table == [[row, *{(ENDS[end][2], "undone" if ENDS[end][3] else "kept") for end in ends}.pop()] for row, ends in ROWS.items()]
    for row, ends in ROWS.items():
        assert len({ENDS[end][2:] for end in ends}) == 1, row


@pytest.mark.parametrize("end", ENDS)
def test_a_run_costs_only_itself(bare, end):
    code, more, status, killed = ENDS[end]
    before = bare.run("x = 1; kept = [x]")
    more = dict(more)
    interrupted = more.pop("interrupt", False)
    bare.ask({"run": {"code": code, **more}})
    if interrupted:
        bare.ask(INTERRUPT)
    run = bare.result()
    assert run.status == status, run
    assert run.state == (f"rolled back to run {before.number}" if killed else "kept"), run
    after = bare.run("[x, kept, 'y' in globals()]")
    assert after.value == [1 if killed or status == "rejected" else 2, [1], False], after


def test_the_manuals_way_of_killing_itself_works_by_default(session):
    assert session.run("import signal; signal.raise_signal(9)").state == "rolled back to the start"
    refused = session.run("import os; os.kill(os.getpid(), 9)")
    assert (refused.status, refused.state) == ("error", "kept"), refused


def test_state_goes_on(session):
    session.run("import math\ndef area(r): return math.pi * r * r")
    assert session.run("round(area(2), 3)").value == 12.566
    assert session.run("n + 1", vars={"n": 41}).value == 42
    assert session.run("n").value == 42 - 1
    run = session.run("data = {'a': [1, 2]}", **{"return": ["data=json"]})
    assert run.manifest["guest"]["returned"]["data"]["json"] == {"a": [1, 2]}
    assert session.run("import asyncio\nawait asyncio.sleep(0, 'slept')").manifest["guest"]["value"]["text/plain"] == "'slept'"


def test_tracebacks_name_the_run_and_show_its_lines(session):
    session.run("def broken():\n    return 1 / 0  # here")
    trace = session.run("broken()").manifest["guest"]["error"]["traceback"]
    assert 'File "<cell 2>", line 1' in trace and 'File "<cell 1>", line 2, in broken' in trace
    assert "return 1 / 0  # here" in trace


def test_state_that_is_taken_back_is_all_of_it(session):
    session.run("import random, threading\nrandom.seed(7)\nfirst = random.random()\ngate = threading.Event()\n"
                "def wait(): gate.wait()\nthread = threading.Thread(target=wait); thread.start()")
    assert session.run("thread.is_alive()").value is True
    expected = session.run("import random as r\nstate = r.getstate()\nnext_one = r.random()\nr.setstate(state)\nnext_one").value
    assert session.run("random.random()\nimport os\nos._exit(1)").state == "rolled back to run 3"
    assert session.run("random.random()").value == expected


def test_what_a_run_prints_and_writes_is_its_own(session):
    first = session.run("print('one')\nopen('/output/a.txt', 'w').write('1')")
    second = session.run("import sys\nprint('two', file=sys.stderr)\nopen('/output/b.txt', 'w').write(open('/output/a.txt').read())")
    assert first.stdout == "one\n" and second.stdout == ""
    assert second.manifest["stderr"]["text"] == "two\n"
    assert [f["path"] for f in first.manifest["files"]] == ["a.txt"]
    assert [f["path"] for f in second.manifest["files"]] == ["b.txt"]
    assert (session.output / "b.txt").read_text() == "1"


def test_an_interrupt_is_for_the_run_that_goes_on(session):
    session.run("x = 1")
    session.ask({"interrupt": True})  # nothing runs: it hits nobody
    assert session.run("x").value == 1
    session.ask({"run": {"code": "x = 2\nwhile True: pass"}})
    session.ask({"interrupt": True})
    run = session.result()
    assert run.state == "kept" and run.manifest["guest"]["error"]["type"] == "KeyboardInterrupt", run
    assert session.run("x").value in (1, 2)


@pytest.mark.parametrize("request_line, expected", [
    ("{", "request:1:2: "),
    ("[]", "expected an object of one member, such as"),
    ('{"jump": 1}', "there is no request 'jump'"),
    ('{"run": {"code": "1", "tenant": "a"}}', "run:1:15: 'tenant' is for a session as a whole: give it when"),
    ('{"run": {"code": "1", "limits": {"memory": "1G"}}}', "run:1:26: 'limits.memory' is for a session as a whole"),
    ('{"close": false}', "close: expected true, got false"),
    ('{"interrupt": 1}', "interrupt: expected true, got a number"),
    ('{"run": {"code": "1", "colour": 1}}', "colour"),
])
def test_bad_requests_change_nothing(session, request_line, expected):
    session.run("x = 1")
    session.ask(request_line)
    answer = session.answer()
    assert answer["event"] == "error" and answer["line"] == 2 and expected in answer["message"], answer
    assert session.run("x").value == 1


def test_the_waiting_copy_cannot_be_reached(bare):
    bare.run("x = 1")
    run = bare.run("""
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
refused = set()
for pid in [-1, 0, *range(1, 200)]:
    if pid == os.getpid():
        continue
    for call in (lambda: libc.kill(pid, 9), lambda: libc.syscall(234, pid, pid, 9), lambda: libc.syscall(200, pid, 9),
                 lambda: libc.syscall(434, pid, 0)):
        refused.add((call(), ctypes.get_errno()))
[list(row) for row in sorted(refused)]
""")
    assert run.value == [[-1, 1]] or run.value == [[-1, 1], [-1, 38]], run
    assert any(d["rule"] == "kill" for d in run.manifest["denials"]), run
    assert bare.run("import os; os._exit(0)").state == f"rolled back to run {run.number}"
    assert bare.run("x").value == 1


def output_until_result(session):
    """What a run prints, as it is told while the run goes on, and its result."""
    said = {"stdout": "", "stderr": ""}
    while (answer := session.answer())["event"] in said:
        said[answer["event"]] += answer["text"]
    assert answer["event"] == "result", answer
    return said, answer["manifest"]


def hear(session, text):
    """Output is told in pieces of any size."""
    heard = ""
    while len(heard) < len(text):
        answer = session.answer()
        assert answer["event"] == "stdout", answer
        heard += answer["text"]
    assert heard == text


def test_output_is_told_while_a_run_goes_on(session):
    stream(session)
    session.ask({"run": {"code": "import sys\nprint('up', flush=True)\nwhile True: pass"}})
    hear(session, "up\n")
    session.ask(INTERRUPT)
    said, manifest = output_until_result(session)
    assert said["stdout"] == "" and "KeyboardInterrupt" in said["stderr"] and manifest["stdout"]["text"] == "up\n"
    session.ask({"run": {"code": "print('\u00e9' * 90000, end='')\nprint('x', file=sys.stderr)"}})
    assert output_until_result(session)[0] == {"stdout": "\u00e9" * 90000, "stderr": "x\n"}
    done(session, {"stream": False})
    assert session.run("print('quiet')").stdout == "quiet\n"
    assert "stream: expected true or false" in refused(session, {"stream": 1})


def test_told_output_ends_where_the_limit_is(session):
    stream(session)
    session.ask({"run": {"code": "print('x' * 100000)", "limits": {"stdout": "1K"}}})
    said, manifest = output_until_result(session)
    assert said["stdout"] == "x" * 1024 and manifest["stdout"]["truncated"]


def test_a_client_that_does_not_read_holds_nothing_up(session):
    stream(session)
    session.ask({"run": {"code": "print('x' * (12 << 20))", "limits": {"stdout": "16M"}}})
    cells.wait_until("the run is over", lambda: is_at_rest(session))
    told = ""
    while (answer := session.answer())["event"] == "stdout":
        told += answer["text"]
    assert answer == {"event": "cut", "stream": "stdout"} and told == "x" * len(told) and 7 << 20 < len(told) < 9 << 20
    run = session.result()
    assert run.status == "ok" and len(run.stdout) == (12 << 20) + 1
    session.ask({"run": {"code": "print('again')"}})
    assert output_until_result(session)[0]["stdout"] == "again\n"


def test_an_interrupt_may_not_come_through(session):
    deaf = "x = 2\nwhile True:\n try: print('up', flush=True); sum(range(10 ** 12))\n except KeyboardInterrupt: pass"
    stream(session)
    session.run("x = 1")
    session.ask({"run": {"code": deaf, "limits": {"timeout": "2s", "grace": "0"}}})
    hear(session, "up\n")
    session.ask(INTERRUPT)
    while (answer := session.answer())["event"] == "stdout":
        assert answer["text"] in "up\n"
    assert (answer["manifest"]["status"], answer["state"]) == ("timeout", "rolled back to run 1")
    assert session.run("x").value == 1


@pytest.mark.parametrize("code", ["while True: pass", None], ids=["in a run", "between runs"])
def test_a_session_ends_when_its_client_has_gone(base_tree, code):  # pylint: disable=unused-argument
    with session_client.Session() as session:
        if code:
            session.ask({"run": {"code": code, "limits": {"timeout": "1h"}}})
        session.process.stdout.close()
        assert session.process.wait(cells.PATIENCE) == 70


def test_the_run_is_what_the_kernel_ends_first_and_its_copy_is_worth_what_the_launcher_is(base_tree, monkeypatch):  # pylint: disable=unused-argument
    cells.need_root()
    launcher = cells.new_directory(cells.caller()) / "hotcell"
    launcher.write_text(f'#!/bin/sh\necho 300 >/proc/self/oom_score_adj\nexec {cells.HOTCELL} "$@"\n')
    launcher.chmod(0o755)
    monkeypatch.setattr(cells, "HOTCELL", launcher)
    with session_client.Session() as session:
        for code, expected in (("x = 1", [300, 300, 1000]), ("import os; os._exit(1)", [300] * 4), ("x", [300] * 4 + [1000])):
            session.run(code)
            scores = sorted(int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in cells.descendants(session.process.pid))
            assert scores == expected, "its first process, the copy, what checks programs and what has done so, and what has run, unless the copy stands for that now"


def test_what_copies_keep_counts_with_the_rest(base_tree):  # pylint: disable=unused-argument
    """Each run is well within the limit, and so are any two."""
    fill = {"code": "data = bytearray(48 << 20); data[::4096] = b'x' * len(data[::4096]); x += 1\nwhile x > 3: pass"}
    with session_client.Session("--memory=128M", "--memory-soft=0") as session:
        session.run("x = 1")
        session.ask({"branch": [fill, fill, {**fill, "vars": {"x": 3}}]})
        results = [session.answer() for _ in range(3)]
        assert [(r["manifest"]["status"], r["state"]) for r in results] == [
            ("ok", "kept"), ("ok", "kept"), ("memory", "rolled back to run 1")], results
        assert session.answer()["request"] == "branch"
        done(session, {"keep": 2})
        assert session.run("len(data), x").manifest["guest"]["value"]["text/plain"] == f"({48 << 20}, 2)"


def test_copies_count_with_all_that_they_have_where_nobody_tells_what_they_share(base_tree):  # pylint: disable=unused-argument
    """Where the kernel says nothing of one of them, none is taken for nothing."""
    cells.need_program("strace")
    with session_client.Session("--memory=128M", "--memory-soft=0", "--enforcement=rlimits") as session:
        session.run("data = bytearray(b'x') * (40 << 20)")
        for name in ("one", "two"):
            done(session, {"checkpoint": name})
        endless = {"code": "while True: pass", "limits": {"timeout": "1s", "grace": "0"}}
        assert session.run(**endless).status == "timeout", "of one and the same memory there is enough"
        # The launcher names the file below the process's directory: no path of it tells one process from another.
        with subprocess.Popen(["strace", "-qq", "-p", str(session.process.pid), "-o", "/dev/null", "--trace-path=smaps_rollup",
                               "-e", "inject=openat:error=EACCES"]) as strace:
            try:
                status = Path(f"/proc/{session.process.pid}/status")
                cells.wait_until("the launcher is traced", lambda: f"TracerPid:\t{strace.pid}\n" in status.read_text())
                assert session.run(**{**endless, "limits": {"timeout": "20s", "grace": "0"}}).status == "memory"
            finally:
                strace.terminate()


def test_programs_in_sessions_are_what_they_are_in_jobs(session):
    assert session.run("x = 20\nx + 1\n2 * x").value == 40
    assert session.run("x = 21").manifest["guest"]["value"] is None
    run = session.run("import asyncio\nasync def give(n):\n    await asyncio.sleep(0)\n    return n\n"
                      "await asyncio.gather(give(1), give(2))")
    assert run.value == [1, 2]
    assert session.run("async def count():\n    yield 1\n    yield 2\n[n async for n in count()]").value == [1, 2]
    assert session.run("await give(3)").value == 3
    assert session.run("import inspect\ninspect.getsource(give).splitlines()[0]").value == "async def give(n):"
    trace = session.run("async def fails(): return 1 / 0  # here\nawait fails()").manifest["guest"]["error"]["traceback"]
    assert 'File "<cell 7>", line 2' in trace and "return 1 / 0  # here" in trace and trace.count("File ") == 2


@pytest.mark.long
def test_data_goes_in_and_out_of_runs(scientific):  # pylint: disable=unused-argument
    directory = cells.new_directory(cells.caller())
    (directory / "sales.csv").write_text("a,b\n1,2\n3,4\n")
    with session_client.Session("--timeout=60s", "--memory=1G", f"--input=sales={directory}/sales.csv", tree="scientific") as session:
        assert session.run("int(sales.a.sum()) + n", vars={"n": 1, "more": {"k": [1.5, None]}}).value == 5
        run = session.run("import numpy as np\nsales['c'] = sales.a * 2\nmean = np.float64(2.5)", **{
            "return": ["sales=csv", "more=json", "mean"]})
        returned = run.manifest["guest"]["returned"]
        assert returned["more"]["json"] == {"k": [1.5, None]} and (session.output / returned["sales"]["path"]).read_text() == (
            "a,b,c\n1,2,2\n3,4,6\n"), returned
        figure = session.run("import matplotlib.pyplot as plt\nlines = plt.plot([1, 3, 2])\nplt.title('kept')")
        assert [f["mime"] for f in figure.manifest["figures"]] == ["image/png"]
        assert session.run("import os; os._exit(1)").state == "rolled back to run 3"
        assert session.run("sales.c.tolist()").value == [2, 6]


@pytest.mark.long
def test_threads_of_numeric_libraries_are_there_in_copies(scientific):  # pylint: disable=unused-argument
    """libgomp would wait for those of the process that was copied."""
    with session_client.Session("--timeout=60s", "--memory=1G", tree="scientific") as session:
        first = session.run("""
import numpy as np, os
from sklearn.ensemble import HistGradientBoostingRegressor
X = np.random.default_rng(0).random((300, 4))
def fit(): return float(HistGradientBoostingRegressor(max_iter=2).fit(X, X.sum(1)).predict(X[:1])[0])
def product(): return float((X.T @ X).sum())
[fit(), product()]
""").value
        assert session.run("[fit(), product()]").value == first
        assert session.run("os._exit(1)").state == "rolled back to run 2"
        assert session.run("[fit(), product()]").value == first
        results = answers_of_branches(session, "[fit(), product()]", "os._exit(1)", "X = X * 2; product() / 4")
        assert [result["state"] for result in results] == ["kept", "rolled back to run 4", "kept"]
        done(session, {"keep": 3})
        assert session.run("product() / 4").value == first[1]


def test_warnings_of_the_compiler_are_told_once(session):
    for literal in ("1", "'a'"):  # other words, as Python 3.13 does not repeat those that it has told
        run = session.run(f"x = {literal} is 1")
        assert run.manifest["stderr"]["text"].count("SyntaxWarning") == 1, run


@pytest.mark.parametrize("pids", range(3, 7))
def test_a_session_without_room_for_a_copy_refuses_runs_and_stays(base_tree, pids):  # pylint: disable=unused-argument
    """Whoever finds no room, the session's own process or what checks programs, has still room for the next run."""
    with session_client.Session("--pids", str(pids)) as session:
        runs = [session.run("1") for _ in range(5)]
    assert all(run.state == "kept" for run in runs), runs
    assert all(run.status == "ok" or "no copy" in run.manifest["reason"] for run in runs), runs
    assert pids == 6 or runs[-1].status != "ok", runs
    for run in runs:
        said = run.manifest["reason"] or ""
        assert run.status != "rejected" or f"limits.pids is {pids}, and a session needs 6" in said, said
    assert pids == 6 or "rejected" in [run.status for run in runs]


def test_threads_go_on_during_runs_only(session):
    session.run("import threading, time\ncount = 0\ndef work():\n    global count\n    while True: count += 1; time.sleep(0.001)\n"
                "threading.Thread(target=work, daemon=True).start()")
    first = session.run("count").value
    assert session.run("time.sleep(0.1); count").value > first
    cells.wait_until("the threads are stopped", lambda: is_at_rest(session))


WAKES = """
import ctypes, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.signal(signal.SIGCONT, ctypes.cast(libc.getpid, ctypes.c_void_p))  # one that is ignored wakes nobody
event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT)
timer = ctypes.c_void_p()
made = libc.timer_create(1, event, ctypes.byref(timer)), ctypes.get_errno()
libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 1000000, 0, 1000000), None)
list(made)
"""


def test_no_timer_wakes_what_waits_for_its_next_run(own):
    run = own.run(WAKES)
    assert run.value == [-1, errno.EPERM] and [d["rule"] for d in run.manifest["denials"]] == ["timer_create"], run
    cells.wait_until("the interpreter is stopped", lambda: is_at_rest(own))


SOCKETS = """
import _socket
kept = globals().get("kept", [])
for _ in range(20):
    one, other = _socket.socketpair()
    one.setblocking(False)
    try:
        while True: one.send(b"x" * 4096)
    except BlockingIOError: pass
    kept.append((one, other))
len(kept)
"""


def test_many_short_runs_have_no_more_memory_than_one(base_tree):  # pylint: disable=unused-argument
    """Each is over before it is looked at, and what the kernel holds for it is no memory of the process."""
    with session_client.Session("--memory=64M", policy="none") as session:
        runs = [session.run(SOCKETS) for _ in range(6)]
        kept = [r for r in runs if r.status == "ok"]
        assert [r.value for r in kept] == list(range(20, 20 * len(kept) + 1, 20)) and len(kept) >= 2, runs
        assert {(r.status, r.state) for r in runs[len(kept):]} == {("memory", f"rolled back to run {len(kept)}")}, runs
        assert session.run("len(kept)").value == 20 * len(kept)


def test_processes_are_not_for_sessions(base_tree):  # pylint: disable=unused-argument
    done = cells.hotcell("session", "-t", cells.tree_path("base"), "--processes", "fork")
    assert done.returncode == 78 and "a session cannot have processes" in done.stderr, done


def end_of(session):
    session.process.stdin.close()
    answer = session.answer()
    assert answer["event"] == "end", answer
    return answer


def test_a_session_ends_with_an_account_of_all_of_it(base_tree):  # pylint: disable=unused-argument
    with session_client.Session(policy="none") as session:
        session.run("open('/output/a', 'w').write('1')")
        session.run("import os; os._exit(1)")
        session.run("1 / 0")
        end = end_of(session)
    assert end["reason"] == "closed" and session.process.wait() == 0
    manifest = json.loads((session.output / "manifest.json").read_text())
    assert manifest == end["manifest"] and manifest["status"] == "ok"
    assert [f["path"] for f in manifest["files"]] == ["a"]
    assert [(r["run"], r["status"], r["state"]) for r in manifest["runs"]] == [
        (1, "ok", "kept"), (2, "error", "rolled back to run 1"), (3, "error", "kept")]
    assert [r["job_id"] for r in manifest["runs"]] == [f"{session.ready['session']}.{n}" for n in (1, 2, 3)]


@pytest.mark.parametrize("option, limit, code, reason, status", [
    ("--session-idle", "1s", "1", "idle", "timeout"), ("--session-life", "1s", "while True: pass", "life", "timeout"),
    ("--session-cpu", "500ms", "while True: pass", "cpu", "cpu"), ("--session-runs", "2", "1", "runs", "killed"),
])
def test_a_session_does_not_live_for_ever(base_tree, option, limit, code, reason, status):  # pylint: disable=unused-argument
    with session_client.Session(option, limit) as session:
        session.run("first = 1")
        session.run(code)
        end = session.answer()
        assert (end["event"], end["reason"], end["manifest"]["status"]) == ("end", reason, status)
        assert f"limits.{option[2:].replace('-', '_')}" in end["manifest"]["reason"]
        assert session.process.wait() == 3


def test_what_runs_leave_in_all_is_bounded(base_tree):  # pylint: disable=unused-argument
    """Also if none of them has more than its own room: what one removes has been kept."""
    change = "import os\n[os.unlink(name) for name in os.listdir()]\nopen('{}', 'w').write('x' * 60000)"
    with session_client.Session("--output-size=64K") as session:
        for number in range(-(-16 * 65536 // 60000)):
            run = session.run(change.format(number))
            assert [file["path"] for file in run.manifest["files"]] == [str(number)], run
        end = session.answer()
        assert (end["event"], end["reason"], end["manifest"]["status"]) == ("end", "output", "output"), end
        assert "16 times limits.output" in end["manifest"]["reason"] and session.process.wait() == 3
        assert sum(path.stat().st_size for path in session.output.iterdir() if path.name != "manifest.json") < 17 * 65536


def test_nothing_is_left_of_a_session_that_is_killed(base_tree):  # pylint: disable=unused-argument
    with session_client.Session() as session:
        session.run("x = 1")
        session.ask({"checkpoint": "a"})
        session.answer()
        children = [int(pid) for pid in open(f"/proc/{session.process.pid}/task/{session.process.pid}/children", encoding="ascii").read().split()]
        first = os.pidfd_open(children[0])
        session.process.kill()
        assert select.select([first], [], [], cells.PATIENCE)[0]
        os.close(first)


def test_the_end_of_input_ends_it(session):
    session.run("x = 1")
    assert session.close() == 0


WARM = cells.BUILD / "warm" / "hotcell"


@pytest.mark.parametrize("who", ["root", "ordinary"])
def test_a_session_in_a_warm_cell(who, base_tree, monkeypatch):  # pylint: disable=unused-argument
    if not WARM.exists():
        cells.skip(f"{WARM} is not built: run 'make warm'")
    if who == "root":
        cells.need_root()
    user = cells.caller() if who == "root" else cells.ordinary()
    with session_client.Session(policy=given_policy(user), user=user) as session:
        cold = session.run("1").manifest["layers"]
    monkeypatch.setattr(cells, "HOTCELL", WARM)
    with session_client.Session("--var", "n=41", policy=given_policy(user), user=user, env={"HOTCELL_WARM_SAY": "1"}) as session:
        run = session.run("import sys; x = [n + 1]; ['decimal' in sys.modules, x]")
        assert run.value == [True, [42]]
        assert {name: layer["on"] for name, layer in run.manifest["layers"].items()} == {name: layer["on"] for name, layer in cold.items()}
        for code, more, status, killed in [ENDS[name] for name in ("by an exception", "by a segmentation fault", "over its time in C",
                                                                   "over its memory", "as a copy", "as a fork bomb")]:
            session.run("x = 1; kept = [x]")
            ended = session.run(code, **more)
            assert ended.status == status and (ended.state != "kept") == killed, ended
            assert session.run("[x, kept]").value == [1 if killed else 2, [1]]
        done(session, {"checkpoint": "one"})
        session.run("x = 3")
        done(session, {"rollback": "one"})
        assert session.run("open('/output/a', 'w').write(str(x)); x").value == 2
        end = end_of(session)
        assert end["reason"] == "closed" and (session.output / "a").read_text() == "2"
        assert session.process.stderr.readline() == "warm: yes\n"


def given_policy(user):
    path = cells.new_directory(user) / "policy.json"
    path.write_text(json.dumps({"guard": "off", "warm": {"imports": ["decimal"]}}))
    return path


def test_help(base_tree):  # pylint: disable=unused-argument
    done = cells.hotcell("session", "--help")
    assert done.returncode == 0 and "--timeout" in done.stdout and "--step" not in done.stdout


def test_environment_variables_of_a_run_are_its_own(base_tree):  # pylint: disable=unused-argument
    look = "import os, time\n[[os.environ.get(name) for name in ('A', 'B', 'TZ')], time.tzname[0]]"
    with session_client.Session("--env=A=session", "--env=TZ=UTC") as session:
        assert session.run(look).value == [["session", None, "UTC"], "UTC"]
        assert session.run(look, env={"A": "run", "B": "b", "TZ": "EST5"}).value == [["run", "b", "EST5"], "EST"]
        assert session.run(look).value == [["session", None, "UTC"], "UTC"]
        assert session.run("os.environ['B'] = 'kept'", env={"B": "run"}).status == "ok"
        assert session.run(look).value == [["session", "kept", "UTC"], "UTC"]
        killed = session.run("while True: pass", env={"A": "killed"}, limits=SHORT)
        assert killed.state == "rolled back to run 5" and session.run(look).value[0][0] == "session"
        for wrong in ({"PATH": "x"}, {"A": 7}, {"a b": "c"}, {"LD_PRELOAD": "x"}):
            session.ask({"run": {"code": "1", "env": wrong}})
            assert session.answer()["event"] in ("error", "result")
    with session_client.Session("--env-count=0") as session:
        refused = session.run("1", env={"A": "x"})
        assert refused.status == "rejected", refused


def test_a_spec_gives_what_concerns_all_runs_and_options_win(tmp_path, base_tree):
    del base_tree
    spec = tmp_path / "session.json"
    spec.write_text(json.dumps({"vars": {"x": 40}, "labels": {"a": "spec", "b": "spec"}, "limits": {"session_runs": 1}}))
    with session_client.Session("--spec", str(spec), "--label", "a=option") as session:
        run = session.run("x + 2")
        assert run.value == 42 and run.manifest["labels"] == {"a": "option", "b": "spec"}, run
    for member, words in (("code", "is for a run of a session"), ("stdin", "is for a run of a session"), ("nope", "unknown member 'nope'")):
        spec.write_text(json.dumps({member: "1"}))
        refused = cells.hotcell("session", "--spec", str(spec))
        assert refused.returncode == 65 and f"{spec}:1:2:" in refused.stderr and words in refused.stderr, refused
    assert cells.hotcell("session", "--spec", "-").returncode == 64
    assert cells.hotcell("kernel", "-f", "x", "--spec", str(spec)).returncode == 64
