"""The user's defaults for RunPython and %%hotcell, from $XDG_CONFIG_HOME/hotcell/python.json.

An error in the file is reported with file, line and column, also one that only the command finds, such as a limit that is out of
range. An argument takes precedence over the environment, and the environment over the file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from dataclasses import dataclass, field
from json.decoder import JSONDecoder, scanstring
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, NoReturn, Optional, Tuple

from .errors import HotcellError, PolicyError

LIMIT = (int, float, str)
MEMBERS: Dict[str, Tuple[Tuple[type, ...], str]] = {
    "policy": ((str,), "a policy's name or path"),
    "tree": ((str,), "a tree's name or path"),
    "limits": ((dict,), "an object of limits"),
    "ok_dests": ((list, type(None)), "a list of directories, or null"),
    "session": ((bool,), "true or false"),
    "binary": ((str,), "the path of the hotcell command"),
}


@dataclass(frozen=True)
class Config:
    """The members of the file; None or empty if the file does not have them."""

    path: Optional[Path] = None
    policy: Optional[str] = None
    tree: Optional[str] = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    ok_dests: Optional[Tuple[str, ...]] = None
    session: bool = False
    binary: Optional[str] = None
    given: Tuple[str, ...] = ()  # names of the members that the file has
    places: Mapping[str, str] = field(default_factory=dict)  # name of a member, or "limits.NAME" -> FILE:LINE:COLUMN of its value

    def options(self, **over: Any) -> Dict[str, Any]:
        """Keyword arguments for hotcell.run or Session: those of `over`, and from the file those that are None there."""
        limits = {**self.limits, **(over.pop("limits", None) or {})}
        for name in ("timeout", "memory"):
            value = over.pop(name, None)
            if value is not None:
                limits[name] = value
        binary = None if os.environ.get("HOTCELL") else self.binary
        usual = {"policy": self.policy, "tree": self.tree, "binary": binary}
        return {**usual, **{name: value for name, value in over.items() if value is not None}, "limits": limits}

    @contextlib.contextmanager
    def naming_place(self, options: Mapping[str, Any]) -> Iterator[None]:
        """Let an exception on a value of the file, which is one of `options`, begin with the value's place in the file."""
        try:
            yield
        except HotcellError as error:
            message = re.sub("^policy: (?=unknown member '[^']*' in limits)", "", str(error))
            place = self._place_of(message, options)
            if place is not None:
                error.args = (f"{place}: {message}", *error.args[1:])
            raise

    def _place_of(self, message: str, options: Mapping[str, Any]) -> Optional[str]:
        limit = re.match(r"limits\.(\w+)\b|unknown member '(\w+)' in limits", message)
        if limit:
            name = limit[1] or limit[2]
            mine = name in self.limits and options.get("limits", {}).get(name) == self.limits[name]
            return self.places.get(f"limits.{name}") if mine else None
        for name in ("policy", "tree", "binary"):
            value = getattr(self, name)
            if value is not None and options.get(name) == value and value in message:
                return self.places.get(name)
        return None


def config_path() -> Path:
    """The path of the file, which need not exist."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    return Path(home if home.startswith("/") else os.path.expanduser("~/.config"), "hotcell", "python.json")


def read_config(path: Optional[Path] = None) -> Config:
    """Read the file; a file that does not exist counts as empty. PolicyError names file, line, column and what was
    expected."""
    path = path or config_path()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError) as error:
        raise PolicyError(f"{path}: {getattr(error, 'strerror', None) or error}", 78) from error
    return _Reader(path, text).config()


class _Reader:
    """Reads one file, and finds the places of its members, which the module json does not keep."""

    def __init__(self, path: Path, text: str) -> None:
        self._path, self._text = path, text
        self._places: Dict[str, str] = {}

    def _place(self, at: int) -> str:
        line = self._text.count("\n", 0, at) + 1
        return f"{self._path}:{line}:{at - self._text.rfind(chr(10), 0, at)}"

    def fail(self, at: int, message: str) -> NoReturn:
        raise PolicyError(f"{self._place(at)}: {message}", 78)

    def config(self) -> Config:
        try:
            whole = json.loads(self._text, parse_constant=lambda name: self.fail(self._text.index(name), f"{name} is no JSON"))
        except RecursionError:
            self.fail(0, "nested too deep")
        except json.JSONDecodeError as error:
            self.fail(error.pos, error.msg)
        start = self._skip(0)
        if not isinstance(whole, dict):
            self.fail(start, "expected an object")
        found: Dict[str, Any] = {}
        for name, at, value, value_at in self._members(start):
            if name in found:
                self.fail(at, f"'{name}' stands twice")
            found[name] = self._member(name, at, value, value_at)
            self._places[name] = self._place(value_at)
        return Config(path=self._path, given=tuple(found), places=self._places, **found)

    def _member(self, name: str, at: int, value: Any, value_at: int) -> Any:
        if name not in MEMBERS:
            self.fail(at, f"unknown member '{name}'; expected one of {', '.join(MEMBERS)}")
        kinds, what = MEMBERS[name]
        if not isinstance(value, kinds) or value == "":
            self.fail(value_at, f"{name}: expected {what}")
        if name == "limits":
            return self._limits(value_at)
        if isinstance(value, list):
            if not all(isinstance(item, str) and item for item in value):
                self.fail(value_at, f"{name}: expected {what}")
            return tuple(value)
        return value

    def _limits(self, start: int) -> Dict[str, Any]:
        limits: Dict[str, Any] = {}
        for name, at, value, value_at in self._members(start):
            if name in limits:
                self.fail(at, f"limits: '{name}' stands twice")
            if isinstance(value, bool) or not isinstance(value, LIMIT):
                self.fail(value_at, f"limits.{name}: expected a number, or text such as \"90s\" or \"512M\"")
            limits[name] = value
            self._places[f"limits.{name}"] = self._place(value_at)
        return limits

    def _skip(self, at: int) -> int:
        while at < len(self._text) and self._text[at] in " \t\r\n":
            at += 1
        return at

    def _members(self, start: int) -> List[Tuple[str, int, Any, int]]:
        """The members of the well-formed object that begins at `start`: (name, its place, value, its place)."""
        found, at = [], self._skip(start + 1)
        while self._text[at] == '"':
            name, end = scanstring(self._text, at + 1)
            value_at = self._skip(self._skip(end) + 1)
            value, end = JSONDecoder().raw_decode(self._text, value_at)
            found.append((name, at, value, value_at))
            end = self._skip(end)
            at = self._skip(end + 1) if self._text[end] == "," else end
        return found
