"""What a job takes of the host's memory, of whatever kind: pages of processes, buffers of sockets, tables of the kernel.

    result, taken = meter.measure(lambda: cells.run(PROGRAM, "--memory=64M"))
    assert taken <= meter.most(64)
"""

import threading

MB = 1 << 20
SLACK = 64 * MB  # hotcell promises that a job takes at most its limit and these bytes of the host
NOISE = 24 * MB  # the launcher, the interpreter's files, and what else goes on here
TRIES = 3        # others use this host, too: what they take now and then is no job's


def taken_now():
    """Memory that is neither free nor a cache of files; the files of a tmpfs are no cache."""
    with open("/proc/meminfo", encoding="ascii") as file:
        rows = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in file}
    return rows["MemTotal"] - rows["MemFree"] - rows["Buffers"] - rows["Cached"] + rows["Shmem"]


class Meter:
    """Looks at the host's memory every few milliseconds while it is open."""

    def __enter__(self):
        self._end = threading.Event()
        self._before = self._least = self._most = taken_now()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self):
        while not self._end.wait(0.003):
            now = taken_now()
            self._least, self._most = min(self._least, now), max(self._most, now)

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    @property
    def taken(self):
        return self._most - self._before

    @property
    def swing(self):
        """Most bytes that the host had less than at its best, with bytes that earlier jobs gave back late."""
        return self._most - self._least


def most(limit_mb):
    return limit_mb * MB + SLACK + NOISE


def measure(job, limit_mb):
    """The job's result, and the most that the host had less while it ran; again if that was more than it may be."""
    for _ in range(TRIES):
        with Meter() as meter:
            result = job()
        if meter.taken <= most(limit_mb):
            break
    return result, meter.taken
