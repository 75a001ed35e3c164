"""ARCHITECTURE.md names files and functions that there are."""

import re

import daemons
import pytest

TOP = daemons.SOURCE.parent
TEXT = (TOP / "ARCHITECTURE.md").read_text(encoding="utf-8")
CODE = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.S))
FOLDERS = [path for path in (*daemons.SOURCE.rglob("*"), TOP / "tests", TOP / "scripts") if path.is_dir()]
NAME = r"[\w-]+\.(?:c|h|py|ts|def|in|json|html|css|md|5|1|7|8)(?:\.in)?"


def files_named(name):
    """A path in the text begins at the top, in src, or in any folder below (its context says which)."""
    places = [TOP / name, daemons.SOURCE / name, *(folder / name for folder in FOLDERS)]
    found = [path for path in places if path.is_file()]
    return found or list((TOP / "tests").rglob(name.rpartition("/")[2]))


def named():
    """(file, function or None) for each `file.c: function`, `file.c` and `file.c -> ...` of the text."""
    rows = set()
    for code in CODE:
        match = re.fullmatch(rf"((?:[\w-]+/)*{NAME})(?:: (?:struct |enum )?(\w+))?", code)
        if match:
            rows.add((match[1], match[2]))
    return sorted(rows, key=str)


def test_the_text_names_many():
    assert len(named()) > 120 and sum(function is not None for _, function in named()) > 25


@pytest.mark.parametrize(("file", "function"), named(), ids=str)
def test_it_is_there(file, function):
    if "NAME" in file or file.startswith("*"):
        return
    files = files_named(file)
    assert files, f"ARCHITECTURE.md names {file}"
    if function:
        assert any(re.search(rf"\b{function}\b", path.read_text(encoding="utf-8")) for path in files), f"{file}: {function}"
