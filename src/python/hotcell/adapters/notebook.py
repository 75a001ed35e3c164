"""RunPython: code of a model that uses tools, run away from the caller's process, as if it were in its namespace.

Each call has a fresh cell under the policy "notebook", or all share one session. What the code names of the caller's namespace
goes in: values of the types that values.py carries, and modules, classes and functions of libraries that the cell has as well. Of
all else, such as the caller's own functions, classes, modules and objects, the cell gets a stand-in (standins.py): what the code
does with it is done in the caller's process, if the registry allows it and its policies agree. New values come back into the
namespace by the rules of should_export. Nothing is ever pickled.
"""

from __future__ import annotations

import asyncio
import base64
import builtins
import importlib
import inspect
import io
import json
import keyword
import linecache
import os
import re
import sys
import tokenize
import traceback
import unicodedata
import warnings
from collections import ChainMap, Counter, OrderedDict, abc, deque
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Callable, Dict, Iterable, List, Mapping, MutableMapping, Optional, Sequence, Set, Tuple, Union

from ..config import Config, read_config
from ..errors import HotcellError, PolicyError
from ..jobs import apolicy, arun
from ..launcher import PathLike
from ..results import Result
from ..staging import is_array, is_column, is_frame
from ..tools import run_to_end
from . import skills
from .allow import (POLICY_CHANGED, AllowChecked, AllowPolicy, CallInfo, DenyInfo, OpenWritePolicy, PathWritePolicy, PosAllowPolicy,
                    PosWritePolicy, PreDeny, UrlPolicy, WritePolicy, allow, allow_write, allow_write_types, audit_state, begin_run,
                    chk_dest, default_write_types, describe_tools, explicit_modules, names_of_paths, refuse_coroutines, registered_name,
                    registry_state, run_data, set_data, track_call, type_name)
from .dests import Dests, DestsError
from .figures import allow_matplotlib
from .live import Live, Told
from .outcomes import exception_of, is_of_caller, noted, value_of, warn_caller, with_frames, with_name
from .standins import (DISABLE, METHODS, PRELUDE_END, QUIET, STANDIN, Desk, has_container, is_container, is_json, is_library,
                       stays_with_caller)
from .writers import allow_pandas

__all__ = [
    "DISABLE", "UNSET", "AllowChecked", "AllowPolicy", "CallInfo", "DenyInfo", "DestsError", "OpenWritePolicy", "PathWritePolicy",
    "PosAllowPolicy", "PosWritePolicy", "RunPython", "UrlPolicy", "WritePolicy", "allow", "allow_matplotlib", "allow_pandas",
    "allow_write", "allow_write_types", "audit_state", "chk_dest", "create_pyrun_magic", "default_ok_dests", "find_var",
    "load_ipython_extension", "run_data", "set_data", "should_export", "skills", "srcfn", "track_call",
]

OnCall = Callable[[str, str, Any, Any, int, Mapping[str, Any]], Any]
UNSET: Any = globals().get("UNSET") or type("Unset", (), {"__repr__": lambda self: "UNSET"})()  # the same one after %reload_ext
MAX_RETURNS = 64       # names that one job can give back
MOST_NAME = 64         # bytes of a name that a job can have by itself
WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")
COMPOUND = {"with", "for", "while", "if", "elif", "async", "def", "class", "case", "match", "except", "else", "try", "finally"}  # begin statements with a colon
SOURCES = 10           # most sources of runs that linecache keeps
CHANGING = (list, dict, set, bytearray, SimpleNamespace)  # types whose values the cell has copies of, which code can change
DENIED_CALLS = {"breakpoint", "exec", "eval", "compile"}  # calls that the policy "notebook" denies
TAKEN = ("tools", "ToolError")  # names of a job with tools, until the plan is carried out
HELPERS = ("python", "allow")  # names of the host's, that never come back

default_ok_dests: Optional[Sequence[str]] = ()
_namespace: ContextVar[Optional[Dict[str, Any]]] = ContextVar("hotcell_namespace", default=None)
_config_read = False


# ---- the caller's namespace ----

def _find_frame_dict(sentinel: Optional[str]) -> Dict[str, Any]:
    """The globals of the nearest frame outside this module that have `sentinel`; of the nearest frame if it is empty."""
    frame = inspect.currentframe()
    while frame:
        space = frame.f_globals
        if space is not globals() and (not sentinel or sentinel in space):
            return space
        frame = frame.f_back
    space = _namespace.get()
    if space is not None and (not sentinel or sentinel in space):
        return space
    return vars(sys.modules["__main__"])


def find_var(name: str) -> Any:
    """The variable `name` of the nearest frame whose globals have it. KeyError if none has."""
    return _find_frame_dict(name)[name]


def should_export(name: str, value: Any, g: Mapping[str, Any]) -> bool:
    """Whether a value goes into the namespace: never with a leading underscore in its name, as `python` or `allow`, or under a name by
    which a function was allowed, always with a trailing underscore, else unless it shadows a callable or module."""
    if name.startswith("_") or name in HELPERS or registered_name(name):
        return False
    if name.endswith("_"):
        return True
    old = g.get(name)
    return not callable(old) and not isinstance(old, ModuleType)


def _origin() -> str:
    """Which task asks for a run, and where: of the frames that wait for it, the nearest one outside of this package and of asyncio."""
    task = asyncio.current_task()
    frames = task.get_stack(limit=1) if task is not None else []
    frame = frames[0] if frames and is_of_caller(frames[0]) else inspect.currentframe()
    while frame is not None and not is_of_caller(frame):
        frame = frame.f_back
    place = f" at {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""
    return f"{task.get_name() if task is not None else 'no task'}{place}"


# ---- what the code names ----

class _Names:
    """The names in a source, and those that seem to be assigned. Found by tokens, as untrusted text is not parsed here."""

    def __init__(self, code: str) -> None:
        self.used: Dict[str, None] = {}
        self.assigned: Set[str] = set()
        self.bound: Set[str] = set()  # of these, names that get another object: not those whose items or attributes are set
        line: List[str] = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(code).readline):
                if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER) or token.string == ";":
                    self._take(line)
                    line = []
                elif token.type in (tokenize.NAME, tokenize.OP):
                    line.append(token.string)
                elif token.type == tokenize.STRING:  # names in f"{x}", and in frame.query("a > @x")
                    self.used.update(dict.fromkeys(map(_as_compiled, WORD.findall(token.string))))
        except (tokenize.TokenError, SyntaxError):  # the cell says what is wrong with it
            self._take(line)

    def _take(self, line: List[str]) -> None:
        first, last = _assignment(line)
        any_sign = max((i for i, text in enumerate(line) if text.endswith("=") and text not in ("==", "!=", "<=", ">=")),
                       default=-1)  # also one that tells a method inplace=True
        targets = _targets(line)
        for i, text in enumerate(line):
            before = line[i - 1] if i else ""
            if not text.isidentifier() or keyword.iskeyword(text) or before == ".":
                continue
            text = _as_compiled(text)
            self.used.setdefault(text)
            after = line[i + 1] if i + 1 < len(line) else ""
            named = before in ("as", "import") or after == ":=" or i in targets and after != "("
            if i < any_sign or named:
                self.assigned.add(text)
                if (named or first <= i < last) and after not in (".", "["):
                    self.bound.add(text)


def _assignment(line: List[str]) -> Tuple[int, int]:
    """The places in a line between which names get another object: up to its last sign of an assignment, and behind the head of a
    compound statement. In brackets stand arguments and defaults; += changes lists in place."""
    first = _end(line, 0, (":",)) if line and line[0] in COMPOUND else 0
    depth, last = 0, -1
    for i, text in enumerate(line):
        depth += (text in OPENING) - (text in CLOSING)
        if depth <= 0 and text == "=":
            last = i
    return first, last


def _targets(line: List[str]) -> Set[int]:
    """The places in a line where names stand that get a value without a sign for it: between `for` and `in`, in the brackets behind
    `as`, and in the pattern of `case`."""
    found: Set[int] = set()
    for i, text in enumerate(line):
        if text == "for":
            found.update(range(i, _end(line, i, ("in",))))
        elif text == "as" and line[i + 1:i + 2] and line[i + 1] in "([":
            found.update(range(i, _end(line, i, (":", ","))))
        elif text == "case" and i == 0 and line[1:2] not in (["="], [":"], ["."]):
            found.update(range(i, _end(line, i, (":", "if"))))
    return found


def _end(line: List[str], start: int, ends: Sequence[str]) -> int:
    """The place of the first of these signs that stands in no bracket."""
    depth = 0
    for i in range(start, len(line)):
        depth += (line[i] in OPENING) - (line[i] in CLOSING)
        if line[i] in ends and depth <= 0:
            return i
    return len(line)


def _as_compiled(name: str) -> str:
    """The name as Python's compiler has it."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


class _Values:
    """What the code names of the caller's namespace, by the way in which it goes into the cell, and the reasons why the rest cannot."""

    def __init__(self, g: Mapping[str, Any], names: Iterable[str], desk: Desk) -> None:
        self.vars: Dict[str, Any] = {}      # JSON values
        self.inputs: Dict[str, Any] = {}    # frames and arrays
        self.plan: Dict[str, Any] = {}      # JSON that makes other values, or stand-ins
        self.changing: Dict[str, Any] = {}  # the values in `plan` that code can change in place
        self.kept_back: Dict[str, str] = {}
        self._desk = desk
        named = {name: g[name] for name in names if name in g and name != "_" and not name.startswith("__")}
        count = Counter(id(value) for value in named.values() if isinstance(value, CHANGING))
        self._several = {number for number, times in count.items() if times > 1}
        self._first: Dict[int, str] = {}  # of values with several names: id -> the first one
        for name, value in named.items():
            self._sort(name, value)
        for name in TAKEN if self.plan else ():
            if name in self.vars:
                self._plan(name, self.vars.pop(name))

    def _sort(self, name: str, value: Any) -> None:
        if id(value) in self._several and not name.startswith("_"):
            self._plan_again(name, value)
        elif is_frame(value) or is_column(value) or is_array(value) and value.dtype.kind != "O":
            self.inputs[name] = value
        elif is_json(value) and not has_container(value) and len(name.encode()) <= MOST_NAME:
            self.vars[name] = value
        else:
            self._plan(name, value)

    def _plan_again(self, name: str, value: Any) -> None:
        """Have the code see what it changes under one name of a value under its other names."""
        first = self._first.setdefault(id(value), name)
        if first == name:
            self._plan(name, value)
        elif first in self.kept_back:
            self.kept_back[name] = self.kept_back[first]
        else:
            self.plan[name] = {"$other": {"kind": "same", "name": first}}
            self.changing[name] = value

    def _plan(self, name: str, value: Any) -> None:
        try:
            self.plan[name] = self._desk.node_of(name, value) if not name.startswith("_") else self._desk.data_of(value)
        except (TypeError, ValueError) as error:
            self.kept_back[name] = f"a {type(value).__name__} of the caller's cannot be sent into a cell: {error}"
        if isinstance(value, CHANGING) or is_container(value):
            self.changing[name] = value


# ---- running ----

ABOUT = """Run Python code in a cell and return the value of its last expression.

All of the standard library that needs no processes and no network can be imported, and numpy, pandas, matplotlib and
other scientific libraries. Top-level await works. print() goes to standard output. New variables come back to the
caller's namespace, unless they begin with '_' or would hide a function or module there; those that end with '_'
always do."""


class _LiveDoc:
    """The docstring of RunPython, with the tools that are allowed now."""

    def __get__(self, instance: Any, owner: Any = None) -> str:
        tools = [f"- {line}" for line in describe_tools()]
        return "\n".join([ABOUT, "", "Tools that the caller allows:", *tools]) if tools else ABOUT


class RunPython:
    __doc__ = _LiveDoc()  # type: ignore[assignment]

    def __init__(self, g: Optional[Dict[str, Any]] = None, sentinel: Optional[str] = None, ok_dests: Any = UNSET, *,
                 policy: Optional[str] = None, tree: Optional[PathLike] = None, timeout: Any = None, memory: Any = None,
                 pre_deny: Optional[PreDeny] = None, session: Optional[bool] = None, ban_defs: bool = False,
                 ban_imports: Union[str, Iterable[str]] = (), binary: Optional[PathLike] = None, on_call: Optional[OnCall] = None) -> None:
        """g: the namespace; None: IPython's, or the caller's globals (with `sentinel`, those that have this name).
        ok_dests: directories whose files code may change, at their own paths, see dests; None: the current one and /tmp, a
        cell has no other; default: none.
        pre_deny: is asked with a DenyInfo before a call of a function of the caller's is denied, see there.
        session: run all code in one session, so that functions, classes and objects of any type stay for later runs;
        a run that is killed costs only itself, and close() ends it. False, or None if the user's configuration does not
        say otherwise: each run has a fresh cell.
        on_call: is called here with (caller, callee, fn, code, off, data) for each call that the code itself makes, before it is made:
        the names of both, the caller's own object if it is one of his (else None), where the call stands, and run_data(). What it raises
        is raised in the code, in the place of the call; DISABLE is no more told of this place. It costs a message for each call, and needs
        Python 3.12 or later in the tree: PolicyError.
        ban_defs: refuse code that defines functions or classes. ban_imports: modules that code may not import, beside those of
        the policy.
        The rest is as in hotcell.run; the policy is "notebook" unless the user's configuration says otherwise."""
        _check_arguments(g, pre_deny, on_call, ban_imports)
        config = self._config = _read_config()
        self.g = _ipython_namespace() if g is None else g
        if self.g is None:
            self.g = _find_frame_dict(sentinel)
        if ok_dests is UNSET:
            ok_dests = config.ok_dests if "ok_dests" in config.given else default_ok_dests
        self.ok_dests = _dests(ok_dests)
        self._options = config.options(tree=tree, timeout=timeout, memory=memory, policy=policy, binary=binary)
        self._policy = str(self._options.pop("policy") or "notebook")
        self._pre_deny = pre_deny
        banned = [ban_imports] if isinstance(ban_imports, str) else list(ban_imports)
        self._bans: Dict[str, Any] = {"imports": {"deny+": banned}} if banned else {}
        self._denied: Optional[List[str]] = None  # modules that the policy denies; None: it was not asked yet
        self._opened: Set[str] = set()            # of these, modules that code could import
        self._banned = ["def", "class"] if ban_defs else []
        self._on_call = on_call
        self._desk = self._new_desk()  # of the session
        self._live: Optional[Live] = None
        self._had_methods = False  # the session has methods of the caller's paths
        if session or session is None and config.session:
            given = {name: value for name, value in self._options.items() if value}
            self._live = Live(self._desk, given, self.ok_dests)

    async def __call__(self, code: str, *, data: Optional[Mapping[str, Any]] = None) -> Any:
        """Run `code`. Exceptions are raised as raised_as says, with the cell's traceback in `cell_traceback`; TimeoutError, MemoryError
        and JobError tell of limits, NeedsSession of what waits.
        `data` is for the policies of tools (run_data), over what set_data has set."""
        if not isinstance(code, str):
            raise TypeError(f"code: expected a str, got {type(code).__name__}")
        if data is not None and not isinstance(data, abc.Mapping):
            raise TypeError(f"data: expected a mapping, names and values, got {type(data).__name__}")
        _namespace.set(self.g)
        if "\0" in code:
            raise SyntaxError("source code string cannot contain null bytes")
        begin_run(data, self._pre_deny, _origin())
        with self._config.naming_place({**self._options, "policy": self._policy}):
            try:
                return await self._run(code)
            except PolicyError as error:
                old = re.search("calls can be watched from .*", str(error)) if self._on_call is not None else None
                if old is not None:
                    raise PolicyError(f"on_call: {old[0]}", error.exit_code) from None
                raise

    async def _run(self, code: str) -> Any:
        names, state = _Names(code), registry_state()
        opened = await self._open_imports(names)
        desk = self._desk if self._live is not None else self._new_desk()
        desk.with_sources = "getsource" in code
        desk.with_signatures = not {"doc", "help", "signature"}.isdisjoint(names.used)
        desk.begin(state)
        values = _Values(self._namespace(), names.used, desk)
        values.plan.update((f"import {name}", desk.module_of(module)) for name, module in opened.items())
        methods = names_of_paths()
        if self._had_methods or any(name in code for name in methods):
            values.plan[METHODS] = desk.methods_of_paths()
            self._had_methods = self._live is not None
        if self._live is not None:
            return await self._run_live(self._live, code, names, values, state)
        with Dests(self.ok_dests) as dests:
            desk.holds = dests.holds
            asks = values.plan or self._on_call is not None
            prelude = {"code": dests.prelude() + (desk.prelude() + PRELUDE_END if asks else QUIET)}
            policy = {**self._rules(dests.places(), filename=srcfn(code)), **self._calls(names), "prelude": prelude, "limits": dests.limits()}
            given: Dict[str, Any] = {}
            if asks:
                given = {"vars": {**values.vars, "hotcell_plan": values.plan}, "tools": [desk.tool()]}
            result = await arun(code, policy=policy, inputs=values.inputs, returns=_wanted(names, values),
                                interface="runpython", **{"vars": values.vars, **given}, **dests.options(), **self._options)
            with result:
                self._take(result, names, values, state, desk, lambda: dests.apply(result.output_dir, result.manifest["limits"]["file"]))
                return value_of(result, desk)

    def _new_desk(self) -> Desk:
        desk = Desk(self._namespace, self.ok_dests)
        desk.on_call = self._on_call
        return desk

    async def _open_imports(self, names: _Names) -> Dict[str, ModuleType]:
        """The modules that the code may import as the caller has allowed functions of them: against the policy's list, and the caller's
        own, which a cell does not have. The rules of a
        session are not taken back: it would have to begin anew."""
        wanted = {name: module for name, module in explicit_modules().items()
                  if name.partition(".")[0] in names.used and stays_with_caller(module)}
        own = {name: module for name, module in explicit_modules().items()
               if name in names.used and not is_library(module)}
        if not wanted and not own:
            return {}
        if self._denied is None:
            whole = await apolicy(self._policy, binary=self._options.get("binary"))
            self._denied = list(whole.get("imports", {}).get("deny") or ())
        banned = self._bans.get("imports", {}).get("deny+", ())
        wanted = {name: module for name, module in wanted.items() if name in self._denied and name not in banned}
        self._opened.update(wanted)
        return {**wanted, **{name: module for name, module in own.items() if name not in banned}}

    def _imports(self) -> Dict[str, Any]:
        """The rules on imports, if they are others than the policy's."""
        if not self._opened:
            return self._bans
        left = [name for name in self._denied or () if name not in self._opened]
        return {"imports": {"deny": left + self._bans.get("imports", {}).get("deny+", [])}}

    def _namespace(self) -> Mapping[str, Any]:
        """The values of the code's names: the caller's namespace, and the functions of enabled skills."""
        return ChainMap(self.g or {}, skills.namespace())

    async def _run_live(self, live: Live, code: str, names: _Names, values: _Values, state: Any) -> Any:
        result, told = await live.run(code, self._rules, values, _wanted(names, values), state)
        name = srcfn(code)
        try:
            live.learn(self._take(result, names, values, state, self._desk, told))
        except Exception as error:
            if hasattr(error, "cell_traceback"):
                if isinstance(error, SyntaxError):
                    error.filename, error.text = name, linecache.getline(name, error.lineno or 0)
                raise with_frames(error, with_name(error.cell_traceback, name))
            raise
        return value_of(result, self._desk)

    def close(self) -> None:
        """End the session, if there is one; the next run begins a new one."""
        if self._live is not None:
            self._live.close()

    def _take(self, result: Result, names: _Names, values: _Values, state: Any, desk: Desk,
              told: Told) -> Dict[str, Any]:
        """Deliver a run's output, exception and variables as if the code had run in this process. Returns the variables. `told` makes
        the run's changes of files, or tells what became of them.
        PermissionError: while it ran, something has changed what code may do; then nothing but its output is delivered."""
        sys.stdout.write(str(result.stdout))
        if registry_state() != state:
            raise noted(PermissionError(POLICY_CHANGED), result)
        if result.rejection is None:
            untold = told()
            if untold is not None:
                warn_caller(untold)
        if not result.ok:
            self._export_of_failed(result, names, values, desk)
            raise _with_advice(exception_of(result, values.kept_back))
        sys.stderr.write(str(result.stderr))
        _show_figures(result)
        return self._export(result, names, values, desk)

    def _rules(self, writable: Sequence[str], **code: Any) -> Dict[str, Any]:
        """The members of the policy for a run, without its prelude."""
        permitted = "anywhere" if self.ok_dests is None else str(list(self.ok_dests))
        return {
            "name": Path(self._policy).stem, "extends": self._policy, **self._imports(),
            "code": {**code, **({"ban": self._banned} if self._banned else {}), "write_types": [type_name(kind) for kind in default_write_types()]},
            "files": {"write": list(writable), "write_message": f"Dest '{{path}}' not allowed; permitted: {permitted}"},
        }

    def _calls(self, names: _Names) -> Dict[str, Any]:
        """The rule on calls by name: of the policy's names, those that the caller's namespace has for something else may be called."""
        space = self._namespace()
        own = {name for name in DENIED_CALLS if name in names.used and name in space and space[name] is not getattr(builtins, name)}
        return {"calls": {"deny": sorted(DENIED_CALLS - own)}} if own and self._policy == "notebook" else {}

    def _export(self, result: Result, names: _Names, values: _Values, desk: Desk) -> Dict[str, Any]:
        returned, exported = result.returned, {}
        given = {**values.vars, **values.changing}
        for name in returned:
            try:
                entry = result.guest["returned"][name]
                value = desk.object_of(entry.get("json")) if entry.get("mime") == STANDIN else returned[name]
            except (ImportError, PermissionError) as error:
                if entry.get("mime") == STANDIN and desk.stands_for(entry.get("json"), self.g.get(name)):
                    continue  # it is what it was
                warn_caller(f"{name} did not come back: {error}")
                continue
            if not should_export(name, value, self.g) or name in given and _is_same(given[name], value):
                continue
            exported[name] = value
            if name in names.bound or name not in given or not _change_in_place(self.g[name], value):
                self.g[name] = value
        late = _asked(names, values)[MAX_RETURNS:]
        if late:
            warn_caller(f"{', '.join(late[:5])}{', ...' if len(late) > 5 else ''} did not come back: a run gives back {MAX_RETURNS} names, and the "
                        f"code has {len(late)} more")
        return exported

    def _export_of_failed(self, result: Result, names: _Names, values: _Values, desk: Desk) -> None:
        """Deliver what was assigned before an exception or a limit ended the run."""
        if result.rejection is not None:
            return
        try:
            self._export(result, names, values, desk)
        except (ValueError, OSError) as error:  # the exception of the run comes first
            warn_caller(f"not all that the run left came back: {error}")


def _check_arguments(g: Any, pre_deny: Any, on_call: Any, ban_imports: Any) -> None:
    """TypeError, which names the argument, if one of these arguments of RunPython is none."""
    if g is not None and not isinstance(g, MutableMapping):
        raise TypeError(f"g: expected a dict, got {type(g).__name__}")
    if not isinstance(ban_imports, abc.Iterable):
        raise TypeError(f"ban_imports: expected a list of str, got {type(ban_imports).__name__}")
    for name, hook in (("pre_deny", pre_deny), ("on_call", on_call)):
        if hook is not None and not callable(hook):
            raise TypeError(f"{name}: expected a function, got {type(hook).__name__}")
        if hook is not None:
            refuse_coroutines(hook, name)


def _dests(dests: Any) -> Optional[Tuple[str, ...]]:
    """The directories that were given as ok_dests. TypeError: they are none."""
    if dests is None:
        return None
    try:
        one = isinstance(dests, (str, os.PathLike))
        return (os.fspath(dests),) if one else tuple(os.fspath(dest) for dest in dests)
    except TypeError:
        raise TypeError(f"ok_dests: expected a list of directories, or None, got {dests!r:.100}") from None


def _with_advice(error: BaseException) -> BaseException:
    """The exception with what the caller can do, if it is one of a stand-in's, which has no hint of the cell's."""
    found = re.fullmatch(r"(\w{1,100}) is not allowed", str(error)) if isinstance(error, PermissionError) else None
    if found is not None and not getattr(error, "__notes__", ()):
        hint = (f"hint: The caller has to allow it: allow({found[1]}) a function or class, allow({{C: [\"{found[1]}\"]}}) "
                "a method or attribute of C, which is its class or module.")
        error.__notes__ = [hint]  # type: ignore[attr-defined]
    return error


def _asked(names: _Names, values: _Values) -> List[str]:
    """The variables that could come back. A frame or array that the code does not assign does only under a name for export."""
    asked = [name for name in names.used if not name.startswith("_") and len(name.encode()) <= MOST_NAME
             and (name in names.assigned or name in values.vars or name in values.changing)]
    return sorted(asked, key=lambda name: (not name.endswith("_"), name not in names.bound))


def _wanted(names: _Names, values: _Values) -> List[str]:
    """The variables to return."""
    return [f"{name}=exact" for name in _asked(names, values)[:MAX_RETURNS]]


def _is_same(old: Any, new: Any) -> bool:
    """Whether a value came back as it went in: True is not 1, and a dict has an order."""
    old = list(old) if isinstance(old, deque) else old
    try:
        if is_json(old) and is_json(new):
            return json.dumps(old) == json.dumps(new)
        return bool(old == new) and (type(old) is type(new) or isinstance(old, (dict, list)))
    except Exception:  # such as of arrays within: it is not known
        return False


def _change_in_place(old: Any, new: Any) -> bool:
    """Give the caller's object the content that the code has given its copy. False: its type has no such way."""
    if type(old) is not type(new) and not (isinstance(old, dict) and type(new) is dict or isinstance(old, (list, deque)) and type(new) is list):
        return False  # a class of the caller's comes back as what JSON has
    if isinstance(old, deque):
        deque.clear(old)
        deque.extend(old, new)
    elif isinstance(old, list):
        list.__setitem__(old, slice(None), new)
    elif isinstance(old, bytearray):
        old[:] = new
    elif isinstance(old, CHANGING):
        space = vars(old) if isinstance(old, SimpleNamespace) else old
        kind: Any = next(kind for kind in (OrderedDict, dict, set) if isinstance(space, kind))  # no code of a class of the caller's
        kind.clear(space)
        kind.update(space, vars(new) if isinstance(new, SimpleNamespace) else new)
    else:
        return False
    return True


def srcfn(code: str) -> str:
    """Give linecache a source, and return its name there: <pyrun_0> to <pyrun_9>, over and over."""
    name = f"<pyrun_{srcfn.count % SOURCES}>"  # type: ignore[attr-defined]
    srcfn.count += 1  # type: ignore[attr-defined]
    lines = code if code.endswith("\n") else f"{code}\n"  # as linecache has files: carets depend on it
    linecache.cache[name] = (len(code), None, lines.splitlines(keepends=True), name)
    return name


srcfn.count = 0  # type: ignore[attr-defined]


# ---- IPython, configuration ----

def _shell() -> Any:
    """The IPython that this process runs, None without one."""
    module = sys.modules.get("IPython")
    return getattr(builtins, "get_ipython", getattr(module, "get_ipython", lambda: None))()


def _ipython_namespace() -> Optional[Dict[str, Any]]:
    return getattr(_shell(), "user_ns", None)


def _show_figures(result: Result) -> None:
    """Show the figures that the code has drawn, in IPython alone, and as PNG alone: other forms could run code in a page."""
    shell = _shell()
    for figure in result.figures if hasattr(shell, "display_pub") else ():
        if figure.mime == "image/png":
            data = base64.b64encode(figure.read()).decode()
            shell.display_pub.publish(data={"image/png": data, "text/plain": figure.path}, metadata={})


class _CodeSyntaxError(SyntaxError):
    """A syntax error of a cell's code. IPython shows it as one of its own: it has no traceback but the code's line."""


_CodeSyntaxError.__name__ = "SyntaxError"


def _show_syntax_errors(shell: Any) -> None:
    """Let IPython show a _CodeSyntaxError without frames of this package. A handler of the user's for other types stays."""
    taken, others = shell.custom_exceptions, shell.CustomTB
    if _CodeSyntaxError in taken:
        return

    def show(shell: Any, kind: type, error: BaseException, traceback: Any, tb_offset: Optional[int] = None) -> Any:
        if kind is not _CodeSyntaxError:
            return others(kind, error, traceback, tb_offset=tb_offset)
        shell.showsyntaxerror()
        for note in getattr(error, "__notes__", ()):  # IPython of Debian 12 knows no notes
            print(note, file=sys.stderr)
        return None

    shell.set_custom_exc((*taken, _CodeSyntaxError), show)


def _shown_in_ipython(error: BaseException) -> BaseException:
    """The exception to raise so that IPython shows the traceback of the cell's code, in the place of this package's own lines."""
    if isinstance(error, SyntaxError):
        shown = _CodeSyntaxError(*error.args)
        shown.__dict__.update(vars(error))
        return shown
    told = getattr(error, "cell_traceback", "")
    if not told.strip() and isinstance(error, (HotcellError, DestsError, KeyboardInterrupt)):
        told = "".join(traceback.format_exception_only(type(error), error))
    if told.strip():
        told = "\n".join([told.rstrip(), *(note for note in getattr(error, "__notes__", ()) if note not in told)])
        lines = ["".join(each if each.isprintable() or each == "\t" else f"\\x{ord(each):02x}" for each in line) for line in told.rstrip().split("\n")]
        error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
    return error


def create_pyrun_magic(shell: Any = None, pyrun: Optional[RunPython] = None) -> None:
    """Register %%py, which runs a cell's code, and %py -o, which returns the runner."""
    if shell is None:
        shell = _shell()
    runner = pyrun if pyrun is not None else RunPython(getattr(shell, "user_ns", None))

    def py(line: str, cell: Optional[str] = None) -> Any:
        """%%py runs a cell's code, %py a line's, and gives the last value; %py -o gives the runner."""
        if line.strip() == "-o":
            return runner
        if cell is not None and line.strip():
            from IPython.core.error import UsageError
            raise UsageError(f"%%py has no argument but -o: {line.strip()}")
        try:
            return run_to_end(runner(line if cell is None else cell))
        except (Exception, KeyboardInterrupt) as error:
            raise _shown_in_ipython(error) from None

    shell.register_magic_function(py, "line_cell", "py")
    if hasattr(shell, "set_custom_exc"):
        _show_syntax_errors(shell)


def load_ipython_extension(shell: Any) -> None:
    """%load_ext hotcell.adapters.notebook: pyrun and allow in the user's namespace, and %%py."""
    runner = RunPython(g=shell.user_ns)
    shell.user_ns.update(pyrun=runner, allow=allow)
    create_pyrun_magic(shell, runner)


def _read_config() -> Config:
    """Read the user's configuration, hotcell/python.json, see hotcell.config. An error in it becomes a warning."""
    _read_older_config()
    try:
        return read_config()
    except PolicyError as error:
        warnings.warn(f"Failed to load {error}", stacklevel=3)
        return Config()


class _ConfigNames(Dict[str, Any]):
    """The names of the user's own code: a module that was not imported is imported, as the original's file has all modules."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        try:
            return importlib.import_module(name)
        except ImportError:
            raise KeyError(name) from None


def _read_older_config() -> None:
    """Run once, at the first RunPython, $XDG_CONFIG_HOME/safepyrun/config.py, the user's own code, which sees all public names
    of this module; only its default_ok_dests is used. An error in it becomes a warning."""
    global _config_read, default_ok_dests
    if _config_read:
        return
    _config_read = True
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    path = Path(home, "safepyrun", "config.py")
    if not path.is_file():
        return
    space = _ConfigNames({name: value for name, value in globals().items() if not name.startswith("_")})
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), {**space, "__name__": "config", "__file__": str(path)}, space)
        default_ok_dests = _dests(space["default_ok_dests"])
    except (Exception, SystemExit) as error:
        warnings.warn(f"Failed to load {_place_in(path, error)}: {type(error).__name__}: {getattr(error, 'msg', None) or error}", stacklevel=4)


def _place_in(path: Path, error: BaseException) -> str:
    """FILE:LINE of an exception that this file's code has raised; FILE if no line of it is to blame."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines.append(error.lineno)
    return f"{path}:{lines[-1]}" if lines else str(path)
