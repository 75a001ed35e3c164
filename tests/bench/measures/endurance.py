"""Many jobs for one hotcelld, over eight connections: does anything grow with their number? A failure if a job fails, or if descriptors,
mounts, cgroups or processes grow."""

import collections
import os
import time

import daemons
import load
from bench import houses
from bench.engine import Failed

NAME = "endurance"
TITLE = "Many jobs for one daemon"
LONG = True
SPEC = {"code": "pass", "tree": "base", "limits": {"timeout": 10, "memory": "256M"}}
TENANT = "bench"
CONFIG = {**houses.CONFIG, "tenants": {TENANT: {"uids": [os.geteuid()]}}}
KINDS = "manager", "front", "ledger", "worker", "zygote"
HOLDS = [*(f"{kind} {what}" for what in ("descriptors", "memory") for kind in KINDS), "processes", "mounts", "cgroups"]
STEPS = 20


def step(crowd, d, jobs):
    """A point of the curve: that many jobs more, and what is held after them."""
    statuses, begun = collections.Counter(), time.perf_counter()
    took = crowd.run(jobs, statuses)
    seconds = time.perf_counter() - begun
    if statuses != {"ok": jobs}:
        raise Failed(f"jobs ended as {dict(statuses)}")
    time.sleep(0.3)  # the cell that waits next is made
    held = load.watch(d, TENANT)
    return {"values": [jobs / seconds], "p50_ms": load.percentile(took, 50) * 1000, "p99_ms": load.percentile(took, 99) * 1000,
            **{name: held.get(name, 0) for name in HOLDS}}


def grown(first, last):
    return {name: last[name] - first[name] for name in HOLDS if "memory" not in name and last[name] > first[name]}


def curves(bench, points, about):
    memory = {name: [{"x": point["x"], "values": [point[name]]} for point in points] for name in HOLDS if "memory" in name}
    return [bench.curve("jobs per second", "jobs", "jobs per second", {"empty": points}, columns=["p50_ms", "p99_ms", *HOLDS], about=about,
                        logarithmic=False),
            bench.curve("memory of the daemon's processes", "jobs", "KiB", memory, about="Of their own, the most of each kind.",
                        logarithmic=False)]


def measure(bench):
    jobs, points = bench.asked.jobs, []
    each = max(1, jobs // STEPS)
    with daemons.Daemon(config=CONFIG) as d, load.Crowd(d.socket, load.request(SPEC), 8) as crowd:
        crowd.run(min(100, jobs))
        while not points or points[-1]["x"] + each <= jobs:
            points.append({**step(crowd, d, each), "x": each * (len(points) + 1)})
        if d.end() != 0:
            raise Failed(f"hotcelld: {d.log}")
    more = grown(points[0], points[-1])
    if more:
        raise Failed(f"grown: {more}")
    return curves(bench, points, "What the daemon's processes hold: descriptors, and KiB of memory.")
