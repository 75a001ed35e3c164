"""The benchmarks, hardly any rounds of each: they run, and report what they say they do. No time is asserted."""

import json
import os
import subprocess
import sys

import jsonschema
import pytest

import cells

RUN = cells.Path(__file__).resolve().parent / "bench" / "run"
SCHEMA = json.loads((RUN.parent / "report.schema.json").read_text())
PNG = b"\x89PNG\r\n"


def bench(*words, check=0):
    """Started as a user would; what it says on standard error."""
    done = subprocess.run([sys.executable, RUN, *map(str, words)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          cwd=cells.scratch(), env={**os.environ, "HOTCELL_BUILD": str(cells.BUILD)}, timeout=cells.PATIENCE * 3)
    assert done.returncode == check, done
    return done


@pytest.fixture(scope="module")
def report(base_tree):
    """One run for all of these, with a sandbox that is none and one that there is not."""
    where = cells.new_directory(cells.caller())
    bench("--quick", "--peer", "itself={python} {program}", "--peer", "absent=no-such-sandbox {program}",
          "-o", where)
    told = json.loads((where / "report.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(told)
    return told, where


def sections(told, name):
    return next(measured["sections"] for measured in told["measurements"] if measured["name"] == name)


def test_contenders_of_a_measurement_are_compared_in_as_many_rounds_each(report):
    section, = sections(report[0], "cold")
    rows = {row["name"]: row for row in section["rows"]}
    assert {"python3", "hotcell run", "itself"} <= rows.keys()
    assert {row["n"] for row in rows.values()} == {2} == {len(row["values"]) for row in rows.values()}
    assert rows["python3"]["ratio"] == 1
    assert rows["hotcell run"]["ratio"] == pytest.approx(rows["hotcell run"]["median"] / rows["python3"]["median"])


def test_a_peer_that_does_not_run_here_is_named_with_the_reason(report):
    for name in ("cold", "steady"):
        for section in sections(report[0], name):
            reasons = {row["name"]: row["reason"] for row in section["skipped"]}
            assert "no-such-sandbox" in reasons["absent"], section["title"]


def test_a_goal_says_what_was_found_and_whether_that_is_enough(report):
    goal = next(goal for goal in report[0]["goals"] if goal["measurement"] == "cold" and goal["of"] == "python3")
    assert goal["met"] == (goal["ratio"] <= goal["at_most"])


def test_each_section_has_its_picture_beside_the_report(report):
    told, where = report
    text = (where / "report.md").read_text()
    for measured in told["measurements"]:
        assert measured["sections"] or measured["left_out"]
        for section in measured["sections"]:
            assert f"]({section['plot']})" in text
            assert (where / section["plot"]).read_bytes().startswith(PNG)


def test_a_program_times_itself_in_each_contender(report):
    titles = [section["title"] for section in sections(report[0], "steady")]
    assert titles == ["python", "files"]
    for section in sections(report[0], "steady"):
        assert {"python3", "hotcell run", "hotcell run --guard off"} <= {row["name"] for row in section["rows"]}


def test_warm_jobs_are_counted_for_each_number_of_connections(report):
    line, = sections(report[0], "throughput")[0]["lines"]
    assert [point["x"] for point in line["points"]] == [1, 8]
    assert all(point["median"] > 0 for point in line["points"])


@pytest.mark.parametrize("words, said", [
    (["warp"], "there is no measurement warp: one of cold,"),
    (["--peer", "nsjail"], "'nsjail' is not NAME=COMMAND"),
    (["--scale", "0"], "--scale: more than 0"),
])
def test_what_cannot_be_measured_is_said_before_anything_runs(words, said, base_tree):
    assert said in bench(*words, check=64).stderr


def test_all_measurements_are_listed(base_tree):
    names = [line.split()[0] for line in bench("--list").stdout.splitlines()]
    assert names[:3] == ["cold", "warm", "throughput"]
    assert "soak" in names
