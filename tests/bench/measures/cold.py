"""From the command to its end: a program that prints a word, each time in a new process or a new cell. Peers run the same command as
plain python3. An interpreter with -I -S is nearer to a cell's, in that it looks for no packages of the host; it has none then."""

from bench import peers
from bench.engine import PYTHON, Failed, command, output

NAME = "cold"
TITLE = "Cold start"
LONG = False
PROGRAM = "print('hello')\n"
PLAIN = "python3"
OURS = "hotcell run"
BASE = "hotcell run -t base"
LEAST = "bubblewrap python3 -I -S"  # of an interpreter that reads no more at its start than a cell's does


def contenders(bench, program):
    hotcell = str(bench.hotcell)
    return {PLAIN: [PYTHON, str(program)],
            "python3 -I -S": [*peers.ISOLATED, str(program)],
            OURS: [hotcell, "run", str(program)],
            BASE: [hotcell, "run", "-t", "base", str(program)],
            "hotcell run --guard off": [hotcell, "run", "--guard", "off", str(program)],
            **peers.commands(bench, program, bench.memory, [PYTHON]),
            LEAST: peers.bubblewrap(str(program), str(bench.memory), peers.ISOLATED)}


def measure(bench):
    program = bench.write("hello.py", PROGRAM)
    known = contenders(bench, program)

    def tried(name):
        said = output(known[name])
        if said.strip() != "hello":
            raise Failed(f"it printed {said[:80]!r}")
    busy = {name: [] for name in known}
    held, skipped = bench.willing({name: command(words, busy=busy[name]) for name, words in known.items()}, tried)
    for name in (PLAIN, BASE):
        if name in skipped:
            raise Failed(f"{name}: {skipped[name]}")
    found = bench.rounds(held, bench.times(100), warmup=bench.times(3, 1))
    goals = {OURS: 0.75, BASE: 0.75}
    section = bench.comparison("A program that prints a word", found, base=PLAIN, goals=goals, skipped=skipped)
    for peer in ("bubblewrap", "firejail", LEAST):
        section["goals"].append(bench.goal(section["title"], found, OURS, (peer, 1.0), PLAIN))
    # bubblewrap does not wait for all that it starts, and the kernel counts what was waited for.
    return [bench.with_processor(section, {name: row for name, row in busy.items() if not name.startswith("bubblewrap")})]
