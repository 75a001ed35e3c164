"""What ends a job, what does not, and what is left of it: each limit, each way to die."""

import os
import re
import select
import sys

import pytest

import cells

GUARD = "off"  # the kernel holds without it

FOREVER = "while True: pass"


def ends(result, status, exit_code=3):
    assert (result.manifest["status"], result.status) == (status, exit_code), result
    assert result.manifest["exit_code"] == exit_code
    return result


# ---- time ----

def test_an_endless_loop_ends_at_the_timeout_and_keeps_what_it_had(user):
    result = ends(cells.run(f"""
open("kept.txt", "w").write("kept")
print("a line")
print("and no newline", end="")
{FOREVER}
""", "--timeout=0.3", "--grace=0", user=user), "timeout")
    assert result.stdout == result.manifest["stdout"]["text"] == "a line\nand no newline"
    assert result.manifest["partial"] and result.files() == result.listed() == ["kept.txt"]
    assert f"{300 * cells.SLOWNESS:g}ms" in result.manifest["reason"] and "hotcell: timeout: " in result.stderr
    assert result.manifest["process"] is None and result.manifest["guest"] is None


@pytest.mark.parametrize("code", [
    "import time; time.sleep(1000)",
    "import signal; [signal.signal(n, signal.SIG_IGN) for n in signal.valid_signals() - {9, 19}]\n" + FOREVER,
    "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "while True:\n try:\n  while True: pass\n except BaseException: pass",
    "9 ** 9 ** 9",
    "import re; re.match('(a*)*b', 'a' * 60)",
    "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "import os; os.read(os.pipe()[0], 1)",
    "import atexit, time; atexit.register(time.sleep, 1000)",
    "import threading, time; threading.Thread(target=time.sleep, args=(1000,)).start()",
    "class A:\n def __repr__(self):\n  while True: pass\nA()",
], ids=["sleeps", "ignores signals", "stops itself", "catches all", "counts in C", "matches in C", "deadlocks",
        "reads nothing", "never exits", "leaves a thread", "never shows its value"])
def test_nothing_escapes_the_timeout(user, code):
    ends(cells.run(code, "--timeout=0.2", "--grace=0", user=user), "timeout")


def test_cpu_time_is_limited_over_all_processes(user):
    result = ends(cells.run("import os; os.fork()\n" + FOREVER, "--cpu=0.4", "--processes=fork", user=user), "cpu")
    assert "limits.cpu" in result.manifest["reason"]


def test_cpu_time_of_a_job_that_was_ended_is_accounted(user):
    usage = cells.run(FOREVER, "--cpu=0.4", user=user).manifest["usage"]
    assert usage["cpu_user"] + usage["cpu_system"] >= 0.35


# ---- memory ----

def test_endless_allocation_ends_the_job_and_keeps_what_it_had_printed(user):
    result = ends(cells.run("""
print("before", end="")
kept = []
while True:
    kept.append(bytearray(1 << 20))
    kept[-1][::4096] = b"x" * 256
""", "--memory=64M", user=user), "memory")
    assert result.stdout == "before" and "64M" in result.manifest["reason"]
    assert result.manifest["usage"]["memory_peak"] >= 48 << 20


def test_memory_is_counted_over_all_processes(user):
    ends(cells.run("""
import os, time
for _ in range(7):
    if os.fork() == 0:
        break
block = bytearray(16 << 20)
block[::4096] = b"x" * 4096
time.sleep(60)
""", "--memory=64M", "--processes=fork", user=user), "memory")


def test_files_in_tmp_and_output_count_as_memory(user):
    for place in ("/tmp", "/output"):
        result = cells.run(f"""
block = bytes(16 << 20)  # few steps: near the limit each costs a reread of the interpreter
with open("{place}/big", "wb") as file:
    while True:
        file.write(block)
""", "--memory=64M", "--tmp-size=1G", "--output-size=1G", "--file-size=1G", user=user)
        ends(result, "memory")


def test_near_the_limit_a_memory_error_keeps_what_there_is(user):
    # Slowly: without a cgroup memory is looked at every 20 ms.
    result = ends(cells.run("""
import time
open("kept.txt", "w").write("kept")
kept = []
while True:
    kept.append(b"x" * (1 << 20))
    time.sleep(0.03)
""", "--memory=128M", "--memory-soft=48M", user=user), "memory")
    assert result.manifest["partial"] and result.files() == ["kept.txt"]
    assert result.manifest["guest"]["error"]["type"] == "MemoryError" and "limits.memory_soft" in result.manifest["reason"]
    assert result.manifest["usage"]["memory_peak"] < 120 << 20


def test_a_program_that_makes_room_after_the_memory_error_goes_on(user):
    result = cells.run("""
import time
kept = []
try:
    time.sleep(0)
    while True:
        kept.append(b"x" * (1 << 20))
        time.sleep(0.03)
except MemoryError:
    kept.clear()
print("summed up")
""", "--memory=128M", "--memory-soft=48M", user=user)
    assert ends(result, "ok", 0).stdout == "summed up\n" and not result.manifest["partial"]


@pytest.mark.parametrize("option, limit", [("--cpus=0.5", "limits.cpus"), ("--cpu-weight=50", "limits.cpu_weight"),
                                           ("--io-read=1M", "limits.io_read"), ("--io-write=1M", "limits.io_write"),
                                           ("--io-read-ops=9", "limits.io_read_ops"), ("--io-write-ops=9", "limits.io_write_ops")])
def test_what_only_a_cgroup_enforces_is_warned_of_without(user, option, limit):
    result = ends(cells.run("print(1)", option, "--enforcement=rlimits", user=user), "ok", 0)
    assert [warning for warning in result.manifest["warnings"] if warning.startswith(f"{limit} is not enforced: ")], result
    by = result.manifest["limits"]["enforced_by"]
    assert by["cpus"] == by["cpu_weight"] == by["io"] == "none"


def test_one_absurd_allocation_does_not_harm_the_host(user):
    result = cells.run("print('before', flush=True); x = bytearray(1 << 40)", user=user)
    assert ends(result, "error", 1).manifest["guest"]["error"]["type"] == "MemoryError"
    assert result.stdout == "before\n"


def test_a_survived_memory_error_is_not_the_jobs_end(user):
    result = cells.run("try:\n bytearray(1 << 40)\nexcept MemoryError: print('survived')", user=user)
    assert ends(result, "ok", 0).stdout == "survived\n"


# ---- processes and threads ----

# The pauses are for hosts without a cgroup, where processes and threads are counted now and then.
FORK_BOMB = """
import os, time
print("before", flush=True)
try:
    while True:
        os.fork()
except BlockingIOError:
    time.sleep(0.3)
    raise
"""


def test_a_fork_bomb_ends_at_the_limit(user):
    result = cells.run(FORK_BOMB, "--processes=fork", "--pids=24", user=user)
    assert ends(result, "pids").stdout == "before\n"
    assert "24" in result.manifest["reason"]


@pytest.mark.parametrize("bomb", ["os.fork()", "threading.Thread(target=threading.Event().wait, daemon=True).start()"])
def test_a_short_bomb_is_held_even_if_nobody_could_count_it(user, bomb):
    result = cells.run(f"import os, threading\nwhile True: {bomb}", "--processes=fork", "--pids=24", user=user)
    assert result.manifest["status"] == "pids" or not result.enforced_by_cgroup and \
        result.manifest["status"] == "error"


def test_a_fork_bomb_is_refused_where_forks_are(user):
    result = ends(cells.run(FORK_BOMB, user=user), "error", 1)
    assert result.manifest["guest"]["error"]["type"] == "PermissionError"


def test_a_stubborn_fork_bomb_is_held_until_the_timeout(user):
    with cells.start("""
import os
print("before", flush=True)
while True:
    try:
        while True:
            try:
                os.fork()
            except OSError:
                pass
    except TimeoutError:
        pass
""", "--processes=fork", "--pids=24", "--timeout=0.5", user=user) as job:
        job.read_line()
        most = 0
        while not job.ended():
            most = max(most, len(job.descendants()))
        ends(job.finish(), "timeout")
    assert 2 < most <= 24


def test_a_thread_bomb_ends_at_the_limit(user):
    result = ends(cells.run("""
import threading, time
try:
    while True:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
except RuntimeError:
    time.sleep(0.3)
    raise
""", "--pids=24", user=user), "pids")
    assert "can't start new thread" in result.stderr


def test_a_limit_on_pids_that_is_not_reached_is_not_blamed(user):
    result = cells.run("import threading\nfor _ in range(30): (t := threading.Thread(target=int)).start(); t.join()\n"
                       "1 / 0", "--pids=24", user=user)
    ends(result, "error", 1)


# ---- what is printed ----

def test_endless_printing_is_cut_and_the_job_goes_on(user):
    result = ends(cells.run("""
for _ in range(3000):
    print("x" * 999)
open("done", "w").close()
""", "--stdout-size=10K", user=user), "ok", 0)
    assert result.files() == ["done"]
    assert len(result.stdout) == 10240 == len(result.manifest["stdout"]["text"])
    assert result.manifest["stdout"]["truncated"] and result.manifest["stdout"]["bytes"] == 3_000_000


def test_endless_printing_ends_the_job_if_the_policy_says_so(user):
    result = ends(cells.run("while True: print('x' * 999)", "--stdout-size=10K", "--overflow=end", user=user),
                  "output")
    assert len(result.stdout) == 10240 and "standard output" in result.manifest["reason"]


def test_the_streams_are_limited_one_by_one(user):
    result = ends(cells.run("""
import sys
print("out")
while True: print("x" * 999, file=sys.stderr)
""", "--stderr-size=5000", "--overflow=end", user=user), "output")
    assert result.stdout == "out\n" and "standard error" in result.manifest["reason"]
    assert result.manifest["stderr"]["text"] == ("x" * 999 + "\n") * 5
    assert not result.manifest["stdout"]["truncated"]


def test_output_that_fits_exactly_is_not_too_much(user):
    result = ends(cells.run("print('x' * 99, end='')", "--stdout-size=99", "--overflow=end", user=user), "ok", 0)
    assert not result.manifest["stdout"]["truncated"] and len(result.stdout) == 99


def test_a_limit_of_nothing_keeps_nothing(user):
    result = ends(cells.run("print('x')", "--stdout-size=0", user=user), "ok", 0)
    assert result.stdout == "" and result.manifest["stdout"] == {
        "text": "", "bytes": 2, "truncated": True, "redactions": 0}


def test_bytes_that_are_not_text_pass_unchanged_and_are_marked_in_the_manifest(user):
    with cells.start(r"import os; os.write(1, b'a\xff\xfe\xc3'); os.write(1, b'\xa4z\x00')", user=user) as job:
        stdout, _ = job.process.communicate(timeout=cells.PATIENCE)
        result = job.finish()
    assert stdout == b"a\xff\xfe\xc3\xa4z\0"
    text = result.manifest["stdout"]["text"]
    assert text[:-1] == "a\ufffd\ufffdäz" and result.manifest["stdout"]["bytes"] == 7
    assert text[-1] in "\0\ufffd"  # many readers of JSON take a NUL for the end of a string


def test_the_launchers_memory_stays_flat_while_the_program_prints(user):
    with cells.start("""
import os, sys, time
block = b"x" * (1 << 20)
for _ in range(500):
    os.write(1, block)
print("printed", file=sys.stderr, flush=True)
time.sleep(60)
""", "--timeout=60", "--stdout-size=1M", user=user) as job:
        os.set_blocking(job.process.stdout.fileno(), False)
        received = 0
        while not select.select([job.process.stderr], [], [], 0)[0]:
            if select.select([job.process.stdout, job.process.stderr], [], [], 60)[0]:
                received += len(job.process.stdout.read() or b"")
        assert job.read_line(job.process.stderr) == "printed"
        with open(f"/proc/{job.pid}/status", encoding="utf-8") as file:
            peak = int(re.search(r"^VmHWM:\s+(\d+) kB$", file.read(), re.M).group(1)) << 10
        job.signal(15)
        result = job.finish()
    assert received == 1 << 20 and result.manifest["stdout"]["bytes"] == 500 << 20
    assert peak < 32 << 20


# ---- files ----

def test_a_full_output_is_an_error_inside_and_the_job_goes_on(user):
    result = cells.run("""
import errno
def fill(path):
    try:
        with open(path, "wb", buffering=0) as file:
            while True:
                file.write(bytes(65536))
    except OSError as error:
        return errno.errorcode[error.errno], error.filename
for folder in ("/output", "/tmp"):
    print(fill(folder + "/big")[0])
print(fill("/output/more")[0])
""", "--output-size=1M", "--tmp-size=1M", user=user)
    ends(result, "ok", 0)
    assert result.stdout == "ENOSPC\n" * 3
    assert result.listed() == ["big", "more"] and (result.output / "big").stat().st_size == 1 << 20


def test_many_empty_files_meet_a_ceiling(user):
    result = ends(cells.run("""
import errno
for folder in ("/output", "/tmp"):
    made = 0
    try:
        while True:
            open(f"{folder}/{made}", "x").close()
            made += 1
    except OSError as error:
        print(made, errno.errorcode[error.errno])
""", "--output-files=100", "--tmp-files=50", user=user), "ok", 0)
    assert result.stdout == "100 ENOSPC\n50 ENOSPC\n"
    assert len(result.listed()) == 100


def test_one_files_size_is_limited(user):
    result = ends(cells.run("""
import errno
with open("big", "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(65536))
    except OSError as error:
        print(errno.errorcode[error.errno], file.tell())
with open("sparse", "wb") as file:
    try:
        file.truncate(1 << 40)
    except OSError as error:
        print(errno.errorcode[error.errno])
""", "--file-size=1M", user=user), "ok", 0)
    assert result.stdout == f"EFBIG {1 << 20}\nEFBIG\n"


def test_a_sparse_file_costs_no_more_than_its_limit_allows(user):
    result = ends(cells.run("open('sparse', 'wb').truncate(64 << 20)", "--file-size=64M", "--output-size=1M",
                            user=user), "ok", 0)
    assert result.files() == [] and result.skipped() == {"sparse": "larger than the limit"}


def test_open_files_are_limited(user):
    result = ends(cells.run("""
import errno, os
kept = []
try:
    while True:
        kept.append(open("/dev/null"))
except OSError as error:
    print(errno.errorcode[error.errno], max(file.fileno() for file in kept))
""", "--open-files=40", user=user), "ok", 0)
    assert result.stdout == "EMFILE 39\n"


def test_a_launcher_may_have_more_open_than_its_cell(user):
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(60)]
    try:
        for fd in held:
            os.set_inheritable(fd, True)
        ends(cells.run("print(1)", "--open-files=40", user=user, popen={"close_fds": False}), "ok", 0)
    finally:
        for fd in held:
            os.close(fd)


# ---- ends of its own ----

@pytest.mark.parametrize("code, status, exit_code, number", [
    ("import sys; sys.exit()", "ok", 0, 0),
    ("import sys; sys.exit(0)", "ok", 0, 0),
    ("raise SystemExit(None)", "ok", 0, 0),
    ("import sys; sys.exit(3)", "error", 1, 3),
    ("import sys; sys.exit(2)", "error", 1, 2),
    ("import sys; sys.exit(70)", "error", 1, 70),
    ("import sys; sys.exit('a reason')", "error", 1, 1),
    ("import sys; sys.exit(-1)", "error", 1, 255),
    ("1 / 0", "error", 1, 1),
    ("import os; os._exit(0)", "error", 1, 0),
    ("import os; os._exit(4)", "error", 1, 4),
    ("import threading; threading.Thread(target=lambda: 1 / 0).start()", "ok", 0, 0),
], ids=str)
def test_exit_statuses_are_told_apart(user, code, status, exit_code, number):
    result = ends(cells.run("print('before')\n" + code, user=user), status, exit_code)
    assert result.manifest["process"] == {"exit": number} and result.stdout == "before\n"
    assert (result.manifest["reason"] is None) == (status == "ok")
    if "_exit" in code:
        assert result.manifest["guest"] is None


@pytest.mark.parametrize("code, status, exit_code, name", [
    ("import ctypes; ctypes.string_at(0)", "error", 1, "SIGSEGV"),
    ("import os; os.abort()", "error", 1, "SIGABRT"),
    ("import os; os.kill(os.getpid(), 15)", "error", 1, "SIGTERM"),
    ("import os; os.kill(os.getpid(), 9)", "error", 1, "SIGKILL"),
    ("import os; os.kill(0, 9)", "error", 1, "SIGKILL"),
    ("import signal; signal.raise_signal(signal.SIGSYS)", "error", 1, "SIGSYS"),
], ids=["crashes", "aborts", "terminates", "kills itself", "kills its group", "pretends to be filtered"])
def test_deaths_name_the_signal(user, code, status, exit_code, name):
    result = ends(cells.run("print('before', flush=True)\nprint('buffered')\n" + code, user=user), status, exit_code)
    assert result.manifest["process"]["name"] == name and name in result.manifest["reason"]
    assert result.stdout.startswith("before\n")


def test_deep_recursion_is_an_error_like_any_other(user):
    result = ends(cells.run("def f(n): return f(n + 1)\nf(0)", user=user), "error", 1)
    assert result.manifest["guest"]["error"]["type"] == "RecursionError"
    result = cells.run("import sys; sys.setrecursionlimit(10 ** 9)\nclass A:\n def __repr__(self): return repr(self)\n"
                       "repr(A())", user=user)
    ends(result, "error", 1)
    if sys.version_info < (3, 12):  # later ones bound the recursion of C functions, too, whatever the program sets
        assert "SIGSEGV" in result.manifest["reason"]
    else:
        assert result.manifest["guest"]["error"]["type"] == "RecursionError"


@pytest.mark.parametrize("value", ["'x' * (8 << 20)", "list(range(10 ** 6))", "{'k' * (8 << 20): 1}",
                                   "type('A', (), {'__repr__': lambda self: 'y' * (8 << 20)})()"])
def test_a_huge_value_is_cut(user, value):
    result = ends(cells.run(value, "--value-size=64K", user=user), "ok", 0)
    guest = result.manifest["guest"]
    assert 1000 < len(guest["value"]["text/plain"]) < 64 << 10 and set(guest["value"]) == {"text/plain"}
    assert "The text of the value was cut: it is too long." in guest["warnings"]


def test_a_huge_error_is_cut(user):
    result = ends(cells.run("raise ValueError('x' * (8 << 20))", "--value-size=64K", user=user), "error", 1)
    assert result.manifest["guest"]["error"]["type"] == "ValueError"
    assert len(str(result.manifest["guest"])) < 64 << 10


def test_a_program_that_is_too_long_is_rejected(user):
    result = ends(cells.run("x = 1\n" * 200, "--code-size=1000", user=user), "rejected", 2)
    assert result.manifest["rejection"]["rule"] == "code_size"


# ---- the report, made up ----

@pytest.mark.parametrize("frame", [b"", b"\0" * 8, b"\xff" * 64, b"x" * 70000],
                         ids=["nothing", "zeroes", "ones", "too much"])
def test_a_guest_that_writes_to_the_channel_spoils_only_its_own_report(user, frame):
    result = cells.run(f"""
import socket
channel = socket.socket(fileno=3)
channel.setblocking(False)
try:
    for _ in range(20000):
        channel.send({frame!r})
except OSError:
    pass
print("done")
""", user=user)
    assert result.stdout == "done\n"
    assert result.manifest["status"] in ("ok", "error") and result.status in (0, 1)
    assert result.manifest["process"] == {"exit": result.manifest["process"]["exit"]}


def test_a_guest_that_closes_the_channel_has_not_ended_well(user):
    result = ends(cells.run("import os; os.close(3); print('done')", user=user), "error", 1)
    assert result.stdout == "done\n" and result.manifest["guest"] is None
