"""Programs that speak for the interpreter of their session, its copies or its checker, or keep them from their work."""

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
from live_sessions import (  # pylint: disable=unused-import
    BEFORE_COPIES, FORGED, REPORT, fixture_bare, fixture_own,
    fixture_session, is_at_rest, refused, states_of_processes, stream, was_undone)


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


@pytest.mark.parametrize("pids", [15, 16, 24])
def test_what_stays_to_check_programs_takes_no_room_that_a_run_needs(base_tree, pids):  # pylint: disable=unused-argument
    """It ends where a copy would be one process too many: a run may leave as many threads as where nothing stays."""
    leaves = f"import threading\nfor _ in range({pids - 6}): threading.Thread(target=threading.Event().wait, daemon=True).start()"
    with session_client.Session(f"--pids={pids}", "-p", "none") as session:
        runs = [session.run(code) for code in ("x = 1", "x", leaves, "x", "x", "# " + "long" * 20000, "x")]
        assert [(run.status, run.state) for run in runs] == [("ok", "kept")] * 7, runs
        check_rejected(session)


@pytest.mark.parametrize("pids", [15, 16, 24])
def test_what_stays_to_check_programs_takes_no_room_that_a_checkpoint_needs(base_tree, pids):  # pylint: disable=unused-argument
    leaves = f"import threading\nfor _ in range({pids - 6}): threading.Thread(target=threading.Event().wait, daemon=True).start()"
    with session_client.Session(f"--pids={pids}", "-p", "none") as session:
        for code in ("x = 1", "x", leaves):
            assert session.run(code).status == "ok"
        session.ask({"checkpoint": "a"})
        assert session.answer()["event"] == "done"
        session.ask({"rollback": "a"})
        assert session.answer()["event"] == "done"
        assert session.run("x").value == 1


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


def test_variables_of_a_run_stay_in_no_process_that_checks(session):
    session.run("x = 1")
    session.run("x")
    assert session.run("len(long)", vars={"long": "a" * 8000000}).value == 8000000
    large = [pid for pid in cells.descendants(session.process.pid)
             if "RssAnon" in (text := Path(f"/proc/{pid}/status").read_text(encoding="ascii")) and int(text.split("RssAnon:")[1].split()[0]) > 7000]
    assert len(large) == 2, "the interpreter, and its copy"


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


# The program makes both processes of a copy itself; the second reads what the launcher sends. Then it says that it has made none.
READS_ORDERS = """
import ctypes, os, random, struct
stack = ctypes.create_string_buffer(1 << 20)
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def between(nothing):
    if os.fork() == 0:
        while True: os.read(3, 100)
    os._exit(0)
def getstate(before=random.getstate):
    random._inst.getstate = before
    top = ctypes.c_void_p(ctypes.addressof(stack) + (1 << 20) & ~15)
    os.waitpid(ctypes.PyDLL(None).clone(between, top, 0x100 | 0x4000 | 17, None), 0)  # CLONE_VM, CLONE_VFORK, SIGCHLD
    os.write(3, struct.pack("<BBHI", 17, 1, 0, 0))
"""


def test_a_run_that_is_tried_again_leaves_no_process_that_runs(own):
    """Such a process would take the orders of what checks the program, which then is killed as it does nothing."""
    own.run("x = 1")
    own.run("x")  # what checked this makes room for the next
    assert own.run(READS_ORDERS + "random._inst.getstate = getstate").status == "ok"
    tried = own.run("print('innocent')")
    assert tried.status != "timeout" and "in time" not in str(tried.manifest["reason"]), tried
    own.run("x")  # the process itself may be confused by what it has done
    last = own.run("x")
    assert (last.status, last.state, last.value) == ("ok", "kept", 1), last


def test_what_reads_orders_works_outside():
    """Where nothing holds it, the same code makes a process that reads what others are sent."""
    code = READS_ORDERS + """
import socket, time
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
ours = socket.socket(fileno=os.dup2(ours.detach(), 10))
os.dup2(theirs.detach(), 3)
getstate()
said = ours.recv(100)[0]
ours.send(b"order")
time.sleep(1)
os.set_blocking(3, False)
try:
    left = os.read(3, 100)
except BlockingIOError:
    left = None
print(said, left, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True) as outside:
        said = outside.stdout.readline()
        os.killpg(outside.pid, signal.SIGKILL)
    assert said == "17 None\n"


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
