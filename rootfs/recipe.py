"""recipe - reads tree recipes: strict JSON, one optional parent, everything checked before anything is built.

Every key is one row of KEYS; a key that is not there is an error. Lists and tables of a recipe are added to those
of the recipe that it extends; name and description are its own.
"""

import json
import os
import re
from dataclasses import dataclass, field

from errors import BAD_INPUT, BuildError

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
ABSOLUTE = re.compile(r"/(usr|etc)(/[^/]+)+")
PROGRAM = re.compile(r"[A-Za-z0-9\[][A-Za-z0-9._+-]*")
MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
DEBIAN_KEYS = ("package", "requires", "files", "also")


@dataclass
class Recipe:
    """A recipe with its parents merged in."""

    name: str
    description: str = ""
    distributions: list = field(default_factory=list)    # PyPI names, taken with what they require
    debian: dict = field(default_factory=dict)           # PyPI name -> what Debian's metadata does not say
    stdlib_exclude: list = field(default_factory=list)   # globs, relative to the standard library
    exclude: list = field(default_factory=list)          # globs, relative to dist-packages, or "/" and to the tree
    files: list = field(default_factory=list)            # host files and directories that must be there
    optional_files: list = field(default_factory=list)   # the same, skipped when missing
    programs: list = field(default_factory=list)         # names of programs, which commands in a cell may be
    fonts: list = field(default_factory=list)            # globs of font files, skipped when missing
    imports: list = field(default_factory=list)          # modules that must import from the finished tree


def _string(value):
    return isinstance(value, str)


def _strings(value):
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _paths(value):
    return _strings(value) and all(ABSOLUTE.fullmatch(item) and ".." not in item.split("/") for item in value)


def _modules(value):
    return _strings(value) and all(MODULE.fullmatch(item) for item in value)


def _programs(value):
    return _strings(value) and all(PROGRAM.fullmatch(item) for item in value)


def _debian(value):
    return isinstance(value, dict) and all(_debian_entry(entry) for entry in value.values())


def _debian_entry(entry):
    if not isinstance(entry, dict) or any(key not in DEBIAN_KEYS for key in entry):
        return False
    return (_string(entry.get("package")) and _strings(entry.get("requires", [])) and _strings(entry.get("also", []))
            and _paths(entry.get("files", [])))


DEBIAN_SHAPE = 'an object such as {"numpy": {"package": "python3-numpy", "requires": [...], "files": [...]}}'
KEYS = {
    "name": (lambda v: _string(v) and NAME.fullmatch(v), "a name of a-z 0-9 . _ -"),
    "description": (_string, "a string"),
    "extends": (lambda v: _string(v) and v, "the name of a recipe beside this one or of a shipped one, or a path"),
    "distributions": (_strings, "a list of PyPI names"),
    "debian": (_debian, DEBIAN_SHAPE),
    "stdlib_exclude": (_strings, "a list of globs"),
    "exclude": (_strings, "a list of globs"),
    "files": (_paths, "a list of absolute paths below /usr or /etc"),
    "optional_files": (_paths, "a list of absolute paths below /usr or /etc"),
    "programs": (_programs, "a list of names of programs"),
    "fonts": (_paths, "a list of absolute globs below /usr or /etc"),
    "imports": (_modules, "a list of module names"),
}
MERGED_LISTS = ("distributions", "stdlib_exclude", "exclude", "files", "optional_files", "programs", "fonts", "imports")


def load(path):
    """The recipe in the file PATH, with those that it extends merged in."""
    chain = []
    while path is not None:
        real = os.path.realpath(path)
        if real in [seen for seen, _ in chain]:
            raise BuildError(BAD_INPUT, f"{path}: extends: the recipes extend each other in a circle")
        chain.append((real, _read(path)))
        path = _parent(path, chain[-1][1].get("extends"))
    top = chain[0][1]
    recipe = Recipe(name=top["name"], description=top.get("description", ""))
    for _, data in reversed(chain):
        for key in MERGED_LISTS:
            merged = getattr(recipe, key)
            merged += [item for item in data.get(key, []) if item not in merged]
        recipe.debian.update(data.get("debian", {}))
    return recipe


def _parent(path, extends):
    if extends is None:
        return None
    if "/" in extends or extends.endswith(".json"):
        return os.path.join(os.path.dirname(path), extends)
    beside = os.path.join(os.path.dirname(path), extends + ".json")
    shipped = os.path.join(os.path.dirname(os.path.realpath(__file__)), extends + ".json")
    return beside if os.path.exists(beside) or not os.path.exists(shipped) else shipped


def _read(path):
    try:
        with open(path, encoding="utf-8") as source:
            data = json.loads(source.read(), object_pairs_hook=lambda pairs: _unique(path, pairs))
    except OSError as error:
        raise BuildError(BAD_INPUT, f"open recipe {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BuildError(BAD_INPUT, f"{path}: byte {error.start}: a recipe is UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise BuildError(BAD_INPUT, f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise BuildError(BAD_INPUT, f"{path}: not a recipe: nested too deeply") from error
    _check(path, data)
    return data


def _unique(path, pairs):
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BuildError(BAD_INPUT, f"{path}: key '{twice}' appears twice in one object")
    return table


def _check(path, data):
    if not isinstance(data, dict):
        raise BuildError(BAD_INPUT, f"{path}: a recipe is a JSON object, with at least \"name\"")
    for key, value in data.items():
        if key not in KEYS:
            raise BuildError(BAD_INPUT, f"{path}: unknown key '{key}': expected one of {', '.join(KEYS)}")
        valid, expected = KEYS[key]
        if not valid(value):
            raise BuildError(BAD_INPUT, f"{path}: {key}: expected {expected}")
    if "name" not in data:
        raise BuildError(BAD_INPUT, f"{path}: name: expected {KEYS['name'][1]}, but the key is missing")
