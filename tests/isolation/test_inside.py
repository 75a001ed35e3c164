"""A cell, seen from inside: what is there, what is not, and what the kernel refuses.

Probes only report, as JSON; what is right is decided here, on the host.
"""

import contextlib
import json
import os
import platform
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cells

GUARD = "off"  # the kernel holds without it

GUEST = 1000
FILTERS = "4" if cells.is_warm() else "3"  # the zygote's own is below those of its cells
TREE_FOLDERS = {"bin", "dev", "etc", "input", "lib", "lib64", "output", "proc", "tmp", "usr"}
DEVICES = {"full": 7, "null": 3, "random": 8, "urandom": 9, "zero": 5}  # minors of major 1
PROBE = "import os, stat\n" + cells.ATTEMPT


def probe(code, *options, **arguments):
    return cells.run(PROBE + code, *options, **arguments).facts()


@contextlib.contextmanager
def paused(code, *options, **arguments):
    """A cell that has reported, and waits: its facts, and its last process as the host numbers it."""
    with cells.start(f"{PROBE}{code}\nimport time; print(flush=True); time.sleep(60)", *options, **arguments) as job:
        facts = json.loads(job.read_line())
        yield facts, job.descendants()[-1]


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file)


# ---- processes and rights ----

def test_first_process_is_the_shim_and_there_is_no_other(user):
    with cells.start("import time; print(1, flush=True); time.sleep(60)", user=user) as job:
        job.read_line()
        found = {}
        for pid in job.descendants():
            status = status_of(pid)
            found[int(status["NSpid"].split()[-1])] = status["Name"]
    assert found == {1: "hotcell-init", 2: "python3"}


@pytest.mark.parametrize("processes", ["none", "fork"])
def test_sees_no_process_but_its_own(user, processes):
    """Nor how many there are, which stat(2) of any mounted proc says: the host shows that."""
    facts = probe("""
report(pid=os.getpid(), parent=os.getppid(), proc=os.listdir("/proc"), links=os.stat("/proc").st_nlink,
       answering=[pid for pid in range(1, 10000) if attempt(os.kill, pid, 0) is None],
       first=[attempt(open, f"/proc/1/{name}", "rb") for name in ("environ", "mem", "maps", "status", "cmdline")],
       hidden=[attempt(os.readlink, f"/proc/1/{name}") for name in ("exe", "root", "cwd", "fd/5")])
""", f"--processes={processes}", user=user)
    assert facts["pid"] == 2 and facts["parent"] == 1
    assert facts["proc"] == [] and facts["links"] <= 2 and os.stat("/proc").st_nlink > 20
    assert set(facts["answering"]) <= {1, 2}
    assert None not in facts["first"] + facts["hidden"]


def test_signals_to_the_first_process_have_no_effect(user):
    result = cells.run(PROBE + """
import signal
for number in signal.valid_signals() - {signal.SIGSTOP}:
    attempt(os.kill, 1, number)
attempt(os.kill, -1, signal.SIGKILL)
print("still here")
""", user=user)
    assert result.manifest["status"] == "ok" and result.stdout == "still here\n", result


def test_is_uid_1000_without_any_right(user):
    code = "report(ids=[os.getresuid(), os.getresgid()], groups=os.getgroups())"
    with paused(code, user=user) as (facts, pid):
        status = status_of(pid)
    assert facts["ids"] == [[GUEST] * 3] * 2
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"], status["Seccomp_filters"]) == ("1", "2", FILTERS)
    assert status["TracerPid"] == "0"
    if user.is_root:
        assert facts["groups"] == [] and status["Groups"].strip() == ""


@pytest.mark.parametrize("start", [None, 3000])
def test_host_uid_is_never_roots_and_lies_in_the_range(base_tree, start):
    cells.need_root()
    env = {"HOTCELL_UID_RANGE": f"{start}:4"} if start else {}
    first, count = (start, 4) if start else (2130706432, 65536)
    with cells.start("import time; print(1, flush=True); time.sleep(60)", env=env) as job:
        job.read_line()
        owners = {os.stat(f"/proc/{pid}/task").st_uid for pid in job.descendants()} - {0}  # 0: not dumpable
        with open(f"/proc/{job.descendants()[0]}/status", encoding="utf-8") as file:
            ids = re.search(r"^Uid:\t(\d+)\t(\d+)\t(\d+)\t(\d+)$", file.read(), re.M).groups()
    assert len(set(ids)) == 1 and owners == {int(ids[0])}
    assert first <= int(ids[0]) < first + count


def test_two_cells_at_once_have_different_host_uids(base_tree):
    cells.need_root()
    uids = set()
    with cells.start("import time; print(1, flush=True); time.sleep(60)") as one, \
            cells.start("import time; print(1, flush=True); time.sleep(60)") as two:
        for job in (one, two):
            job.read_line()
            uids.add(os.stat(f"/proc/{job.descendants()[-1]}/task").st_uid)
    assert len(uids) == 2 and 0 not in uids


# ---- files ----

def test_root_is_the_tree_and_read_only(user):
    facts = probe("""
made = {}
for folder in ("/", "/usr", "/usr/lib", "/etc", "/dev", "/proc", "/input", "/lib"):
    made[folder] = attempt(os.mkdir, f"{folder}/hotcell-test")
report(root=os.listdir("/"), made=made, programs=[name for name in ("/bin", "/sbin", "/usr/bin", "/usr/sbin")
                                                  if os.path.exists(name) and os.listdir(name)],
       absent={path: attempt(os.stat, path) for path in
               ("/etc/shadow", "/home", "/root", "/var", "/boot", "/sys", "/run", "/etc/hostname", "/etc/machine-id",
                "/dev/shm", "/dev/tty", "/dev/ptmx", "/dev/kvm", "/dev/fuse", "/dev/mem", "/proc/sys", "/proc/kcore",
                "/proc/cpuinfo", "/proc/mounts", "/proc/keys", "/proc/sysrq-trigger", "/.old")},
       users=open("/etc/passwd").read(), modes=[oct(os.stat(path).st_mode & 0o7000) for path in ("/", "/usr")])
""", user=user)
    # The tree has exactly these; a link to /usr may be missing where the architecture has no use for it.
    assert set(facts["root"]) <= TREE_FOLDERS and set(facts["root"]) >= TREE_FOLDERS - {"lib64"}
    assert set(facts["made"].values()) <= {"EROFS", "EACCES", "ENOENT"} and facts["made"]["/usr"] == "EROFS"
    assert set(facts["absent"].values()) == {"ENOENT"} and not facts["programs"]
    assert facts["users"].startswith("guest:x:1000:1000:") and facts["users"].count("\n") == 1


def test_no_path_leads_out(user):
    facts = probe("""
out = {}
for path in ("/..", "/proc/..", "../../../.."):
    out[path] = sorted(os.listdir(path))
report(out=out, inside=sorted(os.listdir("/")), cwd=os.getcwd(),
       links=[attempt(os.stat, f"/proc/{link}") for link in ("self/root", "self/cwd", "self/task/2/root", "1/root", "thread-self/root")])
""", user=user)
    assert all(names == facts["inside"] for names in facts["out"].values())
    assert facts["cwd"] == "/output" and set(facts["links"]) == {"ENOENT"}


@pytest.mark.parametrize("mode", ["capped", "bind"])
def test_mounts_have_the_flags_that_are_promised(user, mode):
    data = cells.new_directory(user) / "data.txt"
    data.write_text("x")
    mounts = {}
    with paused("report()", "--input", f"name={data}", "--output-mode", mode, user=user) as (_, pid), \
            open(f"/proc/{pid}/mountinfo", encoding="utf-8") as file:
        for line in file:
            fields, _, source = line.partition(" - ")
            mounts[fields.split()[4]] = [fields.split()[5].split(","), fields.split()[6:], source.split()[0]]
    ignored = {"relatime", "noatime", "idmapped"}
    flags = {path: set(mount[0]) - ignored for path, mount in mounts.items()}
    device = {"ro", "nosuid", "noexec"}
    writable = {"rw", "nosuid", "nodev", "noexec", "nosymfollow"}
    read_only = {"ro", "nosuid", "nodev"}
    assert flags == {"/": read_only, **({"/proc": read_only} if cells.is_warm() and mode == "capped" else {}), "/output": writable, "/tmp": writable,
                     "/input": read_only | {"noexec", "nosymfollow"},
                     **({} if cells.is_warm() and mode == "capped" else {"/input/name.txt": read_only | {"noexec"}}),  # a copy
                     **({"/dev": device} if user.is_root else {f"/dev/{name}": device for name in DEVICES})}
    assert ("idmapped" in mounts["/output"][0]) == (user.is_root and mode == "bind")
    assert not any(mount[1] for mount in mounts.values()), "something propagates"
    assert mounts["/tmp"][2] == "tmpfs"


def test_devices_are_these_five_and_work(user):
    result = cells.run(PROBE + """
nodes = {name: os.stat(f"/dev/{name}") for name in os.listdir("/dev")}
report(nodes={name: [stat.S_ISCHR(st.st_mode), os.major(st.st_rdev), os.minor(st.st_rdev)]
              for name, st in nodes.items()},
       null=open("/dev/null", "w").write("x"), zero=attempt(open, "/dev/zero", "rb"),
       random=[len(open(f"/dev/{name}", "rb", buffering=0).read(8)) for name in ("random", "urandom")],
       full=attempt(lambda: os.write(os.open("/dev/full", os.O_WRONLY), b"x")),
       made=[attempt(os.mknod, path, 0o600 | kind, os.makedev(1, 3))
             for path in ("/tmp/node", "/output/node") for kind in (stat.S_IFCHR, stat.S_IFBLK)],
       chmod=attempt(os.chmod, "/dev/null", 0o600), unlink=attempt(os.unlink, "/dev/null"))
""", user=user)
    facts = result.facts()
    assert facts["nodes"] == {name: [True, 1, minor] for name, minor in DEVICES.items()}
    assert (facts["null"], facts["random"], facts["full"]) == (1, [8, 8], "ENOSPC")
    # Mapped shared, it is memory that only a cgroup counts.
    seen_by_all = result.enforced_by_cgroup or not result.manifest["layers"]["landlock"]["on"]
    assert facts["zero"] == (None if seen_by_all else "EACCES")
    assert facts["made"] == ["EPERM"] * 4
    assert None not in (facts["chmod"], facts["unlink"])


DEVICE_INODES = """
paths = [f"/dev/{name}" for name in os.listdir("/dev")]
report(inodes=[[st.st_dev, st.st_ino] for st in map(os.stat, [0, *paths])], works=open("/dev/urandom", "rb").read(1) != b"",
       times=sorted({(st.st_atime, st.st_mtime) for st in map(os.stat, paths)}), changed=min(os.stat(path).st_ctime for path in paths))
"""


def test_devices_are_nobody_elses_and_say_nothing_of_the_host(user):
    """Those of the host say when it was booted. As an ordinary user there is no making of others: hotcell-security(7)."""
    hosts = {(st.st_dev, st.st_ino) for st in (os.stat(f"/dev/{name}") for name in DEVICES)}
    before = time.time()
    facts = probe(DEVICE_INODES, user=user)
    found = set(map(tuple, facts["inodes"]))
    if not user.is_root:
        assert found == hosts
        return
    assert len(found) == len(DEVICES) and not found & hosts and facts["times"] == [[0, 0]]
    assert facts["changed"] > before - 1 or cells.is_warm()  # whose zygote was there before


def test_a_launcher_that_may_make_no_devices_lends_the_hosts():
    cells.need_root()
    facts = probe(DEVICE_INODES, wrapper=("setpriv", "--bounding-set=-mknod"))
    assert facts["works"] and set(map(tuple, facts["inodes"])) == {
        (st.st_dev, st.st_ino) for st in (os.stat(f"/dev/{name}") for name in DEVICES)}


def test_output_takes_files_but_no_links_pipes_or_programs(user):
    facts = probe("""
import socket
open("plain", "w").write("x")
os.mkdir("folder")
open("/tmp/program", "wb").write(open(os.__file__, "rb").read(100))
os.chmod("/tmp/program", 0o755)
os.symlink("/etc/passwd", "/tmp/link")
report(symlink=attempt(os.symlink, "/etc/passwd", "link"), fifo=attempt(os.mkfifo, "pipe"),
       through=attempt(open, "/tmp/link"), read=os.readlink("/tmp/link"),
       setuid=attempt(os.chmod, "plain", 0o4755),
       xattr=attempt(os.setxattr, "plain", "user.x", b"y"),
       execute=[attempt(os.execv, path, [path]) for path in
                ("/proc/self/exe", "/tmp/program", "/output/plain", "/lib64/ld-linux-x86-64.so.2", "/no/such")])
""", user=user)
    assert facts["symlink"] == facts["fifo"] == "EACCES"
    assert facts["through"] == "ELOOP" and facts["read"] == "/etc/passwd"
    assert facts["execute"] == ["EPERM"] * 5
    assert facts["xattr"] in ("ENOTSUP", "EOPNOTSUPP")  # one number, two names


def test_own_binary_and_memory_cannot_be_written_through_proc(user):
    facts = probe("""
import ctypes
value = ctypes.c_int(7)
report(exe=attempt(os.open, "/proc/self/exe", os.O_WRONLY), rdwr=attempt(os.open, "/proc/self/exe", os.O_RDWR),
       trunc=attempt(os.truncate, "/proc/self/exe", 0), mem=attempt(os.open, "/proc/self/mem", os.O_RDWR),
       adj=attempt(os.open, "/proc/self/oom_score_adj", os.O_WRONLY), comm=attempt(os.open, "/proc/self/comm", 1),
       maps=[attempt(os.open, f"/proc/self/{name}", os.O_WRONLY) for name in ("uid_map", "gid_map", "setgroups")])
""", user=user)
    assert None not in [*facts["maps"], *[facts[name] for name in ("exe", "rdwr", "trunc", "mem", "adj", "comm")]]


# ---- what comes from the launcher ----

def test_descriptors_are_three_streams_and_a_socket(user):
    secret = cells.new_directory(user) / "secret"
    secret.write_text("secret")
    with open(secret, encoding="utf-8") as held, socket.socket() as listening:
        for fd in (held.fileno(), listening.fileno()):
            os.set_inheritable(fd, True)
        facts = probe("""
kinds = {fd: stat.filemode(os.fstat(fd).st_mode)[0] for fd in range(os.sysconf("SC_OPEN_MAX")) if attempt(os.fstat, fd) is None}
report(kinds=kinds, stdin=os.read(0, 1).decode(), null=os.path.samestat(os.fstat(0), os.stat("/dev/null")))
""", user=user, popen={"pass_fds": (held.fileno(), listening.fileno())}, stdin="not for the guest")
    assert facts["kinds"] == {"0": "c", "1": "p", "2": "p", "3": "s"}
    assert facts["stdin"] == "" and facts["null"]


def test_environment_and_hostname_are_not_the_hosts(user):
    code = """
import ctypes
block, i = [], 0
pointers = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
while pointers[i]:
    block.append(pointers[i].decode())
    i += 1
report(env=dict(os.environ), block=" ".join(block), names=os.uname()[1])
"""
    env = {"HOTCELL_TEST_SECRET": "s3cr3t", "LD_PRELOAD": "", "PYTHONPATH": "/s3cr3t"}
    with paused(code, user=user, env=env) as (facts, pid), open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
        arguments = file.read()
    assert "s3cr3t" not in facts["block"] and "HOTCELL" not in facts["block"]
    assert {name: facts["env"][name] for name in ("HOME", "TMPDIR", "PATH", "TZ", "LANG")} == {
        "HOME": "/tmp", "TMPDIR": "/tmp", "PATH": "", "TZ": "UTC", "LANG": "C.UTF-8"}
    assert facts["names"] == "cell" != socket.gethostname()
    assert arguments == "hotcell-shim\0"


def test_manifest_names_the_layers_that_are_seen(user):
    with cells.start(PROBE + """
print(flush=True)
open("/tmp/wait", "w")
while os.path.exists("/tmp/wait"): time.sleep(0.01)
""".replace("print", "import time; print", 1), "--timeout=1s", user=user) as job:
        job.read_line()
        with open(f"/proc/{job.descendants()[-1]}/uid_map", encoding="utf-8") as file:
            inside, outside, count = file.read().split()
        links = {name: {os.readlink(f"/proc/{pid}/ns/{name}") for pid in job.descendants()}
                 for name in (os.listdir("/proc/self/ns") if cells.IS_ROOT else [])}
        result = job.finish()
    layers = result.manifest["layers"]
    for layer, name in (("user", "user"), ("mount", "mnt"), ("pid", "pid"), ("network", "net"), ("ipc", "ipc"),
                        ("uts", "uts"), ("cgroup", "cgroup"), ("time", "time")):
        evidence = layers[f"{layer}_namespace"]["evidence"]
        own = os.readlink(f"/proc/self/ns/{name}")
        assert not evidence.startswith(own) and own.strip("]").rpartition("[")[2] in evidence, layer
        if links:
            assert {evidence.partition(", ")[0]} == links[name]
    assert (inside, count) == ("1000", "1") and int(outside) != 0
    assert f"{outside} and {outside} on the host" in layers["ids"]["evidence"]
    assert (int(outside) == user.uid) != user.is_root
    off = {name for name, layer in layers.items() if not layer["on"]}
    assert off <= {"cgroup", "landlock"} and ("cgroup" in off) != result.enforced_by_cgroup
    assert all(layer["evidence"] for layer in layers.values())


def test_a_crash_starts_no_core_handler_of_the_host(user):
    """core(5): a handler that is a pipe is started whatever RLIMIT_CORE says, but not for a process that is not dumpable."""
    facts = probe("import ctypes; report(dumpable=ctypes.CDLL(None).prctl(3))", user=user)
    assert facts["dumpable"] == 0


def test_limits_of_resources_are_what_the_manifest_says(user):
    result = cells.run(PROBE + """
import resource
report(**{name: resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
          for name in ("core", "nofile", "fsize", "stack", "memlock", "nproc", "cpu", "nice", "rtprio")})
""", "--open-files=128", "--file-size=1M", "--stack-size=4M", "--pids=33", "--cpu=5s", user=user)
    facts = result.facts()
    assert facts["core"] == facts["memlock"] == facts["nice"] == facts["rtprio"] == [0, 0]
    assert facts["nofile"] == [128] * 2 and facts["fsize"] == [1 << 20] * 2 and facts["stack"] == [4 << 20] * 2
    if not result.enforced_by_cgroup:
        assert facts["nproc"] == [33] * 2
    assert 5 <= facts["cpu"][1] <= 7


# ---- network ----

def test_network_is_an_unrouted_loopback(user):
    with paused("report()", user=user) as (_, pid):
        files = {name: Path(f"/proc/{pid}/net/{name}") for name in ("dev", "route", "ipv6_route")}
        lines = {name: path.read_text().splitlines() if path.exists() else [] for name, path in files.items()}
    assert [line.split(":")[0].strip() for line in lines["dev"][2:]] == ["lo"] and lines["route"][1:] == []
    assert {line.split()[9] for line in lines["ipv6_route"]} <= {"lo"}


def test_loopback_reaches_the_cell_itself_and_nothing_else(user):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        facts = probe(f"""
import socket, threading
port = {server.getsockname()[1]}
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
peer, _ = listener.accept()
client.sendall(b"hello")
def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(5)
        s.connect(address)
report(own=peer.recv(5).decode(), host=attempt(connect, socket.AF_INET, ("127.0.0.1", port)),
       far=attempt(connect, socket.AF_INET, ("192.0.2.1", 80)),
       meta=attempt(connect, socket.AF_INET, ("169.254.169.254", 80)),
       others=[attempt(socket.socket, family, socket.SOCK_RAW) for family in (16, 17, 38, 40)],
       raw=attempt(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1))
""", "--network=loopback", user=user)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert facts["own"] == "hello" and facts["host"] == "ECONNREFUSED"
    assert facts["far"] == facts["meta"] == "ENETUNREACH"
    assert None not in [*facts["others"], facts["raw"]]


def test_abstract_sockets_of_the_host_are_not_there(user):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0hotcell-test-%d" % os.getpid())
        server.listen()
        facts = probe(f"""
import socket
report(abstract=attempt(socket.socket(socket.AF_UNIX).connect, "\\0hotcell-test-{os.getpid()}"))
""", "--network=loopback", user=user)
    assert facts["abstract"] in ("ECONNREFUSED", "EPERM")


# ---- processes ----

def test_fork_is_refused_unless_the_policy_allows_it(user):
    code = PROBE + """
import subprocess, threading
thread = threading.Thread(target=int)
thread.start()
thread.join()
def fork():
    if (pid := os.fork()) == 0:
        os._exit(5)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
report(fork=attempt(fork), run=attempt(subprocess.run, ["/bin/true"]), spawn=attempt(os.posix_spawn, "/x", ["/x"], {}))
"""
    assert cells.run(code, user=user).facts() == {"fork": "EPERM", "run": "EPERM", "spawn": "EPERM"}
    facts = cells.run(code, "--processes=fork", user=user).facts()
    assert facts["fork"] is None and facts["run"] and facts["spawn"]


def test_a_forked_child_is_as_locked_in(user):
    code = """
if os.fork():
    os.wait()
report(execve=attempt(os.execv, "/proc/self/exe", ["x"]))
"""
    with paused(code, "--processes=fork", user=user) as (facts, pid):
        child = status_of(pid)
    assert child["NSpid"].split()[-1] == "3"
    assert (child["Seccomp"], child["Seccomp_filters"], child["NoNewPrivs"]) == ("2", FILTERS, "1")
    assert child["CapEff"] == child["CapBnd"] == "0" * 16 and facts["execve"] == "EPERM"


# ---- system calls ----

TIOCSTI, TIOCLINUX = 0x5412, 0x541c
BAD = 0xffffffffffffffff
# Arguments that cannot succeed, or do nothing: outside of a cell another errno comes out, or none.
CALLS = [
    ("mount", (0, 0, 0, 0, 0), "EPERM"),
    ("umount2", (0, BAD), "EPERM"),
    ("pivot_root", (0, 0), "EPERM"),
    ("chroot", (0,), "EPERM"),
    ("open_tree", (BAD, 0, 0), "EPERM"),
    ("move_mount", (BAD, 0, BAD, 0, BAD), "EPERM"),
    ("fsopen", (0, 0), "EPERM"),
    ("fsconfig", (BAD, 0, 0, 0, 0), "ENOSYS"),
    ("fsmount", (BAD, 0, 0), "ENOSYS"),
    ("mount_setattr", (BAD, 0, 0, 0, 0), "EPERM"),
    ("unshare", (0,), "EPERM"),
    ("setns", (BAD, 0), "EPERM"),
    ("clone", (0x10000000 | 0x200 | 17, 0, 0, 0, 0), "EPERM"),  # CLONE_NEWUSER with CLONE_FS
    ("clone", (0x10000 | 0x10000000, 0, 0, 0, 0), "EPERM"),  # as a thread
    ("clone3", (0, 0), "ENOSYS"),
    ("execve", (0, 0, 0), "EPERM"),
    ("execveat", (BAD, 0, 0, 0, BAD), "EPERM"),
    ("ptrace", (4242, 0, 0, 0), "EPERM"),
    ("process_vm_readv", (0, 0, 0, 0, 0, 0), "EPERM"),
    ("process_vm_writev", (0, 0, 0, 0, 0, 0), "EPERM"),
    ("process_madvise", (BAD, 0, 0, 0, 0), "ENOSYS"),
    ("pidfd_open", (0, 0), "ENOSYS"),
    ("pidfd_getfd", (BAD, 0, 0), "EPERM"),
    ("pidfd_send_signal", (BAD, 0, 0, 0), "ENOSYS"),
    ("kcmp", (0, 0, 0, 0, 0), "EPERM"),
    ("bpf", (BAD, 0, 0), "EPERM"),
    ("perf_event_open", (0, 0, 0, BAD, BAD), "EPERM"),
    ("userfaultfd", (BAD,), "EPERM"),
    ("io_uring_setup", (0, 0), "ENOSYS"),
    ("io_uring_enter", (BAD, 0, 0, 0, 0, 0), "ENOSYS"),
    ("io_uring_register", (BAD, 0, 0, 0), "ENOSYS"),
    ("memfd_create", (0, BAD), "ENOSYS"),
    ("memfd_secret", (BAD,), "ENOSYS"),
    ("add_key", (0, 0, 0, 0, 0), "EPERM"),
    ("request_key", (0, 0, 0, 0), "EPERM"),
    ("keyctl", (BAD, 0, 0, 0, 0), "EPERM"),
    ("socket", (2, 1, 0), "EAFNOSUPPORT"),
    ("socket", (10, 2, 0), "EAFNOSUPPORT"),
    ("socket", (1, 1, 0), "EAFNOSUPPORT"),
    ("socket", (16, 3, 0), "EAFNOSUPPORT"),  # netlink
    ("socket", (17, 3, 0), "EAFNOSUPPORT"),  # packet
    ("socket", (38, 5, 0), "EAFNOSUPPORT"),  # the kernel's cryptography
    ("socket", (40, 1, 0), "EAFNOSUPPORT"),  # vsock
    ("socketpair", (2, 1, 0, 0), "ENOSYS"),
    ("bind", (BAD, 0, 0), "EACCES"),
    ("listen", (BAD, 0), "EACCES"),
    ("connect", (BAD, 0, 0), "EACCES"),
    ("accept4", (BAD, 0, 0, 0), "ENOSYS"),
    ("setuid", (BAD,), "EPERM"),
    ("setresuid", (BAD, BAD, BAD), "EPERM"),
    ("setresgid", (BAD, BAD, BAD), "EPERM"),
    ("setgroups", (BAD, 0), "EPERM"),
    ("capset", (0, 0), "EPERM"),
    ("fchown", (BAD, 0, 0), "EPERM"),
    ("fsetxattr", (BAD, 0, 0, 0, 0), "ENOTSUP"),
    ("personality", (0xffffffff,), "EPERM"),
    ("open_by_handle_at", (BAD, 0, 0), "EPERM"),
    ("name_to_handle_at", (BAD, 0, 0, 0, BAD), "ENOTSUP"),
    ("syslog", (BAD, 0, 0), "EPERM"),
    ("sethostname", (0, BAD), "EPERM"),
    ("setdomainname", (0, BAD), "EPERM"),
    ("inotify_add_watch", (BAD, 0, 0), "EACCES"),
    ("fanotify_init", (BAD, BAD), "EPERM"),
    ("setpriority", (BAD, 0, 0), "EACCES"),
    ("sched_setscheduler", (0, BAD, 0), "EPERM"),
    ("ioctl", (BAD, TIOCSTI, 0), "EPERM"),
    ("ioctl", (BAD, TIOCSTI | 1 << 32, 0), "EPERM"),  # the kernel looks at 32 bits
    ("ioctl", (BAD, TIOCLINUX, 0), "EPERM"),
    ("ioctl", (BAD, 0x5403, 0), "ENOSYS"),  # TCSETSW
    ("prctl", (4, BAD, 0, 0, 0), "ENOSYS"),  # PR_SET_DUMPABLE
    ("prctl", (35, BAD, 0, 0, 0), "ENOSYS"),  # PR_SET_MM
    ("prlimit64", (0x7fffffff, 7, 0, 0), "ENOSYS"),  # somebody else's
    ("seccomp", (BAD, 0, 0), "ENOSYS"),
    ("kexec_load", (0, BAD, 0, BAD), "ENOSYS"),
    ("init_module", (0, 0, 0), "ENOSYS"),
    ("finit_module", (BAD, 0, BAD), "ENOSYS"),
    ("delete_module", (0, 0), "ENOSYS"),
    ("quotactl", (BAD, 0, 0, 0), "ENOSYS"),
    ("swapon", (0, 0), "ENOSYS"),
    ("mmap", (0, 0, 0, 0x40022, BAD, 0), "EPERM"),  # MAP_HUGETLB
    ("renameat2", (BAD, 0, BAD, 0, 4), "EINVAL"),  # RENAME_WHITEOUT
    ("shmget", (0, 0, 0), "ENOSYS"),
    ("msgget", (0x7eadbeef, 0), "ENOSYS"),
    ("semget", (0x7eadbeef, 0, 0), "ENOSYS"),
    ("mq_open", (0, 0, 0, 0), "ENOSYS"),
    ("vmsplice", (BAD, 0, 0, 0), "ENOSYS"),
    ("splice", (BAD, 0, BAD, 0, 0, BAD), "ENOSYS"),
    ("mlock", (0, 0), "ENOSYS"),
    ("clock_settime", (BAD, 0), "ENOSYS"),
    ("iopl", (99,), "ENOSYS"),
    ("modify_ldt", (BAD, 0, 0), "ENOSYS"),
]
# Where the host lacks these, or its root may not have them, inside and outside look alike.
MAY_LACK = {("socket", 38), ("socket", 40), "bpf", "perf_event_open", "userfaultfd", "io_uring_setup",
            "io_uring_enter", "io_uring_register", "memfd_secret", "kexec_load", "init_module", "finit_module",
            "delete_module", "swapon", "quotactl", "iopl", "modify_ldt"}
CALLER = """
import ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
answers = []
for number, arguments in %s:
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_uint64(value) for value in arguments])
    answers.append(errno.errorcode[ctypes.get_errno()] if result == -1 else None)
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def calls():
    """CALLS with this architecture's numbers; those that it does not have are left out."""
    header = subprocess.run(["gcc", "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null"],
                            capture_output=True, text=True, check=True).stdout
    numbers = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)\n", header)}
    return [(name, numbers[name], arguments, refusal) for name, arguments, refusal in CALLS if name in numbers]


def test_calls_that_are_not_for_guests_are_refused(user, calls):
    code = CALLER % repr([(number, arguments) for _, number, arguments, _ in calls])
    inside = cells.run(code, user=user).facts()
    outside = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                        check=True).stdout)
    assert [(name, arguments, got) for (name, _, arguments, _), got in zip(calls, inside)] == [
        (name, arguments, refusal) for name, _, arguments, refusal in calls]
    if cells.IS_ROOT:
        # So that a refusal is known to be the cell's, not the kernel's for everybody.
        alike = [(name, arguments) for (name, _, arguments, refusal), got in zip(calls, outside) if got == refusal]
        assert [row for row in alike if row[0] not in MAY_LACK and (row[0], row[1][0]) not in MAY_LACK] == []


def test_calls_by_the_numbers_of_another_architecture_end_the_program(user):
    if platform.machine() != "x86_64":
        cells.skip("x32 is a thing of x86-64")
    result = cells.run("import ctypes; print(1, flush=True); ctypes.CDLL(None).syscall(0x40000000 | 39); print(2)",
                       user=user)
    assert (result.manifest["status"], result.stdout) == ("error", "1\n") and "SIGSYS" in result.manifest["reason"]


# ---- between cells ----

@pytest.mark.parametrize("path", ["/etc/passwd", "/dev/null"])
def test_locks_on_shared_files_are_not_seen_by_others(user, path):
    lock = f"import fcntl; file = open({path!r}); fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
    with cells.start("try:\n " + "\n ".join(lock.splitlines()) + "\nexcept OSError: pass\n"
                     "import time; print(1, flush=True); time.sleep(60)", user=user) as job:
        job.read_line()
        facts = probe(f"""
import fcntl
report(lock=attempt(fcntl.flock, open({path!r}), fcntl.LOCK_EX | fcntl.LOCK_NB))
""", user=user)
    assert facts["lock"] != "EAGAIN"


def test_temporary_files_are_not_shared(user):
    with cells.start("open('/tmp/mine', 'w').write('x'); print(1, flush=True)\nimport time; time.sleep(60)",
                     user=user) as job:
        job.read_line()
        facts = probe("report(tmp=os.listdir('/tmp'), output=os.listdir('/output'))", user=user)
    assert facts == {"tmp": [], "output": []}
    assert not os.path.exists("/tmp/mine")


@pytest.mark.parametrize("count", [900, 65536])
def test_a_caller_in_many_groups_has_cells_with_limits(base_tree, count):
    """/proc/PID/status names them all, ahead of what the launcher reads there: the filters, the capabilities, the memory."""
    cells.need_root()
    user, groups = cells.ordinary(), {"extra_groups": range(100000, 100000 + count)}
    cells.need_cells(user)
    assert cells.run("print(1)", user=user, popen=groups).stdout == "1\n"
    result = cells.run("x = []\nwhile True: x.append(b'x' * (1 << 20))", "--memory=64M", user=user, popen=groups)
    assert result.manifest["status"] == "memory", result
