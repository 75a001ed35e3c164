"""HotcellEval: the eval_fn of an agent of langgraph-codeact.

    evaluate = HotcellEval(timeout=30)
    agent = create_codeact(model, tools, evaluate)

It is called with code and the variables and tools that the agent knows, and returns what the code printed and the variables that
are new. The session keeps all that code defines, also functions and classes, which are not returned: one HotcellEval is for one
conversation.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple

from .code_session import CodeSession, failure

SILENT = "<Code ran, no output printed to stdout>"


class HotcellEval:
    """Takes the arguments of hotcell.Session; `timeout` is the seconds of one call."""

    def __init__(self, *, timeout: Optional[float] = None, **options: Any) -> None:
        self._timeout = timeout
        self._known: Dict[str, Any] = {}
        self.cell = CodeSession(**options)

    def __call__(self, code: str, _locals: Mapping[str, Any]) -> Tuple[str, Dict[str, Any]]:
        """Run the code. Callables among the variables are functions that run in this process; other variables must be what
        JSON can hold, data frames or arrays: InputError."""
        self.cell.offer({name: value for name, value in _locals.items() if callable(value)})
        given = {name: value for name, value in _locals.items()
                 if not callable(value) and not (name in self._known and self._known[name] is value)}
        self.cell.set(given)
        self._known.update(given)
        run = self.cell.run(code, self._timeout)
        new = self._changes()
        output = str(run.stdout)
        return (output or SILENT) if run.ok else f"{output}Error during execution: {failure(run)}", new

    def _changes(self) -> Dict[str, Any]:
        """Variables that the agent does not know yet, or not with these values, as far as they can be carried."""
        found: Dict[str, Any] = {}
        for name, value in self.cell.values().items():
            if value is not None and not _same(self._known.get(name), value):
                found[name] = value
        self._known.update(found)
        return found

    def close(self) -> None:
        """End the session."""
        self.cell.close()


def _same(one: Any, other: Any) -> bool:
    try:
        return type(one) is type(other) and bool(one == other)
    except (ValueError, TypeError):  # frames and arrays
        return False
