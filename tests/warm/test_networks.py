"""Network namespaces of warm cells: one after the other uses the same one where no program can make a socket in it but pairs of Unix
sockets; never two at once, and nothing of a cell is to be found by the next."""

import os
import socket
import subprocess
import sys

import cells
import pytest
from siblings import SIBLINGS, Siblings

NAMES = ("user", "mount", "pid", "network", "ipc", "uts", "cgroup", "time")


@pytest.fixture(autouse=True)
def built(base_tree):
    if not SIBLINGS.exists():
        cells.skip(f"{SIBLINGS} is not built: run 'make warm'")


def inode(manifest, name):
    layer = manifest["layers"][f"{name}_namespace"]
    assert layer["on"], layer
    return layer["evidence"].split(",")[0]


def again(code, count, user, policy=None, **spec):
    """Manifests of `count` cells that wait at once, and of as many that were made after those had ended."""
    with Siblings(code, count, user, policy, how="again", **spec) as family:
        found = family.manifests()
    assert [m["status"] for m in found] == ["ok"] * (2 * count), found
    return found[:count], found[count:]


def test_only_the_network_is_used_again_and_never_by_two_at_once(user):
    before, after = again("print(1)", 3, user)
    for name in NAMES:
        first, second = ({inode(m, name) for m in found} for found in (before, after))
        assert len(first) == len(second) == 3, name
        if name == "network":  # the numbers of other namespaces may come again, too, once these have ended
            assert first == second


LINGER = """
import socket
s = socket.socket()
s.bind(("127.0.0.1", PORT))
s.listen()
client = socket.create_connection(s.getsockname())
server, _ = s.accept()
server.close()  # the connection, and with it the port, outlives this process for a minute
print(s.getsockname()[1])
"""


def outside(code, check=True):
    """In the network of this test, as a program without a cell."""
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=cells.PATIENCE, check=check)


def test_where_programs_have_sockets_each_cell_has_a_new_network(user):
    port = outside(LINGER.replace("PORT", "0")).stdout.strip()
    assert "Address already in use" in outside(LINGER.replace("PORT", port), check=False).stderr
    before, after = again(LINGER.replace("PORT", "20000"), 2, user, {"network": "loopback", "guard": "off"})
    assert {m["stdout"]["text"] for m in before + after} == {"20000\n"}
    assert inode(before[0], "network") != inode(before[1], "network")


LEAVE = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what, step):
    try:
        print(what, "done", step())
    except OSError as error:
        print(what, error.errno)
def name():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.bind("\\0hotcell")
    s.listen()
    kept.append(s)
def find():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect("\\0hotcell")
def bind_pair():
    pair = socket.socketpair()
    kept.append(pair)
    pair[0].bind("\\0hotcell")
def bind_itself():
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    kept.append(pair)
    pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    pair[0].send(b"x")  # the kernel gives such a sender an abstract name
    if len(pair[0].getsockname()) != 6:
        raise OSError(0, "no name")
def serve():
    kept.append(socket.create_server(("127.0.0.1", 20000)))
def meet():
    socket.create_connection(("127.0.0.1", 20000))
def configure():
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.bind((0, 0))
def enter():
    if libc.setns(0, 0x40000000) < 0:
        raise OSError(ctypes.get_errno(), "setns")
def leave():
    if libc.unshare(0x40000000) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
def raise_loopback():
    import fcntl, struct
    pair = socket.socketpair()
    fcntl.ioctl(pair[0], 0x8914, struct.pack("16sh14x", b"lo", 0))  # SIOCSIFFLAGS: down
def look():
    import fcntl, struct
    pair = socket.socketpair()
    return fcntl.ioctl(pair[0], 0x8913, struct.pack("16sh14x", b"lo", 0))
kept = []
for step in (find, meet, name, bind_pair, bind_itself, serve, configure, enter, leave, raise_loopback, look):
    attempt(step.__name__, step)
pid = os.fork() if os.environ.get("FORKS") else 1
if pid == 0:
    os.setsid()
    import time
    time.sleep(600)  # a process that would outlive its cell
"""


def test_the_attack_works_where_two_programs_share_a_network():
    """Outside, one after the other finds what the first has left in the same namespace, as long as a process of the first lives."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0hotcell-outside")
        server.listen()
        found = outside(LEAVE.replace("hotcell", "hotcell-outside")).stdout
    for step in ("find", "bind_itself", "serve", "configure", "look"):
        assert f"{step} done" in found, found
    assert "name 98" in found and "bind_pair 98" in found, found  # EADDRINUSE: it is the other's


def test_a_cell_leaves_nothing_in_its_network_for_the_next(user):
    policy = {"guard": "off", "processes": "fork", "limits": {"pids": 16}}
    before, after = again(LEAVE, 2, user, policy, env={"FORKS": "1"})
    assert {inode(m, "network") for m in before} == {inode(m, "network") for m in after}
    texts = {m["stdout"]["text"] for m in before + after}
    assert len(texts) == 1
    [text] = texts
    assert "done" not in text, text
    assert len(text.splitlines()) == 11


def test_a_cell_has_no_right_over_its_network_even_before_its_filter(user):
    """Its user namespace does not own it: /proc/PID/ns tells the owner's inode, which differs from the cell's own."""
    import fcntl
    with Siblings("print(1)", 1, user) as family:
        [pid] = family.pids
        try:
            net = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
            own = os.stat(f"/proc/{pid}/ns/user").st_ino
        except PermissionError as error:
            cells.skip(f"only root may look: {error}")
        owner = fcntl.ioctl(net, 0xb701)  # NS_GET_USERNS
        assert os.fstat(owner).st_ino != own
        above = fcntl.ioctl(os.open(f"/proc/{pid}/ns/user", os.O_RDONLY), 0xb702)  # NS_GET_PARENT
        assert os.fstat(above).st_ino == os.fstat(owner).st_ino
        family.manifests()
