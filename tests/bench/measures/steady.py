"""Work that goes on: the same program in plain python3 and in cells, timed by itself, so that its start does not count. All of
them write to memory: a cell's /tmp is."""

from bench import engine, peers
from bench.engine import PYTHON, Failed, output, printed

NAME = "steady"
TITLE = "Steady-state overhead"
LONG = False
PLAIN = "python3"
OURS = "hotcell run"
# program: its tree, what it does, the most that it may take of plain python3's time
PROGRAMS = {
    "python": ("base", "Pure Python: objects, attributes, calls, loops", 1.02),
    "numpy": ("scientific", "numpy: products of matrices, singular values, sorting, FFT", 1.02),
    "pandas": ("scientific", "pandas: groups of 200,000 rows", 1.02),
    "io": ("base", "Input and output by system calls: records of 4 KiB written, sought, read; fstat, stat", 1.10),
    "files": ("base", "Many small files: written, read, listed, renamed, removed", None),
}
TIMED = """
import time
work()
begun, used = time.perf_counter(), time.process_time()
work()
print(f"{time.perf_counter() - begun:.6f} {time.process_time() - used:.6f}")
"""


def program(bench, name):
    text = (engine.HERE / "programs" / f"{name}.py").read_text(encoding="utf-8")
    return bench.write(f"steady-{name}.py", text + TIMED)  # not what "import numpy" would find


def contenders(bench, path, tree):
    run = [bench.hotcell, "run", "--tmp-files", "100000", "-t", tree]
    plain = [PYTHON, "-I"] if tree == "scientific" else peers.ISOLATED
    return {PLAIN: [*plain, path], OURS: [*run, path], "hotcell run --guard off": [*run, "--guard", "off", path],
            **{name: words for name, words in peers.commands(bench, path, bench.memory, plain).items() if name in bench.steady_peers}}


def compare(bench, name):
    tree, about, goal = PROGRAMS[name]
    path = program(bench, name)
    known = contenders(bench, path, tree)
    env = engine.environment(TMPDIR=bench.memory, PYTHONDONTWRITEBYTECODE=1)

    busy = {who: [] for who in known}

    def tried(who):
        try:
            float(output(known[who], env).split()[-1])
        except (ValueError, IndexError) as error:
            raise Failed("it did not print its time") from error
    held, skipped = bench.willing({who: printed(words, env, busy[who]) for who, words in known.items()}, tried)
    for who in (PLAIN, OURS):
        if who in skipped:
            raise Failed(f"{who}: {skipped[who]}")
    found = bench.rounds(held, bench.times(21, 1), warmup=0)
    section = bench.comparison(name, found, base=PLAIN, goals={OURS: goal} if goal else {}, skipped=skipped, about=about)
    return bench.with_processor(section, busy)


def measure(bench):
    return [compare(bench, name) for name in bench.chosen(PROGRAMS, quick=("python", "files"))]
