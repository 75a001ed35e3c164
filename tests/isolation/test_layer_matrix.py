"""Layers of isolation one at a time: every escape and leak of src/cell/doctor/attacks, in cells that lack one layer, and in cells
that have one only. What is measured is written to a document, build/matrix.md.

These programs do what they can to a cell with holes in it: this runs in the test machine only, as root and as a user:

    make WEAK=1 B=build/weak
    scripts/vm -- /usr/bin/python3 -m pytest tests/isolation/test_layer_matrix.py
"""

import os

import pytest

import cells
import hostile
import matrix
import weak

GUARD = "off"

@pytest.fixture(scope="module", autouse=True)
def machine():
    if not os.environ.get("HOTCELL_MACHINE"):
        cells.machines("attacks with layers off run in the test machine only: scripts/vm")
    weak.need_build()
    before, cells.HOTCELL = cells.HOTCELL, weak.HOTCELL
    yield
    cells.HOTCELL = before


@pytest.fixture(scope="module")
def lure(machine):
    with hostile.lures(cells.ordinary()) as found:
        yield found


@pytest.fixture(scope="module", params=["root", "ordinary"])
def user(request, machine):
    if request.param == "root":
        cells.need_root()
    user = cells.caller() if request.param == "root" else cells.ordinary()
    cells.need_cells(user)
    return user


@pytest.fixture(scope="module")
def measured(user, lure):
    """Column -> program -> outcome."""
    found = matrix.measure(user, lure)
    matrix.write_document()
    return found


def reached(outcomes):
    return {name for name, outcome in outcomes.items() if outcome.reached}


def test_every_program_was_tried_in_every_column(user, measured):
    assert set(measured) == set(matrix.columns(user))
    assert {column: set(matrix.programs()) - set(found) for column, found in measured.items()
            if set(found) != set(matrix.programs())} == {}


def test_nothing_is_reached_with_all_layers_on(measured):
    assert reached(measured["all on"]) == set()


def test_most_attacks_reach_something_with_all_layers_off(measured):
    """Else it would mean nothing that they are held with one of them off."""
    assert len(reached(measured["none on"])) > len(matrix.programs()) / 2


def test_without_any_one_layer_nothing_is_reached_but_what_is_listed(user, measured):
    """The list is of root's cells, of which the most can be switched off: there, a row that is not needed is an error, too."""
    found = {(layer, name) for layer in matrix.available(matrix.SINGLE, user)
             for name in reached(measured[f"{layer} off"])}
    listed = {(layer, name) for layer, names in matrix.single_layer(user).items() for name in names}
    assert found - listed == set()
    assert not user.is_root or listed - found == set()


def test_heads_name_the_only_layer_that_holds_a_program(user, measured):
    """A program whose head names another layer as well would be held without this one."""
    wrong = {}
    for layer in matrix.available(matrix.SINGLE, user):
        for name in reached(measured[f"{layer} off"]):
            said = set(matrix.programs()[name].settings["held"].split()) - {"guard"}
            if user.is_root and said != {layer}:
                wrong[name] = (layer, sorted(said))
    assert wrong == {}
