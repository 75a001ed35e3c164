"""Which layers of isolation hold each escape and leak of src/cell/doctor/attacks: run in cells of the weakened build, with one layer
off, and with only one on. Every program runs in a process of its own there, so that one that reaches something does
not change what the next one meets.

    tests/lib/matrix.py FOLDER     writes the list of what one layer alone holds, and what was measured into the heads of the
                                   programs ("# held:"); FOLDER is where the tests, run as root, left their columns
"""

import concurrent.futures
import dataclasses
import json
import os
import re
import shutil
import sys
import textwrap
from pathlib import Path

import cells
import corpora
import hostile
import weak

SINGLE_LIST = Path(__file__).resolve().parents[1] / "corpus" / "single-layer.md"
OUT = Path(os.environ.get("VM_OUT") or hostile.OUT) / "matrix"
# The guard is no wall, and would refuse every one of these programs by its text: it is off in all columns.
KERNEL = tuple(layer for layer in weak.LAYERS if layer != "guard")
# What no_new_privs is needed for cannot be on without it: with it alone off there is no cell.
SINGLE = tuple(layer for layer in KERNEL if layer != "no_new_privs")
ALWAYS = {"mount_namespace", "launcher", "network"}  # named in the heads of programs, and impossible to switch off

RUNNER = """
import json, os, signal
def main(kit, programs, lure, patience):
    def say(**line):
        os.write(1, (json.dumps(line) + "\\n").encode())
    def attack(name, text):
        reached = held = None
        try:
            exec(compile(text, name, "exec"), space)
            reached = space["attack"](lure)
        except BaseException as error:
            held = f"{type(error).__name__}: {error}"[:300]
        say(name=name, reached=reached, held=None if reached else held or "nothing there")
    space = {"__name__": "drill"}
    exec(compile(kit, "kit", "exec"), space)
    for name, text in programs:
        say(begin=name)
        child = os.fork()
        if child == 0:
            signal.alarm(patience)
            attack(name, text)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:  # had it said its line before, this one is passed over
            say(name=name, reached=None, held=f"its process ended: {os.waitstatus_to_exitcode(status)}")
"""


BATCH = 80  # programs in a cell
APART = {"signal-everybody"}  # means nothing here: whoever started it is somebody whom it may send signals to


def programs():
    """The programs that are tried, by name: the product's own, with HOTCELL_LONG=full also their variants."""
    every = os.environ.get("HOTCELL_LONG") == "full"
    return {name: program for name, program in hostile.drill().items()
            if name not in APART and (every or (hostile.DRILL / f"{name}.py").exists())}


def available(layers, user):
    """The layers that can be off: an ordinary user's cells always have some."""
    return tuple(layer for layer in layers if user.is_root or layer not in weak.ROOT_ONLY)


def run(programs, off, user, lure):
    """The outcome of each program in cells that lack `off`, by name."""
    left, found = list(programs), {}
    patience = int(2 * cells.SLOWNESS)
    while left:
        texts = [(program.name, program.text) for program in left]
        code = f"{RUNNER}\nmain(*json.loads({json.dumps([hostile.kit(), texts, lure, patience])!r}))\n"
        result = cells.run(code, "--processes=fork", "--timeout=60s", "--memory=512M", "--stdout-size=4M", user=user,
                           env=weak.without("guard", *off))
        ending = f"its cell ended: {result.manifest['status'] if result.manifest else result.stderr[-300:]}"
        new = hostile.parse(result.stdout, ending)
        assert new, f"no program started: {result!r}"
        assert {layer for layer, row in result.manifest["layers"].items()
                if row["evidence"] == weak.EVIDENCE} == {"guard", *off}
        found.update(new)
        left = [program for program in left if program.name not in found]
        shutil.rmtree(result.output, ignore_errors=True)
    return found


def columns(user):
    """Column -> the layers that are off in it. With HOTCELL_LONG=full there are columns for each layer alone, too."""
    kernel = available(KERNEL, user)
    found = {"all on": (), "none on": kernel, **{f"{layer} off": (layer,) for layer in available(SINGLE, user)}}
    if os.environ.get("HOTCELL_LONG") == "full":
        found.update({f"{layer} only": tuple(set(kernel) - {layer} - _needs([layer])) for layer in kernel})
    return found


def measure(user, lure):
    """Every program in every column: column -> program -> outcome."""
    every = list(programs().values())
    with concurrent.futures.ThreadPoolExecutor(corpora.WORKERS) as pool:
        parts = {pool.submit(run, every[at:at + BATCH], off, user, lure): column
                 for column, off in columns(user).items() for at in range(0, len(every), BATCH)}
        found = {}
        for future in concurrent.futures.as_completed(parts):
            column = parts[future]
            found.setdefault(column, {}).update(future.result())
            if len(found[column]) == len(every):
                keep("root" if user.is_root else "ordinary", column, found[column])
        return found


def _needs(layers):
    """The layers that have to be on so that these can be on."""
    return {name for name, needed_for in weak.NEEDED_FOR.items() if set(needed_for) & set(layers)}


# ---- the document ----

def keep(who, column, found):
    OUT.mkdir(exist_ok=True)
    _replace(OUT / f"{who}: {column}.json",
             json.dumps({program: dataclasses.asdict(outcome) for program, outcome in found.items()}, indent=1))


def write_document():
    """The matrix, of all columns that are kept."""
    _replace(OUT.parent / "matrix.md", "\n".join(document(load(OUT))) + "\n")


def load(folder):
    """(who, column) -> program -> outcome."""
    return {tuple(path.stem.split(": ")): json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(Path(folder).glob("*.json"))}


def _replace(path, text):
    """Several tests may do this at once."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def document(found):
    yield ("# Which layers hold each attack\n\n"
           "Every program of `src/cell/doctor/attacks`, in cells that lack one layer (`make WEAK=1`, tests/isolation/test_layer_matrix.py).\n\n"
           "* `!`: without this layer, with all others on, it is not held: no other layer holds it\n"
           "* empty: held without this layer as well, so that at least one other holds it\n"
           "* `+`: this layer holds it alone, with every other one off that can be off (measured on request only)\n"
           "* *always*: held with all of them off, too, by what cannot be off: the mount namespace, the launcher,\n"
           "  for an ordinary user's cells also the user namespace and the ids; or there is no such thing on this kernel")
    for who in sorted({who for who, _ in found}):
        layers = [layer for layer in KERNEL if {(who, f"{layer} off"), (who, f"{layer} only")} & set(found)]
        yield f"\n## Cells of {'root' if who == 'root' else 'an ordinary user'}\n"
        yield "| attack | all on | all off | " + " | ".join(layer.replace("_", " ") for layer in layers) + " |"
        yield "| --- " * (len(layers) + 3) + "|"
        for name in programs():
            marks = ["+" * holds(found, who, f"{layer} only", name) + "!" * reaches(found, who, f"{layer} off", name)
                     for layer in layers]
            always = holds(found, who, "none on", name)
            on = "REACHED" if reaches(found, who, "all on", name) else "held"
            yield "| " + " | ".join([name, on, "*always*" if always else "reached", *marks]) + " |"
        yield f"\n{len(programs())} attacks in {sum(w == who for w, _ in found)} kinds of cell."


def reaches(found, who, column, name):
    outcome = found.get((who, column), {}).get(name)
    return bool(outcome and outcome["reached"])


def holds(found, who, column, name):
    outcome = found.get((who, column), {}).get(name)
    return bool(outcome and not outcome["reached"])


# ---- what one layer alone holds ----

ORDINARY = ", in an ordinary user's cells"  # ends the heading of what is so there only


def single_layer(user):
    """The written list of it: layer -> names."""
    found = {}
    for line in SINGLE_LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            here = not user.is_root or not line.endswith(ORDINARY)
            names = found.setdefault(line[3:].removesuffix(ORDINARY), set()) if here else set()
        elif line.startswith("* "):
            names.update(line[2:].split())
    return found


def write_single(folder):
    """The list anew, with the reasons that it has. A layer that is new in it needs one first: without, nothing is written."""
    text, found = SINGLE_LIST.read_text(encoding="utf-8"), load(folder)
    head, *sections = text.split("\n## ")
    reasons = {section.split("\n")[0]: section.split("\n\n")[1] for section in sections}
    alone = {layer: [name for name in programs() if reaches(found, "root", f"{layer} off", name)] for layer in SINGLE}
    if missing := [layer for layer, names in alone.items() if names and not reasons.get(layer)]:
        sys.exit(f"{SINGLE_LIST}: say why these alone hold what they do, below a heading of their names: " +
                 "; ".join(f"{layer} ({' '.join(alone[layer])})" for layer in missing))
    for layer, names in alone.items():
        if names:
            head += f"\n## {layer}\n\n{reasons[layer]}\n\n"
            head += textwrap.fill(" ".join(names), 118, initial_indent="* ", subsequent_indent="* ", break_on_hyphens=False) + "\n"
    kept = [section for section in sections if section.split("\n")[0].endswith(ORDINARY)]
    SINGLE_LIST.write_text("\n## ".join([head, *(section.rstrip("\n") + "\n" for section in kept)]), encoding="utf-8")


# ---- the programs' heads ----

def measured(found, name):
    """The layers that hold it alone, in root's cells, where all can be off; the one that its head says answers first is first."""
    if holds(found, "root", "none on", name):
        return None
    said = hostile.drill()[name].settings["held"].split()
    if ("root", "seccomp only") in found:
        held = [layer for layer in KERNEL if holds(found, "root", f"{layer} only", name)]
    else:  # a layer without which it is not held is the only one; of others it is not known which they are
        held = [layer for layer in SINGLE if reaches(found, "root", f"{layer} off", name)] or said
    order = [*said, *KERNEL]
    return sorted(held, key=order.index)


def program_path(name):
    path = hostile.DRILL / f"{name}.py"
    return path if path.exists() else corpora.CORPUS / "drill" / f"{name}.py"


def write_heads(folder):
    found = load(folder)
    for name in programs():
        held = measured(found, name)
        path = program_path(name)
        text = path.read_text(encoding="utf-8")
        if held:
            path.write_text(re.sub(r"(?m)^# held: .*$", f"# held: {' '.join(held)}", text, count=1), encoding="utf-8")


if __name__ == "__main__":
    write_single(sys.argv[1])
    write_heads(sys.argv[1])
