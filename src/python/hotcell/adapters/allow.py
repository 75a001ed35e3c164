"""What a caller lets a model's code call, and where it may write: the registry of RunPython and its policies.

The registry and every check live in the caller's process; nothing in a cell can reach or change them.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections import defaultdict
from types import ModuleType, SimpleNamespace
from typing import Any, Callable, DefaultDict, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

Dests = Optional[Sequence[str]]

# Owner (a class or a module) -> names, (name, policy) pairs, or ... for all of its names.
__pytools__: DefaultDict[Any, Set[Any]] = defaultdict(set)
# Callables in the order in which they were allowed: what a model is told of.
__llmtools__: Dict[Callable[..., Any], None] = {}


# ---- destinations ----

def chk_dest(path: Any, ok_dests: Dests) -> None:
    """PermissionError unless `path` lies below one of `ok_dests`; None allows every path.

    Links and ~ are resolved first, on both sides; "." is the current directory at this moment.
    """
    if ok_dests is None:
        return
    real = os.path.realpath(os.path.expanduser(os.fspath(path)))
    for dest in ok_dests:
        root = os.path.realpath(os.path.expanduser(dest))
        if real == root or real.startswith(root.rstrip(os.sep) + os.sep):
            return
    raise PermissionError(f"Dest {os.fspath(path)!r} not allowed; permitted: {list(ok_dests)}")


class AllowPolicy:
    """Base of policies: called before the call that it is about, and raises to deny it.

    obj is what a method is called on, None for a function.
    """

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        raise NotImplementedError


class PosAllowPolicy(AllowPolicy):
    """One argument is a destination: position `pos`, or keyword `kw`."""

    def __init__(self, pos: int, kw: Optional[str] = None) -> None:
        self.pos, self.kw = pos, kw

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        if len(args) > self.pos:
            chk_dest(args[self.pos], ok_dests)
        elif self.kw is not None and self.kw in kwargs:
            chk_dest(kwargs[self.kw], ok_dests)
        elif ok_dests is not None:
            raise PermissionError(f"Dest argument {self.kw or self.pos} is missing; permitted: {list(ok_dests)}")


class PathWritePolicy(AllowPolicy):
    """The Path itself is a destination, and maybe an argument too, as in Path.rename."""

    def __init__(self, target_pos: Optional[int] = None, target_kw: Optional[str] = None) -> None:
        self.target = PosAllowPolicy(target_pos, target_kw) if target_pos is not None else None

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        chk_dest(obj, ok_dests)
        if self.target is not None:
            self.target(obj, args, kwargs, ok_dests)


class OpenWritePolicy(AllowPolicy):
    """The file is a destination if the mode writes. On a Path, the file is the object."""

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        rest = list(args) if obj is not None else list(args)[1:]
        mode = rest[0] if rest else kwargs.get("mode", "r")
        if set(str(mode)) & set("wax+"):
            chk_dest(obj if obj is not None else args[0] if args else kwargs["file"], ok_dests)


_PATH, _RENAME = PathWritePolicy(), PathWritePolicy(0, "target")
_DST, _OPEN = PosAllowPolicy(1, "dst"), OpenWritePolicy()

# Calls that write, and how their destinations are found.
WRITE_POLICIES: Dict[Tuple[str, str], AllowPolicy] = {
    **{("Path", name): _PATH for name in ("write_text", "write_bytes", "mkdir", "touch", "unlink", "rmdir", "chmod",
                                          "symlink_to", "hardlink_to")},
    ("Path", "rename"): _RENAME, ("Path", "replace"): _RENAME, ("Path", "open"): _OPEN, ("builtins", "open"): _OPEN,
    **{("shutil", name): _DST for name in ("copy", "copy2", "copytree", "move")},
    ("shutil", "rmtree"): PosAllowPolicy(0, "path"),
}


# ---- the registry ----

def allow(*c: Any, allow_policy: Optional[AllowPolicy] = None) -> Any:
    """Let code call these: functions, methods, or {class or module: [name, (name, policy), ...]}; `...` is all.

    Also a decorator. What it lets code call is a tool: it stays in the caller's process, see RunPython.
    """
    for item in c:
        if isinstance(item, Mapping):
            for owner, names in item.items():
                for name in names:
                    _register(owner, name, allow_policy)
        elif isinstance(item, str):
            _register(item.rpartition(".")[0], item.rpartition(".")[2], allow_policy)
        elif callable(item):
            _register(_owner(item), getattr(item, "__name__", type(item).__name__), allow_policy)
            __llmtools__[item] = None
        else:
            raise TypeError(f"{item!r}: expected a callable or a dict of owners and names")
    return c[0] if len(c) == 1 and callable(c[0]) else None


def _register(owner: Any, name: Any, policy: Optional[AllowPolicy]) -> None:
    plain = name is ... or isinstance(name, str)
    if not plain and not (isinstance(name, tuple) and len(name) == 2 and callable(name[1])):
        raise TypeError(f"{name!r}: expected a name, (name, policy) or ...")
    __pytools__[owner].add((name, policy) if plain and policy is not None else name)


def _owner(fn: Any) -> Any:
    """The class of a method, else the module of a function; a class stands in its module."""
    bound = getattr(fn, "__self__", None)
    if bound is not None and not isinstance(bound, ModuleType):
        return bound if isinstance(bound, type) else type(bound)
    if getattr(fn, "__objclass__", None) is not None:
        return fn.__objclass__
    module = sys.modules.get(getattr(fn, "__module__", None) or "builtins")
    path = getattr(fn, "__qualname__", "").split(".")[:-1]
    owner: Any = module
    for part in path:
        owner = getattr(owner, part, None)
    return owner if isinstance(owner, type) else module


def _name_in(name: str, entries: Iterable[Any]) -> Optional[Tuple[bool, List[AllowPolicy]]]:
    """None if no entry is about `name`, else (True, the policies of those that are)."""
    hits = [entry for entry in entries if entry is ... or entry == name
            or isinstance(entry, tuple) and entry[0] in (name, ...)]
    return (True, [entry[1] for entry in hits if isinstance(entry, tuple)]) if hits else None


def policies_for(owner: Any, name: str) -> Optional[List[AllowPolicy]]:
    """None if `owner` may not be used so; else the policies to ask. Classes are looked up along their bases."""
    cls = owner if isinstance(owner, (type, ModuleType)) else type(owner)
    kinds = inspect.getmro(cls) if isinstance(cls, type) else (cls,)
    for kind in kinds:
        found = _name_in(name, __pytools__[kind]) if kind in __pytools__ else None
        if found is not None:
            return found[1]
    return None


class AllowChecked:
    """A callable of the caller's that asks its policies before it is called."""

    def __init__(self, fn: Callable[..., Any], ok_dests: Dests) -> None:
        self.fn, self.ok_dests = fn, ok_dests

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = getattr(self.fn, "__name__", type(self.fn).__name__)
        policies = policies_for(_owner(self.fn), name)
        if policies is None:
            raise PermissionError(f"{name} is not allowed")
        bound = getattr(self.fn, "__self__", None)
        obj = None if isinstance(bound, (ModuleType, type)) else bound
        for policy in policies:
            policy(obj, args, kwargs, self.ok_dests)
        return self.fn(*args, **kwargs)


def is_tool(value: Any) -> bool:
    """Whether the caller has allowed this callable."""
    return callable(value) and policies_for(_owner(value), getattr(value, "__name__", type(value).__name__)) is not None


def describe_tools() -> List[str]:
    """One line for each callable that was allowed: name, arguments, first line of its docstring."""
    lines = []
    for tool in __llmtools__:
        try:
            signature = str(inspect.signature(tool))
        except (TypeError, ValueError):
            signature = "(...)"
        doc = (inspect.getdoc(tool) or "").split("\n")[0]
        lines.append(f"{getattr(tool, '__qualname__', tool)}{signature}" + (f": {doc}" if doc else ""))
    return lines


def allow_matplotlib() -> None:
    """Let code draw with matplotlib, and save figures below ok_dests."""
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.spines import Spine

    save = PosAllowPolicy(0, "fname")
    for owner in (plt, Figure):
        names = [name for name in dir(owner) if not name.startswith("_") and callable(getattr(owner, name))]
        allow({owner: [("savefig", save), *(name for name in names if name != "savefig")]})
    allow({Axes: [...], Axis: [...], Spine: [...]})


def default_write_types() -> List[type]:
    """Types whose objects code may change in place."""
    return list(_write_types)


def allow_write_types(*types: type) -> None:
    """Let code change objects of these types in place too."""
    for kind in types:
        if kind not in _write_types:
            _write_types.append(kind)


_write_types: List[type] = [dict, list, SimpleNamespace]


def type_name(kind: type) -> str:
    """As a policy names it."""
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"

