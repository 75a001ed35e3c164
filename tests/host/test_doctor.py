"""What `hotcell doctor` says of a host, and that a run on that host bears it out."""
import errno
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

import cells
import pytest

BUILD = pathlib.Path(os.environ.get("HOTCELL_BUILD", pathlib.Path(__file__).parents[2] / "build")).resolve()
HOTCELL = str(BUILD / "hotcell")
ROOT = os.geteuid() == 0
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
LEVELS = {"ok", "note", "fail"}
REFUSED = {69, 78}  # how a run ends that cannot have its cell: the host lacks something, or is set up wrongly

needs_root = pytest.mark.skipif(not ROOT, reason="changes who it runs as, or what is mounted")


def call(*command, stdin="", **env):
    return subprocess.run(command, env={**os.environ, **env}, cwd="/", input=stdin, capture_output=True, text=True,
                          timeout=300, check=False)


def doctor(*prefix, **env):
    """The exit status, and the checks by name."""
    done = call(*prefix, HOTCELL, "doctor", "--json", **env)
    assert done.stderr == ""
    answer = json.loads(done.stdout)
    assert set(answer) == {"ok", "checks"}
    for check in answer["checks"]:
        assert set(check) == {"name", "level", "detail", "cost", "mend"}
        assert check["level"] in LEVELS
        assert check["detail"]
        assert bool(check["cost"]) == (check["level"] != "ok")
        assert check["mend"] == "" or check["level"] != "ok"
    checks = {check["name"]: check for check in answer["checks"]}
    assert len(checks) == len(answer["checks"])
    assert answer["ok"] == all(check["level"] != "fail" for check in checks.values())
    assert done.returncode == (0 if answer["ok"] else 69)
    return done.returncode, checks


def run_hello(*prefix, **env):
    done = call(*prefix, HOTCELL, "run", "-", stdin="print('hello')\n", **env)
    assert (done.returncode == 0) == (done.stdout == "hello\n")
    return done.returncode


def under_filter(number, error):
    """A prefix: run the rest with one system call refused, as inside a container."""
    load, jump_equal, give = 0x20, 0x15, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000 | error
    code = [(load, 0, 0, 0), (jump_equal, 0, 1, number), (give, 0, 0, refuse), (give, 0, 0, allow)]
    program = b"".join(struct.pack("=HBBI", *step) for step in code).hex()
    script = (
        "import ctypes, os, struct, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"code = ctypes.create_string_buffer(bytes.fromhex({program!r}))\n"
        f"head = ctypes.create_string_buffer(struct.pack('@HP', {len(code)}, ctypes.addressof(code)))\n"
        "assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, head, 0, 0) == 0\n"
        "os.execv(sys.argv[1], sys.argv[1:])\n"
    )
    return [sys.executable, "-c", script]



def in_user_namespace(script):
    """A prefix: a shell line as root of a new user namespace, which has no other id, then the rest."""
    return ["unshare", "--user", "--map-root-user", "sh", "-c", script + ' && exec "$@"', "sh"]


CLONE3 = 435  # on every architecture


# ---- what works ----

@pytest.fixture(params=[[], pytest.param(NOBODY, marks=needs_root)], ids=["caller", "nobody"])
def prefix(request):
    """Whom it is run as; nobody needs a build that it can read."""
    tried = subprocess.run([*request.param, str(HOTCELL), "--version"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip(f"{HOTCELL} cannot be run by everybody")
    return request.param


def test_a_run_does_what_doctor_said(prefix, tmp_path):
    status, checks = doctor(*prefix, HOME=str(tmp_path))
    assert status == 0, checks
    assert run_hello(*prefix, HOME=str(tmp_path)) == 0
    layers = checks["a cell"]["detail"]
    for layer in ("user_namespace", "time_namespace", "capabilities", "seccomp", "seccomp_job", "read_only_tree"):
        assert re.search(rf"; on: .*\b{layer}\b", layers), layer


def test_cgroups_are_on_exactly_where_doctor_found_them(prefix, tmp_path):
    _, checks = doctor(*prefix, HOME=str(tmp_path))
    found = "cgroup of a job" in checks
    assert found == bool(re.search(r"; on: [^;]*\bcgroup\b(?!_)", checks["a cell"]["detail"]))
    assert found or checks["cgroup v2 controllers"]["level"] == "note"
    assert found or checks["cgroup v2 controllers"]["mend"]


def test_the_text_has_a_line_for_each_check():
    _, checks = doctor()
    done = call(HOTCELL, "doctor")
    lines = done.stdout.splitlines()
    assert len(lines) == len(checks)
    for line, check in zip(lines, checks.values()):
        level, name = re.match(r"(ok|note|FAIL) +(.{23}) ", line).groups()
        assert (level.lower(), name.strip()) == (check["level"], check["name"])
        assert check["cost"] in line and check["mend"] in line


# ---- what does not ----


def fails(checks, name):
    assert checks[name]["level"] == "fail", checks[name]
    return checks[name]


def test_no_user_namespaces_names_the_switch():
    prefix = in_user_namespace("echo 0 >/proc/sys/user/max_user_namespaces")
    status, checks = doctor(*prefix)
    assert status == 69
    check = fails(checks, "user namespaces")
    assert "user.max_user_namespaces is 0" in check["detail"]
    assert "sysctl -w user.max_user_namespaces=" in check["mend"]
    assert "a cell" not in checks and "pivot_root" not in checks
    assert run_hello(*prefix) in REFUSED


@pytest.mark.parametrize("kind, limit", [("mount", "mnt"), ("pid", "pid"), ("network", "net"), ("ipc", "ipc"),
                                         ("uts", "uts"), ("cgroup", "cgroup"), ("time", "time")])
def test_a_missing_namespace_is_named(kind, limit):
    status, checks = doctor(*in_user_namespace(f"echo 0 >/proc/sys/user/max_{limit}_namespaces"))
    assert status == 69
    check = fails(checks, "other namespaces")
    assert check["detail"].startswith(f"no {kind} namespace")
    assert f"sysctl -w user.max_{limit}_namespaces=" in check["mend"]


def test_ids_that_are_not_there_are_told_from_missing_namespaces():
    prefix = in_user_namespace("true")
    status, checks = doctor(*prefix)
    assert status == 69
    assert "/proc/self/uid_map" in fails(checks, "host ids")["mend"]
    assert checks["user namespaces"]["level"] == "ok"
    assert run_hello(*prefix) in REFUSED


def test_a_container_that_filters_clone3_is_told_from_an_old_kernel(prefix, tmp_path):
    prefix = [*prefix, *under_filter(CLONE3, errno.ENOSYS)]
    status, checks = doctor(*prefix, HOME=str(tmp_path))
    assert status == 69
    assert "seccomp=unconfined" in fails(checks, "user namespaces")["mend"]
    assert run_hello(*prefix, HOME=str(tmp_path)) in REFUSED


@pytest.mark.parametrize("name, check", [("mount_setattr", "mount interface"), ("openat2", "files and processes"),
                                         ("close_range", "files and processes"), ("fsopen", "mount interface"),
                                         ("pivot_root", "pivot_root")])
def test_a_system_call_that_is_missing_is_named(name, check):
    numbers = {"mount_setattr": 442, "openat2": 437, "close_range": 436, "fsopen": 430,
               "pivot_root": {"x86_64": 155, "aarch64": 41}[os.uname().machine]}
    status, checks = doctor(*under_filter(numbers[name], errno.ENOSYS))
    assert status == 69
    assert name in fails(checks, check)["detail"]


def test_without_landlock_runs_work_and_it_is_noted():
    status, checks = doctor(*under_filter(444, errno.EOPNOTSUPP))
    assert status == 0, checks
    assert checks["Landlock"]["level"] == "note"
    assert "lsm=" in checks["Landlock"]["mend"]
    assert re.search(r"; off: .*\blandlock\b", checks["a cell"]["detail"])


def test_without_landlock_a_list_of_commands_that_nothing_holds_does_not_start(shell_tree):
    del shell_tree
    wrapper = under_filter(444, errno.EOPNOTSUPP)
    listed = cells.execute(["sh", "-c", "true"], policy={"extends": "shell", "commands": {"allow": ["sh"]}}, wrapper=wrapper)
    assert listed.status == 69 and "commands.allow lists programs, which only Landlock can hold" in listed.stderr, listed
    every = cells.execute(["sh", "-c", "ls / >/dev/null && echo ran"], wrapper=wrapper)
    assert every.stdout == "ran\n" and not every.manifest["layers"]["landlock"]["on"], every


@needs_root
def test_without_any_tree_the_build_command_is_named(tmp_path):
    prefix = ["unshare", "--mount", "sh", "-c",
              'mkdir -p /var/lib/hotcell && mount -t tmpfs none /var/lib/hotcell && exec "$@"', "sh"]
    status, checks = doctor(*prefix, HOTCELL_STATE=str(tmp_path / "state"))
    assert status == 69
    assert "hotcell tree build scientific" in fails(checks, "default tree")["mend"]
    assert "a cell" not in checks
    assert run_hello(*prefix, HOTCELL_STATE=str(tmp_path / "state")) == 69


def test_another_tree_shows_that_cells_work_and_yet_a_default_run_would_not(tmp_path):
    (tmp_path / "default.json").write_text('{"name": "default", "tree": "never-built"}')
    status, checks = doctor(HOTCELL_POLICIES=str(tmp_path))
    assert status == 69
    assert "hotcell tree build never-built" in fails(checks, "default tree")["mend"]
    assert checks["a cell"]["level"] == "ok"
    assert run_hello(HOTCELL_POLICIES=str(tmp_path)) == 69


def test_a_default_policy_that_is_wrong(tmp_path):
    (tmp_path / "default.json").write_text('{"name": "default",\n "limits": {"memory": []}}')
    status, checks = doctor(HOTCELL_POLICIES=str(tmp_path))
    assert status == 69
    assert "default.json:2:" in fails(checks, "default policy")["detail"]


def test_no_place_for_trees():
    status, checks = doctor(HOTCELL_STATE="relative/path")
    assert status == 69
    assert "HOTCELL_STATE" in fails(checks, "state directory")["detail"]


def test_a_cgroup_that_is_none_is_said_and_stops_every_run():
    status, checks = doctor(HOTCELL_CGROUP="/proc")
    assert status == 69, checks
    assert "/proc" in fails(checks, "cgroup v2 controllers")["detail"]
    assert run_hello(HOTCELL_CGROUP="/proc") in REFUSED


def test_a_policy_that_insists_on_cgroups_makes_them_a_failure(tmp_path):
    shipped = json.loads(call(HOTCELL, "policy", "show", "default").stdout)
    shipped["limits"]["enforcement"] = "cgroup"
    (tmp_path / "default.json").write_text(json.dumps(shipped))
    status, checks = doctor(HOTCELL_POLICIES=str(tmp_path), HOTCELL_CGROUP="/proc")
    assert status == 69
    fails(checks, "cgroup v2 controllers")
    assert run_hello(HOTCELL_POLICIES=str(tmp_path), HOTCELL_CGROUP="/proc") in REFUSED


# ---- nothing stays ----

# Whatever outlives doctor becomes a child of this, and is waited for: a sleeper would make it hang.
GUARDIAN = """
import ctypes, os, subprocess, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
kill_after, command = int(sys.argv[1]), sys.argv[2:]
child = subprocess.Popen(command, stdout=subprocess.PIPE)
if kill_after:
    for _ in range(kill_after):
        child.stdout.readline()
    child.kill()
else:
    child.stdout.read()
child.wait()
orphans = 0
try:
    while os.waitpid(-1, 0):
        orphans += 1
except ChildProcessError:
    pass
print(orphans)
"""


def leaves():
    tops = [pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/sys/fs/cgroup/unified")]
    return {path for top in tops for path in top.rglob("hotcell-job-*")}


def test_nothing_is_left_behind(tmp_path):
    mounts, cgroups = pathlib.Path("/proc/self/mountinfo").read_text(), leaves()
    done = subprocess.run([sys.executable, "-c", GUARDIAN, "0", HOTCELL, "doctor"], cwd=tmp_path, text=True,
                          capture_output=True, timeout=300, check=True)
    assert done.stdout == "0\n"
    assert pathlib.Path("/proc/self/mountinfo").read_text() == mounts
    assert leaves() <= cgroups
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("lines", [1, 4, 9, 14])
def test_a_doctor_that_is_killed_takes_its_attempts_along(lines, tmp_path):
    subprocess.run([sys.executable, "-c", GUARDIAN, str(lines), HOTCELL, "doctor"], cwd=tmp_path,
                   capture_output=True, timeout=300, check=True)


# ---- the command line ----


def test_help_and_unknown_arguments():
    done = call(HOTCELL, "doctor", "--help")
    assert done.returncode == 0 and "--json" in done.stdout
    done = call(HOTCELL, "doctor", "--jason")
    assert done.returncode == 64 and "--jason" in done.stderr and done.stdout == ""
