"""What hotcell-security(7) promises is shown by tests that exist."""

import ast
import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PAGE = (TOP / "src" / "man" / "hotcell-security.7.in").read_text(encoding="utf-8")


def promises():
    """The numbered promises: first words, and the tests that are named."""
    section = PAGE.partition(".Ss What is promised")[2].partition(".Ss What is not promised")[0]
    items = section.split("\n.It\n")[1:]
    return [(" ".join(item.split()[:8]), re.findall(r"(test_\w+\.py)::(test_\w+)", item.partition("Shown by")[2]))
            for item in items]


def names_in(name):
    tree = ast.parse(next((TOP / "tests").rglob(name)).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("promise, shown", promises(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_promise_is_shown_by_tests_that_exist(promise, shown):
    assert shown, f"nothing shows: {promise}"
    missing = [f"{file}::{test}" for file, test in shown if test not in names_in(file)]
    assert not missing


def test_the_page_has_its_promises():
    assert len(promises()) > 8


def test_the_readme_has_as_many():
    readme = (TOP / "README.md").read_text(encoding="utf-8").partition("## Security")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\d+\. ", readme, re.M)) == len(promises())


def test_what_reporters_read_names_the_files_of_these_tests():
    rows = re.findall(r"^\| (\d+) \| .* \| (.+) \|$", (TOP / "SECURITY.md").read_text(encoding="utf-8"), re.M)
    named = [(int(number), set(re.findall(r"test_\w+\.py", files))) for number, files in rows]
    assert named == [(number, {file for file, _ in shown}) for number, (_, shown) in enumerate(promises(), 1)]
