"""What only a machine of our own can be put through: clocks that are set, kernel limits at nothing. Root in the test machine
(scripts/vm), one at a time."""

import contextlib
import os
import time
from pathlib import Path

import pytest

import cells
import faults
from leftovers import READY, SLEEP, Host

GUARD = "off"  # the kernel holds without it
HOURS = 3 * 3600


@pytest.fixture
def host(base_tree):
    cells.need_root()
    if not os.environ.get("VM_CGROUP"):
        cells.machines("VM_CGROUP is not set: run it in the test machine")
    return Host(cells.caller())


@contextlib.contextmanager
def cgroup(**settings):
    """A place for cells: pids__max="0" goes to pids.max."""
    place = Path(os.environ["VM_CGROUP"]) / f"poor-{os.getpid()}"
    place.mkdir()
    try:
        for name, value in settings.items():
            (place / name.replace("__", ".")).write_text(value)
        yield place
        cells.wait_until("the cgroup is empty", lambda: not (place / "cgroup.procs").read_text())
    finally:
        for folder, _, _ in os.walk(place, topdown=False):
            os.rmdir(folder)


# ---- the clock ----

@contextlib.contextmanager
def clock_set_by(seconds):
    step = time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
    time.clock_settime(time.CLOCK_REALTIME, time.time() + seconds)
    yield
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_MONOTONIC) + step)


@pytest.mark.parametrize("seconds", [HOURS, -HOURS], ids=["forth", "back"])
def test_a_clock_that_is_set_ends_no_job_and_keeps_none_alive(host, seconds):
    with host.start(SLEEP, "--timeout=1", "--grace=0") as job:
        job.read_line()
        start = time.monotonic()
        with clock_set_by(seconds):
            result = job.finish()
        assert result.manifest["status"] == "timeout" and time.monotonic() - start < 60 * cells.SLOWNESS, result
        assert result.manifest["usage"]["wall"] < HOURS / 2
        host.check(job)


@pytest.mark.parametrize("seconds", [HOURS, -HOURS], ids=["forth", "back"])
def test_a_clock_that_is_set_loses_no_file_and_no_time(host, seconds):
    """As an ordinary user, who can have any directory bound."""
    host = Host(cells.ordinary())
    host.env["HOTCELL_CGROUP"] = ""  # that is root's
    code = READY + "then = time.monotonic()\nwhile abs(time.time() - START) < 3600 and time.monotonic() < then + 300: pass\n" \
        "open('kept', 'w').close()"
    with host.start(f"import time\nSTART = time.time()\n{code}", "--output-mode=bind", "--timeout=60") as job:
        job.read_line()
        with clock_set_by(seconds):
            result = job.finish()
        assert (result.status, result.listed()) == (0, ["kept"]), result
        took = [time.strptime(result.manifest[name][:19], "%Y-%m-%dT%H:%M:%S") for name in ("started", "finished")]
        assert 0 <= time.mktime(took[1]) - time.mktime(took[0]) < 1800


# ---- limits of the kernel ----

def check_refusal(result, statuses, text):
    assert result.status in statuses and text in result.stderr, result
    assert not list(faults.failed(result)), result


def test_no_namespaces_for_anybody(host):
    limit = Path("/proc/sys/user/max_user_namespaces")
    before = limit.read_text()
    limit.write_text("0")
    try:
        with host.start("print(1)") as job:
            check_refusal(job.finish(), [69], "this host allows no more of them")
            host.check(job)
    finally:
        limit.write_text(before)


def test_no_more_processes(host):
    with cgroup(pids__max="0", cgroup__subtree_control="+memory +pids") as place:
        with host.start("print(1)", env={"HOTCELL_CGROUP": str(place)}) as job:
            check_refusal(job.finish(), [69], "pids.max of a cgroup above its own is reached")
            host.check(job)
