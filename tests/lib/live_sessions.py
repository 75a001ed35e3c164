"""What tests of sessions whose interpreter lives share: requests, what its processes are doing, and programs that forge what it says."""

import os

import pytest

import cells
import session_client

SHORT = {"timeout": "500ms", "grace": "0"}
FORGED = """
import json, os, struct
def send(kind, body=b""):
    os.write(3, struct.pack("<BBHI", kind, 1, 0, len(body)) + body)
"""
INTERRUPT = {"interrupt": True}


# ---- fixtures, which tests import by name ----

@pytest.fixture(name="session")
def fixture_session(base_tree):  # pylint: disable=unused-argument
    with session_client.Session() as session:
        yield session


@pytest.fixture(name="bare", scope="module", params=["root", "ordinary"])
def fixture_bare(request):
    """One session for all kinds of ends, with the guard off, so that the kernel is what they meet."""
    cells.build_tree("base")
    user = cells.caller() if request.param == "root" else cells.ordinary()
    if request.param == "root":
        cells.need_root()
    elif not user:
        cells.skip("there is no ordinary user to start hotcell as")
    with session_client.Session(policy="none", user=user) as session:
        yield session


@pytest.fixture(name="own")
def fixture_own(bare):
    """A session that may be spoilt, of the same user's."""
    with session_client.Session(policy="none", user=bare.user) as session:
        yield session


# ---- requests and processes ----

def done(session, request):
    session.ask(request)
    answer = session.answer()
    assert answer["event"] == "done", answer
    return answer


def refused(session, request):
    session.ask(request)
    answer = session.answer()
    assert answer["event"] == "error", answer
    return answer["message"]


def stream(session):
    assert done(session, {"stream": True})["request"] == "stream"


def answers_of_branches(session, *codes):
    session.ask({"branch": [{"code": code} for code in codes]})
    results = [session.answer() for _ in codes]
    assert session.answer()["request"] == "branch"
    return results


def states_of_processes(session):
    tasks = [pid for pid in os.listdir("/proc") if pid.isdigit() and is_below(int(pid), session.process.pid)]
    return [line[7] for pid in tasks for line in open(f"/proc/{pid}/status", encoding="utf-8") if line.startswith("State:")]


def is_at_rest(session):
    """The interpreter, its copy and, from the second run on, two that check programs are stopped. (Pid 1 sleeps, and so do a zygote's processes.)"""
    states = states_of_processes(session)
    return states.count("T") in (2, 4) and set(states) == {"S", "T"}


REPORT = 'dict(value=None, error=None, figures=[], columns={}, warnings=[], exit=0, complete=True)'


# Code of the program's that its process runs before it makes the copy that a run or a checkpoint needs.
BEFORE_COPIES = FORGED + """
import random
def getstate():
    {}
random._inst.getstate = getstate
"""


def was_undone(session):
    """False: the process was stopped before it said too much, and may do so at any later time."""
    before = session.run("x = 1").number
    session.run("x = 2" + BEFORE_COPIES.format("for _ in range(9): send(17)"))
    run = session.run("print('innocent')")
    if run.status == "ok" or "made no copy of itself" in run.manifest["reason"]:
        return False
    assert (run.status, run.state) == ("error", f"rolled back to run {before}"), run
    assert "broke the protocol" in run.manifest["reason"], run
    assert session.run("x").value == 1
    return True


def is_below(pid, ancestor):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            parent = int(file.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return False
    return parent == ancestor or (parent > 1 and is_below(parent, ancestor))
