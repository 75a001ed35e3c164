"""Names of frameworks that may be installed: an adapter uses the framework's classes if it is there, and works without it."""

from __future__ import annotations

import importlib
from typing import Any


def named(module: str, name: str, otherwise: Any) -> Any:
    """The name in the framework's module; `otherwise` if the framework, or this name of it, is not installed."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return otherwise


def base(module: str, name: str) -> Any:
    """The class of a framework that an adapter's class extends; object if the framework is not installed."""
    return named(module, name, object)
