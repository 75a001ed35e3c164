"""The table rows.txt: what users of the four older systems rely on, and which tests show each row."""

from pathlib import Path

LIST = Path(__file__).resolve().parents[1] / "rows.txt"


def tests_by_row():
    """{row, such as "S0.1": [MODULE::FUNCTION]}, in the order of the table."""
    found = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            found[row].append(line.strip())
        elif not line.startswith("#"):
            row = line.split()[0]
            found[row] = []
    return found


def rows_by_test():
    """{MODULE::FUNCTION: [row]}"""
    found = {}
    for row, tests in tests_by_row().items():
        for test in tests:
            found.setdefault(test, []).append(row)
    return found
