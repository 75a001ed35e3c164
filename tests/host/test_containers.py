"""hotcell in containers, with the fields that hotcell-hosts(7) names and without them: crun, as root in the test machine."""

import json
import os
import re

import cells
import containers
import pytest
from containers import Container

GUARD = "off"  # the kernel is what is tested
HELLO = "printf 'import os\\nprint(6 * 7)\\n' | /srv/build/hotcell run -o /tmp/out -; echo status $?; "
DOCTOR = "/srv/build/hotcell doctor --json"
USER_WITHOUT_RIGHTS = {"uid": 1000, "capabilities": []}


@pytest.fixture(autouse=True)
def engine(base_tree):
    cells.need_root()
    if not os.environ.get("VM_CGROUP"):
        cells.machines("crun needs a host with cgroup v2 alone: run it in the test machine")
    cells.need_program("crun")


def hello(container, before=""):
    """The manifest of a run that works in the container."""
    done = container.run(before + HELLO + "cat /tmp/out/manifest.json")
    lines = done.stdout.split("\n", 2)
    assert lines[:2] == ["42", "status 0"] and done.stderr == "", done
    return json.loads(lines[2])


def doctor(container):
    """The checks by name, and what a run said before."""
    done = container.run(HELLO + DOCTOR)
    said, brace, answer = done.stdout.partition("{")
    assert brace, done
    return {check["name"]: check for check in json.loads(brace + answer)["checks"]}, said + done.stderr


# ---- what works ----

@pytest.mark.parametrize("container", [
    Container(), Container(**USER_WITHOUT_RIGHTS), Container(user_namespace=True), Container(user_namespace=True, **USER_WITHOUT_RIGHTS),
    Container(profile=None, masked=False)],
    ids=["root", "a user without rights", "root, with a user namespace", "a user without rights, with a user namespace", "all open"])
def test_a_program_runs_with_the_profile_alone(container):
    """With it neither a user namespace nor an unmasked /proc is needed, but for warm cells."""
    layers = hello(container)["layers"]
    assert layers["user_namespace"]["on"] and layers["seccomp"]["on"] and layers["read_only_tree"]["on"], layers


def test_doctor_finds_nothing_missing_with_an_unmasked_proc():
    checks, _ = doctor(Container(user_namespace=True, masked=False, **USER_WITHOUT_RIGHTS))
    assert [check for check in checks.values() if check["level"] == "fail"] == []
    assert checks["proc"]["level"] == "ok", checks["proc"]


def test_root_of_a_user_namespace_runs_jobs_under_ids_that_it_has():
    checks, said = doctor(Container(user_namespace=True))
    assert said.startswith("42\n"), said
    first, last = map(int, re.search(r"host uids (\d+) to (\d+)$", checks["host ids"]["detail"]).groups())
    assert 1000 < first < last < containers.IDS


def test_the_profile_refuses_what_no_cell_needs():
    attempt = "/usr/bin/python3 -c 'import ctypes, errno; call = ctypes.CDLL(None, use_errno=True).syscall; call(250, -1, 0, 0, 0, 0); " \
        "print(errno.errorcode[ctypes.get_errno()])'"
    assert Container(profile=None).run(attempt).stdout != "EPERM\n"
    assert Container().run(attempt).stdout == "EPERM\n"


def test_a_writable_cgroup_of_its_own_holds_limits():
    own = "cd /sys/fs/cgroup && mkdir main && echo $$ >main/cgroup.procs && export HOTCELL_CGROUP=/sys/fs/cgroup && cd /tmp && "
    assert hello(Container(cgroup_writable=True), own)["layers"]["cgroup"]["on"]
    assert not hello(Container())["layers"]["cgroup"]["on"]


# ---- what does not ----

@pytest.mark.parametrize("rights", [{}, USER_WITHOUT_RIGHTS], ids=["root", "a user without rights"])
def test_the_engines_own_profile_is_named(rights):
    checks, said = doctor(Container(profile=containers.DEFAULT_PROFILE, **rights))
    assert "status 69" in said and "'hotcell doctor' says" in said, said
    check = checks["user namespaces"]
    assert check["level"] == "fail"
    assert all(field in check["mend"] for field in ("seccomp=unconfined", "seccompProfile", "hotcell-hosts(7)")), check


def test_a_masked_proc_costs_the_warm_cells_and_is_named():
    """Masks that are in force: nobody can mount a whole /proc, either."""
    attempt = "mkdir /tmp/proc; unshare --user --map-root-user --mount --pid --fork mount -t proc proc /tmp/proc && echo mounted; "
    batch = "cd /tmp; for n in 1 2; do echo '{\"code\": \"print(6 * 7)\"}'; done >jobs; /srv/build/hotcell batch jobs; echo status $?"
    unmasked, masked = (Container(masked=masked, **USER_WITHOUT_RIGHTS).run(attempt + batch) for masked in (False, True))
    assert unmasked.stdout == "mounted\nstatus 0\n" and "no warm cells" not in unmasked.stderr, unmasked
    assert masked.stdout == "status 0\n" and "mount a new proc: Operation not permitted" in masked.stderr, masked
    assert "'hotcell doctor' says" in masked.stderr, masked
    check = doctor(Container(**USER_WITHOUT_RIGHTS))[0]["proc"]
    assert check["level"] == "note" and "no warm cells" in check["cost"], check
    assert all(field in check["mend"] for field in ("systempaths=unconfined", "procMount: Unmasked", "hostUsers: false")), check


@pytest.mark.parametrize("user_namespace", [False, True])
def test_root_without_capabilities_is_told_to_be_an_ordinary_user(user_namespace):
    checks, said = doctor(Container(capabilities=[], user_namespace=user_namespace))
    assert "status 69" in said and "'hotcell doctor' says" in said, said
    check = checks["user namespaces"]
    assert check["level"] == "fail" and "SETUID and SETGID" in check["mend"] and "runAsUser" in check["mend"], check
