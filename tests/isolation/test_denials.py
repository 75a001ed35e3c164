"""What the manifest says was refused: by whom, how often, and who vouches for it."""
import json

import cells
import pytest

# Speaks to the launcher over the interpreter's own channel, as a hostile program would.
CHANNEL = """
import json, os, struct

def frame(kind, body=b"", last=1):
    os.write(3, struct.pack("=BBHI", kind, last, 0, len(body)) + body)

def denial(**changes):
    entry = dict(layer="audit", rule="files", what="/etc/shadow", line=3, count=1, hint=None)
    frame(7, json.dumps(entry | changes).encode())
"""


def run(code, *options, **more):
    """Without the guard: what is left is the kernel, and what the program says."""
    return cells.run(CHANNEL + code, "--guard=off", *options, **more)


def denials(result, layer):
    return [entry for entry in result.manifest["denials"] if entry["layer"] == layer]


# ---- what the guest's process tells ----

def test_nothing_refused_is_an_empty_list(base_tree):
    assert cells.run("import json; print(json.dumps(1))").manifest["denials"] == []


def test_told_denials_are_listed_as_the_guests_word(base_tree):
    """What only the program's process says is not attested."""
    result = run("""
denial()
denial(count=5)
denial(line=None, layer="runtime", rule="imports", what="socket", hint="no network")
""")
    assert result.manifest["status"] == "ok", result
    assert result.manifest["denials"] == [
        {"layer": "audit", "rule": "files", "what": "/etc/shadow", "line": 3, "count": 5, "hint": None, "attested": False},
        {"layer": "runtime", "rule": "imports", "what": "socket", "line": None, "count": 1, "hint": "no network",
         "attested": False},
    ]


def test_told_denials_survive_a_kill(base_tree):
    result = run("denial(); os.kill(os.getpid(), 9)")
    assert result.manifest["status"] == "error" and denials(result, "audit"), result


@pytest.mark.parametrize("call", [
    "denial(layer='seccomp')", "denial(layer='ast')", "denial(count=0)", "denial(line=-1)", "denial(rule='')",
    "denial(attested=True)", "denial(what=['x'])", "denial(hint='x' * 5000)", "frame(7)", "frame(7, b'[]')", "frame(7, b'\\xff')",
])
def test_a_wrong_denial_spoils_the_guests_own_report_only(base_tree, call):
    result = run(f"denial()\n{call}\nprint('went on', flush=True)\n5")
    assert result.stdout == "went on\n"
    assert len(result.manifest["denials"]) == 1, result.manifest["denials"]
    assert result.manifest["guest"] is None and "broke the protocol" in result.manifest["warnings"][0]


def test_a_flood_of_told_denials_is_bounded(base_tree):
    result = run("for i in range(9000): denial(line=i + 1)")
    assert result.manifest["status"] == "ok", result
    assert len(result.manifest["denials"]) == 64
    assert any("more was refused than is listed" in warning for warning in result.manifest["warnings"])
    endless = run("while True: denial()")
    assert "more than 10000 packets" in " ".join(endless.manifest["warnings"]), endless


def test_a_text_of_any_kind_stays_readable(base_tree):
    result = run(r"""denial(what="\x1b[2J" + "\xe9" * 300, rule="\u202e" * 64)""")
    told, = json.loads((result.output / "manifest.json").read_text())["denials"]
    assert told["what"].startswith("\x1b[2J") and len(told["what"].encode()) <= 260


def test_descriptors_that_the_program_sends_are_dropped(base_tree):
    """The launcher takes one, from the shim, before the program is read."""
    result = run("""
import array, socket
channel = socket.socket(fileno=3)
pipes = [os.pipe() for _ in range(4)]
for kind in (7, 8):
    body = json.dumps(dict(layer="audit", rule="r", what="w", line=1, count=1, hint=None)).encode() if kind == 7 else b""
    passed = array.array("i", [end for pipe in pipes for end in pipe])
    channel.sendmsg([struct.pack("=BBHI", kind, 1, 0, len(body)) + body], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)])
for read, write in pipes:
    os.close(write)
    print(os.read(read, 1))
""", "--network=loopback")
    assert result.stdout == "b''\n" * 4, result  # nobody else holds a write end
    assert len(result.manifest["denials"]) == 1 and "out of turn" in result.manifest["warnings"][-1]


# ---- what the kernel asked the launcher ----

LIBC = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    if getattr(libc, name)(*arguments) != -1:
        return "done"
    return errno.errorcode[ctypes.get_errno()]
"""
PROCESSES, NETWORK, NEEDLESS = "within this one process", "no network", "leave it out"

# What is tried, the errno as programs know it, and how the manifest names it.
REFUSED = [
    ("os.fork()", "EPERM", "clone", "clone(a new process)", PROCESSES),
    ("os.execv('/bin/true', ['true'])", "EPERM", "execve", "execve", PROCESSES),
    ("os.posix_spawn('/bin/true', ['true'], {})", "EPERM", "clone", "clone(a new process)", PROCESSES),
    ("socket.socket()", "EAFNOSUPPORT", "socket", "socket(AF_INET, SOCK_STREAM)", NETWORK),
    ("socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)", "EAFNOSUPPORT", "socket", "socket(AF_INET6, SOCK_DGRAM)", NETWORK),
    ("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", "EAFNOSUPPORT", "socket", "socket(AF_PACKET, SOCK_RAW)", NETWORK),
    ("socket.socketpair()[0].connect('/x')", "EACCES", "connect", "connect", NETWORK),
    ("socket.socketpair()[0].bind('/tmp/x')", "EACCES", "bind", "bind", NETWORK),
    ("call('unshare', 0x10000000 | 0x40000000)", "EPERM", "unshare", "unshare(CLONE_NEWUSER, CLONE_NEWNET)", NEEDLESS),
    ("call('syscall', 56, 0x10000011, 0, 0, 0, 0)", "EPERM", "clone", "clone(a new process, CLONE_NEWUSER)", PROCESSES),
    ("call('setns', 0, 0)", "EPERM", "setns", "setns", NEEDLESS),
    ("call('mount', None, b'/tmp', b'tmpfs', 0, None)", "EPERM", "mount", "mount", NEEDLESS),
    ("call('chroot', b'/tmp')", "EPERM", "chroot", "chroot", NEEDLESS),
    ("call('ptrace', 0, 0, 0, 0)", "EPERM", "ptrace", "ptrace", NEEDLESS),
    ("call('process_vm_readv', 1, 0, 0, 0, 0, 0)", "EPERM", "process_vm_readv", "process_vm_readv", NEEDLESS),
    ("call('personality', 0x0040000)", "EPERM", "personality", "personality", NEEDLESS),
    ("call('ioctl', 0, 0x5412, b'x')", "EPERM", "ioctl", "ioctl(TIOCSTI)", NEEDLESS),
    ("call('syscall', 425, 1, 0)", "ENOSYS", "io_uring_setup", "io_uring_setup", NEEDLESS),
    ("call('syscall', 321, 0, 0, 0)", "EPERM", "bpf", "bpf", NEEDLESS),
    ("call('syscall', 298, 0, 0, 0, 0, 0)", "EPERM", "perf_event_open", "perf_event_open", NEEDLESS),
    ("call('syscall', 248, 0, 0, 0, 0, 0)", "EPERM", "add_key", "add_key", NEEDLESS),
]


@pytest.mark.parametrize("attempt, error, rule, what, hint", REFUSED, ids=[row[0] for row in REFUSED])
def test_refused_calls_are_named(base_tree, attempt, error, rule, what, hint):
    result = run(LIBC + f"""
import socket
for _ in range(3):
    try:
        print({attempt})
    except OSError as refused:
        print(errno.errorcode[refused.errno])
""")
    assert result.manifest["status"] == "ok" and result.stdout == f"{error}\n" * 3, result
    entry, = denials(result, "seccomp")
    assert (entry["rule"], entry["what"], entry["count"], entry["line"]) == (rule, what, 3, None)
    assert entry["attested"] is True and hint in entry["hint"]


def test_what_a_policy_allows_is_no_denial(base_tree):
    result = run("""
import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname())
if os.fork() == 0:
    os._exit(0)
os.wait()
""", "--network=loopback", "--processes=fork")
    assert result.manifest["status"] == "ok" and result.manifest["denials"] == [], result


def test_threads_and_children_are_asked_about_too(base_tree):
    result = run(LIBC + """
import threading
threads = [threading.Thread(target=lambda: [call("unshare", 0x10000000) for _ in range(50)]) for _ in range(8)]
if os.fork() == 0:
    call("setns", 0, 0)
    os._exit(0)
for thread in threads: thread.start()
for thread in threads: thread.join()
os.wait()
""", "--processes=fork")
    assert result.manifest["status"] == "ok", result
    assert {entry["rule"]: entry["count"] for entry in denials(result, "seccomp")} == {"unshare": 400, "setns": 1}


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "call('unshare', 0x10000000)"])
def test_a_job_that_is_killed_while_it_asks_leaves_nothing(base_tree, end):
    result = run(LIBC + f"""
import threading
def ask():
    while True: call("unshare", 0x10000000)
for _ in range(4): threading.Thread(target=ask, daemon=True).start()
for _ in range(200): call("setns", 0, 0)
{end}
""")
    assert result.manifest["status"] in ("error", "ok", "timeout"), result
    assert {"rule": "setns", "count": 200}.items() <= denials(result, "seccomp")[-1].items() or \
        any(entry["rule"] == "setns" for entry in denials(result, "seccomp")), result


def test_a_flood_of_refused_calls_slows_the_job_only(base_tree):
    result = run(LIBC + "while True: call('unshare', 0x10000000)", "--timeout=3s")
    assert result.manifest["status"] == "timeout", result
    entry, = denials(result, "seccomp")
    assert 10000 <= entry["count"] < 11000
    assert any("answered slowly" in warning for warning in result.manifest["warnings"]), result.manifest["warnings"]


def test_the_program_gets_no_listener_of_its_own(base_tree):
    """With one, it could let its own calls pass."""
    result = run(LIBC + """
class Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Filter))]
allow = Filter(6, 0, 0, 0x7fff0000)
print(call("syscall", 317, 1, 8, ctypes.byref(Program(1, ctypes.pointer(allow)))))
import stat
def kind(fd):
    try:
        return stat.S_IFMT(os.fstat(fd).st_mode)
    except OSError:
        return None
print([oct(kind(fd)) for fd in range(3, os.sysconf("SC_OPEN_MAX")) if kind(fd) is not None])
""")
    assert result.stdout.splitlines() == ["ENOSYS", "['0o140000']"], result  # the control channel; a listener has no such type


# Loads a filter with a listener and becomes what it is told to: as some containers do.
UNDER_A_LISTENER = """
import ctypes, fcntl, os, sys
class Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Filter))]
libc = ctypes.CDLL(None, use_errno=True)
allow = Filter(6, 0, 0, 0x7fff0000)
libc.prctl(38, 1, 0, 0, 0)
fd = libc.syscall(317, 1, 8, ctypes.byref(Program(1, ctypes.pointer(allow))))
assert fd >= 0, os.strerror(ctypes.get_errno())
fcntl.fcntl(fd, fcntl.F_SETFD, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_under_a_listener_of_somebody_else_calls_are_refused_unnamed(base_tree):
    result = run("""
import socket
for attempt in (os.fork, socket.socket):
    try:
        print(attempt())
    except OSError as refused:
        print(refused.errno)
""", wrapper=["/usr/bin/python3", "-c", UNDER_A_LISTENER])
    assert result.manifest["status"] == "ok" and result.stdout == "1\n1\n", result
    assert result.manifest["denials"] == []
    assert any("no listener" in warning for warning in result.manifest["warnings"]), result
