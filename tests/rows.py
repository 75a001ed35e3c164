"""The rows of the four systems that the shipped policies stand for, by number. A test that shows one carries the mark
`@pytest.mark.row("S0.6")`; conftest.py prints how many are covered, test_rows_table.py wants all of them.
"""

COUNTS = {"S0": 32, "S1": 37, "S2": 23, "S3": 41}
ROWS = [f"{system}.{number}" for system, count in COUNTS.items() for number in range(1, count + 1)]

# What no test shows yet, and what it waits for.
SESSION = "a session whose interpreter lives from one run to the next"
WAITING = {}
