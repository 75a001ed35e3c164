"""HotcellExecutor: what executes the code of a CodeAgent of smolagents.

    executor = HotcellExecutor(["numpy"], timeout=30)
    agent = CodeAgent(tools=[search], model=model, executor=executor)

The interface is that of smolagents' RemotePythonExecutor. Tools are not sent into the cell: they run in this process, and the
code's calls come out to them with arguments that JSON can hold.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from . import frameworks
from .code_session import CodeSession, failure

FINAL = "FinalAnswerException"
ANSWER = "hotcell_final_answer"

# In the cell: ends a program at its final answer, which the client then asks for.
FINAL_ANSWER = f"""
class {FINAL}(BaseException):
    pass
def final_answer(*args, **kwargs):
    global {ANSWER}
    {ANSWER} = (args + tuple(kwargs.values()) + (None,))[0]
    raise {FINAL}
"""


class _CodeOutput:
    """What a program's execution gave, where smolagents is not installed."""

    def __init__(self, output: Any, logs: str, is_final_answer: bool) -> None:
        self.output, self.logs, self.is_final_answer = output, logs, is_final_answer


class _AgentError(Exception):
    def __init__(self, message: str, logger: Any) -> None:
        super().__init__(message)
        self.message = message


class _Silent:
    """A logger for an agent whose own is not known."""

    def log(self, *words: Any, **options: Any) -> None:
        """Log nothing."""

    log_error = log


CodeOutput = frameworks.named("smolagents.local_python_executor", "CodeOutput", _CodeOutput)
AgentError = frameworks.named("smolagents.utils", "AgentError", _AgentError)


class HotcellExecutor(frameworks.base("smolagents.remote_executors", "RemotePythonExecutor")):  # type: ignore[misc]
    """A session for one agent: variables stay from step to step.

    additional_imports  packages that the code may need; AgentError: the tree lacks one
    logger   the agent's logger, or None
    timeout  seconds of one step; None: the policy's
    options  arguments of hotcell.Session, such as policy and tree
    """

    # pylint: disable=super-init-not-called
    def __init__(self, additional_imports: Sequence[str] = (), logger: Any = None, *, timeout: Optional[float] = None,
                 **options: Any) -> None:
        self.additional_imports, self.logger, self.allow_pickle = list(additional_imports), logger or _Silent(), False
        self._timeout = timeout
        self._final: Optional[Callable[..., Any]] = None
        self.cell = CodeSession(**options)
        self.cell.session.run(FINAL_ANSWER, check=True)
        self.installed_packages = self.install_packages(self.additional_imports)

    def run_code_raise_errors(self, code: str) -> Any:
        """Run a step: a CodeOutput with the last expression's value, what was printed, and whether it is the final answer.
        AgentError if the code fails or is refused."""
        run = self.cell.run(code, self._timeout)
        logs = str(run.stdout)
        if run.error is not None and run.error.type == FINAL:
            answer = self.cell.session.run(ANSWER).value
            return CodeOutput(output=answer if self._final is None else self._final(answer), logs=logs, is_final_answer=True)
        if not run.ok:
            raise AgentError(f"{logs}\nExecuting code yielded an error:\n{failure(run)}", self.logger)
        return CodeOutput(output=run.value, logs=logs, is_final_answer=False)

    def __call__(self, code_action: str) -> Any:
        """As run_code_raise_errors."""
        return self.run_code_raise_errors(code_action)

    def send_tools(self, tools: Mapping[str, Callable[..., Any]]) -> None:
        """Let the code call these tools by their names. They run in this process."""
        self._final = tools.get("final_answer", self._final)
        self.cell.offer({name: _plain(tool) for name, tool in tools.items() if name != "final_answer"})

    def send_variables(self, variables: Dict[str, Any]) -> None:
        """Give the code variables: what JSON can hold, data frames, arrays. InputError for others."""
        self.cell.set(variables)

    def install_packages(self, additional_imports: Sequence[str]) -> List[str]:
        """Nothing is installed in a cell: AgentError if the tree lacks one of the packages."""
        for package in additional_imports:
            run = self.cell.run(f"import {package.split('[')[0].replace('-', '_')}", self._timeout)
            if not run.ok:
                raise AgentError(f"{package}: nothing can be installed in a cell, and its tree lacks it; build a tree that has it "
                                 f"(hotcell tree build), and name it by tree=: {failure(run)}", self.logger)
        return list(additional_imports)

    def cleanup(self) -> None:
        """End the session."""
        self.cell.close()


def _plain(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool, with a result that JSON can hold."""
    def call(*args: Any, **kwargs: Any) -> Any:
        result = tool(*args, **kwargs)
        return result if isinstance(result, (str, int, float, bool, list, dict, tuple, type(None))) else str(result)
    return call
