"""Many jobs from one file, by hotcell batch: beside plain interpreters of as many programs, beside single commands where they are few, the
rate beside that of hotcelld in the same rounds, over the number of jobs, and over the size of their code."""

import json
import os
import select
import shutil
import subprocess
import time

import load
from bench import houses
from bench.engine import PYTHON, Failed, Lacking, command, output
from bench.measures import cold, warm

NAME = "batch"
TITLE = "Batches"
LONG = False
LIMITS = {"timeout": 10, "memory": "256M"}
OURS, DAEMON = "hotcell batch", "hotcelld"
COUNTS = (10, 100, 1_000, 10_000, 100_000)
SIZES = (100, 10_000, 100_000, 1_000_000)
EVERY = 0.02  # seconds
CONNECTIONS = 2 * os.cpu_count()


def empty(size=0):
    """Code of that many bytes, of which a comment has no more than a line's worth each."""
    line = f"# {'x' * 97}\n"
    return {"code": "pass\n" + line * (size // len(line)), "tree": "base", "limits": LIMITS}


def write(bench, spec, count):
    path = bench.folder / "jobs.jsonl"
    line = json.dumps(spec) + "\n"
    with path.open("w", encoding="ascii") as file:
        for _ in range(count):
            file.write(line)
    return path


def run(bench, path, count):
    """Jobs per second, as a user sees it; and the most memory that the process which reads the file had, in KiB."""
    where = bench.memory / "batch"
    words = [str(word) for word in (bench.hotcell, "batch", "-o", where, path)]
    begun = time.perf_counter()
    most = spawn(words)
    seconds = time.perf_counter() - begun
    with (where / "results.jsonl").open(encoding="utf-8") as file:
        ended = [json.loads(line)["status"] for line in file]
    shutil.rmtree(where)
    if ended.count("ok") != count:
        raise Failed(f"{ended.count('ok')} of {count} jobs ended well")
    return count / seconds, most


def peak_kib(pid):
    """Of a process so far: the kernel's count for a parent that waits would have what this one had before it became another program."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("VmHWM:")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def spawn(words):
    """The most memory of the process that was started, looked at now and then: it only grows."""
    null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
    pid, most = os.posix_spawn(words[0], words, os.environ, file_actions=null), 0
    ended = os.pidfd_open(pid)
    while not select.select([ended], [], [], EVERY)[0]:
        most = max(most, peak_kib(pid))
    os.close(ended)
    _, status = os.waitpid(pid, 0)
    if status:
        raise Failed(f"{' '.join(words)}: exit {os.waitstatus_to_exitcode(status)}")
    return most


def beside_daemon(bench, name, spec, count, rounds, goals):
    """Milliseconds per job of both, of as many jobs."""
    path = write(bench, spec, count)
    with houses.ready(spec) as d, load.Crowd(d.socket, load.request(spec), CONNECTIONS) as crowd:
        def daemon():
            begun = time.perf_counter()
            crowd.run(count)
            return (time.perf_counter() - begun) / count
        found = bench.rounds({DAEMON: daemon, OURS: lambda: 1 / run(bench, path, count)[0]}, rounds, warmup=0)
    return bench.comparison(name, found, base=DAEMON, goals=goals, about=f"Milliseconds per job, of {count} jobs, by the clock: hotcelld over "
                            f"{CONNECTIONS} connections, which is up and has cells that wait, and hotcell batch from its start to its end, "
                            "journal and results on disk included.")


def by_xargs(program, count):
    """Seconds that plain interpreters take for this program so many times, one for each processor at a time."""
    begun = time.perf_counter()
    done = subprocess.run(["xargs", "-n1", "-P", str(os.cpu_count()), PYTHON], input=f"{program}\n" * count, text=True,
                          stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise Failed(f"xargs: exit {done.returncode}")
    return time.perf_counter() - begun


def beside_interpreters(bench, count, rounds):
    """Milliseconds per program that prints a word."""
    program = bench.write("word.py", cold.PROGRAM)
    path = write(bench, {"code": cold.PROGRAM, "tree": "base", "limits": LIMITS}, count)
    plain = "xargs python3"
    found = bench.rounds({plain: lambda: by_xargs(program, count) / count, OURS: lambda: 1 / run(bench, path, count)[0]}, rounds, warmup=0)
    return bench.comparison(f"{count} programs that print a word", found, base=plain, goals={OURS: 1 / 3},
                            about=f"Milliseconds per program by the clock; plain interpreters are started by xargs, {os.cpu_count()} at a time.")


def few(bench, count, rounds):
    """A file of few jobs, and as many commands one after the other."""
    program = bench.write("word.py", cold.PROGRAM)
    path = write(bench, {"code": cold.PROGRAM, "tree": "base", "limits": LIMITS}, count)
    one = command([bench.hotcell, "run", "-t", "base", program])
    single = f"{count} times {cold.OURS}"
    found = bench.rounds({single: lambda: sum(one() for _ in range(count)), OURS: lambda: count / run(bench, path, count)[0]}, rounds)
    return bench.comparison(f"a file of {count}", found, base=single, goals={OURS: 1.0}, about="Of all jobs, from start to end.")


def over(bench, title, x, points, rounds, columns=("peak, KiB",)):
    """`points`: {x: (jobs, size)}"""
    found, peak = {at: [] for at in points}, dict.fromkeys(points, 0)
    for _ in range(rounds):
        for at, (count, size) in points.items():
            rate, most = run(bench, write(bench, empty(size), count), count)
            found[at].append(rate)
            peak[at] = max(peak[at], most)
    line = [{"x": at, "values": values, "peak, KiB": peak[at]} for at, values in found.items()]
    return bench.curve(title, x, "jobs per second", {OURS: line}, columns=columns,
                       about="Of the file as a whole, the start included. Peak: of the process that reads the file and writes results.")


def measure(bench):
    if not any(line.split()[:1] == ["batch"] for line in output([bench.hotcell, "--help"]).splitlines()):
        raise Lacking("there is no hotcell batch")
    most = 100 if bench.quick else bench.asked.most
    counts = {count: (count, 0) for count in COUNTS if count <= most}
    sizes = {size: (bench.times(300, 5), size) for size in bench.chosen(SIZES, quick=SIZES[:2])}
    pandas = {"code": warm.PANDAS, "tree": "scientific", "limits": LIMITS}
    small = [] if bench.quick else [beside_daemon(bench, "small jobs with pandas", pandas, bench.times(1500), bench.times(2), {OURS: 1 / 0.95})]
    return [beside_interpreters(bench, bench.times(10_000, 20), 1), few(bench, 1, bench.times(30)), few(bench, 10, bench.times(15)),
            beside_daemon(bench, "jobs that do nothing", empty(), bench.times(1000, 20), bench.times(3, 1), {}), *small,
            over(bench, "over the number of jobs", "jobs", counts, 1),
            over(bench, "over the size of the code", "bytes of code", sizes, bench.times(3, 1))]
