"""What is no HTTP, or HTTP that means harm: hotcelld refuses it, holds nothing of it, and serves others meanwhile."""

import contextlib
import random
import select
import socket

import cells
import daemons
import pytest

GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
END = b"Connection: close\r\n\r\n"
SMUGGLED = b"GET /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):
    """One for all; whatever is sent to it, its front is the same process at the end."""
    user = cells.ordinary()
    cells.need_cells(user)
    config = {"workers": 1, "socket": {"mode": "0666"}, "http": {"body": "1M", "headers": "8K", "idle": "1s"}}
    with daemons.Daemon(user, config=config) as d:
        [front] = d.named("front")
        yield d
        assert d.named("front") == [front]
        assert d.end() == 0 and "Sanitizer" not in d.log, d.log


@contextlib.contextmanager
def connected(daemon):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(cells.PATIENCE)
        s.connect(str(daemon.socket))
        yield s


def read_all(s):
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while more := s.recv(65536):
            got += more
    return got


def send_and_close(s, data):
    """One side of the connection."""
    with contextlib.suppress(OSError):
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)


def talk(daemon, data):
    """All that comes back before the other side hangs up."""
    with connected(daemon) as s:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            s.sendall(data)
        return read_all(s)


def talk_half_closed(daemon, data):
    with connected(daemon) as s:
        send_and_close(s, data)
        return read_all(s)


def statuses(got):
    return [int(part[:3]) for part in got.split(b"HTTP/1.1 ")[1:]]


# ---- heads ----

@pytest.mark.parametrize("data, status", [
    (b"GET / HTTP/1.1\r\n\r\n", 400),
    (GET + b"Host: y\r\n\r\n", 400),
    (GET + b"X : y\r\n\r\n", 400),
    (GET + b"X\tY: y\r\n\r\n", 400),
    (GET + b"X: a\rContent-Length: 5\r\n\r\n", 400),
    (GET + b"X: a\x0bb\r\n\r\n", 400),
    (GET + b"X: " + b"y" * 9000 + b"\r\n\r\n", 431),
    (b"GET /" + b"y" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
    (POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
    (POST + b"Content-Length: 2\r\ncontent-length: 2\r\n\r\n{}", 400),
    (POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: gzip\r\n\r\n{}", 400),
    (POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n{}", 400),
    (POST + b"Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 2\r\n\r\n{}", 400),
    (POST + b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\nContent-Length: 2\r\n\r\n{}", 400),
    (POST + b"Content-Length: 2000000\r\n\r\n", 413),
    (GET + b"Content-Length: 5\r\n\r\nhello", 413),
    (b"BREW /healthz HTTP/1.1\r\nHost: x\r\n" + END, 405),
    (b"get /healthz HTTP/1.1\r\nHost: x\r\n" + END, 405),
    (b"B" * 3000 + b" /healthz HTTP/1.1\r\nHost: x\r\n" + END, 405),
    (b"GET /healthz%00x HTTP/1.1\r\nHost: x\r\n" + END, 400),
    (b"GET /v1/policies/default%00 HTTP/1.1\r\nHost: x\r\n" + END, 400),
    (b"GET /v1/card?policy=default%00x HTTP/1.1\r\nHost: x\r\n" + END, 400),
    (b"GET /v1/jobs?a%00=b HTTP/1.1\r\nHost: x\r\n" + END, 400),
    # What libmicrohttpd cuts off, or joins, unless we look at the bytes.
    (b"GET /healthz\0x HTTP/1.1\r\nHost: x\r\n" + END, 400),
    (b"GET /healthz\0 HTTP/1.1\r\nHost: x\r\n" + END, 400),
    (b"GET /healthz\0HTTP/1.1 HTTP/1.1\r\nHost: x\r\n" + END, 400),
    (b"GET /healthz?\0x HTTP/1.1\r\nHost: x\r\n" + END, 400),
    (GET + b"X: a\0b\r\n" + END, 400),
    (GET + b"X: a\0\r\nY: b\r\n" + END, 400),
    (GET + b"X: a\r\n b\r\n" + END, 400),
    (GET + b"X: a\r\n\tContent-Length: 5\r\nY: b\r\n" + END, 400),
    (GET + b"X: a\r\n \r\n" + END, 400),
    (GET + b"X: a\n b\nY: " + b"y" * 8000 + b"\r\n" + END, 400),
    (POST + b"Content-Length:\r\n 2\r\n\r\n{}", 400),
    (POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400),
    (GET.replace(b"\r\n", b"\n") + b"X:\t a \nY:\n" + END, 200),
    (b"GET /%0d%0aX:%20injected%0d%0a%0d%0a HTTP/1.1\r\nHost: x\r\n" + END, 404),
    (b"GET /%ff%fe%e2%28 HTTP/1.1\r\nHost: x\r\n" + END, 404),
    (b"GET http://x/healthz HTTP/1.1\r\nHost: x\r\n" + END, 404),
    (b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n" + END, 404),
    (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n" + END, 404),
    (GET + b"Cookie: a=\";;;,\r\n" + END, 200),
    (b"GET /healthz HTTP/1.0\r\n\r\n", 200),
])
def test_what_is_refused_has_a_problem_document_and_no_second_meaning(daemon, data, status):
    """What stands behind it on the connection is not a request."""
    got = talk(daemon, data + SMUGGLED)
    assert statuses(got) == [status], got
    head, _, body = got.partition(b"\r\n\r\n")
    assert b"injected" not in head and (status == 200 or b"\r\nContent-Type: application/problem+json\r\n" in head), got
    if status in (400, 413, 431):
        assert b"\r\nConnection: close" in head, got
    assert daemon.get("/healthz").status == 200


@pytest.mark.parametrize("data", [
    b"\1\2\3\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    GET + b"no colon\r\n\r\n",
    GET + b"X\0: a\r\n" + END,
    GET + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
    GET + b"X: y\r\n" * 10_000 + b"\r\n",
    b"GET /" + b"y" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    POST + b"Content-Length: -1\r\n\r\n",
    POST + b"Content-Length: +2\r\n\r\n{}",
    POST + b"Content-Length: 2, 2\r\n\r\n{}",
    POST + b"Content-Length: 99999999999999999999999\r\n\r\n",
    CHUNKED + b"zz\r\n", CHUNKED + b"-1\r\n", CHUNKED + b"fffffffffffffffff\r\n",
    CHUNKED + b"2\r\n{}more than two\r\n0\r\n\r\n",
])
def test_what_libmicrohttpd_refuses_is_refused_and_nothing_more(daemon, data):
    got = talk(daemon, data + SMUGGLED)
    assert not got or set(statuses(got)) <= {400, 413, 414, 431, 505}, got[:300]
    assert daemon.get("/healthz").status == 200


# ---- connections ----

def test_requests_that_come_at_once_are_answered_in_order(daemon):
    body = b'{"code": 1}'
    job = POST + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    got = talk(daemon, (GET + b"\r\n") * 20 + job + SMUGGLED + GET + END)
    assert statuses(got) == [200] * 20 + [400, 200, 200], got


def test_a_client_that_has_closed_its_side_still_gets_the_answer(daemon):
    assert statuses(talk_half_closed(daemon, GET + b"\r\n")) == [200]


@pytest.mark.parametrize("data", [b"G", GET, POST + b"Content-Length: 20\r\n\r\n{", CHUNKED + b"5\r\n{", CHUNKED + b"1\r\n{\r\n"])
def test_a_request_that_breaks_off_is_none(daemon, data):
    assert talk_half_closed(daemon, data) == b""
    assert daemon.get("/healthz").status == 200


def test_a_body_without_a_length_is_bounded_too(daemon):
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    got = talk(daemon, POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 20 + b"0\r\n\r\n")
    assert statuses(got) == [413], got[:300]


def test_slow_clients_are_cut_off(daemon):
    """One byte now and then is no silence, but the whole request has its time too: four times http.idle."""
    slow = {b"GET /healthz HTTP/1.1\r\n": b"X: y\r\n", POST + b"Content-Length: 100000\r\n\r\n": b"{", CHUNKED: b"1\r\n{\r\n"}
    with contextlib.ExitStack() as held:
        there = {}
        for begin, more in slow.items():
            s = held.enter_context(connected(daemon))
            s.sendall(begin)
            there[s] = more
        for _ in range(int(250 * cells.SLOWNESS)):
            for s in select.select(list(there), [], [], 0.2)[0]:
                read_all(s)
                del there[s]
            if not there:
                return
            for s, more in there.items():
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    s.sendall(more)
        pytest.fail(f"never cut off: {list(there.values())}")


def test_hundreds_of_idle_connections(daemon):
    """More than one user may have: they are cut off, and those that stay when they have been silent for long enough."""
    with contextlib.ExitStack() as held:
        idle = [held.enter_context(connected(daemon)) for _ in range(300)]
        cells.wait_until("room for another", lambda: is_served(daemon), seconds=30 * cells.SLOWNESS)
        assert all(s.recv(1) == b"" for s in idle)


def is_served(daemon):
    with contextlib.suppress(OSError):
        return daemon.get("/healthz").status == 200
    return False


# ---- anything ----

def with_faults(chance, data):
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randrange(len(data)), chance.randint(1, 6)
        piece = data[at:at + length]
        data[at:at + length] = chance.choice([b"", piece * 2, piece[::-1], chance.randbytes(length), b"\r\n", b"\0", b":", b"%"])
        data = data or bytearray(b" ")
    return bytes(data)


def test_requests_with_random_faults(daemon):
    """The same ones each time: pieces changed, doubled, left out. None is a job that runs, so each ends at once."""
    chance = random.Random(20260101)
    whole = [GET + END, POST + b"Prefer: respond-async, wait=5\r\nIdempotency-Key: k\r\nContent-Length: 13\r\n" + END + b'{"inputs": 1}',
             CHUNKED + b'7\r\n{"vars"\r\n6\r\n: [1]}\r\n0\r\n\r\n', b"GET /v1/card?policy=%2e%2e%2fx&a=b HTTP/1.1\r\nHost: x\r\n" + END,
             b"DELETE /v1/sessions/x/runs/../y HTTP/1.1\r\nHost: x\r\n" + END]
    for _ in range(4):
        with contextlib.ExitStack() as held:
            asked = []
            for _ in range(50):
                data = with_faults(chance, chance.choice(whole))
                s = held.enter_context(connected(daemon))
                send_and_close(s, data)
                asked.append((data, s))
            for data, s in asked:
                got = read_all(s)
                assert not got or got.startswith(b"HTTP/1.1 "), (data, got)
    assert daemon.get("/healthz").status == 200
