"""The bounds of hotcelld: what one who sends much, or sends badly, can take from it and from others."""

import contextlib
import fcntl
import json
import os
import socket
import struct
import termios

import cells
import daemons

MUCH = 1 << 20
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
