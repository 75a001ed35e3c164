"""Without a cgroup: memory that comes and goes while nobody looks is told all the same, by the peaks that the kernel keeps; and what these
have of files is not held against a program."""

import signal
import subprocess
from pathlib import Path

import pytest

import cells
import session_client

GUARD = "off"  # the kernel keeps the peaks without it
MB = 1 << 20
LIMIT, SPIKE = 128, 512  # MB

# Takes memory once the test says so, when the launcher is stopped, and gives it back.
TAKES = f"""
def come_and_go(mb={SPIKE}):
    x = bytearray(mb << 20)
    x[::4096] = b'x' * len(x[::4096])
"""
COMES_AND_GOES = TAKES + """
print('ready', flush=True)
input()
come_and_go()
"""
BY_CHILD = TAKES + """
import os
print('ready', flush=True)
input()
if (child := os.fork()) == 0:
    come_and_go()
    input()
    os._exit(0)
os.waitpid(child, 0)
"""
BY_ORPHAN = TAKES + """
import os
print('ready', flush=True)
input()
ended, last = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
        come_and_go()
        input()
    os._exit(0)
os.close(last)
os.read(ended, 1)  # the end of the file: both have ended
"""


def status_of(pid):
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def kib(status, key):
    return int(status.get(key, "0").split()[0])


def of_cell(pids):
    """Without what fills the standard input."""
    return [status for status in map(status_of, pids) if len(status.get("NSpid", "").split()) > 1]


def came_and_went(pids):
    """Has one of these had it and given it back, or have all of them ended?"""
    seen = of_cell(pids)
    peaks = [kib(status, "RssAnon") for status in seen if kib(status, "VmHWM") >= SPIKE << 10]
    return (peaks and max(peaks) < LIMIT << 10) or not any("VmRSS" in status for status in seen)


def is_told(manifest):
    assert manifest["status"] == "memory", [manifest["stderr"]["text"], *(manifest[key] for key in ("status", "reason", "usage", "denials", "warnings"))]
    assert "limits.memory" in manifest["reason"]
    assert manifest["usage"]["memory_peak"] > LIMIT * MB, manifest["usage"]


def has_ended(pids):
    """Has the one that had it?"""
    return all(kib(status, "VmHWM") < SPIKE << 10 for status in of_cell(pids))


def unseen(code, *options, user=None, child=False, **arguments):
    """A job whose launcher is stopped while its program takes memory, and goes on when the program has given it back; and with `child`
    only when the child that had it has ended, which waits for another line."""
    with cells.start(code, f"--memory={LIMIT}M", "--memory-soft=0", "--enforcement=rlimits", "--timeout=40s", "--stdin=-", *options,
                     user=user, stdin=subprocess.PIPE, **arguments) as job:
        assert job.read_line() == "ready"
        job.signal(signal.SIGSTOP)
        job.process.stdin.write(b"\n")
        job.process.stdin.flush()
        cells.wait_until("the memory has come and gone", lambda: came_and_went(job.descendants()))
        if child:
            job.process.stdin.write(b"\n")
            job.process.stdin.flush()
            cells.wait_until("the child has ended", lambda: has_ended(job.descendants()))
        job.signal(signal.SIGCONT)
        return job.finish()


WAITS = TAKES + """
import os, time
open('/output/ready', 'w').close()
while os.path.exists('/output/ready'):
    time.sleep(0.005)
come_and_go()
"""


def unseen_run(session, code):
    """A run of a session, likewise. Its /output shows in /proc, to root."""
    session.ask({"run": {"code": code}})
    ready = Path(f"/proc/{cell_of(session)}/root/output/ready")
    cells.wait_until("the run has begun", ready.exists)
    session.process.send_signal(signal.SIGSTOP)
    try:
        ready.unlink()
        cells.wait_until("the memory has come and gone", lambda: came_and_went(cells.descendants(session.process.pid)))
    finally:
        session.process.send_signal(signal.SIGCONT)
    return session.result()


def cell_of(session):
    """The first process of its cell."""
    return next(pid for pid in cells.descendants(session.process.pid) if status_of(pid).get("NSpid", "").split()[-1:] == ["1"])


@pytest.fixture(name="session")
def of_small_runs():
    cells.need_root()
    with session_client.Session(f"--memory={LIMIT}M", "--memory-soft=0", "--enforcement=rlimits", "--guard=off", "--timeout=40s") as session:
        yield session


def test_memory_that_came_and_went_between_two_looks_is_told(user):
    is_told(unseen(COMES_AND_GOES, user=user).manifest)


def test_a_program_that_goes_on_is_ended_for_the_memory_that_it_had(user):
    is_told(unseen(COMES_AND_GOES + "import time; time.sleep(30)", user=user).manifest)


@pytest.mark.parametrize("ending", ["raise SystemExit(3)", "1 / 0", "import os; os.abort()", "import os; os._exit(0)"])
def test_memory_is_told_however_the_program_ends(ending):
    is_told(unseen(COMES_AND_GOES + ending).manifest)


@pytest.mark.parametrize("code", [BY_CHILD, BY_ORPHAN])
def test_memory_of_children_that_have_ended_is_told(user, code):
    is_told(unseen(code, "--processes=fork", user=user, child=True).manifest)


@pytest.mark.usefixtures("shell_tree")
def test_memory_of_a_command_is_told():
    code = f"{TAKES}\nprint('ready', flush=True)\ninput()\ncome_and_go()\ninput()"
    is_told(unseen(["sh", "-c", 'python3 -c "$0"; true', code], tree=None, policy="shell", child=True).manifest)


@pytest.mark.parametrize("ending", ["", "raise SystemExit(3)", "time.sleep(30)"])
def test_a_run_of_a_session_is_ended_for_the_memory_that_it_had(session, ending):
    session.run("kept = 7")
    run = unseen_run(session, f"kept = 8\n{WAITS}{ending}")
    is_told(run.manifest)
    assert run.state.startswith("rolled back")
    assert session.run("kept").value == 7


def test_a_run_whose_process_has_ended_is_told_of_too(session):
    run = unseen_run(session, f"{WAITS}os._exit(0)")
    is_told(run.manifest)
    assert run.state.startswith("rolled back") and session.run("7").value == 7


@pytest.mark.usefixtures("shell_tree")
def test_a_run_beside_a_command_is_ended_for_the_memory_that_it_had():
    cells.need_root()
    with session_client.Session(f"--memory={LIMIT}M", "--memory-soft=0", "--enforcement=rlimits", "--guard=off", tree="shell", policy="shell") as session:
        session.ask({"start": {"command": ["sleep", "100"]}})
        assert session.answer()["event"] == "started"
        run = unseen_run(session, WAITS)
        is_told(run.manifest)
        assert run.state.startswith("rolled back")
        session.ask({"commands": True})
        assert len(session.answer()["commands"]) == 1  # and the command is not
        assert session.run("7").value == 7


def test_memory_that_a_run_had_is_not_held_against_other_runs(session):
    is_told(unseen_run(session, WAITS).manifest)
    for _ in range(3):
        run = session.run(f"{TAKES}come_and_go({LIMIT // 2})")
        assert run.status == "ok" and run.manifest["usage"]["memory_peak"] < LIMIT * MB, run
    is_told(unseen_run(session, WAITS).manifest)  # and is told each time


@pytest.mark.usefixtures("shell_tree")
def test_the_peak_of_a_run_is_not_told_of_later_ones_that_may_have_processes():
    with session_client.Session("--memory=1G", "--enforcement=rlimits", "--guard=off", tree="shell", policy="shell") as session:
        assert session.run(f"{TAKES}come_and_go()").status == "ok"
        for _ in range(2):
            run = session.run("print(2)")
            assert run.status == "ok" and run.manifest["usage"]["memory_peak"] < SPIKE // 4 * MB, run


# ---- what is no memory of the program's ----

MAPS = """
import mmap, resource
def see(path):
    with open(path, "rb") as file:
        seen = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    assert not any(seen[::4096])
    return seen
kept = [see(path) for path in PATHS]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


@pytest.fixture(name="large", scope="module")
def large_file():
    """A file that is larger than limits.memory."""
    path = cells.new_directory(cells.caller()) / "large.bin"
    with open(path, "wb") as file:
        file.truncate(200 << 20)
    path.chmod(0o644)
    yield path
    path.unlink()


def small(code, *options, **arguments):
    return cells.run(code, "--memory=64M", "--enforcement=rlimits", *options, **arguments)


def is_well(result, least_mb):
    """It ended well, and had more pages than limits.memory."""
    assert result.manifest["status"] == "ok", result
    assert int(result.stdout) > least_mb, result


@pytest.mark.parametrize("times", [1, 2, 20])
def test_a_large_input_may_be_mapped(user, large, times):
    is_well(small(f"PATHS = ['/input/large.bin'] * {times}\n{MAPS}", "--input", f"large={large}", user=user), 200 * times)


def test_large_files_of_directories_may_be_mapped(user, large):
    is_well(small(f"PATHS = ['/data/large.bin']\n{MAPS}", "--dir", f"{large.parent}:/data:ro", user=user), 200)


def test_a_session_may_map_a_large_input(large):
    with session_client.Session("--memory=64M", "--enforcement=rlimits", "--guard=off", "--input", f"large={large}") as session:
        for _ in range(3):
            run = session.run(f"PATHS = ['/input/large.bin']\n{MAPS}")
            assert run.status == "ok" and int(run.stdout) > 200, run


def test_libraries_are_no_memory_of_the_program(user, scientific):
    result = small("import pandas, resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)", "--memory=48M", tree=scientific, user=user)
    is_well(result, 48)


@pytest.mark.usefixtures("shell_tree")
def test_small_commands_are_told_of_nothing():
    """One after the other, each has half of limits.memory."""
    code = f"{TAKES}\ncome_and_go({LIMIT // 2})"
    result = cells.execute(["sh", "-c", 'for i in 1 2 3; do python3 -c "$0"; done; echo done', code], f"--memory={LIMIT}M", "--enforcement=rlimits")
    assert result.manifest["status"] == "ok" and result.stdout == "done\n", result


def test_memory_of_children_that_have_ended_is_not_summed(user):
    code = f"{TAKES}\nimport os\nfor _ in range(4):\n    if os.fork() == 0:\n        come_and_go({LIMIT // 2})\n        os._exit(0)\n    os.wait()"
    result = cells.run(code, f"--memory={LIMIT}M", "--enforcement=rlimits", "--processes=fork", user=user)
    assert result.manifest["status"] == "ok", result
