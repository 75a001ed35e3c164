#!/usr/bin/python3
"""Which tests are too slow for "make check": those of tests/slow.txt, a list that this program writes.

    make check PYTEST=--junitxml=REPORT; tests/lib/slow.py REPORT...

adds each test that took more than 0.3 s there, on average over its parameters. A test that has become faster is taken out of
the list by hand.
"""

import collections
import sys
import xml.etree.ElementTree
from pathlib import Path

LIST = Path(__file__).resolve().parents[1] / "slow.txt"
MOST = 0.3  # seconds
DAILY = {"test_hostile_programs::test_a_drill_program_reaches_nothing_in_a_cell"}  # slow, and worth it every day


def listed():
    return set(LIST.read_text(encoding="utf-8").split()) if LIST.exists() else set()


def slow_in(report):
    """Tests of a JUnit report that took longer, as MODULE::FUNCTION."""
    times = collections.defaultdict(list)
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        module = next(part for part in reversed(case.get("classname").split(".")) if part.startswith("test_"))
        times[f"{module}::{case.get('name').partition('[')[0]}"].append(float(case.get("time")))
    return {name for name, taken in times.items() if sum(taken) / len(taken) > MOST}


def main(reports):
    names = listed().union(*map(slow_in, reports)) - DAILY
    LIST.write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
