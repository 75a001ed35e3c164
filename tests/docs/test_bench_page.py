"""hotcell-bench(7): what it tells was measured."""

import json
import re
import subprocess
import sys

import cells
import pytest

SOURCES = cells.BUILD.parent / "src"
REPORTS = SOURCES / "man" / "measured.json", SOURCES / "man" / "measured-3.13.json"


def page(template, *reports):
    return subprocess.run([sys.executable, "-I", SOURCES / "facts" / "measured.py", *reports, template], capture_output=True, text=True, check=False)


def test_each_measurement_of_the_report_is_on_the_page():
    template = (SOURCES / "man" / "hotcell-bench.7.in").read_text(encoding="utf-8")
    told = json.loads(REPORTS[0].read_text(encoding="utf-8"))
    assert {f"@MEASURED_{row['name'].upper()}@" for row in told["measurements"]} < set(template.splitlines())
    assert not told["quick"] and not any(row["failed"] or row["left_out"] for row in told["measurements"]), told


def test_no_figure_of_the_page_is_typed():
    """Outside the parts that are filled in there are numbers of things, of commands and of versions, and none of what was measured."""
    template = (SOURCES / "man" / "hotcell-bench.7.in").read_text(encoding="utf-8")
    assert not re.search(r"[0-9]\.[0-9]+ *(?:ms|MiB|KiB|times|%)|[0-9] (?:ms|milliseconds faster|per second|percent)", template)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.stem)
def test_medians_and_goals_of_the_report_are_what_the_page_shows(report, tmp_path):
    told = json.loads(report.read_text(encoding="utf-8"))
    template = tmp_path / "page"
    template.write_text("@MEASURED_PROCESSOR@\n@MEASURED_GOALS@\n", encoding="utf-8")
    done = page(template, report, REPORTS[1])
    assert done.returncode == 0, done.stderr
    rows = [row for measured in told["measurements"] if measured["name"] == "processor" for section in measured["sections"] for row in section["rows"]]
    shown = re.findall(r"^(python3|hotcelld|session) +([0-9.]+) ", done.stdout, re.M)
    assert [name for name, _ in shown] == [row["name"] for row in rows]
    assert all(abs(float(median) / row["median"] - 1) < 0.06 for (_, median), row in zip(shown, rows)), (shown, rows)
    assert done.stdout.count(" no\n") + done.stdout.count(" yes\n") == len(told["goals"])


def test_a_part_that_was_not_measured_is_an_error(tmp_path):
    template = tmp_path / "page"
    template.write_text("@MEASURED_SPEED@\n", encoding="utf-8")
    done = page(template, *REPORTS)
    assert done.returncode == 1 and "have no part @MEASURED_SPEED@" in done.stderr, done
