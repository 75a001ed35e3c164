"""The sandbox of inspect_ai: what its own check of a sandbox asks for, in real cells, and against its interface as a stub."""

import abc
import asyncio

import frameworks
import pytest

import hotcell

pytestmark = pytest.mark.usefixtures("shell_tree")
NAMES = ("inspect_ai", "inspect_ai.util")


def stub():
    """inspect_ai.util with the names that the adapter uses."""
    util = frameworks.module("inspect_ai.util")

    class ExecResult:
        def __init__(self, success, returncode, stdout, stderr):
            self.success, self.returncode, self.stdout, self.stderr = success, returncode, stdout, stderr

    class OutputLimitExceededError(Exception):
        def __init__(self, limit_str, truncated_output):
            super().__init__(f"a limit of {limit_str} was exceeded")
            self.limit_str, self.truncated_output = limit_str, truncated_output

    class SandboxEnvironmentLimits:
        MAX_EXEC_OUTPUT_SIZE, MAX_EXEC_OUTPUT_SIZE_STR = 10 << 20, "10 MiB"
        MAX_READ_FILE_SIZE, MAX_READ_FILE_SIZE_STR = 100 << 20, "100 MiB"

    class SandboxEnvironment(abc.ABC):
        @classmethod
        @abc.abstractmethod
        async def sample_cleanup(cls, task_name, config, environments, interrupted): ...

        @abc.abstractmethod
        async def exec(self, cmd, input=None, cwd=None, env=None, user=None, timeout=None, timeout_retry=True, concurrency=True): ...

        @abc.abstractmethod
        async def write_file(self, file, contents): ...

        @abc.abstractmethod
        async def read_file(self, file, text=True): ...

    util.registered = {}
    util.sandboxenv = lambda name: lambda kind: util.registered.setdefault(name, kind)
    for thing in (ExecResult, OutputLimitExceededError, SandboxEnvironmentLimits, SandboxEnvironment):
        setattr(util, thing.__name__, thing)
    return util


class Box:
    """One sandbox, whose coroutines are run to their ends."""

    def __init__(self, module):
        self.kind, self.module = module.HotcellSandboxEnvironment, module
        self.all = asyncio.run(self.kind.sample_init("task", frameworks.OPTIONS, {}))
        self.one = self.all["default"]

    def exec(self, *cmd, **options):
        return asyncio.run(self.one.exec(list(cmd), **options))

    def read(self, *arguments, **options):
        return asyncio.run(self.one.read_file(*arguments, **options))

    def write(self, *arguments):
        asyncio.run(self.one.write_file(*arguments))


@pytest.fixture(scope="module")
def util():
    return stub()


@pytest.fixture(scope="module")
def box(util, shell_tree):
    with pytest.MonkeyPatch.context() as monkeypatch:
        box = Box(frameworks.load(monkeypatch, "inspect_ai", util))
        yield box
        asyncio.run(box.kind.sample_cleanup("task", None, box.all, False))
        assert box.one.sandbox.sandbox.session.ended


def test_it_is_a_sandbox_of_the_framework_and_registered(box, util):
    assert util.registered == {"hotcell": box.kind} and isinstance(box.one, util.SandboxEnvironment)
    assert list(box.all) == ["default"]


# ---- files ----

@pytest.mark.parametrize("name", ["plain.file", "file with space.file", "sub/dir/new.file", "/tmp/absolute/new.file"])
@pytest.mark.parametrize("content", ["great #content\nand lines\r\n", "", "✨☽︎✨🌞︎︎✨🚀✨", b"\xc3\x28", b"", b"\0\xff" * 9])
def test_what_is_written_is_read(box, name, content):
    box.write(name, content)
    assert box.read(name, text=isinstance(content, str)) == content
    assert box.exec("rm", "--", name).success


def test_a_large_file_goes_in_and_comes_out(box):
    content = b"\xc3\0" * 2_500_000 + b"end"
    box.write("large.file", content)
    assert box.read("large.file", text=False) == content


def test_a_file_is_replaced_whole(box):
    box.write("exists.file", "mundane content")
    box.write("exists.file", "new")
    assert box.read("exists.file") == "new"


@pytest.mark.parametrize("name, kind, words", [
    ("nonexistent", FileNotFoundError, "nonexistent"),
    ("https:/en.wikipedia.org/wiki/Bart%C5%82omiej", FileNotFoundError, "wikipedia"),
    ("/etc", IsADirectoryError, "directory"),
    ("hidden.file", PermissionError, "hidden.file"),
    ("binary.file", UnicodeDecodeError, "can't decode"),
])
def test_what_cannot_be_read_raises_as_files_do(box, name, kind, words):
    box.write("hidden.file", "inaccessible")
    box.write("binary.file", b"\xc3\x28")
    box.exec("chmod", "-r", "hidden.file")
    with pytest.raises(kind, match=words):
        box.read(name)
    box.exec("chmod", "+r", "hidden.file")


@pytest.mark.parametrize("content", ["text", b"\xc3\x28"])
def test_what_cannot_be_written_raises_as_files_do(box, content):
    box.exec("rm", "-f", "kept.file")
    box.write("kept.file", "impervious")
    box.exec("chmod", "-w", "kept.file")
    box.write("/tmp/folder/inner", "")
    for name, kind in (("kept.file", PermissionError), ("/tmp/folder", IsADirectoryError), ("/etc/new.file", PermissionError)):
        with pytest.raises(kind, match=name):
            box.write(name, content)
    assert box.read("kept.file") == "impervious"


def test_a_file_beyond_the_limit_is_not_read(box, util, monkeypatch):
    box.write("large.file", "a" * 2048)
    monkeypatch.setattr(util.SandboxEnvironmentLimits, "MAX_READ_FILE_SIZE", 2047)
    with pytest.raises(util.OutputLimitExceededError, match="limit of 100 MiB was exceeded"):
        box.read("large.file")
    monkeypatch.setattr(util.SandboxEnvironmentLimits, "MAX_READ_FILE_SIZE", 2048)
    assert len(box.read("large.file")) == 2048


# ---- commands ----

def test_output_and_status_are_those_of_the_command(box):
    done = box.exec("sh", "-c", "echo foo; echo bar; echo baz >&2; exit 3")
    assert (done.success, done.returncode, done.stdout, done.stderr) == (False, 3, "foo\nbar\n", "baz\n")
    assert box.exec("true").success and box.exec("no-such-program").returncode == 127
    assert box.exec("cat", input="fed ✨").stdout == "fed ✨" and box.exec("wc", "-c", input=b"\0\xff").stdout == "2\n"
    with pytest.raises(UnicodeDecodeError):
        box.exec("printf", "\\303\\050")


def test_environment_and_input_are_for_one_command(box):
    assert box.exec("sh", "-c", "echo $WORD", env={"WORD": "given"}).stdout == "given\n"
    assert box.exec("sh", "-c", "echo $WORD; cat").stdout == "\n"


def test_a_command_that_takes_too_long_raises(box):
    with pytest.raises(TimeoutError):
        box.exec("sleep", "60", timeout=1)
    assert box.exec("echo", "alive").stdout == "alive\n"


def test_what_may_not_be_executed_raises(box):
    with pytest.raises(PermissionError):
        box.exec("/etc/passwd")


@pytest.mark.parametrize("user", ["root", "nonexistent"])
def test_another_user_is_refused_with_a_sentence(box, user):
    done = box.exec("whoami", user=user)
    assert not done.success and f"unable to find user {user}: no matching entries in passwd file" in done.stdout
    assert "a cell has one user" in done.stderr
    assert box.exec("whoami", user="guest").stdout == "guest\n"


def test_a_command_begins_where_it_is_told_to(box):
    box.write("here.file", "")
    assert "here.file" in box.exec("ls", "-1").stdout
    assert "env" in box.exec("ls", cwd="/usr/bin").stdout.split()
    box.write("subdir/relative.file", "")
    assert box.exec("ls", cwd="subdir").stdout == "relative.file\n"
    box.write("/tmp/there/absolute.file", "")
    assert box.exec("ls", cwd="/tmp/there").stdout == "absolute.file\n"
    missing = box.exec("ls", cwd="/tmp/nowhere")
    assert missing.returncode == 126 and "/tmp/nowhere: No such file or directory" in missing.stderr


@pytest.mark.parametrize("redirection", ["", "1>&2"])
def test_output_beyond_the_limit_raises_with_what_was_kept(box, util, redirection):
    with pytest.raises(util.OutputLimitExceededError, match="limit of 10 MiB was exceeded") as raised:
        box.exec("sh", "-c", f"yes | head -c {(10 << 20) + 1024} {redirection}")
    assert len(raised.value.truncated_output) == 10 << 20


def test_a_cancelled_task_ends_its_command(box):
    async def cancelled():
        task = asyncio.ensure_future(box.one.exec(["sh", "-c", "echo $$ > began; sleep 600"]))
        await asyncio.wait([task], timeout=1)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()
    assert asyncio.run(cancelled())
    assert box.exec("sh", "-c", "kill -0 $(cat began) 2>/dev/null || echo gone").stdout == "gone\n"


def test_without_the_framework_it_works_by_itself(monkeypatch):
    module = frameworks.load(monkeypatch, "inspect_ai", without=NAMES)
    assert module.HotcellSandboxEnvironment.__bases__ == (object,)
    box = Box(module)
    assert box.exec("echo", "x").stdout == "x\n"
    with pytest.raises(module.OutputLimitExceededError, match="10 MiB"):
        box.exec("sh", "-c", f"yes | head -c {(10 << 20) + 1}")
    asyncio.run(box.kind.sample_cleanup("task", None, box.all, True))
    assert asyncio.run(module.HotcellSandboxEnvironment.sample_cleanup("task", None, {}, True)) is None


def test_a_policy_without_commands_is_refused(monkeypatch):
    module = frameworks.load(monkeypatch, "inspect_ai", without=NAMES)
    environments = asyncio.run(module.HotcellSandboxEnvironment.sample_init("task", {**frameworks.OPTIONS, "policy": "none", "tree": "shell"}, {}))
    with pytest.raises(hotcell.PolicyError, match="commands.allow"):
        asyncio.run(environments["default"].exec(["true"]))
    asyncio.run(module.HotcellSandboxEnvironment.sample_cleanup("task", None, environments, False))
