"""Standard descriptors and a stack as whoever starts us leaves them: what cannot be written is said, and nothing ends by a signal."""

import json
import os
import resource
import subprocess

import cells
import daemons
import pytest

LEDGER = cells.BUILD / "hotcell-ledger"


@pytest.fixture(name="here")
def directory_with_program(base_tree):
    directory = cells.new_directory(cells.caller())
    (directory / "ok.py").write_text("print(1)")
    (directory / "warns.py").write_text("import warnings; warnings.warn('x')")
    (directory / "jobs").write_text(json.dumps({"code": "1"}) + "\n")
    return directory


def start(here, command, closed=(), stdin=None, limits=None, stdout=subprocess.PIPE):
    """Without the standard descriptors that are named."""
    def prepare():
        for fd in closed:
            os.close(fd)
        if limits:
            resource.setrlimit(resource.RLIMIT_STACK, limits)
    program, *arguments = command
    paths = {"hotcell": cells.HOTCELL, "hotcelld": daemons.HOTCELLD, "hotcell-ledger": LEDGER}
    return subprocess.run([paths[program], *arguments], cwd=here, input=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True,
                          preexec_fn=prepare, timeout=cells.PATIENCE, check=False, env=cells.caller().environment())


BASE = ["-t", "base", "--timeout=10s"]
PRINTING = [
    ["hotcell", "--version"], ["hotcell", "--help"], ["hotcell", "run", "--help"], ["hotcell", "batch", "merge", "--help"],
    ["hotcell", "run", *BASE, "--json", "ok.py"], ["hotcell", "check", *BASE, "--json", "ok.py"],
    ["hotcell", "policy", "show", "none"], ["hotcell", "policy", "explain", "none"], ["hotcell", "tree", "list"],
    ["hotcell", "batch", *BASE, "--json", "-o", "batch", "jobs"], ["hotcell", "jobs", "--help"],
    ["hotcell-ledger", "usage", "--help"], ["hotcelld", "--version"], ["hotcelld", "--help"]]


@pytest.mark.parametrize("how", ["closed", "full"])
@pytest.mark.parametrize("command", PRINTING, ids=" ".join)
def test_output_that_cannot_be_written_is_said_and_a_failure(here, command, how):
    with open("/dev/full", "wb", buffering=0) as full:
        done = start(here, command, closed=[1]) if how == "closed" else start(here, command, stdout=full)
    assert done.returncode == 70 and "standard output" in done.stderr, done


def test_a_manifest_goes_to_its_directory_in_any_case(here):
    done = start(here, ["hotcell", "run", *BASE, "--json", "-o", "out", "ok.py"], closed=[1])
    assert done.returncode == 70 and "standard output" in done.stderr
    assert json.loads((here / "out" / "manifest.json").read_text())["status"] == "ok"


@pytest.mark.parametrize("command, request_line", [
    (["session", *BASE], {"run": {"code": "1"}}), (["mcp", *BASE, "-o", "mcp"], {"jsonrpc": "2.0", "id": 1, "method": "ping"})])
def test_answers_that_cannot_be_written_are_a_failure(here, command, request_line):
    done = start(here, ["hotcell", *command], closed=[1], stdin=json.dumps(request_line) + "\n")
    assert done.returncode == 70 and done.stderr, done


def test_what_a_program_prints_may_be_unwanted(here):
    """A caller who has closed the descriptor is one who does not read."""
    done = start(here, ["hotcell", "run", *BASE, "warns.py"], closed=[2])
    assert (done.returncode, done.stdout) == (0, "")
    done = start(here, ["hotcell", "run", *BASE, "ok.py"], closed=[1])
    assert (done.returncode, done.stderr) == (0, "")


def test_no_input_is_not_an_empty_program(here):
    done = start(here, ["hotcell", "run", *BASE, "-"], closed=[0])
    assert done.returncode == 65 and "standard input" in done.stderr, done


def test_all_three_may_be_closed(here):
    done = start(here, ["hotcell", "run", *BASE, "-o", "out", "--json", "ok.py"], closed=[0, 1, 2])
    assert done.returncode == 70
    manifest = json.loads((here / "out" / "manifest.json").read_text())
    assert (manifest["status"], manifest["stdout"]["text"]) == ("ok", "1\n")


# ---- the stack ----

KIB = 1024


@pytest.mark.parametrize("command", [["hotcell", "run", *BASE, "ok.py"], ["hotcelld", "--version"], ["hotcell-ledger", "jobs", "--help"]],
                         ids=" ".join)
def test_a_stack_that_is_too_small_is_made_larger_or_said(here, command):
    soft = start(here, command, limits=(64 * KIB, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    assert soft.returncode == 0 and not soft.stderr, soft
    hard = start(here, command, limits=(64 * KIB, 64 * KIB))
    said = "the limit of the stack (RLIMIT_STACK, \"ulimit -s\") is too low" in hard.stderr
    assert (hard.returncode, said, hard.stderr.count("\n")) in [(70, True, 1), (0, False, 0)], hard  # 0: with CAP_SYS_RESOURCE
    enough = start(here, command, limits=(1024 * KIB, 1024 * KIB))
    assert enough.returncode == 0 and not enough.stderr, enough
