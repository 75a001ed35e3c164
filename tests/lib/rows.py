"""The rows of the four systems that the shipped policies stand for, by number. A test that shows one carries the mark
`@pytest.mark.row("S0.6")`; conftest.py prints how many are covered, test_rows_table.py wants all of them.
"""

COUNTS = {"S0": 32, "S1": 37, "S2": 23, "S3": 41}
ROWS = [f"{system}.{number}" for system, count in COUNTS.items() for number in range(1, count + 1)]

# What no test shows yet, and what it waits for.
MONITORING = "trees with Python 3.12: version 3.11 has no sys.monitoring, which sees calls of native code"
WAITING = {
    "S3.22": MONITORING,
    "S3.32": MONITORING,
}
