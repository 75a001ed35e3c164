"""Ordinary programs, one file each in corpus/programs: a cell with the default policy prints what plain python3 prints.

The programs are what models write: the standard library module by module, and the scientific libraries. What they
print is deterministic; they write and read files in their working directory. Settings in a program's head:

    # difference: what a cell does otherwise, and why: the test then asserts that it still does
    # denials: which refusals go into the manifest although the program does not notice them, and why

Both are listed in corpus/programs/DIFFERENCES.md.
"""

import dataclasses
import difflib

import pytest

import cells
import corpora

PROGRAMS = corpora.programs("programs")


@dataclasses.dataclass
class Runs:
    plain: object
    cell: cells.Result

    def difference(self):
        lines = difflib.unified_diff(self.plain.stdout.splitlines(), self.cell.stdout.splitlines(), "python3", "cell",
                                     n=0, lineterm="")
        return "\n".join(lines)


def both(name):
    program, user = PROGRAMS[name], cells.ordinary()
    plain = corpora.outside(program.text, user, cells.new_directory(user))
    cell = cells.run(program.text, "--memory=1G", "--timeout=30s", "--stdout-size=4M", user=cells.caller(), policy="default",
                     tree=program.tree)
    return Runs(plain, cell)


@pytest.fixture(scope="module")
def runs(request, base_tree):
    cells.build_tree("scientific")
    return corpora.side_by_side(both, corpora.selected(request, "name"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_same_in_a_cell(name, runs):
    ran, settings = runs[name], PROGRAMS[name].settings
    if isinstance(ran, Exception):
        raise ran
    assert ran.plain.returncode == 0, ran.plain.stderr[-2000:]
    assert ran.plain.stdout, "a program that prints nothing compares nothing"
    same = ran.cell.manifest and ran.cell.manifest["status"] == "ok" and not ran.difference()
    assert same == ("difference" not in settings), f"{ran.cell}\n{ran.difference()}"
    if same:
        assert bool(ran.cell.manifest["denials"]) == ("denials" in settings), ran.cell.manifest["denials"]


def test_every_difference_is_described():
    described = (corpora.CORPUS / "programs" / "DIFFERENCES.md").read_text(encoding="utf-8")
    for name, program in PROGRAMS.items():
        for key in ("difference", "denials"):
            if key in program.settings:
                assert f"| {name} | {program.settings[key]} |" in described


def test_the_corpus_is_large_and_varied():
    assert len(PROGRAMS) >= 160
    assert sum(program.tree == "scientific" for program in PROGRAMS.values()) >= 40
