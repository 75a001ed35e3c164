"""Contexts of a session from Python: of the host and of a daemon, for those who wait and for event loops."""

import asyncio
import sys
from pathlib import Path

import cells
import daemons
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402

BOUNDS = {"tree": "base", "memory": "256M", "timeout": 10 * cells.SLOWNESS}


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):
    del base_tree
    with daemons.Daemon(config={"workers": 1}) as d:
        yield d
        assert d.end() == 0, d.log


@pytest.fixture(name="session", params=["of the host", "of a daemon"])
def either_session(request, monkeypatch, daemon):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    monkeypatch.delenv("HOTCELL_SOCKET", raising=False)
    with hotcell.Session(**BOUNDS) if request.param == "of the host" else hotcell.Daemon(daemon.socket).session(**BOUNDS) as session:
        yield session


def test_names_are_their_own_and_files_are_the_sessions(session):
    session.run("x = 1\nopen('f', 'w').write('kept')")
    b = session.context("b", workdir="/tmp")
    assert (b.name, b.workdir, repr(b)) == ("b", "/tmp", "<Context b>")
    run = b.run("import os\n[os.getcwd(), 'x' in globals(), open('/output/f').read(), n]", vars={"n": 5})
    assert (run.value, run.context) == (["/tmp", False, "kept", 5], "b")
    b.run("x = 2")
    assert session.run("x").value == 1 and session.run("x", context="b").value == 2 and session.run("x").context == "main"
    assert [(one.name, one.workdir) for one in session.contexts()] == [("main", "/output"), ("b", "/tmp")]
    b.restart()
    assert b.run("'x' in globals()").value is False
    with session.context() as short:
        assert short.name == "context-1" and short.run("1").value == 1
    assert [one.name for one in session.contexts()] == ["main", "b"]


def test_what_a_block_raises_is_not_hidden_by_the_end_of_its_context(session):
    with pytest.raises(ZeroDivisionError), session.context("gone") as gone:
        gone.end()
        1 / 0  # pylint: disable=pointless-statement
    with pytest.raises(hotcell.HotcellError, match="gone"), session.context("gone") as gone:
        gone.end()


def test_checkpoints_and_branches_name_their_context(session):
    with session.context("b") as b:
        b.run("x = 1")
        b.checkpoint("p")
        b.run("x = 2")
        assert session.context("c", checkpoint="p").run("x").value == 1
        session.checkpoint("q", "b")
        b.rollback("p")
        assert b.run("x").value == 1 and session.run("'x' in globals()").value is False
        session.rollback("q", context="main")
        assert session.run("x").value == 2
        assert [run.value for run in session.branch([{"code": "x += 1; x", "context": "b"}, {"code": "x += 2; x", "context": "b"}])] == [2, 3]
        session.keep(2)
        assert b.run("x").value == 3


def test_what_cannot_be_is_refused(session):
    for wrong in (lambda: session.context("a b"), lambda: session.context("main"), lambda: session.context(checkpoint="p"),
                  lambda: session.context(workdir="/nowhere"), lambda: session.context(5), lambda: session.contexts()[0].end()):
        with pytest.raises(hotcell.InputError):
            wrong()
    gone = session.context("b")
    gone.end()
    missing = hotcell.NotFound if isinstance(session, hotcell.DaemonSession) else hotcell.InputError
    for wrong in (gone.end, gone.restart, lambda: gone.run("1"), lambda: gone.checkpoint("p"), lambda: session.rollback("p", "b")):
        with pytest.raises(missing, match="there is no context 'b'"):
            wrong()
    with pytest.raises(TypeError, match="context"):
        session.run("1", contxt="b")
    assert session.run("1").value == 1


def test_tools_answer_in_every_context(monkeypatch, daemon):
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))

    def double(n: int) -> int:
        return 2 * n
    for opened in (hotcell.Session(**BOUNDS, tools=[double]), hotcell.Daemon(daemon.socket).session(**BOUNDS, tools=[double])):
        with opened as session, session.context() as other:
            assert [other.run("tools.double(21)").value, session.run("tools.double(4)").value] == [42, 8]
            assert other.run("tools.double(1)").manifest["tools"][0]["name"] == "double"


def test_when_the_session_has_ended_they_have(session):
    with session.context("b") as b:
        session.close()
    with pytest.raises(hotcell.SessionEnded):
        b.run("1")
    assert [run["run"] for run in session.manifest["runs"]] == []


@pytest.mark.parametrize("kind", ["of the host", "of a daemon"])
def test_event_loops_have_them(kind, monkeypatch, daemon):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))

    async def use(session):
        b = await session.context("b", workdir="/tmp")
        assert isinstance(b, hotcell.AsyncContext) and (b.name, b.workdir) == ("b", "/tmp")
        mine, theirs = await asyncio.gather(session.run("x = 1\nx"), b.run("x = 2\nx"))
        assert (mine.value, theirs.value, theirs.context) == (1, 2, "b")
        await b.checkpoint("p")
        await b.restart()
        assert (await b.run("'x' in globals()")).value is False
        await b.rollback("p")
        async with await session.context(checkpoint="p") as c:
            assert (await c.run("x")).value == (await b.run("x")).value == 2
        assert [one.name for one in await session.contexts()] == ["main", "b"]
        await b.end()
        assert [one.name for one in await session.contexts()] == ["main"]

    async def of_the_host():
        async with hotcell.AsyncSession(**BOUNDS) as session:
            await use(session)

    async def of_a_daemon():
        async with hotcell.AsyncDaemon(daemon.socket).session(**BOUNDS) as session:
            await use(session)
    asyncio.run(of_the_host() if kind == "of the host" else of_a_daemon())
