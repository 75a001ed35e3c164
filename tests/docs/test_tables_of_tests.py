"""The tables that choose tests (conftest.py, slow.txt, rows.txt, sanitized) name files and tests that exist."""

import ast
import collections
from pathlib import Path

import conftest
import pytest
import rows
import slow

TESTS = Path(__file__).resolve().parents[1]
FILES = list(TESTS.glob("*/test_*.py"))


def functions(path):
    return {node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def test_no_two_files_have_the_same_name():
    """They are imported by their names alone, and the tables know them by these."""
    counts = collections.Counter(path.stem for path in [*FILES, *(TESTS / "lib").glob("*.py")])
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("table", ["LONG", "MACHINE", "CONTAINED", "WARM", "BOTH_USERS"])
def test_files_of_a_table_exist(table):
    assert set(getattr(conftest, table)) - {path.stem for path in FILES} == set()


def test_slow_tests_exist():
    there = {f"{path.stem}::{function}" for path in FILES for function in functions(path)}
    assert slow.listed() - there == set()


def test_each_row_of_the_older_systems_has_a_test_that_exists():
    there = {f"{path.stem}::{function}" for path in FILES for function in functions(path)}
    table = rows.tests_by_row()
    assert list(table) == [f"S{system}.{number}" for system, count in enumerate((32, 37, 23, 41)) for number in range(1, count + 1)]
    assert {row: tests for row, tests in table.items() if not tests} == {}
    assert {test for tests in table.values() for test in tests} - there == set()


def test_tests_of_sanitized_cells_exist():
    named = [word.strip("()") for word in (TESTS / "sanitized").read_text(encoding="utf-8").partition("modules=(")[2].partition(")")[0].split()]
    assert named and [name for name in named if not (TESTS / name).is_file()] == []
