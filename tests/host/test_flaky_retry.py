"""tests/flaky_retry.py: a test that fails once and then passes is named, and nothing else is let through."""

import os
import subprocess
import sys
from pathlib import Path

RETRY = Path(__file__).resolve().parents[1] / "flaky_retry.py"
# Fails as long as `runs` says so of the number of this run, from 1.
TEST = """
from pathlib import Path

def test_now_and_then():
    runs = Path({counter!r})
    runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
    assert len(runs.read_text()) not in {fails}

def test_always_good():
    pass
"""


def retried(folder, fails):
    (folder / "test_it.py").write_text(TEST.format(counter=str(folder / "runs"), fails=fails), encoding="utf-8")
    told = folder / "unsteady"
    done = subprocess.run([sys.executable, RETRY, "test_it.py"], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "HOTCELL_UNSTEADY": str(told)})
    return done, told.read_text(encoding="utf-8") if told.exists() else ""


def test_a_test_that_fails_once_passes_and_is_named(tmp_path):
    done, told = retried(tmp_path, [1])
    assert done.returncode == 0, done
    assert done.stdout.splitlines()[-1] == "unsteady: test_it.py::test_now_and_then"
    assert told == "unsteady: test_it.py::test_now_and_then\n"
    assert len((tmp_path / "runs").read_text()) == 6


def test_a_test_that_fails_again_has_failed(tmp_path):
    done, told = retried(tmp_path, [1, 4])
    assert done.returncode == 1 and told == ""
    assert "unsteady:" not in done.stdout


def test_nothing_is_named_if_all_pass(tmp_path):
    done, told = retried(tmp_path, [])
    assert done.returncode == 0 and told == "" and "unsteady:" not in done.stdout
