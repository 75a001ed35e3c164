"""Limits of commands: they hold for all processes of the cell together, with a cgroup and without."""

import pytest

import cells

pytestmark = pytest.mark.usefixtures("shell_tree")


def sh(script, *options, **arguments):
    return cells.execute(["sh", "-c", script], *options, **arguments)


def test_a_command_that_runs_too_long_is_told_to_end_then_killed():
    asked = sh("trap 'echo asked; exit 1' TERM; while :; do sleep 0.1; done", "--timeout", "1s", "--grace", "5s")
    assert (asked.status, asked.stdout, asked.manifest["status"]) == (3, "asked\n", "timeout"), asked
    assert asked.manifest["reason"].endswith("ended after the SIGTERM that it got then")
    deaf = sh("trap '' TERM; while :; do sleep 0.1; done", "--timeout", "500ms", "--grace", "500ms")
    assert (deaf.status, deaf.manifest["status"]) == (3, "timeout"), deaf


def test_the_limit_of_processes_holds_and_says_so():
    done = sh("for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; wait", "--pids", "8")
    assert done.manifest["status"] in ("pids", "error") and done.status != 0, done
    assert done.manifest["limits"]["pids"] == 8


def test_memory_of_all_processes_counts_together():
    grow = "python3 -c 'x = bytearray(90 << 20); import time; time.sleep(20)' & "
    done = sh(grow * 4 + "wait", "--memory", "256M", "--timeout", "15s")
    assert done.manifest["status"] == "memory", done
