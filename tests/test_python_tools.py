"""Tools of Python callers in numbers: many calls at once, by the command and by a daemon, each answered and counted."""

import asyncio
import sys
from pathlib import Path

import cells
import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402

BOUNDS = {"tree": "base", "memory": "256M", "timeout": 30 * cells.SLOWNESS}
CALLS = 100
TOGETHER = 8  # calls that wait for one another
MANY = f"import asyncio\nsum(await asyncio.gather(*(tools.double.call_async(n=i) for i in range({CALLS}))))"


class Double:
    """A coroutine function that answers nobody before several wait for it."""

    def __init__(self):
        self.open, self.all_there, self.seen = 0, None, []

    async def double(self, n: int) -> int:
        self.all_there = self.all_there or asyncio.Event()
        self.open += 1
        if self.open == TOGETHER:
            self.all_there.set()
        await asyncio.wait_for(self.all_there.wait(), cells.PATIENCE)
        self.seen.append(n)
        return n * 2


@pytest.fixture(autouse=True)
def directory_of_its_own(base_tree, monkeypatch):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    monkeypatch.delenv("HOTCELL_SOCKET", raising=False)


def test_many_calls_at_once_by_the_command():
    tool = Double()
    result = asyncio.run(hotcell.arun(MANY, tools=[tool.double], **BOUNDS))
    assert result.value == CALLS * (CALLS - 1), result.manifest
    assert sorted(tool.seen) == list(range(CALLS)) and [c["status"] for c in result.manifest["tools"]] == ["ok"] * CALLS


def test_many_calls_at_once_in_a_session():
    async def double(n: int) -> int:
        return n * 2
    with hotcell.Session(tools=[double], **BOUNDS) as session:
        assert session.run(MANY).value == CALLS * (CALLS - 1)
        assert session.run(MANY).value == CALLS * (CALLS - 1)
