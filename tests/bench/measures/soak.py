"""Hours of cells on a loaded host: what is left of them? Two processes that use all the CPU they get, and one that keeps half of the free
memory in use, run beside rounds of cells one after the other, of many at once, of many jobs of one process and of jobs for one hotcelld,
as root and as an ordinary user. A failure if anything grows; see tests/lib/soak.py."""

import collections
import contextlib
import subprocess
import sys
import time

import cells
import daemons
import load
import soak
from bench.engine import Failed
from bench.measures import endurance
from leftovers import Host

NAME = "soak"
TITLE = "Hours of cells on a loaded host"
LONG = True
AT_ONCE = 64
SPIN = "while True: pass"
FILL = """
import mmap, time
with open('/proc/meminfo') as file:
    free = next(int(line.split()[1]) for line in file if line.startswith('MemAvailable')) * 1024
memory = mmap.mmap(-1, min(free // 2, 4 << 30))
while True:
    for at in range(0, len(memory), 4096): memory[at] = 1
    time.sleep(0.1)
"""


@contextlib.contextmanager
def hogs():
    running = [subprocess.Popen([sys.executable, "-I", "-c", code]) for code in (SPIN, SPIN, FILL)]
    try:
        yield
    finally:
        for hog in running:
            hog.kill()
            hog.wait()


class Soak:
    def __init__(self, bench):
        self.bench, self.begun, self.points, self.grown = bench, time.monotonic(), {}, collections.Counter()
        self.jobs, self.at_once = (10, 4) if bench.quick else (1000, AT_ONCE)

    def note(self, name, jobs, seconds, grown):
        hours = (time.monotonic() - self.begun) / 3600
        self.points.setdefault(name, []).append({"x": hours, "values": [seconds / jobs * 1000]})
        self.grown.update({(name, what): count for what, count in grown.items()})
        self.bench.say(f"soak: {hours:.2f} h: {name}: {jobs} jobs, {seconds / jobs * 1000:.1f} ms each")

    def of_user(self, user):
        host, who = Host(user, uids=4 * self.at_once), "root" if user.is_root else "user"
        for name, together in (("in a row", 1), (f"{self.at_once} at once", self.at_once)):
            soak.run(host, 2)
            before = soak.look(host)
            seconds = soak.run(host, self.jobs, together)
            self.note(f"{who}: cells {name}", self.jobs, seconds, soak.settled(host, before, self.jobs))
        before, start = soak.look(host), time.monotonic()
        early, late = soak.in_one_process(host, self.jobs)
        seconds = time.monotonic() - start
        soak.check_one_process(early, late)
        self.note(f"{who}: jobs of one process", self.jobs, seconds, soak.settled(host, before, self.jobs))

    def of_daemon(self, crowd, d, first):
        hours = (time.monotonic() - self.begun) / 3600
        point = endurance.step(crowd, d, self.jobs)
        more = endurance.grown(first or point, point)
        if more:
            raise Failed(f"the daemon holds more than after the first round: {more}")
        self.note("jobs for hotcelld", self.jobs, self.jobs / point["values"][0], {})
        return {**point, "x": hours}

    def run(self):
        """One daemon throughout, and rounds until the time is over."""
        users = {user.uid: user for user in (cells.caller(), cells.ordinary())}
        ended, points = self.begun + self.bench.asked.hours * 3600, []
        with daemons.Daemon(config=endurance.CONFIG) as d, load.Crowd(d.socket, load.request(endurance.SPEC), 8) as crowd:
            while not points or time.monotonic() < ended:
                points.append(self.of_daemon(crowd, d, points and points[0]))
                for user in users.values():
                    self.of_user(user)
            if d.end() != 0:
                raise Failed(f"hotcelld: {d.log}")
        return points


def measure(bench):
    held = Soak(bench)
    try:
        with hogs():
            points = held.run()
    except AssertionError as wrong:
        raise Failed(str(wrong)) from wrong
    memory = {name: [{"x": point["x"], "values": [point[name]]} for point in points] for name in endurance.HOLDS if "memory" in name}
    return [bench.curve("a job", "hours", "milliseconds", held.points, logarithmic=False),
            bench.curve("memory of the daemon's processes", "hours", "KiB", memory, logarithmic=False),
            bench.table("what the host had more of after rounds than before", [{"after": name, "what": what, "in all": count}
                                                                               for (name, what), count in held.grown.items() if count],
                        about="The sum over all rounds. The kernel keeps some things for a while; what one round adds is less than half a "
                        "job's worth each, or the soak has failed.")]
