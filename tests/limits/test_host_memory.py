"""Whatever a program does, its host has no less memory for it than limits.memory and 64 MB: of what processes have, and of what the
kernel has for them.

Each program would take 400 MB and more. That it would, its first lines show outside of a cell, where they take little."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile

import pytest

import cells
import session_client
import meter
import siblings

GUARD = "off"  # the kernel, and the launcher, hold without it
MB = 1 << 20

# Its main thread ends; another takes memory, and makes pages read-only, which RLIMIT_DATA then no longer counts.
LEADER_ENDS = """
import ctypes, platform, threading, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
EXIT = {"x86_64": 60, "aarch64": 93}[platform.machine()]

def take(mb):
    for _ in range(mb):
        at = libc.mmap(None, 1 << 20, 3, 0x22, -1, 0)
        if at is None or at == ctypes.c_void_p(-1).value:
            return
        libc.memset(at, 1, 1 << 20)
        libc.mprotect(at, 1 << 20, 1)
"""

# What the others do meanwhile: memory belongs to all of them, whatever state they are in.
ENDINGS = {
    "one lives": """
def main():
    take(MB)
    time.sleep(LINGER)
threading.Thread(target=main).start()
libc.syscall(EXIT, 0)
""",
    "many sleep": """
def main():
    for _ in range(8):
        threading.Thread(target=time.sleep, args=(LINGER,)).start()
    take(MB)
    libc.syscall(EXIT, 0)
threading.Thread(target=main).start()
libc.syscall(EXIT, 0)
""",
    "stopped": """
import os, signal
def main():
    for _ in range(MB // 64):
        take(64)
    os.kill(os.getpid(), signal.SIGSTOP)
threading.Thread(target=main).start()
libc.syscall(EXIT, 0)
""",
    "from thread to thread": """
import _thread
END = time.monotonic() + LINGER
def hop(left):
    if left:
        take(1)
    if time.monotonic() < END:
        _thread.start_new_thread(hop, (max(left - 1, 0),))
threading.Thread(target=hop, args=(MB,)).start()
libc.syscall(EXIT, 0)
""",
}


# Each thread lives for one page and for as long as the kernel takes to make the next: hardly ever can one be looked at.
FLIGHT = r"""
import ctypes, struct, threading
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
SIZE, STACK, THREAD = 400 << 20, 1 << 15, 0x50f00  # CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
big, stacks, code = (libc.mmap(None, size, protection, 0x22, -1, 0) for size, protection in ((SIZE, 3), (2 * STACK, 3), (4096, 7)))
start = b"".join(name + struct.pack("<Q", value) for name, value in (
    (b"\x49\xbc", stacks + STACK - 64), (b"\x49\xbd", stacks + 2 * STACK - 64), (b"\x49\xbe", big), (b"\x49\xbf", big + SIZE)))
touch = b"\x41\xc6\x06\x01" + b"\x49\x81\xc6\x00\x10\x00\x00"                    # mov [r14], 1; add r14, 4096
loop = b"\x4d\x39\xfe\x73" + bytes([len(touch)]) + touch                          # cmp r14, r15; jae
loop += b"\xb8\x38\0\0\0\xbf" + struct.pack("<I", THREAD) + b"\x4c\x89\xee"        # clone on r13
loop += b"\x31\xd2\x4d\x31\xd2\x4d\x31\xc0\x0f\x05\x85\xc0"
leave = b"\xb8\x3c\0\0\0\x31\xff\x0f\x05"                                         # exit
loop += b"\x74" + bytes([2 + len(leave)])
loop += b"\x78" + struct.pack("b", -len(loop) - 2) + leave + b"\x4d\x87\xec"          # in the child: xchg r12, r13
loop += b"\xe9" + struct.pack("<i", -len(loop) - 5)
ctypes.memmove(code, start + loop, len(start + loop))
threading.Thread(target=ctypes.CFUNCTYPE(None)(code)).start()
libc.syscall(60, 0)
"""


def leader_ends(how, mb=600, linger=3):
    return f"{LEADER_ENDS}\nMB, LINGER = {mb}, {linger * cells.SLOWNESS:g}\n{ENDINGS[how]}"


def is_over_memory(manifest, limit_mb):
    assert manifest["status"] == "memory", [manifest["stderr"]["text"], *(manifest[key] for key in ("status", "reason", "usage", "denials", "warnings"))]
    assert "limits.memory" in manifest["reason"]
    assert manifest["usage"]["memory_peak"] >= limit_mb * MB * 3 // 4, manifest["usage"]


def test_the_process_of_a_main_thread_that_ended_shows_no_memory():
    program = leader_ends("one lives", 40, 60)
    with subprocess.Popen([sys.executable, "-c", program]) as process:

        def of_thread():
            for task in os.listdir(f"/proc/{process.pid}/task"):
                with open(f"/proc/{process.pid}/task/{task}/status", encoding="ascii") as file:
                    rows = dict(line.split(":", 1) for line in file.read().splitlines())
                if "RssAnon" in rows and int(rows["RssAnon"].split()[0]) >= 40 << 10:
                    return True
            return False
        try:
            cells.wait_until("a thread has it", of_thread)
            with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                assert "RssAnon" not in file.read()
        finally:
            process.kill()


@pytest.mark.parametrize("how", ENDINGS)
def test_memory_is_seen_when_the_main_thread_has_ended(user, how):
    result, taken = meter.measure(lambda: cells.run(leader_ends(how), "--memory=128M", user=user), 128)
    is_over_memory(result.manifest, 128)
    assert taken <= meter.most(128)


def test_a_program_whose_processes_are_never_seen_is_ended():
    if platform.machine() != "x86_64":
        cells.machines("the program is for x86-64")
    result, taken = meter.measure(lambda: cells.run(FLIGHT, "--memory=128M", "--timeout=60"), 128)
    assert result.manifest["status"] == "memory" and "limits.memory" in result.manifest["reason"], result
    assert taken <= meter.most(128)


def test_a_process_whose_threads_end_is_no_secret():
    """What ends by itself, and takes its time for it, is not called hidden."""
    program = f"{LEADER_ENDS}\ntake(150)\nfor _ in range(20):\n threading.Thread(target=time.sleep, args=(9,), daemon=True).start()"
    for _ in range(5):
        result = cells.run(program, "--memory=256M")
        assert result.manifest["status"] == "ok", result


@pytest.mark.parametrize("how", ["one lives", "from thread to thread"])
def test_memory_is_seen_when_the_main_thread_of_a_warm_cell_has_ended(how):
    def job():
        with siblings.Siblings(leader_ends(how), 1, policy={"guard": "off"}, limits={"memory": "128M"}) as cell:
            return cell.manifests()[0]
    manifest, taken = meter.measure(job, 128)
    is_over_memory(manifest, 128)
    assert taken <= meter.most(128)


@pytest.mark.parametrize("how", ENDINGS)
def test_memory_is_seen_when_the_main_thread_of_a_run_has_ended(how):
    def job():
        with session_client.Session("--memory=128M", "--enforcement=rlimits", "--guard=off") as session:
            return session.run(leader_ends(how)).manifest
    manifest, taken = meter.measure(job, 128)
    is_over_memory(manifest, 128)
    assert taken <= meter.most(128)


# ---- what the kernel holds for a program ----

# Each: lines that define take(much); how much outside of a cell, and the least of MB that the host then lacks; how much inside, where it
# would be 400 MB and more; and how the job ends where no cgroup counts.
HOLDS = {
    "sockets": ("""
import socket
kept = []
def take(pairs):
    for _ in range(pairs):
        kept.extend(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        for end in kept[-2:]:
            end.setblocking(False)
            try:
                while True:
                    end.send(bytes(150000))
            except BlockingIOError:
                pass
""", 200, 60, 1000, "memory"),
    "pages in sockets": ("""
import os, socket
kept = []
def take(pairs):
    file = os.open(f"{PLACE}/pages", os.O_RDWR | os.O_CREAT, 0o600)
    os.unlink(f"{PLACE}/pages")
    for _ in range(pairs):
        kept.extend(socket.socketpair())
        for end in kept[-2:]:
            end.setblocking(False)
            os.truncate(file, 0)
            os.pwrite(file, bytes(1 << 20), 0)
            try:
                for page in range(256):
                    os.sendfile(end.fileno(), file, 4096 * page, 1)
            except BlockingIOError:
                pass
""", 100, 80, 400, "error"),
    "pipes": ("""
import os
def take(pipes):
    for _ in range(pipes):
        read, write = os.pipe()
        os.set_blocking(write, False)
        try:
            while True:
                os.write(write, bytes(65536))
        except BlockingIOError:
            pass
        os.close(write)
""", 900, 40, 6400, "memory"),
    # A look at so many files takes long, and so is rare; pipes then take the place of files, whose number does not change.
    "pipes in place of files": ("""
import os, time
def take(pipes):
    file = os.open(f"{PLACE}/file", os.O_RDWR | os.O_CREAT, 0o600)
    os.write(file, b"x")
    files = [os.dup(file) for _ in range(8000)]
    time.sleep(1)
    for number in files[:pipes]:
        read, write = os.pipe()
        os.set_blocking(write, False)
        try:
            while True:
                os.write(write, bytes(65536))
        except BlockingIOError:
            pass
        os.close(write)
        os.dup2(read, number)
        os.close(read)
    time.sleep(1)
""", 1500, 40, 7900, "memory"),
    "named pipes": ("""
import os
def take(pipes):
    path = f"{PLACE}/pipe"
    for _ in range(pipes):
        os.mkfifo(path)
        pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        try:
            while True:
                os.write(pipe, bytes(65536))
        except BlockingIOError:
            pass
        os.unlink(path)
""", 900, 40, 6400, "memory"),
    "waits": ("""
import os, select
kept = []
def take(epolls):
    what = os.pipe()[0]
    kept.extend(select.epoll() for _ in range(epolls))
    for number in range(4000, 5000):  # it is known by its number, and stays though that is closed, as long as the pipe does
        os.dup2(what, number)
        for one in kept:
            one.register(number)
        os.close(number)
""", 200, 15, 1600, "memory"),
    "waits by many numbers": ("""
import os, select
kept = []
def take(epolls):  # few descriptors at a time: each file is known once for each number that it had
    files = [os.eventfd(0) for _ in range(78)]
    numbers = [os.dup(files[0]) for _ in range(78)]
    kept.extend([files, numbers, [select.epoll() for _ in range(epolls)]])
    for file in files:
        for number in numbers:
            os.dup2(file, number)
            for one in kept[2]:
                one.register(number)
""", 80, 40, 500, "memory"),
    "names": ("""
import os
def take(links):
    for number in range(links):
        os.symlink("x" * 120, f"{PLACE}/{number:0250d}")
""", 20000, 15, 250000, "memory"),
    "mappings": ("""
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def take(mappings):
    at = libc.mmap(None, 8192 * mappings, 3, 0x4022, -1, 0)
    for number in range(mappings):
        if libc.mprotect(at + 8192 * number, 4096, 1):
            break
""", 32000, 5, 1000000, "ok"),  # unless the host allows more of them than Linux does by itself
}


def holds(name, place, much):
    return f"PLACE = {str(place)!r}\n{HOLDS[name][0]}\ntake({much})\n"


@pytest.mark.parametrize("name", HOLDS)
def test_the_kernel_holds_memory_for_a_program(name):
    """What the next test wants not to be: each of these works where nobody forbids it."""
    _, much, least, _, _ = HOLDS[name]
    place = tempfile.mkdtemp(dir="/dev/shm")
    program = ("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))\n" + holds(name, place, much) +
               "print(flush=True)\ninput()")

    try:
        with meter.Meter() as taken:
            with subprocess.Popen([sys.executable, "-c", program], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                try:
                    assert process.stdout.readline() == "\n"
                    cells.wait_until("it is taken", lambda: taken.swing >= least * MB)
                finally:
                    process.kill()
    finally:
        shutil.rmtree(place)


@pytest.mark.parametrize("name", HOLDS)
def test_what_the_kernel_holds_for_a_program_counts(user, name):
    _, _, _, much, ending = HOLDS[name]
    result, taken = meter.measure(lambda: cells.run(
        holds(name, "/tmp", much) + "import time\ntime.sleep(0.5)\n", "--memory=64M", "--memory-soft=0", "--open-files=8192",
        "--tmp-files=300000", user=user), 64)
    # A kernel with less memory than this one allows a user less of some of these, and says so to the program.
    refused = cells.counts_memory(user) and result.manifest["status"] == "error"
    assert refused or result.manifest["status"] in ("memory", ending), result
    assert taken <= meter.most(64)


# The host lacks memory, and so it is looked at: at thousands of files, while it goes on.
MANY_FILES = f"""{LEADER_ENDS}
import contextlib, os
file = os.open("/tmp/file", os.O_RDWR | os.O_CREAT, 0o600)
os.write(file, b"x")
with contextlib.suppress(OSError):  # a host may allow fewer
    for _ in range(16000):
        os.dup(file)
time.sleep(1)
for mb in range(600):
    take(1)
    os.write(1, b"%d " % (mb + 1))
"""


def test_pages_are_watched_while_many_files_are_looked_at(user):
    had = []
    for _ in range(meter.TRIES):  # a launcher that gets no processor does not look
        result = cells.run(MANY_FILES, "--memory=64M", "--memory-soft=0", "--open-files=16384", user=user)
        assert result.manifest["status"] == "memory", result
        had.append(int(result.stdout.split()[-1]))
    assert min(had) <= 64 + 64, had


UNSHARES = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
CLOSE_RANGE_UNSHARE, CLOSE_RANGE_CLOEXEC = 2, 4
print([(libc.syscall(436, 500, 501, flags), os.strerror(ctypes.get_errno())) for flags in (CLOSE_RANGE_CLOEXEC, CLOSE_RANGE_UNSHARE)])
"""


def test_no_thread_gets_a_table_of_open_files_of_its_own(user):
    """In which it would have limits.open_files once more."""
    outside = subprocess.run([sys.executable, "-c", UNSHARES], capture_output=True, text=True, check=True)
    assert outside.stdout == "[(0, 'Success'), (0, 'Success')]\n"
    assert cells.run(UNSHARES, "--guard=off", user=user).stdout == "[(0, 'Success'), (-1, 'Invalid argument')]\n"


def test_a_copy_of_a_file_needs_no_sendfile(user):
    """Python tries it, and goes on without."""
    result = cells.run("""
import os, shutil
with open("/tmp/a", "wb") as file:
    file.write(os.urandom(1 << 20))
shutil.copyfile("/tmp/a", "/tmp/b")
print(open("/tmp/a", "rb").read() == open("/tmp/b", "rb").read())
""", user=user)
    assert result.stdout == "True\n", result


def test_an_event_loop_costs_no_more_than_it_did(user):
    """Its pair of sockets, and its epoll, are what every such program has."""
    plain, loop = [cells.run(code, "--memory=128M", user=user).manifest["usage"]["memory_peak"] for code in (
        "import asyncio, time\ntime.sleep(0.3)", "import asyncio\nasyncio.run(asyncio.sleep(0.3))")]
    assert loop < plain + 4 * MB


# ---- what only a cgroup counts ----

UNWATCHED = {"--processes=fork": "without locks", "--network=loopback": "without sockets"}


@pytest.mark.parametrize("option", UNWATCHED)
def test_what_cannot_be_watched_starts_only_if_somebody_says_so(user, option):
    if cells.counts_memory(user):
        assert cells.run("print(1)", option, "--enforcement=auto", user=user).manifest["warnings"] == []
        return
    name, value = option[2:].split("=")
    refused = cells.run("print(1)", option, "--enforcement=auto", user=user)
    assert refused.status == 69 and f'"{name}": "{value}" needs a cgroup that counts its memory' in refused.stderr
    assert "--enforcement rlimits" in refused.stderr and "Cgroups" in refused.stderr
    result = cells.run("print(1)", option, "--enforcement=rlimits", user=user)
    assert result.stdout == "1\n"
    assert result.manifest["limits"]["enforced_by"]["memory"] == f"rlimit+watch, {UNWATCHED[option]}"
    assert [warning for warning in result.manifest["warnings"] if "limits.memory does not count" in warning and value in warning]


def test_a_policy_may_say_that_it_is_watched(user):
    policy = {"processes": "fork", "network": "loopback", "limits": {"enforcement": "rlimits"}}
    result = cells.run("import os\nif os.fork() == 0: os._exit(0)\nos.wait()\nprint(1)", policy=policy, user=user)
    assert result.stdout == "1\n"
    assert result.manifest["limits"]["enforced_by"]["memory"] == "rlimit+watch, without sockets and locks"


# Buffers of TCP grow by themselves, to many times what a socket of another kind has.
CONNECTIONS = """
import socket, time
server, kept = socket.create_server(("127.0.0.1", 0)), []
for _ in range(100):
    kept.append(socket.create_connection(server.getsockname()))
    kept.append(server.accept()[0])
    kept[-2].setblocking(False)
block, end = bytes(1 << 20), time.monotonic() + 2
while time.monotonic() < end:
    for one in kept[::2]:
        try:
            one.send(block)
        except BlockingIOError:
            pass
"""


def test_what_waits_in_connections_counts_as_far_as_it_can_be_told(user):
    result, taken = meter.measure(
        lambda: cells.run(CONNECTIONS, "--memory=128M", "--memory-soft=0", "--open-files=1024", "--network=loopback", user=user), 128)
    assert result.manifest["status"] == "memory", result
    assert taken <= meter.most(128)


def test_a_sessions_peak_is_that_of_its_largest_run():
    session = session_client.Session("--memory=256M", "--enforcement=rlimits", "--guard=off")
    with session:
        session.run("import time\nlarge = bytearray(80 << 20)\nlarge[::4096] = b'x' * len(large[::4096])\ntime.sleep(0.3)")
        session.run("del large\nimport time\ntime.sleep(0.1)")
        session.run("1 + 1")
        session.close()
    manifest = json.loads((session.output / "manifest.json").read_text())
    assert manifest["usage"]["memory_peak"] >= 80 * MB
