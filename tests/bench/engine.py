"""Rounds: every contender is timed once in each, in an order that turns, so that what the machine does meanwhile meets them all.

    found = bench.rounds({"python3": command([...]), "hotcell": command([...])}, 100)   # {name: [seconds, ...]}
    bench.comparison("hello", found, base="python3", goals={"hotcell": 1.0})

A measurement (measures/*.py) has a NAME, a TITLE and measure(bench), which gives a list of sections: comparisons of contenders
(`comparison`) and lines over something (`curve`), and what is only told (`table`). stats.py says what is computed of the values, report.py and plots.py print them.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cells
from bench import stats

PYTHON = "/usr/bin/python3"
HERE = Path(__file__).resolve().parent
PATIENCE = 300  # seconds that one program may take


class Failed(Exception):
    """A measurement cannot be made: what was run did not do what it should."""


class Lacking(Exception):
    """A measurement is left out: this host lacks what it needs."""


def environment(**more):
    return {**os.environ, **{name: str(value) for name, value in more.items()}}


def spawn(command, env):
    """Seconds that a process takes from its start until it is reaped, and of processors, those it reaped itself included. What it prints
    goes nowhere."""
    null = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]
    begun = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, env, file_actions=null)
    _, status, usage = os.wait4(pid, 0)
    took = time.perf_counter() - begun
    if status:
        raise Failed(f"{' '.join(command)}: exit {os.waitstatus_to_exitcode(status)}")
    return took, usage.ru_utime + usage.ru_stime


def command(words, env=None, busy=None):
    """A contender: seconds of the whole process; those of processors go to `busy`."""
    words, env = [str(word) for word in words], env or environment()

    def once():
        took, used = spawn(words, env)
        if busy is not None:
            busy.append(used)
        return took
    return once


def output(words, env=None):
    """What it prints, or why it does not run."""
    try:
        done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env=env or environment(), timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(str(error)) from error
    if done.returncode:
        raise Failed(f"exit {done.returncode}: {first_line(done.stderr or done.stdout)}")
    return done.stdout


def first_line(text):
    return next((line.strip() for line in text.splitlines() if line.strip()), "and nothing said")


def printed(words, env=None, busy=None):
    """A contender: the seconds that its program prints in its last line; the processor's, which stand after them, go to `busy`."""
    words = [str(word) for word in words]

    def once():
        took, used = output(words, env).split()[-2:]
        if busy is not None:
            busy.append(float(used))
        return float(took)
    return once


class Bench:
    """One run of the benchmarks: what was asked for, a place to work in, and what was found."""

    def __init__(self, asked):
        self.asked = asked
        self.build = cells.BUILD
        self.hotcell = cells.HOTCELL
        self._folders = contextlib.ExitStack()
        self.folder = self._new_folder(None)
        # Memory is where a cell's /tmp is: a plain program gets the same, not a disk.
        self.memory = self._new_folder("/dev/shm") if os.path.isdir("/dev/shm") else self.folder

    def _new_folder(self, where):
        path = Path(tempfile.mkdtemp(prefix="hotcell-bench-", dir=where))
        path.chmod(0o755)
        self._folders.callback(shutil.rmtree, path, ignore_errors=True)
        return path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folders.close()
        cells.remove_scratch()

    @property
    def quick(self):
        return self.asked.quick

    def times(self, whole, quick=2):
        """How often: as often as it takes, or hardly."""
        return quick if self.quick else max(2, round(whole * self.asked.scale))

    def chosen(self, names, quick):
        return [name for name in names if not self.quick or name in quick]

    @property
    def steady_peers(self):
        """One that is there nearly everywhere stands for all in what takes long; and those that were asked for."""
        return {"bubblewrap", *dict(self.asked.peer)}

    def say(self, text):
        print(f"bench: {text}", file=sys.stderr, flush=True)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    # ---- rounds ----

    def rounds(self, contenders, count, warmup=1):
        found, names = {name: [] for name in contenders}, list(contenders)
        for number in range(-warmup, count):
            for name in names if number % 2 else reversed(names):
                try:
                    value = contenders[name]()
                except Failed as error:
                    raise Failed(f"{name}: {error}") from error
                if number >= 0:
                    found[name].append(value)
        return found

    def willing(self, contenders, tried):
        """Those that do what they should, and why the others do not: tried(name) raises Failed."""
        held, skipped = {}, {}
        for name, contender in contenders.items():
            try:
                tried(name)
                held[name] = contender
            except Failed as error:
                skipped[name] = str(error)
        return held, skipped

    # ---- sections ----

    def comparison(self, title, found, *, base, unit="ms", scale=1000.0, goals=None, skipped=None, about="", kept=True):
        """`goals`: {name: most that its median may be, as a ratio to the base's, or (other, most)}."""
        values = {name: [value * scale for value in row] for name, row in found.items()}
        rows = [{"name": name, **stats.summary(row), **stats.ratio(row, values[base]), **({"values": row} if kept else {})}
                for name, row in values.items()]
        wanted = [self.goal(title, values, name, goal, base) for name, goal in (goals or {}).items()]
        skips = [{"name": name, "reason": reason} for name, reason in (skipped or {}).items()]
        return {"kind": "comparison", "title": title, "about": about, "unit": unit, "base": base, "rows": rows, "goals": wanted,
                "skipped": skips}

    def with_processor(self, section, busy):
        """Beside the time by the clock that of processors, which others disturb less."""
        return self.with_column(section, "processor, ms", {name: stats.quartiles(row)[1] * 1000 for name, row in busy.items() if row})

    @staticmethod
    def with_column(section, column, values):
        """One more number for each contender."""
        for row in section["rows"]:
            row[column] = values.get(row["name"])
        section["columns"] = [*section.get("columns", []), column]
        return section

    @staticmethod
    def goal(title, values, name, goal, base):
        of, most = goal if isinstance(goal, tuple) else (base, goal)
        if name not in values or of not in values:
            return {"title": title, "name": name, "of": of, "at_most": most, "ratio": None, "met": None}
        found = stats.ratio(values[name], values[of])
        return {"title": title, "name": name, "of": of, "at_most": most, "met": found["ratio"] <= most, **found}

    @staticmethod
    def curve(title, x, y, lines, *, columns=(), about="", logarithmic=True, skipped=None):
        """`lines`: {name: [{"x": number, "values": [...], column: number, ...}]}"""
        told = [{"name": name, "points": [{**point, **stats.summary(point["values"])} for point in points]}
                for name, points in lines.items()]
        skips = [{"name": name, "reason": reason} for name, reason in (skipped or {}).items()]
        return {"kind": "curve", "title": title, "about": about, "x": x, "y": y, "columns": list(columns), "lines": told,
                "logarithmic": logarithmic, "goals": [], "skipped": skips}

    @staticmethod
    def table(title, rows, about=""):
        """`rows`: of the same members each."""
        return {"kind": "table", "title": title, "about": about, "rows": rows, "goals": [], "skipped": []}
