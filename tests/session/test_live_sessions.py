"""Sessions whose interpreter lives: what a run leaves to the next, and what is left when a run is killed."""

import errno
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import cells
import session_client

SHORT = {"timeout": "500ms", "grace": "0"}

FORGED = """
import json, os, struct
def send(kind, body=b""):
    os.write(3, struct.pack("<BBHI", kind, 1, 0, len(body)) + body)
"""
INTERRUPT = {"interrupt": True}

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


@pytest.fixture(name="session")
def fixture_session(base_tree):  # pylint: disable=unused-argument
    with session_client.Session() as session:
        yield session


@pytest.fixture(name="bare", scope="module", params=["root", "ordinary"])
def fixture_bare(request):
    """One session for all kinds of ends, with the guard off, so that the kernel is what they meet."""
    cells.build_tree("base")
    user = cells.caller() if request.param == "root" else cells.ordinary()
    if request.param == "root":
        cells.need_root()
    elif not user:
        cells.skip("there is no ordinary user to start hotcell as")
    with session_client.Session(policy="none", user=user) as session:
        yield session


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


def done(session, request):
    session.ask(request)
    answer = session.answer()
    assert answer["event"] == "done", answer
    return answer


def refused(session, request):
    session.ask(request)
    answer = session.answer()
    assert answer["event"] == "error", answer
    return answer["message"]



def stream(session):
    assert done(session, {"stream": True})["request"] == "stream"


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


def states_of_processes(session):
    tasks = [pid for pid in os.listdir("/proc") if pid.isdigit() and is_below(int(pid), session.process.pid)]
    return [line[7] for pid in tasks for line in open(f"/proc/{pid}/status", encoding="utf-8") if line.startswith("State:")]


def is_at_rest(session):
    """The interpreter, its copy and, from the second run on, two that check programs are stopped. (Pid 1 sleeps, and so do a zygote's processes.)"""
    states = states_of_processes(session)
    return states.count("T") in (2, 4) and set(states) == {"S", "T"}


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


def test_a_checkpoint_can_be_gone_back_to_again_and_again(session):
    session.run("x = 1")
    assert done(session, {"checkpoint": "one"})["state"] == "that of run 1"
    for _ in range(2):
        session.run("x = 2; y = 3")
        assert done(session, {"rollback": "one"}) == {"event": "done", "request": "rollback", "state": "that of run 1"}
        assert session.run("[x, 'y' in globals()]").value == [1, False]
    session.run("x = 5")
    done(session, {"checkpoint": "one"})
    session.run("x = 6; import os; os._exit(1)")
    session.run("x = 7")
    done(session, {"rollback": "one"})
    assert session.run("x").value == 5


def test_checkpoints_that_cannot_be(session):
    session.run("x = 1")
    assert "there is no checkpoint 'two'" in refused(session, {"rollback": "two"})
    assert "checkpoint: expected a string, got a number" in refused(session, {"checkpoint": 1})
    refused(session, {"checkpoint": "a/b"})
    for number in range(8):
        done(session, {"checkpoint": f"c{number}"})
    assert "there are 8 checkpoints and contexts at rest already" in refused(session, {"checkpoint": "c8"})
    done(session, {"checkpoint": "c7"})
    assert session.run("x").value == 1


def test_of_branches_one_is_kept(session):
    session.run("x = 1")
    session.ask({"branch": [{"code": "x += 1"}, {"code": "x += 10; import os; os._exit(1)"}, {"code": "x += 100; x"}]})
    results = [session.answer() for _ in range(3)]
    assert [(r["branch"], r["state"]) for r in results] == [(1, "kept"), (2, "rolled back to run 1"), (3, "kept")]
    assert session.answer()["event"] == "done"
    assert "branches are open" in refused(session, {"run": {"code": "1"}})
    assert "keep: expected the number of a branch" in refused(session, {"keep": "first"})
    assert done(session, {"keep": 1})["state"] == "that of run 2"
    assert session.run("x").value == 2
    session.ask({"branch": [{"code": "x = 50"}]})
    session.result()
    session.answer()
    assert done(session, {"keep": 0})["state"] == "that of run 5"
    assert session.run("x").value == 2
    assert "there are no branches" in refused(session, {"keep": 1})


def answers_of_branches(session, *codes):
    session.ask({"branch": [{"code": code} for code in codes]})
    results = [session.answer() for _ in codes]
    assert session.answer()["request"] == "branch"
    return results


def test_what_is_outside_of_the_process_is_not_taken_back(bare):
    """Files, and what processes share of those that are open; a database, if it is one of the memory, is."""
    bare.run("""
import os, sqlite3
kept, memory = sqlite3.connect('/output/kept.db'), sqlite3.connect(':memory:')
for database in kept, memory:
    database.execute('create table if not exists t (x)'); database.execute('delete from t'); database.commit()
log = open('/output/log', 'w')
print('before', file=log, flush=True)
pipe = os.pipe()
""")
    run = bare.run("""
for database in kept, memory:
    database.execute('insert into t values (1)'); database.commit()
kept.execute('insert into t values (2)')  # never committed
print('killed', file=log, flush=True)
os.write(pipe[1], b'sent')
os._exit(1)
""")
    assert run.state.startswith("rolled back"), run
    after = bare.run("""
print('after', file=log, flush=True)
counts = [database.execute('select count(*) from t').fetchone()[0] for database in (kept, memory)]
[counts, open('/output/log').read().split(), os.read(pipe[0], 9).decode()]
""")
    assert after.value == [[1, 0], ["before", "killed", "after"], "sent"], after
    bare.run("[database.close() for database in (kept, memory)]\nlog.close(); [os.close(fd) for fd in pipe]")


def test_branches_share_files_and_nothing_else(session):
    session.run("x = []")
    done(session, {"checkpoint": "empty"})
    write = "x.append({0}); import os; seen = sorted(os.listdir('/output')); open('/output/{0}', 'w').close(); [x, seen]"
    results = answers_of_branches(session, *[write.format(number) for number in range(8)])
    values = [result["manifest"]["guest"]["value"]["application/json"] for result in results]
    assert values == [[[number], [str(earlier) for earlier in range(number)]] for number in range(8)]
    assert [[file["path"] for file in result["manifest"]["files"]] for result in results] == [[str(number)] for number in range(8)]
    done(session, {"keep": 5})
    assert session.run("x").value == [4]
    done(session, {"rollback": "empty"})
    assert session.run("x").value == []
    assert "a list of 1 to 8 runs" in refused(session, {"branch": [{"code": "1"}] * 9})
    assert "a list of 1 to 8 runs" in refused(session, {"branch": []})


def test_a_branch_that_is_killed_can_be_kept_and_is_what_they_began_from(session):
    session.run("x = 1")
    results = answers_of_branches(session, "x = 2; import os; os._exit(1)", "x = 3; 1 / 0")
    assert [result["state"] for result in results] == ["rolled back to run 1", "kept"]
    assert done(session, {"keep": 1})["state"] == "that of run 1"
    assert session.run("x").value == 1


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


REPORT = 'dict(value=None, error=None, figures=[], columns={}, warnings=[], exit=0, complete=True)'


@pytest.mark.parametrize("code", ["send(7, b'{}')", "os.write(3, b'x' * 100)", "os.write(3, b'')"],
                         ids=["a denial that is none", "noise", "nothing"])
def test_forged_packets_cost_the_run(bare, code):
    before = bare.run("x = 1")
    run = bare.run(FORGED + "x = 2\n" + code)
    assert run.status == "error" and run.state == f"rolled back to run {before.number}", run
    assert "broke the protocol" in run.manifest["reason"], run
    assert bare.run("x").value == 1


@pytest.mark.parametrize("options", [("-p", "none"), ("-p", "default", "--guard", "off")], ids=["none", "default"])
@pytest.mark.parametrize("frame", session_client.FORGED_FRAMES)
def test_a_run_has_no_say_in_what_is_told_of_later_ones(base_tree, frame, options):  # pylint: disable=unused-argument
    """Neither that they were refused, nor why, nor what their check found."""
    session_client.need_contexts()
    with session_client.Session(*options) as session:
        assert session.run(session_client.forger(frame)).status == "ok"
        session_client.says_nothing_forged(lambda code: session.run(code).manifest)


LEFTOVERS = session_client.RING + f"""
import os, signal
def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False
def answer(*ignored):
    os.write(3, bytes(packet(13)))
for number in range(34, 65):
    signal.signal(number, answer)
handed_over = ctypes.create_string_buffer(struct.pack("<ihh", 3, 1, 0))
FRAMES = [packet(3, {json.dumps({"findings": [session_client.FINDING], "more": 0}).encode()!r}), packet(12),
          packet(6, {json.dumps({"warnings": [session_client.FINDING], "columns": {"FORGED": ["x"]}}).encode()!r})]
rings = [Ring(("kill", ctypes.c_long(os.getpid()), ctypes.c_long(signal.SIGCONT)), PAUSE) for _ in range(30)]
# Not to its output, which is told as the process's own.
rings += [Ring(*(("write", ctypes.c_long(number), frame, ctypes.c_long(len(frame))) for number in range(256)
                 if is_open(number) and number not in (1, 2)), PAUSE, first=("poll", handed_over, ctypes.c_long(1), ctypes.c_long(-1)))
          for frame in (FRAMES * 7)[:20]]
[sum(ring.start() == 0 for ring in rings), all(signal.getsignal(number) is answer for number in range(34, 65))]
"""


@pytest.mark.parametrize("options", [("-p", "none"), ("-p", "default", "--guard", "off")], ids=["none", "default"])
def test_what_a_run_leaves_is_not_told_of_a_later_one(base_tree, options):  # pylint: disable=unused-argument
    """Threads that let their process go on, that speak for its checker and its copies, and handlers that answer for it."""
    session_client.need_contexts()
    with session_client.Session("--pids=128", *options) as session:
        left = session.run(LEFTOVERS)
        assert (left.status, left.state, left.value) == ("ok", "kept", [50, True]), left
        for _ in range(20):
            cells.wait_until("the threads are stopped", lambda: is_at_rest(session))
            run = session.run("print('innocent'); 7")
            outside = {name: value for name, value in run.manifest.items() if name not in ("guest", "stdout", "stderr")}
            assert "FORGED" not in json.dumps(outside) and run.manifest["rejection"] is None, run
            assert not any(denial["attested"] for denial in run.manifest["denials"]), run.manifest["denials"]
            if run.status == "error":
                break
            assert (run.status, run.state, run.value) == ("ok", "kept", 7), run
        assert run.status == "error" and run.state.startswith("rolled back to "), run
        assert "the guest's process broke the protocol" in run.manifest["reason"], run
        again = session.run("print('innocent'); 7")
        assert (again.status, again.state, again.value, again.manifest["denials"]) == ("ok", "kept", 7, []), again


# The copies that are made of it from now on have a thread that says again and again that it is a copy.
SPEAKING_COPIES = session_client.RING + """
import os
def forked():
    while os.getppid() != 1:  # the child of a child is the copy, and known by its parent
        pass
    speaker.start()
speaker = Ring(("write", ctypes.c_long(3), packet(12), ctypes.c_long(8)), PAUSE)
callback = ctypes.CFUNCTYPE(None)(forked)
libc["__register_atfork"](None, None, callback, None)
"""


def test_a_copy_of_before_is_no_new_one(base_tree):  # pylint: disable=unused-argument
    """Even if somebody on the host lets it go on, which no run can."""
    cells.need_root()
    session_client.need_contexts()
    with session_client.Session("-p", "none") as session:
        assert session.run(SPEAKING_COPIES).status == "ok"
        assert session.run("1").status == "ok"
        for _ in range(3):
            os.kill(session_client.one_with_threads(session, 2), signal.SIGCONT)
            run = session.run("1")
            assert (run.status, run.state) == ("ok", "kept"), run


# Sends SIGCONT until there is no such process any more.
LETS_GO_ON = """
import os, signal, sys
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
process = os.pidfd_open(int(sys.argv[1]))
print("on", flush=True)
while True:
    try:
        signal.pidfd_send_signal(process, signal.SIGCONT)
    except ProcessLookupError:
        break
"""


def run_that_is_let_go_on(session):
    session.run("import signal, threading\nx = 1\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
                "for _ in range(24): threading.Thread(target=threading.Event().wait, daemon=True).start()")
    own = session_client.one_with_threads(session, 25)
    stream(session)
    session.ask({"run": {"code": "import os; x = 2; os.write(1, b'up'); signal.sigwait([signal.SIGUSR1])"}})
    assert session.answer()["event"] == "stdout"  # sooner it would read what is meant for the process that checks the program
    with subprocess.Popen(["/usr/bin/python3", "-c", LETS_GO_ON, str(own)], stdout=subprocess.PIPE, text=True) as waker:
        assert waker.stdout.readline() == "on\n"
        os.kill(own, signal.SIGUSR1)
        run = session.result()
        waker.kill()
    return run


def test_a_process_that_does_not_stop_is_killed(base_tree):  # pylint: disable=unused-argument
    """Somebody on the host lets it go on: its run is undone, and says why."""
    cells.need_root()
    for _ in range(5):  # the kernel takes the processor from whoever lets it go on, one twentieth of the time
        with session_client.Session("-p", "none", "--timeout=60s") as session:
            run = run_that_is_let_go_on(session)
            if run.status == "ok":
                continue
            assert (run.status, run.state) == ("error", "rolled back to run 1"), run
            assert "it did not stop when the run was over" in run.manifest["reason"], run
            assert session.run("x").value == 1
            return
    assert False, "it was stopped each time"


def test_denials_of_what_an_earlier_run_left_are_not_attested(own):
    """The kernel tells which process it was, and not which run's."""
    left = own.run("""
import socket, threading, time
count = 0
def refuse():
    global count
    while True:
        try:
            socket.socket()
        except OSError:
            count += 1
        time.sleep(0.001)
threading.Thread(target=refuse, daemon=True).start()
while not count: time.sleep(0.001)
""")
    later = own.run("before = count\nwhile count < before + 3: time.sleep(0.001)")
    for run, attested in ((left, True), (later, False)):
        told = [(d["layer"], d["rule"], d["attested"]) for d in run.manifest["denials"] if d["layer"] == "seccomp"]
        assert (run.status, told) == ("ok", [("seccomp", "socket", attested)]), (run, run.manifest["denials"])
    assert own.run("import os; os._exit(1)").state == "rolled back to run 2"


def test_programs_of_later_runs_are_refused_by_what_no_run_has_touched(session):
    """A run that spoils the compiler, the harness and the warnings of its own process has no say in it."""
    spoilt = session.run("import warnings, sys\nx = 1\nwarnings.warn = None\nsys.modules['ast'] = None")
    assert spoilt.status == "ok", spoilt
    for code, rule in (("def", "syntax"), ("import subprocess; subprocess", "imports"), ("return 1", "syntax")):
        run = session.run(code)
        assert (run.status, run.state, run.manifest["rejection"]["rule"]) == ("rejected", "kept", rule), run
        assert run.manifest["exit_code"] == 2 and run.manifest["stderr"]["text"], run
        assert [d["attested"] for d in run.manifest["denials"]] == [True] * (rule == "imports"), run
    assert session.run("x").value == 1


def test_the_parser_may_crash_in_every_run_and_costs_none(session):
    """What it reads is a copy's: the session's process knows nothing of it, and the next program is checked as well."""
    session.run("x = 1")
    for _ in range(2):
        run = session.run("a = " + "-" * 2000000 + "1")
        assert run.status == "rejected" and run.state == "kept", run
        assert session.run("x").value == 1


def check_rejected(session):
    run = session.run("def")
    assert (run.status, run.manifest["rejection"]["rule"]) == ("rejected", "syntax"), run


def test_what_has_checked_a_program_checks_the_next(session):
    """It stays from run to run, whether it has refused a program or not; long programs are for others; one that ends is replaced."""
    session.run("x = 1")
    session.run("x")
    stay = set(cells.descendants(session.process.pid))
    for code in ("x", "y = 2", "def", "x", "import warnings", "# " + "long" * 20000):
        session.run(code)
    gone = stay - set(cells.descendants(session.process.pid))
    assert len(stay) == 5 and len(gone) == 2, (stay, gone)  # the copy of before the run, and what has checked the long program
    checks = sorted(stay - gone)[-1]  # pid 1 and the interpreter are older
    check_rejected(session)
    pidfd = os.pidfd_open(checks)
    os.kill(checks, signal.SIGKILL)
    assert select.select([pidfd], [], [], 10)[0]
    os.close(pidfd)
    check_rejected(session)
    run = session.run("x")
    assert (run.value, run.state) == (1, "kept"), run


def test_programs_that_were_checked_leave_nothing(session):
    """Neither memory, nor what one of them declares for the next."""
    session.run("x = 1")
    session.run("from __future__ import annotations\nx")
    run = session.run("def f(a: undefined): pass")
    assert run.status == "error" and "NameError" in run.manifest["stderr"]["text"], run
    processes = cells.descendants(session.process.pid)

    def memory():
        texts = [Path(f"/proc/{pid}/status").read_text(encoding="ascii") for pid in processes if Path(f"/proc/{pid}").exists()]
        return max(int(line.split()[1]) for text in texts for line in text.splitlines() if line.startswith("RssAnon:"))
    session.run("def" + " " * 60000)
    before = memory()
    for number in range(60):
        check = session.run(f"text = {str(number) * 30000!r} def")
        assert check.status == "rejected", check
    assert memory() - before < 2048, "KiB"


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


def test_a_session_whose_checker_is_gone_is_over_and_says_so(base_tree):  # pylint: disable=unused-argument
    """Somebody on the host kills all that waits and has run nothing: the next program cannot be checked, and does not run."""
    with session_client.Session() as session:
        session.run("x = 1")
        session.run("x = 2")
        waiting = [os.pidfd_open(pid) for pid in cells.descendants(session.process.pid)[1:]]
        for pidfd in waiting:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        for pidfd in waiting:
            assert select.select([pidfd], [], [], 10)[0]
            os.close(pidfd)
        run = session.run("print('unchecked')")
        assert (run.status, run.state, run.stdout) == ("error", "lost", ""), run
        assert "checks the session's programs" in run.manifest["reason"], run


@pytest.mark.long
def test_a_run_that_only_says_that_it_has_ended_is_undone_with_the_next(bare):
    before = bare.run("x = 1")
    assert bare.run(FORGED + f"x = 2\nsend(5, json.dumps({REPORT}).encode())\nwhile True: pass").state == "kept"
    assert bare.run("x").state == f"rolled back to run {before.number}"
    assert bare.run("x").value == 1


def test_threads_go_on_during_runs_only(session):
    session.run("import threading, time\ncount = 0\ndef work():\n    global count\n    while True: count += 1; time.sleep(0.001)\n"
                "threading.Thread(target=work, daemon=True).start()")
    first = session.run("count").value
    assert session.run("time.sleep(0.1); count").value > first
    cells.wait_until("the threads are stopped", lambda: is_at_rest(session))


@pytest.fixture(name="own")
def fixture_own(bare):
    """A session that may be spoilt, of the same user's."""
    with session_client.Session(policy="none", user=bare.user) as session:
        yield session


# The program makes the process itself that the interpreter makes for a copy, in the interpreter's memory, from a thread, as the thread that
# makes it waits for its end; it stays, and goes on with Python.
STAYS_BETWEEN = """
import ctypes, os, random, threading
stack, begun = ctypes.create_string_buffer(1 << 20), threading.Event()
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def stays(nothing):
    begun.set()
    while True: pass
def make():
    top = ctypes.c_void_p(ctypes.addressof(stack) + (1 << 20) & ~15)
    ctypes.CDLL(None).clone(stays, top, 0x100 | 0x4000 | 17, None)  # CLONE_VM, CLONE_VFORK, SIGCHLD
    begun.set()
def getstate(state=random.getstate()):
    threading.Thread(target=make, daemon=True).start()
    begun.wait()
    return state
"""


def test_the_forks_of_a_checkpoint_leave_no_process_that_runs(own):
    """Its interpreter runs code of the program's before it makes the copy."""
    session_client.need_contexts()
    own.run(STAYS_BETWEEN + "random._inst.getstate = getstate")
    cells.wait_until("the threads are stopped", lambda: is_at_rest(own))
    assert "no copy could be made" in refused(own, {"checkpoint": "a"})
    cells.wait_until("a process that nobody knows", lambda: sorted(set(states_of_processes(own))) == ["S", "T", "Z"])


def test_what_stays_between_works_outside():
    """Where nothing holds it, the same code makes a second process, which runs Python in the first one's memory."""
    code = STAYS_BETWEEN + """
getstate()
import glob, signal
child, = [int(pid) for path in glob.glob("/proc/self/task/*/children") for pid in open(path).read().split()]
print(open(f"/proc/{child}/status").read().count("State:\\tR"), flush=True)
os.kill(child, signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=cells.PATIENCE, check=False)
    assert done.stdout.strip() == "1", done


def test_the_program_cannot_fork_where_its_interpreter_does(own):
    own.run("""
import os, random
def getstate(state=random.getstate()):
    try: print("forked", os.fork())
    except OSError as error: print(error.strerror)
    return state
random._inst.getstate = getstate
""")
    run = own.run("1")
    assert (run.status, run.value) == ("ok", 1) and run.stdout.split("\n")[0] == "Operation not permitted", run


# Code of the program's that its process runs before it makes the copy that a run or a checkpoint needs.
BEFORE_COPIES = FORGED + """
import random
def getstate():
    {}
random._inst.getstate = getstate
"""
ENDS_BEFORE_COPIES = {"at once": "os._exit(0)", "after it said that it made none": "send(17); os._exit(0)"}


@pytest.mark.parametrize("end", ENDS_BEFORE_COPIES)
def test_a_process_that_ends_at_a_checkpoint_was_not_killed_from_outside(own, end):
    """The checkpoint is refused, the next run says why nothing of it ran, and the session goes on as before the run that did it."""
    own.run("x = 1")
    for _ in range(6):
        before = own.run("x").number
        assert own.run("x = 2" + BEFORE_COPIES.format(ENDS_BEFORE_COPIES[end])).status == "ok"
        told = [refused(own, {"checkpoint": "a"}) for _ in range(2)]  # it may be stopped before it comes to its end
        assert all(text.startswith("no copy could be made: the session's process ") for text in told), told
        assert "ended (exit status 0)" in str(told), told
        innocent = own.run("print('innocent')")
        assert (innocent.status, innocent.state, innocent.stdout) == ("error", f"rolled back to run {before}", ""), innocent
        assert "ended before this run began (exit status 0), so nothing ran" in innocent.manifest["reason"], innocent
        assert own.run("x").value == 1


@pytest.mark.parametrize("end", ENDS_BEFORE_COPIES)
def test_a_process_that_ends_before_a_run_costs_that_run(own, end):
    own.run("x = 1")
    for _ in range(6):
        before = own.run("x").number
        own.run("x = 2" + BEFORE_COPIES.format(ENDS_BEFORE_COPIES[end]))
        run = own.run("print('innocent')")
        if run.state == "kept":  # it was stopped before it came to its end
            assert "made no copy of itself" in run.manifest["reason"], run
            run = own.run("print('innocent')")
        assert (run.status, run.state, run.stdout) == ("error", f"rolled back to run {before}", ""), run
        assert "ended before this run began (exit status 0), so nothing ran" in run.manifest["reason"], run
        assert own.run("x").value == 1


def test_a_process_that_ends_after_it_said_that_its_run_had_was_not_killed_from_outside(own):
    own.run("x = 1")
    for _ in range(25):
        before = own.run("x").number
        run = own.run(FORGED + f"x = 2\nsend(5, json.dumps({REPORT}).encode()); os._exit(0)")
        if run.state == "kept":  # it was stopped before it came to its end
            run = own.run("x")
            assert "ended before this run began (exit status 0), so nothing ran" in run.manifest["reason"], run
        assert run.status != "killed" and run.state == f"rolled back to run {before}", run
        assert own.run("x").value == 1


def was_undone(session):
    """False: the process was stopped before it said too much, and may do so at any later time."""
    before = session.run("x = 1").number
    session.run("x = 2" + BEFORE_COPIES.format("for _ in range(9): send(17)"))
    run = session.run("print('innocent')")
    if run.status == "ok" or "made no copy of itself" in run.manifest["reason"]:
        return False
    assert (run.status, run.state) == ("error", f"rolled back to run {before}"), run
    assert "broke the protocol" in run.manifest["reason"], run
    assert session.run("x").value == 1
    return True


def test_a_process_that_breaks_the_protocol_instead_of_a_copy_is_undone(bare):
    for _ in range(30):
        with session_client.Session(policy="none", user=bare.user) as session:
            if was_undone(session):
                return
    assert False, "it was stopped each time"


def test_a_session_whose_state_is_lost_says_so_and_has_not_failed(own):
    """The copy under a checkpoint's name ends when it is to take over."""
    own.run("import os; os.register_at_fork(after_in_child=lambda: os._exit(0))")
    own.ask({"checkpoint": "a"})
    assert own.answer()["event"] == "done"
    assert "the session's state is lost" in refused(own, {"rollback": "a"})
    end = own.answer()
    assert (end["event"], end["reason"], end["manifest"]["status"]) == ("end", "lost", "error"), end
    assert own.close() == 3


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


def is_below(pid, ancestor):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            parent = int(file.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return False
    return parent == ancestor or (parent > 1 and is_below(parent, ancestor))


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


def test_branches_are_runs_like_others(base_tree):  # pylint: disable=unused-argument
    with session_client.Session("--session-runs=2") as session:
        session.ask({"branch": [{"code": "1"}] * 3})
        answers = [session.answer() for _ in range(5)]
        assert [a["event"] for a in answers] == ["result", "result", "error", "done", "end"], answers
        assert "used up" in answers[2]["message"] and answers[4]["reason"] == "runs"


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


def test_a_run_cannot_let_itself_go_on(base_tree):  # pylint: disable=unused-argument
    """Between runs, and while another's program is checked, its process is stopped."""
    code = """
import os, signal
def told(number):
    try:
        return os.kill(os.getpid(), number)
    except PermissionError as error:
        return error.strerror
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
[told(signal.SIGUSR1), told(signal.SIGCONT)]
"""
    assert subprocess.run(["/usr/bin/python3", "-c", "import os; os.kill(os.getpid(), 18)"], check=False).returncode == 0
    with session_client.Session(policy="none") as session:
        assert session.run(code).value == [None, "Operation not permitted"]


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
