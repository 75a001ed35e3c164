"""Whatever happens, to the program or to the launcher: nothing of the cell is left."""

import contextlib
import hashlib
import os
import resource
import select
import signal
import socket
import subprocess

import pytest

import cells
from leftovers import READY, SLEEP, Host

GUARD = "off"  # the kernel holds without it

FORKS = READY + "for _ in range(5): os.fork()\ntime.sleep(60)\n"
BUSY_FORKS = """
import os
print("ready", flush=True)
while True:
    try:
        while True:
            try:
                if os.fork() and os.getpid() == 2:
                    os.waitpid(-1, os.WNOHANG)
            except OSError:
                pass
    except TimeoutError:  # the deadline's, between two forks
        pass
"""
# The pause is for hosts without a cgroup, where threads are counted now and then.
THREADS = """
import threading, time
try:
    while True:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
except RuntimeError:
    time.sleep(0.3)
    raise
"""
PRINTS = READY + "while True: print('x' * 1000)\n"


@pytest.fixture
def host(user):
    return Host(user)


# ---- the program ends it, or a limit does ----

@pytest.mark.parametrize("code, options, status", [
    ("print(1)", [], "ok"),
    ("1 / 0", [], "error"),
    ("x = (", [], "rejected"),
    (SLEEP, ["--timeout=0.2"], "timeout"),
    (FORKS, ["--processes=fork", "--timeout=0.2"], "timeout"),
    (BUSY_FORKS, ["--processes=fork", "--pids=24", "--timeout=0.3"], "timeout"),
    ("import os\nfor _ in range(4): os.fork()\nos._exit(0)", ["--processes=fork"], "error"),
    ("import os, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0: time.sleep(60)\n os._exit(0)\nos.wait()",
     ["--processes=fork"], "ok"),
    ("x = [bytearray(1 << 20)]\nwhile True: x.append(bytearray(b'x' * (1 << 20)))", ["--memory=64M"], "memory"),
    (PRINTS, ["--overflow=end"], "output"),
    ("import ctypes; ctypes.string_at(0)", [], "error"),
    ("import os; os.kill(os.getpid(), 9)", [], "error"),
    (THREADS, ["--pids=24"], "pids"),
], ids=["ends", "fails", "is rejected", "sleeps", "forks", "forks forever", "leaves children", "leaves a daemon",
        "takes memory", "prints", "crashes", "kills itself", "starts threads"])
def test_nothing_is_left_when_the_program(host, code, options, status):
    with host.start(code, *options) as job:
        result = job.finish()
        assert result.manifest["status"] == status, result
        host.check(job)


def test_without_anything_to_keep_no_directory_is_made(host):
    directory = cells.new_directory(host.user)
    job = cells.hotcell("run", "-t", cells.tree_path("base"), "-", input="print(1)", stdin=None, user=host.user,
                        cwd=directory)
    assert (job.stdout, job.returncode, os.listdir(directory)) == ("1\n", 0, [])


# ---- the launcher is killed ----

@pytest.mark.parametrize("code, options", [
    (SLEEP, []),
    (FORKS, ["--processes=fork"]),
    (BUSY_FORKS, ["--processes=fork", "--pids=24"]),
    (PRINTS, []),
    (READY + "while True: pass", []),
], ids=["sleeps", "forked", "forks forever", "prints", "spins"])
def test_the_cell_goes_with_a_launcher_that_is_killed(host, code, options):
    with host.start(code, *options) as job:
        job.read_line()
        cell = [os.pidfd_open(pid) for pid in job.descendants()[:2]]
        job.signal(signal.SIGKILL)
        assert job.wait() == -signal.SIGKILL
        for pidfd in cell:
            assert select.select([pidfd], [], [], 10)[0], "the cell lives on"
            os.close(pidfd)
        host.check(job, killed=True)


def test_the_cell_goes_with_a_launcher_that_is_killed_while_it_builds_it(host):
    """At its first child, whatever that has come to by then."""
    for _ in range(10):
        with host.start(SLEEP) as job:
            while not job.descendants() and not job.ended():
                pass
            job.signal(signal.SIGKILL)
            assert job.wait() == -signal.SIGKILL
            host.check(job, killed=True)


KILLED_AT = [1, 2, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 24, 28, 33, 40, 50, 65, 80, 100, 130]


@pytest.mark.parametrize("call", KILLED_AT)
def test_nothing_is_left_of_a_launcher_that_is_killed_at_its_nth_system_call(host, call):
    """The nth of any one kind, which comes anywhere between its start and the last file that it keeps."""
    cells.need_program("strace")
    with host.start("for i in range(40): open(f'file{i}', 'w').write('x' * 5000)",
                    wrapper=["strace", "-o", "/dev/null", "-e", f"inject=all:signal=KILL:when={call}"]) as job:
        status = job.wait()
        if status == 0:
            cells.skip(f"the launcher makes no call {call} times here")
        assert status == -signal.SIGKILL
        host.check(job, killed=True)


def test_a_file_that_was_there_is_whole_after_a_kill(host):
    """The old one or the new one, whenever the launcher dies."""
    cells.need_program("strace")
    directory = cells.new_directory(host.user)
    kept = directory / "out"
    host.run("open('file', 'w').write('o' * 100000)", cwd=directory)
    for call in (1, 2, 3, 4, 5, 6):
        inject = f"inject=linkat,renameat,close,write:signal=KILL:when={call}"
        with host.start("open('file', 'w').write('n' * 100000)", cwd=directory,
                        wrapper=["strace", "-o", "/dev/null", "-e", inject]) as job:
            job.wait()
        assert (kept / "file").read_text() in ("o" * 100000, "n" * 100000)


def test_nothing_half_written_is_left_among_filters_and_policies_that_are_kept(host):
    cells.need_program("strace")
    for call in range(1, 7):
        state = cells.new_directory(host.user)
        with host.start("1", env={"HOTCELL_STATE": str(state)},
                        wrapper=["strace", "-o", "/dev/null", "-e", f"inject=write:signal=KILL:when={call}"]) as job:
            job.wait()
        assert {path.suffix for path in state.glob("cache/*")} <= {".bpf"}
        for path in state.glob("policies/*"):
            text = path.read_bytes()
            assert hashlib.sha256(text).hexdigest() == path.name.partition(".")[0]


def test_a_launcher_that_is_stopped_keeps_its_cell_and_goes_on(host):
    with host.start(READY + "print('on', flush=True)") as job:
        job.read_line()
        job.signal(signal.SIGSTOP)
        job.signal(signal.SIGCONT)
        assert job.finish().manifest["status"] == "ok"
        host.check(job)


# ---- the launcher is told to end ----

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("code, options", [(SLEEP, []), (BUSY_FORKS, ["--processes=fork", "--pids=24"])],
                         ids=["sleeps", "forks forever"])
def test_a_signal_ends_the_job_and_the_launcher_by_it(host, number, code, options):
    with host.start("open('kept', 'w').write('x')\n" + code, *options) as job:
        job.read_line()
        job.signal(number)
        result = job.finish()
        assert result.status == -number
        assert (result.manifest["status"], result.manifest["exit_code"]) == ("killed", 3)
        assert result.listed() == result.files() == ["kept"] and result.manifest["stdout"]["text"] == "ready\n"
        host.check(job)


def test_signals_during_construction_end_it_too(host):
    with host.start(SLEEP) as job:
        while not job.descendants() and not job.ended():
            pass
        job.signal(signal.SIGTERM)
        assert job.finish().status == -signal.SIGTERM
        host.check(job)


@pytest.mark.parametrize("which, ends", [(1, ("killed", 3)), (2, ("error", 1))])
def test_a_cell_that_somebody_kills_is_reported_as_what_is_known(host, which, ends):
    """By whoever may, on the host: its first process, which no program reaches, or the interpreter, which it may have been itself."""
    cells.need_root()
    with host.start(SLEEP) as job:
        job.read_line()
        os.kill(job.descendants()[which - 1], signal.SIGKILL)
        result = job.finish()
        assert (result.manifest["status"], result.status) == ends, result
        host.check(job)


# ---- those who read it ----

def test_a_reader_that_goes_away_does_not_end_the_job(host):
    with host.start("print('ready', flush=True)\nfor _ in range(1000): print('x' * 1000)\nopen('kept', 'w').close()",
                    "--stdout-size=64M") as job:
        job.read_line()
        job.process.stdout.close()
        job.process.stdout = None
        result = job.finish()
        assert (result.status, result.manifest["status"], result.files()) == (0, "ok", ["kept"])
        assert result.manifest["stdout"]["bytes"] == 1001006 == len(result.manifest["stdout"]["text"])
        host.check(job)


def test_streams_that_are_closed_from_the_start_do_no_harm(host):
    command = f"exec {cells.HOTCELL} run -t {cells.tree_path('base')} -o out - <{{0}} >&- 2>&-"
    directory = cells.new_directory(host.user)
    (directory.parent / f"{directory.name}.py").write_text("print('x' * 100000)\nopen('kept', 'w').close()")
    done = subprocess.run(["/bin/sh", "-c", command.format(directory.parent / f"{directory.name}.py")], cwd=directory,
                          check=False, env={**host.user.environment(), **host.env}, **host.user.popen_arguments())
    assert done.returncode == 0 and sorted(os.listdir(directory / "out")) == ["kept", "manifest.json"]


def test_closed_standard_input_does_no_harm(host):
    directory = cells.new_directory(host.user)
    program = directory.parent / f"{directory.name}.py"
    program.write_text("import sys; print(repr(sys.stdin.read()), len(sys.stdin.buffer.read()))")
    command = f"exec {cells.HOTCELL} run -t {cells.tree_path('base')} {program} <&-"
    done = subprocess.run(["/bin/sh", "-c", command], cwd=directory, check=False, capture_output=True, text=True,
                          env={**host.user.environment(), **host.env}, **host.user.popen_arguments())
    assert (done.stdout, done.stderr, done.returncode) == ("'' 0\n", "", 0)


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_reader_that_does_not_read_holds_up_the_program_but_not_its_limits(host, kind):
    ours, theirs = os.pipe() if kind == "pipe" else [s.detach() for s in socket.socketpair()]
    with host.start(PRINTS, "--timeout=0.5", "--stdout-size=64M", popen={"stdout": theirs}) as job:
        os.close(theirs)
        assert select.select([ours], [], [], 10)[0]
        cells.wait_until("the cell is dead", lambda: not job.descendants())
        received = 0
        while data := os.read(ours, 1 << 20):  # only now does anybody read
            received += len(data)
        os.close(ours)
        result = job.finish()
        assert result.manifest["status"] == "timeout", result
        # What was kept was passed on, too.
        assert received == len(result.manifest["stdout"]["text"])
        host.check(job)


def test_a_cancelled_job_does_not_wait_for_its_reader(host):
    ours, theirs = os.pipe()
    with host.start(PRINTS, "--stdout-size=64M", popen={"stdout": theirs}) as job:
        os.close(theirs)
        assert select.select([ours], [], [], 10)[0]
        job.signal(signal.SIGTERM)
        result = job.finish()
        os.close(ours)
        assert (result.status, result.manifest["status"]) == (-signal.SIGTERM, "killed")
        host.check(job)


# ---- a poor host ----

@pytest.mark.parametrize("files", [8, 12, 16, 20, 24, 28, 32, 64])
def test_few_descriptors_are_enough_or_are_said_to_be_missing(host, files):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    with host.start("print(1)", popen={"preexec_fn": limit}) as job:
        result = job.finish()
        if result.status != 0:
            assert result.status in (65, 69, 70, 78) and result.stderr.startswith("hotcell"), result
            assert result.stderr.count("\n") == 1 and result.stdout == ""
            assert files < 64
        host.check(job)


@pytest.mark.parametrize("which, value", [(resource.RLIMIT_NPROC, 1), (resource.RLIMIT_AS, 64 << 20),
                                          (resource.RLIMIT_FSIZE, 4096), (resource.RLIMIT_DATA, 4 << 20),
                                          (resource.RLIMIT_STACK, 256 << 10), (resource.RLIMIT_CORE, 0)],
                         ids=["processes", "address space", "file size", "data", "stack", "cores"])
def test_callers_own_limits_hold_or_are_said_to_be_too_low(host, which, value):
    def limit():
        resource.setrlimit(which, (value, value))
    with host.start("print(1)", popen={"preexec_fn": limit}) as job:
        result = job.finish()
        # Whatever of it works: it ends in one of the documented ways, with a line that says why.
        assert result.status in (0, 1, 3, 65, 69, 70), result
        assert result.status == 0 or result.stderr
        host.check(job)


def test_many_launchers_at_once_do_not_disturb_each_other(host):
    with contextlib.ExitStack() as stack:
        jobs = [stack.enter_context(cells.start(f"print({i})", user=host.user, env=host.env)) for i in range(12)]
        results = [job.finish() for job in jobs]
    assert [(result.status, result.stdout) for result in results] == [(0, f"{i}\n") for i in range(12)]
    assert len({result.manifest["job_id"] for result in results}) == 12
    assert not host.processes() - host.before and not host.held_uids()


def test_all_uids_in_use_is_said_and_the_next_comes_free(base_tree):
    cells.need_root()
    host = Host(cells.caller())
    host.env = {"HOTCELL_UID_RANGE": f"{host.uids.start}:1"}
    with host.start(SLEEP) as job:
        job.read_line()
        refused = cells.run("print(1)", env=host.env)
        assert refused.status == 69 and "HOTCELL_UID_RANGE" in refused.stderr, refused
        assert refused.manifest["status"] == "launch_failed"
        job.signal(signal.SIGKILL)
        job.wait()
        host.check(job, killed=True)
    assert cells.run("print(1)", env=host.env).status == 0
