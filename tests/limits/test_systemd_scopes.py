"""Scopes that hotcell asks of systemd, and what is at the top of the hierarchy beside it.

Wants systemd as process 1: in the test machine, scripts/vm --systemd for root, --systemd --user for an ordinary user.
"""

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

import cells
from test_cgroups import WAIT, ends, refused, value

GUARD = "off"  # the kernel holds without it


@pytest.fixture(scope="module", autouse=True)
def systemd(base_tree):
    if not os.path.exists("/run/systemd/system"):
        cells.machines("systemd is not the manager of this machine")


@pytest.fixture
def login(systemd):
    """An ordinary user's, with a manager of its own."""
    if cells.IS_ROOT:
        cells.skip("is for an ordinary user")


def scopes(*jobs):
    """The directories of what these have asked for."""
    names = tuple(f"hotcell-{job.pid}-" for job in jobs)
    return [folder for folder, _, _ in os.walk("/sys/fs/cgroup")
            if os.path.basename(folder).startswith(names) and folder.endswith(".scope")]


def test_a_user_gets_a_scope_of_the_managers_and_it_goes_with_the_job(login):
    with cells.start(WAIT, "--job-id=j1", "--enforcement=cgroup", "--memory=64M") as job:
        job.read_line()
        scope, = scopes(job)
        leaf = Path(scope) / "hotcell-job-j1"
        assert value(leaf, "memory.max") == str(64 << 20)
        assert str(job.pid) in value(Path(scope) / "hotcell-launcher", "cgroup.procs").split()
        job.signal(15)
        ends(job.finish(), "killed", job.process.returncode)
    cells.wait_until("the scope is gone", lambda: not scopes(job), 60)


def test_jobs_at_once_have_scopes_of_their_own(login):
    jobs = [cells.start(WAIT, "--enforcement=cgroup") for _ in range(3)]
    for job in jobs:
        job.read_line()
    assert len(scopes(*jobs)) == 3
    for job in jobs:
        job.signal(15)
        ends(job.finish(), "killed", job.process.returncode)
        job.close()
    cells.wait_until("the scopes are gone", lambda: not scopes(*jobs), 60)


def test_a_killed_launchers_scope_goes_by_itself(login):
    with cells.start(WAIT, "--enforcement=cgroup") as job:
        job.read_line()
        job.process.kill()
        job.process.wait()
    cells.wait_until("the scope is gone", lambda: not scopes(job), 60)


def test_without_a_bus_the_fallback_says_why(login):
    nowhere = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent"}
    result = cells.run("print(1)", env=nowhere)
    assert result.manifest["status"] == "ok" and not result.enforced_by_cgroup
    assert "reach the user's bus" in result.manifest["layers"]["cgroup"]["evidence"]
    refused(cells.run("print(1)", "--enforcement=cgroup", env=nowhere), 69, "limits.enforcement", "Delegate=yes")


def test_a_bus_that_does_not_answer_is_not_waited_for_long(login):
    path = cells.scratch() / "silent"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen()
        began = time.monotonic()
        result = cells.run("print(1)", env={"DBUS_SESSION_BUS_ADDRESS": f"unix:path={path}"})
    assert result.manifest["status"] == "ok" and not result.enforced_by_cgroup
    assert time.monotonic() - began < 10 + cells.SLOWNESS


def test_roots_place_at_the_top_outlives_the_managers_settings():
    """Which writes its own controllers at the top, and takes away those that none of its units needs."""
    cells.need_root()
    with cells.start(WAIT, "--job-id=j1", "--cpus=0.5", "--memory=64M") as job:
        job.read_line()
        leaf = Path("/sys/fs/cgroup/hotcell/hotcell-job-j1")
        for setting in ("CPUWeight=200", "CPUWeight="):
            subprocess.run(["systemctl", "set-property", "--runtime", "vm.service", setting], check=True)
        subprocess.run(["systemctl", "daemon-reload"], check=True)
        assert value(leaf, "cpu.max") == "50000 100000" and value(leaf, "memory.max") == str(64 << 20)
        job.signal(15)
        ends(job.finish(), "killed", job.process.returncode)
