"""Chaos: whatever a hotcelld consists of is killed at random while two tenants keep it busy; then every account is looked at.

    Chaos(user, seed).run(seconds)  # asserts; returns what happened, as a table to print

Each job calls a tool of its policy, a command of the host that writes the job's number into a file: so that the file, which
neither daemon nor cell can take back, says how often each has run. Who sends jobs is a process of its own for each tenant
(chaos_client.py) and writes down what it was told. The one that kills is here, and starts the daemon again when it has killed
the whole of it, as a service manager would.
"""

import collections
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import cells
import daemons
from leftovers import Host

CLIENT = Path(__file__).resolve().parent / "chaos_client.py"
TENANTS = 61401, 61402  # users without an account
WORKERS = 3
TOLD = "manager, which was told to end"
# How often what is killed, in parts of all.
KILLS = {"running or parked cell": 8, "zygote": 4, "first process of a cell": 4, "worker": 4, "session": 2, "front": 2, "checkpointer": 1,
         "manager": 1, TOLD: 1}
NAMES = {"hotcelld-front": "front", "hotcelld-worker": "worker", "hotcelld-sessio": "session", "hotcelld-ledger": "checkpointer",
         "hotcell-zygote": "zygote", "hotcell-init": "first process of a cell", "python3": "running or parked cell"}
POLICY = {"extends": "default", "limits": {"timeout": 20 * cells.SLOWNESS, "memory": "256M"}}


def tool(marks):
    """Writes the number that it is given, in one piece: many of these run at the same time."""
    return {"command": ["/bin/sh", "-c", f'number=$(tr -dc 0-9); echo "$number" >> {marks}; echo 0']}


class Chaos:
    def __init__(self, user, seed, pause=0.25):
        self.random = random.Random(seed)
        self.pause = pause  # seconds between kills, about
        self.host = Host(user, uids=256)
        self.directory = cells.new_directory(user)
        self.directory.chmod(0o777)
        self.marks = self.directory / "marks"
        self.marks.touch()
        self.marks.chmod(0o666)
        policy = self.directory / "chaos.json"
        policy.write_text(json.dumps({"name": "chaos", **POLICY, "tree": cells.tree_path("base"), "tools": {"mark": tool(self.marks)}}))
        config = {"workers": WORKERS, "drain": 0.5 * cells.SLOWNESS, "socket": {"mode": "0666"}, "quotas": {"running": WORKERS, "queued": 100}}
        self.env = {**self.host.env, "HOTCELL_POLICIES": str(self.directory)}
        self.killed = collections.Counter()
        self.ready = []  # seconds until the daemon answered again, after each kill
        self.seen = {}  # pid -> when it began, of all that belonged to a daemon
        self.daemon = daemons.Daemon(user, config=config, env=self.env)

    # ---- who is there ----

    def family(self):
        """Processes that could be killed: kind -> pids."""
        found = collections.defaultdict(list)
        found["manager"] = found[TOLD] = [self.daemon.pid]
        with contextlib.suppress(OSError):
            for child in self.daemon.children():
                found[name_of(child)].append(child)
                for pid in self.descendants(child):
                    with contextlib.suppress(OSError):
                        found[name_of(pid)].append(pid)
        found.pop("other", None)
        for pid in (pid for pids in found.values() for pid in pids):
            with contextlib.suppress(OSError):
                self.seen[pid] = began(pid)
        return found

    def descendants(self, pid):
        found, queue = [], [pid]
        while queue:
            with contextlib.suppress(OSError):
                new = self.daemon.children(queue.pop())
                found += new
                queue += new
        return found

    def front(self):
        return next(child for child in self.daemon.children() if name_of(child) == "front")

    def kill_one(self):
        family = self.family()
        kinds = [kind for kind in KILLS if family[kind]]
        kind = self.random.choices(kinds, [KILLS[kind] for kind in kinds])[0]
        with contextlib.suppress(ProcessLookupError):  # the process has ended of itself meanwhile
            os.kill(self.random.choice(family[kind]), signal.SIGTERM if kind == TOLD else signal.SIGKILL)
            self.killed[kind] += 1
        if kind in ("manager", TOLD):
            status = self.daemon.process.wait(cells.PATIENCE)
            self.drain_log()
            assert status == (0 if kind == TOLD else -signal.SIGKILL), (status, self.daemon.log)
            self.daemon.process.stderr.close()
            begun = time.monotonic()  # at once: the old front and workers may not have gone yet
            self.daemon.process = daemons.start(self.daemon.command, self.daemon.user, self.daemon.directory, self.env)
            self.daemon.pid, self.daemon.log = self.daemon.process.pid, ""
            self.daemon.wait_for_line("ready: ")
            self.ready.append(time.monotonic() - begun)

    def drain_log(self):
        """A log that nobody reads would hold the daemon up."""
        os.set_blocking(self.daemon.process.stderr.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            while more := os.read(self.daemon.process.stderr.fileno(), 65536):
                self.daemon.log = (self.daemon.log + more.decode(errors="replace"))[-20000:]
        os.set_blocking(self.daemon.process.stderr.fileno(), True)

    # ---- the run ----

    def clients(self, seconds):
        uids = TENANTS if cells.IS_ROOT else [os.geteuid()]
        who = {}
        for number, uid in enumerate(uids):
            if cells.IS_ROOT:
                who = {"user": uid, "group": uid, "extra_groups": []}
            for thread, what in enumerate(["jobs", "jobs", "sessions"]):
                command = [sys.executable, "-I", CLIENT, self.daemon.socket, f"{seconds:g}", f"{number}{thread}", what]
                yield subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **who)

    def run(self, seconds):
        before = self.counts()
        clients = list(self.clients(seconds))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(self.random.uniform(0, 2 * self.pause))
            self.kill_one()
            self.drain_log()
        told = [json.loads(line) for client in clients for line in client.communicate(timeout=cells.PATIENCE)[0].splitlines()]
        assert [client.returncode for client in clients] == [0] * len(clients)
        self.wait_until_idle()
        return self.look(told, before)

    def wait_until_idle(self):
        def idle():
            self.drain_log()
            lines = self.daemon.get("/metrics", uid=self.daemon.user.uid if cells.IS_ROOT else None).body.decode().splitlines()
            return {"hotcell_jobs_running 0", "hotcell_jobs_queued 0"} <= set(lines)
        cells.wait_until("the end of all jobs", idle, 120 * cells.SLOWNESS)

    # ---- what is true afterwards ----

    def counts(self):
        self.family()
        return {"manager": descriptors(self.daemon.pid), "front": descriptors(self.front())}

    def look(self, told, before):
        ran = collections.Counter(self.marks.read_text().split())
        twice = {number: count for number, count in ran.items() if count > 1}
        assert not twice, f"run more than once: {twice}"
        ends = collections.Counter(self.end_of(job, ran) for job in told)
        cells.wait_until(f"no more descriptors than {before}", lambda: self.counts() == before)  # the last answer's is closed soon
        assert any(end == "promised: ok" for end in ends), ends
        assert self.daemon.end() == 0, self.daemon.log
        self.look_at_ledger({job["job_id"] for job in told if job["promised"]})
        self.look_for_leftovers()
        return {"killed": dict(self.killed), "jobs": len(told), "marks": len(ran), "ends": dict(ends), "ready": self.ready}

    def end_of(self, job, ran):
        """How a job ended, in a word; asserts that the daemon's account of the job is true."""
        if job["kind"] == "session":
            assert not job["wrong"], job
            assert job["ended"] != "ok, kept" or ran[job["number"]] == 1, job
            return f"session: {job['ended']}"
        if not job["promised"]:
            if job["ended"] == "ok":
                assert ran[job["number"]] == 1, job
            return f"not promised: {job['ended']}"
        answer = self.daemon.get(f"/v1/jobs/{job['job_id']}", uid=job["uid"] if cells.IS_ROOT else None)
        assert answer.status == 200, (job, answer)
        now = answer.json
        assert now["state"] in ("done", "failed"), (job, now)
        if now["state"] == "done":
            status = now["manifest"]["status"]
            assert status != "ok" or ran[job["number"]] == 1, (job, now)
            assert not job["ended"] or job["ended"] == status, (job, now)
            return f"promised: {status}"
        retry = now["problem"]["retry"]
        assert retry != "not_started" or ran[job["number"]] == 0, (job, now)
        return f"promised: {retry}, {now['problem']['type'].rpartition(':')[2]}"

    def look_at_ledger(self, promised):
        logs = list(self.daemon.state.glob("ledger.db-*"))
        assert not logs, logs
        with contextlib.closing(sqlite3.connect(f"file:{self.daemon.state}/ledger.db?mode=ro", uri=True)) as db:
            rows = {job_id: (state, attempts) for job_id, state, attempts in db.execute("SELECT id, state, attempts FROM jobs")}
        assert not promised - set(rows)
        assert {state for state, _ in rows.values()} <= {2, 3, 4}
        assert not [row for row in rows.items() if row[1][1] > 1]
        kept = {path.name for path in (self.daemon.state / "jobs").iterdir()}
        assert kept <= set(rows), kept - set(rows)

    def look_for_leftovers(self):
        # Cells that wait go with their workers, in their own time.
        with contextlib.suppress(AssertionError):
            cells.wait_until("the end of all", lambda: not self.living())
        assert not self.living()
        cells.wait_until("the end of all cells", lambda: not self.host.processes() - self.host.before and not self.host.held_uids())
        # What the kernel mounts when somebody looks there is nobody's.
        mounts = [path for path in self.host.mount_points() if path not in self.host.mounts and not path.startswith("/sys/kernel/")]
        assert not mounts, mounts
        left = [path for path in self.host.state_files() - self.host.state if path.is_file()]
        left += (self.daemon.state / "inputs").glob("*/*")
        assert not left, left
        assert not self.daemon.socket.exists()
        assert not [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if f"hotcelld-{self.daemon.pid}" in folder]

    def living(self):
        return [describe(pid) for pid, start in self.seen.items() if start and began(pid) == start]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.daemon.__exit__()


def descriptors(pid):
    """How many of each kind."""
    found = collections.Counter()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            found[os.readlink(f"/proc/{pid}/fd/{fd}").partition(":[")[0]] += 1
    return found


def name_of(pid):
    return NAMES.get(daemons.name_of(pid), "other")


def describe(pid):
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        return {line.partition(":")[0]: line.partition(":")[2].strip() for line in status.splitlines()
                if line.startswith(("Name", "State", "PPid", "NSpid", "Uid"))}
    return pid


def began(pid):
    """Start time of a process, which tells it from a later one of the same number; None: there is none but for its parent."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            rest = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if rest[0] == "Z" else rest[19]
