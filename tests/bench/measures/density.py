"""How many cells can wait: memory that each further tenant's waiting cell takes, by what its processes share with no other (private pages, and
their page tables) and by what the host has left (MemAvailable), which counts what the kernel keeps for a cell, too. The cells of the tenants
that asked last have more, as they have copied what jobs write to; there are as many of them for a few tenants as for many."""

import time

import cells
import daemons
import load
from bench import houses
from bench.engine import Failed, Lacking
from bench.measures import memory, tenants, warm

NAME = "density"
TITLE = "Cells that wait"
LONG = False
FEW, TENANTS = 24, 1000  # each tenant has one waiting cell at least, and one for each worker at most
AT_ONCE = 100  # tenants that have a connection at a time
MOST = 3 << 20  # KiB for 1,000 cells
IN_USE = 11  # seconds after which no cell is made or prepares any more, as none was asked for lately
GOAL = "3 GiB for 1,000"


def available():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))


def page_tables(pids):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("VmPTE:"))
    return total


def settled(d, request, uids, pause):
    """Each of these tenants has jobs until a cell of its own waits; the number of cells that wait."""
    deadline = time.monotonic() + cells.PATIENCE * 10
    while houses.counted(d, "warm_cells ") < len(uids):
        for start in range(0, len(uids), AT_ONCE):
            some = uids[start:start + AT_ONCE]
            with load.Crowd(d.socket, request, 0, uids=some) as crowd:
                crowd.run(len(some))
        if time.monotonic() > deadline:
            raise Failed(f"not all of {len(uids)} tenants have a cell: {d.get('/metrics').body.decode()}")
    time.sleep(pause)
    return len(list(memory.parked(d)))


def measure(bench):
    if not cells.IS_ROOT:
        raise Lacking("needs root, who can be many tenants")
    fewest, most, pause = (4, 12, 1) if bench.quick else (FEW, TENANTS, IN_USE)
    name = "empty" if bench.quick else "pandas"
    code, tree, _ = warm.PROGRAMS[name]
    request = load.request({"code": code, "tree": tree})
    with daemons.Daemon(config={**tenants.CONFIG, "warm": {"memory": "16G", "cells": 100000}}) as d:  # no interpreter is replaced meanwhile
        few = settled(d, request, range(tenants.FIRST, tenants.FIRST + fewest), pause)
        before = available()
        many = settled(d, request, range(tenants.FIRST, tenants.FIRST + most), pause)
        if many <= few:
            raise Failed(f"{many} cells wait for {most} tenants, and {few} for {fewest}")
        taken = (before - available()) / (many - few)
        of_each = [memory.total(cell)[1] + page_tables(cell) for cell in memory.parked(d)]
        if d.end() != 0:
            raise Failed(f"hotcelld: {d.log}")
    found = {"private": of_each, "MemAvailable": [taken], GOAL: [MOST / 1000]}
    return [bench.comparison(f"{name}: each waiting cell", found, base="private", unit="KiB", scale=1,
                             goals={"MemAvailable": (GOAL, 1.0)},
                             about=f"{many} cells wait. By what the host has left, 1,000 of them take {taken * 1000 / (1 << 20):.1f} GiB.")]
