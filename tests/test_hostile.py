"""The hostile corpus: what each program reaches in plain python3, and that it is held in a cell with all layers on.

Drill programs run in cells of root's and of an ordinary user's, under the default policy's kernel rules (the guard is
off) and under one that allows processes and loopback. What came out is written to build/hostile.md, as a report.
"""

import pytest

import cells
import hostile

DRILL = hostile.drill()
# A fault of a program's own must not look as if a cell had held it.
REFUSALS = ("OSError", "PermissionError", "FileNotFoundError", "ConnectionRefusedError", "ProcessLookupError",
            "NotADirectoryError", "FileExistsError", "gaierror", "nothing there")
# Of sockets where the policy gives some: the filter does not look at protocols and options yet.
NOT_YET = {"socket-filter", "socket-multipath", "socket-peek-buffers"}
POLICIES = {"closed": [], "open": ["--processes=fork", "--network=loopback"]}


@pytest.fixture(scope="module")
def lure():
    with hostile.lures(cells.ordinary()) as found:
        yield found


# ---- the programs' heads ----

def test_every_drill_program_says_what_it_is_and_what_holds_it():
    for name, program in DRILL.items():
        settings = program.settings
        assert set(settings) <= {"group", "held", "outside", "machine"}, name
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


@pytest.mark.parametrize("policy", POLICIES)
def test_a_drill_program_reaches_nothing_in_a_cell(user, policy, lure):
    found = hostile.batch(DRILL.values(), user, lure, *POLICIES[policy])
    hostile.record(f"{'root' if user.is_root else 'ordinary'}-{policy}", found)
    assert set(found) == set(DRILL)
    assert [outcome for outcome in found.values() if outcome.reached and outcome.name not in NOT_YET] == []
    assert [outcome for outcome in found.values()
            if outcome.held and not outcome.ended and not outcome.held.startswith(REFUSALS)] == []
