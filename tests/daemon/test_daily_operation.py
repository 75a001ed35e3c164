"""A hotcelld in daily use: places that it cannot use, a disk that is full, and ends and changes in the middle of work."""

import collections
import contextlib
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
from pathlib import Path

import cells
import daemons
import load
import pytest


def refused(user, **places):
    """The one line of a daemon that does not start, and its status."""
    directory = cells.new_directory(user)
    places = {"socket": directory / "socket", "state": directory / "state", **places}
    command = [daemons.HOTCELLD, *(f"--{name}={path}" for name, path in places.items())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=cells.PATIENCE, check=False, cwd=directory,
                          env=user.environment(), **user.popen_arguments())
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done
    return done.returncode, lines[0]


def test_two_daemons_share_neither_state_nor_socket(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        assert refused(user, state=d.state) == (78, f"hotcelld: state directory {d.state}: another hotcelld uses it")
        assert refused(user, socket=d.socket) == (78, f"hotcelld: socket {d.socket}: another hotcelld listens there")
        assert d.post("1").json["status"] == "ok"
        assert d.end() == 0


def test_a_place_that_cannot_be_used_is_refused_in_one_line(user):
    directory = cells.new_directory(user)
    (directory / "file").write_text("")
    (directory / "open").mkdir()
    (directory / "open").chmod(0o777)
    (directory / "anothers").mkdir()
    os.chown(directory / "file", user.uid, user.uid)
    os.chown(directory / "open", user.uid, user.uid)
    assert refused(user, state=directory / "file") == (78, f"hotcelld: state directory {directory}/file: {directory}/file: Not a directory")
    status, line = refused(user, state=directory / "open")
    assert status == 78 and line.endswith("/open: others may write in it (mode 0777): take that from them")
    assert refused(user, socket=directory / "file") == (78, f"hotcelld: socket {directory}/file: something else is there")
    if cells.IS_ROOT:
        os.chown(directory / "anothers", 61601, 61601)
        status, line = refused(user, state=directory / "anothers")
        assert status == 78 and f"belongs to uid 61601, and is to belong to who starts hotcelld ({user.uid})" in line


def test_a_group_that_is_not_the_callers_is_named():
    user = cells.ordinary()
    if user.is_root:
        cells.skip("is for an ordinary user")
    configuration = cells.new_directory(user) / "conf"
    configuration.write_text('{"socket": {"group": "root"}}')
    status, line = refused(user, config=configuration)
    assert status == 78 and "cannot be given to group 0 (socket.group: one of who starts hotcelld): Operation not permitted" in line


# ---- a full disk ----

class SmallDisk(daemons.Daemon):
    """Its state directory is a file system of so many bytes, in a mount namespace of its own."""

    def __init__(self, size, **more):
        directory = cells.new_directory(cells.caller())
        (directory / "disk").mkdir()
        self.size, self.disk = size, directory / "disk"
        super().__init__(state=self.disk, **more)

    def begin(self, *arguments):
        mount = f'mount -t tmpfs -o size={self.size},mode=0711 tmpfs "$0" && exec "$@"'
        self.command = ["unshare", "--mount", "--propagation=private", "/bin/sh", "-c", mount, self.disk, *self.command]
        return super().begin(*arguments)

    def fill(self):
        with open(f"/proc/{self.pid}/root{self.disk}/filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def make_room(self):
        os.unlink(f"/proc/{self.pid}/root{self.disk}/filler")


def test_on_a_full_disk_nothing_is_promised_and_with_room_all_goes_on():
    cells.need_root()
    with SmallDisk("4M", config={"workers": 1}) as d:
        before = d.post_async("print('kept')")
        assert d.result(before)["manifest"]["status"] == "ok"
        d.fill()
        promised, answer = [], d.post("1", {"Prefer": "respond-async"})
        while answer.status == 202:  # there is room in the files that the ledger has, for some
            promised.append(answer.json["job_id"])
            assert len(promised) < 1000
            answer = d.post("1", {"Prefer": "respond-async"})
        assert (answer.status, answer.json["retry"]) == (503, "not_started") and "make room on its disk" in answer.json["detail"]
        assert d.post("print(1)").json["status"] == "ok"  # nobody is promised anything, and there is nothing to keep
        answer = d.post("open('a', 'w').write('x' * 100_000)")
        assert (answer.status, answer.json["retry"]) == (500, "finished") and "No space left on device" in answer.json["detail"]
        d.make_room()
        after = d.post_async("print('again')")
        assert d.result(after)["manifest"]["stdout"]["text"] == "again\n"
        assert d.result(before)["manifest"]["stdout"]["text"] == "kept\n"
        assert {d.result(job_id)["state"] for job_id in promised} <= {"done", "failed"}  # its disk was full
        assert d.end() == 0


def test_a_daemon_does_not_start_on_a_full_disk():
    cells.need_root()
    with pytest.raises(AssertionError, match="(?s)hotcelld has ended: .*ledger.*(full|No space left)"):
        SmallDisk("16k")


# ---- too few processes ----

def allow_processes(d, count):
    subprocess.run(["prlimit", f"--pid={d.pid}", f"--nproc={'unlimited' if count == resource.RLIM_INFINITY else count}:"], check=True, **d.user.popen_arguments())


def test_what_cannot_be_started_now_is_started_later_or_done_without():
    user = cells.ordinary()
    cells.need_cells(user)
    with daemons.Daemon(user, config={"workers": 1}) as d:
        for name in ("worker", "ledger"):
            cells.wait_until(name, lambda name=name: d.named(name), cells.PATIENCE)  # it has got so far as to have its name
        allow_processes(d, 0)
        os.kill(d.named("worker")[0], signal.SIGKILL)
        for _ in range(2):
            d.wait_for_line("start a worker: ")
            d.log = ""
        os.kill(d.named("ledger")[0], signal.SIGKILL)  # more than a second old
        d.wait_for_line("start the checkpointer: ")
        allow_processes(d, resource.getrlimit(resource.RLIMIT_NPROC)[0])
        assert d.post("1").json["status"] == "ok"
        assert d.end() == 0


def test_a_front_that_hangs_is_not_said_to_be_alive(user):
    """The service manager's watchdog then ends the daemon, and starts it again."""
    directory = cells.new_directory(user)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(directory / "notify"))
        os.chmod(directory / "notify", 0o777)
        notify.settimeout(cells.PATIENCE)
        beat = 0.2 * cells.SLOWNESS
        env = {"NOTIFY_SOCKET": str(directory / "notify"), "WATCHDOG_USEC": f"{2e6 * beat:.0f}"}
        with daemons.Daemon(user, config={"workers": 1}, env=env) as d:
            while notify.recv(1000) != b"WATCHDOG=1":
                pass
            [front] = d.named("front")
            os.kill(front, signal.SIGSTOP)
            notify.settimeout(5 * beat)
            with pytest.raises(TimeoutError):
                for _ in range(20):  # those that were under way
                    assert notify.recv(1000) == b"WATCHDOG=1"
            os.kill(front, signal.SIGCONT)
            notify.settimeout(cells.PATIENCE)
            assert notify.recv(1000) == b"WATCHDOG=1"
            assert d.end() == 0


# ---- in the middle of work ----

class Client(threading.Thread):
    """Has one job after the other run, for as long as the daemon takes any."""

    def __init__(self, d):
        super().__init__()
        self.crowd = load.Crowd(d.socket, load.request(d.spec("print(1)")), 1)
        self.answers, self.over, self.why = collections.Counter(), False, None

    def run(self):
        try:
            with self.crowd:
                while not self.over:
                    self.crowd.run(1, self.answers)
        except (AssertionError, OSError) as why:
            self.why = why


@contextlib.contextmanager
def work(d):
    clients = [Client(d) for _ in range(3)]
    for client in clients:
        client.start()
    try:
        yield clients
    finally:
        for client in clients:
            client.over = True
            client.join()


def answered(clients):
    assert {status for client in clients for status in client.answers} <= {"ok"}
    return sum(client.answers["ok"] for client in clients)


def test_a_reload_costs_no_job_whether_it_is_taken_or_not(user):
    with daemons.Daemon(user, config={"workers": 2}) as d, work(d) as clients:
        path = Path(d.command[-1])
        for number in range(3):
            for text, says in [('{"workers": 2, "queue": %d}' % (500 + number), "reloaded"), ('{"queue": "long"}', "not reloaded: ")]:
                d.log = ""
                path.write_text(text)
                d.process.send_signal(signal.SIGHUP)
                d.wait_for_line(f"hotcelld: {says}")
        so_far = answered(clients)
        cells.wait_until("more jobs", lambda: answered(clients) > so_far + 6)
        assert not any(client.why for client in clients)


def test_told_to_end_in_the_middle_of_work_it_gives_every_answer_that_it_owes(user):
    """Whatever ran for a client was answered; what was promised has run then, or does so later."""
    with daemons.Daemon(user, config={"workers": 2}) as d, work(d) as clients:
        cells.wait_until("jobs", lambda: answered(clients) > 12)
        promised = [d.post_async("print('done')") for _ in range(6)]
        assert d.end() == 0
        for client in clients:
            client.join()
        assert all(client.why for client in clients)
        d.start_again()
        assert [d.result(job_id)["manifest"]["stdout"]["text"] for job_id in promised] == ["done\n"] * 6
        assert d.end() == 0
        with contextlib.closing(sqlite3.connect(d.state / "ledger.db")) as db:
            assert list(db.execute("SELECT status, count(*) FROM jobs GROUP BY status")) == [("ok", answered(clients) + 6)]
