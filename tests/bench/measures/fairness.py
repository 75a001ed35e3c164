"""What a tenant with one job at a time waits, alone and beside another one whose queue is never empty."""

import threading

import cells
import daemons
import load
from bench import houses, stats
from bench.engine import Failed, Lacking

NAME = "fairness"
TITLE = "Beside a busy tenant"
LONG = False
FLOOD, QUIET = 61501, 61502
SPEC = {"code": "sum(range(300_000))", "tree": "base", "limits": {"timeout": 10, "memory": "256M"}}
CONFIG = {**houses.CONFIG, "socket": {"mode": "0666"}, "quotas": {"queued": 10000, "running": houses.CONFIG["workers"]}}


def measure(bench):
    if not cells.IS_ROOT:
        raise Lacking("needs root, who can be two tenants")
    request, rounds = load.request(SPEC), bench.times(200, 5)
    with daemons.Daemon(config=CONFIG) as d, load.Crowd(d.socket, request, 1, QUIET) as quiet, load.Crowd(d.socket, request, 32, FLOOD) as flood:
        quiet.run(20)
        flood.run(40)
        found = {"alone": quiet.run(rounds)}
        over = threading.Event()

        def go_on():
            while not over.is_set():
                flood.run(64)
        other = threading.Thread(target=go_on)
        other.start()
        try:
            quiet.run(20)
            found["in a flood"] = quiet.run(rounds)
        finally:
            over.set()
            other.join()
        if d.end() != 0:
            raise Failed(f"hotcelld: {d.log}")
    section = bench.comparison("a tenant's own jobs", found, base="alone", about=stats.slowest(found))
    return [section]
