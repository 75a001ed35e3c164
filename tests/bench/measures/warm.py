"""From the client's send to the last byte: a job in a cell that waits for it, beside plain python3, a new process each time, a cell
that is built for it, and an interpreter that has the libraries loaded and runs the program over and over with nothing around it."""

import os
import subprocess
import time

import load
from bench import engine, houses
from bench.engine import PYTHON, Failed, command

NAME = "warm"
TITLE = "Warm start"
LONG = False
DATA = "import pandas as pd\nframe = pd.DataFrame({'a': [1, 2, 3], 'b': [4.5, 5.5, 6.5]})\n"
PANDAS = DATA + "print(frame['a'].sum(), frame['b'].mean())\n"
TABLES = DATA + "print(frame.sum(), frame.mean())\n"
FIGURE = PANDAS + ("import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n"
                   "frame.plot()\nplt.savefig('figure.png')\nplt.close()\n")
# program: text, tree, rounds
PROGRAMS = {
    "empty": ("pass\n", "base", 150),
    "empty, libraries": ("pass\n", "scientific", 100),
    "pandas": (PANDAS, "scientific", 20),
    "pandas, tables": (TABLES, "scientific", 15),
    "pandas, figure": (FIGURE, "scientific", 8),
}
LOOP = """
import contextlib, io, sys, time
if sys.argv[1] == "scientific":
    import numpy, pandas, matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot
code = sys.argv[2]
for _ in sys.stdin:
    begun = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "<job>", "exec"), {"__name__": "__main__"})
    print(time.perf_counter() - begun, flush=True)
"""
PAUSE = 0.05  # between jobs, as somebody does who waits for one answer before the next question


class Loop:
    """An interpreter that has it all loaded."""

    def __init__(self, folder, code, tree):
        self.process = subprocess.Popen([PYTHON, "-c", LOOP, tree, code], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"the loop ended with {self.process.wait()}")
        return float(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def compare(bench, name):
    code, tree, count = PROGRAMS[name]
    spec = {"code": code, "tree": tree}
    path = bench.write("warm.py", code)
    output = bench.folder / "output"
    answers = []
    with houses.ready(spec) as d, Loop(bench.memory, code, tree) as loop, load.Crowd(d.socket, load.request(spec), 1) as crowd:
        env = engine.environment(HOTCELL_SOCKET=d.socket)

        def asked():
            time.sleep(PAUSE)
            return crowd.run(1, answers=answers)[0]

        def client():
            time.sleep(PAUSE)
            return warm()
        warm = command([bench.hotcell, "run", "--warm", "-t", tree, "-o", output, path], env)
        cold = houses.counted(d, "jobs_cold_total")
        found = bench.rounds({"python3": command([PYTHON, path]), "hotcell run": command([bench.hotcell, "run", "-t", tree, "-o", output, path]),
                              "hotcell run --warm": client, "hotcelld": asked, "loop": loop}, bench.times(count), warmup=2)
        if houses.counted(d, "jobs_cold_total") != cold:
            raise Failed("a job had its cell built for it")
    houses.check(answers)
    return bench.comparison(name, found, base="python3", about=code if "\n" in code.strip() else "A program that does nothing.")


def measure(bench):
    here = os.getcwd()
    os.chdir(bench.memory)  # plain programs leave their figure here
    try:
        return [compare(bench, name) for name in bench.chosen(PROGRAMS, quick=("empty",))]
    finally:
        os.chdir(here)
