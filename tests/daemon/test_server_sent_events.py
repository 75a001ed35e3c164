"""Events of hotcelld as Server-Sent Events: their form, going on behind the last one, comments in silence."""

import json

import daemons
import pytest

SSE = {"Accept": "text/event-stream", "Content-Type": "application/json"}


class Stream:
    """The messages of a GET as they come."""

    def __init__(self, daemon, path, **headers):
        self.connection = daemon.connect()
        self.connection.request("GET", path, headers={**SSE, **headers})
        self.response = self.connection.getresponse()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def blocks(self):
        lines = []
        for line in self.response:
            if line != b"\n":
                lines.append(line.decode().rstrip("\n"))
                continue
            yield lines
            lines = []

    def __iter__(self):
        for block in self.blocks():
            if block != [":"]:
                message = dict(line.split(": ", 1) for line in block)
                yield message["id"], json.loads(message["data"])


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):
    with daemons.Daemon(config={"workers": 2, "quotas": {"sessions": 1}}) as d:
        yield d
        assert d.end() == 0, d.log


def submit(daemon, code):
    return daemon.request("POST", "/v1/jobs", json.dumps(daemon.spec(code)).encode(),
                          {"Prefer": "respond-async", "Content-Type": "application/json"}).json["job_id"]


def events_of(answer):
    return [event for _, event in answer.messages]


def test_a_job_in_this_form_and_as_lines(daemon):
    """Lines longer than a block, and output that is no text."""
    spec = daemon.spec({"code": "import sys\nprint('x' * 100_000)\nsys.stdout.flush()\nsys.stderr.buffer.write(b'\\xff')", "limits": {"stdout": "1M"}})
    answer = daemon.request("POST", "/v1/jobs", json.dumps(spec).encode(), SSE)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
    seen = events_of(answer)
    assert [event for event in seen if event["event"] == "state"] == [{"event": "state", "state": state} for state in ("queued", "running", "done")]
    assert "".join(event["text"] for event in seen if event["event"] == "stdout") == "x" * 100_000 + "\n"
    assert [event["data"] for event in seen if event["event"] == "stderr"] == ["/w=="]
    assert seen[-2]["manifest"]["stdout"]["text"] == "x" * 100_000 + "\n"
    ids = [name for name, _ in answer.messages]
    assert ids[-1] == "end" and len(set(ids)) == len(ids) and sorted(map(int, ids[:-1])) == [int(name) for name in ids[:-1]]


def test_a_client_goes_on_behind_the_last_event_that_it_has(daemon):
    job = submit(daemon, "import sys, time\nsys.stdout.write('a')\nsys.stdout.flush()\ntime.sleep(100)")
    path = f"/v1/jobs/{job}/events"
    with Stream(daemon, path) as stream:
        messages = iter(stream)
        first = next(message for message in messages if message[1]["event"] == "stdout")
        with Stream(daemon, path, **{"Last-Event-ID": first[0]}) as again:
            daemon.request("POST", f"/v1/jobs/{job}/cancel")
            rest = list(again)
            assert list(messages) == rest and [event["event"] for _, event in rest] == ["manifest", "state"]
    late = daemon.get(path, headers={**SSE, "Last-Event-ID": first[0]})
    assert [event["event"] for event in events_of(late)] == ["gap", "manifest", "state"]
    assert [event["event"] for event in events_of(daemon.get(path, headers=SSE))] == ["manifest", "state"]
    assert daemon.get(path, headers={**SSE, "Last-Event-ID": "end"}).status == 204
    for wrong in ("-1", "x", "1", "99999999999999999999"):
        assert events_of(daemon.get(path, headers={**SSE, "Last-Event-ID": wrong}))[0] == {"event": "gap"}, wrong


def test_silence_is_broken_by_comments(daemon):
    job = submit(daemon, {"code": "import time\ntime.sleep(100)", "limits": {"timeout": 100}})
    with Stream(daemon, f"/v1/jobs/{job}/events") as stream:
        assert [":"] in stream.blocks()  # the job would go on for longer
    daemon.request("POST", f"/v1/jobs/{job}/cancel")


def test_a_run_of_a_session_and_when_to_ask_again_for_another_session(daemon):
    begun = daemon.request("POST", "/v1/sessions", json.dumps(daemon.spec({})).encode(), {"Content-Type": "application/json"})
    place = f"/v1/sessions/{begun.json['session_id']}"
    refused = daemon.request("POST", "/v1/sessions", json.dumps(daemon.spec({})).encode(), {"Content-Type": "application/json"})
    assert (refused.status, refused.json["quota"], refused.headers["Retry-After"], refused.json["retry_after"]) == (429, "sessions", "5", 5)
    answer = daemon.request("POST", f"{place}/runs", json.dumps({"code": "print(1)\n2"}).encode(), SSE)
    seen = events_of(answer)
    assert "".join(event["text"] for event in seen if event["event"] == "stdout") == "1\n" and seen[-1]["event"] == "result"
    assert {name for name, _ in answer.messages} == {None}  # no route goes on behind one of these
    daemon.request("DELETE", place)
