"""Processor time of one job in a warm cell, all of hotcelld and its cells counted: a cgroup of the daemon's own tells, also of processes
that others reap. What others do beside costs it little, so it says more than the clock on a machine that is not quiet. The kernel's own
threads, which take network namespaces down, are in no such sum."""

import contextlib
import errno
import os
import sys
import time
from pathlib import Path

import load
from bench import houses
from bench.engine import PYTHON, Failed, Lacking, command
from bench.measures import warm

NAME = "processor"
TITLE = "Processor time"
LONG = False
JOBS = 40
ENDING = 20  # seconds
V1 = Path("/sys/fs/cgroup/cpuacct")
V2 = Path("/sys/fs/cgroup")


class Account:
    """A cgroup that only counts: what this process starts while it is entered is in it."""

    def __init__(self):
        if (V1 / "cpuacct.usage").exists():
            self.top, self.file, self.unit, self.field = V1, "cpuacct.usage", 1e-9, None
        elif (V2 / "cgroup.controllers").exists():
            self.top, self.file, self.unit, self.field = V2, "cpu.stat", 1e-6, "usage_usec"
        else:
            raise Lacking("there is no cgroup that counts processor time")
        self.path = self.top / f"hotcell-bench-{os.getpid()}"

    def seconds(self):
        text = (self.path / self.file).read_text(encoding="ascii")
        if self.field:
            text = next(line.split()[1] for line in text.splitlines() if line.startswith(self.field))
        return int(text) * self.unit

    def settled(self):
        """When next to nothing is added any more: the next cell has been made."""
        last = self.seconds()
        while True:
            time.sleep(0.06)
            now = self.seconds()
            if now - last < 0.0004:
                return now
            last = now

    @contextlib.contextmanager
    def entered(self):
        try:
            self.path.mkdir()
        except OSError as error:
            raise Lacking(f"{self.path}: {error.strerror}") from error
        (self.path / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
        try:
            yield
        finally:
            (self.top / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    def remove(self):
        """What was started in it may still be ending, as when a run is broken off."""
        deadline = time.monotonic() + ENDING
        with contextlib.suppress(FileNotFoundError):
            while True:
                try:
                    return self.path.rmdir()
                except OSError as error:
                    if error.errno != errno.EBUSY or time.monotonic() > deadline:
                        return print(f"bench: {self.path} is left: {error.strerror}", file=sys.stderr)
                time.sleep(0.05)


def of_daemon(bench, spec):
    """Seconds for each job of each round, by two clients that ask again at once; and for each run in a session that has loaded
    what the program needs. They take turns in each round."""
    account, jobs, runs = Account(), [], []
    with contextlib.ExitStack() as stack:
        stack.callback(account.remove)
        with account.entered():
            d = stack.enter_context(houses.ready(spec))
        crowd = stack.enter_context(load.Crowd(d.socket, load.request(spec), houses.CONFIG["workers"]))
        session = d.session({"tree": spec["tree"]})
        for _ in range(2):  # the first run loads, the second is the first that another process checks
            d.run(session, spec["code"])
        for _ in range(bench.times(20)):
            before, answers = account.settled(), []
            crowd.run(JOBS, answers=answers)
            jobs.append((account.settled() - before) / JOBS)
            houses.check(answers)
            before = account.settled()
            ended = [d.run(session, spec["code"])["manifest"] for _ in range(JOBS)]
            runs.append((account.settled() - before) / JOBS)
            if any(manifest["status"] != "ok" for manifest in ended):
                raise Failed(f"a run of the session: {ended}")
    return {"hotcelld": jobs, "session": runs}


def measure(bench):
    sections = []
    for name in bench.chosen(warm.PROGRAMS, quick=("empty",)):
        code, tree, _ = warm.PROGRAMS[name]
        busy = []
        plain = command([PYTHON, bench.write("processor.py", code)], busy=busy)
        os.chdir(bench.memory)  # plain programs leave their figure here
        for _ in range(bench.times(20)):
            plain()
        sections.append(bench.comparison(f"{name}: processor time of a job", {"python3": busy, **of_daemon(bench, {"code": code, "tree": tree})},
                                         base="python3", goals={"session": ("hotcelld", 1.0)}, about=code if "\n" in code.strip() else "A program that does nothing."))
    return sections
