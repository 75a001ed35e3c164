"""Sandbox, on which adapters of frameworks stand: what their own tests do not reach."""

import asyncio
import errno

import cells
import frameworks
import pytest

import hotcell
from hotcell.adapters.code_session import CodeSession
from hotcell.adapters.sandbox import Entry, Sandbox, shell
from hotcell.adapters.sandbox_async import AsyncSandbox

pytestmark = pytest.mark.usefixtures("shell_tree")


@pytest.fixture(scope="module")
def box(shell_tree):
    box = Sandbox(**frameworks.OPTIONS)
    yield box
    box.close()


def test_bytes_of_output_are_kept_as_they_are(box):
    done = box.exec(["printf", "\\377\\000a\\n"])
    assert done.stdout == b"\xff\0a\n" and not done.truncated
    large = box.exec(["python3", "-c", "import sys; sys.stdout.buffer.write(bytes(range(256)) * 8000)"])
    assert large.stdout == bytes(range(256)) * 8000
    cut = box.exec(["sh", "-c", "printf 12345678; printf abc >&2"], bound=5)
    assert (cut.stdout, cut.stderr, cut.lost, cut.truncated) == (b"12345", b"abc", (3, 0), True)
    both = box.exec(shell("echo 1; echo 2 >&2; echo 3"))
    assert (both.stdout, both.stderr) == (b"1\n2\n3\n", b"")


def test_a_command_that_a_limit_ends_says_which(box):
    late = box.exec(["sh", "-c", "echo began; sleep 60"], timeout=0.5)
    assert late.timed_out and late.status == 143 and late.stdout == b"began\n"
    assert late.stderr.splitlines()[-1].startswith(b"hotcell: ran longer than 500ms (limits.timeout)")


def test_entries_have_kinds_sizes_and_modes():
    with hotcell_sandbox(home="/workspace") as box:  # where links can be made
        assert box.exec(["sh", "-c", "mkdir -p k/d; echo abc > k/f; chmod 640 k/f; ln -s f k/l"]).status == 0
        found = box.list("k")
        assert found[0].kind == "directory" and found[1] == Entry("f", "file", 4, 0o640) and (found[2].kind, found[2].bytes) == ("link", 0)
        assert box.read("k/l") == b"abc\n"
        with pytest.raises(OSError, match="Directory not empty"):
            box.remove("k")
        box.remove("k", recursive=True)
        with pytest.raises(FileNotFoundError):
            box.list("k")


def test_a_file_of_more_bytes_than_asked_for_is_refused(box):
    box.write("ten", b"0123456789")
    assert box.read("ten", 10) == b"0123456789"
    with pytest.raises(OSError, match="10 bytes, and at most 9") as raised:
        box.read("ten", 9)
    assert raised.value.errno == errno.EFBIG


def test_a_module_of_the_program_does_not_come_between(box):
    """The command that reads files is Python, and must not import what a program left in its directory."""
    for name in ("base64", "json", "stat", "shutil"):
        box.write(f"{name}.py", b"raise SystemExit(9)")
    box.write("/tmp/json.py", b"raise SystemExit(9)")
    assert box.read("json.py") == b"raise SystemExit(9)"
    for name in ("base64", "json", "stat", "shutil"):
        box.remove(f"{name}.py")


@pytest.mark.parametrize("home", ["/workspace", "/output/inner", "/srv/a b"])
def test_a_sandbox_has_the_home_that_it_is_given(home):
    with hotcell_sandbox(home=home) as box:
        assert box.exec(["pwd"]).stdout.decode() == f"{home}\n" and box.place("x") == f"{home}/x"
        box.write("new/file", b"1")
        assert box.exec(["cat", "new/file"]).stdout == b"1"


def test_a_home_in_a_directory_of_the_host_is_that_directory(tmp_path):
    user = cells.caller()
    work = cells.new_directory(user) / "work"
    work.mkdir()
    (work / "here").write_text("kept")
    with hotcell_sandbox(home="/work", dirs=[{"host": str(work), "place": "/work", "mode": "cow"}]) as box:
        assert box.exec(["cat", "here"]).stdout == b"kept"
        box.write("here", b"changed")
    assert (work / "here").read_text() == "kept"


def test_another_policy_than_one_with_commands_is_refused():
    with hotcell_sandbox(policy="none", tree="shell") as box, pytest.raises(hotcell.PolicyError, match="true: policy 'none' executes no programs"):
        box.exec(["true"])


def test_an_async_sandbox_is_open_before_it_is_used():
    async def work():
        box = AsyncSandbox(**frameworks.OPTIONS)
        with pytest.raises(hotcell.UsageError, match="await open"):
            await box.exec(["true"])
        await box.close()
        await box.open()
        many = await asyncio.gather(*(box.exec(["echo", str(n)]) for n in range(5)))
        assert [done.stdout for done in many] == [f"{n}\n".encode() for n in range(5)]
        await box.close()
        assert box.sandbox.session.ended
    asyncio.run(work())


def cancel_often(box, command):
    """Cancels a task that executes the command, again and again, as anyio does."""
    async def work():
        task = asyncio.ensure_future(box.exec(["sh", "-c", command]))
        await asyncio.wait([task], timeout=0.5)
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)
        assert task.cancelled()
    return work()


def test_a_cancelled_command_ends_and_the_session_goes_on(monkeypatch):
    async def work():
        box = await AsyncSandbox(**frameworks.OPTIONS).open()
        await cancel_often(box, "echo $$ > pid; sleep 600")
        gone = await box.exec(["sh", "-c", "kill -0 $(cat pid) 2>/dev/null || echo gone"])
        assert gone.stdout == b"gone\n"
        monkeypatch.setattr("hotcell.adapters.sandbox_async.KILL_AFTER", 0.5)
        await cancel_often(box, "trap '' TERM; while :; do sleep 1; done")
        with pytest.raises(hotcell.SessionEnded):
            await box.exec(["true"])
        await box.close()
    asyncio.run(work())


class hotcell_sandbox:
    """A Sandbox that is closed at the block's end."""

    def __init__(self, **options):
        self.box = Sandbox(**{**frameworks.OPTIONS, **options})

    def __enter__(self):
        return self.box

    def __exit__(self, *why):
        self.box.close()


@pytest.mark.parametrize(("options", "message"), [
    ({"timeout": -1}, "timeout: expected a number of seconds above 0, got -1"), ({"timeout": "x"}, "timeout: expected a number of seconds above 0, got 'x'"),
    ({"home": 5}, "home: expected a name or a path, got int"), ({"home": ""}, "home: expected a directory below /"),
    ({"dirs": 5}, "dirs: expected a list, got int"), ({"dirs": [{}]}, 'dirs: {}: expected "host", "place" and "mode", paths without a colon'),
], ids=["negative", "text", "number", "root", "dirs", "no host"])
def test_options_that_mean_nothing_are_one_clear_line(options, message):
    with pytest.raises(hotcell.InputError) as raised:
        Sandbox(**{**frameworks.OPTIONS, **options})
    assert str(raised.value) == message


def test_arguments_that_mean_nothing_are_one_clear_line(box):
    for call, message in [
            (lambda: box.exec("ls"), "argv: expected a list of str, the program and its arguments, got 'ls'"),
            (lambda: box.exec([]), "argv: expected a list of str, the program and its arguments, got []"),
            (lambda: box.exec([5]), "argv: expected a list of str, the program and its arguments, got [5]"),
            (lambda: box.exec(["ls"], timeout=-1), "timeout: expected a number of seconds above 0, got -1"),
            (lambda: box.exec(["ls"], cwd=5), "path: expected a name or a path, got int"),
            (lambda: box.read(5), "path: expected a name or a path, got int"),
            (lambda: box.write("x", "text"), "content: expected bytes, got str")]:
        with pytest.raises(hotcell.InputError) as raised:
            call()
        assert str(raised.value) == message
    assert box.exec(["echo", "on"]).stdout == b"on\n"


def test_a_session_for_code_says_what_it_cannot_take(base_tree):
    session = CodeSession(binary=cells.HOTCELL, tree="base")
    try:
        for call, message in [
                (lambda: session.offer({"class": print}), "'class' is no name that a program can write"),
                (lambda: session.offer({"f": 5}), "functions: f: expected a function, got int"),
                (lambda: session.offer(5), "functions: expected a mapping, names and values, got int"),
                (lambda: session.set(5), "variables: expected a mapping, names and values, got int"),
                (lambda: session.run(None), "code: expected str, or for a command a list of str, got NoneType")]:
            with pytest.raises(hotcell.InputError) as raised:
                call()
            assert str(raised.value) == message
        session.offer({"f": lambda: 7})
        assert session.run("f()").value == 7
    finally:
        session.close()
