"""Sessions over HTTP: interpreters that keep their state between requests, each in a process of the daemon's own."""

import json
import os
import signal
import threading
from pathlib import Path

import cells
import daemons
import session_client
import pytest


@pytest.fixture(name="daemon", scope="module")
def module_daemon(daemons_user):
    """One for all tests that leave it as it was."""
    with daemons.Daemon(daemons_user, config={"socket": {"mode": "0666"}, "workers": 1, "quotas": {"sessions": 2}}) as d:
        yield d
        assert d.end() == 0, d.log
        assert not list((d.state / "inputs").glob("*/*")), "inputs of a session that has ended"


@pytest.fixture(name="session")
def one_session(daemon):
    path = daemon.session({"vars": {"n": 3}, "inputs": {"text": {"file": "text.txt", "text": "input"}}})
    yield path
    if daemon.get(path).json["state"] != "ended":
        assert daemon.request("DELETE", path).status == 200
    assert daemon.request("DELETE", path).status == 204
    assert daemon.get(path).status == 404


def value(result):
    return result["manifest"]["guest"]["value"]["application/json"]


def in_background(function, *arguments, **more):
    """Its result, once it is asked for."""
    kept = []
    thread = threading.Thread(target=lambda: kept.append(function(*arguments, **more)), daemon=True)
    thread.start()

    def result():
        thread.join(cells.PATIENCE)
        assert kept, "no answer, or an exception that the thread has printed"
        return kept[0]
    return result


def begin_run(daemon, session, code, **more):
    """A run that has begun and goes on: the connection on which it is answered."""
    result = in_background(daemon.send, f"{session}/runs", {"code": code, **more})
    cells.wait_until("a run", lambda: daemon.get(session).json["state"] == "running", cells.PATIENCE)
    return result


# ---- state ----

def test_state_lives_from_run_to_run(daemon, session):
    assert value(daemon.run(session, "x = n\ntext = open('/input/text.txt').read()\nx")) == 3
    result = daemon.run(session, "x += 1\n[x, text]")
    assert (result["run"], result["state"], value(result)) == (2, "kept", [4, "input"])
    assert daemon.get(session).json["last"] == result
    listed = daemon.get("/v1/sessions").json["sessions"]
    assert [s["after"] for s in listed if session.endswith(s["session_id"])] == ["that of run 2"]


def test_a_run_that_is_killed_costs_only_itself(daemon, session):
    daemon.run(session, "x = 1")
    result = daemon.run(session, "x = 2\nsum(range(10 ** 12))", limits={"timeout": 0.5 * cells.SLOWNESS, "grace": 0})
    assert (result["manifest"]["status"], result["state"]) == ("timeout", "rolled back to run 1")
    assert daemon.get(session).json["after"] == "that of run 1"
    assert value(daemon.run(session, "x")) == 1


@pytest.mark.parametrize("frame", session_client.FORGED_FRAMES)
def test_a_run_has_no_say_in_what_is_told_of_later_ones(daemon, frame):
    session_client.need_contexts()
    session = daemon.session({"policy": "none"})
    try:
        assert daemon.run(session, session_client.forger(frame))["manifest"]["status"] == "ok"
        session_client.says_nothing_forged(lambda code: daemon.run(session, code)["manifest"])
    finally:
        assert daemon.request("DELETE", session).status == 200
        assert daemon.request("DELETE", session).status == 204


@pytest.mark.parametrize("code, path", [
    ("import random\nrandom._inst.getstate = lambda: os._exit(0)", "/checkpoints"),
    ("os.register_at_fork(after_in_child=lambda: os._exit(0))", "/rollback"),
], ids=["at a checkpoint", "when it goes back to one"])
def test_a_process_that_ends_is_no_failure_of_the_daemons(daemon, code, path):
    """The request is refused; a session that goes on has the next run say why nothing of it ran."""
    session = daemon.session({"policy": "none"})
    daemon.run(session, "x = 1")
    daemon.run(session, "import os\n" + code)
    if path == "/rollback":
        assert daemon.send(f"{session}/checkpoints", {"name": "one"}).status == 200
    answer = daemon.send(f"{session}{path}", {"name": "one"})
    assert answer.status == 422, answer
    if path == "/rollback":
        assert "state is lost" in answer.json["detail"], answer
        cells.wait_until("the session has ended", lambda: daemon.get(session).json["state"] == "ended")
        assert daemon.get(session).json["reason"] == "lost"
        return
    assert "the session's process ended" in answer.json["detail"], answer
    run = daemon.run(session, "1")
    assert (run["state"], run["manifest"]["status"]) == ("rolled back to run 1", "error"), run
    assert daemon.request("DELETE", session).status == 200


def test_checkpoints_and_branches(daemon, session):
    daemon.run(session, "x = 1")
    assert daemon.send(f"{session}/checkpoints", {"name": "one"}).json["state"] == "that of run 1"
    branches = daemon.send(f"{session}/branches", {"runs": [{"code": "x = 10; x"}, {"code": "x = 20; x"}, {"nothing": 1}]}).json["branches"]
    assert [value(b) if b["event"] == "result" else b["message"] for b in branches[:2]] == [10, 20]
    assert "nothing" in branches[2]["message"]
    assert daemon.get(session).json["branches"] == 3
    refused = daemon.send(f"{session}/runs", {"code": "x"})
    assert refused.status == 422 and "keep one" in refused.json["detail"]
    assert daemon.send(f"{session}/keep", {"branch": 2}).json["state"] == "that of run 3"
    assert value(daemon.run(session, "x")) == 20
    assert daemon.send(f"{session}/rollback", {"name": "one"}).json["state"] == "that of run 1"
    assert value(daemon.run(session, "x")) == 1
    assert daemon.send(f"{session}/rollback", {"name": "two"}).status == 422


def test_an_interrupt_ends_a_run_and_not_the_session(daemon, session):
    daemon.run(session, "x = 1")
    run = begin_run(daemon, session, "import time\nx = 2\ntime.sleep(100)", limits={"timeout": 100 * cells.SLOWNESS})
    busy = daemon.send(f"{session}/runs", {"code": "1"})
    assert (busy.status, busy.json["retry"]) == (409, "not_started")
    # Only one that has begun to run can be interrupted: until then nothing happens, and it is asked again.
    def is_interrupted():
        assert daemon.send(f"{session}/interrupt").status == 202
        return daemon.get(session).json["state"] != "running"
    cells.wait_until("the end of the run", is_interrupted, cells.PATIENCE)
    result = run().json
    assert (result["manifest"]["guest"]["error"]["type"], result["state"]) == ("KeyboardInterrupt", "kept")
    assert value(daemon.run(session, "x")) in (1, 2)


def test_events_of_a_run(daemon, session):
    lines = daemon.send(f"{session}/runs", {"code": "print('a', flush=True)\n1 + 1"}, {"Accept": "application/x-ndjson"}).lines
    assert {line["event"] for line in lines[:-1]} == {"stdout"}
    assert ("".join(line["text"] for line in lines[:-1]), value(lines[-1])) == ("a\n", 2)
    [line] = daemon.send(f"{session}/runs", {"code": "1", "vars": []}, {"Accept": "application/x-ndjson"}).lines
    assert line["problem"]["status"] == 422
    assert daemon.run(session, "print(1)")["manifest"]["stdout"]["text"] == "1\n"


def test_files_of_a_session(daemon, session):
    result = daemon.run(session, "_ = open('/output/a.txt', 'w').write('a')")
    assert [f["path"] for f in result["manifest"]["files"]] == ["a.txt"]
    assert daemon.get(f"{session}/files/a.txt").body == b"a"
    for path in ("b.txt", "../a", "manifest.json/.."):
        assert daemon.get(f"{session}/files/{path}").status == 404
    program = daemon.run(session, "1 + 1", persist_code=True)["manifest"]["code_path"]
    assert b"1 + 1" in daemon.get(f"{session}/files/{program}").body
    assert b"job_id" in daemon.get(f"{session}/files/{program[:-3]}.json").body
    ended = daemon.request("DELETE", session).json
    assert (ended["state"], ended["reason"]) == ("ended", "closed")
    assert [f["path"] for f in ended["manifest"]["files"]] == ["a.txt"]
    assert [r["state"] for r in ended["manifest"]["runs"]] == ["kept", "kept"]
    assert daemon.get(f"{session}/files/a.txt").body == b"a"
    assert daemon.get(session.replace("sessions", "jobs")).json["manifest"] == ended["manifest"]


def test_the_manifest_of_one_that_has_ended_may_be_long(daemon, session):
    """Longer than what is remembered of it in memory."""
    code = "for i in range(400): open(f'/output/{i}' + 'x' * 200, 'w').close()"
    assert daemon.run(session, code)["manifest"]["status"] == "ok"
    ended = daemon.request("DELETE", session).json
    assert len(ended["manifest"]["files"]) == 400 and len(json.dumps(ended)) > 65536 + 4096
    assert daemon.get(session).json == ended


# ---- the end ----

def test_state_that_is_gone_is_said_to_be_gone(daemon, session):
    daemon.run(session, "x = 1")
    assert daemon.request("DELETE", session).status == 200
    for path, body in (("runs", {"code": "x"}), ("rollback", {"name": "a"}), ("interrupt", None)):
        answer = daemon.send(f"{session}/{path}", body)
        assert (answer.status, answer.json["retry"]) == (410, "not_started"), answer


@pytest.mark.parametrize("limits, runs, reason", [({"session_idle": 1}, 0, "idle"), ({"session_runs": 1}, 1, "runs"),
                                                  ({"session_cpu": "10ms"}, 1, "cpu")])
def test_a_session_ends_by_its_limits(daemon, limits, runs, reason):
    session = daemon.session({"limits": limits})
    for _ in range(runs):
        daemon.run(session, "import time\nwhile time.process_time() < 0.2: pass")
    while daemon.get(session).json["state"] != "ended":
        pass
    assert daemon.get(session).json["reason"] == reason
    answer = daemon.send(f"{session}/runs", {"code": "1"})
    assert answer.status == 410 and reason in answer.json["detail"]


def test_the_end_of_its_process_is_the_end_of_a_session(daemon, session):
    before = set(daemon.children())
    other = daemon.session()
    [process] = set(daemon.children()) - before
    run = begin_run(daemon, other, "import time; time.sleep(100)", limits={"timeout": 100 * cells.SLOWNESS})
    os.kill(process, signal.SIGKILL)
    lost = run()
    assert (lost.status, lost.json["retry"]) == (410, "started_outcome_unknown")
    assert daemon.get(other).json["reason"] == "lost"
    assert value(daemon.run(session, "1")) == 1, "another session"


def test_a_session_is_ended_while_it_runs(daemon, session):
    """Whether its run has got so far as to be the program or not: no state is told that is not there."""
    other, limits = daemon.session(), {"timeout": 100 * cells.SLOWNESS}
    run = begin_run(daemon, session, "while True: pass", limits=limits)
    assert daemon.request("DELETE", session).json["reason"] == "cancelled"
    first = run()
    assert first.status == 410 if "state" not in first.json else first.json["state"] == "lost"
    daemon.run(other, "x = 1")
    connection = ask_for_events(daemon, f"{other}/runs", {"code": "print('here', flush=True)\nwhile True: pass", "limits": limits})
    lines = calls_of(connection)
    assert next(lines)["event"] == "stdout"
    ended = daemon.request("DELETE", other).json
    assert (ended["reason"], [r["state"] for r in ended["manifest"]["runs"]]) == ("cancelled", ["kept", "lost"])
    assert [line["state"] for line in lines if line["event"] != "stdout"] == ["lost"]
    connection.close()


# Programs that make much of what is told of a run. The first one asks for input that has ended already.
FLOODS = {
    "requests for input": ("for _ in range(800):\n    try: input('\\x01' * 4095)\n    except EOFError: pass\n'through'", True),
    "output": ("for _ in range(40): print('\\x01' * 100_000, flush=True)\n'through'", False),
}


@pytest.mark.parametrize("flood", FLOODS)
def test_a_client_that_does_not_read_keeps_nobody_waiting(daemon, session, flood):  # pylint: disable=unused-argument
    """What it does not read is left out and counted, so the run ends as any other, and the session does."""
    code, interactive = FLOODS[flood]
    other = daemon.session()
    spec = {"code": code, "interactive": interactive, "limits": {"stdout": "8M", "timeout": 60 * cells.SLOWNESS}}
    connection = ask_for_events(daemon, f"{other}/runs", spec)
    if interactive:
        cells.wait_until("a run", lambda: daemon.send(f"{other}/input", {"input": None}).status < 300)
    cells.wait_until("the end of the run", lambda: daemon.get(other).json["state"] == "idle", cells.PATIENCE)
    lines = list(calls_of(connection))
    [result] = [line for line in lines if line["event"] == "result"]
    assert value(result) == "through", result["manifest"]["reason"]
    told = [line for line in lines if line["event"] in ("stdout", "input_request")]
    assert sum(len(json.dumps(line)) for line in told) <= 9 << 20
    assert [line for line in lines if line["event"] == "cut" and line.get("omitted")], "what was left out is counted"
    connection.close()
    assert daemon.request("DELETE", other).json["reason"] == "closed"


def test_a_session_that_says_more_than_is_kept_ends_and_frees_its_place(base_tree):  # pylint: disable=unused-argument
    """Its process does not wait for a front that reads no more."""
    config = {"workers": 1, "sessions": 1, "quotas": {"sessions": 1}}
    with daemons.Daemon(config=config) as d:
        other = d.session()
        run = {"code": "for _ in range(167): print('\\x01' * 100_000)", "limits": {"stdout": "16M", "timeout": 60 * cells.SLOWNESS}}
        answer = d.send(f"{other}/branches", {"runs": [run, run]})
        assert (answer.status, answer.json["retry"]) == (410, "started_outcome_unknown"), answer
        ended = d.get(other).json
        assert (ended["state"], ended["reason"]) == ("ended", "output"), ended
        assert d.request("DELETE", other).status == 204
        assert value(d.run(d.session(), "1")) == 1
        assert d.end() == 0, d.log


def test_sessions_end_with_the_daemon(user):
    with daemons.Daemon(user) as d:
        session = d.session()
        d.run(session, "x = 1")
        assert d.end() == 0, d.log
        d.start_again()
        answer = d.get(session)
        assert answer.status == 404 and "end with the daemon" in answer.json["detail"]
        assert d.get(session.replace("sessions", "jobs")).json["manifest"]["runs"][0]["state"] == "kept"


# ---- what is refused ----

def test_sessions_are_bounded(daemon, session):
    other = daemon.session()
    answer = daemon.send("/v1/sessions", daemon.spec({}))
    assert (answer.status, answer.json["quota"]) == (429, "sessions")
    daemon.request("DELETE", other)
    daemon.request("DELETE", daemon.session())


def test_another_tenants_session_does_not_exist(daemon, session):
    cells.need_root()
    for method, path in (("GET", session), ("DELETE", session), ("POST", f"{session}/interrupt")):
        assert daemon.request(method, path, uid=61234).status == 404
    for path, body in (("runs", {"code": "1"}), ("keep", {"branch": 0}), ("tools/1", {"value": 1})):
        assert daemon.send(f"{session}/{path}", body, uid=61234).status == 404
    assert daemon.get("/v1/sessions", uid=61234).json == {"sessions": []}


@pytest.mark.parametrize("path, body, status, says", [
    ("", {"code": "1"}, 400, "for a run of a session"),
    ("", {"output_dir": "/tmp"}, 400, "not the sender's"),
    ("", {"policy": "nothing"}, 422, "nothing"),
    ("", {"tree": "nothing"}, 422, "nothing"),
    ("/runs", {"cod": "1"}, 422, "cod"),
    ("/runs", {"code": "1", "policy": "none"}, 422, "session as a whole"),
    ("/runs", {"code": "1", "inputs": {"a": "/etc/passwd"}}, 422, "inputs.a: expected an object with"),
    ("/runs", ["code"], 400, "expected an object"),
    ("/branches", {"code": "1"}, 400, "expected"),
    ("/branches", {"runs": []}, 422, "1 to 8"),
    ("/keep", {"branch": 1.5}, 422, "number"),
    ("/checkpoints", {"name": "a b"}, 422, "a b"),
])
def test_wrong_requests_about_sessions_are_explained(daemon, session, path, body, status, says):
    answer = daemon.send(f"{session if path else '/v1/sessions'}{path}", body)
    assert answer.status == status and says in answer.json["detail"], answer
    assert daemon.get(session).json["state"] == "idle"


def test_one_that_is_ended_while_it_begins_or_has_branches_is_cancelled(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        session = d.session({"limits": {"timeout": 100 * cells.SLOWNESS}})
        branches = in_background(d.send, f"{session}/branches", {"runs": [{"code": "while True: pass"}] * 2})
        cells.wait_until("branches", lambda: d.get(session).json["state"] == "running")
        ended = d.request("DELETE", session).json
        assert (ended["state"], ended["reason"]) == ("ended", "cancelled"), ended
        answer = branches()
        assert (answer.status, answer.json["retry"]) == (410, "started_outcome_unknown") and "cancelled" in answer.json["detail"], answer
        os.kill(d.pid, signal.SIGSTOP)  # nobody starts a process for it
        begun = in_background(d.send, "/v1/sessions", {})
        cells.wait_until("a session", lambda: len(d.get("/v1/sessions").json["sessions"]) == 2)
        [starting] = [s["session_id"] for s in d.get("/v1/sessions").json["sessions"] if s["state"] == "starting"]
        ended = d.request("DELETE", f"/v1/sessions/{starting}").json
        os.kill(d.pid, signal.SIGCONT)
        assert (ended["state"], ended["reason"], begun().status) == ("ended", "cancelled", 409), ended
        assert d.get(f"/v1/sessions/{starting}").status == 404
        assert d.request("DELETE", d.session({})).json["reason"] == "closed", "others begin and end"


def test_the_manual_has_all_reasons_for_an_end():
    page = (cells.BUILD / "man/hotcelld.8").read_text().partition("reason :\n.Bl")[2].partition("\n.El")[0]
    named = {word for line in page.splitlines() if line.startswith(".It ") for word in line.split() if word not in (".It", "Ql", ",")}
    assert named == set(daemons.openapi()["components"]["schemas"]["Session"]["properties"]["reason"]["enum"])


# A quota, how much of it there is, and a run that uses all of that up.
USED_UP = {
    "files": ("stored_bytes", "1M", {"code": "open('f', 'wb').write(bytes(1 << 20))"}),
    "figures": ("stored_bytes", "1K", {"code": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"}),
    "kept programs": ("stored_bytes", "900K", {"code": "#" * (900 << 10), "persist_code": True}),
    "memory": ("gb_seconds", 0.001, {"code": "import time\nx = b'x' * (64 << 20)\ntime.sleep(0.2)"}),
}


@pytest.mark.parametrize("what", USED_UP)
def test_what_a_run_leaves_and_uses_counts_when_it_ends(what, user, request):
    """A session may have ten thousand runs: were they counted at its end, no quota would hold."""
    quota, most, spec = USED_UP[what]
    tree, env = {}, {}
    if what == "figures":  # a user need not have this tree: the caller's are for all to read
        tree, env = {"tree": "scientific"}, {"HOTCELL_STATE": str(Path(request.getfixturevalue("scientific")).parents[1])}
    with daemons.Daemon(user, config={"workers": 1, "quotas": {quota: most}}, env=env) as d:
        session = d.session(tree)
        assert d.send(f"{session}/runs", spec).json["manifest"]["status"] == "ok"
        answer = d.send(f"{session}/runs", spec)
        assert (answer.status, answer.json["quota"], answer.json["retry"]) == (429, quota, "not_started")
        assert d.request("DELETE", session).status == 200
        assert d.send("/v1/sessions", d.spec(tree)).status == 429
        if quota == "stored_bytes":
            assert "(DELETE /v1/jobs/ID)" in answer.json["detail"], answer.json
            assert d.request("DELETE", session).status == 204
            d.session(tree)
        assert d.end() == 0


def test_a_job_that_waits_for_the_memory_of_a_session_runs_when_that_ends(user):
    with daemons.Daemon(user, config={"workers": 1, "quotas": {"memory": "256M"}}) as d:
        session = d.session({"limits": {"memory": "200M"}})
        job = d.post({"code": "1", "limits": {"memory": "100M"}}, {"Prefer": "respond-async"})
        place = job.headers["Location"]
        assert job.status == 202 and d.get(place).json["state"] == "queued"
        assert d.request("DELETE", session).status == 200
        assert d.get(place).json["state"] != "queued"
        cells.wait_until("the job has run", lambda: d.get(place).json["state"] == "done")


# ---- tools ----

TOOLS = {"add": {"description": "a sum", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                                                        "required": ["a", "b"]}}}


def calls_of(connection):
    """The lines of an answer, one by one as they come."""
    response = connection.getresponse()
    assert response.status == 200, response.read()
    while line := response.readline():
        yield json.loads(line)


def ask_for_events(daemon, path, body):
    connection = daemon.connect()
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", "Accept": "application/x-ndjson"})
    return connection


def answer_calls(daemon, lines, where):
    """Each with the sum; the other lines."""
    rest = []
    for line in lines:
        if line["event"] != "tool_call":
            rest.append(line)
            continue
        place = f"{where}/tools/{line['id']}"
        assert daemon.send(place, {"sum": 1}).status == 400
        values = line["arguments"]
        answer = {"value": values["a"] + values["b"]} if values["a"] >= 0 else {"error": "too small"}
        assert daemon.send(place, answer).status == 204
        assert daemon.send(place, answer).status == 404, "answered already"
    return rest


CALLS = """
results = [tools.add(a=1, b=2), tools.add(a=2**53 + 1, b=1)]
for bad in ({'a': -1, 'b': 0}, {'a': 'x', 'b': 0}):
    try:
        tools.add(**bad)
    except Exception as error:
        results.append(type(error).__name__ + ': ' + str(error))
results
"""


def check_calls(manifest):
    results = manifest["guest"]["value"]["application/json"]
    assert results[:2] == [3, 2**53 + 2]
    assert results[2] == "ToolError: too small" and "integer" in results[3]
    assert [call["status"] for call in manifest["tools"]] == ["ok", "ok", "error", "refused"]


def test_tools_of_a_job_are_answered_by_its_sender(daemon):
    connection = ask_for_events(daemon, "/v1/jobs", daemon.spec({"code": CALLS, "tools": TOOLS}))
    lines = calls_of(connection)
    first = next(lines)
    assert first == {"event": "state", "state": "queued"}
    [job] = [j["job_id"] for j in daemon.get("/v1/jobs").json["jobs"] if j["state"] in ("queued", "running")]
    rest = answer_calls(daemon, lines, f"/v1/jobs/{job}")
    check_calls(next(line["manifest"] for line in rest if line["event"] == "manifest"))
    assert daemon.send(f"/v1/jobs/{job}/tools/1", {"value": 1}).status == 404
    connection.close()


def test_tools_of_a_session_are_answered_by_whoever_runs_it(daemon):
    session = daemon.session({"tools": TOOLS})
    for _ in range(2):
        connection = ask_for_events(daemon, f"{session}/runs", {"code": CALLS})
        [result] = answer_calls(daemon, calls_of(connection), session)
        check_calls(result["manifest"])
        connection.close()
    daemon.request("DELETE", session)


def test_a_call_that_nobody_answers_fails_in_the_program(daemon):
    tools = {"add": {**TOOLS["add"], "timeout": "200ms"}}
    code = "try:\n    tools.add(a=1, b=2)\nexcept ToolError as error:\n    print(error)"
    manifest = daemon.post({"code": code, "tools": tools}).json
    assert manifest["status"] == "ok" and "200ms" in manifest["stdout"]["text"], manifest


LONG_ANSWERS = """
def say(n):
    try:
        return len(tools.say(n=n))
    except ToolError as error:
        return str(error)
print(*[say(n) for n in range(5)], sep="\\n")
"""


def test_an_answer_that_is_too_long_fails_its_call_alone(daemon):
    """However long it is, and whether it is a value or an error: calls after it are answered, and the job goes on."""
    spec = daemon.spec({"code": LONG_ANSWERS, "tools": {"say": {"result_size": "1K"}}})
    answers = [{"value": "x" * (3 << 20)}, {"value": "x" * 1023}, {"error": "e" * (3 << 20)}, {"value": "x" * 1022},
               {"error": "one line\nand another"}]
    connection = ask_for_events(daemon, "/v1/jobs", spec)
    replies = []
    for line in calls_of(connection):
        if line["event"] == "tool_call":
            assert line["result_size"] == 1024
            [job] = [j["job_id"] for j in daemon.get("/v1/jobs").json["jobs"] if j["state"] == "running"]
            replies.append(daemon.send(f"/v1/jobs/{job}/tools/{line['id']}", answers[line["arguments"]["n"]]))
    connection.close()
    manifest = line.get("manifest") or daemon.get(f"/v1/jobs/{job}").json["manifest"]
    assert [reply.status for reply in replies] == [413, 413, 204, 204, 204], replies
    too_long = f"the result has {(3 << 20) + 2} bytes, more than the tool's result_size, 1K"
    assert replies[0].json["detail"] == too_long and replies[0].json["type"].endswith(":too-large")
    assert manifest["status"] == "ok" and manifest["stdout"]["text"].splitlines() == [
        too_long, too_long.replace(str((3 << 20) + 2), "1025"), "e" * 255, "1022", "one line"], manifest
    assert [call["status"] for call in manifest["tools"]] == ["error", "error", "error", "ok", "error"]


def test_tools_that_are_commands_are_not_the_senders_to_bring(daemon):
    answer = daemon.post({"code": "1", "tools": {"add": {**TOOLS["add"], "command": ["/bin/true"]}}})
    assert answer.status == 400 and "command" in answer.json["detail"]
