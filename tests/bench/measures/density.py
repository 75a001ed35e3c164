"""How many cells can wait: memory that each further tenant's waiting cell takes, by what its processes have (PSS, and their page tables, which
PSS leaves out) and by what the host has left (MemAvailable), which counts what the kernel keeps for a cell, too."""

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
TENANTS = 100
MOST = 3 << 20  # KiB for 1,000 cells


def available():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))


def page_tables(pids):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("VmPTE:"))
    return total


def parked(d):
    return list(memory.parked(d))


def settled(d, request, uids):
    """Each of these tenants has jobs until a cell of its own waits; the number of cells that wait."""
    with load.Crowd(d.socket, request, 0, uids=uids) as crowd:
        deadline = time.monotonic() + cells.PATIENCE * 10
        while len(parked(d)) < len(uids):
            crowd.run(len(uids))
            if time.monotonic() > deadline:
                raise Failed(f"{len(parked(d))} cells wait, for {len(uids)} tenants: {d.get('/metrics').body.decode()}")
    time.sleep(1)  # nothing ends or begins any more
    return len(parked(d))


def measure(bench):
    if not cells.IS_ROOT:
        raise Lacking("needs root, who can be many tenants")
    most = 8 if bench.quick else TENANTS
    spec = {"code": warm.PROGRAMS["pandas"][0], "tree": "scientific"}
    with daemons.Daemon(config={**tenants.CONFIG, "warm": {"memory": "16G"}}) as d:
        few = settled(d, load.request(spec), range(tenants.FIRST, tenants.FIRST + 4))
        before = available()
        many = settled(d, load.request(spec), range(tenants.FIRST, tenants.FIRST + most))
        taken = (before - available()) / (many - few)
        of_each = [memory.total(cell)[0] + page_tables(cell) for cell in parked(d)]
        if d.end() != 0:
            raise Failed(f"hotcelld: {d.log}")
    found = {"PSS and page tables": of_each, "MemAvailable": [taken]}
    return [bench.comparison("each waiting cell with pandas", found, base="PSS and page tables", unit="KiB", scale=1,
                             about=f"{many} cells wait. By what the host has left, 1,000 of them take {taken * 1000 / (1 << 20):.1f} GiB.")]
