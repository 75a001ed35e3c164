"""cgroup v2: what stands in a cell's leaf, that it holds and is accounted, and what happens where a cgroup will not do.

Wants $HOTCELL_CGROUP, as in the test machine (scripts/vm), where these run as root and as an ordinary user.
"""

import contextlib
import fcntl
import os
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

import cells
import daemons
import session_client

GUARD = "off"  # the kernel holds without it

FOREVER = "while True: pass"
GROW = """
kept = []
while True:
    kept.append(bytearray(1 << 20))
    kept[-1][::4096] = b"x" * 256
"""
DISK = 48 << 20

numbers = iter(range(1000))


@pytest.fixture(scope="module")
def cgroup(base_tree):
    """The place that this machine gives us."""
    place = os.environ.get("HOTCELL_CGROUP")
    if not place:
        cells.machines("HOTCELL_CGROUP is not set: run it in the test machine")
    return Path(place)


@pytest.fixture
def place(cgroup):
    """A place of the test's own."""
    made = cgroup / f"test-{os.getpid()}-{next(numbers)}"
    made.mkdir()
    yield made
    for folder, _, _ in os.walk(made, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
    assert not made.exists()


def run(place, code, *options, **more):
    return cells.run(code, *options, env={"HOTCELL_CGROUP": str(place)}, **more)


@contextlib.contextmanager
def running(place, code, *options):
    """The job, after it has printed a line, and its leaf."""
    with cells.start(code, "--job-id=j1", *options, env={"HOTCELL_CGROUP": str(place)}) as job:
        job.read_line()
        yield job, place / "hotcell-job-j1"


def leaves(place):
    return [path.name for path in place.iterdir() if path.is_dir()]


def value(leaf, name):
    return (leaf / name).read_text(encoding="utf-8").strip()


def ends(result, status, exit_code=3):
    assert (result.manifest["status"], result.status) == (status, exit_code), result
    assert result.enforced_by_cgroup
    return result


def refused(result, status, *words):
    """One line that says it, and no leaf."""
    lines = result.stderr.splitlines()
    assert result.status == status and len(lines) == 1 and not [word for word in words if word not in lines[0]], result


WAIT = "print('ready', flush=True)\nimport time; time.sleep(1000)"


# ---- what is set ----

def test_the_leaf_is_open_to_its_owner_alone(place):
    """Whoever can open it can hold the lock that tells a reaper whether it is in use."""
    with running(place, WAIT) as (job, leaf):
        assert leaf.stat().st_mode & 0o777 == 0o700
        job.signal(15)
        job.finish()


def test_every_limit_stands_in_the_leaf(place):
    options = ["--memory=96M", "--pids=17", "--cpus=0.5", "--cpu-weight=42", "--memory-soft=64M"]
    with running(place, WAIT, *options) as (job, leaf):
        found = {name: value(leaf, name) for name in ("memory.max", "memory.high", "memory.oom.group", "pids.max", "cpu.max",
                                                      "cpu.weight")}
        swap = [value(leaf, name) for name in ("memory.swap.max", "memory.zswap.max") if (leaf / name).exists()]
        job.signal(15)
        by = job.finish().manifest["limits"]["enforced_by"]
    assert found == {"memory.max": str(96 << 20), "memory.high": str(64 << 20), "memory.oom.group": "1", "pids.max": "17",
                     "cpu.max": "50000 100000", "cpu.weight": "42"}
    assert set(swap) <= {"0"}
    assert {by[name] for name in ("memory", "memory_soft", "pids", "cpus", "cpu_weight")} == {"cgroup"}
    assert leaves(place) == []


def test_nothing_of_one_jobs_limits_is_left_for_the_next_of_its_name(place):
    """A leaf that was killed would also kill what is started in it, on many kernels."""
    for memory, pids in ((64, 9), (128, 33)):
        with running(place, WAIT, f"--memory={memory}M", f"--pids={pids}") as (job, leaf):
            assert value(leaf, "memory.max") == str(memory << 20) and value(leaf, "pids.max") == str(pids)
            assert value(leaf, "cpu.max") == "max 100000" and value(leaf, "cpu.weight") == "100"
            job.signal(15)
            job.finish()
    assert leaves(place) == []


# ---- that it holds, and is told apart ----

def test_the_kernels_kill_the_clock_and_a_signal_are_told_apart(place):
    reasons = {}
    for status, code, options in (("memory", GROW, ["--memory=48M", "--memory-soft=0"]), ("timeout", FOREVER, ["--timeout", "4s"]),
                                  ("error", "import os; os.kill(os.getpid(), 9)", []),
                                  ("cpu", FOREVER, ["--cpu=0.3"])):
        reasons[status] = ends(run(place, code, *options), status, 1 if status == "error" else 3).manifest["reason"]
    assert "killed by the kernel" in reasons["memory"] and "limits.timeout" in reasons["timeout"]
    assert "SIGKILL, which hotcell did not send" in reasons["error"] and "limits.cpu" in reasons["cpu"]


def test_memory_of_all_processes_and_files_is_one_sum(place):
    result = ends(run(place, """
import os, time
for _ in range(3):
    if os.fork() == 0: break
open(f"/tmp/{os.getpid()}", "wb").write(bytes(6 << 20))
block = bytearray(10 << 20)
block[::4096] = b"x" * 2560
time.sleep(1000)
""", "--memory=56M", "--memory-soft=0", "--processes=fork"), "memory")
    assert 50 << 20 <= result.manifest["usage"]["memory_peak"] <= 56 << 20
    assert result.manifest["usage"]["memory_max_hits"] > 0


def test_a_share_of_a_processor_is_held(place):
    usage = ends(run(place, FOREVER, "--cpus=0.5", "--timeout", "5s", "--grace=0"), "timeout").manifest["usage"]
    # Whoever is in the kernel is let go on to the end of the call, which takes long in a machine that is emulated.
    assert usage["cpu_user"] + usage["cpu_system"] <= 0.7 * usage["wall"] and usage["cpu_throttled"] > 0


def test_processes_are_counted_and_refused(place):
    result = ends(run(place, "import threading\nwhile True: threading.Thread(target=threading.Event().wait, daemon=True).start()",
                      "--pids=8"), "pids")
    assert result.manifest["usage"]["pids_peak"] in (8, None)


def test_usage_is_the_kernels(place):
    result = ends(run(place, "block = bytearray(32 << 20)\nblock[::4096] = b'x' * 8192\nfor _ in range(10 ** 5): pass"), "ok", 0)
    usage = result.manifest["usage"]
    assert usage["memory_peak"] >= 32 << 20 and usage["pids_peak"] in (2, None)
    assert usage["memory_max_hits"] == usage["memory_high_hits"] == 0 and usage["cpu_throttled"] == 0
    assert usage["major_faults"] >= 0
    if os.path.exists("/proc/pressure/memory"):
        assert {usage[f"{of}_pressure_{how}"] is not None for of in ("memory", "io") for how in ("some", "full")} == {True}


# ---- the soft mark on memory ----

def test_a_program_near_its_limit_gets_a_memory_error_and_keeps_what_it_has(place):
    result = ends(run(place, "open('a.txt', 'w').write('half')\nprint('begun')" + GROW, "--memory=96M"), "memory")
    manifest = result.manifest
    assert manifest["partial"] and result.files() == ["a.txt"] and result.stdout == "begun\n"
    assert manifest["guest"]["error"]["type"] == "MemoryError" and "limits.memory_soft" in manifest["reason"]
    assert manifest["usage"]["memory_high_hits"] > 0 and manifest["process"] == {"exit": 1}


def test_a_program_that_catches_the_memory_error_and_makes_room_goes_on(place):
    result = ends(run(place, "try:" + GROW.replace("\n", "\n ") + "\nexcept MemoryError as e:\n kept = None\n"
                      "more = bytearray(40 << 20)\nmore[::4096] = b'x' * 10240\nprint('summed up')", "--memory=96M"), "ok", 0)
    assert result.stdout == "summed up\n" and not result.manifest["partial"]


def test_a_program_that_catches_the_memory_error_and_takes_more_is_killed(place):
    code = "kept = []\nwhile True:\n try:\n  n = 0\n  while True: kept.append(b'x' * (1 << 20))\n except MemoryError: pass"
    result = ends(run(place, code, "--memory=64M"), "memory")
    assert "killed by the kernel" in result.manifest["reason"], result


def test_an_error_long_after_it_is_an_error_like_any_other(place):
    ends(run(place, "try:" + GROW.replace("\n", "\n ") + "\nexcept MemoryError:\n kept = None\n1 / 0", "--memory=64M"), "error", 1)


def test_a_mark_below_what_the_interpreter_has_is_reached_at_once(place):
    result = ends(run(place, "print('begun', flush=True)" + GROW, "--memory=96M", "--memory-soft=1M"), "memory")
    assert result.manifest["guest"]["error"]["type"] == "MemoryError"


# ---- disks ----

@pytest.fixture(scope="module")
def disk(cgroup):
    """A directory on a disk of its own, whose pages nobody has read: (directory, "MAJOR:MINOR")."""
    cells.need_root()
    for program in ("mkfs.ext4", "losetup", "mount"):
        cells.need_program(program)
    image, folder = cells.scratch() / "disk", Path(tempfile.mkdtemp(dir=cells.scratch()))
    with open(image, "wb") as file:
        file.truncate(DISK * 2)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    control = Path("/dev/loop-control")
    if not control.exists():  # opening it has the kernel load the driver
        with contextlib.suppress(FileExistsError):  # tests run side by side
            os.mknod(control, stat.S_IFCHR | 0o600, os.makedev(10, 237))
    tried = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
    if tried.returncode:
        cells.skip(f"no loop devices here: {tried.stderr.strip()}")
    device = tried.stdout.strip()
    subprocess.run(["mount", device, folder], check=True)
    (folder / "data.txt").write_bytes(b"0123456789abcde\n" * (DISK // 16))
    (folder / "out").mkdir()
    (folder / "out" / "data.txt").write_bytes(bytes(6 << 20))
    folder.chmod(0o755)
    yield folder
    subprocess.run(["umount", folder], check=True)
    subprocess.run(["losetup", "--detach", device], check=True)


def forget(folder):
    """What is cached of it, and of the file that the disk is: all that the machine has cached goes."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("1", encoding="ascii")
    assert (folder / "data.txt").exists()


READ = "n = 0\nwith open('/input/d.txt', 'rb') as file:\n while block := file.read(1 << 18): n += len(block)\nprint(n)"


def test_files_that_are_read_are_no_memory_that_is_used_up(place, disk):
    forget(disk)
    result = ends(run(place, READ, "--memory=40M", f"--input=d={disk}/data.txt", "--output-size=1M"), "ok", 0)
    assert result.stdout == f"{DISK}\n"


def test_reading_from_a_disk_has_its_speed(place, disk):
    """The launcher reads inputs, for their hash, and the kernel keeps them; of what is in /output nobody has read anything."""
    forget(disk)
    code = READ.replace("/input/d.txt", "/output/data.txt")
    result = ends(run(place, code, "--io-read=2M", "--timeout=30", "--output-mode=bind", f"--output={disk}/out"), "ok", 0)
    assert result.manifest["limits"]["enforced_by"]["io"] == "cgroup" and result.manifest["usage"]["wall"] > 2
    assert result.manifest["usage"]["read_bytes"] >= 6 << 20 and result.manifest["usage"]["reads"] > 0


def test_writing_to_a_disk_has_its_speed(place, disk):
    code = """
import os
import socket
with open("/output/big", "wb") as file:
    for _ in range(6):
        file.write(bytes(1 << 20))
        file.flush()
        os.fsync(file.fileno())
"""
    with running(place, WAIT, "--io-write=2M", "--output-mode=bind", f"--output={disk}/out") as (job, leaf):
        assert " wbps=2097152 " in value(leaf, "io.max")
        job.signal(15)
        job.finish()
    result = ends(run(place, code, "--io-write=2M", "--output-mode=bind", f"--output={disk}/out", "--timeout=30"), "ok", 0)
    assert result.manifest["usage"]["wall"] > 2 and result.manifest["usage"]["written_bytes"] >= 6 << 20


def test_requests_to_a_disk_are_counted(place, disk):
    """Sixty that are each of one block: hardly any bytes, and six seconds."""
    code = """
import os
with open("/output/small", "wb") as file:
    for _ in range(60):
        file.write(bytes(4096))
        file.flush()
        os.fdatasync(file.fileno())
"""
    bind = ("--output-mode=bind", f"--output={disk}/out", "--timeout=60")
    free = ends(run(place, code, "--io-read-ops=0", *bind), "ok", 0)
    limits = ("--io-read-ops=30", "--io-write-ops=10", "--io-write=1M")
    with running(place, WAIT, *limits, *bind) as (job, leaf):
        assert "rbps=max wbps=1048576 riops=30 wiops=10" in value(leaf, "io.max")
        job.signal(15)
        job.finish()
    slow = ends(run(place, code, *limits, *bind), "ok", 0)
    assert slow.manifest["limits"]["io_write_ops"] == 10 and slow.manifest["limits"]["enforced_by"]["io"] == "cgroup"
    assert slow.manifest["usage"]["wall"] > free.manifest["usage"]["wall"] + 2


def test_a_disk_that_is_none_is_said_or_refused(place):
    """Where the tree or the results are on a disk, it has the limit; else nothing claims that there is one."""
    result = ends(run(place, "print(1)", "--io-read=1M"), "ok", 0)
    enforced = result.manifest["limits"]["enforced_by"]["io"] == "cgroup"
    assert enforced != any("limits.io_read" in warning for warning in result.manifest["warnings"])
    if enforced:
        ends(run(place, "print(1)", "--io-read=1M", "--enforcement=cgroup"), "ok", 0)
        return
    refused(run(place, "print(1)", "--io-read=1M", "--enforcement=cgroup"), 69, "limits.io_read", "limits.enforcement")
    assert leaves(place) == []


# ---- places that will not do ----

def test_a_place_without_controllers_is_refused(place):
    (place / "below").mkdir()  # which gets none that it could give on
    result = run(place / "below", "print(1)")
    refused(result, 78, "HOTCELL_CGROUP", "memory and pids")


def test_a_place_with_processes_of_its_own_is_refused(place):
    with subprocess.Popen(["sleep", "1000"]) as process:
        try:
            (place / "cgroup.procs").write_text(str(process.pid), encoding="utf-8")
            refused(run(place, "print(1)"), 78, "HOTCELL_CGROUP", "child")
            assert untouched(place)
        finally:
            process.kill()


def test_a_threaded_place_is_refused(place):
    threaded = place / "threaded"
    threaded.mkdir()
    (threaded / "cgroup.type").write_text("threaded", encoding="utf-8")
    refused(run(threaded, "print(1)"), 78, "HOTCELL_CGROUP", "threaded")


def test_a_frozen_place_is_refused(place):
    (place / "cgroup.freeze").write_text("1", encoding="utf-8")
    refused(run(place, "print(1)"), 69, "frozen", "cgroup.freeze")
    assert leaves(place) == []


def test_a_place_that_takes_no_more_is_refused(place):
    (place / "cgroup.max.descendants").write_text("0", encoding="utf-8")
    refused(run(place, "print(1)"), 69, "cgroup.max.descendants")
    assert leaves(place) == []


def test_no_room_for_another_process_above_is_said(place):
    ends(run(place, "print(1)"), "ok", 0)  # gives its children the controllers
    (place / "pids.max").write_text("0", encoding="utf-8")
    refused(run(place, "print(1)"), 69, "pids.max")
    assert leaves(place) == []


def test_a_place_that_is_gone_or_not_ours_is_refused(cgroup):
    refused(run(cgroup / "no-such", "print(1)"), 78, "HOTCELL_CGROUP", "no-such")
    if not cells.IS_ROOT:
        refused(run("/sys/fs/cgroup", "print(1)"), 78, "HOTCELL_CGROUP", "not delegated")


def test_a_cell_that_somebody_freezes_ends_at_its_timeout_and_it_is_said(place):
    with running(place, WAIT, "--timeout", "5s") as (job, leaf):
        (leaf / "cgroup.freeze").write_text("1", encoding="utf-8")
        result = ends(job.finish(), "timeout")
    assert "frozen" in result.manifest["reason"] and leaves(place) == []


# ---- a cgroup of the launcher's own ----

def inside(place):
    """What starts the launcher in there. Root, for whom the top would do, sees no more than that, as in a container."""
    enter = ["sh", "-c", 'echo 0 >"$0/cgroup.procs" && exec "$@"', place]
    if not cells.IS_ROOT:
        return enter
    return [*enter, "unshare", "--cgroup", "--mount", "sh", "-c",
            'umount -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec "$@"', "sh"]


def untouched(place):
    return value(place, "cgroup.subtree_control") == "" and value(place, "cgroup.type") == "domain" and not leaves(place)


def test_a_launcher_alone_in_its_cgroup_moves_aside_to_divide_it(place):
    options = ["--job-id=j1", "--enforcement=cgroup", "--memory=64M"]
    with cells.start(WAIT, *options, wrapper=inside(place), env={"HOTCELL_CGROUP": ""}) as job:
        job.read_line()
        assert value(place / "hotcell-job-j1", "memory.max") == str(64 << 20)
        assert value(place / "hotcell-launcher", "cgroup.procs") == str(job.pid)
        job.signal(15)
        ends(job.finish(), "killed", job.process.returncode)
    assert leaves(place) == ["hotcell-launcher"]  # which whoever made the place removes with it


def test_a_cgroup_that_others_are_in_too_is_left_as_it_was(place):
    with subprocess.Popen([*inside(place)[:4], "sleep", "1000"]) as process:
        try:
            cells.wait_until("it is in there", lambda: value(place, "cgroup.procs"))
            result = cells.run("print(1)", wrapper=inside(place), env={"HOTCELL_CGROUP": ""})
            assert result.manifest["status"] == "ok" and untouched(place), result
            assert result.enforced_by_cgroup != cells.IS_ROOT  # the user may divide the one around it
        finally:
            process.kill()


# ---- what is left ----

def test_what_a_killed_launcher_left_goes_with_the_next_run(place):
    with running(place, WAIT) as (job, leaf):
        job.process.kill()
        job.process.wait()
        cells.wait_until("the cell is dead", lambda: "populated 0" in value(leaf, "cgroup.events"))
    assert leaves(place) == [leaf.name]
    ends(run(place, "print(1)"), "ok", 0)
    assert leaves(place) == []


def clean(place):
    done = cells.hotcell("clean", env={"HOTCELL_CGROUP": str(place)})
    assert done.returncode == 0, done
    return done.stdout


def test_processes_that_nobody_holds_are_killed_with_their_leaf(place):
    leaf = place / "hotcell-job-left"
    leaf.mkdir()
    with subprocess.Popen(["sleep", "1000"]) as process:
        (leaf / "cgroup.procs").write_text(str(process.pid), encoding="utf-8")
        assert clean(place).startswith("1 left-over cell removed")
        assert process.wait() == -9
    assert leaves(place) == []


def test_a_leaf_that_somebody_holds_and_others_directories_stay(place):
    for name in ("hotcell-job-held", "somebody"):
        (place / name).mkdir()
    held = os.open(place / "hotcell-job-held", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert clean(place).startswith("0 left-over")
    ends(run(place, "print(1)"), "ok", 0)
    assert sorted(leaves(place)) == ["hotcell-job-held", "somebody"]
    os.close(held)
    assert clean(place).startswith("1 left-over") and leaves(place) == ["somebody"]


def test_a_running_job_is_not_reaped(place):
    with running(place, WAIT) as (job, leaf):
        assert clean(place).startswith("0 left-over")
        ends(run(place, "print(1)"), "ok", 0)
        assert "populated 1" in value(leaf, "cgroup.events")
        job.signal(15)
        ends(job.finish(), "killed", job.process.returncode)


# ---- warm cells ----

@pytest.fixture
def warm(monkeypatch):
    """Launchers that the test starts run their jobs in cells that have waited for them."""
    launcher = cells.BUILD / "warm" / "hotcell"
    if not launcher.exists():
        cells.skip(f"{launcher} is not built: run 'make warm'")
    monkeypatch.setattr(cells, "HOTCELL", launcher)


def test_a_warm_cell_has_its_limits_from_its_birth_on_and_leaves_nothing(place, warm):
    options = ["--memory=96M", "--pids=17", "--cpus=0.5", "--cpu-weight=42", "--enforcement=cgroup"]
    with cells.start(WAIT, *options, env={"HOTCELL_CGROUP": str(place), "HOTCELL_WARM_SAY": "1"}) as job:
        job.read_line()
        zygote, = [path for path in place.iterdir() if path.name.startswith("hotcell-job-zygote-")]
        leaf, = [path for path in place.iterdir() if path.name.startswith("hotcell-job-warm-")]
        found = {name: value(leaf, name) for name in ("memory.max", "memory.oom.group", "pids.max", "cpu.max", "cpu.weight")}
        bound, inside, above = value(zygote, "memory.max"), value(leaf, "cgroup.procs"), value(zygote, "cgroup.procs")
        job.signal(15)
        result = job.finish()
    assert found == {"memory.max": str(96 << 20), "memory.oom.group": "1", "pids.max": "17", "cpu.max": "50000 100000",
                     "cpu.weight": "42"}
    assert len(inside.split()) == len(above.split()) == 2 and not set(inside.split()) & set(above.split())
    assert 96 << 20 < int(bound) < 1 << 30
    assert "warm: yes" in result.stderr and result.enforced_by_cgroup, result
    assert result.manifest["layers"]["cgroup"]["on"] and result.manifest["layers"]["cgroup_namespace"]["on"]
    assert leaves(place) == []


def test_limits_of_a_warm_cell_hold_and_its_use_is_the_kernels(place, warm):
    used = {}
    for status, code, options in (
            ("memory", GROW, ["--memory=64M", "--memory-soft=0"]),
            ("pids", "import threading\nwhile True: threading.Thread(target=threading.Event().wait, daemon=True).start()", ["--pids=8"]),
            ("cpu", FOREVER, ["--cpu=0.5", "--cpus=0.5"])):
        result = cells.run(code, *options, env={"HOTCELL_CGROUP": str(place), "HOTCELL_WARM_SAY": "1"})
        assert "warm: yes\n" in result.stderr, result
        used[status] = ends(result, status).manifest["usage"]
        assert leaves(place) == []
    assert 32 << 20 < used["memory"]["memory_peak"] <= 64 << 20 and used["memory"]["memory_max_hits"] > 0
    assert used["pids"]["pids_peak"] in (8, None)
    assert used["cpu"]["cpu_user"] + used["cpu"]["cpu_system"] >= 0.5 and used["cpu"]["cpu_throttled"] > 0


def test_what_a_killed_launcher_of_warm_cells_left_goes_with_the_next(place, warm):
    with cells.start(WAIT, env={"HOTCELL_CGROUP": str(place)}) as job:
        job.read_line()
        left = [place / name for name in leaves(place)]
        job.process.kill()
        job.process.wait()
        for leaf in left:
            cells.wait_until("nobody is left", lambda leaf=leaf: "populated 0" in value(leaf, "cgroup.events"))
    assert len(left) == 2
    ends(run(place, "print(1)"), "ok", 0)
    assert leaves(place) == []


# ---- sessions ----

def fill(name, size):
    return f"{name} = bytearray({size} << 20)\n{name}[::4096] = b'x' * ({size} << 8)"


STUBBORN = f"""del state
while True:
  try:{GROW.replace(chr(10), chr(10) + "   ")}
  except MemoryError: pass"""


@pytest.mark.parametrize("soft, programs", [
    ("96M", [STUBBORN]),
    ("0", [STUBBORN, f"del state\n{fill('a', 36)}\n{fill('b', 36)}", "del state; a = b'x' * (1 << 28)"]),
])
def test_memory_costs_a_run_and_not_the_copy_even_if_that_is_larger(place, soft, programs):
    """The kernel, left alone, ends the largest process."""
    with session_client.Session("--memory=128M", f"--memory-soft={soft}", env={"HOTCELL_CGROUP": str(place)}) as session:
        assert session.run(fill("state", 76)).status == "ok"
        for code in programs:
            run = session.run(code)
            assert (run.status, run.state) == ("memory", f"rolled back to run {run.number - 1}"), run
            assert run.manifest["limits"]["enforced_by"]["memory"] == "cgroup" and "limits.memory" in run.manifest["reason"]
            assert session.run("len(state) >> 20").value == 76
    assert leaves(place) == []


# ---- tenants ----

@pytest.fixture
def tenants(place):
    """A daemon of one worker, and us as its tenant "heavy"."""
    config = {"workers": 1, "tenants": {"heavy": {"uids": [os.getuid()], "weight": 300}}}
    with daemons.Daemon(config=config, env={"HOTCELL_CGROUP": str(place)}) as daemon:
        yield daemon


def test_a_tenants_cells_share_one_weight_and_nothing_is_left_of_them(place, tenants):
    inside = place / "hotcell-tenant-heavy"
    job = tenants.post_async(WAIT)
    leaf = inside / f"hotcell-job-{job}"
    cells.wait_until("the cell runs", lambda: leaf.exists() and "populated 1" in value(leaf, "cgroup.events"))
    weight, bound = value(inside, "cpu.weight"), value(leaf, "pids.max")
    tenants.request("DELETE", f"/v1/jobs/{job}")
    assert weight == "300" and int(bound) > 0
    for _ in range(3):  # the last in a cell that has waited
        assert tenants.post("print(1)").json["limits"]["enforced_by"]["memory"] == "cgroup"
    cells.wait_until("a cell waits", lambda: [name.split("-")[2] for name in leaves(inside)] == ["warm"])
    # The interpreter, which makes the cells of other tenants too, is in the place for all.
    assert sorted(name.split("-")[2] for name in leaves(place)) == ["heavy", "zygote"]
    assert tenants.end() == 0
    assert leaves(place) == []


def test_what_a_worker_that_died_left_goes(place, tenants):
    inside = place / "hotcell-tenant-heavy"
    job = tenants.post_async(WAIT)
    leaf = inside / f"hotcell-job-{job}"
    cells.wait_until("the cell runs", lambda: leaf.exists() and "populated 1" in value(leaf, "cgroup.events"))
    os.kill(tenants.busy_worker(), 9)
    cells.wait_until("all is gone", lambda: not inside.exists())
