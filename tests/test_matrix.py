"""Layers of isolation one at a time: every escape and leak of src/drill, in cells that lack one layer, and in cells
that have one only. What is measured is written to a document, build/matrix.md.

These programs do what they can to a cell with holes in it: this runs in the test machine only, as root and as a user:

    make WEAK=1 B=build/weak
    scripts/vm -- /usr/bin/python3 -m pytest tests/test_matrix.py
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
        pytest.skip("attacks with layers off run in the test machine only: scripts/vm")
    weak.need_build()
    before, cells.HOTCELL = cells.HOTCELL, weak.HOTCELL
    yield
    cells.HOTCELL = before


@pytest.fixture(scope="module")
def lure(machine):
    with hostile.lures(cells.ordinary()) as found:
        yield found


@pytest.fixture(scope="module", params=["root", "ordinary"])
def search(request, lure):
    """Everything measured, for cells of root's or of an ordinary user's."""
    if request.param == "root":
        cells.need_root()
    user = cells.caller() if request.param == "root" else cells.ordinary()
    cells.need_cells(user)
    found = matrix.Search(user, lure)
    found.all(list(matrix.programs().values()))
    for column, outcomes in found.columns.items():
        matrix.record(request.param, column, outcomes)
    return found


def reached(outcomes):
    return {name for name, outcome in outcomes.items() if outcome.reached}


def test_every_program_was_tried_in_every_column(search):
    columns = [f"{layer} {kind}" for kind, layers in (("off", matrix.SINGLE), ("only", matrix.KERNEL))
               for layer in matrix.available(layers, search.user)]
    assert set(search.columns) == {"all on", "none on", *columns}
    assert {column: set(matrix.programs()) - set(found) for column, found in search.columns.items()
            if set(found) != set(matrix.programs())} == {}


def test_nothing_is_reached_with_all_layers_on(search):
    assert reached(search.columns["all on"]) == set()


def test_without_any_one_layer_nothing_is_reached_but_what_is_listed(search):
    """The list is of root's cells, of which the most can be switched off: there, a row that is not needed is an error, too."""
    found = {(layer, name) for layer in matrix.available(matrix.SINGLE, search.user)
             for name in reached(search.columns[f"{layer} off"])}
    listed = {(layer, name) for layer, names in matrix.single_layer().items() for name in names}
    assert found - listed == set()
    assert not search.user.is_root or listed - found == set()


def test_heads_name_the_layers_that_hold_a_program_alone(search):
    """For an ordinary user's cells, among these are always the user namespace and the ids."""
    always = matrix.ALWAYS | set(weak.ROOT_ONLY if not search.user.is_root else ())
    wrong = {}
    for name, program in matrix.programs().items():
        said = set(program.settings["held"].split()) - {"guard"}
        if said & always or not search.columns["none on"][name].reached:
            continue
        held = {layer for layer in matrix.available(matrix.KERNEL, search.user)
                if not search.columns[f"{layer} only"][name].reached}
        if held != said:
            wrong[name] = (sorted(said), sorted(held))
    assert wrong == {}
