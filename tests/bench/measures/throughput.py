"""Jobs per second over the number of connections to hotcelld, each of which has one job at a time."""

import os
import time

import load
from bench import houses
from bench.measures import warm

NAME = "throughput"
TITLE = "Throughput over concurrency"
LONG = False
PROGRAMS = ("empty", "pandas")
CONNECTIONS = (1, 2, 4, 8, 16, 32, 64)
MANY = 1_000_000
COLUMNS = ("p50_ms", "p95_ms", "p99_ms", "cpu_ms")


def machine_seconds():
    """Of processors at work, since they were started."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(text) for text in file.readline().split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4] - fields[7]) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    now = os.times()
    return now.user + now.system


def burst(crowd, seconds, answers):
    """Latencies; jobs per second; processor time of the whole machine per job, but for this client's."""
    begun, busy, own = time.perf_counter(), machine_seconds(), own_seconds()
    took = crowd.run(MANY, answers=answers, seconds=seconds)
    ended = time.perf_counter()
    return took, len(took) / (ended - begun), (machine_seconds() - busy - own_seconds() + own) / len(took)


def line(bench, name):
    """A round goes over all numbers of connections, so that the machine's moods meet them all."""
    code, tree, _ = warm.PROGRAMS[name]
    spec = {"code": code, "tree": tree}
    counts = bench.chosen(CONNECTIONS, quick=(1, 8))
    rates, latencies, busy = [{count: [] for count in counts} for _ in range(3)]
    with houses.ready(spec) as d:
        for _ in range(bench.times(4, 1)):
            for count in counts:
                answers = []
                with load.Crowd(d.socket, load.request(spec), count) as crowd:
                    crowd.run(count)
                    took, rate, cost = burst(crowd, 0.2 if bench.quick else 1.0, answers)
                houses.check(answers)
                rates[count].append(rate)
                latencies[count] += took
                busy[count].append(cost)
    return [{"x": count, "values": rates[count], "cpu_ms": sum(busy[count]) / len(busy[count]) * 1000,
             **{f"p{part}_ms": load.percentile(latencies[count], part) * 1000 for part in load.PERCENTILES}} for count in counts]


def measure(bench):
    lines = {name: line(bench, name) for name in bench.chosen(PROGRAMS, quick=("empty",))}
    return [bench.curve("warm jobs", "connections", "jobs per second", lines, columns=COLUMNS, about="cpu_ms: processor "
                        "time of the whole machine per job, but for the client's; it means something where nothing else runs.")]
