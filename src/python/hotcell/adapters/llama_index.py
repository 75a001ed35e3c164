"""HotcellCodeRunner: the code_execute_fn of a CodeActAgent of LlamaIndex.

    runner = HotcellCodeRunner([add, multiply], timeout=30)
    agent = CodeActAgent(code_execute_fn=runner, llm=llm, tools=[add, multiply])
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Sequence

from .code_session import CodeSession, failure


class HotcellCodeRunner:
    """A session for one agent: variables stay from call to call.

    functions  callables that the code may call by their names; they run in this process
    timeout    seconds of one call; None: the policy's
    options    arguments of hotcell.Session
    """

    def __init__(self, functions: Sequence[Callable[..., Any]] = (), *, timeout: Optional[float] = None, **options: Any) -> None:
        self._timeout = timeout
        self.cell = CodeSession(**options)
        self.cell.offer({getattr(getattr(fn, "metadata", None), "name", None) or getattr(fn, "__name__", str(fn)): fn for fn in functions})

    def __call__(self, code: str) -> Dict[str, Any]:
        """Run the code: {"stdout", "stderr", "value": the last expression's value, "error": "" or why it failed}."""
        run = self.cell.run(code, self._timeout)
        return {"stdout": str(run.stdout), "stderr": str(run.stderr), "value": run.value, "error": failure(run)}

    def close(self) -> None:
        """End the session."""
        self.cell.close()
