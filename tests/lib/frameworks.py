"""Adapters for frameworks, imported with stubs of these frameworks or without them, for tests in which none is installed."""

import importlib
import sys
import types
from pathlib import Path

import cells

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))

POLICY = {"extends": "shell", **({} if cells.counts_memory(cells.caller()) else {"limits": {"enforcement": "rlimits"}})}
OPTIONS = {"policy": POLICY, "binary": cells.HOTCELL}  # arguments of a Sandbox


def module(name, **names):
    """A module of a framework with these names."""
    made = types.ModuleType(name)
    vars(made).update(names)
    return made


def load(monkeypatch, adapter, *stubs, without=()):
    """The adapter's module, imported anew while the stubs are there, and the modules of `without` are not to be had."""
    for stub in stubs:
        parts = stub.__name__.split(".")
        for depth in range(1, len(parts)):
            package = ".".join(parts[:depth])
            if package not in (each.__name__ for each in stubs):
                monkeypatch.setitem(sys.modules, package, types.ModuleType(package))
        monkeypatch.setitem(sys.modules, stub.__name__, stub)
    for name in without:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"hotcell.adapters.{adapter}", raising=False)
    return importlib.import_module(f"hotcell.adapters.{adapter}")
