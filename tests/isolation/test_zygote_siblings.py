"""What is between a zygote and its cells, and between cells of one zygote: copies of one process that share nothing."""

import contextlib
import ctypes
import json
import os
import random
import subprocess
import sys
from signal import SIGCHLD

import cells
import pytest
import siblings
import test_side_channels
from siblings import SIBLINGS, Each, Siblings, parent

LIBC = ctypes.CDLL(None, use_errno=True)
SYS_KCMP = {"x86_64": 312, "aarch64": 272}[os.uname().machine]
KCMP = {"FILE": 0, "VM": 1, "FILES": 2, "FS": 3, "SIGHAND": 4, "IO": 5, "SYSVSEM": 6}


@pytest.fixture(autouse=True)
def built(base_tree):
    if not SIBLINGS.exists():
        cells.skip(f"{SIBLINGS} is not built: run 'make warm'")


def status_of(pid):
    return dict(line.split(":\t", 1) for line in cells._read(f"/proc/{pid}/status").splitlines() if ":\t" in line)


def child(pid):
    return int(cells._read(f"/proc/{pid}/task/{pid}/children"))


# ---- the zygote's own walls ----

def test_a_zygote_is_locked_in_itself(user):
    with Siblings("print(1)", 1, user) as family:
        zygote = parent(family.pids[0])
        status, own = status_of(zygote), status_of("self")
        namespaces = {name: os.readlink(f"/proc/{zygote}/ns/{name}") for name in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
                      if os.access(f"/proc/{zygote}/ns/{name}", os.R_OK)} if cells.IS_ROOT else {}
        memory = os.stat(f"/proc/{zygote}/mem")
        assert [m["status"] for m in family.manifests()] == ["ok"]
    ids = f"{1 << 6 | 1 << 7:016x}" if user.is_root else "0" * 16  # CAP_SETGID and CAP_SETUID, in its own user namespace
    assert {status[name] for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {ids} and status["CapBnd"] == "0" * 16
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert int(status["Seccomp_filters"]) == int(own["Seccomp_filters"]) + 1
    assert status["NSpid"].split()[-1] == "2" and memory.st_uid == 0  # nobody may look into it
    assert all(where != os.readlink(f"/proc/self/ns/{name}") for name, where in namespaces.items())


# With these arguments each succeeds or fails with another errno than ENOSYS, where there is no filter.
FORBIDDEN = """
import ctypes, errno, platform
LIBC = ctypes.CDLL(None, use_errno=True)
CALLS = [(name, [x86, arm][platform.machine() == "aarch64"], arguments) for name, x86, arm, *arguments in [
    ("ptrace", 101, 117, 16, 0), ("process_vm_readv", 310, 270, 0), ("process_madvise", 440, 440, -1), ("pidfd_getfd", 438, 438, -1, -1),
    ("kcmp", 312, 272, 0, 0, -1), ("bpf", 321, 280, -1), ("perf_event_open", 298, 241, 0, 0, -1, -1, -1), ("io_uring_setup", 425, 425, 0),
    ("userfaultfd", 323, 282, -1), ("keyctl", 250, 219, -1), ("add_key", 248, 217, 0), ("socket INET", 41, 198, 2, 2, 0),
    ("socket NETLINK", 41, 198, 16, 3, 0), ("socket PACKET", 41, 198, 17, 3, 0), ("bind", 49, 200, -1, 0, 12), ("connect", 42, 203, -1, 0, 0),
    ("execve", 59, 221, 0), ("chroot", 161, 51, 0), ("pivot_root", 155, 41, 0, 0), ("umount2", 166, 39, 0), ("mount", 165, 40, 0, 0, 0, 0),
    ("bind mount", 165, 40, 0, 0, 0, 4096), ("fspick", 433, 433, -1, 0, -1), ("open_tree without a copy", 428, 428, -1, 0, 0),
    ("move_mount by name", 429, 429, -1, 0, -1, 0, 0), ("mount_setattr of all below", 442, 442, -1, 0, 0x8000),
    ("unshare USER", 272, 97, 0x10000000), ("unshare MOUNT", 272, 97, 0x20000), ("setns", 308, 268, -1, 0), ("setns PID", 308, 268, -1, 0x20000000),
    ("setns MOUNT", 308, 268, -1, 0x20000), ("open_by_handle_at", 304, 265, -1, 0, 0), ("personality", 135, 92, 0xffffffff),
    ("setgroups", 116, 159, -1, 0), ("setfsuid", 122, 151, -1), ("mknodat", 259, 33, -1, 0, 0o20000), ("memfd_create", 319, 279, 0, -1),
    ("prctl MM", 157, 167, 35, 0), ("shmget", 29, 194, 0, 0, 0), ("mq_open", 240, 180, 0), ("inotify_init1", 294, 26, -1), ("flock", 73, 32, -1, 2),
    ("setxattr", 188, 5, 0), ("ioctl TIOCSTI", 16, 29, 0, 0x5412), ("ioctl SIOCSIFADDR", 16, 29, 0, 0x8916)]]
def call(number, arguments):
    ctypes.set_errno(0)
    LIBC.syscall(*[ctypes.c_long(a) for a in (number, *arguments, 0, 0, 0, 0)])
    return errno.errorcode.get(ctypes.get_errno(), "done")
answers = {name: call(number, arguments) for name, number, arguments in CALLS}
"""


def test_a_zygote_cannot_call_what_making_cells_does_not_need(user):
    """The policy's own code runs in it: here it tries, and a program that is not in any cell does the same."""
    warm = {"code": FORBIDDEN + "import sys; sys.found = answers"}
    with Siblings("import json, sys; print(json.dumps(sys.found))", 1, user, {"warm": warm, "guard": "off"}) as family:
        manifest, = family.manifests()
    outside = subprocess.run([sys.executable, "-I", "-c", FORBIDDEN + "import json; print(json.dumps(answers))"], text=True,
                             capture_output=True, check=True, **cells.ordinary().popen_arguments())
    inside, outside = json.loads(manifest["stdout"]["text"]), json.loads(outside.stdout)
    assert set(inside.values()) == {"ENOSYS"}, {name: error for name, error in inside.items() if error != "ENOSYS"}
    unknown = {name for name, error in outside.items() if error == "ENOSYS"}  # to this kernel
    assert unknown <= {"bpf", "perf_event_open", "io_uring_setup", "keyctl", "add_key", "userfaultfd", "mq_open"}, unknown


# ---- the first process of a cell ----

def test_the_first_process_has_nothing_of_the_zygote_and_cannot_be_looked_into(user):
    cells.need_root()
    with Siblings("print(1)", 1, user) as family:
        first, = family.pids
        status, program = status_of(first), os.readlink(f"/proc/{first}/exe")
        files = {line.split()[5] for line in cells._read(f"/proc/{first}/maps").splitlines() if len(line.split()) > 5}
        owner, environment = os.stat(f"/proc/{first}/mem").st_uid, cells._read(f"/proc/{first}/environ")
        limits = {line[:25].strip(): line[26:46].strip() for line in cells._read(f"/proc/{first}/limits").splitlines()}
        assert [m["status"] for m in family.manifests()] == ["ok"]
    assert status["Name"] == "hotcell-init" and status["NSpid"].split()[-1] == "1" and status["Threads"] == "1"
    assert program.startswith("/memfd:hotcell-init ") and {name for name in files if name[0] == "/"} == {"/memfd:hotcell-init"}
    assert owner == 0 and environment == ""
    assert {status[name] for name in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"], limits["Max core file size"]) == ("1", "2", "0")
    # It waits for them by a descriptor; none has a handler, which is what would let a cell's processes send it.
    assert int(status["SigBlk"], 16) == 1 << SIGCHLD - 1 and int(status["SigCgt"], 16) == 0


def test_where_memory_cannot_be_executed_cells_are_warm_all_the_same(monkeypatch):
    cells.need_root()
    if not os.path.exists("/proc/sys/vm/memfd_noexec"):
        cells.skip("the kernel lets all memory be executed")
    monkeypatch.setattr(cells, "HOTCELL", cells.BUILD / "warm" / "hotcell")
    wrapper = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
               'echo 2 >/proc/sys/vm/memfd_noexec && exec "$@"', "sh"]
    with cells.start("import time\nprint('here', flush=True)\ntime.sleep(1000)", wrapper=wrapper) as job:
        assert job.read_line() == "here"
        programs = {status_of(pid)["Name"]: os.readlink(f"/proc/{pid}/exe") for pid in job.descendants()}
    assert set(programs) == {"hotcell-init", "python3"} and len(set(programs.values())) == 1, programs


def test_the_first_process_fits_into_the_smallest_files_that_a_policy_can_ask_for(user, monkeypatch):
    monkeypatch.setattr(cells, "HOTCELL", cells.BUILD / "warm" / "hotcell")
    result = cells.run("print(1)", "--file-size=4K", env={"HOTCELL_WARM_SAY": "1"}, user=user)
    assert "warm: yes\n" in result.stderr and result.stdout == "1\n", result


# ---- nothing in common ----

def same(kind, one, other, *descriptors):
    """Is it one and the same kernel object?"""
    result = LIBC.syscall(SYS_KCMP, one, other, KCMP[kind], *(descriptors or (0, 0)))
    assert result >= 0, (kind, one, other, descriptors, os.strerror(ctypes.get_errno()))
    return result == 0


def descriptors(pid):
    return {int(name) for name in os.listdir(f"/proc/{pid}/fd")}


def shared_mappings(pid):
    return [line for line in cells._read(f"/proc/{pid}/maps").splitlines() if line.split()[1][3] == "s"]


def test_copies_of_a_zygote_have_no_descriptor_and_no_memory_in_common(user):
    cells.need_root()
    with Siblings("print(1)", 2, user, {"warm": {"imports": ["random", "logging", "ssl", "decimal", "sqlite3"]}}) as family:
        zygote = parent(family.pids[0])
        cell_1, cell_2 = [(pid, child(pid)) for pid in family.pids]
        for pid in (*cell_1, *cell_2):
            assert not shared_mappings(pid)
            assert descriptors(pid) == ({0, 1, 2, 3} if pid in (cell_1[1], cell_2[1]) else {0, 5})  # that of its signals, and the status
        for one, other in [(a, b) for a in cell_1 for b in cell_2] + [(a, zygote) for a in (*cell_1, *cell_2)]:
            assert not [kind for kind in KCMP if kind not in ("FILE", "SYSVSEM", "IO") and same(kind, one, other)]
            common = [(a, b) for a in descriptors(one) for b in descriptors(other) if same("FILE", one, other, a, b)]
            assert not common, (one, other, common)
        assert [m["status"] for m in family.manifests()] == ["ok", "ok"]


LEFT = {
    "a file": ("import sys\nsys.left = open('/tmp/left', 'w')", "left open what cells cannot have: /tmp/left"),
    "a file of the tree, for writing": ("import os\nos.open('/dev/null', os.O_RDWR)", "left open what cells cannot have: /dev/null"),
    "a pipe": ("import os\nos.pipe()", "left open what cells cannot have: pipe:"),
    "shared memory": ("import sys\nfile = open('/tmp/x', 'w+b'); file.write(bytes(4096)); file.flush()\n"
                      "import mmap; sys.left = mmap.mmap(file.fileno(), 4096)", "memory that its copies would share: /tmp/x"),
    "shared memory that is read": ("import os, mmap, sys\nfd = os.open('/dev/zero', os.O_RDONLY)\n"
                                   "sys.left = mmap.mmap(fd, 4096, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ); os.close(fd)",
                                   "memory that its copies would share: /dev/zero"),
    "a thread": ("import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
                 "warm: the imports or the code have started threads (1), which cannot be copied"),
}


@pytest.mark.parametrize("what", LEFT)
def test_warm_code_that_leaves_something_in_common_is_refused(what):
    code, message = LEFT[what]
    with pytest.raises(AssertionError, match="no cells") as refused:
        Siblings("print(1)", 1, None, {"warm": {"code": code}})
    assert message in str(refused.value)


def test_a_shared_mapping_of_a_file_of_the_tree_is_no_way_out(user):
    """Nobody can write to the file; iconv maps one."""
    code = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
fd = os.open(os.__file__, os.O_RDONLY)
sys.left = libc.mmap(None, ctypes.c_size_t(4096), 1, 1, fd, ctypes.c_long(0))
os.close(fd)
"""
    job = """
import ctypes, sys
print(ctypes.string_at(sys.left, 3), ctypes.CDLL(None).mprotect(ctypes.c_void_p(sys.left), ctypes.c_size_t(4096), 3))
"""
    with Siblings(job, 2, user, {"warm": {"code": code}, "guard": "off"}) as family:
        assert [m["stdout"]["text"] for m in family.manifests()] == ["b'r\"\"' -1\n"] * 2


def test_files_of_the_tree_that_libraries_keep_open_are_each_copy_s_own(user):
    """A font is one. Its place in the file is that of the zygote, and nobody else moves it."""
    code = "import os, sys\nsys.kept = [open(os.__file__, 'rb', buffering=0) for _ in range(3)]\nsys.kept[1].seek(100)"
    job = "import os, sys\ntext = open(os.__file__, 'rb').read()\n" \
          "for file in sys.kept: print(file.fileno(), at := file.tell(), file.read(4) == text[at:at + 4])"
    with Siblings(job, 2, user, {"warm": {"code": code}, "guard": "off"}) as family:
        if cells.IS_ROOT:
            one, other, zygote = [*map(child, family.pids), parent(family.pids[0])]
            for a, b in ((one, other), (one, zygote), (other, zygote)):
                assert not [fd for fd in descriptors(a) & descriptors(b) if fd > 7 and same("FILE", a, b, fd, fd)]
            assert len([fd for fd in descriptors(one) if fd > 7]) == 3
        assert [m["stdout"]["text"] for m in family.manifests()] == ["8 0 True\n9 100 True\n10 0 True\n"] * 2


# ---- channels ----

# In plain python3 two programs of one parent have its standard input; signals may wait there up to a bound of the test's own, as
# the account is the user's.
INHERITED = {
    "flags of the standard input": test_side_channels.Channel(
        "fcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK)", "return 1 if fcntl.fcntl(0, fcntl.F_GETFL) & os.O_NONBLOCK else None", one_bit=True),
    "signals that wait": test_side_channels.Channel("""
    import signal
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
    while attempt(send_signal) is None: pass""", """
    import signal
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
    return 1 if attempt(send_signal) == "EAGAIN" else None""", """
def send_signal():
    if LIBC.sigqueue(os.getpid(), 34, ctypes.c_void_p(0)): raise OSError(ctypes.get_errno(), "sigqueue")
""", one_bit=True),
}
# Inputs are copies, which have just been made: their access time says nothing of anybody else.
CHANNELS = {**{name: channel for name, channel in test_side_channels.CHANNELS.items() if name != "access time of an input"}, **INHERITED}
# The last ones to be used: a process's record locks of a file go with any descriptor of it that is closed.
CHANNELS = dict(sorted(CHANNELS.items(), key=lambda item: item[0].startswith("record lock")))
MOST_SIGNALS = 500

# All of them in one pair of programs: what each of the functions says, or how it is refused.
ALL = """
import json
def tried(name, function):
    try:
        return PARTS[name][function]()
    except Exception as error:
        return repr(error)
PARTS = {}
for name, text in json.loads(TEXTS).items():
    exec(text, space := {})
    PARTS[name] = space
"""
RECEIVER = """
prepared = {name: tried(name, "prepare") for name in PARTS}
print("ready", flush=True)
sender = tools.gate()
for part in PARTS.values():
    part["SENDER"] = sender
print(json.dumps({name: tried(name, "receive") for name in PARTS if prepared[name] is None}), flush=True)
"""
SENDER = """
tools.turn()
print(json.dumps({name: tried(name, "send") for name in PARTS}), flush=True)
import time; time.sleep(600)
"""
PLAIN_TOOLS = """
import os, time
class tools:
    def gate():
        while not os.path.getsize(GATE): time.sleep(0.01)
        return int(open(GATE).read())
    def turn():
        while not os.path.exists(TURN): time.sleep(0.01)
"""


class Battery:
    """A program that receives over all channels and one that sends over all; first the one gets ready, then the other begins."""

    def __init__(self, user, network="none"):
        self.user, self.pair = user, test_side_channels.Pair(test_side_channels.Channel("", ""), user)
        self.turn, self.wait = self.pair.directory / "turn", self.pair.directory / "wait"
        self.wait.write_text(f"#!/bin/sh\nuntil [ -e {self.turn} ]; do sleep 0.01; done\necho 1\n")
        self.wait.chmod(0o755)
        self.tokens = {name: 1 if channel.one_bit else self.pair.key % 100 + 1 for name, channel in CHANNELS.items()}
        tools = {"gate": self.pair.tool, "turn": self.wait}  # the receiver waits while the other zygote starts
        self.policy = {"guard": "off", "network": network,
                       "tools": {name: {"command": [str(path)], "timeout": 60 * cells.SLOWNESS} for name, path in tools.items()}}

    def codes(self, shared, before=""):
        texts = json.dumps({name: test_side_channels.functions(channel, TOKEN=self.tokens[name], KEY=self.pair.key, SHARED=shared)
                            for name, channel in CHANNELS.items()})
        return [f"{before}\nTEXTS = {texts!r}\n{ALL}{role}" for role in (RECEIVER, SENDER)]

    def heard(self, receiver, sender, sender_pid):
        """Names of the channels over which the token came; what each said."""
        assert receiver.readline() == "ready\n"
        self.pair.forget()
        self.turn.write_text("")
        sent = json.loads(sender.readline())
        self.pair.gate.write_text(str(sender_pid))
        heard = json.loads(receiver.readline())
        return {name for name, token in self.tokens.items() if heard.get(name) == token}, sent, heard

    def in_families(self, *sizes):
        """With a zygote for each, of a tenant of its own."""
        codes, more = self.codes("/input/shared.bin"), {"inputs": {"shared": str(self.pair.shared)}, "limits": {"timeout": 60 * cells.SLOWNESS}}
        with contextlib.ExitStack() as stack:
            families = [stack.enter_context(Each([codes.pop(0) for _ in range(size)], self.user, self.policy, tenant=f"tenant-{number}", **more))
                        for number, size in enumerate(sizes)]
            outputs = [output for family in families for output in family.outputs]
            pids = [pid for family in families for pid in family.pids]
            if cells.IS_ROOT:
                zygotes = {parent(pid) for pid in pids}
                assert len(zygotes) == len(sizes)
            return self.heard(*outputs, child(pids[1]))

    def in_plain_programs(self):
        read, write = os.pipe()
        head = f"GATE, TURN = {str(self.pair.gate)!r}, {str(self.turn)!r}\n{PLAIN_TOOLS}" \
               f"import resource; resource.setrlimit(resource.RLIMIT_SIGPENDING, ({MOST_SIGNALS}, {MOST_SIGNALS}))\n"
        programs = [self.pair.directory / f"{number}.py" for number in range(2)]
        with contextlib.ExitStack() as stack:
            processes = []
            for program, code in zip(programs, self.codes(str(self.pair.shared), head)):
                program.write_text(code)
                processes.append(stack.enter_context(subprocess.Popen([sys.executable, "-I", program], stdin=read, stdout=subprocess.PIPE, text=True,
                                                                      cwd="/", **self.user.popen_arguments())))
                stack.callback(processes[-1].kill)
            os.close(read)
            stack.callback(os.close, write)
            found = self.heard(*[process.stdout for process in processes], processes[1].pid)
        subprocess.run([sys.executable, "-I", "-c", test_side_channels.PROBE + f"KEY = {self.pair.key}\n" + test_side_channels.TIDY], check=True,
                       **self.user.popen_arguments())
        return found


@pytest.fixture(scope="module")
def works_outside():
    """Channels over which two plain programs of an ordinary user hear each other here."""
    return Battery(cells.ordinary()).in_plain_programs()


def test_all_channels_at_once_work_between_plain_programs(works_outside):
    """But for what a kernel may not have."""
    heard, sent, said = works_outside
    silent = {name: (sent.get(name), said.get(name)) for name in CHANNELS if name not in heard}
    assert not {name: words for name, words in silent.items() if not any("(38," in str(word) for word in words)}
    assert set(INHERITED) <= heard


@pytest.mark.parametrize("sizes, network", [((2,), "none"), ((1, 1), "none"), pytest.param((1, 1), "loopback", marks=pytest.mark.long)],
                         ids=["of one zygote", "of two tenants", "of two tenants, with sockets"])
def test_two_warm_cells_hear_nothing_of_each_other(sizes, network, user, works_outside):
    heard, sent, said = Battery(user, network).in_families(*sizes)
    # Whoever may send messages may send descriptors with them, which the kernel counts for each of the host's users.
    assert heard <= ({"descriptors on their way"} if network == "loopback" and not user.is_root else set())
    assert set(sent) == set(CHANNELS) and sent["flags of the standard input"] is None and said["signals that wait"] is None, (sent, said)


# ---- random numbers ----

STREAMS = """
import asyncio, email.generator, email.utils, hashlib, json, multiprocessing, os, random, secrets, sqlite3, ssl, sys, tempfile, uuid
def streams():
    query = sqlite3.connect(":memory:").execute("select random(), hex(randomblob(8))")
    return {"random": random.random(), "choices": random.choices(range(10 ** 9), k=2), "SystemRandom": random.SystemRandom().random(),
            "sqlite": query.fetchall(), "ssl": ssl.RAND_bytes(8).hex(), "uuid1": uuid.uuid1().hex[8:], "uuid4": uuid.uuid4().hex,
            "node": uuid.getnode(), "tempfile": next(tempfile._get_candidate_names()), "secrets": secrets.token_hex(),
            "message": email.utils.make_msgid().rpartition(".")[2], "boundary": email.generator._make_boundary(),
            "authkey": multiprocessing.current_process().authkey.hex(), "urandom": os.urandom(8).hex(), **more()}
def more():
    return {}
"""
SCIENCE = """
import numpy, pandas, scipy.stats, sklearn.utils
def more():
    return {"numpy": numpy.random.rand(), "default_rng": numpy.random.default_rng().random(), "scipy": float(scipy.stats.norm.rvs()),
            "pandas": pandas.Series(range(10 ** 6)).sample(3).tolist(), "sklearn": sklearn.utils.shuffle(list(range(1000)))[:5]}
"""


def values_of(code, count, user=None, **more):
    """Of what the zygote has used already: the next ones in each of its cells."""
    warm = {"code": f"{code}import sys\nstreams()\nsys.streams = streams"}
    with Siblings("import json, sys; print(json.dumps(sys.streams()))", count, user, {"warm": warm, "guard": "off"}, **more) as family:
        return [json.loads(manifest["stdout"]["text"]) for manifest in family.manifests()]


def check_streams(values):
    assert not [name for name in values[0] if len({json.dumps(value[name]) for value in values}) < len(values)]


def test_random_streams_of_siblings_differ(user):
    check_streams(values_of(STREAMS, 3, user))


def test_random_streams_of_scientific_libraries_differ(scientific):
    values = values_of(STREAMS + SCIENCE, 2, tree=scientific, limits={"memory": "1G", "timeout": 60 * cells.SLOWNESS})
    check_streams(values)
    assert "sklearn" in values[0]


def test_generators_of_libraries_own_are_seeded_anew_if_nobody_gave_them_a_seed(user):
    """Some have one of the class random.Random, made when they are imported."""
    warm = {"code": """
import random, sys
class Of(random.Random):
    pass
sys.own = {"plain": random.Random(), "derived": Of(), "again": random.Random(5), "fixed": random.Random(5), "fixed later": random.Random()}
sys.own["again"].seed()
sys.own["fixed later"].seed("text")
[random.Random() for _ in range(9)]
"""}
    code = "import json, random, sys\nprint(json.dumps({name: one.random() for name, one in sys.own.items()} | {'method': random.Random.seed.__name__}))"
    with Siblings(code, 3, user, {"warm": warm, "guard": "off"}) as family:
        values = [json.loads(manifest["stdout"]["text"]) for manifest in family.manifests()]
    assert {name for name in values[0] if len({value[name] for value in values}) == 3} == {"plain", "derived", "again"}
    assert {(value["fixed"], value["fixed later"], value["method"]) for value in values} == \
        {(random.Random(5).random(), random.Random("text").random(), "seed")}


def test_clocks_and_accounts_begin_anew(user):
    warm = {"imports": ["logging"], "code": "sum(range(10 ** 7))"}  # which takes longer than the program
    code = """
import json, logging, os, resource, threading, time
used = resource.getrusage(resource.RUSAGE_SELF)
record = logging.LogRecord("", 0, "", 0, "", (), None)
print(json.dumps({"process": time.process_time(), "thread": time.thread_time(), "self": used.ru_utime + used.ru_stime, "times": sum(os.times()[:4]),
                  "since": record.relativeCreated, "native": threading.get_native_id(), "main": threading.main_thread().native_id,
                  "apart": abs(time.time() - os.stat("/output").st_mtime), "boot": time.clock_gettime(time.CLOCK_BOOTTIME),
                  "monotonic": time.monotonic(), "children": resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime}))
"""
    with Siblings(code, 1, user, {"warm": warm, "guard": "off"}) as family:
        zygote = parent(family.pids[0])
        ticks = sum(map(int, cells._read(f"/proc/{zygote}/stat").rpartition(")")[2].split()[11:13]))
        manifest, = family.manifests()
    found = json.loads(manifest["stdout"]["text"])
    used = ticks / os.sysconf("SC_CLK_TCK")
    assert all(found[name] < used / 2 for name in ("process", "thread", "self", "times")), (found, used)
    assert found["native"] == found["main"] == 2 and found["children"] == 0
    assert 0 <= found["monotonic"] < cells.PATIENCE and found["boot"] < cells.PATIENCE and found["apart"] < cells.PATIENCE
    assert found["since"] < cells.PATIENCE * 1000


TEXT = "import matplotlib.pyplot as plt\nplt.figure(); plt.plot([3, 1, 2]); plt.title({title!r}); plt.xlabel('Zq@{{}}')\n"


def test_a_figure_is_that_of_a_cold_cell_though_a_font_was_open_already(scientific):
    """In letters that the zygote's own figure has not made matplotlib read of the font."""
    job = TEXT.format(title="WQXZ jq") + "plt.savefig('/output/figure.png')"
    warm = {"warm": {"code": TEXT.format(title="abc") + "plt.savefig('/tmp/x.png'); plt.close('all')"}}
    spec = {"tree": scientific, "limits": {"memory": "1G", "timeout": 60 * cells.SLOWNESS}}
    with Siblings(job, 1, None, {**warm, "guard": "off"}, **spec) as family:
        manifest, = family.manifests()
    cold = cells.run(job, "--memory=1G", "--timeout=60s", "--guard=off", tree=scientific)
    assert manifest["status"] == cold.manifest["status"] == "ok", (manifest["reason"], manifest["guest"]["error"], cold)
    assert [file["sha256"] for file in manifest["figures"] + manifest["files"]] == \
        [file["sha256"] for file in cold.manifest["figures"] + cold.manifest["files"]] != []


# ---- a zygote that somebody has taken over ----

LIES = {"silent": "ended before it was ready", "short": "a message of 3 bytes", "unborn": "from another process than the new cell's first",
        "twice": "not to be told from others", "few": "hands too little over", "again": "not due (kind 3)", "strange": "not due (kind 77)",
        "itself": "has the user namespace of its zygote"}


@pytest.mark.parametrize("how", LIES)
def test_a_zygote_that_lies_gets_no_job(how, user, monkeypatch):
    """Whatever it says, and however often: the launcher has an answer at once."""
    monkeypatch.setattr(siblings, "SIBLINGS", cells.BUILD / "false" / "siblings")
    with pytest.raises(AssertionError, match="no cells") as refused:
        Siblings("print(1)", 1, user, {"env": {"FALSE": how}})
    assert "park a cell: " in str(refused.value) and LIES[how] in str(refused.value)
