"""Commands beside the runs of a session, over HTTP: start, list, events, input, signals, and what is refused."""

import contextlib
import json
import os
import signal

import cells
import daemons
import pytest

pytestmark = pytest.mark.usefixtures("shell_tree")


@pytest.fixture(name="daemon", scope="module")
def shell_daemon(shell_tree):
    user = cells.caller()
    folder = cells.new_directory(user)
    counted = {} if cells.counts_memory(user) else {"limits": {"enforcement": "rlimits"}}
    (folder / "shell.json").write_text(json.dumps({"extends": str(daemons.SOURCE.parent / "policies" / "shell.json"), "name": "shell",
                                                   "tree": str(shell_tree), **counted}))
    with daemons.Daemon(user, base=False, env={"HOTCELL_POLICIES": str(folder)}) as running:
        yield running
        assert running.end() == 0, running.log


@pytest.fixture(name="session")
def open_session(daemon):
    path = daemon.session({"policy": "shell"})
    yield path
    daemon.request("DELETE", path)


def start(daemon, session, *command, **spec):
    answer = daemon.send(f"{session}/commands", {"command": list(command), **spec})
    assert answer.status == 201, answer
    assert answer.json["state"] == "running" and answer.json["pid"] > 1 and answer.json["exited"] is None, answer
    return f"{session}/commands/{answer.json['command_id']}"


def finished(daemon, command):
    """All events of a command; their stream ends with it."""
    answer = daemon.get(f"{command}/events")
    assert answer.status == 200, answer
    return answer.lines


def said(events, stream="stdout"):
    return "".join(event["text"] for event in events if event["event"] == stream)


def test_a_command_goes_on_beside_runs(daemon, session):
    cat = start(daemon, session, "cat")
    assert daemon.run(session, "open('made', 'w').write('x')")["state"] == "kept"
    other = start(daemon, session, "sh", "-c", "cat made; echo err >&2; exit 3")
    events = finished(daemon, other)
    assert [event["event"] for event in events][0] == "started" and said(events) == "x" and said(events, "stderr") == "err\n", events
    assert events[-1]["process"] == {"exit": 3} and events[-1]["status"] == "error", events
    assert daemon.send(f"{cat}/input", {"text": "one\n"}).status == 202
    assert daemon.send(f"{cat}/input", {"data": "dHdvCg==", "end": True}).status == 202
    events = finished(daemon, cat)
    assert said(events) == "one\ntwo\n" and events[-1]["process"] == {"exit": 0}, events
    listed = daemon.get(f"{session}/commands").json["commands"]
    assert [(one["command_id"], one["state"]) for one in listed] == [("c1", "ended"), ("c2", "ended")], listed
    assert daemon.get(cat).json["exited"] == events[-1]
    assert daemon.request("DELETE", cat).status == 204 and daemon.get(cat).status == 404


def test_a_command_is_started_and_signalled_while_a_run_goes_on(daemon, session):
    daemon.run(session, "import os\nos.mkfifo('/tmp/go')")
    connection = daemon.connect()
    connection.request("POST", f"{session}/runs", json.dumps({"code": "open('/tmp/go').read()"}), {"Content-Type": "application/json"})
    cells.wait_until("the run", lambda: daemon.get(session).json["state"] == "running")
    deaf = start(daemon, session, "sh", "-c", "trap 'echo term' TERM; echo up; while :; do sleep 0.01; done")
    stream = daemon.connect()
    stream.request("GET", f"{deaf}/events")
    response = stream.getresponse()
    lines = (json.loads(line) for line in response)
    assert next(lines)["event"] == "started" and next(lines)["text"] == "up\n"
    assert daemon.send(f"{deaf}/signal", {"signal": "TERM"}).status == 202
    assert any(event.get("text") == "term\n" for event in lines)  # behind what the shell says of its sleep
    assert daemon.request("DELETE", deaf).status == 202
    *_, last = lines
    assert (last["process"], last["status"]) == ({"signal": 9, "name": "SIGKILL"}, "killed"), last
    stream.close()
    start(daemon, session, "sh", "-c", "echo over > /tmp/go")
    result = json.loads(connection.getresponse().read())
    assert result["manifest"]["guest"]["value"]["application/json"] == "over\n", result
    connection.close()


def test_a_stream_is_gone_on_with_behind_the_last_event(daemon, session):
    command = start(daemon, session, "sh", "-c", "echo one; echo two >&2; read x; echo $x")
    daemon.send(f"{command}/input", {"text": "three\n"})
    finished(daemon, command)
    whole = daemon.get(f"{command}/events", headers={"Accept": "text/event-stream"}).messages
    assert [event["event"] for _, event in whole][-1] == "exited" and whole[-1][0] == "end", whole
    for i, (number, _) in enumerate(whole[:-1]):
        rest = daemon.get(f"{command}/events", headers={"Accept": "text/event-stream", "Last-Event-ID": number}).messages
        assert rest == whole[i + 1:], (number, rest)
    assert daemon.get(f"{command}/events", headers={"Accept": "text/event-stream", "Last-Event-ID": "end"}).status == 204


def test_what_is_refused(daemon, session):
    send = daemon.send
    cat = start(daemon, session, "cat")
    for path, body, status, says in (
            (f"{session}/commands", {"command": []}, 422, "command"),
            (f"{session}/commands", {"command": "ls"}, 422, "list"),
            (f"{session}/commands", {"code": "1"}, 422, "list"),
            (f"{session}/commands", {"command": ["true"], "id": "x"}, 422, "id"),
            (f"{session}/commands", {"command": ["true"], "stdin": "x"}, 422, "env, workdir and limits"),
            (f"{session}/commands", [], 400, "object"),
            (f"{cat}/input", {}, 422, "text"),
            (f"{cat}/input", {"text": 3}, 422, "text"),
            (f"{cat}/input", {"data": "?"}, 422, "base64"),
            (f"{cat}/input", {"id": "c9", "text": "x"}, 422, "text"),
            (f"{cat}/signal", {"signal": "SEGV"}, 422, "signal"),
            (f"{session}/commands/c99/input", {"text": "x"}, 404, "no such command"),
            ("/v1/sessions/none/commands", {"command": ["ls"]}, 404, "session")):
        answer = send(path, body)
        assert answer.status == status and says in answer.json["detail"], (path, body, answer)
    assert send(f"{cat}/input", {"end": True}).status == 202
    finished(daemon, cat)
    assert send(f"{cat}/input", {"text": "x"}).status == 409 and send(f"{cat}/signal", {"signal": "INT"}).status == 409
    assert daemon.get(f"{session}/commands/{'c' * 90}").status == 404
    assert daemon.run(session, "1")["state"] == "kept"


def test_no_more_than_sixteen_and_none_outlives_its_session(daemon):
    session = daemon.session({"policy": "shell"})
    commands = [start(daemon, session, "sleep", "999") for _ in range(16)]
    answer = daemon.send(f"{session}/commands", {"command": ["sleep", "1"]})
    assert answer.status == 409 and "16 commands go on" in answer.json["detail"], answer
    assert daemon.request("DELETE", session).status == 200
    last = finished(daemon, commands[0])[-1]
    assert (last["event"], last["status"], last["reason"]) == ("exited", "killed", "the session has ended"), last
    assert daemon.send(f"{session}/commands", {"command": ["true"]}).status == 410
    assert daemon.send(f"{commands[0]}/signal", {"signal": "INT"}).status in (409, 410)


def holder_of(daemon, program):
    """The process of the daemon below which this program runs, None: there is none."""
    for pid in daemon.children():
        below = [pid]
        for one in below:
            with contextlib.suppress(OSError):
                below += daemon.children(one)
        if program in map(daemons.name_of, below):
            return pid
    return None


def test_a_command_whose_session_is_lost_has_ended(daemon):
    session = daemon.session({"policy": "shell"})
    command = start(daemon, session, "sh", "-c", "echo here; exec sleep 997")
    cells.wait_until("its program", lambda: holder_of(daemon, "sleep"))
    os.kill(holder_of(daemon, "sleep"), signal.SIGKILL)
    events = finished(daemon, command)
    assert events[0]["event"] == "started" and events[-1]["event"] == "exited", events
    told = daemon.get(command).json
    assert told["state"] == "ended" and told["exited"] == events[-1], told
    assert (told["exited"]["status"], told["exited"]["process"]) == ("killed", {"signal": 9, "name": "SIGKILL"}), told
    assert "the process that held the session has died" in told["exited"]["reason"], told
    assert [one["state"] for one in daemon.get(f"{session}/commands").json["commands"]] == ["ended"]


def test_output_that_is_left_out_is_told_once(daemon, session):
    lines = finished(daemon, start(daemon, session, "sh", "-c", "yes | head -c 3000000"))
    assert [one["stream"] for one in lines if one["event"] == "cut"] == ["stdout"], lines[-3:]


def test_a_flood_that_nobody_reads_does_not_make_the_front_large(daemon, session):
    flood = start(daemon, session, "yes", limits={"stdout": "16M"})
    events = []

    def ended():
        events[:] = [one for one in daemon.get(f"{session}/commands").json["commands"] if one["exited"]]
        return daemon.run(session, "1")["run"] > 20
    cells.wait_until("twenty runs beside it", ended)
    daemon.request("DELETE", flood)
    lines = finished(daemon, flood)
    assert {"event": "cut", "command": "c1", "stream": "stdout"} in lines and len(said(lines)) < 1 << 20, lines[-3:]
    assert lines[-1]["event"] == "exited" and lines[-1]["stdout"]["bytes"] > 1 << 20, lines[-1]
