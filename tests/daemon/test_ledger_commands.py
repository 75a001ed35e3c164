"""`hotcell jobs` and `hotcell usage`: what they say where there is no ledger, or none that can be read. What they print of one is
tested beside them (src/daemon/ledger/print/report-test.c)."""

import os
import subprocess
import tempfile
from pathlib import Path

import cells
import pytest

LEDGER = cells.BUILD / "hotcell-ledger"


def report(*arguments, user=None, **environment):
    env = {**(user.environment() if user else os.environ), **environment}
    return subprocess.run([cells.HOTCELL, *arguments], env=env, capture_output=True, text=True, timeout=cells.PATIENCE,
                          **(user.popen_arguments() if user else {}))


def refused(answer, status, *parts):
    assert answer.returncode == status, answer
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    for part in parts:
        assert part in answer.stderr


@pytest.mark.parametrize("command", ["jobs", "usage"])
def test_where_no_daemon_has_kept_anything_one_line_says_so(command, user):
    answer = report(command, user=user, HOTCELL_STATE="/nowhere")
    refused(answer, 65, "hotcell: ledger /nowhere/daemon/ledger.db: is not there: no hotcelld has kept its state here")
    refused(report(command, "--ledger", "/nowhere/l", user=user), 65, "/nowhere/l: is not there")


def test_the_configuration_says_where_the_ledger_is(tmp_path):
    conf = tmp_path / "conf"
    conf.write_text('{"state": "/somewhere/else", "tokens": "/tokens/that/are/not/there"}')
    refused(report("jobs", "--config", conf), 65, "/somewhere/else/ledger.db")
    conf.write_text('{"state": "/somewhere/else",\n "stat": 1}')
    refused(report("jobs", "--config", conf), 78, f"{conf}:2:2: unknown member 'stat'; did you mean 'state'?")
    refused(report("usage", "--config", tmp_path / "none"), 78, "none: No such file")


def test_files_that_are_no_ledger_are_refused(tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"x" * 4096)
    refused(report("jobs", "--ledger", other), 65, "file is not a database; it is no ledger of hotcelld")
    other.write_bytes(b"")
    refused(report("usage", "--ledger", other), 65, "was written by an older hotcelld")
    refused(report("usage", "--ledger", tmp_path), 65, "expected a file")


def test_anothers_ledger_is_not_shown():
    cells.need_root()
    with tempfile.TemporaryDirectory(prefix="hotcell-ledger-") as folder:
        ledger = Path(folder, "ledger.db")
        ledger.touch(0o600)
        os.chmod(folder, 0o711)
        refused(report("jobs", "--ledger", ledger, user=cells.ordinary()), 69, "Permission denied")


@pytest.mark.parametrize(("arguments", "part"), [
    (["jobs", "--state", "lost"], "--state: expected queued, running, done or failed, got 'lost'"),
    (["jobs", "--since", "soon"], "--since: expected a time such as 2026-11-20 or a duration such as 24h, got 'soon'"),
    (["jobs", "-n", "many"], "--number: expected a number of jobs, got 'many'"),
    (["jobs", "--hourly"], "there is no option '--hourly'"),
    (["usage", "--tenant"], "--tenant: expected a value"),
    (["usage", "alice"], "expected no arguments, got 'alice'"),
    (["usage", "--config", "a", "--ledger", "b"], "it does not go with --ledger"),
])
def test_wrong_command_lines(arguments, part):
    refused(report(*arguments), 64, f"hotcell {arguments[0]}: ", part, f"(see 'hotcell {arguments[0]} --help')")


def test_help_says_what_there_is():
    for command in ["jobs", "usage"]:
        answer = report(command, "--help")
        assert (answer.returncode, answer.stderr) == (0, "")
        assert answer.stdout.startswith(f"usage: hotcell {command} ")


def test_output_that_cannot_be_written_is_a_failure():
    with open("/dev/full", "w") as full:
        done = subprocess.run([cells.HOTCELL, "jobs", "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 70


def test_hotcell_itself_needs_no_database():
    """So that "hotcell run" starts as fast as ever."""
    needs = {program: subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
             for program in [cells.HOTCELL, LEDGER]}
    assert "libsqlite3" in needs[LEDGER]
    assert "libsqlite3" not in needs[cells.HOTCELL]
