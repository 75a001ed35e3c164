"""Side channels: what a cell learns of its host and of other cells, and what two cells can tell each other.

What works between two plain processes of one user is shown to work there first, and then not to work between two cells
at the same time: as an ordinary user, whose cells have one uid on the host, and as root, whose cells have two.

What stays open, as no filter and no namespace closes it:
- time: cells share processors, caches, memory and disks, and each can measure how busy they are;
- the processor tells its model (cpuid), since when it runs (rdtsc, cntvct), and the kernel its version (uname);
- a file of the tree or an input that was read not long ago is in memory, and is read faster the next time;
- processes of one host user share that user's account of pipe pages and of what kernels count besides: of cells of
  an ordinary user, many together can use it up, and notice that; those of root have a uid each;
- futexes on a page of a file that both can read, which need not be written to: filters see no addresses, and threads are
  joined by such calls;
- with processes: "fork" record locks are the kernel's, and on files that cells share they are seen by both.
"""

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cells

GUARD = "off"  # the kernel holds without it

PROBE = """
import ctypes, errno, fcntl, json, mmap, os, platform, socket, struct, sys, time
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
NUMBERS = dict(zip(("add_key", "request_key", "keyctl", "shmget", "shmat", "semget", "semctl", "msgget", "msgrcv", "msgsnd", "mq_open",
                    "inotify_init1", "inotify_add_watch", "fcntl", "flock", "preadv2", "mincore", "cachestat", "sysinfo", "times", "statfs",
                    "fstatfs", "madvise", "fadvise64", "fanotify_init", "sendmsg", "perf_event_open", "statmount", "listmount", "statx",
                    "getsockopt"),
    {"x86_64": (248, 249, 250, 29, 30, 64, 66, 68, 70, 69, 240, 294, 254, 72, 73, 327, 27, 451, 99, 100, 137, 138, 28, 221, 300, 46, 298,
                457, 458, 332, 55),
     "aarch64": (217, 218, 219, 194, 196, 190, 191, 186, 188, 189, 180, 26, 27, 25, 32, 286, 232, 451, 179, 153, 43, 44, 233, 223, 262,
                 211, 241, 457, 458, 291, 209)}[platform.machine()]))

def call(name, *arguments):
    '''A system call, whatever the C library makes of it.'''
    result = LIBC.syscall(ctypes.c_long(NUMBERS[name]), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result
""" + cells.ATTEMPT


def probe(code, *options, **arguments):
    return cells.run(PROBE + code, *options, **arguments).facts()


# ---- from one cell to the other ----

LOCK = """
def lock(path, mode, command, kind, start):
    fd = os.open(path, mode)  # stays open
    answer = ctypes.create_string_buffer(struct.pack("hhqqi4x", kind, os.SEEK_SET, start, 1 if start else 0, 0), 32)
    call("fcntl", fd, command, answer)
    return struct.unpack("hhqqi4x", answer.raw)
def locked(path, mode, command):
    kind, _, start, _, _ = lock(path, mode, command, fcntl.F_WRLCK, 0)
    return start if kind != fcntl.F_UNLCK else None
"""
CACHE = """
def fill():
    with open(SHARED, "rb", buffering=0) as file:
        file.read()
"""


@dataclasses.dataclass(frozen=True)
class Channel:
    """send() in one program, with TOKEN, from 1 to 100; then receive() in another gives that, or something else.

    prepare() is called in the receiver before the sender starts. SHARED is a file that both can read, SENDER the other
    program's process on the host, KEY a number that is free for use."""
    send: str
    receive: str
    shared: str = ""  # programs' common part
    prepare: str = "pass"
    one_bit: bool = False  # received is 1 or nothing
    options: tuple = ()


def record_lock(path, mode, kind, command="F_SETLK", query="F_GETLK"):
    return Channel(f"lock({path}, os.{mode}, fcntl.{command}, fcntl.{kind}, TOKEN)",
                   f"return locked({path}, os.{mode}, fcntl.{query})", LOCK)


CHANNELS = {
    "record lock on /dev/null": record_lock("'/dev/null'", "O_RDWR", "F_WRLCK"),
    "record lock on an input": record_lock("SHARED", "O_RDONLY", "F_RDLCK"),
    "record lock on a file of the tree": record_lock("os.__file__", "O_RDONLY", "F_RDLCK"),
    "record lock on the program": record_lock("'/proc/self/exe'", "O_RDONLY", "F_RDLCK"),
    "open file lock on /dev/null": record_lock("'/dev/null'", "O_RDWR", "F_WRLCK", "F_OFD_SETLK", "F_OFD_GETLK"),
    "open file lock on an input": record_lock("SHARED", "O_RDONLY", "F_RDLCK", "F_OFD_SETLK", "F_OFD_GETLK"),
    "flock on an input": Channel("call('flock', os.open(SHARED, os.O_RDONLY), fcntl.LOCK_EX)", """
    if attempt(call, 'flock', os.open(SHARED, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB) == "EAGAIN":
        return 1""", one_bit=True),
    "lease of an input": Channel("os.open(SHARED, os.O_RDONLY)", """
    if attempt(call, 'fcntl', os.open(SHARED, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_WRLCK) == "EAGAIN":
        return 1""", one_bit=True),
    "keyring of the user": Channel("call('keyctl', 5, call('add_key', b'user', b'hotcell-test', b'%03d' % TOKEN, 3, -4), 0x3f3f0000)", """
    key = call('keyctl', 10, -4, b'user', b'hotcell-test', 0)
    value = ctypes.create_string_buffer(8)
    call('keyctl', 11, key, value, 8)
    return int(value.value)"""),
    "request for a key": Channel("call('keyctl', 5, call('add_key', b'user', b'hotcell-test-2', b'%03d' % TOKEN, 3, -4), 0x3f3f0000)", """
    value = ctypes.create_string_buffer(8)
    call('keyctl', 11, call('request_key', b'user', b'hotcell-test-2', 0, -4), value, 8)
    return int(value.value)"""),
    "persistent keyring": Channel("""
    call('keyctl', 5, call('add_key', b'user', b'hotcell-test-3', b'%03d' % TOKEN, 3, call('keyctl', 22, -1, -2)), 0x3f3f0000)""", """
    value = ctypes.create_string_buffer(8)
    call('keyctl', 11, call('keyctl', 10, call('keyctl', 22, -1, -2), b'user', b'hotcell-test-3', 0), value, 8)
    return int(value.value)"""),
    "System V memory": Channel("""
    LIBC.shmat.restype = ctypes.c_void_p
    at = LIBC.shmat(call('shmget', KEY, 4096, 0o1666), None, 0)
    ctypes.memset(at, TOKEN, 1)""", """
    LIBC.shmat.restype = ctypes.c_void_p
    return ctypes.string_at(LIBC.shmat(call('shmget', KEY, 4096, 0o666), None, 0), 1)[0]"""),
    "System V semaphore": Channel("call('semctl', call('semget', KEY, 1, 0o1666), 0, 16, TOKEN)",
                                  "return call('semctl', call('semget', KEY, 1, 0o666), 0, 12, 0)"),
    "System V message": Channel("call('msgsnd', call('msgget', KEY, 0o1666), struct.pack('q8s', TOKEN, b''), 8, 0)", """
    message = ctypes.create_string_buffer(16)
    call('msgrcv', call('msgget', KEY, 0o666), message, 8, 0, 0)
    return struct.unpack('q8x', message.raw)[0]"""),
    "POSIX queue": Channel("call('mq_open', b'hotcell-test-%d' % KEY, os.O_CREAT | os.O_RDWR, 0o600, 0)", """
    call('mq_open', b'hotcell-test-%d' % KEY, os.O_RDWR, 0o600, 0)
    return 1""", one_bit=True),
    "POSIX shared memory": Channel("open(f'/dev/shm/hotcell-test-{KEY}', 'w').write(str(TOKEN))",
                                   "return int(open(f'/dev/shm/hotcell-test-{KEY}').read())"),
    "temporary directory": Channel("open(f'/tmp/hotcell-test-{KEY}', 'w').write(str(TOKEN))",
                                   "return int(open(f'/tmp/hotcell-test-{KEY}').read())"),
    "abstract socket": Channel("""
    global server
    server = socket.socket(socket.AF_UNIX)
    server.bind(f"\\0hotcell-test-{KEY}")
    server.listen()""", """
    socket.socket(socket.AF_UNIX).connect(f"\\0hotcell-test-{KEY}")
    return 1""", one_bit=True, options=("--network=loopback",)),
    "name of a socket that the program was started with": Channel("own_socket().bind(f'\\0hotcell-test-{KEY}')", """
    return 1 if attempt(own_socket().bind, f"\\0hotcell-test-{KEY}") == "EADDRINUSE" else None""", '''
KEPT = []
def own_socket():
    """The control channel; outside of a cell, a socket like it."""
    try:
        KEPT.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=os.dup(3)))
    except OSError:
        KEPT.extend(socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
    return KEPT[-1]
''', one_bit=True, options=("--network=loopback",)),
    "port of the loopback interface": Channel("""
    global server
    server = socket.create_server(("127.0.0.1", 20000 + KEY % 10000))""", """
    socket.create_connection(("127.0.0.1", 20000 + KEY % 10000)).close()
    return 1""", one_bit=True, options=("--network=loopback",)),
    "signal to all that one may": Channel("pass", "return 1 if attempt(os.kill, SENDER, 0) is None else None", one_bit=True),
    "notification of reads": Channel("open(os.__file__).read()", """
    import select
    if select.select([watch], [], [], 5)[0] and os.read(watch, 4096):
        return 1""", prepare="""
    global watch
    watch = call('inotify_init1', 0)
    call('inotify_add_watch', watch, os.__file__.encode(), 0x20)""", one_bit=True),
    "access time of an input": Channel("fill()", "return 1 if time.time() - os.stat(SHARED).st_atime < 1800 else None",
                                       CACHE, one_bit=True),
    "times of what is read as standard input": Channel("os.utime(empty())", """
    return 1 if os.stat("/dev/null").st_mtime_ns != before else None""", '''
def empty():
    """Standard input, which is /dev/null in a cell."""
    return 0 if os.path.samestat(os.fstat(0), os.stat("/dev/null")) else os.open("/dev/null", os.O_RDONLY)
''', prepare="""
    global before
    before = os.stat("/dev/null").st_mtime_ns""", one_bit=True),
    "reads that do not wait": Channel("fill()", """
    buffer = ctypes.create_string_buffer(1)
    vector = ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(buffer), 1))
    return call('preadv2', os.open(SHARED, os.O_RDONLY), vector, 1, 8192, 0, 8)""", CACHE, one_bit=True),
    "pages of a mapping that are in memory": Channel("fill()", """
    LIBC.mmap.restype = ctypes.c_void_p
    at = LIBC.mmap(None, ctypes.c_size_t(4096), 1, 2, os.open(SHARED, os.O_RDONLY), ctypes.c_long(8192))
    answer = ctypes.create_string_buffer(1)
    call('mincore', ctypes.c_void_p(at), 4096, answer)
    return answer.raw[0] & 1""", CACHE, one_bit=True),
    "cached pages of a file": Channel("fill()", """
    answer = ctypes.create_string_buffer(40)
    call('cachestat', os.open(SHARED, os.O_RDONLY), struct.pack("QQ", 8192, 4096), answer, 0)
    return struct.unpack("Q", answer.raw[:8])[0]""", CACHE, one_bit=True),
    "descriptors on their way": Channel("""
    global pair
    pair = socket.socketpair()
    while True:
        try:
            socket.send_fds(pair[0], [b"x"], list(range(3)) * 80)
        except OSError as error:
            return""", """
    one, other = socket.socketpair()
    return 1 if attempt(socket.send_fds, one, [b"x"], [0]) == "ETOOMANYREFS" else None""", one_bit=True),
}

NO_PROCESS = (1 << 22) + 1  # more than there can be
TRIES = 30  # outside: a read that does not wait may start one, and disks are quick enough to have it there at once, now and then

RECEIVER = """
def heard():
    global SENDER
    prepare()
    report(ready=True)
    SENDER = gate()
    return receive()
try:
    report(received=heard())
except Exception as error:
    report(received=repr(error))
"""
WAIT_FOR_FILE = """
def gate():
    while os.stat(GATE).st_size == 0:
        time.sleep(0.005)
    return int(open(GATE).read())
"""
WAIT_FOR_TOOL = """
def gate():
    return tools.gate()
"""
SENDER = """
send()
report(sent=True)
time.sleep(600)
"""
TIDY = """
for remove in (lambda: LIBC.shmctl(LIBC.shmget(KEY, 0, 0), 0, None), lambda: LIBC.msgctl(LIBC.msgget(KEY, 0), 0, None),
               lambda: LIBC.semctl(LIBC.semget(KEY, 0, 0), 0, 0), lambda: ctypes.CDLL("librt.so.1").mq_unlink(b"/hotcell-test-%d" % KEY),
               lambda: call("keyctl", 7, -4), lambda: call("keyctl", 7, call("keyctl", 22, -1, -2)),
               lambda: os.unlink(f"/dev/shm/hotcell-test-{KEY}"), lambda: os.unlink(f"/tmp/hotcell-test-{KEY}")):
    try:
        remove()
    except OSError:
        pass
"""


def functions(channel, **values):
    """The common part of both programs."""
    text = PROBE + channel.shared + "".join(f"{name} = {value!r}\n" for name, value in values.items())
    for name in ("prepare", "send", "receive"):
        body = getattr(channel, name).strip("\n")
        text += f"def {name}():\n{body if body.startswith(' ') else '    ' + body}\n"
    return text


class Pair:
    """Two programs, the file that they share, and what tells the second to look."""

    def __init__(self, channel, user):
        self.channel, self.user = channel, user
        self.directory = cells.new_directory(user)
        self.key = int.from_bytes(os.urandom(3), "big") + 1
        self.token = 1 if channel.one_bit else self.key % 100 + 1
        self.shared, self.gate = self.directory / "shared.bin", self.directory / "gate.txt"
        self.shared.write_bytes(os.urandom(65536))
        self.gate.write_bytes(b"")
        self.tool = self.directory / "gate"  # for cells: what is an input of a warm one stays as it was
        self.tool.write_text(f"#!/bin/sh\nuntil [ -s {self.gate} ]; do sleep 0.01; done\ncat {self.gate}\n")
        self.tool.chmod(0o755)
        for path in (self.shared, self.gate):
            if cells.IS_ROOT:
                os.chown(path, user.uid, user.uid)

    def forget(self):
        """The shared file was read long ago, and is not in memory."""
        now = time.time()
        os.utime(self.shared, (now - 200000, now - 100000))
        with open(self.shared, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def run(self, start, paths, sends=True):
        """What the receiver hears; a text, if it was refused what it needs."""
        text = functions(self.channel, TOKEN=self.token, KEY=self.key, **paths)
        self.gate.write_bytes(b"")
        with start(text + RECEIVER) as receiver:
            answer = json.loads(receiver.stdout.readline())
            if "ready" not in answer:
                return answer["received"]
            self.forget()
            with start(text + SENDER) if sends else contextlib.nullcontext() as sender:
                if sends:
                    sender.stdout.readline()
                self.gate.write_text(str(sender.seen_as if sends else NO_PROCESS))
                return json.loads(receiver.stdout.readline())["received"]


@contextlib.contextmanager
def plain(pair, code):
    """A program outside of a cell, as the user whose cells it is about."""
    path = pair.directory / f"plain-{os.urandom(4).hex()}.py"
    path.write_text(WAIT_FOR_FILE + code)
    with subprocess.Popen([sys.executable, "-I", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          cwd="/", **pair.user.popen_arguments()) as process:
        process.seen_as = process.pid
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def in_cell(pair, user, code):
    given = [f"--input=shared={pair.shared}", f"--tool=gate={pair.tool}"]
    with cells.start(WAIT_FOR_TOOL + code, "--timeout=60s", *given, *pair.channel.options, user=user) as job:
        process = job.process
        process.seen_as = 0
        line = process.stdout.peek(1)
        if line:
            process.seen_as = ([NO_PROCESS] + job.descendants())[-1]  # of one that was refused what it needs there may be none left
        yield process


# An input of a warm cell is a copy that has just been made: its access time says nothing of anybody else.
IN_NO_CELL = ["access time of an input"] if cells.is_warm() else []


@pytest.mark.parametrize("name", [name for name in CHANNELS if name not in IN_NO_CELL])
def test_what_works_between_processes_does_not_between_cells(name, user):
    channel, ordinary = CHANNELS[name], cells.ordinary()
    outside = Pair(channel, ordinary)
    paths = {"SHARED": str(outside.shared), "GATE": str(outside.gate)}
    for _ in range(TRIES):
        silent = outside.run(lambda code: plain(outside, code), paths, sends=False)
        heard = outside.run(lambda code: plain(outside, code), paths)
        if heard == outside.token != silent:
            break
    with plain(outside, PROBE + f"KEY = {outside.key}\n" + TIDY) as tidy:
        tidy.wait()
    if heard != outside.token or silent == outside.token:
        cells.skip(f"does not work on this host even without cells: {silent} without a sender, {heard} with one")
    inside = Pair(channel, user)
    paths = {"SHARED": "/input/shared.bin"}
    heard = inside.run(lambda code: in_cell(inside, user, code), paths)
    assert heard != inside.token


# ---- the host ----

def test_clocks_start_with_the_cell(user):
    """How long the host has been up is not told by any clock.

    The processor's own counter (rdtsc, cntvct) can be read by every program and tells it all the same. By how much the
    monotonic clock differs from the raw one says how far the host's clock has been corrected since it was started.
    """
    result = cells.run(PROBE + """
report(times=os.times().elapsed,
       **{name: time.clock_gettime(getattr(time, f"CLOCK_{name}")) for name in ("MONOTONIC", "MONOTONIC_RAW", "BOOTTIME")})
""", user=user)
    facts = result.facts()
    limit = 60 * cells.SLOWNESS
    if time.clock_gettime(time.CLOCK_BOOTTIME) <= limit:
        pytest.skip("the host was started just now: this would show nothing")
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


PROC = ("uptime", "loadavg", "stat", "meminfo", "vmstat", "zoneinfo", "buddyinfo", "slabinfo", "interrupts", "softirqs", "schedstat",
        "diskstats", "partitions", "swaps", "mounts", "filesystems", "locks", "keys", "key-users", "sysvipc/shm", "sysvipc/sem",
        "sysvipc/msg", "net/unix", "net/tcp", "net/dev", "pressure/cpu", "pressure/memory", "cpuinfo", "version", "cmdline", "modules",
        "kallsyms", "timer_list", "sched_debug", "cgroups", "sys/kernel/random/boot_id", "sys/kernel/hostname",
        "sys/kernel/core_pattern", "sys/fs/file-nr", "sys/fs/inode-nr", "sys/fs/dentry-state", "sys/kernel/ns_last_pid")
OF_A_PROCESS = ("mountinfo", "mounts", "mountstats", "cgroup", "uid_map", "gid_map", "timens_offsets", "stat", "sched", "schedstat",
                "status", "maps", "smaps", "pagemap", "io", "cpuset", "net/unix", "net/tcp", "net/dev", "net/sockstat", "environ", "auxv",
                "wchan", "syscall", "stack", "numa_maps", "latency", "oom_score", "sessionid", "loginuid")


@pytest.mark.parametrize("processes", ["none", "fork"])
def test_proc_has_no_file_that_can_be_read(user, processes):
    """Neither about the machine, nor about a process: its cgroup, ids and mounts as the host has them, and by how much
    its clocks are set back."""
    result = cells.run(PROBE + f"""
report(machine={{name: attempt(open, f"/proc/{{name}}", "rb") for name in {PROC}}},
       own={{name: attempt(open, f"/proc/self/{{name}}", "rb") for name in {OF_A_PROCESS}}},
       walked=[path for path in os.walk("/proc")])
""", f"--processes={processes}", user=user)
    facts = result.facts()
    assert set([*facts["machine"].values(), *facts["own"].values()]) == {"ENOENT"}, facts
    assert facts["walked"] == [["/proc", [], []]]


REFUSED = """
page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
at = ctypes.addressof(ctypes.c_char.from_buffer(page))
room = ctypes.create_string_buffer(512)
tree, pair = os.open(os.__file__, os.O_RDONLY), socket.socketpair()
vector = ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(room), 1))
answers = {what: attempt(call, *arguments) for what, arguments in {
    "memory, load and processes": ("sysinfo", room),
    "time since the host was started": ("times", room),
    "room on the disk of the tree": ("statfs", b"/usr", room),
    "room on a disk, by descriptor": ("fstatfs", tree, room),
    "pages in memory": ("mincore", ctypes.c_void_p(at), 4096, room),
    "pages in memory, by descriptor": ("cachestat", tree, struct.pack("QQ", 0, 4096), room, 0),
    "read only what is in memory": ("preadv2", tree, vector, 1, 0, 0, 8),
    "take a file out of memory": ("fadvise64", tree, 0, 0, 4),
    "write pages out": ("madvise", ctypes.c_void_p(at), 4096, 21),
    "make pages cold": ("madvise", ctypes.c_void_p(at), 4096, 20),
    "share equal pages with others": ("madvise", ctypes.c_void_p(at), 4096, 12),
    "pass descriptors on": ("sendmsg", 3, room, 0),
    "lock of an open file": ("fcntl", tree, 37, struct.pack("hhqqi4x", 0, 0, 0, 0, 0)),
    "record lock": ("fcntl", tree, fcntl.F_SETLK, struct.pack("hhqqi4x", 0, 0, 0, 0, 0)),
    "question about record locks": ("fcntl", tree, fcntl.F_GETLK, struct.pack("hhqqi4x", 1, 0, 0, 0, 0)),
    "notification of directories": ("fcntl", tree, 1026, 1),
    "lease": ("fcntl", tree, fcntl.F_SETLEASE, 0),
    "mounts by number": ("statmount", room, room, 512, 0),
    "list of mounts": ("listmount", room, room, 8, 0),
    "number of mounts since the host was started": ("statx", -100, b"/", 0, 0x4000, room),  # STATX_MNT_ID_UNIQUE
    "number of networks since the host was started": ("getsockopt", pair[0].fileno(), socket.SOL_SOCKET, 71, room, struct.pack("i", 8)),
    "counters of the processor": ("perf_event_open", room, 0, -1, -1, 0),
    "notification of reads": ("inotify_init1", 0),
    "notification of all reads": ("fanotify_init", 0, 0),
}.items()}
"""


def test_calls_that_tell_of_the_host_or_of_other_cells_are_refused(user):
    path = cells.new_directory(cells.ordinary()) / "outside.py"
    path.write_text(f"{PROBE}{REFUSED}report(**answers)")
    outside = subprocess.run([sys.executable, "-I", path], capture_output=True, text=True, check=True,
                             **cells.ordinary().popen_arguments())
    outside = json.loads(outside.stdout)
    inside = probe(REFUSED + "report(**answers)", user=user)
    assert None not in inside.values(), inside
    # Some cannot succeed with these arguments, or not for everybody: then with another errno, save where it is the same.
    same = {what for what, error in outside.items() if error == inside[what]}
    assert same <= {"lease", "pages in memory, by descriptor", "mounts by number", "list of mounts", "notification of all reads",
                    "counters of the processor", "share equal pages with others", "write pages out", "make pages cold",
                    "read only what is in memory"}, same  # not of every file system


def test_reading_changes_no_access_time(user):
    """Neither that of an input, by the program or by the launcher, nor that of a file of the tree."""
    data = cells.new_directory(user) / "data.txt"
    data.write_text("x")
    if cells.IS_ROOT:
        os.chown(data, user.uid, user.uid)
    tree = Path(cells.tree_path("base")) / "root/etc/services"
    for path in (data, tree):
        if os.stat(path).st_uid not in (os.geteuid(), user.uid) and not cells.IS_ROOT:
            cells.skip(f"{path} is not ours")
        days = int(time.time()) // 86400 * 86400  # the same for all who run this at once: the tree is the same, too
        os.utime(path, (days - 200000, os.stat(path).st_mtime))
    cells.hotcell("tree", "verify", "base")  # what was changed a moment ago would be read, and compared, before each run
    before = [os.stat(path).st_atime_ns for path in (data, tree)]
    probe("report(read=[len(open(path, 'rb').read()) for path in ('/input/data.txt', '/etc/services')])",
          "--input", f"data={data}", user=user)
    assert [os.stat(path).st_atime_ns for path in (data, tree)] == before


# ---- the next job ----

def with_uid(uid):
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="utf-8") as file:
            if f"\nUid:\t{uid}\t" in file.read():
                found.add(int(pid))
    return found


def test_a_uid_is_given_on_when_nothing_of_the_last_job_is_left(base_tree):
    """Processes; files are in mounts that went with them; keys and queues cannot be made. Then the launcher gives the
    uid back, last of all but its own memory."""
    cells.need_root()
    uid = 20000 + os.getpid() % 5000
    env = {"HOTCELL_UID_RANGE": f"{uid}:1"}
    code = "import os, time\nfor _ in range(4): os.fork() or time.sleep(60)\nos.write(1, b'1\\n'); time.sleep(60)"
    with cells.start(code, "--processes=fork", "--timeout=2s", "--grace=0", env=env) as first:
        first.read_line()
        assert with_uid(uid) >= set(first.descendants())
        refused = cells.run("print(1)", env=env)
        assert refused.status == 69 and "host uids of HOTCELL_UID_RANGE are in use" in refused.stderr
        while True:  # until the first one's time is over, and its uid is free
            second = cells.start("import time; print(1, flush=True); time.sleep(60)", env=env)
            with second:
                if second.process.stdout.readline():
                    left = with_uid(uid) - set(second.descendants())
                    assert not left
                    break
        first.finish()


def test_room_is_known_of_what_the_cell_may_write_to(user):
    facts = probe("""
import shutil
with open("/output/file", "wb") as file:
    file.write(bytes(100000))
    file.flush()
    report(output=shutil.disk_usage("/output"), by_descriptor=os.fstatvfs(file.fileno()).f_bfree,
           tmp=shutil.disk_usage("/tmp"), tree=[attempt(os.statvfs, path) for path in ("/", "/usr", "/dev/null")],
           missing=attempt(os.statvfs, "/output/missing"))
""", "--output-size=1M", "--tmp-size=2M", user=user)
    assert facts["output"] == [1 << 20, 102400, (1 << 20) - 102400] and facts["by_descriptor"] == 231
    assert facts["tmp"] == [2 << 20, 0, 2 << 20]
    assert facts["tree"] == ["EPERM"] * 3 and facts["missing"] == "ENOENT"


def test_a_policy_can_have_the_room_on_disks_back(base_tree):
    facts = probe("report(tree=attempt(os.statvfs, '/usr'))", policy={"syscalls": {"allow": ["file_systems"]}})
    assert facts == {"tree": None}


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
