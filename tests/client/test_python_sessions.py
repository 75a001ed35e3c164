"""hotcell.Session: state from run to run, what is raised, what is left."""

import sys
import tempfile
import threading
from pathlib import Path

import cells
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402

pytestmark = pytest.mark.usefixtures("base_tree")


@pytest.fixture(name="session")
def fixture_session(monkeypatch):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    with hotcell.Session(tree="base", memory="256M", timeout=10 * cells.SLOWNESS, output_dir="out") as session:
        yield session


def test_state_and_results(session):
    assert session.run("x = 1\nopen('/output/f', 'w').write('2')").files[0].read() == b"2"
    run = session.run("print(x)\nx + n", vars={"n": 41}, returns="x=json")
    assert (run.value, run.returned["x"], run.run, run.state, run.kept) == (42, 1, 2, "kept", True)
    assert run.stdout.text == "1\n"
    with pytest.raises(hotcell.JobError, match="ZeroDivisionError"):
        session.run("1 / 0", check=True)
    killed = session.run("x = 2\nwhile True: pass", limits={"timeout": 0.3, "grace": 0})
    assert (killed.status, killed.state, killed.kept) == ("timeout", "rolled back to run 3", False)
    assert session.run("x").value == 1


def test_checkpoints_and_branches(session):
    session.run("x = 1")
    session.checkpoint("one")
    session.run("x = 2")
    session.rollback("one")
    assert [(r.branch, r.value) for r in session.branch(["x += 1; x", {"code": "x += y; x", "vars": {"y": 5}}])] == [(1, 2), (2, 6)]
    session.keep(2)
    assert session.run("x").value == 6
    with pytest.raises(hotcell.InputError, match="there is no checkpoint 'two'"):
        session.rollback("two")
    for codes in [], ["1"] * 9:
        with pytest.raises(hotcell.InputError, match="a list of 1 to 8 runs"):
            session.branch(codes)
    with pytest.raises(hotcell.InputError, match="for a session as a whole"):
        session.run("1", limits={"memory": "1G"})


def test_inputs_come_with_a_run(session, tmp_path):
    (tmp_path / "bad.npy").write_bytes(b"no array")
    (tmp_path / "x.txt").write_text("no variable")
    session.run("a = 1")
    refused = session.run("a = 2", inputs={"a": tmp_path / "bad.npy"})
    assert (refused.status, refused.rejection.rule, refused.kept) == ("rejected", "input", True)
    assert refused.rejection.message.startswith("Could not load array a from /output/bad.npy: ") and session.run("a").value == 1
    with pytest.raises(hotcell.InputError, match="none.csv"):
        session.run("1", inputs={"a": tmp_path / "none.csv"})
    assert session.run("a, open('x.txt').read(), open(a).read()", inputs={"a": tmp_path / "x.txt"}).value == ("/output/x.txt", "no variable", "no variable")
    with pytest.raises(hotcell.InputError, match="at most 67108864 are taken"):
        session.run("1", vars={"a": "x" * (64 << 20)})
    with pytest.raises(hotcell.InputError, match="given twice"):
        session.run("1", inputs={"a": tmp_path / "bad.npy"}, vars={"a": 1})


def test_an_interrupt_comes_from_another_thread(session):
    begun = session.output_dir / "begun"
    with hotcell.Session(tree="base", policy={"output": {"mode": "bind"}}, output_dir=session.output_dir,
                         timeout=30 * cells.SLOWNESS) as other:
        def interrupt():
            cells.wait_until("a run that has begun", begun.exists, cells.PATIENCE)
            other.interrupt()
        thread = threading.Thread(target=interrupt)
        thread.start()
        run = other.run("x = 2\nopen('/output/begun', 'w').close()\nwhile True: pass")
        thread.join()
        assert run.error.type == "KeyboardInterrupt" and run.kept
        assert other.run("x").value == 2


@pytest.mark.parametrize("way", ["command", "bind"])
def test_each_run_keeps_its_files(tmp_path, monkeypatch, way):
    """A later run writes another file of that name, and the session's directory goes before the Run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with hotcell.Session(tree="base", memory="256M", policy={"output": {"mode": "bind"}} if way == "bind" else None) as session:
        first = session.run("open('x', 'w').write('first')")
        second = session.run("open('x', 'w').write('second one')\nopen('y', 'w').close()")
        assert [file.path for file in second.files] == ["x", "y"]
        assert (first.file("x").read(), second.file("x").read()) == (b"first", b"second one")
        second.close()
        assert (session.output_dir / "x").read_text() == "second one"
    del session, second
    assert first.file("x").read() == b"first"
    del first
    assert not list(tmp_path.iterdir())


def test_a_session_that_has_ended_says_so(session):
    session.run("1")
    session.close()
    assert [r["status"] for r in session.manifest["runs"]] == ["ok"]
    with pytest.raises(hotcell.SessionEnded):
        session.run("1")
    hotcell.verify(session.output_dir / "manifest.json")
    with pytest.raises(hotcell.PolicyError):
        hotcell.Session(tree="base", policy="no-such-policy")
    with hotcell.Session(tree="base", limits={"session_idle": 1}) as brief:
        with pytest.raises(hotcell.SessionEnded, match="limits.session_idle"):
            brief._answer()  # pylint: disable=protected-access


def test_tools_of_the_callers_are_there_in_each_run(monkeypatch):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    seen = []

    def note(word: str, times: int = 1) -> int:
        """Write it down."""
        seen.extend([word] * times)
        return len(seen)

    async def later(n: int) -> int:
        return n * 2
    with hotcell.Session(tree="base", memory="256M", timeout=10 * cells.SLOWNESS, tools=[hotcell.Tool(note, calls=2), later]) as session:
        assert session.run("tools.note('a')").value == 1
        assert session.run("[tools.note('b', times=2), tools.note.__doc__, tools.later(4)]").value == [3, "Write it down.", 8]
        many = session.run("for _ in range(3): tools.note('c')")  # counted anew in each
        assert many.error.type == "ToolError" and seen == ["a", "b", "b", "c", "c"]
        assert [call["name"] for call in many.manifest["tools"]][:2] == ["note", "note"]
        wrong = session.run("tools.note(5)")
        assert wrong.error.type == "ToolError" and "word" in wrong.error.message
    with pytest.raises(hotcell.InputError, match="two are called"):
        hotcell.Session(tools=[note, note])
