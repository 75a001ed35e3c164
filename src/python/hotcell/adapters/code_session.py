"""CodeSession: a session for programs in Python that call functions of this process by their names, for frameworks whose agents
write code.

A function is called with what JSON can hold, and its result goes back as JSON; it runs here, with this process's rights. Values
that come out of the cell are as of hotcell.Run: also tuples, data frames, arrays.
"""

from __future__ import annotations

import contextlib
import keyword
from typing import Any, Callable, Dict, Mapping, Optional

from ..errors import InputError
from ..results import Repr
from ..session import Run, Session
from ..staging import code_of, is_array, is_frame, mapping_of
from ..tools import Tool

CALLS = 10_000  # calls of functions in one run
RETURNED = 50   # variables that one run returns

# In the cell: gives the program a function of this process under its name.
BIND = """
def hotcell_bind(call, name):
    def function(*args, **kwargs):
        return call(name=name, args=list(args), kwargs=kwargs)
    function.__name__ = function.__qualname__ = name
    return function
"""


class CodeSession:
    """Takes the arguments of hotcell.Session but for tools. `session` is the Session."""

    def __init__(self, **options: Any) -> None:
        self._functions: Dict[str, Callable[..., Any]] = {}
        self.session = Session(tools=[Tool(self._call, name="call_function", description="Calls a function of the host.", calls=CALLS)],
                               **options)

    def _call(self, name: str, args: list, kwargs: dict) -> Any:  # type: ignore[type-arg]
        if name not in self._functions:
            raise LookupError(f"there is no function {name!r}")
        return self._functions[name](*args, **kwargs)

    def offer(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        """Let programs call these functions by these names. InputError: a name is none."""
        for name, function in mapping_of(functions, "functions").items():
            if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
                raise InputError(f"{name!r} is no name that a program can write")
            if not callable(function):
                raise InputError(f"functions: {name}: expected a function, got {type(function).__name__}")
        new = [name for name in functions if name not in self._functions]
        self._functions.update(functions)
        if new:
            lines = "".join(f"{name} = hotcell_bind(tools.call_function, {name!r})\n" for name in new)
            self.session.run(f"{BIND}{lines}del hotcell_bind\n", check=True)

    def set(self, variables: Mapping[str, Any]) -> None:
        """Give programs variables: what JSON can hold, data frames and arrays. InputError for others."""
        variables = mapping_of(variables, "variables")
        frames = {name: value for name, value in variables.items() if is_frame(value) or is_array(value)}
        plain = {name: value for name, value in variables.items() if name not in frames}
        if variables:
            self.session.run("pass", vars=plain or None, inputs=frames or None, check=True)

    def run(self, code: str, timeout: Optional[float] = None) -> Run:
        """Run a program; one that holds nothing but space does nothing. `timeout` in seconds."""
        return self.session.run(code_of(code), timeout=timeout)

    def values(self) -> Dict[str, Any]:
        """The variables that programs have set, as far as they can be carried; functions, classes and modules cannot."""
        found = self.session.run("[name for name in globals() if name.isidentifier() and not name.startswith('_')]").value
        names = [name for name in found if isinstance(name, str) and name not in self._functions and name != "tools"]
        values: Dict[str, Any] = {}
        for at in range(0, len(names), RETURNED):
            returned = self.session.run("pass", returns=names[at:at + RETURNED]).returned
            for name in returned:
                with contextlib.suppress(ValueError, KeyError):
                    values[name] = returned[name]
        return {name: value for name, value in values.items() if not isinstance(value, Repr)}

    def close(self) -> None:
        """End the session."""
        self.session.close()


def failure(run: Run) -> str:
    """Why a run did not end well, for the writer of its program: the traceback, or the reason. "" if it did."""
    if run.ok:
        return ""
    if run.error is not None and run.status == "error":
        return f"{run.error.traceback.rstrip()}\n{run.error.hint or ''}".rstrip()
    return f"{run.status}: {run.reason}"
