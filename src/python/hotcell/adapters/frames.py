"""Frames of code that ran in a cell, for the traceback of the exception that its caller sees.

A cell tells its traceback as text. For each line of the caller's own code in it there is a frame here, whose code object has the
name of the source in linecache: so a traceback that is printed, and a debugger, show the line. Nothing of the text is run.
"""

from __future__ import annotations

import ast
import linecache
import re
from types import TracebackType
from typing import List, NamedTuple, Optional

MOST_FRAMES = 100
FRAME = re.compile(r'^  File "(<pyrun_\d>)", line (\d{1,6})(?:, in ([^\n]{1,200}))?\n(?:    [^\n]*\n(?:    ([ ~^]+)\n)?)?', re.MULTILINE)


class _Place(NamedTuple):
    """A line of a traceback; `start` and `end` are columns of the part of the line that was run."""

    file: str
    line: int
    function: str
    start: int
    end: int


class _Raised(Exception):
    pass


def traceback_of(text: str) -> Optional[TracebackType]:
    """A traceback with the frames of the code, from the text of one, which may come from a hostile program; None if it has none."""
    found: Optional[TracebackType] = None
    for place in reversed(_places(text)):
        at = _raised_at(place)
        found = TracebackType(found, at.tb_frame, at.tb_lasti, at.tb_lineno) if at is not None else found
    return found


def _places(text: str) -> List[_Place]:
    text = text.replace("\n  | ", "\n")  # of a group of exceptions
    return [_place(match) for match in FRAME.finditer(text)][-MOST_FRAMES:]


def _place(match: "re.Match[str]") -> _Place:
    line = int(match[2])
    source = linecache.getline(match[1], line).rstrip()
    indent = len(source) - len(source.lstrip())
    marks = match[4] or ""
    start, end = (indent + len(marks) - len(marks.lstrip()), indent + len(marks.rstrip())) if marks.strip() else (indent, len(source))
    return _Place(match[1], line, match[3] or "<module>", len(source[:start].encode()), len(source[:end].encode()))


def _raised_at(place: _Place) -> Optional[TracebackType]:
    """The traceback of an exception that code with this name has raised in this place."""
    program = ast.parse("raise raised")
    for node in ast.walk(program):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno = node.end_lineno = max(place.line, 1)
            node.col_offset, node.end_col_offset = place.start, max(place.start, place.end)
    code = compile(program, place.file, "exec")
    names = {name: place.function for name in ("co_name", "co_qualname") if hasattr(code, name)}
    try:
        exec(code.replace(**names), {"raised": _Raised})  # type: ignore[arg-type]
    except _Raised as error:
        return error.__traceback__.tb_next if error.__traceback__ is not None else None
    return None
