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


def measured(told, name):
    return next(row for row in told["measurements"] if row["name"] == name)


def quick(told):
    told["quick"] = True


def of_another_version(told):
    told["version"] = 2


def without_machine(told):
    del told["machine"]


def without_points(told):
    for section in measured(told, "throughput")["sections"]:
        for line in section["lines"]:
            line["points"] = []


def changed(tmp_path, change):
    """A report, and a template that shows it."""
    told = json.loads(REPORTS[0].read_text(encoding="utf-8"))
    change(told)
    report, template = tmp_path / "report.json", tmp_path / "page"
    report.write_text(json.dumps(told), encoding="utf-8")
    template.write_text("@MEASURED_MACHINE@\n@MEASURED_GOALS@\n@MEASURED_COLD@\n@MEASURED_THROUGHPUT@\n", encoding="utf-8")
    return page(template, report, REPORTS[1])


@pytest.mark.parametrize("change, said", [
    (quick, "a quick run, whose numbers mean nothing"),
    (of_another_version, "version 1 of a report of tests/bench/run is expected, not 2"),
    (without_machine, "not as tests/bench/report.schema.json has it: KeyError: 'machine'"),
    (without_points, "measurement 'throughput': 'warm jobs' has no values"),
])
def test_a_report_that_cannot_be_shown_is_refused_with_the_reason(change, said, tmp_path):
    done = changed(tmp_path, change)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1) and said in done.stderr, done


@pytest.mark.parametrize("text, said", [(None, "No such file or directory"), ("[]", "not None"), ("{", "no report: ")])
def test_a_file_that_is_no_report_is_refused_with_the_reason(text, said, tmp_path):
    if text:
        (tmp_path / "report.json").write_text(text, encoding="utf-8")
    done = page(tmp_path / "page", tmp_path / "report.json", REPORTS[1])
    assert done.returncode == 1 and done.stderr.startswith("measured.py: ") and said in done.stderr, done


def test_a_measurement_that_failed_is_on_the_page_with_its_reason(tmp_path):
    def failed(told):
        measured(told, "cold").update(failed="python3: exit 1", sections=[])
    done = changed(tmp_path, failed)
    assert done.returncode == 0 and "\nNot measured: python3: exit 1\n" in done.stdout, done


def test_what_a_peer_is_called_or_says_is_no_request_to_the_formatter(tmp_path):
    def named(told):
        section = measured(told, "cold")["sections"][0]
        section["rows"][0]["name"] = ".de\\fB"
        section["skipped"] = [{"name": "'quote", "reason": "a\n.Sh b\\c"}]
    done = changed(tmp_path, named)
    assert done.returncode == 0, done
    assert "\n\\&.de\\efB " in done.stdout and "\nNot measured: \\&'quote, a .Sh b\\ec\n" in done.stdout, done.stdout


def test_a_goal_that_was_missed_by_a_hair_is_told_from_what_it_is(tmp_path):
    def missed(told):
        told["goals"] = [{**told["goals"][0], "at_most": 1.02, "ratio": 1.02001, "met": False}]
    assert re.search(r" 1\.02000 +1\.02001 +no$", changed(tmp_path, missed).stdout, re.M)


@pytest.mark.parametrize("text", [" @MEASURED_COLD@\n", "@MEASURED_COLD@ and more\n"])
def test_a_part_that_is_no_line_of_its_own_is_an_error(text, tmp_path):
    (tmp_path / "page").write_text(text, encoding="utf-8")
    done = page(tmp_path / "page", *REPORTS)
    assert done.returncode == 1 and "@MEASURED_COLD@ is not a line of its own" in done.stderr, done


def test_what_is_told_of_the_second_report_is_with_its_goals():
    """A page that shows where a goal was met shows also where it was missed."""
    template = (SOURCES / "man" / "hotcell-bench.7.in").read_text(encoding="utf-8").splitlines()
    told = json.loads(REPORTS[1].read_text(encoding="utf-8"))
    assert {"@OTHER_GOALS@", *(f"@OTHER_{row['name'].upper()}@" for row in told["measurements"])} <= set(template)


def test_a_part_that_was_not_measured_is_an_error(tmp_path):
    template = tmp_path / "page"
    template.write_text("@MEASURED_SPEED@\n", encoding="utf-8")
    done = page(template, *REPORTS)
    assert done.returncode == 1 and "have no part @MEASURED_SPEED@" in done.stderr, done
