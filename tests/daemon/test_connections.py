"""Connections to hotcelld: there are only so many, nobody can have them all, and each that ends makes room for another."""

import contextlib

import cells
import daemons
import pytest

ALL, ONES = 6, 3
HELLO = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@contextlib.contextmanager
def daemon_with(user, connections, ones):
    config = {"workers": 1, "socket": {"mode": "0666"}, "http": {"connections": connections, "tenant_connections": ones}}
    with daemons.Daemon(user, config=config) as d:
        yield d
        assert d.end() == 0, d.log


@contextlib.contextmanager
def silent(daemon, count, uid=None):
    """Connections on which nothing is said."""
    with contextlib.ExitStack() as held:
        found = []
        for _ in range(count):
            connection = held.enter_context(contextlib.closing(daemon.connect(uid)))
            connection.connect()
            found.append(connection.sock)
        yield found


def read_all(s):
    s.settimeout(cells.PATIENCE)
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while more := s.recv(65536):
            got += more
    return got


def ask(s):
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        s.sendall(HELLO)
    return read_all(s)


def test_a_client_that_waits_for_a_connection_gets_the_next_that_ends(user):
    with daemon_with(user, connections=ONES, ones=ONES) as d:
        for _ in range(3):
            with silent(d, ONES) as held, silent(d, 1) as [waiting]:
                waiting.sendall(HELLO)
                for s in held:
                    s.close()
                assert read_all(waiting).startswith(b"HTTP/1.1 200")


def test_silent_connections_of_one_user_are_no_more_than_a_tenants(user):
    with daemon_with(user, connections=ALL, ones=ONES) as d:
        with silent(d, ALL) as held:
            for s in held[ONES:]:
                assert read_all(s) == b""
            assert ask(held[0]).startswith(b"HTTP/1.1 200")
            with silent(d, 1) as [another]:  # in the place of that one
                assert ask(another).startswith(b"HTTP/1.1 200")


def test_others_are_served_beside_somebody_silent():
    cells.need_root()
    with daemon_with(cells.caller(), connections=ALL, ones=ONES) as d:
        with silent(d, ALL, uid=61236):
            assert d.get("/v1/jobs").status == 200
            with silent(d, ALL, uid=61237):  # whose last wait until one of the others ends
                pass
            assert d.get("/v1/jobs", uid=61238).status == 200


def test_a_client_whose_tenant_is_known_counts_as_that_tenant(user):
    """As many again as are silent: the bound is on each of the two."""
    with daemon_with(user, connections=ALL + 1, ones=ONES) as d:
        with contextlib.ExitStack() as held:
            for _ in range(ONES):
                connection = held.enter_context(contextlib.closing(d.connect()))
                connection.request("GET", "/v1/jobs")
                answer = connection.getresponse()
                assert (answer.status, bool(answer.read())) == (200, True)
            with silent(d, ONES) as others:
                with pytest.raises(ConnectionError):
                    d.get("/v1/jobs")
                assert ask(others[0]).startswith(b"HTTP/1.1 200")
            assert d.get("/v1/jobs").json["quota"] == "connections"
