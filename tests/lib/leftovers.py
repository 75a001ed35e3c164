"""What a launcher could leave on the host, and whether it did."""

import contextlib
import fcntl
import os
import re
import struct
from pathlib import Path

import cells

READY = "import os, time\nprint('ready', flush=True)\n"
SLEEP = READY + "time.sleep(60)\n"
F_OFD_GETLK = 36


class Host:
    """What a launcher could leave on the host. Runs under uids, a job id and directories that nobody else uses."""

    def __init__(self, user, uids=16):
        self.user = user
        self.job_id = f"leftovers-{os.getpid()}-{os.urandom(4).hex()}"
        # Out of the way of the range that other launchers use on this host.
        self.uids = range(start := 1_000_000_000 + int.from_bytes(os.urandom(3)) * 16, start + uids)
        self.env = {"HOTCELL_UID_RANGE": f"{start}:{uids}"}
        self.before = self.processes() if not user.is_root else set()
        self.mounts = self.mount_points()
        self.state = self.state_files()

    def start(self, code, *options, **arguments):
        return cells.start(code, "--job-id", self.job_id, *options, user=self.user, **self.arguments(arguments))

    def run(self, code, *options, **arguments):
        return cells.run(code, "--job-id", self.job_id, *options, user=self.user, **self.arguments(arguments))

    def arguments(self, given):
        return {**given, "env": {**self.env, **given.get("env", {})}}

    def processes(self):
        """Those in a pid namespace below ours that run under our uids, or that are not even that far.

        Zombies are gone but for their parent.
        """
        uids = self.uids if self.user.is_root else [self.user.uid]
        found = set()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
                    status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
                with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                    ours = int(status["Uid"].split()[0]) in uids or self.job_id in file.read().split("\0")
                if ours and len(status["NSpid"].split()) > 1 and not status["State"].startswith("Z"):
                    found.add(int(pid))
        return found

    def held_uids(self):
        """Whether any uid of the range is leased."""
        if not self.user.is_root or not os.path.exists("/run/hotcell/uids"):
            return False
        with open("/run/hotcell/uids", "r+b") as file:
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, self.uids.start, len(self.uids), 0)
            return struct.unpack("hhqqi4x", fcntl.fcntl(file, F_OFD_GETLK, lock))[0] != fcntl.F_UNLCK

    def cgroups(self):
        return [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if folder.endswith(f"/hotcell-job-{self.job_id}")]

    @staticmethod
    def mount_points():
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            return sorted(line.split()[4] for line in file)

    def state_files(self):
        """Without the trees, the cache's own files, and policies that are kept by their hash."""
        places = [self.user.home, Path("/run/hotcell")] if self.user.uid != os.geteuid() else [Path("/run/hotcell")]
        return {path for place in places for path in place.rglob("*") if "trees" not in path.parts
                and path.suffix != ".bpf" and not re.fullmatch(r".*/policies(/[0-9a-f]{64}(\.job)?\.json)?", str(path))} - {place / "uids" for place in places}

    def check(self, job, killed=False):
        """Nothing is left; of a launcher that was killed, soon."""
        left = [lambda: self.processes() - self.before, self.held_uids]
        if killed:
            for what in left:
                cells.wait_until(f"{what()} left", lambda what=what: not what())
            # The cgroup goes with the next run, or by hotcell clean.
            assert cells.hotcell("clean", user=self.user, env=self.env).returncode == 0
        assert not any(what() for what in left), [what() for what in left]
        assert self.cgroups() == []
        assert self.mount_points() == self.mounts
        assert {path for path in self.state_files() - self.state if path.is_file()} == set()
        assert [name for name in os.listdir(job.directory) if name != job.output.name] == []
        for folder, folders, names in os.walk(job.output):
            assert not [name for name in folders + names if name.startswith(".hotcell")], folder
