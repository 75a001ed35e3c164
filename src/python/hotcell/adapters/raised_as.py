"""The exception that the caller of RunPython sees for one that ended a run.

A cell tells the class by its name, with the names of its bases, and the text. Its word decides among harmless classes alone: built-in
exceptions, and those of libraries in a table. Such a class has to be in a module that this process has loaded already; nothing is
imported, no attribute of a module is computed, and no code of the class runs: the object is made by the method of a built-in
exception, and a class that would run code of its own when it is made or shown is passed over for its base.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
import sys
from typing import Any, Callable, Dict, Iterator, Optional, Sequence

from ..results import Error

# Top packages whose exceptions are raised as such.
LIBRARIES = {"numpy", "pandas", "scipy", "matplotlib", "statsmodels", "sklearn", "seaborn", "plotly", "sympy", "networkx", "PIL", "openpyxl",
             "dateutil", "pytz", "jsonschema", "yaml", "lxml", "bs4"}
OF_PYTHON = getattr(sys, "stdlib_module_names", ("json", "decimal", "csv", "struct", "zlib", "binascii", "sqlite3", "statistics", "shutil",
                                                 "configparser", "zipfile", "tarfile", "queue", "copy", "fractions", "ipaddress"))  # Python 3.9
# Of these, exceptions that tell whoever runs tests or a debugger what to do next: the cell has no word in that.
OF_RUNNERS = {"unittest", "doctest", "bdb", "pdb"}
# Methods that would run when an exception is made, raised, shown or forgotten; __init__ is not called.
RUNS = ("__new__", "__str__", "__repr__", "__setattr__", "__getattribute__", "__getattr__", "__del__", "with_traceback", "__traceback__",
        "__notes__", "__cause__", "__context__", "__suppress_context__", "args", "cell_traceback", "cell_type")
CLASS_NOTE = "its class in the cell: "  # beginning of a note
MOST_NAMES = 32
MAX_LITERAL = 1 << 16  # characters of a text that is read as an argument
OS_ERROR = re.compile(r"\[Errno (\d{1,4})\] ([^\n]*?)(?:: ('(?:[^'\\\n]|\\.)*'|\"[^\"\n]*\")(?: -> ('(?:[^'\\\n]|\\.)*'))?)?")
UNICODE_ERROR = re.compile(r"'([\w-]{1,40})' codec can't decode byte 0x([0-9a-f]{2}) in position (\d{1,6}): ([^\n]{1,200})")
JSON_ERROR = re.compile(r"(.*): line (\d{1,9}) column (\d{1,9}) \(char (\d{1,9})\)", re.DOTALL)


def exception(error: Error) -> Optional[BaseException]:
    """The exception, whose `cell_type` is the name of its class in the cell; None if its class is no Exception."""
    told = list(error.classes[:MOST_NAMES]) or [error.type]
    for number, kind in enumerate(_classes(told)):
        made = _made(kind, error.message)
        if made is not None:
            name = told[0][len("__main__."):] if told[0].startswith("__main__.") else told[0]
            made.cell_type = name  # type: ignore[attr-defined]
            if number or _name(kind) != told[0]:
                made.__notes__ = [f"{CLASS_NOTE}{name[:200]}"]  # type: ignore[attr-defined]
            return made
    return None


def _classes(names: Sequence[str]) -> Iterator[type]:
    """The classes of these names that may be raised, the nearest first; then the bases of the last one."""
    for name in names:
        kind = getattr(builtins, name, None) if "." not in name else _of_library(name)
        if isinstance(kind, type) and issubclass(kind, Exception):
            yield from (kind,) if "." in name else (each for each in kind.__mro__ if issubclass(each, Exception))


def _name(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _of_library(name: str) -> Optional[type]:
    """The class of a library in the table, if it is loaded here and no code of it runs with an object of it."""
    parts = name.split(".")
    if parts[0] not in LIBRARIES and parts[0] not in OF_PYTHON or parts[0] in OF_RUNNERS:
        return None
    for count in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:count]))
        for part in parts[count:]:
            found = getattr(found, "__dict__", {}).get(part)  # no __getattr__ of a module, which could import
        if isinstance(found, type) and issubclass(found, Exception) and _name(found) == name and _is_plain(found):
            return found
    return None


def _is_plain(kind: type) -> bool:
    own = [each for each in kind.__mro__ if each.__module__ != "builtins"]
    return type(kind) is type and not any(name in vars(each) for each in own for name in RUNS)


def _made(kind: type, message: str) -> Optional[BaseException]:
    """The exception of this class with this text; None: the text does not make one."""
    if issubclass(kind, StopIteration):
        return None  # nothing can raise it out of a coroutine
    try:
        if kind.__module__ == "builtins":
            return kind(*_arguments(kind, message))  # type: ignore[no-any-return]
        args = _arguments(kind, message)
        made: BaseException = kind.__new__(kind, *args)
        made.args = tuple(args)
    except (TypeError, ValueError):  # its constructor wants other arguments
        return None
    made.__dict__.update(MEMBERS[_name(kind)](message) if _name(kind) in MEMBERS else {})
    return made


def _arguments(kind: type, message: str) -> Sequence[Any]:
    """The arguments of an exception with this text."""
    if issubclass(kind, KeyError):
        with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return (ast.literal_eval(message[:MAX_LITERAL]),)
    if issubclass(kind, UnicodeDecodeError):
        found = UNICODE_ERROR.fullmatch(message)
        position = int(found[3]) if found is not None else 0
        return (message,) if found is None else (found[1], bytes(position) + bytes.fromhex(found[2]), position, position + 1, found[4])
    found = OS_ERROR.fullmatch(message) if issubclass(kind, OSError) else None
    if found is None:
        return (message,)
    try:
        names = [ast.literal_eval(name) for name in (found[3], found[4]) if name]
    except (ValueError, SyntaxError):
        return (message,)
    return (int(found[1]), found[2], names[0], None, names[1]) if len(names) > 1 else (int(found[1]), found[2], *names)


def _of_json(message: str) -> Dict[str, Any]:
    found = JSON_ERROR.fullmatch(message)
    return {"msg": message, "doc": "", "pos": 0, "lineno": 1, "colno": 1} if found is None else \
        {"msg": found[1], "doc": "", "pos": int(found[4]), "lineno": int(found[2]), "colno": int(found[3])}


# Members that handlers of an exception read, by the name of its class.
MEMBERS: Dict[str, Callable[[str], Dict[str, Any]]] = {"json.decoder.JSONDecodeError": _of_json}
