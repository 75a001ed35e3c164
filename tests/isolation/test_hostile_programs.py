"""The hostile corpus: what each program reaches in plain python3, and that it is held in a cell with all layers on.

Drill programs run in cells of root's and of an ordinary user's, under the default policy's kernel rules (the guard is
off) and under one that allows processes and loopback. What came out is written to build/hostile.md, as a report.
"""

import json
import os
import stat
from pathlib import Path

import pytest

import cells
import faults
import hostile
import leftovers

DRILL = hostile.drill()
ROUGH = hostile.rough()
# A fault of a program's own must not look as if a cell had held it.
REFUSALS = ("OSError", "PermissionError", "FileNotFoundError", "ConnectionRefusedError", "ProcessLookupError",
            "NotADirectoryError", "FileExistsError", "gaierror", "nothing there")
# Known to be reached under a policy, and why nothing holds it there.
NOT_HELD = {"closed": {}, "open": {"file-tree-lock-record": "several processes lock records among themselves, by the kernel"}}
POLICIES = {"closed": [], "open": ["--processes=fork", "--network=loopback"]}


@pytest.fixture(scope="module")
def lure():
    with hostile.lures(cells.ordinary()) as found:
        yield found
    hostile.write_report()


# ---- the programs' heads ----

def test_every_drill_program_says_what_it_is_and_what_holds_it():
    for name, program in hostile.all_drill().items():
        settings = program.settings
        assert set(settings) <= {"group", "held", "outside", "machine", "cell"}, name
        assert settings.get("cell", "small") in hostile.CELLS, name
        assert settings.get("machine", "x86_64") in ("x86_64", "aarch64"), name
        assert settings["group"] in hostile.DRILL_GROUPS, name
        held = settings["held"].split()
        assert held and set(held) <= hostile.LAYERS and len(set(held)) == len(held), name
        assert program.about.endswith("."), name
        assert "def attack(lure):" in program.text and "print(" not in program.text, name


def test_no_two_programs_are_the_same():
    bodies = [program.text.split("\n", 1)[1] for program in hostile.everything().values()]
    assert len(set(bodies)) == len(bodies)


# ---- drill programs ----

@pytest.mark.long
@pytest.mark.parametrize("group", sorted({program.settings["group"] for program in DRILL.values()}))
def test_a_drill_program_reaches_something_outside(group, lure):
    """Those that do not say in their head why they cannot."""
    programs = [program for program in DRILL.values() if program.settings["group"] == group]
    found = {program.name: hostile.outside(program, cells.ordinary(), lure) for program in programs}
    hostile.record(f"outside-{group}", found)
    assert [found[program.name] for program in programs
            if not found[program.name].reached and "outside" not in program.settings] == []
    assert [outcome for outcome in found.values()
            if outcome.held and not outcome.ended and not outcome.held.startswith(REFUSALS)] == []


@pytest.mark.skipif("HOTCELL_MACHINE" not in os.environ, reason="with root's rights only in the test machine")
def test_what_needs_root_outside_reaches_something_as_root(lure):
    cells.need_root()
    programs = [program for program in DRILL.values() if program.settings.get("outside") == "needs root"]
    found = {program.name: hostile.outside(program, cells.caller(), lure) for program in programs}
    hostile.record("outside-as-root", found)
    # Not all of it is in every kernel.
    assert [outcome for outcome in found.values()
            if not outcome.reached and "not implemented" not in outcome.held and "No such file" not in outcome.held] == []


@pytest.mark.parametrize("policy", POLICIES)
def test_a_drill_program_reaches_nothing_in_a_cell(user, policy, lure):
    found = hostile.batch(DRILL.values(), user, lure, *POLICIES[policy])
    hostile.record(f"{'root' if user.is_root else 'ordinary'}-{policy}", found)
    assert set(found) == set(DRILL)
    assert {outcome.name: outcome.reached for outcome in found.values() if outcome.reached and outcome.name not in NOT_HELD[policy]} == {}
    assert {name: found[name].held for name in NOT_HELD[policy] if not found[name].reached} == {}, "these are held by now"
    assert [outcome for outcome in found.values()
            if outcome.held and not outcome.ended and not outcome.held.startswith(REFUSALS)] == []


# ---- rough programs ----

EXIT = {"ok": 0, "error": 1, "rejected": 2, "timeout": 3, "cpu": 3, "memory": 3, "pids": 3, "output": 3, "killed": 3}
SMALL = 4 << 20


def check_files(result, count):
    assert len(result.listed()) == int(count)


def check_at_most(result, count):
    assert len(result.listed()) <= int(count)


def check_output_bytes(result, most):
    assert sum(entry["bytes"] for entry in result.manifest["files"]) <= int(most)


def check_skipped(result, words):
    assert any(words in reason for reason in result.skipped().values())


def check_truncated(result, stream):
    assert result.manifest[stream]["truncated"]


def check_stdout(result, words):
    assert words in result.manifest["stdout"]["text"]


def check_reason(result, words):
    assert words in result.manifest["reason"]


def check_error(result, kind):
    assert result.manifest["guest"]["error"]["type"] == kind


def check_denial(result, rule):
    assert rule in {denial["rule"] for denial in result.manifest["denials"]}


def check_partial(result, _):
    assert result.manifest["partial"]


def check_small(result, _):
    assert (result.output / "manifest.json").stat().st_size < SMALL


def check_no_controls(result, _):
    assert not [letter for letter in result.stdout if ord(letter) < 32 and letter != "\n" or 127 <= ord(letter) < 160]


def check_plain_modes(result, _):
    assert not [path for path in result.output.rglob("*") if path.lstat().st_mode & 0o6000]


def check_private(result, _):
    assert stat.S_IMODE(result.output.stat().st_mode) & 0o722 == 0o700


CHECKS = {name.removeprefix("check_").replace("_", "-"): check for name, check in list(globals().items())
          if name.startswith("check_")}


def wanted(program):
    """What its head says must be in the manifest: (check, argument), ..."""
    words = [word.strip().partition(" ") for word in program.settings.get("manifest", "").split(";") if word.strip()]
    return [(name, argument) for name, _, argument in words]


def test_every_rough_program_says_what_must_come_out():
    for name, program in ROUGH.items():
        settings = program.settings
        assert set(settings) <= {"group", "held", "status", "options", "manifest"}, name
        assert settings["group"] in hostile.HOSTILE_GROUPS and program.about.endswith("."), name
        assert set(settings["held"].split()) <= hostile.LAYERS and set(settings["status"].split()) <= set(EXIT), name
        assert {check for check, _ in wanted(program)} <= set(CHECKS), name


def no_secret(result, secret):
    """In nothing that came out. The files are looked at as they lie there, and nothing is followed."""
    assert secret not in result.stdout + result.stderr
    for folder, _, names in os.walk(result.output):
        for name in names:
            path = Path(folder, name)
            assert stat.S_ISREG(path.lstat().st_mode), path
            if path.stat().st_size < SMALL:
                assert secret.encode() not in path.read_bytes(), path


def one_manifest(result, job_id):
    path = result.output / "manifest.json"
    facts = path.lstat()
    assert stat.S_ISREG(facts.st_mode) and stat.S_IMODE(facts.st_mode) == 0o600
    kept = json.loads(path.read_text())
    assert kept["job_id"] == job_id and kept == result.manifest
    faults.VALIDATOR.validate(kept)


def note(name, user, result):
    came_out = f"{result.manifest['status']}: {result.manifest['reason']}" if result.manifest else "no manifest"
    hostile.record("root" if user.is_root else "ordinary", {name: hostile.Outcome(name, held=came_out)})


@pytest.mark.long
@pytest.mark.parametrize("name", ROUGH)
def test_a_rough_program_ends_as_it_must_and_leaves_nothing(user, name, lure, monkeypatch):
    monkeypatch.setitem(cells.BOUNDS, "--guard", "off")
    program, host = ROUGH[name], leftovers.Host(user)
    with host.start(program.text.replace("@FILE@", lure["file"]), *program.settings.get("options", "").split()) as job:
        result = job.finish()
        note(name, user, result)
        assert result.manifest and result.manifest["status"] in program.settings["status"].split(), result
        assert result.status == result.manifest["exit_code"] == EXIT[result.manifest["status"]], result
        for check, argument in wanted(program):
            CHECKS[check](result, argument)
        one_manifest(result, host.job_id)
        no_secret(result, lure["secret"])
        host.check(job)
