"""Code executors of AutoGen and of Google's Agent Development Kit: real cells, against stubs of the frameworks."""

import abc
import asyncio
import base64
import dataclasses

import cells
import frameworks
import pytest

PYTHON = {"binary": cells.HOTCELL, "tree": "base"}


@dataclasses.dataclass
class Block:
    code: str
    language: str


@dataclasses.dataclass
class CodeResult:
    exit_code: int
    output: str


class CodeExecutor(abc.ABC):
    @abc.abstractmethod
    async def start(self): ...

    @abc.abstractmethod
    async def stop(self): ...

    @abc.abstractmethod
    async def restart(self): ...

    @abc.abstractmethod
    async def execute_code_blocks(self, code_blocks, cancellation_token): ...


class Token:
    """A cancellation token, as AutoGen has it."""

    def __init__(self):
        self.future = None

    def link_future(self, future):
        self.future = future


# ---- AutoGen ----

@pytest.fixture
def autogen(monkeypatch, shell_tree):
    stub = frameworks.module("autogen_core.code_executor", CodeExecutor=CodeExecutor, CodeResult=CodeResult)
    return frameworks.load(monkeypatch, "autogen", stub)


def test_blocks_share_variables_and_files_until_one_fails(autogen):
    async def work():
        async with autogen.HotcellCodeExecutor(**frameworks.OPTIONS) as executor:
            assert isinstance(executor, CodeExecutor)
            yield await executor.execute_code_blocks([Block("n = 20", "python"), Block("echo $((1 + 1)) > two", "sh"),
                                                      Block("print(n + int(open('two').read()))", "Python")], Token())
            yield await executor.execute_code_blocks([Block("print(n)\n1 / 0", "python"), Block("echo not reached", "sh")], Token())
            yield await executor.execute_code_blocks([Block("a=(3 4); echo ${a[1]}; echo e >&2; exit 7", "bash")], Token())
            yield await executor.execute_code_blocks([Block("x", "cobol")], Token())
            await executor.restart()
            yield await executor.execute_code_blocks([Block("print(n)", "python")], Token())

    async def gather():
        return [result async for result in work()]
    shared, failed, shell, unknown, anew = asyncio.run(gather())
    assert shared == CodeResult(0, "22\n")
    assert failed.exit_code == 1 and failed.output.startswith("20\nTraceback") and "ZeroDivisionError" in failed.output
    assert "not reached" not in failed.output
    assert shell == CodeResult(7, "4\ne\n")
    assert unknown.exit_code == 1 and "unknown language cobol" in unknown.output
    assert anew.exit_code == 1 and "NameError" in anew.output


@pytest.mark.parametrize("block", [Block("while True: pass", "python"), Block("sleep 60", "sh")])
def test_a_block_that_takes_too_long_raises_and_one_that_is_cancelled_ends(autogen, block):
    async def work():
        async with autogen.HotcellCodeExecutor(timeout=0.5, **frameworks.OPTIONS) as executor:
            with pytest.raises(asyncio.TimeoutError):
                await executor.execute_code_blocks([block], Token())
            executor._timeout, token = 600, Token()
            task = asyncio.ensure_future(executor.execute_code_blocks([block], token))
            await asyncio.wait([task], timeout=0.5)
            token.future.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await executor.execute_code_blocks([Block("print(1)", "python")], Token())).output
    assert asyncio.run(work()) == "1\n"


def test_an_executor_that_has_not_been_started_says_so(monkeypatch):
    module = frameworks.load(monkeypatch, "autogen", without=("autogen_core", "autogen_core.code_executor"))
    executor = module.HotcellCodeExecutor()
    with pytest.raises(ValueError, match="has not been started"):
        asyncio.run(executor.execute_code_blocks([]))
    asyncio.run(executor.stop())


# ---- Google's Agent Development Kit ----

@dataclasses.dataclass
class File:
    name: str
    content: object
    mime_type: str = "text/plain"


@dataclasses.dataclass
class Input:
    code: str
    input_files: list = dataclasses.field(default_factory=list)
    execution_id: str | None = None


@dataclasses.dataclass
class Result:
    stdout: str = ""
    stderr: str = ""
    output_files: list = dataclasses.field(default_factory=list)


class BaseCodeExecutor:
    """What pydantic does with fields, in short."""

    model_fields = {"stateful": None, "error_retry_attempts": None}

    def __init__(self, **members):
        assert set(members) <= set(self.model_fields), members
        vars(self).update({"error_retry_attempts": 2, **members})


@pytest.fixture
def adk(monkeypatch, base_tree):
    kit = "google.adk.code_executors"
    return frameworks.load(monkeypatch, "google_adk", frameworks.module(f"{kit}.code_execution_utils", File=File, CodeExecutionResult=Result),
                           frameworks.module(f"{kit}.base_code_executor", BaseCodeExecutor=BaseCodeExecutor))


def test_code_of_the_kit_has_its_files_and_only_failures_have_stderr(adk):
    executor = adk.HotcellCodeExecutor(timeout=5, error_retry_attempts=1, **PYTHON)
    assert isinstance(executor, BaseCodeExecutor) and (executor.error_retry_attempts, executor.stateful) == (1, False)
    files = [File("a.csv", base64.b64encode(b"n\n1\n2\n")), File("b.txt", "plain: no base64"), File("c.bin", b"\xff\0")]
    code = ("import sys\nprint(open('a.csv').read(), open('b.txt').read(), open('c.bin', 'rb').read())\n"
            "print('warned', file=sys.stderr)\nopen('out.json', 'w').write('{}')")
    done = executor.execute_code(None, Input(code, files))
    assert (done.stdout, done.stderr) == ("n\n1\n2\n plain: no base64 b'\\xff\\x00'\nwarned\n", "")
    assert done.output_files == [File("out.json", b"{}", "application/json")]
    failed = executor.execute_code(None, Input("print('so far')\nx = 1\nmissing"))
    assert failed.stdout == "so far\n" and "NameError: name 'missing' is not defined" in failed.stderr
    assert "limits.timeout" in executor.execute_code(None, Input("while True: pass")).stderr
    assert "NameError" in executor.execute_code(None, Input("x")).stderr  # a cell of its own


def test_calls_of_one_execution_share_a_session(adk):
    executor = adk.HotcellCodeExecutor(stateful=True, **PYTHON)
    assert executor.execute_code(None, Input("x = 1", execution_id="one")).stderr == ""
    assert executor.execute_code(None, Input("print(x)", execution_id="one")).stdout == "1\n"
    assert "NameError" in executor.execute_code(None, Input("x", execution_id="two")).stderr
    executor.close()
    assert "NameError" in executor.execute_code(None, Input("x", execution_id="one")).stderr
    executor.close()


def test_without_the_kit_it_works_by_itself(monkeypatch, base_tree):
    module = frameworks.load(monkeypatch, "google_adk", without=("google", "google.adk"))
    executor = module.HotcellCodeExecutor(stateful=True, **PYTHON)
    assert executor.stateful and executor.execute_code(None, Input("print(2)")).stdout == "2\n"
