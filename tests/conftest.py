"""Fixtures of the whole-cell tests; see cells.py."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cells  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def scratch():
    yield
    cells.remove_scratch()


@pytest.fixture(autouse=True)
def guard(request, monkeypatch):
    """A file of tests may say whether its cells have the guard: GUARD = "off" where the kernel is what is tested."""
    if hasattr(request.module, "GUARD"):
        monkeypatch.setitem(cells.BOUNDS, "--guard", request.module.GUARD)


@pytest.fixture(scope="session")
def base_tree():
    """The tree base, in the caller's state directory; built if it is missing."""
    if not cells.HOTCELL.exists():
        pytest.exit(f"{cells.HOTCELL} is missing: run make", 1)
    cells.build_tree("base")
    return cells.tree_path("base")


@pytest.fixture(params=["root", "ordinary"])
def user(request, base_tree):
    """Whom hotcell is started as: both ways of making a cell."""
    if request.param == "root":
        cells.need_root()
        return cells.caller()
    found = cells.ordinary()
    cells.need_cells(found)
    return found
