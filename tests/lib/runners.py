"""What tests of RunPython have in common: nothing left of the last test's tools, and a runner in the smallest tree."""

import asyncio
import sys
from pathlib import Path

import cells
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
from hotcell.adapters import RunPython, notebook  # noqa: E402
from hotcell.adapters import allow as registry  # noqa: E402


@pytest.fixture(autouse=True)
def fresh(base_tree, tmp_path, tmp_path_factory, monkeypatch):
    """No tool of another test's, no configuration and no state of the user's, a directory to write to."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(notebook, "_config_read", False)
    monkeypatch.setattr(notebook, "default_ok_dests", ())
    monkeypatch.setattr(registry, "_write_types", list(registry._write_types))
    monkeypatch.chdir(tmp_path)
    registry.__pytools__.clear()
    registry.__llmtools__.clear()


def run(code, g=None, **options):
    return asyncio.run(RunPython(g={} if g is None else g, **{"tree": "base", **options})(code))


class Says(registry.AllowPolicy):
    """A policy with this answer; text is an objection."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, obj, args, kwargs, ok_dests):
        if isinstance(self.answer, str):
            raise PermissionError(self.answer)
        return self.answer
