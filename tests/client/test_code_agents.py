"""What executes the code of agents of smolagents, langgraph-codeact and LlamaIndex: real cells, against stubs of the frameworks."""

from dataclasses import dataclass
from typing import Any

import cells
import frameworks
import pytest

pytestmark = pytest.mark.usefixtures("base_tree")
OPTIONS = {"binary": cells.HOTCELL, "tree": "base"}


def add(a, b=1):
    """Adds in this process."""
    add.calls.append((a, b))
    return a + b


add.calls = []


# ---- smolagents ----

@dataclass
class CodeOutput:
    output: Any
    logs: str
    is_final_answer: bool


class AgentError(Exception):
    def __init__(self, message, logger):
        super().__init__(message)
        self.logger = logger


class RemotePythonExecutor:
    pass


SMOLAGENTS = {"smolagents.local_python_executor": {"CodeOutput": CodeOutput}, "smolagents.utils": {"AgentError": AgentError},
              "smolagents.remote_executors": {"RemotePythonExecutor": RemotePythonExecutor}}


@pytest.fixture(scope="module")
def executor(base_tree):
    with pytest.MonkeyPatch.context() as monkeypatch:
        module = frameworks.load(monkeypatch, "smolagents", *(frameworks.module(name, **names) for name, names in SMOLAGENTS.items()))
        executor = module.HotcellExecutor(["json"], "logger", timeout=5, **OPTIONS)
        yield executor
        executor.cleanup()
        assert executor.cell.session.ended


def test_a_step_gives_output_and_logs_and_the_next_finds_its_variables(executor):
    assert isinstance(executor, RemotePythonExecutor)
    assert executor("x = 40\nprint('set')\nx + 1") == CodeOutput(41, "set\n", False)
    assert executor.run_code_raise_errors("x + 2") == CodeOutput(42, "", False)


def test_the_final_answer_ends_the_step_and_comes_out_as_itself(executor):
    executor.send_tools({"final_answer": lambda answer: ("checked", answer)})
    done = executor("print('before')\ntry:\n    final_answer((1, {2}))\nexcept Exception:\n    pass\nprint('after')")
    assert done == CodeOutput(("checked", (1, {2})), "before\n", True)
    assert executor("final_answer(answer=[3])").output == ("checked", [3])


def test_tools_run_in_this_process(executor):
    add.calls.clear()
    executor.send_tools({"add": add})
    assert executor("add(1, 2) + add(3, b=4)").output == 10 and add.calls == [(1, 2), (3, 4)]
    with pytest.raises(AgentError, match="can only concatenate str"):
        executor("add('a')")
    with pytest.raises(AgentError, match="there is no function 'open'"):
        executor("tools.call_function(name='open', args=['/etc/passwd'], kwargs={})")


def test_variables_are_sent(executor):
    executor.send_variables({"given": {"a": [1, None]}})
    executor.send_variables({})
    assert executor("given").output == {"a": [1, None]}


def test_an_error_says_what_was_printed_and_what_failed(executor):
    with pytest.raises(AgentError, match=r"(?s)so far\n.*ZeroDivisionError: division by zero") as raised:
        executor("print('so far')\n1 / 0")
    assert raised.value.logger == "logger"
    with pytest.raises(AgentError, match="rejected: .*ctypes"):
        executor("__import__('ctypes')")
    with pytest.raises(AgentError, match="timeout: ran longer than 5s"):
        executor("while True: pass")


def test_packages_that_the_tree_lacks_are_refused(executor):
    assert executor.install_packages(["json"]) == ["json"]
    with pytest.raises(AgentError, match="no_such_package: nothing can be installed in a cell"):
        executor.install_packages(["no_such_package"])


def test_without_smolagents_it_works_by_itself(monkeypatch):
    module = frameworks.load(monkeypatch, "smolagents", without=("smolagents", *SMOLAGENTS))
    executor = module.HotcellExecutor(**OPTIONS)
    assert executor("6 * 7").output == 42 and executor("final_answer(1)").is_final_answer
    with pytest.raises(module.AgentError, match="NameError"):
        executor("nope")
    executor.cleanup()


# ---- langgraph-codeact ----

@pytest.fixture(scope="module")
def evaluate(base_tree):
    from hotcell.adapters.langgraph_codeact import HotcellEval
    evaluate = HotcellEval(timeout=5, **OPTIONS)
    yield evaluate
    evaluate.close()


def test_code_has_the_agents_variables_and_tools_and_returns_new_ones(evaluate):
    add.calls.clear()
    context = {"add": add, "start": 5}
    output, new = evaluate("def twice(n):\n    return 2 * n\ntotal = add(start, 2)\nprint(total)", context)
    assert (output, new, add.calls) == ("7\n", {"total": 7}, [(5, 2)])
    context.update(new)
    # Functions stay in the session, and a variable that the code changed is new again.
    output, new = evaluate("total = twice(total)\npair = (total, start)\nimport json", context)
    assert output == "<Code ran, no output printed to stdout>" and new == {"total": 14, "pair": (14, 5)}
    context.update(new)
    assert evaluate("print(pair[0])", context) == ("14\n", {})
    assert evaluate("print(start)", {**context, "start": 6})[0] == "6\n"


def test_a_failure_is_its_output(evaluate):
    output, new = evaluate("half = 1\nprint('so far')\n1 / 0", {})
    assert output.startswith("so far\nError during execution: Traceback") and output.endswith("ZeroDivisionError: division by zero")
    assert new == {"half": 1}
    assert "Error during execution: timeout: ran longer" in evaluate("while True: pass", {})[0]


# ---- LlamaIndex ----

def test_code_of_llama_index_calls_functions_of_this_process():
    from hotcell.adapters.llama_index import HotcellCodeRunner
    add.calls.clear()
    runner = HotcellCodeRunner([add], **OPTIONS)
    assert runner("n = add(2, 3)\nprint('printed')\nn") == {"stdout": "printed\n", "stderr": "", "value": 5, "error": ""}
    assert runner("n * 2")["value"] == 10 and runner("")["error"] == ""
    failed = runner("import sys\nprint('e', file=sys.stderr)\nmissing")
    assert failed["stderr"].startswith("e\n") and "NameError: name 'missing' is not defined" in failed["error"]
    runner.close()
    assert add.calls == [(2, 3)]
