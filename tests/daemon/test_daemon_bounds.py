"""The bounds of hotcelld: what one who sends much, or sends badly, can take from it and from others."""

import contextlib
import fcntl
import hashlib
import json
import os
import select
import signal
import socket
import struct
import termios
import threading

import cells
import daemons
import pytest

MUCH = 1 << 20
PATIENT = {"timeout": 100 * cells.SLOWNESS}
LONG = {"code": "import time\ntime.sleep(100)", "limits": PATIENT}
CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"


@contextlib.contextmanager
def daemon_with(user, **config):
    with daemons.Daemon(user, config={"workers": 1, "socket": {"mode": "0666"}, **config}) as d:
        yield d
        assert d.process.poll() is not None or d.end() == 0, d.log


@contextlib.contextmanager
def half_sent(d, uid=None):
    """A request of whose body the last part does not come, and of which the daemon has read all else."""
    connection = d.connect(uid)
    with contextlib.closing(connection):
        connection.putrequest("POST", "/v1/jobs")
        connection.putheader("Content-Length", str(MUCH))
        connection.endheaders()
        connection.send(b" " * (MUCH - 1000))
        cells.wait_until("that it is read", lambda: unread(connection.sock) == 0)
        yield connection


def unread(s):
    """Bytes that wait in the kernel for the other side."""
    return struct.unpack("i", fcntl.ioctl(s, termios.TIOCOUTQ, bytes(4)))[0]


def long_request(d):
    return json.dumps(d.spec("1")).encode().ljust(MUCH)


def test_bodies_are_bounded_together_and_leave_room_for_others(user):
    with daemon_with(user, http={"body": MUCH, "bodies": 2 * MUCH}) as d:
        with half_sent(d):
            answer = d.post(long_request(d))
            assert (answer.status, answer.json["retry"]) == (503, "not_started")
            assert int(answer.headers["Retry-After"]) >= 1
            assert d.post("1").status == 200
            if cells.IS_ROOT:
                assert d.post(long_request(d), uid=61240).status == 200
        cells.wait_until("its end", lambda: d.post(long_request(d)).status == 200)
        for _ in range(3):  # what was taken up, or refused, is given back
            assert d.post(long_request(d)).status == 200
            assert d.post(b"}" + b" " * (MUCH - 1)).status == 400


def test_what_a_session_begins_with_is_a_body_until_a_process_has_it(user):
    with daemon_with(user, http={"body": MUCH, "bodies": 2 * MUCH}) as d:
        answers = []
        os.kill(d.pid, signal.SIGSTOP)  # nobody starts one
        begin = threading.Thread(target=lambda: answers.append(d.request("POST", "/v1/sessions", json.dumps(d.spec({})).encode().ljust(MUCH),
                                                                         {"Content-Type": "application/json"})))
        begin.start()
        cells.wait_until("a session", lambda: d.get("/v1/sessions").json["sessions"])
        answer = d.post(long_request(d))
        os.kill(d.pid, signal.SIGCONT)
        begin.join()
        assert (answer.status, answers[0].status) == (503, 201), (answer, answers)
        assert d.post(long_request(d)).status == 200
        assert d.request("DELETE", f"/v1/sessions/{answers[0].json['session_id']}").status == 200


def test_where_no_body_is_taken_none_is_kept(user):
    """Of no length that is told, too."""
    with daemon_with(user) as d:
        for line in ("GET /healthz", "GET /v1/jobs", "POST /v1/jobs/x/cancel"):
            with contextlib.closing(d.connect()) as connection:
                connection.connect()
                s = connection.sock
                s.sendall(f"{line} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
                before = memory_of(d)
                for _ in range(512):
                    s.sendall(CHUNK)
                assert memory_of(d) - before < 4 << 20  # of 32 MiB that were sent
                s.sendall(b"0\r\n\r\n")
                assert s.recv(4096).startswith(b"HTTP/1.1 413")


def memory_of(d):
    [front] = d.named("front")
    with open(f"/proc/{front}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_what_is_wrong_with_requests_does_not_fill_the_log(user):
    with daemon_with(user) as d:
        for _ in range(100):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(d.socket))
                s.sendall(b"GET / HTTP/9.9\r\n\r\n")
                assert s.recv(4096).startswith(b"HTTP/1.1 505")
        assert d.get("/healthz").status == 200
        assert d.end() == 0
        assert 0 < d.log.count("hotcelld: http: ") < 30  # a minute may have begun meanwhile
        assert "hotcelld: http: a request that is no HTTP is refused, and its connection closed\n" in d.log, d.log
        assert "HTTP response code" not in d.log and "libmicrohttpd" not in d.log


# ---- who takes nothing ----

def test_a_client_that_does_not_take_its_answer_is_cut_off(user):
    with daemon_with(user, http={"idle": "1s"}) as d:
        job_id = d.post_async({"code": "with open('/output/big', 'wb') as f: f.truncate(16 << 20)", "limits": PATIENT})
        assert d.result(job_id)["manifest"]["files"][0]["bytes"] == 16 << 20
        with contextlib.closing(d.connect()) as connection:
            connection.request("GET", f"/v1/jobs/{job_id}/files/big")
            hung_up = select.poll()
            hung_up.register(connection.sock, select.POLLHUP)
            assert hung_up.poll(cells.PATIENCE * 1000)
            got = 0
            with contextlib.suppress(ConnectionResetError):
                while more := connection.sock.recv(1 << 20):
                    got += len(more)
            assert got < 16 << 20
        assert len(d.get(f"/v1/jobs/{job_id}/files/big").body) == 16 << 20


@contextlib.contextmanager
def begun(d, path, method="GET", body=None, uid=None):
    """An answer of which nothing is read but its head."""
    connection = d.connect(uid)
    with contextlib.closing(connection):
        connection.request(method, path, body)
        yield connection.getresponse()


@pytest.mark.parametrize("left", ["answer", "events", "result"])
def test_answers_that_nobody_takes_are_bounded(user, left):
    """A tenant gets one at least, however long it is; and whoever takes his has room for the next."""
    long = {"code": "print('x' * (3 << 20))", "limits": {"stdout": "4M"}}
    with daemon_with(user, http={"body": MUCH, "bodies": 8 * MUCH}) as d:
        job = d.post_async(long)
        d.events(job)
        path = {"answer": f"/v1/jobs/{job}", "events": f"/v1/jobs/{job}/events", "result": "/v1/jobs"}[left]
        method, body = ("POST", json.dumps(d.spec(long)).encode()) if left == "result" else ("GET", None)
        with begun(d, path, method, body) as first:
            assert first.status == 200
            for other in (f"/v1/jobs/{job}", f"/v1/jobs/{job}/events"):
                refused = d.get(other)
                assert (refused.status, refused.json["quota"]) == (429, "bodies")
                assert int(refused.headers["Retry-After"]) >= 1
            assert d.get("/v1/jobs").status == 200
            if cells.IS_ROOT:
                theirs = d.post(long, uid=61235).json["job_id"]
                with begun(d, f"/v1/jobs/{theirs}", uid=61235) as other:
                    assert other.status == 200
            assert b"xxx" in first.read()
        cells.wait_until("that it counts no more", lambda: d.get(f"/v1/jobs/{job}").status == 200)


def test_lines_of_a_job_that_are_kept_are_bounded(user):
    with daemon_with(user) as d:
        spec = d.spec({"code": "print('x' * (12 << 20))", "limits": {"stdout": "16M", **PATIENT}})
        with contextlib.closing(d.connect()) as connection:  # as it is: to hold eight megabytes against the document takes long
            connection.request("POST", "/v1/jobs", json.dumps(spec), {"Accept": "application/x-ndjson", "Content-Type": "application/json"})
            lines = [json.loads(line) for line in connection.getresponse()]
        told = [line for line in lines if line["event"] in ("stdout", "cut")]
        assert [line["event"] for line in told].count("cut") == 1 and told[-1]["event"] == "cut"
        assert 7 << 20 < sum(len(line["text"]) for line in told[:-1]) <= 8 << 20
        assert lines[-1]["state"] == "done"


# ---- the queue ----

def test_the_queue_of_all_tenants_is_bounded(user):
    with daemon_with(user, queue=1) as d:
        running, waiting = d.post_async(LONG), d.post_async(LONG)
        for uid in (None, 61241) if cells.IS_ROOT else (None,):
            answer = d.post("1", uid=uid)
            assert (answer.status, answer.json["quota"], answer.json["retry"]) == (429, "queue", "not_started")
        for job_id in (waiting, running):
            assert d.request("DELETE", f"/v1/jobs/{job_id}").status == 202
        d.result(running)
        assert d.post("1").json["status"] == "ok"


# ---- tokens ----

def test_a_token_is_nowhere_to_be_read(user):
    """Neither the right one nor a wrong one: not in the log, in what others see of its processes, nor in what is kept."""
    right, wrong = "right-" + "t" * 40, "wrong-" + "t" * 40
    tokens = cells.new_directory(user) / "tokens"
    tokens.write_text(f"{hashlib.sha256(right.encode()).hexdigest()} alice\n")
    if cells.IS_ROOT:
        os.chown(tokens, user.uid, user.uid)
    with daemon_with(user, tokens=str(tokens), tenants={"alice": {}}) as d:
        for token, status in ((right, 200), (wrong, 401)):
            said = {"Authorization": f"Bearer {token}"}
            assert d.post("1", {"Idempotency-Key": "k", **said}).status == status
            assert d.post(b"{", said).status in (400, status)
            d.get("/v1/jobs", headers={**said, "X\t": "y"})
        seen = "".join(look(f"/proc/{pid}/{name}") for pid in [d.pid, *d.descendants()] for name in ("cmdline", "environ", "comm"))
        assert d.end() == 0
        kept = "".join(look(path) for path in d.state.rglob("*") if path.is_file())
        assert "alice" in kept and "hotcelld" in seen
        for token in (right, wrong):
            assert token not in d.log + seen + kept


def look(path):
    with contextlib.suppress(OSError), open(path, encoding="latin-1") as file:
        return file.read()
    return ""


# ---- descriptors ----

def limited(monkeypatch, user, soft, hard):
    """A hotcelld that is started with so many."""
    script = cells.new_directory(user) / "hotcelld"
    script.write_text(f'#!/bin/bash\nulimit -Sn {soft} && ulimit -Hn {hard} && exec {daemons.HOTCELLD} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(daemons, "HOTCELLD", script)


def post_until_refused(d, most):
    for count in range(most):
        answer = d.post(LONG, {"Prefer": "respond-async"})
        if answer.status != 202:
            return count, answer
    return most, None


def test_jobs_wait_for_as_many_descriptors_as_there_may_be(user, monkeypatch):
    limited(monkeypatch, user, soft=60, hard=400)
    with daemon_with(user, sessions=0, drain=0, http={"connections": 258}) as d:
        assert "at most 70 jobs wait, and not 10000: the limit of descriptors (RLIMIT_NOFILE) is 400" in d.log
        count, answer = post_until_refused(d, 80)
        assert count == 71 and answer.json["quota"] == "queue"  # and one runs
        assert d.get("/healthz").status == 200


def test_without_descriptors_for_a_job_it_does_not_start(user, monkeypatch):
    limited(monkeypatch, user, soft=60, hard=330)
    found = cells.hotcell("--socket", cells.new_directory(user) / "socket", "--state", cells.new_directory(user) / "state",
                          user=user, executable=daemons.HOTCELLD)
    assert found.returncode == 78 and "need " in found.stderr and "RLIMIT_NOFILE) is 330" in found.stderr, found.stderr
