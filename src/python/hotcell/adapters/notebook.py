"""RunPython: code of a model that uses tools, run away from the caller's process, as if it were in its namespace.

Each call has a fresh cell under the policy "notebook", or all share one session. Values of the caller's namespace that
the code names go in: JSON values, data frames, arrays, and modules under the caller's names for them. New values come back into the
namespace by the rules of should_export, as JSON, frames and arrays; nothing is ever pickled. Callables that the caller
has allowed are called where they are, in the caller's process, after their policies have agreed; arguments, values and
exceptions of built-in types go through as JSON. Objects of any other type stay where they are made: in the cell, as
long as there is a session, and in the caller's process, where code that names one gets NeedsSession.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import io
import json
import keyword
import linecache
import os
import re
import shutil
import sys
import tokenize
import warnings
from collections import ChainMap
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from ..config import Config, read_config
from ..errors import JobError, NeedsSession, PolicyError
from ..jobs import arun
from ..launcher import PathLike
from ..results import Result
from ..staging import is_array, is_frame
from ..values import MIME
from . import skills
from .allow import (AllowChecked, AllowPolicy, CallInfo, DenyInfo, OpenWritePolicy, PathWritePolicy, PosAllowPolicy,
                    PreDeny, UrlPolicy, allow, allow_matplotlib, allow_write_types, begin_run, chk_dest,
                    default_write_types, describe_tools, is_tool, run_data, set_data, type_name)
from .dests import Dests, DestsError
from .live import Live
from .stubs import stubs, tool
from .unwrap import refusal_in
from .writers import allow_pandas

__all__ = [
    "UNSET", "AllowChecked", "AllowPolicy", "CallInfo", "DenyInfo", "DestsError", "OpenWritePolicy", "PathWritePolicy",
    "PosAllowPolicy", "RunPython", "UrlPolicy", "allow", "allow_matplotlib", "allow_pandas", "allow_write_types", "chk_dest",
    "create_pyrun_magic", "default_ok_dests", "find_var", "load_ipython_extension", "run_data", "set_data",
    "should_export", "skills",
]

UNSET: Any = type("Unset", (), {"__repr__": lambda self: "UNSET"})()
MAX_RETURNS = 64       # names that one job can give back
WORD = re.compile(r"(?<![\w.])[A-Za-z][A-Za-z0-9_]*")
MAX_LITERAL = 1 << 16  # characters of a repr that is read as a value
SOURCES = 10           # that linecache keeps

default_ok_dests: Sequence[str] = ()
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
    """Whether a value goes into the namespace: never with a leading underscore in its name, always with a trailing one, else
    unless it shadows a callable or module."""
    if name.startswith("_"):
        return False
    if name.endswith("_"):
        return True
    old = g.get(name)
    return not callable(old) and not isinstance(old, ModuleType)


# ---- what the code names ----

class _Names:
    """The names in a source, and those that seem to be assigned. Found by tokens, as untrusted text is not parsed here."""

    def __init__(self, code: str) -> None:
        self.used: Dict[str, None] = {}
        self.assigned: Set[str] = set()
        line: List[str] = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(code).readline):
                if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER) or token.string == ";":
                    self._take(line)
                    line = []
                elif token.type in (tokenize.NAME, tokenize.OP):
                    line.append(token.string)
                elif token.type == tokenize.STRING:  # names in f"{x}", and in frame.query("a > @x")
                    self.used.update(dict.fromkeys(WORD.findall(token.string)))
        except (tokenize.TokenError, SyntaxError):  # the cell says what is wrong with it
            self._take(line)

    def _take(self, line: List[str]) -> None:
        last = max((i for i, text in enumerate(line) if text.endswith("=") and text not in ("==", "!=", "<=", ">=")),
                   default=-1)
        for i, text in enumerate(line):
            before = line[i - 1] if i else ""
            if not text.isidentifier() or not text.isascii() or keyword.iskeyword(text) or before == ".":
                continue
            self.used.setdefault(text)
            after = line[i + 1] if i + 1 < len(line) else ""
            if i < last or before in ("as", "for", "import") or after in (":=", "in"):
                self.assigned.add(text)


class _Values:
    """The caller's values that go into the cell, by kind, and the reasons why others cannot."""

    def __init__(self, g: Mapping[str, Any], names: Iterable[str], may_call: Callable[[Any], bool]) -> None:
        self.vars: Dict[str, Any] = {}
        self.inputs: Dict[str, Any] = {}
        self.modules: Dict[str, str] = {}
        self.tools: Dict[str, Callable[..., Any]] = {}
        self.kept_back: Dict[str, str] = {}
        self._may_call = may_call
        for name in names:
            if name in g and not name.startswith("_"):
                self._sort(name, g[name])

    def _sort(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType):
            self.modules[name] = value.__name__
        elif is_frame(value) or is_array(value) and value.dtype.kind != "O":
            self.inputs[name] = value
        elif self._may_call(value):
            self.tools[name] = value
        elif _is_json(value):
            self.vars[name] = value
        else:
            self.kept_back[name] = f"a {type(value).__name__} of the caller's cannot be sent into a cell"


def _is_json(value: Any) -> bool:
    """Whether the value is equal after a round trip through JSON; tuples and dicts with number keys are not."""
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


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
                 pre_deny: Optional[PreDeny] = None, session: Optional[bool] = None,
                 binary: Optional[PathLike] = None) -> None:
        """g: the namespace; None: IPython's, or the caller's globals (with `sentinel`, those that have this name).
        ok_dests: directories whose files code may change, at their own paths, see dests; None: the current one and /tmp, a
        cell has no other; default: none.
        pre_deny: is asked with a DenyInfo before a call of a function of the caller's is denied, see there.
        session: run all code in one session, so that functions, classes and objects of any type stay for later runs;
        a run that is killed costs only itself, and close() ends it. False, or None if the user's configuration does not
        say otherwise: each run has a fresh cell.
        The rest is as in hotcell.run; the policy is "notebook" unless the user's configuration says otherwise."""
        config = _read_config()
        self.g = _ipython_namespace() if g is None else g
        if self.g is None:
            self.g = _find_frame_dict(sentinel)
        self.ok_dests: Optional[Tuple[str, ...]] = None
        if ok_dests is UNSET:
            ok_dests = config.ok_dests if "ok_dests" in config.given else default_ok_dests
        if ok_dests is not None:
            self.ok_dests = (ok_dests,) if isinstance(ok_dests, str) else tuple(os.fspath(dest) for dest in ok_dests)
        self._options = config.options(tree=tree, timeout=timeout, memory=memory, policy=policy, binary=binary)
        self._policy = str(self._options.pop("policy") or "notebook")
        self._pre_deny = pre_deny
        self._placed: Dict[Path, Any] = {}  # files that the session has made, and what they are known by
        self._live: Optional[Live] = None
        if session or session is None and config.session:
            given = {name: value for name, value in self._options.items() if value}
            self._live = Live(self._namespace, self._may_call, self.ok_dests, given)

    async def __call__(self, code: str, *, data: Optional[Mapping[str, Any]] = None) -> Any:
        """Run `code`. Exceptions of built-in types are raised as such, with the cell's traceback as a note in
        `cell_traceback`; TimeoutError, MemoryError and JobError tell of limits, NeedsSession of what waits.
        `data` is for the policies of tools (run_data), over what set_data has set."""
        _namespace.set(self.g)
        begin_run(data, self._pre_deny)
        names = _Names(code)
        values = _Values(self._namespace(), names.used, self._may_call)
        if self._live is not None:
            return await self._run_live(self._live, code, names, values)
        with Dests(self.ok_dests) as dests:
            prelude = {"names": values.modules, "code": dests.prelude() + stubs(values.tools)}
            policy = {**self._rules(dests.places(), filename=_source_name(code)), "prelude": prelude, "limits": dests.limits()}
            result = await arun(code, policy=policy, inputs=values.inputs, vars=values.vars,
                                returns=_wanted(names, values),
                                tools={name: tool(fn, self.ok_dests) for name, fn in values.tools.items()},
                                **dests.options(), **self._options)
            with result:
                self._take(result, values, dests)
                return _value_of(result)

    def _namespace(self) -> Mapping[str, Any]:
        """The values of the code's names: the caller's namespace, and the functions of enabled skills."""
        return ChainMap(self.g or {}, skills.namespace())

    def _may_call(self, value: Any) -> bool:
        """Whether code gets a stub for a value: for allowed callables and, with a pre_deny hook, for every function and method,
        as the hook may allow the call."""
        return is_tool(value) or self._pre_deny is not None and inspect.isroutine(value)

    async def _run_live(self, live: Live, code: str, names: _Names, values: _Values) -> Any:
        writable = [inside for inside, outside in (("/output", "."), ("/tmp", "/tmp")) if self._may_write(outside)]
        result = await live.run(code, self._rules(writable), values, _wanted(names, values))
        live.learn(self._take(result, values))
        return _value_of(result)

    def close(self) -> None:
        """End the session, if there is one; the next run begins a new one."""
        if self._live is not None:
            self._live.close()

    def _take(self, result: Result, values: _Values, dests: Optional[Dests] = None) -> Dict[str, Any]:
        """Deliver a run's output, exception, variables and files as if the code had run in this process. Returns the variables."""
        sys.stdout.write(str(result.stdout))
        if dests is not None and result.rejection is None:
            untold = dests.apply(result.output_dir)
            if untold is not None:
                warnings.warn(untold, stacklevel=4)
        if not result.ok:
            raise _exception(result, values)
        sys.stderr.write(str(result.stderr))
        exported = self._export(result, values)
        if dests is None:
            self._place_files(result)
        return exported

    def _rules(self, writable: Sequence[str], **code: Any) -> Dict[str, Any]:
        """The members of the policy for a run, without its prelude."""
        permitted = "anywhere" if self.ok_dests is None else str(list(self.ok_dests))
        return {
            "name": Path(self._policy).stem, "extends": self._policy,
            "code": {**code, "write_types": [type_name(kind) for kind in default_write_types()]},
            "files": {"write": list(writable), "write_message": f"Dest '{{path}}' not allowed; permitted: {permitted}"},
        }

    def _may_write(self, path: str) -> bool:
        try:
            chk_dest(path, self.ok_dests)
        except PermissionError:
            return False
        return True

    def _export(self, result: Result, values: _Values) -> Dict[str, Any]:
        returned, exported = result.returned, {}
        for name in returned:
            try:
                value = returned[name]
            except ImportError as error:
                warnings.warn(f"{name} did not come back: {error}", stacklevel=3)
                continue
            if should_export(name, value, self.g) and not (name in values.vars and values.vars[name] == value):
                self.g[name] = exported[name] = value
        return exported

    def _place_files(self, result: Result) -> None:
        """Move files from a session's current directory to the caller's. The session does not see what is there: only what
        it has made itself is replaced."""
        for file in result.files:
            if file.path.startswith("values/") or file.escaped:
                continue
            target = Path.cwd() / file.path
            chk_dest(target, self.ok_dests)
            target.parent.mkdir(parents=True, exist_ok=True)
            if _mark_of(target) != self._placed.get(target):
                raise FileExistsError(f"{target} was there already, and code in a session does not see it: what the code wrote is not kept")
            shutil.move(str(file.location), target)
            self._placed[target] = _mark_of(target)


def _mark_of(path: Path) -> Optional[Tuple[int, int, int]]:
    """What shows that a file is still the same one; None if there is none."""
    try:
        state = os.lstat(path)
    except FileNotFoundError:
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns


def _wanted(names: _Names, values: _Values) -> List[str]:
    """The variables to return. A frame or array that the code does not assign is returned only under a name for export."""
    asked = [name for name in names.used if not name.startswith("_") and name not in values.modules
             and name not in values.tools and (name in names.assigned or name in values.vars)]
    asked.sort(key=lambda name: not name.endswith("_"))
    return [f"{name}=exact" for name in asked[:MAX_RETURNS]]


def _source_name(code: str) -> str:
    """A name for tracebacks, under which linecache has the source."""
    name = f"<pyrun_{_source_name.count % SOURCES}>"  # type: ignore[attr-defined]
    _source_name.count += 1  # type: ignore[attr-defined]
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    return name


_source_name.count = 0  # type: ignore[attr-defined]


def _value_of(result: Result) -> Any:
    """The value of a run: as itself, from JSON or as a literal, else its repr."""
    bundle = result.bundle
    if MIME in bundle:
        return result.value
    if "application/json" in bundle:
        return bundle["application/json"]
    text = bundle.get("text/plain")
    if not isinstance(text, str) or len(text) > MAX_LITERAL or max(map(text.count, "([{-+")) > 1000:
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _exception(result: Result, values: _Values) -> BaseException:
    """The exception for a run that did not end well."""
    if result.status in ("timeout", "cpu"):
        return _noted(TimeoutError(result.reason), result)
    if result.status == "memory":
        return _noted(MemoryError(result.reason), result)
    rejection = result.rejection
    if rejection is not None and rejection.rule == "syntax":
        return _noted(SyntaxError(f"{rejection.message} (line {rejection.line})"), result)
    if rejection is not None:
        findings = rejection.findings or (rejection,)
        return _noted(PermissionError("\n".join(dict.fromkeys(finding.message for finding in findings))), result)
    error = result.error
    if error is None:
        return JobError(result)
    for name, why in values.kept_back.items():
        if error.type == "NameError" and f"'{name}'" in error.message:
            return _noted(NeedsSession(f"{name}: {why}"), result)
    refused = refusal_in(result)
    if refused is not None:
        return _noted(PermissionError(refused), result)
    kind = getattr(builtins, error.type.rpartition(".")[2], None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return _noted(JobError(result), result)
    try:
        return _noted(kind(error.message), result)
    except TypeError:  # its constructor wants more
        return _noted(JobError(result), result)


def _noted(error: BaseException, result: Result) -> BaseException:
    error.cell_traceback = result.error.traceback if result.error else str(result.stderr)  # type: ignore[attr-defined]
    return error


# ---- IPython, configuration ----

def _ipython_namespace() -> Optional[Dict[str, Any]]:
    shell = getattr(builtins, "get_ipython", lambda: None)()
    return getattr(shell, "user_ns", None)


def create_pyrun_magic(shell: Any = None, pyrun: Optional[RunPython] = None) -> None:
    """Register %%py, which runs a cell's code, and %py -o, which returns the runner."""
    if shell is None:
        shell = getattr(builtins, "get_ipython", lambda: None)()
    runner = pyrun if pyrun is not None else RunPython(getattr(shell, "user_ns", None))

    def py(line: str, cell: Optional[str] = None) -> Any:
        if line.strip() == "-o":
            return runner
        return runner(cell if cell is not None else line) if cell or line.strip() else None

    shell.register_magic_function(py, "line_cell", "py")


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
    space = {name: value for name, value in globals().items() if not name.startswith("_")}
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
        default_ok_dests = space["default_ok_dests"]
    except Exception as error:
        warnings.warn(f"Failed to load {path}: {error}", stacklevel=3)
