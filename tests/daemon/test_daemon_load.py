"""Many jobs for one daemon, and an end of all its processes in the middle of them. The long form of the first is "tests/bench/run endurance"."""

import contextlib
import os
import shutil
import signal
import threading
from pathlib import Path

import cells
import daemons
import load

JOBS = 200
FIRST = 150  # until SQLite's cache of pages is full
# A leak of one small allocation a job would be seen: 512 bytes each, beside what an allocator keeps at hand.
MORE_KIB = {"manager": 128, "ledger": 128, "worker": 128 + JOBS // 2, "front": 128 + JOBS // 2}


def test_a_daemon_holds_no_more_after_many_jobs_than_after_some(user):
    tenant = f"load-{os.getpid()}"
    config = {"workers": 2, "socket": {"mode": "0666"}, "tenants": {tenant: {"uids": sorted({os.geteuid(), user.uid}), "running": 2}}}
    with daemons.Daemon(user, config=config) as d:
        with load.Crowd(d.socket, load.request(d.spec("pass")), 4) as crowd:
            crowd.run(FIRST)
            cells.wait_until("cells that wait", lambda: resting(d))
            before = load.watch(d, tenant)
            crowd.run(JOBS)
            cells.wait_until("cells that wait", lambda: resting(d))
            after = load.watch(d, tenant)
        for what in ("manager descriptors", "front descriptors", "worker descriptors", "ledger descriptors", "processes", "cgroups"):
            # A worker forgets a cell that has ended when it makes the next.
            assert after.get(what, 0) <= before.get(what, 0) + 2 * what.startswith("worker"), (what, before, after)
        for who, more in MORE_KIB.items():
            assert after[f"{who} memory"] - before[f"{who} memory"] <= more, (who, before, after)
        assert load.metric(d, "jobs_warm_total", d.user.uid if cells.IS_ROOT else None) >= JOBS * 0.9
        assert d.end() == 0


def resting(d):
    """Each worker has a zygote, and that a cell: nothing else is going on."""
    workers = [pid for pid in d.children() if daemons.name_of(pid) == "hotcelld-worker"]
    with contextlib.suppress(OSError):
        return all(chain(d, pid) == ["hotcell-init", "hotcell-zygote", "hotcell-init", "python3"] for pid in workers)
    return False


def chain(d, pid):
    found = []
    while children := d.children(pid):
        if len(children) > 1:
            return None
        [pid] = children
        found.append("exiting" if is_exiting(pid) else daemons.name_of(pid))
    return found


def is_exiting(pid):
    """A job in a warm cell is answered before that is gone. Field 9 of proc_pid_stat(5), PF_EXITING."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[6]) & 0x4


# ---- the disk ----

class Sender(threading.Thread):
    """Sends jobs to be run later, one after the other, and says which were promised."""

    def __init__(self, d):
        super().__init__()
        self.daemon_ran, self.promised, self.over, self.why = d, [], False, None

    def run(self):
        try:
            while not self.over:
                self.promised.append(self.daemon_ran.post_async("print('at last')"))
        except (AssertionError, OSError) as why:
            self.why = why


def processes_of_ledger(d):
    return [d.pid, *(pid for pid in d.children() if daemons.name_of(pid) != "hotcelld-worker")]


def copy_state(d, to):
    """As a kill of all processes would leave it now; that promises wait for the disk, src/daemon/ledger/ledger-test.c shows."""
    family = processes_of_ledger(d)
    for pid in family:
        os.kill(pid, signal.SIGSTOP)
    try:
        for pid in family:
            cells.wait_until("a stop", lambda pid=pid: Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] in "Tt")
        to.mkdir(mode=0o711)
        for path in d.state.glob("ledger.db*"):
            shutil.copy(path, to)
        (to / "ledger.db-shm").unlink(missing_ok=True)  # it is memory, not on a disk
    finally:
        for pid in reversed(family):
            os.kill(pid, signal.SIGCONT)


def test_what_was_promised_is_in_the_ledger_whenever_all_are_killed(user):
    """Copies of the ledger are taken while jobs are sent and run: a daemon that starts on one knows each that was promised before."""
    with daemons.Daemon(user, config={"workers": 2}) as d:
        sender = Sender(d)
        sender.start()
        copies = []
        try:
            for number in range(3):
                cells.wait_until("more jobs", lambda number=number: sender.why or len(sender.promised) >= 15 * (number + 1), cells.PATIENCE)
                assert not sender.why, sender.why
                known = list(sender.promised)
                copy_state(d, d.directory / f"copy{number}")
                copies.append((known, d.directory / f"copy{number}"))
        finally:
            sender.over = True
            sender.join()
        assert d.end() == 0
    for known, state in copies:
        if d.user.uid != os.geteuid():
            for path in [state, *state.iterdir()]:
                os.chown(path, d.user.uid, d.user.uid)
        with daemons.Daemon(user, config={"workers": 2}, state=state) as again:
            ends = [ended(again, job_id) for job_id in known]
            assert set(ends) <= {"ok", "started_outcome_unknown"} and ends.count("started_outcome_unknown") <= 2, ends
            assert again.end() == 0


def ended(d, job_id):
    job = d.result(job_id)
    return job["manifest"]["status"] if job["state"] == "done" else job["problem"]["retry"]
