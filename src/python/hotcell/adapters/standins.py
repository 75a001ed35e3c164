"""The caller's side of RunPython's stand-ins: what code in a cell may ask of the caller's objects, and what it is answered.

A value that can be carried goes into the cell itself. Of all else the cell gets a stand-in (in_cell.py), which holds a reference:
a name of the caller's namespace, or the number of an object that was lent to this cell. Every use of it comes back to a Desk as a
message that may be a hostile program's: its arguments are data (values.of_letter) or objects that were given, and of what can be
called only what is allowed (Passed); its reference has to be one that was given, its name may not begin with an underscore, and what
it asks for has to be allowed by the registry of allow.py.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import json
import os
import pkgutil
import sys
import sysconfig
import textwrap
import threading
from collections import Counter, OrderedDict, abc, defaultdict, deque
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from types import ModuleType, SimpleNamespace
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from ..tools import Tool, text_of
from ..values import NotCarried, of_letter, to_letter
from . import skills
from .allow import (POLICY_CHANGED, WRITE_POLICIES, AllowChecked, Dests, allows_within, asks_before_denial, default_write_types, explicit_names, is_tool,
                    method_owner, names_of_paths, policies_for, public_module, registered_name, registry_state, run_data)

# What the one tool of a cell may do; the job's own time comes first.
BOUNDS: Dict[str, Any] = {"calls": 10000, "timeout": "1h", "argument_size": "1M", "result_size": "16M"}
PARAMETERS = {"type": "object", "properties": {"what": {"type": "string"}, "to": {"type": "object"}, "name": {}, "args": {}, "kwargs": {}},
              "required": ["what", "to", "name", "args", "kwargs"], "additionalProperties": False}
ROOM = 12 << 20        # bytes of a value that goes into the cell
MOST_LENT = 100000     # objects that one cell can have stand-ins of
MOST_ITEMS = 1000      # items of an iterator in one answer
LONGEST_DOC = 4000     # characters
MOST_WITHIN = 100000   # values within a container that comes back as a reference
DATA_TYPES = (bool, int, float, complex, str, list, tuple, dict, set, frozenset)  # built-in types that may be arguments
CONTAINERS = (Counter, OrderedDict, defaultdict, deque)
FOLDERS = ("/dist-packages/", "/site-packages/")
OWN_FOLDERS = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib"))  # of Python's own modules
# Libraries whose functions reach what a cell does not have: files of the host, processes, networks. Of these, a function that was
# allowed by its name is the caller's; of all other libraries that the cell has, every function is the cell's own.
REACHING = {"os", "posix", "shutil", "subprocess", "socket", "ssl", "http", "urllib", "ftplib", "smtplib", "webbrowser", "requests", "httpx",
            "glob", "tempfile", "sqlite3", "platform", "getpass", "multiprocessing", "signal", "importlib"}
IN_CELL = (pkgutil.get_data(__package__, "in_cell.py") or b"").decode()
# Runs before every program: syntax warnings are not shown. It binds no name, as the caller's are there already.
QUIET = "__import__('warnings').filterwarnings('ignore', category=SyntaxWarning)\n"
SESSION_PRELUDE = f"""{QUIET}
def hotcell_setup(tools, hotcell, space, watched=False):
    own = {{"__name__": "__main__"}}
    exec(compile({IN_CELL!r}, "<hotcell>", "exec", dont_inherit=True), own)
    return own["begin"](tools, hotcell, space, watched)
hotcell_setup = hotcell_setup(tools, hotcell, globals())
del tools, ToolError
"""
WATCHED = (" globals())", " globals(), True)")  # in the prelude: without and with on_call
PRELUDE_END = "hotcell_setup(hotcell_plan)\ndel hotcell_plan, hotcell_setup\n"
DISABLE = type("Disable", (), {"__repr__": lambda self: "DISABLE"})()  # the answer of on_call that ends its calls for one place of the code
MOST_CALLS = 8000      # calls of one run that on_call is told of; they count as calls of the tool
STANDIN = "application/vnd.hotcell.standin+json"  # MIME type of a reference, as the value of a run
METHODS = "methods of paths"  # in the place of a name in a plan
MOVERS = ("rename", "replace", "hardlink_to")  # methods of Path whose first argument is a path, too
SPECIAL = {"item": "__getitem__", "len": "__len__", "contains": "__contains__", "iter": "__iter__"}


@dataclass(frozen=True)
class Lent:
    """An object that a cell has a stand-in of. `owner` and `name` say as what it was reached, None for a value of its own.
    `given`: an allowed call has returned it."""

    value: Any
    owner: Any = None
    name: Optional[str] = None
    given: bool = False


class Desk:
    """Answers what the stand-ins of one cell, or of one session, ask."""

    def __init__(self, lookup: Callable[[], Mapping[str, Any]], ok_dests: Dests) -> None:
        """lookup: gives the caller's namespace. ok_dests: as of RunPython, for policies."""
        self._lookup, self._ok_dests = lookup, ok_dests
        self._lock = threading.Lock()        # answers come from a thread, and for coroutines from the caller's event loop
        self._lent: List[Lent] = []
        self._numbers: Dict[Any, int] = {}   # what identifies a Lent -> its place in _lent
        self._classes: Dict[type, int] = {}  # classes that the cell knows -> their keys
        self._state: Any = None
        self.holds: Callable[[str], bool] = lambda path: False  # whether the cell has its own copy of what is at a path
        self.with_sources = False            # send the sources of functions, as the code asks for them
        self.with_signatures = False         # the same for their signatures
        self.on_call: Optional[Callable[..., Any]] = None  # is asked about calls of the code
        self._calls_told = 0                 # calls of this run that it was told of

    def begin(self, state: Any) -> None:
        """Begin a run. `state` is registry_state() as it was when the caller asked for the run."""
        self._state = state
        self._calls_told = 0

    def prelude(self) -> str:
        """The code that runs before the programs of a session."""
        return SESSION_PRELUDE.replace(*WATCHED) if self.on_call is not None else SESSION_PRELUDE

    # ---- what goes in ----

    def node_of(self, name: str, value: Any) -> Any:
        """The JSON that makes the value of a name in the cell: the value itself, or a stand-in. NotCarried, TooLarge."""
        found = self._described(value, {"name": name}, name)
        return {"$other": found} if found is not None else to_letter(value, ROOM, self._instead)

    def data_of(self, value: Any) -> Any:
        """The JSON that makes a value of a private name: data alone, as nothing of the caller's has such a reference. NotCarried,
        TooLarge."""
        return to_letter(value, ROOM, _no_other)

    def module_of(self, module: ModuleType) -> Any:
        """The JSON that makes a module which code imports: the cell's own, with the functions that the caller has allowed in place of
        its own."""
        return {"$other": self._lend(Lent(module))[0]}

    def methods_of_paths(self) -> Dict[str, Any]:
        """The JSON that has code call the caller's methods of paths, those that were allowed by their names."""
        return {"$other": {"kind": "methods", "to": {"id": self._number(Lent(Path))}, "names": sorted(names_of_paths())}}

    def object_of(self, reference: Any) -> Any:
        """The caller's own object for a stand-in that comes back. PermissionError: there is none, or it is not data alone but can be
        called, or is a class or a module, or contains such."""
        value = self._target(reference).value
        if reaches_code(value):
            raise PermissionError(f"{_title(value)} is a function, class or module of the caller's, or contains one")
        return value

    def stands_for(self, reference: Any, value: Any) -> bool:
        """Whether a stand-in that comes back is one of this very object. PermissionError: there is none."""
        return self._target(reference).value is value

    def tool(self, answer: Optional[Callable[..., Any]] = None) -> Tool:
        """The tool by which the cell asks. `answer` is in the place of self.answer."""
        return Tool(answer or self.answer, name="hotcell_call", description="Asks the caller.", parameters=PARAMETERS, **BOUNDS)

    def _instead(self, value: Any) -> Tuple[Any, ...]:
        """What is sent in place of a value that cannot be carried."""
        if is_container(value):
            return (self._container(value),)
        return self._lend(Lent(value))

    def _container(self, value: Any) -> Dict[str, Any]:
        """The description of a container of the module collections, which the cell makes anew."""
        items = list(value) if isinstance(value, deque) else dict(value)
        found = {"kind": "container", "name": type(value).__name__, "items": to_letter(items, ROOM, self._instead)}
        if isinstance(value, deque):
            return {**found, "longest": value.maxlen}
        factory = getattr(value, "default_factory", None)
        return {**found, "factory": factory.__name__} if factory is not None else found

    def _given(self, value: Any) -> Tuple[Any, ...]:
        return self._lend(Lent(value, given=True))

    def _lend(self, lent: Lent) -> Tuple[Any, ...]:
        to = {"id": self._number(lent)}
        if lent.owner is not None:  # it was asked for as the caller's, though the cell may have the same
            return (self._reached(lent.value, to, lent.name or ""),)
        found = self._described(lent.value, to, "")
        if found is None:
            found = {"kind": "object", "to": to, "class": self._class(type(lent.value))}
        return ({**found, "text": text_of(lent.value), "args": _arguments_of(lent.value)} if isinstance(lent.value, Exception) else found,)

    def _reached(self, value: Any, to: Mapping[str, Any], name: str) -> Dict[str, Any]:
        return {**self._class(value), "to": to} if isinstance(value, type) else self._function(value, to, name)

    def _number(self, lent: Lent) -> int:
        key = (id(lent.value), lent.given) if lent.owner is None else (id(lent.owner), lent.name)
        with self._lock:
            if key not in self._numbers:
                if len(self._lent) >= MOST_LENT:
                    raise RuntimeError(f"the code has stand-ins of {MOST_LENT} objects of the caller's, and can have no more")
                self._numbers[key] = len(self._lent)
                self._lent.append(lent)
            self._lent[self._numbers[key]] = lent  # what an attribute is may have changed
            return self._numbers[key]

    def _described(self, value: Any, to: Mapping[str, Any], name: str) -> Optional[Dict[str, Any]]:
        """The description of a module, class or function, or of an object; None for what may be data."""
        if isinstance(value, ModuleType):
            own = {"kind": "module", "name": value.__name__, "to": to}
            return _of_cell(value.__name__, "", own, to, _names_of_caller(value)) if is_library(value) else own
        if isinstance(value, type):
            return self._class_or_cell(value, to)
        if is_tool(value) or registered_name(name) and callable(value):
            return self._function(value, to, name)
        if inspect.isroutine(value):
            own = self._function(value, to, name)
            place = None if asks_before_denial() else _place(value)
            return _of_cell(*place, own, to) if place else own
        return None

    def _function(self, value: Any, to: Mapping[str, Any], name: str) -> Dict[str, Any]:
        own = getattr(value, "__name__", name)
        found = {"kind": "function", "to": to, "name": name or (own if isinstance(own, str) else "function"), "doc": _doc(value),
                 "later": inspect.iscoroutinefunction(value)}
        place = _place(value) if inspect.isfunction(value) else None
        if place in WRITE_POLICIES:
            found["own"] = place
        if self.with_signatures:
            found["signature"] = _signature(value)
            found["tells"] = value is skills.doc
        source = _source(value) if self.with_sources and inspect.isfunction(value) else None
        return {**found, "name": value.__name__, "source": source} if source else found

    def _class_or_cell(self, kind: type, to: Mapping[str, Any]) -> Dict[str, Any]:
        if getattr(builtins, kind.__name__, None) is kind:
            return {"kind": "builtin", "name": kind.__name__}
        own = {**self._class(kind), "to": to}
        place = None if is_tool(kind) and kind.__module__.partition(".")[0] in REACHING else _place(kind)
        return _of_cell(*place, own, to) if place else own

    def _class(self, kind: type) -> Dict[str, Any]:
        key = self._classes.setdefault(kind, len(self._classes))
        found: Dict[str, Any] = {"kind": "class", "key": key, "name": kind.__name__, "doc": _doc(kind)}
        if issubclass(kind, Exception):
            found["error"] = next(base.__name__ for base in kind.__mro__ if getattr(builtins, base.__name__, None) is base)
        else:
            found["bases"] = [self._class(base) for base in kind.__bases__ if base is not object and _place(base) is None]
        return found

    # ---- what is asked ----

    def answer(self, what: str, to: Any, name: Any, args: Any, kwargs: Any) -> Any:
        """The answer to a message of the cell, or for a coroutine of the caller's, an awaitable of it."""
        try:
            value = self._serve(what, to, name, args, kwargs)
            return self._later(value) if what in ("call", "next") and inspect.isawaitable(value) else self._answered(value)
        except Exception as error:
            return raised(error)

    async def _later(self, value: Awaitable[Any]) -> Dict[str, Any]:
        try:
            return self._answered(await value)
        except Exception as error:
            return raised(error)

    def _answered(self, value: Any) -> Dict[str, Any]:
        if isinstance(value, _Answer):
            return {"value": value.node}
        return {"value": to_letter(value, ROOM, self._given)}

    def _serve(self, what: str, to: Any, name: Any, args: Any, kwargs: Any) -> Any:
        if registry_state() != self._state:
            raise PermissionError(POLICY_CHANGED)
        if what == "called" and self.on_call is not None:
            return self._ask_on_call(self.on_call, to, args)
        if what not in SERVES:
            raise PermissionError(f"{str(what)[:40]!r} is nothing that can be asked of the caller")
        lent = self._target(to)
        return SERVES[what](self, lent, name, *self._arguments(args, kwargs))

    def _ask_on_call(self, on_call: Callable[..., Any], to: Any, args: Any) -> bool:
        """Whether the caller's function wants to hear no more of calls from this place of the code. What it raises is raised there."""
        self._calls_told += 1
        if self._calls_told > MOST_CALLS:
            raise PermissionError(f"the code makes more than {MOST_CALLS} calls, of which on_call is told: let it return DISABLE")
        caller, callee, where, offset = args
        if not all(isinstance(text, str) for text in (caller, callee, *where[:3])) or type(offset) is not int or type(where[3]) is not int:
            raise TypeError("a call of the code is not well described")
        code = SimpleNamespace(co_filename=where[0], co_name=where[1], co_qualname=where[2], co_firstlineno=where[3])
        answer = on_call(caller, callee, self._target(to).value if to else None, code, offset, run_data())
        return answer is DISABLE or answer is not None and answer is getattr(getattr(sys, "monitoring", None), "DISABLE", None)

    def _target(self, to: Any) -> Lent:
        """What a reference stands for."""
        if not isinstance(to, dict) or len(to) != 1:
            raise PermissionError("no reference to an object of the caller's")
        (kind, which), = to.items()
        if kind == "id" and type(which) is int and 0 <= which < len(self._lent):
            return self._lent[which]
        space = self._lookup()
        if kind == "name" and isinstance(which, str) and not which.startswith("_") and which in space:
            return Lent(space[which], None, which)
        raise PermissionError(f"{which} is not allowed" if isinstance(which, str) else "no object that was lent to this cell")

    def _arguments(self, args: Any, kwargs: Any) -> Tuple[List[Any], Dict[str, Any]]:
        """The arguments of a message. PermissionError: one may not be an argument."""
        try:
            given, named = of_letter(args, self._argument), of_letter(kwargs, self._argument)
        except ValueError as error:
            if isinstance(error.__cause__, PermissionError):
                raise error.__cause__ from None
            raise
        if not isinstance(given, list) or not isinstance(named, dict) or not all(isinstance(key, str) for key in named):
            raise TypeError("the arguments of a call are not well formed")
        return given, named

    def _argument(self, content: Any) -> Any:
        """An argument that is not data: a stand-in that comes back, or a built-in type of data. What can be called has to be allowed
        itself, and asks its own policies then: who calls it may not know that a program has chosen it."""
        if isinstance(content, dict) and list(content) == ["builtin"]:
            kind = getattr(builtins, str(content["builtin"]), None)
            if kind in DATA_TYPES:
                return kind
        lent = self._target(content)
        if not reaches_code(lent.value):
            return lent.value
        if callable(lent.value):
            passed = Passed(self, lent)
            if passed.is_allowed():
                return passed
        raise PermissionError(f"{lent.name or _title(lent.value)} is not allowed as an argument: the caller has to allow it by itself")

    # ---- what is answered ----

    def _call(self, lent: Lent, name: Any, args: List[Any], kwargs: Dict[str, Any]) -> Any:
        if name is not None:
            lent = self._method(lent.value, _checked(name))
        lent, args = self._bound(lent, args)
        return self._done_by(self._checked_call(lent), _paths_of_function(lent.value, args, kwargs), args, kwargs)

    def _bound(self, lent: Lent, args: List[Any]) -> Tuple[Lent, List[Any]]:
        """A method that is not bound becomes that of its first argument: it could be called on data otherwise, which could pass for an
        object in any state."""
        owner = method_owner(lent.value)
        if owner is None:
            return lent, args
        if not args or not isinstance(args[0], owner):
            raise TypeError(f"{lent.value.__name__} is a method of {owner.__name__}: its first argument is one")
        return self._method(args[0], _checked(lent.value.__name__)), args[1:]

    def call_passed(self, lent: Lent, args: List[Any], kwargs: Dict[str, Any]) -> Any:
        """The result of a call of what was an argument, which code of the caller's makes."""
        lent, args = self._bound(lent, args)
        done = self._done_by(self._checked_call(lent), _paths_of_function(lent.value, args, kwargs), args, kwargs)
        if isinstance(done, _Answer):
            raise PermissionError(f"{lent.name or _title(lent.value)} is not allowed as an argument on files that are in the cell")
        return done

    def _done_by(self, call: AllowChecked, paths: Sequence[Any], args: List[Any], kwargs: Dict[str, Any]) -> Any:
        """The result of a call; of one whose files are in the cell, too, nothing but the consent to make it there."""
        if not paths or not all(isinstance(path, (str, PurePath)) and self.holds(os.fspath(path)) for path in paths):
            return call(*args, **kwargs)
        call.check(*args, **kwargs)
        return _Answer({"$other": {"kind": "own"}})

    def _checked_call(self, lent: Lent) -> AllowChecked:
        if not callable(lent.value):
            raise TypeError(f"{type(lent.value).__name__!r} object is not callable")
        return AllowChecked(lent.value, self._ok_dests, lent.owner, lent.name)

    def _call_of(self, lent: Lent, name: Any, args: List[Any], kwargs: Dict[str, Any]) -> Any:
        """A method of an object that comes as data: of a Path."""
        if not args or not isinstance(lent.value, type) or not issubclass(lent.value, PurePath) or not isinstance(args[0], lent.value):
            raise TypeError("no such method of the caller's")
        paths = [args[0], *(_first(args[1:], kwargs, "target") if name in MOVERS else ())]
        return self._done_by(self._checked_call(self._method(args[0], _checked(name))), paths, args[1:], kwargs)

    def _method(self, target: Any, name: str) -> Lent:
        """An attribute that may be called. Before a name is known to be allowed, no code of the caller's runs: not even that of a
        property."""
        if policies_for(target, name) is None:
            found = vars(target).get(name) if isinstance(target, ModuleType) else inspect.getattr_static(target, name, None)
            plain = inspect.isroutine(found) or isinstance(found, (type, staticmethod, classmethod))
            if not plain or not isinstance(target, ModuleType) and not asks_before_denial() and not is_tool(getattr(target, name)):
                raise PermissionError(f"{name} is not allowed")
        return Lent(getattr(target, name), target, name)

    def _get(self, lent: Lent, name: Any, args: List[Any], kwargs: Dict[str, Any]) -> Any:
        target, name = lent.value, _checked(name)
        inner = vars(target).get(name) if isinstance(target, ModuleType) else None
        if isinstance(inner, ModuleType):
            return self._module(target, name, inner)
        if policies_for(target, name) is None and (lent.given or isinstance(target, type) and is_tool(target)):
            return self._data(target, name)
        if inspect.isdatadescriptor(inspect.getattr_static(target, name, None)):  # such as a property, whose code is the caller's
            return AllowChecked(functools.partial(getattr, target, name), self._ok_dests, target, name)()
        found = self._method(target, name)
        if isinstance(found.value, ModuleType):
            return self._module(target, name, found.value)
        if inspect.isroutine(found.value) or isinstance(found.value, type) or is_tool(found.value):
            return _Answer({"$other": self._lend(found)[0]})
        return AllowChecked(functools.partial(getattr, target, name), self._ok_dests, target, name)()

    def _module(self, target: Any, name: str, inner: ModuleType) -> Any:
        """A module that is an attribute: any that a module has imported is. All names of `target` do not allow it."""
        if name not in explicit_names(target) and not allows_within(inner):
            raise PermissionError(f"{name} is not allowed")
        return _Answer({"$other": self._lend(Lent(inner))[0]})

    def _data(self, target: Any, name: str) -> Any:
        """A plain attribute of an object that an allowed call has returned, or of a class that is allowed itself: its value, if that
        can be carried. No code of the caller's runs."""
        own = getattr(target, "__dict__", {}) if not isinstance(target, type) else {}
        value = own[name] if name in own else inspect.getattr_static(target, name, _NONE)
        if name not in own and (inspect.ismemberdescriptor(value) or type(value).__name__ == "_tuplegetter"):
            value = getattr(target, name)
        elif name not in own and (value is _NONE or hasattr(type(value), "__get__") or isinstance(value, type)):
            found = self._method(target, name)  # PermissionError, unless the method itself is allowed
            return _Answer({"$other": self._lend(found)[0]})
        try:
            return _Answer(to_letter(value, ROOM, _no_other))
        except NotCarried:
            raise PermissionError(f"{name} is not allowed") from None

    def _set(self, lent: Lent, name: Any, args: List[Any], kwargs: Dict[str, Any]) -> None:
        target, name = lent.value, _checked(name)
        if not isinstance(target, tuple(default_write_types())) or isinstance(target, (type, ModuleType)):
            raise PermissionError(f"Objects of type {type(target).__name__} may not be changed in place under this policy")
        value, = args
        if reaches_code(value):
            raise PermissionError(f"Attribute '{name}' may not be set to something callable under this policy")
        setattr(target, name, value)

    def _next(self, lent: Lent, name: Any, args: List[Any], kwargs: Dict[str, Any]) -> Any:
        """The next items of an iterator that an allowed call has returned; none at its end. Of an asynchronous one, an awaitable of them."""
        if lent.given and inspect.isasyncgen(lent.value):
            return _next_of_later(lent.value)
        if not lent.given or not isinstance(lent.value, abc.Iterator):
            raise TypeError(f"{type(lent.value).__name__!r} object is not an iterator of an allowed call")
        return list(islice(lent.value, 1 if inspect.isgenerator(lent.value) else MOST_ITEMS))

    def _iter(self, lent: Lent, name: Any, args: List[Any], kwargs: Dict[str, Any]) -> Any:
        if lent.given and isinstance(lent.value, abc.Iterator):
            return lent.value
        return _Answer({"$other": self._given(iter(self._operator("iter", lent)()))[0]})

    def _operator(self, what: str, lent: Lent) -> AllowChecked:
        """The method behind an operator, if it is allowed by its own name."""
        name = SPECIAL[what]
        if name not in explicit_names(type(lent.value)):
            raise PermissionError(f"{name} is not allowed")
        return AllowChecked(getattr(lent.value, name), self._ok_dests, lent.value, name)


async def _next_of_later(several: AsyncIterator[Any]) -> List[Any]:
    async for each in several:
        return [each]
    return []


_NONE: Any = object()  # stands for an attribute that is not there


class _Answer:
    """An answer that is JSON already."""

    def __init__(self, node: Any) -> None:
        self.node = node


class Passed:
    """What can be called of the caller's and a program has given as an argument: whoever calls it, its own policies come first."""

    def __init__(self, desk: Desk, lent: Lent) -> None:
        self._desk, self._lent = desk, lent

    def is_allowed(self) -> bool:
        """Whether the registry has it, whatever its policies will say to a call."""
        return AllowChecked(self._lent.value, (), self._lent.owner, self._lent.name).is_allowed()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._desk.call_passed(self._lent, list(args), kwargs)


def reaches_code(value: Any) -> bool:
    """Whether a value can be called, or is a class or a module, or a container with such. One with too many values counts as such."""
    todo, seen = [value], {id(value)}
    while todo:
        each = todo.pop()
        if callable(each) or isinstance(each, (ModuleType, staticmethod, classmethod, property)):
            return True
        inner = [part for part in _parts_of(each) if id(part) not in seen]
        if len(seen) + len(inner) > MOST_WITHIN:
            return True
        seen.update(map(id, inner))
        todo += inner
    return False


def _parts_of(value: Any) -> List[Any]:
    """The values that a container of Python's has; no code of a class of the caller's runs."""
    if isinstance(value, dict):
        factory = [defaultdict.default_factory.__get__(value)] if isinstance(value, defaultdict) else []  # type: ignore[attr-defined]
        return [part for part in (*dict.keys(value), *dict.values(value), *factory) if part is not None]
    for kind in (list, tuple, set, frozenset, deque):
        if isinstance(value, kind):
            return list(kind.__iter__(value))
    return list(vars(value).values()) if isinstance(value, SimpleNamespace) else []


def _title(value: Any) -> str:
    name = getattr(value, "__name__", None) if isinstance(value, (type, ModuleType)) or inspect.isroutine(value) else None
    return name if isinstance(name, str) else f"this {type(value).__name__}"


def _by_operator(what: str) -> Callable[..., Any]:
    return lambda desk, lent, name, args, kwargs: desk._operator(what, lent)(*args)


SERVES: Dict[str, Callable[..., Any]] = {
    "call": Desk._call, "of": Desk._call_of, "get": Desk._get, "set": Desk._set, "next": Desk._next, "iter": Desk._iter,
    "item": _by_operator("item"), "len": _by_operator("len"), "contains": _by_operator("contains"),
}


def _checked(name: Any) -> str:
    """A name that a program may use. PermissionError for names of the language's internals, and private ones."""
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise PermissionError(f"{str(name)[:100]} is not allowed")
    return name


def _first(args: Sequence[Any], kwargs: Mapping[str, Any], name: str) -> Sequence[Any]:
    return args[:1] or [kwargs.get(name)]


def _paths_of_function(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
    """The arguments of a call that are paths, of the functions of shutil that change files; none for all else."""
    place = _place(function) if inspect.isfunction(function) else None
    if place not in WRITE_POLICIES:
        return ()
    if place[1] == "rmtree":
        return _first(args, kwargs, "path")
    return [*_first(args, kwargs, "src"), *_first(args[1:], kwargs, "dst")]


def _no_other(value: Any) -> Tuple[Any, ...]:
    raise NotCarried(f"{type(value).__name__} is not carried")


def raised(error: Exception) -> Dict[str, Any]:
    """The answer for an exception: its type's name, its text, and if they are data, its arguments."""
    return {"raised": [type(error).__name__, text_of(error), _arguments_of(error)]}


def _arguments_of(error: Exception) -> Any:
    """The JSON of an exception's arguments; None if they are no data."""
    args = list(error.args)
    if isinstance(error, OSError) and error.filename is not None:
        args = [error.errno, error.strerror, error.filename]
    try:
        return to_letter(args, 1 << 16, _no_other)
    except Exception:  # their classes are the caller's: it may be anything
        return None


def is_container(value: Any) -> bool:
    """Whether a value is a container of the module collections that a cell can make anew, without code of the caller's."""
    return type(value) in CONTAINERS and getattr(value, "default_factory", None) in (None, *DATA_TYPES)


def has_container(value: Any) -> bool:
    """Whether there is such a container in a value that is JSON."""
    todo = [value]
    while todo:
        each = todo.pop()
        if is_container(each):
            return True
        if isinstance(each, (dict, list)):
            todo += dict.values(each) if isinstance(each, dict) else each
    return False


def is_json(value: Any) -> bool:
    """Whether the value is equal after a round trip through JSON; tuples and dicts with number keys are not."""
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


# ---- what the cell has itself ----

def is_library(module: ModuleType) -> bool:
    """Whether a module is of the standard library or installed, so that the cell may have the same one."""
    top = module.__name__.partition(".")[0]
    if top == "__main__":
        return False
    file = getattr(module, "__file__", None) or ""
    of_python = getattr(sys, "stdlib_module_names", None)
    if of_python is None:  # Python 3.9
        return top in sys.builtin_module_names or file.startswith(OWN_FOLDERS) or any(folder in file for folder in FOLDERS)
    return top in of_python or any(folder in file for folder in FOLDERS)


def stays_with_caller(module: ModuleType) -> bool:
    """Whether functions of a library's module are the caller's, as it reaches what a cell does not have and they were allowed."""
    return is_library(module) and bool(_names_of_caller(module))


def _place(value: Any) -> Optional[Tuple[str, str]]:
    """The module and path of a class or function of a library, None for another: for what those do not lead to, too."""
    module, path = public_module(value), getattr(value, "__qualname__", None)
    if module is None and isinstance(getattr(value, "__self__", None), ModuleType):
        module = value.__self__.__name__
    if not isinstance(module, str) or not isinstance(path, str) or module not in sys.modules or not is_library(sys.modules[module]):
        return None
    own = getattr(value, "__name__", None)
    for each in (path, own) if inspect.ismethod(value) else (path,):  # random.choice is a method of an object of its module's
        found: Any = sys.modules[module]
        for part in each.split(".") if isinstance(each, str) else ():
            found = getattr(found, part, None)
        if found is value:
            return module, each
    return None


def _of_cell(module: str, path: str, own: Dict[str, Any], to: Mapping[str, Any], names: Iterable[str] = ()) -> Dict[str, Any]:
    """The description of what the cell has itself, save for `names`; `own` is for a cell that has not."""
    return {"kind": "cell", "module": module, "path": path, "else": own, "to": to, "names": sorted(names)}


def _names_of_caller(module: ModuleType) -> Set[str]:
    """The names of a library's module that stay with the caller: of what reaches what the cell does not have, those that were allowed
    one by one."""
    reaches = module.__name__.partition(".")[0] in REACHING
    return {name for name in explicit_names(module) if not name.startswith("_")} if reaches else set()


def _doc(value: Any) -> str:
    try:
        text = inspect.getdoc(value) or ""
    except Exception:
        return ""
    return _text(text)


def _signature(value: Any) -> Optional[Dict[str, Any]]:
    """A signature as texts, of which the cell makes one again: {"parameters": [[name, kind, default, annotation], ...], "returns": text};
    None: it has none. What a default or an annotation is stays with the caller."""
    try:
        found = inspect.signature(value)
        rows = [[each.name, int(each.kind), None if each.default is each.empty else _text(repr(each.default)),
                 None if each.annotation is each.empty else _text(inspect.formatannotation(each.annotation))] for each in found.parameters.values()]
        returns = found.return_annotation
        return {"parameters": rows, "returns": None if returns is found.empty else _text(inspect.formatannotation(returns))}
    except Exception:  # a repr is the caller's code
        return None


def _text(text: str) -> str:
    return text[:LONGEST_DOC].replace("\0", "").encode("utf-8", "replace").decode()


def _source(function: Any) -> Optional[str]:
    try:
        return textwrap.dedent(inspect.getsource(function)).replace("\0", "")
    except (OSError, TypeError, SyntaxError):
        return None
