"""What each layer of isolation costs: cells of the weakened build (make WEAK=1 B=build/weak), which is for tests only, with all
layers, and with one of them switched off in turn."""

import statistics

import cells
import weak
from bench import engine
from bench.engine import Failed, Lacking, command, output, printed
from bench.measures import steady

NAME = "layers"
TITLE = "Cost per layer"
LONG = False
ALL = "all layers"
NONE = "none of them"
# What a program in the cell can feel at every call.
AT_WORK = ("seccomp", "landlock", "mount_flags", "guard")


def contenders(words, layers):
    """{name: (command, environment)}"""
    held = {ALL: (words, engine.environment())}
    for layer in layers:
        held[f"without {layer}"] = (words, engine.environment(**weak.without(layer)))
    held[NONE] = (words, engine.environment(**weak.without(*layers)))
    return held


def compare(bench, title, known, make, count, about):
    busy = {name: [] for name in known}

    def tried(name):
        output(*known[name])
    held, skipped = bench.willing({name: make(*found, busy[name]) for name, found in known.items()}, tried)
    if ALL in skipped:
        raise Failed(skipped[ALL])
    found = bench.rounds(held, count)
    section = bench.comparison(title, found, base=ALL, skipped=skipped, about=about)
    # Of the rounds, as both of a pair met the same machine.
    saved = {name: statistics.median(a - b for a, b in zip(found[ALL], row)) * 1000 for name, row in found.items()}
    return bench.with_processor(bench.with_column(section, "saves, ms", saved), busy)


def measure(bench):
    if not weak.HOTCELL.exists():
        raise Lacking(f"{weak.HOTCELL}: not built: make WEAK=1 B={weak.BUILD}")
    layers = [layer for layer in weak.LAYERS if cells.IS_ROOT or layer not in weak.ROOT_ONLY]
    hello = [weak.HOTCELL, "run", "-t", "base", bench.write("hello.py", "print('hello')\n")]
    files = [weak.HOTCELL, "run", "--tmp-files", "100000", "-t", "base", steady.program(bench, "files")]
    about = "Milliseconds that are saved without it: the median of the differences of the rounds."
    return [compare(bench, "start", contenders(hello, bench.chosen(layers, quick=("seccomp", "guard"))), command, bench.times(40, 1), about),
            compare(bench, "files", contenders(files, bench.chosen(AT_WORK, quick=("guard",))), printed, bench.times(12, 1),
                    f"Many small files, the program of the steady state. {about}")]
