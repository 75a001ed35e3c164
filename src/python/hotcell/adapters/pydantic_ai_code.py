"""CodeTool: the tool of Pydantic AI's code mode, which runs Python.

    with CodeTool({"price": price}) as code:
        agent = Agent(model, tools=[code.run_code])
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

from .code_session import CodeSession, failure


class CodeTool:
    """The tool run_code, over a session that begins with its first call.

    functions  name: callable of this process that the code may call
    timeout    seconds of one call; None: the policy's
    options    arguments of hotcell.Session
    """

    def __init__(self, functions: Optional[Mapping[str, Callable[..., Any]]] = None, *, timeout: Optional[float] = None, **options: Any) -> None:
        self._functions, self._timeout, self._options = dict(functions or {}), timeout, options
        self._cell: Optional[CodeSession] = None

    def run_code(self, code: str, restart: bool = False) -> str:
        """Run Python code in a sandbox and return what it printed, the value of its last expression, or why it failed.

        Args:
            code: The program. Variables of earlier calls are still there.
            restart: Whether to begin with no variables.
        """
        if restart:
            self.close()
        if self._cell is None or self._cell.session.ended:
            self._cell = CodeSession(**self._options)
            self._cell.offer(self._functions)
        run = self._cell.run(code, self._timeout)
        value = "" if run.value is None else f"{run.value!r}\n"
        return f"{run.stdout}{run.stderr}{value}{failure(run)}"

    def close(self) -> None:
        """End the session."""
        if self._cell is not None:
            self._cell.close()
            self._cell = None

    def __enter__(self) -> "CodeTool":
        return self

    def __exit__(self, *why: Any) -> None:
        self.close()
