"""Contexts of sessions over HTTP: interpreters side by side in the cell of one session."""

import threading

import cells
import daemons
import pytest


@pytest.fixture(name="daemon", scope="module")
def module_daemon(daemons_user):
    with daemons.Daemon(daemons_user, config={"socket": {"mode": "0666"}, "workers": 1, "quotas": {"sessions": 2}}) as d:
        yield d
        assert d.end() == 0, d.log


@pytest.fixture(name="session")
def one_session(daemon):
    path = daemon.session({"limits": {"timeout": 30 * cells.SLOWNESS}})
    yield path
    assert daemon.request("DELETE", path).status == 200


def run_in(daemon, session, context, code, **more):
    """The value of a run."""
    answer = daemon.send(f"{session}/runs", {"code": code, **({} if context is None else {"context": context}), **more})
    assert answer.status == 200, answer
    assert answer.json["manifest"]["context"] == (context or "main")
    return ((answer.json["manifest"]["guest"] or {}).get("value") or {}).get("application/json")


def names(daemon, session):
    return [one["name"] for one in daemon.get(f"{session}/contexts").json["contexts"]]


class Running:
    """A run that has begun in a context, and goes on until something ends it."""

    def __init__(self, daemon, session, **body):
        self.answer = None
        self.thread = threading.Thread(target=self.wait, args=(daemon, session, body), daemon=True)
        self.thread.start()
        cells.wait_until("a run", lambda: daemon.get(session).json["state"] == "running", cells.PATIENCE)

    def wait(self, daemon, session, body):
        self.answer = daemon.send(f"{session}/runs", {"code": "while True: pass", **body})

    def error(self):
        self.thread.join(cells.PATIENCE)
        return self.answer.json["manifest"]["guest"]["error"]["type"]


def test_runs_name_their_context_and_share_its_files(daemon, session):
    assert daemon.get(f"{session}/contexts").json == {"contexts": [{"name": "main", "workdir": "/output"}]}
    run_in(daemon, session, None, "x = 1\nopen('f', 'w').write('first')")
    made = daemon.send(f"{session}/contexts", {"name": "b", "workdir": "/tmp"})
    assert (made.status, made.json) == (201, {"name": "b", "workdir": "/tmp"})
    named = daemon.send(f"{session}/contexts", {})
    assert (named.status, named.json) == (201, {"name": "context-1", "workdir": "/output"})
    assert run_in(daemon, session, "b", "import os\n[os.getcwd(), 'x' in globals(), open('/output/f').read()]") == ["/tmp", False, "first"]
    run_in(daemon, session, "b", "x = 2")
    assert [run_in(daemon, session, name, "x") for name in (None, "b", "main")] == [1, 2, 1]
    assert names(daemon, session) == ["main", "b", "context-1"]
    assert daemon.request("DELETE", f"{session}/contexts/context-1").status == 204
    assert daemon.request("POST", f"{session}/contexts/b/restart").json == {"name": "b", "workdir": "/tmp"}
    assert run_in(daemon, session, "b", "'x' in globals()") is False and names(daemon, session) == ["main", "b"]
    assert daemon.request("POST", f"{session}/contexts/main/restart").status == 200
    assert run_in(daemon, session, None, "'x' in globals()") is False


def test_states_and_branches_are_those_of_the_context_that_is_named(daemon, session):
    daemon.send(f"{session}/contexts", {"name": "b"})
    run_in(daemon, session, "b", "x = 1")
    assert daemon.send(f"{session}/checkpoints", {"name": "p", "context": "b"}).json["state"] == "that of run 1"
    run_in(daemon, session, "b", "x = 2")
    branches = daemon.send(f"{session}/branches", {"runs": [{"code": f"x += {n}", "context": "b"} for n in (10, 20)]})
    assert branches.status == 200 and daemon.send(f"{session}/keep", {"branch": 2}).status == 200
    assert run_in(daemon, session, "b", "x") == 22
    assert daemon.send(f"{session}/rollback", {"name": "p", "context": "b"}).status == 200
    assert run_in(daemon, session, "b", "x") == 1 and run_in(daemon, session, None, "'x' in globals()") is False
    assert daemon.send(f"{session}/contexts", {"name": "c", "from": "p"}).status == 201
    assert run_in(daemon, session, "c", "x") == 1


@pytest.mark.parametrize("method, path, body", [
    ("POST", "/runs", {"code": "1", "context": "b"}), ("POST", "/branches", {"runs": [{"code": "1", "context": "b"}]}),
    ("POST", "/checkpoints", {"name": "p", "context": "b"}), ("POST", "/rollback", {"name": "p", "context": "b"}),
    ("DELETE", "/contexts/b", None), ("POST", "/contexts/b/restart", None)])
def test_one_that_is_not_there_is_told_in_one_line(daemon, session, method, path, body):
    answer = daemon.send(f"{session}{path}", body) if body else daemon.request(method, f"{session}{path}")
    assert (answer.status, answer.json["detail"]) == (404, "there is no context 'b'"), answer
    assert daemon.get(session).json["runs"] == 0


@pytest.mark.parametrize("body, status, says", [
    ({"name": "a b"}, 422, "a b"), ({"name": "main"}, 422, "already"), ({"from": "p"}, 422, "no checkpoint 'p'"), ({"workdir": "d"}, 422, "absolute"),
    ({"workdir": "/nowhere"}, 422, "'/nowhere' is no directory"), ({"title": "b"}, 422, "unknown member 'title'"), (["b"], 400, "expected an object")])
def test_wrong_requests_are_explained(daemon, session, body, status, says):
    answer = daemon.send(f"{session}/contexts", body)
    assert answer.status == status and says in answer.json["detail"], answer
    assert names(daemon, session) == ["main"]


def test_there_are_eight_and_the_first_stays(daemon, session):
    for _ in range(7):
        assert daemon.send(f"{session}/contexts", {}).status == 201
    ninth = daemon.send(f"{session}/contexts", {})
    assert ninth.status == 422 and "at most 8 contexts" in ninth.json["detail"], ninth
    assert len(names(daemon, session)) == 8
    first = daemon.request("DELETE", f"{session}/contexts/main")
    assert first.status == 422 and "ends with the session" in first.json["detail"], first


@pytest.mark.parametrize("change", [("POST", "/contexts/b/restart", 200), ("DELETE", "/contexts/b", 204)], ids=["restart", "end"])
def test_a_run_that_goes_on_in_it_is_interrupted(daemon, session, change):
    daemon.send(f"{session}/contexts", {"name": "b"})
    run_in(daemon, session, "b", "x = 1")
    run = Running(daemon, session, context="b")
    method, path, status = change
    assert daemon.request(method, f"{session}{path}").status == status
    assert run.error() == "KeyboardInterrupt"
    assert run_in(daemon, session, "b", "'x' in globals()") is False if status == 200 else names(daemon, session) == ["main"]


def test_while_another_runs_it_waits_for_nothing(daemon, session):
    daemon.send(f"{session}/contexts", {"name": "b"})
    run = Running(daemon, session)
    for answer in (daemon.request("DELETE", f"{session}/contexts/b"), daemon.request("POST", f"{session}/contexts/b/restart"),
                   daemon.send(f"{session}/contexts", {}), daemon.send(f"{session}/runs", {"code": "1", "context": "b"})):
        assert (answer.status, answer.json["retry"]) == (409, "not_started"), answer
    assert names(daemon, session) == ["main", "b"]  # the list does not wait
    assert daemon.request("POST", f"{session}/interrupt").status == 202 and run.error() == "KeyboardInterrupt"
    assert run_in(daemon, session, "b", "1") == 1


def test_they_end_with_the_session_and_with_the_daemon(daemons_user):
    with daemons.Daemon(daemons_user, config={"workers": 1}) as d:
        one, two = d.session({}), d.session({})
        for session in (one, two):
            assert d.send(f"{session}/contexts", {"name": "b"}).status == 201
            run_in(d, session, "b", "1")
        ended = d.request("DELETE", one).json
        assert [run["context"] for run in ended["manifest"]["runs"]] == ["b"], ended
        assert [d.get(f"{one}/contexts").status, d.request("DELETE", f"{one}/contexts/b").status, d.send(f"{one}/contexts", {}).status] == [410] * 3
        assert d.end() == 0
        d.start_again()
        assert d.get(f"{two}/contexts").status == d.send(f"{two}/runs", {"code": "1", "context": "b"}).status == 404
        assert d.end() == 0
