"""The registry of RunPython: the callables that a model's code may call, and the policies that check each call.

The registry and every check live in the caller's process; nothing in a cell can reach or change them.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
import os
import sys
from collections import abc, defaultdict
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import PosixPath, PurePath
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any, Callable, DefaultDict, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

Dests = Optional[Sequence[str]]

MOST_LINES = 20  # most lines on one owner in a description of what is allowed
POLICY_CHANGED = "sandbox policy changed during execution"

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
    """Base class of policies. A policy is called before the call that it checks, and raises PermissionError to deny it.

    `obj` is the object whose method is called, None for a function. True allows the call whatever other policies say; after
    None or ... the other policies decide. run_data() is the data that the caller has given this run.
    """

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> Any:
        raise NotImplementedError

    def check(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> Any:
        """The older name of a call."""
        return self(obj, args, kwargs, ok_dests)


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
    """The Path itself is a destination, and perhaps an argument as well, as in Path.rename."""

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
        if kwargs.get("opener") is not None or len(rest) > 6:  # the opener opens what it likes
            raise PermissionError("an opener is not allowed")
        mode = rest[0] if rest else kwargs.get("mode", "r")
        if set(str(mode)) & set("wax+"):
            chk_dest(obj if obj is not None else args[0] if args else kwargs["file"], ok_dests)


class UrlPolicy(AllowPolicy):
    """One argument is a URL of one of `schemes` whose host must be one of run_data()["ok_urls"]: a host, or .domain with all
    below it."""

    def __init__(self, pos: int = 0, kw: Optional[str] = "url", schemes: Sequence[str] = ("https",)) -> None:
        self.pos, self.kw, self.schemes = pos, kw, tuple(schemes)

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        from urllib.parse import urlsplit
        url = args[self.pos] if len(args) > self.pos else kwargs.get(self.kw or "")
        permitted = list(run_data().get("ok_urls", ()))
        try:
            # What a parser and a library could read differently is refused: blanks, backslashes, user names.
            parts = urlsplit(url if isinstance(url, str) and url.isascii() and url.isprintable() else "")
            odd = "\\" in str(url) or " " in str(url) or "@" in parts.netloc
            host, _ = (parts.hostname or "").rstrip("."), parts.port
        except ValueError:
            odd, host, parts = True, "", urlsplit("")
        if not odd and host and parts.scheme not in self.schemes:
            raise PermissionError(f"URL {url!r} not allowed: its scheme is {parts.scheme!r}; permitted: {list(self.schemes)}")
        fits = any(host == ok or ok.startswith(".") and (host.endswith(ok) or host == ok[1:]) for ok in permitted)
        if odd or not host or not fits:
            raise PermissionError(f"URL {url!r} not allowed; permitted: {permitted}")


class _LinkPolicy(AllowPolicy):
    """Path.symlink_to: the link is a destination, and so is what it leads to, as later calls write through it."""

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        chk_dest(obj, ok_dests)
        target = _argument(args, kwargs, 0, "target")
        if target is not None:
            _chk_link(obj, os.fspath(target), ok_dests)


class _RenamePolicy(PathWritePolicy):
    """Path.rename and its like: both paths are destinations, and what links lead to from the new place. `new_is_obj`: the Path is the new one."""

    def __init__(self, new_is_obj: bool = False) -> None:
        super().__init__(0, "target")
        self.new_is_obj = new_is_obj

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        super().__call__(obj, args, kwargs, ok_dests)
        other = _argument(args, kwargs, 0, "target")
        if other is not None:
            _chk_links(*((other, obj) if self.new_is_obj else (obj, other)), ok_dests)


class _CopyPolicy(AllowPolicy):
    """Functions of shutil that copy or move `src` to `dst`. A destination is what is written: in a directory `dst`, that of the
    source's name. `src`: the source changes as well. `tree`: all below the source is copied into `dst` itself."""

    def __init__(self, src: bool = False, tree: bool = False) -> None:
        self.src, self.tree = src, tree

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        if self.src:
            PosAllowPolicy(0, "src")(obj, args, kwargs, ok_dests)
        _DST(obj, args, kwargs, ok_dests)
        src, dst = _argument(args, kwargs, 0, "src"), _argument(args, kwargs, 1, "dst")
        if ok_dests is None or src is None or dst is None:
            return
        if self.tree:
            for path in _links_below(dst):  # the copy would follow it
                raise PermissionError(f"Dest {path!r} not allowed: it is a symbolic link below the destination")
        elif os.path.isdir(dst):
            dst = os.path.join(dst, os.path.basename(os.fspath(src).rstrip(os.sep)))
            chk_dest(dst, ok_dests)
        if self.src or _argument(args, kwargs, 2, "symlinks") or not kwargs.get("follow_symlinks", True):
            _chk_links(src, dst, ok_dests)


def _argument(args: Sequence[Any], kwargs: Mapping[str, Any], pos: int, kw: str) -> Any:
    return args[pos] if len(args) > pos else kwargs.get(kw)


def _links_below(path: Any) -> Iterator[str]:
    """The symbolic links in a directory and all below it."""
    for folder, names, files in os.walk(path):
        yield from (link for link in (os.path.join(folder, name) for name in (*names, *files)) if os.path.islink(link))


def _chk_link(path: Any, target: Any, ok_dests: Dests) -> None:
    """PermissionError unless a symbolic link at `path` with this target leads to a destination."""
    chk_dest(os.path.join(os.path.realpath(os.path.dirname(os.fspath(path))), target), ok_dests)


def _chk_links(old: Any, new: Any, ok_dests: Dests) -> None:
    """Check where the links at and below `old` lead when they stand at `new`."""
    if ok_dests is None:
        return
    old, new = os.fspath(old), os.fspath(new)
    for link in [old] if os.path.islink(old) else _links_below(old):
        place = os.path.normpath(os.path.join(new, os.path.relpath(link, old)))
        _chk_link(place, os.readlink(link), ok_dests)


PosWritePolicy, WritePolicy = PosAllowPolicy, AllowPolicy  # older names of these classes

_PATH, _RENAME = PathWritePolicy(), _RenamePolicy()
_DST, _OPEN = PosAllowPolicy(1, "dst"), OpenWritePolicy()

# Calls that write, and how their destinations are found.
WRITE_POLICIES: Dict[Tuple[str, str], AllowPolicy] = {
    **{("Path", name): _PATH for name in ("write_text", "write_bytes", "mkdir", "touch", "unlink", "rmdir", "chmod")},
    ("Path", "symlink_to"): _LinkPolicy(),
    ("Path", "hardlink_to"): _RenamePolicy(new_is_obj=True),  # the other name of a file is no less that file
    ("Path", "rename"): _RENAME, ("Path", "replace"): _RENAME, ("Path", "open"): _OPEN, ("builtins", "open"): _OPEN,
    **{("shutil", name): _CopyPolicy() for name in ("copy", "copy2")},
    ("shutil", "copytree"): _CopyPolicy(tree=True),
    ("shutil", "move"): _CopyPolicy(src=True),
    ("shutil", "rmtree"): PosAllowPolicy(0, "path"),
}


# ---- what a run is given for its policies, and who is asked before a denial ----

@dataclass(frozen=True)
class CallInfo:
    """One call: the owner and the name of the callable, and the arguments."""

    owner: str
    name: str
    args: Tuple[Any, ...]
    kwargs: Mapping[str, Any]
    fn: Optional[Callable[..., Any]] = None

    @property
    def arguments(self) -> Dict[str, Any]:
        """{name: value} of all parameters, defaults included. TypeError: the arguments do not fit."""
        bound = inspect.signature(self.fn).bind(*self.args, **self.kwargs) if self.fn is not None else None
        if bound is None:
            raise TypeError(f"the parameters of {self.name} are not known")
        bound.apply_defaults()
        return dict(bound.arguments)


@dataclass(frozen=True)
class DenyInfo:
    """A call of a tool that is about to be denied. `event` is "tool"; `data` is the data of the run; `origin` says which task of the
    caller's has asked for the run, and where."""

    event: str
    message: str
    call: CallInfo
    obj: Any
    ok_dests: Dests
    data: Mapping[str, Any]
    origin: str = ""


# True: the call is allowed. ...: this objection is dropped, those of other policies are not. Anything else: denied.
PreDeny = Callable[[DenyInfo], Any]
_default_data: Dict[str, Any] = {}
_run_data: ContextVar[Optional[Mapping[str, Any]]] = ContextVar("hotcell_run_data", default=None)
_origin: ContextVar[str] = ContextVar("hotcell_origin", default="")
_running: Dict[object, Tuple[str, str]] = {}  # calls that run -> name, origin
_pre_deny: ContextVar[Optional[PreDeny]] = ContextVar("hotcell_pre_deny", default=None)


def set_data(**defaults: Any) -> None:
    """Set the default data of every run, such as ok_urls; replaces earlier defaults."""
    _default_data.clear()
    _default_data.update(defaults)


def run_data() -> Mapping[str, Any]:
    """The data of this run, read-only: the defaults, overridden by the run's own data."""
    return MappingProxyType({**_default_data, **(_run_data.get() or {})})


def asks_before_denial() -> bool:
    """Whether this run has a pre_deny hook."""
    return _pre_deny.get() is not None


def begin_run(data: Optional[Mapping[str, Any]], pre_deny: Optional[PreDeny], origin: str = "") -> None:
    """Set the data of a run; called in the context from which the run's tools will be called."""
    _run_data.set(data)
    _pre_deny.set(pre_deny)
    _origin.set(origin)


@contextlib.contextmanager
def track_call(name: str) -> Iterator[None]:
    """For a block in which a call of the caller's runs: audit_state() lists the call."""
    key = object()
    _running[key] = (name, _origin.get())
    try:
        yield
    finally:
        del _running[key]


def audit_state() -> Dict[str, Any]:
    """What is allowed and what runs at this moment, for debugging: "calls" of the caller's functions that run, each with the origin
    of its run; "tools" as the document lists them; the default "data"; the types that code may change, "write_types"."""
    return {"calls": [{"name": name, "origin": origin} for name, origin in list(_running.values())], "tools": describe_tools(),
            "data": dict(_default_data), "write_types": [type_name(kind) for kind in _write_types]}


def refuse_coroutines(judge: Any, what: str) -> None:
    """TypeError for a policy or hook that is a coroutine function: it decides while the call waits, and is not awaited."""
    inner = getattr(judge, "func", judge) if isinstance(judge, functools.partial) else judge
    if any(kind(each) for each in (inner, getattr(type(inner), "__call__", None)) for kind in LATER):
        raise TypeError(f"{what} is a coroutine function or a generator function: it has to be a plain one, as nobody awaits what it answers")


LATER = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)


def _answer_of(answer: Any, judge: Any) -> Any:
    """What a policy or hook has answered. PermissionError: it only begins to decide, such as a coroutine that nobody awaits."""
    if not inspect.isawaitable(answer) and not inspect.isasyncgen(answer) and not inspect.isgenerator(answer):
        return answer
    close = getattr(answer, "close", getattr(answer, "cancel", None))
    if close is not None:
        close()  # else Python warns that it was never awaited
    raise PermissionError(f"{type(judge).__name__} {getattr(judge, '__name__', '')}".rstrip()
                          + f" has answered with a {type(answer).__name__}, which nobody awaits: a policy has to decide at once")


def decide(policies: Sequence[AllowPolicy], call: CallInfo, obj: Any, ok_dests: Dests) -> None:
    """Call all policies. PermissionError with all objections, unless one policy returns True."""
    objections = []
    for policy in policies:
        try:
            if _answer_of(policy(obj, call.args, call.kwargs, ok_dests), policy) is True:
                return
        except PermissionError as error:
            objections.append(str(error))
    left = []
    hook = _pre_deny.get()
    for message in dict.fromkeys(objections):
        answer = None
        if hook is not None:
            answer = _answer_of(hook(DenyInfo("tool", message, call, obj, ok_dests, run_data(), _origin.get())), hook)
        if answer is True:
            return
        if answer is not ...:
            left.append(message)
    if left:
        raise PermissionError("; ".join(left))


# ---- the registry ----

def allow(*c: Any, allow_policy: Optional[AllowPolicy] = None) -> Any:
    """Let code call these: functions, methods, or {owner: [name, (name, policy), ...]}; `...` is all names.

    Methods of a class do not let code make objects of it: allow the class itself, or its "__init__", or `...`.
    An owner is a class (and what inherits from it), a module, a module's name, "package.*" for a package with all
    below it, or an instance, whose methods are then allowed and no other's. A callable that is allowed twice has the
    policies of both. Can be used as a decorator. An allowed callable is a tool, and runs in the caller's process, see
    RunPython.
    Lambdas, functions made inside others and objects that can be called are allowed as they are, one by one: another
    with the same name is not. `...` of a module is all of them, too.
    A text is "module.function", "module.Class.method", or the name of a function in the caller's namespace.
    AttributeError, and nothing is allowed: an owner has no such name.
    """
    for owner, name in [entry for item in c for entry in _entries_of(item)]:
        _check_name(owner, name[0] if isinstance(name, tuple) and name else name)
    for item in c:
        if isinstance(item, (Mapping, str)):
            for owner, name in _entries_of(item):
                register(owner, name, allow_policy)
        elif callable(item):
            owner = _owner(item) if _has_place(item) else _Instance(item)
            register(owner, getattr(item, "__name__", type(item).__name__), allow_policy)
            with contextlib.suppress(TypeError):  # an object without a hash is told of by its class
                __llmtools__[item] = None
        else:
            raise TypeError(f"{item!r}: expected a callable or a dict of owners and names")
    return c[0] if len(c) == 1 and callable(c[0]) else None


def _entries_of(item: Any) -> List[Tuple[Any, Any]]:
    """(owner, name) of each entry of a text, or of a dict of owners and names."""
    if isinstance(item, str):
        return [(item.rpartition(".")[0], item.rpartition(".")[2])]
    if not isinstance(item, Mapping):
        return []
    # A text is one name, and not its letters: those would be other names of the owner.
    for owner, names in item.items():
        if names is not ... and not isinstance(names, abc.Iterable):
            raise TypeError(f"allow: {owner!r:.80}: expected a list of names, or ... for all, got {type(names).__name__}")
    return [(owner, name) for owner, names in item.items() for name in ([names] if isinstance(names, str) or names is ... else list(names))]


def _check_name(owner: Any, name: Any) -> None:
    """AttributeError if an owner has no such name, as far as that can be known; of a module of the caller's, if it has a similar one."""
    known = _loaded(owner) if isinstance(owner, str) else owner
    if known is None or not isinstance(name, str):
        return
    if isinstance(known, ModuleType):
        there = hasattr(known, name)
    else:  # no code of the class runs, such as that of a property
        kind = known if isinstance(known, type) else type(known)
        there = inspect.getattr_static(known, name, _check_name) is not _check_name or _sets(kind, name) or issubclass(kind, SimpleNamespace)
    if there:
        return
    close = difflib.get_close_matches(name, dir(known), 1)
    if not close and isinstance(known, ModuleType) and known.__name__.partition(".")[0] not in getattr(sys, "stdlib_module_names", ()):
        return  # a module of the caller's may get the name yet
    meant = f": {close[0]!r} is perhaps meant" if close else ""
    objects = "; what single objects have is allowed by allow({object: [name]})" if isinstance(known, type) else ""
    raise AttributeError(f"allow: {_shown(_key(owner))} has no attribute {name!r}{meant}{objects}")


def _loaded(path: str) -> Any:
    """The module or class of this name; None if it cannot be told without an import."""
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        found: Any = sys.modules.get(".".join(parts[:count]))
        for part in parts[count:] if found is not None else ():
            found = getattr(found, part, None)
        if isinstance(found, (ModuleType, type)):
            return found
    return None


def _sets(kind: type, name: str) -> bool:
    """Whether the objects of a class may have the attribute: one is declared, or methods set it, or set attributes of any name."""
    for base in kind.__mro__:
        own = vars(base)
        declared = (*own.get("__annotations__", ()), *own.get("__slots__", ()))
        if name in declared or "__getattr__" in own or "__getattribute__" in own and base is not object:
            return True
        functions = [getattr(each, "fget", getattr(each, "__func__", each)) for each in own.values()]
        codes = [getattr(inspect.unwrap(each), "__code__", None) for each in functions if inspect.isfunction(each)]
        used = {each for code in codes if code is not None for each in code.co_names}
        if used & {name, "setattr", "__setattr__", "__dict__", "vars"}:
            return True
    return False


def register(owner: Any, name: Any, policy: Optional[AllowPolicy]) -> None:
    """One entry: a name, (name, policy) or ... of an owner, and maybe a policy for it."""
    plain = name is ... or isinstance(name, str)
    if not plain and not (isinstance(name, tuple) and len(name) == 2 and callable(name[1])):
        raise TypeError(f"{name!r}: expected a name, (name, policy) or ...")
    given = policy if plain else name[1]
    if given is not None:
        if not callable(given):
            raise TypeError(f"{given!r}: expected a policy, which can be called")
        refuse_coroutines(given, f"the policy of {_shown(_key(owner)) or name}")
    __pytools__[_key(owner)].add((name, policy) if plain and policy is not None else name)


def unregister(owner: Any, name: Any, policy: AllowPolicy) -> None:
    """Remove the entry that register() has made for these arguments, and no other."""
    key = _key(owner)
    entries = __pytools__.get(key, set())
    entries.discard((name, policy))
    if not entries:
        __pytools__.pop(key, None)


def _key(owner: Any) -> Any:
    return owner if isinstance(owner, (type, ModuleType, str, _Instance)) else _Instance(owner)


class _Instance:
    """An object as a key of a dict, compared by identity and not by equality: a path by equality, as code gets an equal one."""

    def __init__(self, of: Any) -> None:
        self.of = of  # kept, so that no other object gets its id

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, _Instance):
            return False
        return self.of is other.of or isinstance(self.of, PurePath) and isinstance(other.of, PurePath) and self.of == other.of

    def __hash__(self) -> int:
        return hash(self.of) if isinstance(self.of, PurePath) else id(self.of)


def _has_place(fn: Any) -> bool:
    """Whether owner and name identify the callable: several can be called <lambda>, wrapper or partial in one module."""
    bound = getattr(fn, "__self__", None)
    if bound is not None and not isinstance(bound, ModuleType) or getattr(fn, "__objclass__", None) is not None:
        return True
    return "<" not in getattr(fn, "__qualname__", "<")


def public_module(thing: Any) -> Optional[str]:
    """The module that users know a class or function by: "pathlib" for what Python 3.13 defines in pathlib._local."""
    module = getattr(thing, "__module__", None)
    if not isinstance(module, str) or "._" not in module:
        return module if isinstance(module, str) else None
    outer = module.partition("._")[0]
    known = getattr(sys.modules.get(outer), getattr(thing, "__qualname__", "").partition(".")[0], None)
    inner = getattr(sys.modules.get(module), getattr(thing, "__qualname__", "").partition(".")[0], None)
    return outer if known is not None and known is inner else module


def _owner(fn: Any) -> Any:
    """The owner of a callable: the class of a method, the module of a function or class."""
    bound = getattr(fn, "__self__", None)
    if bound is not None and not isinstance(bound, ModuleType):
        return bound if isinstance(bound, type) else type(bound)
    if getattr(fn, "__objclass__", None) is not None:
        return fn.__objclass__
    module = sys.modules.get(public_module(fn) or "builtins")
    path = getattr(fn, "__qualname__", "").split(".")[:-1]
    owner: Any = module
    for part in path:
        owner = getattr(owner, part, None)
    return owner if isinstance(owner, type) else module


def method_owner(fn: Any) -> Optional[type]:
    """The class of a method that is not bound to an object; None for all else."""
    if not (inspect.isfunction(fn) or inspect.ismethoddescriptor(fn)) or not _has_place(fn):
        return None
    owner = _owner(fn)
    plain = isinstance(owner, type) and not isinstance(inspect.getattr_static(owner, fn.__name__, None), (staticmethod, classmethod))
    return owner if plain else None


def _name_in(name: str, entries: Iterable[Any]) -> Optional[Tuple[bool, List[AllowPolicy]]]:
    """None if no entry allows `name`, else (True, the policies of the entries that do)."""
    hits = [entry for entry in entries if entry is ... or entry == name
            or isinstance(entry, tuple) and entry[0] in (name, ...)]
    return (True, [entry[1] for entry in hits if isinstance(entry, tuple)]) if hits else None


def _keys_of(owner: Any) -> Iterator[Any]:
    """The keys under which `owner` may be registered: the instance, its class and their bases, its module, its packages."""
    if isinstance(owner, _Instance):
        yield owner
        return
    if not isinstance(owner, (type, ModuleType)):
        yield _Instance(owner)
        owner = type(owner)
    if isinstance(owner, type):
        for base in inspect.getmro(owner):
            yield from (base, f"{public_module(base)}.{base.__qualname__}", base.__qualname__)
        return
    yield owner
    module = owner.__name__
    yield module
    parts = module.split(".")
    yield from (".".join(parts[:n]) + ".*" for n in range(1, len(parts) + 1))


def policies_for(owner: Any, name: str) -> Optional[List[AllowPolicy]]:
    """None if `name` of `owner` is not allowed, else the policies to call. Classes are looked up along their bases."""
    hits = [found for key in _keys_of(owner) if key in __pytools__ and (found := _name_in(name, __pytools__[key]))]
    if isinstance(owner, _Instance):  # of the entries of the object's module, only those of all names
        rest = [] if _owner(owner.of) is None else _keys_of(_owner(owner.of))
        hits += [found for key in rest if (found := _name_in("<", __pytools__.get(key, ())))]
    return [policy for _, policies in hits for policy in policies] if hits else None


def registered_as(fn: Any) -> Tuple[Any, str]:
    """The owner under which a callable may be registered, and its name. For a method this is the instance first; for a
    callable that owner and name do not identify, it is the callable itself."""
    if not _has_place(fn):
        return _Instance(fn), getattr(fn, "__name__", type(fn).__name__)
    name = getattr(fn, "__name__", type(fn).__name__)
    bound = getattr(fn, "__self__", None)
    if bound is not None and not isinstance(bound, (ModuleType, type)):
        return bound, name
    return _owner(fn), name


class _NotAllowed(AllowPolicy):
    """The policy of a callable that is not allowed: it denies the call, unless the run's pre_deny hook allows it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        raise PermissionError(f"{self.name} is not allowed")


class AllowChecked:
    """A callable of the caller whose policies are called before each call. `owner` and `name`: the object, class or module that it
    is an attribute of, and its name there; a name alone is one of the caller's namespace."""

    def __init__(self, fn: Callable[..., Any], ok_dests: Dests, owner: Any = None, name: Optional[str] = None) -> None:
        self.fn, self.ok_dests, self._owner, self._name = fn, ok_dests, owner, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = self.check(*args, **kwargs)
        with track_call(call.name):
            value = self.fn(*args, **kwargs)
        return _tracked(call.name, value) if inspect.iscoroutine(value) else value

    def check(self, *args: Any, **kwargs: Any) -> CallInfo:
        """Call the policies for a call with these arguments, which the caller of this method makes later. PermissionError: the call is denied."""
        policies = self._policies()
        if isinstance(self._owner, (ModuleType, type)):
            obj = None
        else:
            bound = getattr(self.fn, "__self__", None) if self._owner is None else self._owner
            obj = None if isinstance(bound, (ModuleType, type)) else bound
        call = CallInfo(_name_of(_owner(self.fn)), registered_as(self.fn)[1], args, kwargs, self.fn)
        decide([_NotAllowed(self._name or call.name)] if policies is None else policies, call, obj, self.ok_dests)
        return call

    def is_allowed(self) -> bool:
        """Whether the registry allows the callable, whatever its policies say to a call."""
        return self._policies() is not None

    def _policies(self) -> Optional[List[AllowPolicy]]:
        """The policies to call, each once; None if nothing allows the callable."""
        found = []
        if self._owner is not None and self._name is not None:
            found.append(policies_for(self._owner, self._name))
        elif self._name is not None and registered_name(self._name):
            hit = _name_in(self._name, __pytools__[""])
            found.append(hit[1] if hit else None)
        if self._owner is None or inspect.isroutine(self.fn) or isinstance(self.fn, type):
            found.append(policies_for(*registered_as(self.fn)))
        if isinstance(self.fn, type):
            found.append(_policies_of_making(self.fn))
        several = [policies for policies in found if policies is not None]
        return list({id(policy): policy for policies in several for policy in policies}.values()) if several else None


def _policies_of_making(kind: type) -> Optional[List[AllowPolicy]]:
    """None unless `__init__` or ... of this very class is allowed: its methods may be allowed for objects that the caller has made."""
    keys = (kind, f"{public_module(kind)}.{kind.__qualname__}", kind.__qualname__)
    hits = [found for key in keys if (found := _name_in("__init__", __pytools__.get(key, ())))]
    return [policy for _, policies in hits for policy in policies] if hits else None


async def _tracked(name: str, work: Any) -> Any:
    with track_call(name):
        return await work


def _name_of(owner: Any) -> str:
    return type_name(owner) if isinstance(owner, type) else str(getattr(owner, "__name__", owner))


def is_tool(value: Any) -> bool:
    """Whether the caller has allowed this callable."""
    return callable(value) and policies_for(*registered_as(value)) is not None


def allows_within(module: ModuleType) -> bool:
    """Whether something of a module, or of what is below it, was allowed."""
    if any(key in __pytools__ and __pytools__[key] for key in _keys_of(module)):
        return True
    places = (_module_of(key) for key, names in __pytools__.items() if names)
    return any(place == module.__name__ or place.startswith(f"{module.__name__}.") for place in places)


def _module_of(key: Any) -> str:
    """The module of a key of the registry, or a text that begins with its name."""
    of = key.of if isinstance(key, _Instance) else key
    found = of if isinstance(of, str) else of.__name__ if isinstance(of, ModuleType) else getattr(of, "__module__", None)
    return found if isinstance(found, str) else ""


def registered_name(name: str) -> bool:
    """Whether the caller has allowed a function by its name in the namespace alone."""
    return _name_in(name, __pytools__.get("", ())) is not None


def explicit_names(owner: Any) -> Set[str]:
    """The names of an owner that were allowed one by one."""
    entries = [entry for key in _keys_of(owner) for entry in __pytools__.get(key, ())]
    names = {entry[0] if isinstance(entry, tuple) else entry for entry in entries}
    return {name for name in names if isinstance(name, str)}


def names_of_paths() -> Set[str]:
    """The public names of paths, or of single ones, that were allowed one by one."""
    single = {key.of for key, names in __pytools__.items() if isinstance(key, _Instance) and isinstance(key.of, PurePath) and names}
    return {name for owner in (PosixPath, *single) for name in explicit_names(owner) if not name.startswith("_")}


def explicit_modules() -> Dict[str, ModuleType]:
    """The imported modules of which names were allowed one by one, by their names."""
    keys = {key.__name__ if isinstance(key, ModuleType) else key for key in __pytools__ if isinstance(key, (ModuleType, str))}
    found = {name: sys.modules[name] for name in keys if name in sys.modules}
    return {name: module for name, module in found.items() if explicit_names(module)}


def registry_state() -> Any:
    """What is equal as long as nobody changes what code may do: the registry, the types, the default data."""
    entries = frozenset((key, frozenset(names)) for key, names in __pytools__.items() if names)
    return entries, tuple(map(id, __llmtools__)), tuple(_write_types), repr(_default_data)


def describe_tools() -> List[str]:
    """One line for each allowed callable: its name, its arguments, the first line of its docstring. Those that were allowed one by
    one come first, then those of {owner: names}."""
    lines = [_described(getattr(tool, "__qualname__", str(tool)), tool) for tool in __llmtools__]
    known = {_place_in_registry(tool) for tool in __llmtools__}
    for owner, entries in __pytools__.items():
        names = sorted({entry[0] if isinstance(entry, tuple) else entry for entry in entries}, key=str)
        names = [name for name in names if (owner, name) not in known]
        if len(names) <= MOST_LINES:
            lines += [_line_of(owner, name) for name in names]
        else:
            lines.append(f"{_shown(owner)}: {', '.join('*' if name is ... else name for name in names)}")
    return lines


def _place_in_registry(tool: Any) -> Tuple[Any, str]:
    owner = _owner(tool) if _has_place(tool) else _Instance(tool)
    return _key(owner), getattr(tool, "__name__", type(tool).__name__)


def _line_of(owner: Any, name: Any) -> str:
    """The line of one entry of the registry."""
    of, shown = type(owner.of) if isinstance(owner, _Instance) else owner, _shown(owner)
    if name is ...:
        return f"{shown}.*: all of its names"
    full = f"{shown}.{name}" if shown else name
    static = inspect.getattr_static(of, name, None) if not isinstance(of, str) else None
    return _described(full, getattr(of, name)) if callable(static) or isinstance(static, (classmethod, staticmethod)) else full


def _shown(owner: Any) -> str:
    of = type(owner.of) if isinstance(owner, _Instance) else owner
    return of if isinstance(of, str) else str(of.__qualname__ if isinstance(of, type) else of.__name__)


def _described(name: str, tool: Any) -> str:
    try:
        signature = str(inspect.signature(tool))
    except (TypeError, ValueError):
        signature = "(...)"
    doc = (inspect.getdoc(tool) or "").split("\n")[0]
    return f"{name}{signature}" + (f": {doc}" if doc else "")


def allow_write(policies: Mapping[str, AllowPolicy]) -> None:
    """Let code call methods that write, {"Class.method": policy}: the older form of allow({Class: [("method", policy)]})."""
    for full, policy in policies.items():
        register(full.rpartition(".")[0], full.rpartition(".")[2], policy)


def default_write_types() -> List[type]:
    """The types whose objects code may change in place."""
    return list(_write_types)


def allow_write_types(*types: type) -> None:
    """Let code change objects of these types in place too."""
    for kind in types:
        if kind not in _write_types:
            _write_types.append(kind)


_write_types: List[type] = [dict, list, SimpleNamespace]


def type_name(kind: type) -> str:
    """The name of a type in a policy."""
    return kind.__name__ if kind.__module__ == "builtins" else f"{public_module(kind)}.{kind.__qualname__}"

