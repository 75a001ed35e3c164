"""Attacks that once worked, each in a real cell. Beside each stands what it did."""

import concurrent.futures
import json
import os
import signal
import time

import pytest

import cells

GUARD = "off"  # the kernel holds without it

RAW = """
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def attempt(call, *arguments):
    ctypes.set_errno(0)
    return call(*arguments), errno.errorcode.get(ctypes.get_errno())
"""


def test_descriptors_sent_to_the_launcher_do_not_keep_it_waiting(user):
    """The guest's own stdout, queued behind a broken packet, left the launcher with a pipe that never ended."""
    result = cells.run("""
        import array, os, socket
        channel = socket.socket(fileno=os.dup(3))
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2]))]
        try:
            channel.send(b"\\xff" * 3)
            for _ in range(5):
                channel.sendmsg([b"\\xff" * 3], rights)
        except OSError:
            pass  # hung up on already
        os._exit(0)
        """, "--network=loopback", user=user)
    assert result.manifest["status"] == "error" and "protocol" in " ".join(result.manifest["warnings"])


def test_a_reader_that_is_slow_after_the_end_is_no_timeout(user):
    """The wall clock went on while the output of a job that had ended waited for its reader."""
    with cells.start("print('x' * 100000)", "--timeout=0.5", user=user) as job:
        time.sleep(0.7 * cells.SLOWNESS)  # what must not happen has no event: longer than the limit, with nobody reading
        result = job.finish()
    assert result.manifest["status"] == "ok" and len(result.stdout) == 100001, result


def test_a_signal_to_oneself_is_no_cpu_limit(user):
    result = cells.run("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", user=user)
    assert result.manifest["status"] == "error" and "SIGXCPU" in result.manifest["reason"]


@pytest.mark.parametrize("command", ["F_SETLEASE", "F_NOTIFY", "F_SETOWN", "F_SETPIPE_SZ"])
def test_descriptors_take_no_commands_that_reach_out_of_the_cell(user, command):
    """A lease on an input held up the host's writers; a notification told what other cells read in the tree."""
    data = cells.new_directory(user) / "data.bin"
    data.write_text("x")
    os.chown(data, user.uid, -1)
    result = cells.run(f"""
        import errno, fcntl, os
        where = {{"F_NOTIFY": os.open("/usr/lib", os.O_RDONLY), "F_SETPIPE_SZ": os.pipe()[1]}}
        try:
            print(fcntl.fcntl(where.get("{command}", os.open(d, os.O_RDONLY)), fcntl.{command},
                              {{"F_SETLEASE": fcntl.F_RDLCK, "F_NOTIFY": 1, "F_SETPIPE_SZ": 1 << 20}}.get("{command}", 0)))
        except OSError as error:
            print(errno.errorcode[error.errno])
        """, "--input", f"d={data}", user=user)
    assert result.stdout.strip() in {"EACCES", "EPERM", "ENOSYS"}, result


def test_threads_share_their_descriptors(user):
    """Without CLONE_FILES each thread had a table, and so a limit on open files, of its own."""
    result = cells.run(RAW + """
stack = ctypes.create_string_buffer(65536)
top = (ctypes.addressof(stack) + 65000) & ~15
libc.clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
vm, fs, files, sighand, thread, sysvsem = 0x100, 0x200, 0x400, 0x800, 0x10000, 0x40000
pause = ctypes.cast(libc.pause, ctypes.c_void_p).value
print(*[attempt(libc.clone, pause, top, flags, None)[1] for flags in
        (vm | fs | sighand | thread | sysvsem, vm | files | sighand | thread | sysvsem)], flush=True)
os._exit(0)
""", user=user)
    assert len(result.stdout.split()) == 2 and "None" not in result.stdout, result


def test_memory_that_no_watch_sees_is_not_given_without_a_cgroup(user):
    """Pages of shared mappings stay when they are dropped, where only a cgroup counts them."""
    result = cells.run("""
        import mmap
        size, step = 600 << 20, 8 << 20
        shared = mmap.mmap(-1, size)
        for at in range(0, size, step):
            shared[at:at + step] = b"A" * step
            shared.madvise(mmap.MADV_DONTNEED, at, step)
        print("held")
        """, "--memory=64M", user=user)
    assert "held" not in result.stdout
    if result.enforced_by_cgroup:
        assert result.manifest["status"] == "memory"
    else:
        assert "PermissionError" in result.stderr


def test_page_tables_count_as_memory(user):
    result = cells.run(RAW + """
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
size = 150 << 30
start = libc.mmap(None, size, 1, 0x4022, -1, 0)
assert start != 2 ** 64 - 1
libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), 15)
for at in range(0, size, 2 << 20):
    ctypes.c_char.from_address(start + at).value
print("held", flush=True)
import time
time.sleep(60)
""", "--memory=64M", user=user)
    # In a cgroup the kernel may also slow it down until the time is over.
    assert result.manifest["status"] in ({"memory", "timeout"} if result.enforced_by_cgroup else {"memory"}), result


def test_the_default_place_for_results_follows_no_links(user):
    """As root, in somebody else's directory, a planted link took the results wherever it led."""
    directory, elsewhere = cells.new_directory(user), cells.new_directory(user)
    (directory / "hotcell-output").symlink_to(elsewhere)
    done = cells.hotcell("run", "-t", cells.tree_path("base"), "-", input="open('f', 'w').write('x')", stdin=None,
                         user=user, cwd=directory, env={"TMPDIR": str(cells.new_directory(user))})
    assert done.returncode == 0 and "the results are in " in done.stderr and "hotcell-output: " in done.stderr
    assert not list(elsewhere.iterdir())


def test_launchers_that_start_together_do_not_take_each_others_cgroups(user):
    def one(number):
        return cells.hotcell("run", "-t", cells.tree_path("base"), "--json", "--label", f"n={number}", "-",
                             input="print(1)", stdin=None, user=user, cwd=cells.new_directory(user))

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        done = list(pool.map(one, range(24)))
    assert [run.returncode for run in done] == [0] * 24, [run.stderr for run in done]
    assert {json.loads(run.stdout)["labels"]["n"] for run in done} == {str(n) for n in range(24)}


def test_an_ignored_sigchld_takes_nothing_away(user):
    result = cells.run("print(1)", user=user,
                       popen={"preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)})
    assert result.manifest["status"] == "ok" and result.manifest["process"] == {"exit": 0}


ON_THEIR_WAY = """
    import array, socket, time
    pairs = []
    try:
        while True:
            pairs.append(socket.socketpair())
            for _ in range(20):
                pairs[-1][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))])
    except OSError as error:
        print(error, flush=True)
    time.sleep(60)
    """


@pytest.mark.parametrize("options", [[], ["--network=loopback"]], ids=["default", "loopback"])
def test_descriptors_on_their_way_keep_no_other_cell_from_starting(user, options):
    """The kernel counts them for a user, and without root all cells are one: none could hand its listener over any more."""
    with cells.start(ON_THEIR_WAY, *options, user=user) as job:
        assert ("Too many references" if options else "Operation not permitted") in job.read_line()
        other = cells.run("print(1)", user=user)
        assert (other.manifest["status"], other.stdout) == ("ok", "1\n"), other
