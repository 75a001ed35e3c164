"""Jobs per second of many tenants, each with one job at a time, beside one tenant with as many jobs as keep all workers busy; and what
tenants with different weights get, who each have more jobs than are done."""

import collections
import json

import cells
import daemons
import load
from bench import houses
from bench.engine import Failed, Lacking
from bench.measures import throughput, warm

NAME = "tenants"
TITLE = "Many tenants"
LONG = False
FIRST = 61600  # uid of the first tenant
COUNTS = (1, 3, 12, 40, 100)
CONFIG = {**houses.CONFIG, "socket": {"mode": "0666"}}


def rates(bench, d, name, counts):
    code, tree, _ = warm.PROGRAMS[name]
    request = load.request({"code": code, "tree": tree})
    found = {count: [] for count in counts}
    for number in range(-1, bench.times(4, 1)):
        for count in counts:
            uids = range(FIRST, FIRST + count) if count > 1 else [FIRST] * 2 * houses.CONFIG["workers"]
            answers = []
            with load.Crowd(d.socket, request, 0, uids=uids) as crowd:
                _, rate, _ = throughput.burst(crowd, 0.2 if bench.quick else 2.0, answers)
            houses.check(answers)
            if number >= 0:
                found[count].append(rate)
    return [{"x": count, "values": values} for count, values in found.items()]


WEIGHTS = {"three": 300, "one": 100, "another": 100}
AT_A_TIME = 4  # jobs of each tenant with a weight


def shares(bench, name):
    """Jobs that each tenant with a weight got done, in each round, for a hundred of weight."""
    code, tree, _ = warm.PROGRAMS[name]
    uids = dict(zip(WEIGHTS, range(FIRST, FIRST + len(WEIGHTS))))
    config = {**CONFIG, "tenants": {who: {"uids": [uids[who]], "weight": weight} for who, weight in WEIGHTS.items()}}
    found = {who: [] for who in WEIGHTS}
    with daemons.Daemon(config=config) as d:
        with load.Crowd(d.socket, load.request({"code": code, "tree": tree}), 0, uids=[*uids.values()] * AT_A_TIME) as crowd:
            crowd.run(10 ** 6, seconds=0.2 if bench.quick else 2.0)
            for _ in range(bench.times(5, 1)):
                answers = []
                crowd.run(10 ** 6, answers=answers, seconds=0.2 if bench.quick else 3.0)
                done = collections.Counter(json.loads(answer)["tenant"] for answer in answers)
                for who, weight in WEIGHTS.items():
                    found[who].append(done[who] * 100 / weight)
        if d.end() != 0:
            raise Failed(f"hotcelld: {d.log}")
    return bench.comparison(f"{name}: jobs of tenants with weights, for 100 of weight", found, base="one", unit="jobs", scale=1, goals={"three": 1.1},
                            about="Weights of 300, 100 and 100; each tenant has four jobs at a time. Alike is as promised.")


def measure(bench):
    if not cells.IS_ROOT:
        raise Lacking("needs root, who can be many tenants")
    lines = {}
    for name in bench.chosen(throughput.PROGRAMS, quick=("empty",)):
        with daemons.Daemon(config=CONFIG) as d:
            lines[name] = rates(bench, d, name, bench.chosen(COUNTS, quick=(1, 3)))
            if d.end() != 0:
                raise Failed(f"hotcelld: {d.log}")
    return [bench.curve("warm jobs of many tenants", "tenants", "jobs per second", lines,
                        about="One tenant has four jobs at a time; of several, each has one."),
            *(shares(bench, name) for name in lines)]
