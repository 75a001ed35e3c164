"""Skills: modules of the caller whose functions a model may look up and call.

A skill is a module with a docstring. Its functions, those in __all__ or else the public ones that it defines, stay in
the caller's process; once it is enabled, code in a cell calls them by their names, as it does all that allow() was told
of. Installed distributions offer skills as entry points of the group "hotcell.skills"; register() adds a module.
Code finds its way with list_pyskills(), xdir(NAME), doc(NAME) and docfind(TEXT), which see enabled skills only.
"""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from . import allow as registry

__all__ = ["disable", "doc", "docfind", "enable", "known", "list_pyskills", "register", "xdir"]

GROUP = "hotcell.skills"
_known: Dict[str, Union[ModuleType, str]] = {}
_enabled: Dict[str, ModuleType] = {}
_given: Dict[str, "_Enabled"] = {}


class _Enabled(registry.AllowPolicy):
    """The mark of a skill, a policy that allows every call. Each entry that enabling the skill puts into the registry has it, so
    that disabling removes these entries, and none that the caller or another skill has made."""

    def __init__(self, fns: Iterable[Callable[..., Any]]) -> None:
        self._places = [registry.registered_as(fn) for fn in fns]
        for owner, name in self._places:
            registry.register(owner, name, self)

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: registry.Dests) -> None:
        pass

    def take_back(self) -> None:
        """Remove the entries of the skill from the registry."""
        for owner, name in self._places:
            registry.unregister(owner, name, self)


def register(module: Union[ModuleType, str], name: Optional[str] = None) -> str:
    """Register a skill, given as a module or as the name to import it by. Returns its name, the last part of the module's."""
    if not isinstance(module, (ModuleType, str)):
        raise TypeError(f"module: expected a module or its name, got {type(module).__name__}")
    path = module.__name__ if isinstance(module, ModuleType) else module
    name = name or path.rpartition(".")[2]
    if not name.isidentifier():
        raise ValueError(f"{name!r}: expected an identifier as a skill's name")
    _known[name] = module
    return name


def known() -> List[str]:
    """Names of skills that can be enabled: those registered, and those of installed distributions."""
    return sorted({*_known, *_installed()})


def _installed() -> Dict[str, str]:
    from importlib.metadata import entry_points
    found: Any = entry_points()
    points = found.select(group=GROUP) if hasattr(found, "select") else found.get(GROUP, ())
    return {point.name: point.value.partition(":")[0] for point in points}


def enable(name: str) -> None:
    """Import a skill, and let code call its functions. KeyError if it is not known, ValueError if its names clash."""
    if name in _enabled:
        return
    source = _known.get(name) or _installed().get(name)
    if source is None:
        raise KeyError(f"there is no skill {name!r}; known: {', '.join(known()) or 'none'}")
    module = source if isinstance(source, ModuleType) else importlib.import_module(source)
    taken = {fn: skill for skill, other in _enabled.items() for fn in functions(other)}
    clash = [f"{fn} (of {taken[fn]})" for fn in functions(module) if fn in taken]
    if clash:
        raise ValueError(f"skill {name}: another has {', '.join(clash)} already")
    _given[name] = _Enabled((*functions(module).values(), *LOOKUP))
    _enabled[name] = module


def disable(name: str) -> None:
    """Disable a skill: its functions are no longer allowed, unless another skill or the caller allows them."""
    if _enabled.pop(name, None) is None:
        raise KeyError(f"skill {name!r} is not enabled")
    _given.pop(name).take_back()


def functions(module: ModuleType) -> Dict[str, Callable[..., Any]]:
    """The functions of a skill: (name, callable)."""
    names = getattr(module, "__all__", None)
    own = [name for name, value in vars(module).items()
           if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__]
    found = {name: getattr(module, name) for name in (own if names is None else names)}
    return {name: value for name, value in found.items() if inspect.isroutine(value)}


def namespace() -> Dict[str, Callable[..., Any]]:
    """{name: callable} for code while a skill is enabled: the skills' functions, and the functions to look them up."""
    if not _enabled:
        return {}
    return {**{fn.__name__: fn for fn in LOOKUP}, **{name: fn for module in _enabled.values() for name, fn in functions(module).items()}}


# ---- for code ----

def list_pyskills() -> Dict[str, str]:
    """The enabled skills: the name and the first line of the docstring of each."""
    return {name: _first_line(module) for name, module in sorted(_enabled.items())}


def xdir(name: str) -> List[str]:
    """The names of a skill's functions."""
    return sorted(functions(_skill(name)))


def doc(name: str) -> str:
    """The documentation of a skill, or of one function, SKILL.FUNCTION, with its signature. In a cell it also takes a function,
    class or other thing itself, and tells what help() would."""
    if not isinstance(name, str):
        raise TypeError("doc: expected the name of a skill, or SKILL.FUNCTION")
    skill, _, function = name.partition(".")
    module = _skill(skill)
    if not function:
        return "\n".join([inspect.getdoc(module) or "", "", *(line for line in _lines(module))]).strip()
    fn = functions(module).get(function)
    if fn is None:
        raise KeyError(f"skill {skill} has no function {function!r}; it has {', '.join(xdir(skill))}")
    return f"{_signature(fn)}\n{inspect.getdoc(fn) or ''}".strip()


def docfind(text: str) -> Dict[str, str]:
    """Functions whose name or documentation has this text: SKILL.FUNCTION and its first line."""
    sought = text.lower()
    return {f"{skill}.{name}": _first_line(fn) for skill, module in sorted(_enabled.items())
            for name, fn in sorted(functions(module).items())
            if sought in f"{name} {inspect.getdoc(fn) or ''}".lower()}


def _skill(name: str) -> ModuleType:
    if name not in _enabled:
        raise KeyError(f"there is no skill {name!r}; enabled: {', '.join(sorted(_enabled)) or 'none'}")
    return _enabled[name]


def _lines(module: ModuleType) -> Iterator[str]:
    for _, fn in sorted(functions(module).items()):
        yield f"{_signature(fn)}: {_first_line(fn)}"


def _signature(fn: Any) -> str:
    try:
        return f"{fn.__name__}{inspect.signature(fn)}"
    except (TypeError, ValueError):
        return f"{fn.__name__}(...)"


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n")[0]


LOOKUP = (list_pyskills, xdir, doc, docfind)
