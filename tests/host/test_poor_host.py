"""A host in trouble, for real: full disks, little memory, files and directories that go away, whoever is suspended.

What an injected fault shows just as well is in test_injected_faults.py.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import time

import pytest

import cells
import faults
from leftovers import READY, SLEEP, Host

GUARD = "off"  # the kernel holds without it


@pytest.fixture
def host(user):
    return Host(user)


def on_small_disk(host, code, path, options):
    """A job with a file system of its own at `path`, for it alone; what was there in the end is copied to `path`."""
    cells.need_root()
    path.mkdir(exist_ok=True)
    script = 'mount -t tmpfs -o "$1" none "$2" && (shift 2; exec "$@"); status=$?; cp -R "$2" "$2.copy"; exit $status'
    with host.start(code, wrapper=["unshare", "--mount", "/bin/sh", "-c", script, "sh", options, path], cwd=path.parent,
                    env={"HOTCELL_STATE": str(path)} if path.name == "state" else {}) as job:
        result = job.finish()
    path.rmdir()
    path.with_name(f"{path.name}.copy").rename(path)
    manifest = path / "manifest.json"
    result.manifest = json.loads(manifest.read_text()) if manifest.exists() else result.manifest
    return result


def check_failure(result, status, text):
    """One line with `text`; a manifest that says the same, or none."""
    assert result.status == status and text in result.stderr, result
    assert not list(faults.failed(result)), result


# ---- full disks ----

@pytest.mark.parametrize("size, left", [(1 << 20, ["manifest.json"]), (60 << 10, ["kept"])],
                         ids=["for a file", "for the manifest"])
def test_an_output_directory_that_is_full(base_tree, size, left):
    """What is there is whole: no part of a file has its name, and no manifest says that all went well."""
    host = Host(cells.caller())
    out = cells.new_directory(host.user) / "out"
    result = on_small_disk(host, f"with open('kept', 'wb') as file: file.write(b'x' * {size})", out, "size=64k")
    check_failure(result, 70, "No space left on device")
    assert sorted(os.listdir(out)) == left


def test_a_state_directory_that_is_full_costs_time_only(base_tree):
    host = Host(cells.caller())
    result = on_small_disk(host, "print(1)", cells.new_directory(host.user) / "state", "size=4k,nr_inodes=2")
    assert (result.status, result.stdout, result.stderr) == (0, "1\n", "")


def test_a_run_directory_that_is_full(base_tree):
    cells.need_root()
    host = Host(cells.caller())
    with host.start("print(1)", wrapper=["unshare", "--mount", "/bin/sh", "-c", 'mkdir -p /run/hotcell && '
                    'mount -t tmpfs -o nr_inodes=1 none /run/hotcell && exec "$@"', "sh"]) as job:
        check_failure(job.finish(), 70, "uid leases")
        host.check(job)


def test_an_output_directory_that_is_read_only(base_tree):
    host = Host(cells.caller())
    result = on_small_disk(host, "print(1)", cells.new_directory(host.user) / "out", "ro")
    check_failure(result, 65, "Read-only file system")


# ---- little memory ----

@pytest.mark.parametrize("megabytes", [6, 8, 10, 12, 16, 24, 32, 48, 64, 96])
def test_little_address_space_is_enough_or_is_said_to_be_missing(host, megabytes):
    """The launcher passes the limit on, so it may be the interpreter that misses it."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2)
    with host.start("print(1)", popen={"preexec_fn": limit}) as job:
        result = job.finish()
        if result.status == 127:  # the dynamic loader's own: there was no launcher yet
            assert "shared libraries" in result.stderr and megabytes < 10, result
        elif result.status != 0:
            assert result.status in (69, 70) and result.stdout == "", result
            assert not list(faults.failed(result)), result
        host.check(job)


# ---- what goes away ----

def own_tree(host):
    place = cells.new_directory(host.user) / "tree"
    subprocess.run(["cp", "-RPl", cells.tree_path("base"), place], check=True)
    return place


def test_a_tree_that_vanishes_while_a_program_runs(host):
    tree = own_tree(host)
    code = READY + f"import sys, time\nwhile os.path.exists('{cells.STDLIB}/colorsys.py'): time.sleep(0.01)\nimport colorsys"
    with host.start(code, "-t", tree, tree=None) as job:
        job.read_line()
        shutil.rmtree(tree)
        result = job.finish()
        assert (result.status, result.manifest["status"]) == (1, "error"), result
        assert "ModuleNotFoundError" in result.stderr
        host.check(job)
    check_failure(host.run("print(1)", "-t", tree, tree=None), 69, str(tree))


def test_a_tree_without_its_library(host):
    """Python starts without, so that the program is the first to miss it."""
    tree = own_tree(host)
    library = next(tree.rglob("encodings")).parent
    shutil.rmtree(library)
    library.mkdir()
    with host.start("import json", "-t", tree, tree=None) as job:
        result = job.finish()
        assert (result.status, result.manifest["status"]) == (1, "error") and "No module named 'json'" in result.stderr, result
        host.check(job)


@pytest.mark.parametrize("shim", [None, b"", b"#!/bin/sh\nexit 0\n", b"\x7fELF", "/bin/true"],
                         ids=["missing", "empty", "a script", "half a header", "another program"])
def test_a_shim_that_is_not_there_or_is_another_program(host, shim, monkeypatch):
    place = cells.new_directory(host.user)
    shutil.copy(cells.HOTCELL, place)
    shutil.copytree(cells.HOTCELL.parent.parent / "policies", place / "share/hotcell/policies")
    (place / "bin").mkdir()
    (place / "hotcell").rename(place / "bin/hotcell")
    if shim is not None:
        target = place / "bin/hotcell-shim"
        target.write_bytes(open(shim, "rb").read() if isinstance(shim, str) else shim)
        target.chmod(0o755)
    monkeypatch.setattr(cells, "HOTCELL", place / "bin/hotcell")
    with host.start("print(1)") as job:
        result = job.finish()
        assert result.status in (69, 70) and result.stdout == "", result
        assert not list(faults.failed(result)), result
        host.check(job)


def test_an_output_directory_that_vanishes(host):
    with host.start("open('kept', 'w').close()\n" + SLEEP, "--timeout=1", "--grace=0") as job:
        job.read_line()
        shutil.rmtree(job.output)
        result = job.finish()
        check_failure(result, 70, "No such file or directory")
        assert result.manifest is None
        host.check(job)


# ---- who is suspended ----

def passed(seconds):
    """Time that a limit counts: there is nothing else to wait for."""
    time.sleep(seconds * cells.SLOWNESS)


def test_a_launcher_that_is_suspended_past_the_time_limit_ends_the_job_when_it_goes_on(host):
    with host.start(SLEEP, "--timeout=0.5") as job:
        job.read_line()
        job.signal(signal.SIGSTOP)
        passed(0.7)
        assert job.descendants()
        job.signal(signal.SIGCONT)
        result = job.finish()
        assert (result.status, result.manifest["status"]) == (3, "timeout"), result
        host.check(job)


def test_a_program_that_ends_in_time_is_no_timeout_though_its_launcher_was_suspended(host):
    with host.start(READY + f"time.sleep({0.4 * cells.SLOWNESS})", "--timeout=1") as job:
        job.read_line()
        job.signal(signal.SIGSTOP)
        passed(1.3)
        job.signal(signal.SIGCONT)
        result = job.finish()
        assert (result.status, result.manifest["status"]) == (0, "ok"), result
        host.check(job)


@pytest.mark.parametrize("which", [0, 1], ids=["first process", "interpreter"])
def test_a_cell_that_is_suspended_ends_at_its_time_limit(host, which):
    cells.need_root()
    with host.start(SLEEP, "--timeout=0.7") as job:
        job.read_line()
        cells.wait_until("both are listed", lambda: len(job.descendants()) > 1)
        os.kill(job.descendants()[which], signal.SIGSTOP)
        result = job.finish()
        assert (result.status, result.manifest["status"]) == (3, "timeout"), result
        host.check(job)
