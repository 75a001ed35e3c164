"""Side channels: what a cell learns of its host and of other cells, and what two cells can tell each other.

What works between two plain processes of one user is shown to work there first, and then not to work between cells.
"""

import json
import os
import time

import cells

GUARD = "off"  # the kernel holds without it

PROBE = """
import ctypes, errno, fcntl, json, os, platform, struct, time
LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {"x86_64": {"times": 100, "sysinfo": 99}, "aarch64": {"times": 153, "sysinfo": 179}}[platform.machine()]

def call(name, *arguments):
    '''A system call, whatever the C library thinks of it.'''
    result = LIBC.syscall(ctypes.c_long(NUMBERS[name]), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result

def attempt(what, *arguments, **more):
    '''The name of the errno that it fails with; None if it works.'''
    try:
        what(*arguments, **more)
    except OSError as error:
        return errno.errorcode.get(error.errno, error.errno)

def report(**facts):
    print(json.dumps(facts))
"""


def probe(code, *options, **arguments):
    return cells.run(PROBE + code, *options, **arguments).facts()


# ---- the host ----

def test_clocks_start_with_the_cell(user):
    """How long the host has been up is not told by any clock, nor by the time that a process was started at.

    The processor's own counter (rdtsc, cntvct) can be read by every program and tells it all the same. By how much the
    monotonic clock differs from the raw one says how far the host's clock has been corrected since it was started.
    """
    result = cells.run(PROBE + """
with open("/proc/self/stat") as file:
    started = int(file.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
report(started=started, times=os.times().elapsed,
       **{name: time.clock_gettime(getattr(time, f"CLOCK_{name}")) for name in ("MONOTONIC", "MONOTONIC_RAW", "BOOTTIME")})
""", user=user)
    facts = result.facts()
    limit = 60 * cells.SLOWNESS
    assert time.clock_gettime(time.CLOCK_BOOTTIME) > limit, "the host was started just now: this shows nothing"
    assert all(0 <= seconds < limit for seconds in facts.values()), facts
    layer = result.manifest["layers"]["time_namespace"]
    assert layer["on"] and "; its clocks, read from outside, started " in layer["evidence"]


def test_processes_of_a_cell_have_its_clocks(user):
    facts = probe("""
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, json.dumps(time.monotonic()).encode())
    os._exit(0)
os.wait()
report(child=json.loads(os.read(read, 100)), parent=time.monotonic())
""", "--processes=fork", user=user)
    assert 0 <= facts["child"] <= facts["parent"] < 60 * cells.SLOWNESS


def test_the_clocks_that_the_launcher_checks_are_the_interpreters(user):
    """Whatever the kernel does at exec and fork: the namespace of the last process is the one of the manifest."""
    if not cells.IS_ROOT:
        cells.skip("needs root, to look at another user's process")
    with cells.start("import time; print(1, flush=True); time.sleep(1)", user=user) as job:
        job.read_line()
        spaces = {os.readlink(f"/proc/{pid}/ns/{name}") for pid in job.descendants() for name in ("time", "time_for_children")}
        result = job.finish()
    assert {result.manifest["layers"]["time_namespace"]["evidence"].partition(",")[0]} == spaces


def test_memory_of_the_machine_is_that_of_the_cell(user):
    facts = probe("""
info = (ctypes.c_long * 16)()
LIBC.sysinfo(info)
report(pages=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"),
       free=os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGESIZE"), total=info[4], uptime=info[0], load=info[1:4])
""", "--memory=256M", user=user)
    assert facts["pages"] == facts["total"] == 256 << 20 and facts["free"] <= 256 << 20
    assert facts["uptime"] < 60 * cells.SLOWNESS and facts["load"] == [0, 0, 0]


# ---- locks ----

def test_record_locks_are_answered_as_for_a_process_alone(user):
    facts = probe("""
with open("/output/locked", "w+") as file, open("/output/locked") as reader:
    file.write("x" * 100)
    file.flush()
    def lock(fd, command, kind, start, length, whence=os.SEEK_SET):
        return struct.unpack("hhqqi4x", fcntl.fcntl(fd, command, struct.pack("hhqqi4x", kind, whence, start, length, 0)))
    report(write=attempt(fcntl.lockf, file, fcntl.LOCK_EX | fcntl.LOCK_NB),
           again=attempt(os.lockf, file.fileno(), os.F_TLOCK, 0),
           asked=lock(file, fcntl.F_GETLK, fcntl.F_WRLCK, 0, 0)[0] == fcntl.F_UNLCK,
           test=attempt(os.lockf, file.fileno(), os.F_TEST, 0),
           unlock=attempt(fcntl.lockf, file, fcntl.LOCK_UN),
           direction=[attempt(lock, reader, fcntl.F_SETLK, fcntl.F_WRLCK, 0, 0),
                      attempt(lock, reader, fcntl.F_SETLK, fcntl.F_RDLCK, 0, 0)],
           closed=attempt(lock, 200, fcntl.F_SETLK, fcntl.F_RDLCK, 0, 0),
           kind=attempt(lock, file, fcntl.F_SETLK, 9, 0, 0), before=attempt(lock, file, fcntl.F_SETLK, 0, -1, 0),
           end=[attempt(lock, file, fcntl.F_SETLK, 0, -100, 0, os.SEEK_END),
                attempt(lock, file, fcntl.F_SETLK, 0, -101, 0, os.SEEK_END)])
""", user=user)
    assert facts == {"write": None, "again": None, "asked": True, "test": None, "unlock": None,
                     "direction": ["EBADF", None], "closed": "EBADF", "kind": "EINVAL", "before": "EINVAL",
                     "end": [None, "EINVAL"]}


# ---- processor cores ----

def test_core_scheduling_is_on_or_the_launch_fails(user):
    """Without it, what runs on the second thread of a core can watch the caches that both share."""
    result = cells.run("print(1)", "--core-scheduling=on", user=user)
    told = json.loads(cells.hotcell("doctor", "--json", user=user).stdout)
    row = next(row for row in told["checks"] if row["name"] == "core scheduling")
    if row["level"] == "ok" and "not needed" not in row["detail"]:
        assert result.status == 0, result
        assert result.manifest["layers"]["core_scheduling"]["on"]
    else:
        assert result.status == 69 and 'core_scheduling cannot be "on"' in result.stderr, result
        assert 'set it to "off"' in result.stderr


def test_core_scheduling_is_not_claimed_where_it_is_not_asked_for(user):
    assert "core_scheduling" not in cells.run("print(1)", user=user).manifest["layers"]
