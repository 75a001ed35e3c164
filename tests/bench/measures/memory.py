"""Memory of one cell among several alike, in KiB: its processes' proportional set size (PSS), by which pages that several processes
share are divided among them, and what no other process has (private). What the launcher or the daemon holds is told apart."""

import select
import statistics
import subprocess
import time

import cells
import load
from bench import engine, houses, peers
from bench.engine import PYTHON, Failed, Lacking
from bench.measures import warm

NAME = "memory"
TITLE = "Memory per cell"
LONG = False
TOGETHER = 4
READY = "print('ready', flush=True)\nimport time\ntime.sleep(3600)\n"
# A running program: what it has loaded, and its tree
PROGRAMS = {"running, nothing loaded": ("", "base"), "running, numpy": ("import numpy\n", "scientific"),
            "running, pandas and a figure": (warm.FIGURE.replace("plt.savefig('figure.png')\nplt.close()\n", ""), "scientific")}
IDLE = {"waiting, base": ("empty", "base"), "waiting, libraries": ("empty, libraries", "scientific")}


def rollup(pid):
    """KiB: (PSS, private)"""
    fields = {}
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        for row in file:
            name, _, rest = row.partition(":")
            if rest.endswith("kB\n"):
                fields[name] = int(rest.split()[0])
    return fields["Pss"], fields["Private_Clean"] + fields["Private_Dirty"]


def total(pids):
    each = [rollup(pid) for pid in pids]
    return [sum(column) for column in zip(*each)]


def descendants(pid):
    found = []
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        for child in file.read().split():
            found += [int(child), *descendants(child)]
    return found


def started(words, env):
    """A process that has said that it is ready."""
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
    said = ""
    while "ready" not in said:  # libraries may print before
        if not select.select([process.stdout], [], [], cells.PATIENCE)[0]:
            process.kill()
        line = process.stdout.readline().decode()
        if not line:
            raise Failed(f"{words[0]}: exit {process.wait()}")
        said += line
    return process


def group(words, env, own):
    """[(PSS, private)] of so many alike that run at once; `own`: does the process that was started belong to it?"""
    running = []
    try:
        for _ in range(TOGETHER):
            running.append(started(words, env))
        return [total([process.pid] * own + descendants(process.pid)) for process in running], [rollup(process.pid) for process in running]
    finally:
        for process in running:
            process.terminate()
            process.wait()
            process.stdout.close()


def running(bench, name):
    loaded, tree = PROGRAMS[name]
    path = bench.write("memory.py", loaded + READY)
    env = engine.environment(MPLBACKEND="Agg")
    bubblewrap = peers.bubblewrap(str(path), str(bench.memory), [PYTHON])
    contenders = {"python3": ([PYTHON, path], True), "bubblewrap": (bubblewrap, False),
                  "hotcell run": ([bench.hotcell, "run", "-t", tree, path], False)}
    found, private, launcher, skipped = {}, {}, None, {}
    for who, (words, own) in contenders.items():
        try:
            rows, starters = group(words, env, own)
        except (Failed, OSError) as error:
            if who != "bubblewrap":
                raise Failed(f"{who}: {error}") from error
            skipped[who] = str(error)
            continue
        found[who], private[who] = [pss for pss, _ in rows], statistics.median(own_pages for _, own_pages in rows)
        if who == "hotcell run":
            launcher = statistics.median(pss for pss, _ in starters)
    section = bench.comparison(name, found, base="python3", unit="KiB", scale=1, skipped=skipped,
                               about=f"PSS, {TOGETHER} alike at once. The launcher beside each cell, hotcell, has {launcher:.0f} KiB.")
    return bench.with_column(section, "private", private)


def parked(d):
    """Cells that wait: their first processes, children of zygotes, which are children of a cell's first one; and their children."""
    for worker in d.named("worker"):
        for outer in d.children(worker):
            for zygote in d.children(outer):
                yield from ([first, *d.children(first)] for first in d.children(zygote))


def idle(bench):
    found, private, told = {}, {}, []
    for name in bench.chosen(IDLE, quick=("waiting, base",)):
        program, tree = IDLE[name]
        spec = {"code": warm.PROGRAMS[program][0], "tree": tree}
        with houses.ready(spec) as d:
            with load.Crowd(d.socket, load.request(spec), 1) as crowd:
                crowd.run(10)
            houses.await_cells(d)
            time.sleep(1)  # the number of cells that is told may be of a moment ago
            rows = [total(cell) for cell in parked(d)]
            if not rows:
                raise Failed("no cell waits")
            rest = total([d.pid, *d.children()])[0]
            zygote = statistics.median(rollup(pid)[0] for pid in d.zygotes())
        found[name], private[name] = [pss for pss, _ in rows], statistics.median(own for _, own in rows)
        told.append(f"{name}: hotcelld {rest:.0f} KiB in all, each zygote {zygote:.0f} KiB")
    section = bench.comparison("waiting cells", found, base="waiting, base", unit="KiB", scale=1, about=f"PSS. {'; '.join(told)}.")
    return bench.with_column(section, "private", private)


def measure(bench):
    if not cells.IS_ROOT:
        raise Lacking("needs root, who may see other users' memory")
    return [idle(bench), *(running(bench, name) for name in bench.chosen(PROGRAMS, quick=("running, nothing loaded",)))]
