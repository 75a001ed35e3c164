"""What a run of RunPython is for its caller: the value of its last expression, or the exception that it is raised as.

Both come from a cell as text or data, and nothing of them is run: a repr is read as a literal, and an exception is of a built-in class, or
of one that a library of a table defines and this process has loaded already, see raised_as.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib.util
import linecache
import re
import sys
import warnings
from collections import Counter, OrderedDict, deque
from types import FrameType
from typing import Any, Mapping, Optional, Sequence

from ..errors import JobError, NeedsSession
from ..results import Rejection, Repr, Result
from ..values import MIME
from . import raised_as
from .frames import traceback_of
from .standins import STANDIN, Desk
from .unwrap import CAUSE, CONTEXT, refusal_in

MAX_LITERAL = 1 << 16  # characters of a repr that is read as a value
CUT = "guest: The text of the value was cut"  # beginnings of the warnings on a value, which the program's process gives
LEFT_OUT = re.compile(r"guest: The value as \S+ was left out: it is too large")
TEXT_ALONE = "guest: The value is here as text alone: "
CONTAINER = re.compile(r"(deque|Counter|OrderedDict)\((.*?)(?:, maxlen=(\d{1,9}))?\)", re.DOTALL)
FLAGS = ("IGNORECASE", "MULTILINE", "DOTALL", "VERBOSE", "ASCII")


def value_of(result: Result, desk: Desk) -> Any:
    """The value of a run: as itself, from JSON or as a literal, else a Repr, with a warning if it was only too large or nearly data."""
    bundle = result.bundle
    if MIME in bundle:
        return result.value
    if STANDIN in bundle:
        with contextlib.suppress(PermissionError):
            return desk.object_of(bundle[STANDIN])
    if "application/json" in bundle:
        return bundle["application/json"]
    text = bundle.get("text/plain")
    if not isinstance(text, str):
        return None
    cut = any(each.startswith(CUT) for each in result.warnings)
    alone = [each[len(TEXT_ALONE):] for each in result.warnings if each.startswith(TEXT_ALONE)]  # its text would be read as other data
    if not cut and not alone and len(text) <= MAX_LITERAL and max(map(text.count, "([{-+")) <= 1000:
        with contextlib.suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError, re.error):
            found = _builtin_type(text) or _pattern(text)
            if found is None:
                found = _container(text)
            return ast.literal_eval(text) if found is None else found
    _warn_of_text(result, cut, alone)
    return Repr(text)


def _warn_of_text(result: Result, cut: bool, alone: Sequence[str]) -> None:
    """Say why a value is here as text, if its class is not the reason."""
    if cut or any(map(LEFT_OUT.match, result.warnings)):
        limit = result.manifest.get("limits", {}).get("value")
        text = "the beginning of its text" if cut else "text"
        warn_caller(f"the value is here as {text} alone: it does not fit into the policy's limits.value, {limit} bytes. Assigned to a variable it "
                    "comes back whole.")
    elif alone:
        warn_caller(f"the value is here as text alone: {alone[0][:500]}")


def is_of_caller(frame: FrameType) -> bool:
    """Whether a frame belongs neither to this package nor to asyncio."""
    return str(frame.f_globals.get("__name__")).partition(".")[0] not in ("hotcell", "asyncio")


def warn_caller(message: str) -> None:
    """Warn of the caller's line that waits for the run, however deep in this package: Python shows a warning once for each line."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and not is_of_caller(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


def _builtin_type(text: str) -> Optional[type]:
    """The built-in type whose repr this is."""
    found = re.fullmatch(r"<class '(\w+)'>", text)
    kind = getattr(builtins, found[1], None) if found else None
    return kind if isinstance(kind, type) else None


def _container(text: str) -> Any:
    """The container of the module collections whose repr this is, if JSON has none that is like it. ValueError, SyntaxError."""
    found = CONTAINER.fullmatch(text)
    if found is None:
        return None
    items = ast.literal_eval(found[2] or "()")
    if found[1] == "deque":
        return deque(items, int(found[3]) if found[3] else None)
    return {"Counter": Counter, "OrderedDict": OrderedDict}[found[1]](items)


def _pattern(text: str) -> Optional["re.Pattern[Any]"]:
    """The regular expression whose repr this is, if its flags are ordinary ones."""
    call = ast.parse(text, mode="eval").body if text.startswith("re.compile(") else None
    if not isinstance(call, ast.Call) or call.keywords or not 1 <= len(call.args) <= 2:
        return None
    flags = ast.unparse(call.args[1]).split(" | ") if len(call.args) == 2 else []
    if not all(flag.startswith("re.") and flag[3:] in FLAGS for flag in flags):
        return None
    return re.compile(ast.literal_eval(call.args[0]), sum(getattr(re, flag[3:]) for flag in flags))


def exception_of(result: Result, kept_back: Mapping[str, str]) -> BaseException:
    """The exception for a run that did not end well. `kept_back`: names of the caller's that did not go into the cell, and why."""
    if result.status in ("timeout", "cpu"):
        return noted(TimeoutError(result.reason), result)
    if result.status == "memory":
        return noted(MemoryError(result.reason), result)
    rejection = result.rejection
    if rejection is not None and rejection.rule == "syntax":
        return noted(_syntax_error(result, rejection), result)
    if rejection is not None:
        findings = rejection.findings or (rejection,)
        return noted(PermissionError("\n".join(dict.fromkeys(finding.message for finding in findings))), result)
    error = result.error
    if error is None:
        return JobError(result)
    for name, why in kept_back.items():
        if error.type == "NameError" and f"'{name}'" in error.message:
            return noted(NeedsSession(f"{name}: {why}"), result)
    if error.type == "ImportError" and error.message.endswith("is not allowed by this policy"):
        return noted(PermissionError(error.message), result)
    refused = refusal_in(result)
    if refused is not None:
        return noted(PermissionError(refused), result, True)
    if error.type.rpartition(".")[2] == "OperationalError" and error.message.startswith("Dest ") and result.denials:
        return noted(PermissionError(error.message), result)  # sqlite3 itself would say so where its audit event is refused
    return noted(raised_as.exception(error) or JobError(result), result)


def _syntax_error(result: Result, rejection: Rejection) -> SyntaxError:
    """The compiler's exception: it has the place of the error and, in `text`, the line."""
    name = re.search(r'File "(<(?:pyrun_|cell )\d+>)"', str(result.stderr))
    file = name[1] if name else "<pyrun>"
    return SyntaxError(rejection.message, (file, rejection.line, rejection.column, linecache.getline(file, rejection.line or 0) or None))


def noted(error: BaseException, result: Result, whole: bool = False) -> BaseException:
    """The exception with the cell's traceback, from the code's own frame on and without what it was raised from, unless `whole`."""
    text = result.error.traceback if result.error else str(result.stderr)
    last = max(text.rfind(between) + len(between) if between in text else 0 for between in (CAUSE, CONTEXT))
    told = result.error or result.rejection
    hint = _hint_on_module(error) or (told.hint if told is not None else None)
    if hint:
        error.__notes__ = [f"hint: {hint}", *getattr(error, "__notes__", ())]  # type: ignore[attr-defined]
    error.__suppress_context__ = True
    return with_frames(error, text if whole else text[last:])


def _hint_on_module(error: BaseException) -> Optional[str]:
    """What to do about a module that this process has, and the cell has not; None: it is not about such a module."""
    found = re.fullmatch(r"No module named '(\w{1,100})(?:\.[\w.]*)?'", str(error)) if isinstance(error, ModuleNotFoundError) else None
    if found is None:
        return None
    try:
        if importlib.util.find_spec(found[1]) is None:
            return None
    except (ImportError, ValueError, AttributeError):
        return None
    return (f"{found[1]} is a module of the caller's, of which the cell has none: import it there, and allow what the code may call, as in "
            f"allow({{{found[1]}: [\"NAME\"]}}).")


def with_frames(error: BaseException, text: str) -> BaseException:
    """The exception with this traceback of the cell: as text in `cell_traceback`, and with a frame for each line of the code."""
    error.cell_traceback = text  # type: ignore[attr-defined]
    return error.with_traceback(None if isinstance(error, SyntaxError) else traceback_of(text))  # a SyntaxError says its place itself


def with_name(text: str, name: str) -> str:
    """A traceback of a session with the name that linecache has for the code of its last run."""
    cells = re.findall(r'File "(<cell \d+>)"', text)
    return text.replace(f'File "{max(cells, key=lambda cell: int(cell[6:-1]))}"', f'File "{name}"') if cells else text
