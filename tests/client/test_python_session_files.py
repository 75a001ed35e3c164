"""Session.files: the same for sessions here and in a daemon, for callers that wait and that await."""

import asyncio
import hashlib
import io
import os
import sys
import threading
from pathlib import Path

import cells
import daemons
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402

BOUNDS = {"tree": "base", "timeout": 10 * cells.SLOWNESS, "memory": "1G", "limits": {"file": "88M"}}


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):  # pylint: disable=unused-argument
    with daemons.Daemon(config={"workers": 1}) as d:
        yield d
        assert d.end() == 0, d.log


class Waiting:
    """A session that awaits, behind a face that waits."""

    def __init__(self, loop, inner):
        self.loop, self.inner = loop, inner

    def __getattr__(self, name):
        value = getattr(self.inner, name)
        if name == "files":
            return Waiting(self.loop, value)
        return (lambda *a, **k: self.loop.run_until_complete(value(*a, **k))) if callable(value) else value


@pytest.fixture(name="session", params=["here", "here, awaited", "daemon", "daemon, awaited"])
def any_session(request, monkeypatch):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    where, _, awaited = request.param.partition(", ")
    daemon = request.getfixturevalue("daemon") if where == "daemon" else None
    request.getfixturevalue("base_tree")
    if not awaited:
        with hotcell.Daemon(daemon.socket).session(**BOUNDS) if daemon else hotcell.Session(**BOUNDS) as session:
            yield session
        return
    loop = asyncio.new_event_loop()
    begun = hotcell.AsyncDaemon(daemon.socket).session(**BOUNDS) if daemon else hotcell.AsyncSession(**BOUNDS).open()
    session = loop.run_until_complete(begun)
    yield Waiting(loop, session)
    loop.run_until_complete(session.close())
    loop.close()


def test_files_go_in_and_come_back(session, tmp_path):
    whole = os.urandom((9 << 20) + 7)  # three parts
    (tmp_path / "in").write_bytes(whole)
    file = session.files.write("d/one", tmp_path / "in")
    assert (file.path, file.kind, file.bytes) == ("d/one", "file", len(whole))
    assert session.files.write("two", "é").bytes == 2 and session.files.write("three", io.BytesIO(b"3")).bytes == 1
    run = session.run("d = open('d/one', 'rb').read()\nopen('back', 'wb').write(d[::-1])\nprint(open('two', encoding='utf-8').read())")
    assert run.ok and run.text == "é\n" and [f.path for f in run.files] == ["back"]
    assert session.files.read("back") == whole[::-1]
    assert session.files.read("back", offset=5, length=3) == whole[::-1][5:8]
    assert session.files.read("back", offset=len(whole)) == b"" == session.files.read("back", length=0)
    assert [f.path for f in session.files.list()] == ["back", "d", "three", "two"]
    assert session.files.list("d") == [session.files.stat("d/one")]
    for path in ("d/one", "d"):
        session.files.remove(path)
    assert [f.path for f in session.files.list()] == ["back", "three", "two"]


class Torn(io.BytesIO):
    """A file that cannot be read to its end."""

    def read(self, size=-1):
        if self.tell() >= 5 << 20:
            raise OSError("torn")
        return super().read(size)


def test_a_write_that_fails_half_way_leaves_the_older_file(session):
    session.files.write("d/one", "old")
    with pytest.raises(OSError, match="torn"):
        session.files.write("d/one", Torn(bytes(9 << 20)))
    with pytest.raises(hotcell.InputError, match="limits.file"):  # checked before the first part
        session.files.write("d/one", bytes(89 << 20))
    with pytest.raises(hotcell.InputError, match="limits.file"):  # of a stream it is known only half-way
        session.files.write("d/one", io.BytesIO(bytes(89 << 20)))
    assert session.files.read("d/one") == b"old"
    assert [f.path for f in session.files.list()] == ["d"] and [f.path for f in session.files.list("d")] == ["d/one"]
    assert session.files.write("d/one", io.BytesIO(bytes(9 << 20))).bytes == 9 << 20  # and there is room


def test_inputs_of_a_run_may_be_larger_than_a_request(session, tmp_path):
    """85 MB go into the working directory in parts before the run."""
    data = os.urandom(1 << 20) * 85 + b"end"
    (tmp_path / "big.bin").write_bytes(data)
    (tmp_path / "small.txt").write_text("small")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "big.bin").write_bytes(b"x" * (2 << 20))
    inputs = {"d": tmp_path / "big.bin", "s": tmp_path / "small.txt", "o": tmp_path / "other" / "big.bin"}
    code = "import hashlib\nprint(d, hashlib.sha256(open(d, 'rb').read()).hexdigest(), open(s).read(), len(open(o, 'rb').read()))"
    run = session.run(code, inputs=inputs, timeout=60)
    assert run.ok and run.text == f"/output/big.bin {hashlib.sha256(data).hexdigest()} small {2 << 20}\n" and run.files == (), run
    branches = session.branch([{"code": code, "inputs": inputs, "timeout": 60}, "print(open('big.bin', 'rb').read(1))"])
    assert branches[0].ok and branches[0].text == run.text and branches[1].ok
    session.keep(1)
    with pytest.raises(hotcell.InputError, match="limits.file"):
        session.run("1", inputs={"d": Path("/dev/shm") / huge(tmp_path)})


def huge(folder):
    """A file of holes, larger than a session takes."""
    with open(folder / "huge.bin", "wb") as file:
        file.truncate(300 << 20)
    return folder / "huge.bin"


def test_a_list_has_all_pages(session):
    """Of a directory whose entries take more than one answer."""
    code = "import os\nos.mkdir('d')\nfor i in range(3000): open(f'd/{i:04}' + 'x' * 200, 'w').close()"
    assert session.run(code, timeout="60s").ok
    files = session.files.list("d")
    assert [file.path for file in files] == [f"d/{i:04}" + "x" * 200 for i in range(3000)] and files[-1].kind == "file"


def test_what_cannot_be_is_an_input_error_and_the_session_goes_on(session, tmp_path):
    for wrong in (lambda: session.files.read("none"), lambda: session.files.write("../x", b""), lambda: session.files.write("x", 5),
                  lambda: session.files.write("x", tmp_path / "none"), lambda: session.files.remove("/etc/passwd"),
                  lambda: session.files.read("x" * 300), lambda: session.files.write("x", io.StringIO("text")),
                  lambda: session.files.write(5, b"")):
        with pytest.raises(hotcell.InputError):
            wrong()
    assert session.files.write("x", b"").bytes == 0 and session.run("open('x').read()").value == ""


def test_files_wait_for_the_run_of_another_thread(base_tree, monkeypatch):  # pylint: disable=unused-argument
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    with hotcell.Session(**BOUNDS) as session:
        begun = threading.Event()
        code = "import time\nprint('up', flush=True)\nopen('f', 'w').write('1')\ntime.sleep(0.3)\nopen('f', 'w').write('22')"
        other = threading.Thread(target=lambda: session.run(code, on_event=lambda event: begun.set()))
        other.start()
        begun.wait()
        assert session.files.read("f") == b"22"
        other.join()


def test_a_session_that_is_busy_for_another_process_says_so(daemon):
    one = hotcell.Daemon(daemon.socket).session(**BOUNDS)
    other = hotcell.Daemon(daemon.socket).session(one.id)
    begun = threading.Event()
    running = threading.Thread(target=lambda: one.run("print('up', flush=True)\nwhile True: pass", on_event=lambda event: begun.set()))
    running.start()
    begun.wait()
    with pytest.raises(hotcell.Problem, match="the session is running") as busy:
        other.files.list()
    assert busy.value.retry == "not_started"
    one.interrupt()
    running.join()
    assert other.files.list() == []
    one.close()
    with pytest.raises(hotcell.SessionEnded):
        one.files.list()


def test_input_is_asked_of_a_function(session):
    prompts = []

    def answer(prompt):
        prompts.append(prompt)
        return {"Name? ": "Zoë", "Age? ": "41\n"}.get(prompt)
    run = session.run("name = input('Name? ')\nage = int(input('Age? '))\ntry:\n    input('end')\nexcept EOFError:\n    age += 1\n(name, age)", on_input=answer)
    assert run.value == ("Zoë", 42) and prompts == ["Name? ", "Age? ", "end"], run
    with pytest.raises(ZeroDivisionError):
        session.run("x = 1\ninput()", on_input=lambda prompt: 1 / 0)
    assert session.run("x").value == 1


def test_a_coroutine_function_answers_in_an_event_loop(daemon, monkeypatch):
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))

    async def answer(prompt):
        await asyncio.sleep(0)
        return prompt.upper()

    async def main():
        async with hotcell.AsyncSession(**BOUNDS) as here:
            one = await here.run("input('a')", on_input=answer)
        async with await hotcell.AsyncDaemon(daemon.socket).session(**BOUNDS) as there:
            return one.value, (await there.run("input('b')", on_input=answer)).value
    assert asyncio.run(main()) == ("A", "B")
