"""What only a machine of our own can be put through: clocks that are set. Root in the test machine (scripts/vm)."""

import contextlib
import os
import time

import pytest

import cells
from test_leftovers import SLEEP, Host

GUARD = "off"  # the kernel holds without it
HOURS = 3 * 3600


@pytest.fixture
def host(base_tree):
    cells.need_root()
    if not os.environ.get("VM_CGROUP"):
        cells.skip("VM_CGROUP is not set: run it in the test machine")
    return Host(cells.caller())


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
