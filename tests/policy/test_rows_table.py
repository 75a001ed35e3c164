"""Every row of the four systems has a test, or says what it waits for."""

import ast
from pathlib import Path

import rows


def marked():
    """Rows that marks in the test files name: found in the text, so that it does not matter which tests are chosen."""
    found = set()
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            is_mark = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "row"
            found |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)} if is_mark else set()
    return found


def test_every_row_has_a_test_or_waits():
    shown = marked()
    missing = [row for row in rows.ROWS if row not in shown and row not in rows.WAITING]
    assert not missing, " ".join(missing)


def test_rows_of_the_fourth_system_alone_may_wait():
    assert all(row.startswith("S3.") and reason for row, reason in rows.WAITING.items())


def test_nothing_waits_that_has_a_test():
    assert not marked() & rows.WAITING.keys()
