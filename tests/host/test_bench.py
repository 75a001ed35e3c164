"""The benchmarks, hardly any rounds of each: they run, and report what they say they do. No time is asserted."""

import json
import os
import subprocess
import sys

import jsonschema
import pytest

import cells

RUN = cells.Path(__file__).resolve().parents[1] / "bench" / "run"
SCHEMA = json.loads((RUN.parent / "report.schema.json").read_text())
PNG = b"\x89PNG\r\n"


def bench(*words, check=0):
    """Started as a user would; what it says on standard error."""
    done = subprocess.run([sys.executable, RUN, *map(str, words)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          cwd=cells.scratch(), env={**os.environ, "HOTCELL_BUILD": str(cells.BUILD)}, timeout=cells.PATIENCE * 3)
    assert done.returncode == check, done.stderr
    return done


def report(where, *words):
    """Of one run; as its schema has it."""
    bench("--quick", "-o", where, *words)
    told = json.loads((where / "report.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(told)
    return told


def sections(told, name):
    return next(measured["sections"] for measured in told["measurements"] if measured["name"] == name)


def rounds_are_compared(told):
    section, = sections(told, "cold")
    rows = {row["name"]: row for row in section["rows"]}
    assert {"python3", "hotcell run -t base", "itself"} <= rows.keys()
    assert {row["n"] for row in rows.values()} == {2} == {len(row["values"]) for row in rows.values()}
    assert rows["python3"]["ratio"] == 1
    assert rows["itself"]["ratio"] == pytest.approx(rows["itself"]["median"] / rows["python3"]["median"])


def absent_peer_is_named(told):
    for name in ("cold", "steady"):
        for section in sections(told, name):
            reasons = {row["name"]: row["reason"] for row in section["skipped"]}
            assert "no-such-sandbox" in reasons["absent"], section["title"]


def goals_are_judged(told):
    goal = next(goal for goal in told["goals"] if (goal["measurement"], goal["name"], goal["of"]) == ("cold", "hotcell run -t base", "python3"))
    assert goal["met"] == (goal["ratio"] <= goal["at_most"])


def pictures_stand_beside(told, where):
    text = (where / "report.md").read_text()
    for measured in told["measurements"]:
        assert measured["sections"] or measured["left_out"], measured
        for section in measured["sections"]:
            assert f"]({section['plot']})" in text
            assert (where / section["plot"]).read_bytes().startswith(PNG)


def programs_time_themselves(told):
    assert [section["title"] for section in sections(told, "steady")] == ["python", "files"]
    for section in sections(told, "steady"):
        assert {"python3", "hotcell run", "hotcell run --guard off"} <= {row["name"] for row in section["rows"]}


def connections_are_counted(told):
    line, = sections(told, "throughput")[0]["lines"]
    assert [point["x"] for point in line["points"]] == [1, 8]
    assert all(point["median"] > 0 for point in line["points"])


def test_all_measurements_are_made_and_reported(base_tree):
    """One run for all that is looked at, with a sandbox that is none and one that there is not."""
    where = cells.new_directory(cells.caller())
    told = report(where, "--peer", "itself={python} {program}", "--peer", "absent=no-such-sandbox {program}")
    rounds_are_compared(told)
    absent_peer_is_named(told)
    goals_are_judged(told)
    pictures_stand_beside(told, where)
    programs_time_themselves(told)
    connections_are_counted(told)


@pytest.mark.parametrize("words, said", [
    (["warp"], "there is no measurement warp: one of cold,"),
    (["--peer", "nsjail"], "'nsjail' is not NAME=COMMAND"),
    (["--peer", "nsjail='{program}"], "nsjail='{program}\": No closing quotation"),
    (["--peer", "hotcell run={python} {program}"], "'hotcell run' is measured anyway"),
    (["--peer", "bubblewrap={python} {program}"], "'bubblewrap' is measured anyway"),
    (["--peer", "a=true {program}", "--peer", "a=false {program}"], "a is given twice"),
    (["warm", "--peer", "a=true {program}"], "none is measured in warm, only in cold and steady"),
    (["--scale", "0"], "--scale: more than 0"),
    (["--scale", "nan"], "--scale: more than 0"),
    (["--most", "9"], "--most: at least 10"),
])
def test_what_cannot_be_measured_is_said_before_anything_runs(words, said, base_tree):
    assert said in bench(*words, check=64).stderr


def test_a_report_that_cannot_be_written_is_said_before_anything_runs(base_tree):
    where = cells.new_directory(cells.caller()) / "file"
    where.touch()
    assert bench("cold", "--quick", "-o", where, check=1).stderr == f"bench: {where}: File exists\n"


@pytest.mark.skipif(not cells.IS_ROOT, reason="needs root, who can make cgroups")
def test_a_run_that_is_broken_off_leaves_no_cgroup(base_tree):
    """Also if what was started in it has not ended yet."""
    where = cells.new_directory(cells.caller())
    run = subprocess.Popen([sys.executable, RUN, "processor", "--quick", "-o", where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env={**os.environ, "HOTCELL_BUILD": str(cells.BUILD)})
    groups = [top / f"hotcell-bench-{run.pid}" for top in (cells.Path("/sys/fs/cgroup/cpuacct"), cells.Path("/sys/fs/cgroup"))]

    def busy():
        return any(len((group / "cgroup.procs").read_text().split()) > 3 for group in groups if group.exists())
    try:
        cells.wait_until("a daemon in the cgroup", busy)
        run.terminate()
        assert run.wait(cells.PATIENCE) == 128 + 15
    finally:
        run.kill()
        run.wait()
    assert not any(group.exists() for group in groups)


def test_all_measurements_are_listed(base_tree):
    names = [line.split()[0] for line in bench("--list").stdout.splitlines()]
    assert names[:4] == ["cold", "warm", "processor", "throughput"]
    assert "soak" in names
