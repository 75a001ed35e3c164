"""ok_dests in a session of RunPython: each run finds the caller's files, and what it changes is changed when it has ended."""

import asyncio
import json
import os
import random
import threading

import cells
import pytest
from runners import fresh  # noqa: F401
from test_dests import both, outside, sequence, tree_of

import hotcell
from hotcell.adapters import RunPython, dests
from hotcell.adapters.dests import DestsError

BOUNDS = {"tree": "base", "session": True, "timeout": 10 * cells.SLOWNESS}


@pytest.fixture(name="session")
def fixture_session(tmp_path):  # pylint: disable=unused-argument
    runner = RunPython(g={}, ok_dests=["."], **BOUNDS)
    yield lambda code: asyncio.run(runner(code))
    runner.close()


def test_code_begins_where_the_caller_is_and_finds_what_is_there(session, tmp_path):
    (tmp_path / "notes").write_text("of the caller\n")
    (tmp_path / "below").mkdir()
    assert session("import os\n[os.getcwd(), sorted(os.listdir()), open('notes').read()]") == [str(tmp_path), ["below", "notes"], "of the caller\n"]
    session("open('notes', 'a').write('of the code\\n')\nopen('below/new', 'w').write('x')")
    assert (tmp_path / "notes").read_text() == "of the caller\nof the code\n" and (tmp_path / "below/new").read_text() == "x"
    with pytest.raises(PermissionError, match="not allowed; permitted"):
        session("open('/output/x', 'w')")


def test_what_the_caller_changes_between_runs_is_found(session, tmp_path):
    for name in ("kept", "changed", "removed", "turned"):
        (tmp_path / name).write_text(name)
    assert session("import os\nlen(os.listdir())") == 4
    (tmp_path / "changed").write_text("newer")
    (tmp_path / "removed").unlink()
    (tmp_path / "turned").unlink()
    (tmp_path / "turned").mkdir()
    (tmp_path / "turned/x").write_text("x")
    os.link(tmp_path / "kept", tmp_path / "linked")
    assert session("[sorted(os.listdir()), open('changed').read(), os.listdir('turned'), os.stat('kept').st_nlink]") == [
        ["changed", "kept", "linked", "turned"], "newer", ["x"], 2]
    (tmp_path / "linked").unlink()
    assert session("os.stat('kept').st_nlink") == 1
    before = tree_of(tmp_path)
    assert session("1") == 1 and tree_of(tmp_path) == before


def test_a_file_that_stays_open_and_a_working_directory_stay_from_run_to_run(session, tmp_path):
    (tmp_path / "below").mkdir()
    session("log = open('log', 'w', buffering=1)\nlog.write('one\\n')")
    assert (tmp_path / "log").read_text() == "one\n"
    session("import os\nlog.write('two\\n')\nos.chdir('below')")
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
    assert session("log.write('three\\n')\nlog.flush()\nos.getcwd()") == str(tmp_path / "below")
    assert (tmp_path / "log").read_text() == "one\ntwo\nthree\n"
    (tmp_path / "below").rmdir()
    assert session("os.getcwd()") == str(tmp_path)


def test_an_exception_keeps_what_was_done_and_a_killed_run_changes_nothing(session, tmp_path):
    (tmp_path / "notes").write_text("old")
    with pytest.raises(ZeroDivisionError):
        session("open('notes', 'a').write(' and new')\n1 / 0")
    assert (tmp_path / "notes").read_text() == "old and new"
    with pytest.raises(hotcell.JobError), pytest.warns(UserWarning, match="they stay as they were"):
        session("import os\nos.unlink('notes')\nopen('other', 'w').write('x')\nos.abort()")
    assert os.listdir(tmp_path) == ["notes"]
    assert session("[os.listdir('.') for os in [__import__('os')]]") == [["notes"]]


def test_a_cancelled_run_changes_nothing(tmp_path):
    (tmp_path / "notes").write_text("old")
    runner = RunPython(g={}, ok_dests=["."], **BOUNDS)

    async def cancelled():
        await runner("1")
        await asyncio.wait_for(runner("open('notes', 'w').write('new')\nwhile True: pass"), 2 * cells.SLOWNESS)
    try:
        with pytest.raises(asyncio.TimeoutError):
            asyncio.run(cancelled())
        assert (tmp_path / "notes").read_text() == "old" == asyncio.run(runner("open('notes').read()"))
    finally:
        runner.close()


def test_what_somebody_else_changes_meanwhile_is_not_lost(session, tmp_path):
    (tmp_path / "notes").write_text("old")
    (tmp_path / "go").write_text("")
    at_work, done = threading.Event(), []

    def elsewhere():
        at_work.wait(cells.PATIENCE)
        (tmp_path / "notes").write_text("of somebody else")
        done.append(True)
    thread = threading.Thread(target=elsewhere)
    thread.start()
    runner = RunPython(g={"tell": at_work.set, "joined": thread.join}, ok_dests=["."], **BOUNDS)
    hotcell.adapters.allow.allow("tell", "joined")
    try:
        with pytest.raises(DestsError, match="changed outside while the code ran"):
            asyncio.run(runner("open('notes', 'w').write('of the code')\ntell()\njoined()"))
        assert done and (tmp_path / "notes").read_text() == "of somebody else"
        assert asyncio.run(runner("open('notes').read()")) == "of somebody else", "and the session goes on"
    finally:
        thread.join()
        runner.close()


def test_another_current_directory_begins_another_session(session, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/x").write_text("x")
    session("kept = object()")
    monkeypatch.chdir(tmp_path / "other")
    with pytest.warns(UserWarning, match="the directories that code may change are others now"):
        assert session("import os\nos.listdir()") == ["x"]


def test_a_directory_that_is_not_there_is_made_when_the_session_begins(tmp_path):
    runner = RunPython(g={}, ok_dests=["new/one"], **BOUNDS)
    try:
        with pytest.warns(UserWarning, match="there is no directory .*/new/one; it is made"):
            asyncio.run(runner("1"))
        asyncio.run(runner(f"open({str(tmp_path / 'new/one/x')!r}, 'w').write('1')"))
        assert (tmp_path / "new/one/x").read_text() == "1"
    finally:
        runner.close()


def test_a_forged_report_does_no_more_than_the_code_could(tmp_path, monkeypatch):
    """The code may replace the function that reports; what comes out is checked as for a run of its own."""
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "secret").write_text("of the caller")
    monkeypatch.chdir(work)
    for path, fine in (("x", True), ("../secret", False), ("/etc/x", False)):
        row = {"path": path, "kind": "file", "size": 5, "parts": [[0, 5, 0]], "mode": 0o644, "mtime": 0}
        runner = RunPython(g={}, ok_dests=["."], policy="none", **BOUNDS)
        code = ("def hotcell_dests_end():\n    open('/output/hotcell-dests.json', 'w').write(" + repr(json.dumps({"places": [[row]]})) +
                ")\n    open('/output/hotcell-dests.bin', 'w').write('hello')")
        try:
            if fine:
                asyncio.run(runner(code))
                assert (work / "x").read_text() == "hello"
                (work / "x").unlink()
            else:
                with pytest.raises(DestsError):
                    asyncio.run(runner(code))
        finally:
            runner.close()
    assert os.listdir(work) == [] and (tmp_path / "secret").read_text() == "of the caller"


def test_code_that_takes_the_functions_away_is_told_and_changes_nothing(session, tmp_path):
    (tmp_path / "notes").write_text("old")
    with pytest.raises(DestsError):
        session("open('notes', 'w').write('new')\ndel hotcell_dests_end")
    assert (tmp_path / "notes").read_text() == "old"


def test_files_of_two_directories_are_brought_and_those_that_vanish_are_no_error(tmp_path, monkeypatch):
    """Other programs make and remove files at any moment, mostly in /tmp."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    runner = RunPython(g={}, ok_dests=["one", "two"], **BOUNDS)
    bring = dests._bring_one  # pylint: disable=protected-access
    monkeypatch.setattr(dests, "_bring_one", lambda root, path, target: ((tmp_path / "two/gone").unlink(missing_ok=True), bring(root, path, target))[1])
    try:
        asyncio.run(runner("1"))
        for name in ("one/x", "two/x", "two/gone"):
            (tmp_path / name).write_text(name)
        assert asyncio.run(runner("import os\n[open('one/x').read(), open('two/x').read(), os.listdir('two')]")) == ["one/x", "two/x", ["x"]]
        asyncio.run(runner("os.unlink('two/x')"))
        assert os.listdir(tmp_path / "two") == [] and os.listdir(tmp_path / "one") == ["x"]
    finally:
        runner.close()


@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_runs_leaves_what_it_leaves_outside(seed, tmp_path, monkeypatch):
    chance = random.Random(500 + seed)
    here, there = both(tmp_path)
    monkeypatch.chdir(here)
    runner = RunPython(g={}, ok_dests=["."], **BOUNDS)
    try:
        for _ in range(4):
            stop = chance.choice([None, None, chance.randrange(100)])
            code = sequence(chance, 100, stop)
            expected = outside(code, there)
            if stop is None:
                assert asyncio.run(runner(code)) == expected
            else:
                with pytest.raises(ZeroDivisionError):
                    asyncio.run(runner(code))
            assert tree_of(here) == tree_of(there)
            for root in (here, there):  # as the caller works on, too
                (root / f"caller{_}").mkdir()
                (root / f"caller{_}/x").write_text("of the caller")
                for path in sorted(root.glob("d[0-9]/*.txt"))[_::50]:
                    path.write_text("of the caller")
                    path.chmod(0o644)
    finally:
        runner.close()
