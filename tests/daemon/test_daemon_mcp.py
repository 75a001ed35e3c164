"""hotcelld's /mcp, in raw messages: what a client gets, what it may not do, and what is left when it goes."""

import base64
import concurrent.futures
import hashlib
import json
import os
import re
import socket

import cells
import daemons
import mcp_http
import pytest
from mcp_http import text

TOKENS = {"team": "token-of-the-team", "others": "token-of-the-others"}
FOREVER = "import time\nprint('begun', flush=True)\ntime.sleep(600)"


def serve(base_tree, *, mcp=None, **config):
    """A daemon on a port for two tenants, whose policy default has the tree base."""
    policies = cells.new_directory(cells.caller())
    shipped = daemons.SOURCE.parent / "policies" / "default.json"
    for name in ("default", "other"):
        (policies / f"{name}.json").write_text(json.dumps({"name": name, "extends": str(shipped), "tree": str(base_tree)}))
    port, given = daemons.config_with_token(TOKENS["team"])
    with open(given["tokens"], "a", encoding="ascii") as file:
        file.write(f"{hashlib.sha256(TOKENS['others'].encode()).hexdigest()} others\n")
    given |= {"tenants": {"team": {}, "others": {}}, "workers": 2, "mcp": {"sessions": 8} | (mcp or {})} | config
    daemon = daemons.Daemon(config=given, env={"HOTCELL_POLICIES": str(policies)}, wide=False)
    daemon.port = port
    return daemon


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):
    with serve(base_tree, mcp={"origins": "https://chat.example.org https://b.example.org:8443"}) as d:
        yield d
        assert d.end() == 0, d.log


@pytest.fixture(name="peer")
def initialized_peer(daemon):
    peer = new_peer(daemon)
    yield peer
    peer.end()


def new_peer(daemon, tenant="team", **more):
    peer = mcp_http.Peer(daemon.port, TOKENS[tenant], **more)
    assert peer.initialize().status == 200
    return peer


def api(peer, method, path):
    """An answer of the daemon's other routes to the peer's tenant."""
    other = mcp_http.Peer(peer.port, peer.token)
    other.path = path
    return other.ask(method, Accept=None)


def jobs(peer):
    return api(peer, "GET", "/v1/jobs").json["jobs"]


# ---- who may speak ----

def test_without_a_session_it_is_off(base_tree):
    with serve(base_tree, mcp={"sessions": 0}) as daemon:
        answer = mcp_http.Peer(daemon.port, TOKENS["team"]).initialize()
        assert answer.status == 404 and "mcp.sessions" in answer.json["detail"]
        assert daemon.end() == 0


def test_a_wrong_token(daemon):
    for token in ("wrong", TOKENS["team"] + "x", ""):
        assert mcp_http.Peer(daemon.port, token).initialize().status == 401


def test_a_session_is_its_tenants_alone(daemon, peer):
    thief = mcp_http.Peer(daemon.port, TOKENS["others"])
    thief.session = peer.session
    assert thief.post("tools/list").status == 404 and thief.ask("GET", Accept="text/event-stream").status == 404 and thief.end() == 404
    assert peer.post("ping").json["result"] == {}


@pytest.mark.parametrize("origin, status", [
    ("https://evil.example.org", 403), ("null", 403), ("http://localhost.evil.example.org", 403), ("http://127.0.0.1.evil.example.org:80", 403),
    ("https://chat.example.org.evil.example.org", 403), ("http://chat.example.org", 403), ("https://b.example.org", 403), ("http://localhost@evil.example.org", 403),
    ("https://chat.example.org", 200), ("https://b.example.org:8443", 200), ("http://localhost:6274", 200), ("http://127.0.0.1", 200), ("http://[::1]:80", 200)])
def test_pages_of_other_sites(peer, origin, status):
    assert peer.post("ping", Origin=origin).status == status


def test_versions(peer):
    assert peer.post("ping", MCP_Protocol_Version="2025-06-18").status == 200
    answer = peer.post("ping", MCP_Protocol_Version="1999-01-01")
    assert answer.status == 400 and "1999-01-01" in answer.json["detail"]


def test_sessions_of_the_protocol(daemon):
    peer = mcp_http.Peer(daemon.port, TOKENS["team"])
    answer = peer.post("tools/list")
    assert answer.status == 400 and "Mcp-Session-Id" in answer.json["detail"]
    peer.initialize()
    assert len(peer.session) == 32
    assert "already" in peer.post("initialize", {"protocolVersion": "2025-11-25"}).json["error"]["message"]
    assert peer.end() == 204
    answer = peer.post("tools/list")
    assert answer.status == 404 and "initialize" in answer.json["detail"]
    assert peer.end() == 404


@pytest.mark.parametrize("body, code", [("{", -32700), ("[]", -32600), ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600), ('{"id":1}', -32600)])
def test_what_is_no_message(peer, body, code):
    answer = peer.ask("POST", body)
    assert answer.status == 400 and answer.json["error"]["code"] == code


def test_initialize_that_is_refused_begins_no_session(base_tree):
    with serve(base_tree, mcp={"sessions": 1}) as daemon:
        peer = mcp_http.Peer(daemon.port, TOKENS["team"])
        for _ in range(3):
            assert peer.post("initialize", {}).json["error"]["code"] == -32602
        assert peer.initialize().status == 200
        assert daemon.end() == 0


# ---- bounds ----

def test_too_many_sessions(base_tree):
    with serve(base_tree, mcp={"sessions": 3}, quotas={"mcp_sessions": 2}) as daemon:
        first, _ = new_peer(daemon), new_peer(daemon)
        answer = mcp_http.Peer(daemon.port, TOKENS["team"]).initialize()
        assert answer.status == 429 and answer.json["quota"] == "mcp_sessions", answer
        new_peer(daemon, "others")
        answer = mcp_http.Peer(daemon.port, TOKENS["others"]).initialize()
        assert answer.status == 503 and "mcp.sessions" in answer.json["detail"]
        assert first.end() == 204
        new_peer(daemon)
        assert daemon.end() == 0


def test_a_session_that_is_not_used_ends(base_tree):
    with serve(base_tree, mcp={"idle": "2s"}, quotas={"mcp_sessions": 1}) as daemon:
        peer = new_peer(daemon)
        assert text(peer.tool("run_python", code="import time; time.sleep(3.5)\n'slept'")).startswith("value:\n'slept'")  # not idle meanwhile
        cells.wait_until("room for another session", lambda: mcp_http.Peer(daemon.port, TOKENS["team"]).initialize().status == 200)
        assert peer.post("ping").status == 404
        assert daemon.end() == 0


def test_a_session_that_is_hardly_used_makes_room(base_tree):
    """Many clients go without DELETE. Not those of another tenant, and none that anybody listens to."""
    with serve(base_tree, mcp={"sessions": 3, "idle": "4s"}) as daemon:
        theirs, listening, gone = new_peer(daemon, "others"), new_peer(daemon), new_peer(daemon)
        stream = listening.listen()
        cells.wait_until("room for another session", lambda: mcp_http.Peer(daemon.port, TOKENS["team"]).initialize().status == 200, 3.5)
        assert gone.post("ping").status == 404
        assert theirs.post("ping").status == listening.post("ping").status == 200
        stream.close()
        assert daemon.end() == 0


def test_an_answer_without_room(base_tree):
    """As long as nobody reads it, a large answer is not kept; the client is told what to do."""
    with serve(base_tree, mcp={"bytes": "1M"}) as daemon:
        peer = new_peer(daemon)
        peer.tool("run_python", code="open('large.bin', 'wb').write(bytes(range(256)) * 3600)")
        answer = peer.post("tools/call", {"name": "read_file", "arguments": {"path": "run-1/large.bin"}})
        assert "mcp.bytes" in answer.json["error"]["message"], answer
        assert peer.post("ping").json["result"] == {}
        assert daemon.end() == 0


def test_a_client_that_never_reads(daemon):
    """It costs what it has not read, which is bounded, and nobody else anything."""
    silent = new_peer(daemon)
    streams = [silent.listen()]
    for _ in range(6):
        streams.append(silent.begin("run_python", code="print('x' * 40000)\nopen('a.bin', 'wb').write(bytes(100000))"))
    other = new_peer(daemon)
    assert "42" in text(other.tool("run_python", code="6 * 7"))
    cells.wait_until("the ends of its programs", lambda: all(job["state"] == "done" for job in jobs(silent)))
    for stream in streams:
        stream.close()
    assert text(silent.tool("list_files", of="run-6")).startswith("run-6/a.bin  100000 bytes")
    assert silent.end() == other.end() == 204


def test_files_that_are_too_large(base_tree):
    with serve(base_tree, http={"body": "1M"}, quotas={"stored_bytes": "3M"}) as daemon:
        peer = new_peer(daemon)
        peer.tool("run_python", code="open('large.bin', 'wb').write(bytes(900000))")
        result = peer.tool("run_python", code="1", inputs={"a": "run-1/large.bin"})
        assert result["isError"] and "http.body" in text(result), result
        for number in range(3):
            result = peer.tool("write_file", name=f"{number}.txt", text="x" * 900000)
        assert result["isError"] and "stored_bytes" in text(result), result
        assert peer.tool("run_python", code="len(open(a).read())", inputs={"a": "files/0.txt"})["structuredContent"]["value"]["text/plain"] == "900000"
        assert daemon.end() == 0


# ---- programs are jobs ----

def test_programs_are_jobs_of_the_tenant(daemon, peer):
    before = len(jobs(peer))
    result = peer.tool("run_python", code="print('hello')\n6 * 7", timeout=20)
    assert result["structuredContent"]["stdout"]["text"] == "hello\n" and result["structuredContent"]["value"]["text/plain"] == "42"
    now = jobs(peer)
    assert len(now) == before + 1 and (now[0]["tenant"], now[0]["policy"], now[0]["status"]) == ("team", "default", "ok")
    assert api(new_peer(daemon, "others"), "GET", f"/v1/jobs/{now[0]['job_id']}").status == 404


def test_a_program_that_takes_too_long(peer):
    result = peer.tool("run_python", code=FOREVER, timeout=0.5)
    assert result["isError"] and result["structuredContent"]["status"] == "timeout" and "begun" in result["structuredContent"]["stdout"]["text"]


@pytest.mark.parametrize("config, said", [
    ({"quotas": {"queued": 0}}, "queued"), ({"quotas": {"max": {"timeout": "1s"}}}, "expected more than 0 and at most 1 seconds")])
def test_what_the_daemon_refuses_its_tenant(base_tree, config, said):
    with serve(base_tree, **config) as daemon:
        result = new_peer(daemon).tool("run_python", code="1", timeout=5)
        assert result["isError"] and said in text(result), result
        assert daemon.end() == 0


def no_policy(name):
    return f"there is no policy '{name}' that this tenant may use: GET /v1/policies names those"


def test_a_policy_that_the_tenant_may_not_use(base_tree):
    with serve(base_tree, tenants={"team": {"policies": ["other"]}, "others": {}}) as daemon:
        answer = mcp_http.Peer(daemon.port, TOKENS["team"], query="?policy=default").initialize()
        assert answer.status == 404 and answer.json["detail"] == no_policy("default")
        peer = new_peer(daemon)
        peer.tool("run_python", code="1")
        assert jobs(peer)[0]["policy"] == "other"
        assert daemon.end() == 0


def test_a_policy_that_the_client_names(daemon):
    peer = new_peer(daemon, query="?policy=other")
    peer.tool("run_python", code="1")
    assert jobs(peer)[0]["policy"] == "other" and peer.end() == 204
    missing = mcp_http.Peer(daemon.port, TOKENS["team"], query="?policy=missing").initialize()
    assert missing.status == 404 and missing.json["detail"].startswith("there is no policy 'missing': expected one of "), missing.json
    assert "other" in missing.json["detail"].split(": ")[1]
    for path in ("/etc/passwd", "../default", "./default"):
        assert mcp_http.Peer(daemon.port, TOKENS["team"], query=f"?policy={path}").initialize().json["detail"] == no_policy(path)


def test_a_cancelled_request(peer):
    stream = peer.begin("run_python", number="mine", code=FOREVER)
    cells.wait_until("a job that runs", lambda: jobs(peer)[0]["state"] == "running")
    peer.notify("notifications/cancelled", requestId="mine")
    cells.wait_until("its end", lambda: jobs(peer)[0]["state"] not in ("queued", "running"))
    assert jobs(peer)[0]["status"] == "killed" and "cancelled" in jobs(peer)[0]["reason"], jobs(peer)[0]
    assert not [message for _, message in stream if message]  # the stream ends without an answer
    assert peer.post("ping", number="mine").json["result"] == {}


def test_a_cancelled_request_that_waits_for_json(peer):
    body = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "run_python", "arguments": {"code": FOREVER}}})
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(peer.ask, "POST", body, Accept="application/json")
        cells.wait_until("a job that runs", lambda: jobs(peer)[0]["state"] == "running")
        peer.notify("notifications/cancelled", requestId=5)
        answer = asked.result()
    assert answer.status == 410 and "cancelled" in answer.json["detail"]


def test_progress(peer):
    stream = iter(peer.begin("run_python", token="mine", code="import time\nprint('one', flush=True)\ntime.sleep(3)\nprint('two')"))
    messages = [message for _, message in stream if message]
    assert [m.get("method") for m in messages[:-1]] == ["notifications/progress"] * (len(messages) - 1) and len(messages) >= 2
    assert messages[0]["params"]["progressToken"] == "mine" and "one" in messages[0]["params"]["message"]
    assert messages[-1]["result"]["structuredContent"]["stdout"]["text"] == "one\ntwo\n"


# ---- connections that break ----

def test_an_answer_after_the_connection_broke(peer):
    """The program goes on, and the client gets its answer behind the last event that it has."""
    stream = peer.begin("run_python", number=77, code="import time\ntime.sleep(1)\n'late'")
    first, nothing = next(iter(stream))
    assert nothing is None
    stream.close()
    ((event, message),) = list(peer.listen(first))
    assert message["id"] == 77 and message["result"]["structuredContent"]["value"]["text/plain"] == "'late'"
    assert list(peer.listen(first)) == [(event, message)]  # once more, as this answer may have been lost too
    assert not list(peer.listen(event))


def test_events_that_there_are_not(peer):
    for event in ("9-1", "x", "0-7", "-1-1", "0-1-1", "1" * 50):
        answer = peer.ask("GET", Accept="text/event-stream", Last_Event_ID=event)
        assert answer.status == 400 and "Last-Event-ID" in answer.json["detail"], event
    assert peer.ask("GET", Accept="application/json").status == 405


def test_messages_about_no_request(peer):
    """They are for whoever listens; a second one who does ends the stream of the first."""
    first = peer.listen()
    events = iter(first)
    assert next(events) == ("0-0", None)
    peer.tool("write_file", name="a.txt", text="a")
    event, message = next(events)
    assert message["method"] == "notifications/resources/list_changed"
    second = peer.listen(event)
    assert list(events) == []
    peer.tool("remove_file", path="files/a.txt")
    assert next(iter(second))[1]["method"] == "notifications/resources/list_changed"
    first.close()
    second.close()


def test_a_stream_that_another_reader_has_taken_over(peer):
    """The first reader has not even read what it was sent; its stream ends there, also when nothing is kept of it any more."""
    peer.tool("run_python", code="open('large.png', 'wb').write(bytes(4000000))")
    body = json.dumps({"jsonrpc": "2.0", "id": "large", "method": "tools/call", "params": {"name": "read_file", "arguments": {"path": "run-1/large.png"}}})
    head = {"Authorization": f"Bearer {peer.token}", "Mcp-Session-Id": peer.session, "Accept": "text/event-stream", "Content-Type": "application/json",
            "Host": "localhost", "Content-Length": len(body)}
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.settimeout(cells.PATIENCE)
        slow.connect(("127.0.0.1", peer.port))
        slow.sendall(("POST /mcp HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in head.items()) + "\r\n" + body).encode())
        seen = b""
        while not (begun := re.search(rb"id: (\d+)-0\n", seen)):
            seen += slow.recv(256)
        (_, message), = list(peer.listen(f"{begun[1].decode()}-0"))
        assert message["id"] == "large" and len(message["result"]["content"][0]["data"]) > 5000000
        for _ in range(20):  # more than are kept
            assert peer.post("ping", Accept="text/event-stream").status == 200
        assert peer.ask("GET", Accept="text/event-stream", Last_Event_ID=f"{begun[1].decode()}-0").status == 400
        while more := slow.recv(1 << 16):
            seen += more
            if seen.endswith(b"\r\n0\r\n\r\n"):
                break
    assert len(seen) < 5000000 and peer.post("ping").json["result"] == {}


def test_older_clients_get_no_empty_events(daemon):
    peer = new_peer(daemon, version="2025-06-18")
    ((event, message),) = list(peer.begin("run_python", code="1"))
    assert message["result"]["structuredContent"]["status"] == "ok" and event.endswith("-1")
    assert peer.end() == 204


# ---- two clients, and what is left ----

def test_two_clients_of_one_tenant(daemon, peer):
    other = new_peer(daemon)
    mine, others = peer.begin("run_python", code="open('a.txt', 'w').write('mine')"), other.begin("run_python", code="open('a.txt', 'w').write('other')")
    assert [message["result"]["structuredContent"]["run"] for stream in (mine, others) for _, message in stream if message] == ["run-1", "run-1"]
    assert (text(peer.tool("read_file", path="run-1/a.txt")), text(other.tool("read_file", path="run-1/a.txt"))) == ("mine", "other")
    other.tool("write_file", name="b.txt", text="b")
    assert "there is no file" in text(peer.tool("read_file", path="files/b.txt")) and "files/b.txt" not in text(peer.tool("list_files"))
    assert other.end() == 204


def test_files(peer):
    data = bytes(range(256))
    peer.tool("write_file", name="a.bin", base64=base64.b64encode(data).decode())
    peer.tool("write_file", name="a.bin", base64=base64.b64encode(data * 2).decode())
    result = peer.tool("run_python", code="import os\nopen('out.bin', 'wb').write(open(a, 'rb').read())\nos.path.basename(a)", inputs={"a": "files/a.bin"}, files={"c.txt": "x"})
    assert result["structuredContent"]["files"] == [{"path": "run-1/out.bin", "mime": "application/octet-stream", "bytes": 512}]
    assert peer.tool("run_python", code="len(open(a, 'rb').read())", inputs={"a": "run-1/out.bin"})["structuredContent"]["value"]["text/plain"] == "512"
    assert json.loads(text(peer.tool("read_file", path="run-2/manifest.json")))["status"] == "ok"
    job = jobs(peer)[1]["job_id"]
    assert text(peer.tool("remove_file", path="run-1")) == "run-1 is gone"
    assert api(peer, "GET", f"/v1/jobs/{job}").status == 404
    assert "there is no file" in text(peer.tool("read_file", path="run-1/../../../etc/passwd"))


def test_the_end_leaves_nothing(daemon):
    peer = new_peer(daemon)
    peer.tool("write_file", name="a.txt", text="a")
    peer.tool("session_open")
    assert os.listdir(daemon.state / "uploads") and api(peer, "GET", "/v1/sessions").json["sessions"][0]["state"] == "idle"
    streams = [peer.begin("run_python", code=FOREVER), peer.begin("session_run", session="session-1", code=FOREVER), peer.listen()]
    cells.wait_until("a job that runs", lambda: jobs(peer)[0]["state"] == "running")
    assert peer.end() == 204
    for stream in streams:
        assert not [message for _, message in stream if message]
    cells.wait_until("the job's end", lambda: all(job["state"] not in ("queued", "running") for job in jobs(peer)))
    cells.wait_until("the session's end", lambda: all(s["state"] == "ended" for s in api(peer, "GET", "/v1/sessions").json["sessions"]))
    assert not os.listdir(daemon.state / "uploads")


# ---- Python sessions are the daemon's ----

def test_a_session_that_the_tenant_ends_otherwise(peer):
    peer.tool("session_open")
    assert peer.tool("session_run", session="session-1", code="x = 1\nopen('s.txt', 'w').write('s')")["structuredContent"]["state"] == "kept"
    session = next(s for s in api(peer, "GET", "/v1/sessions").json["sessions"] if s["state"] == "idle")
    assert api(peer, "DELETE", f"/v1/sessions/{session['session_id']}").status == 200
    result = peer.tool("session_run", session="session-1", code="x")
    assert result["isError"] and "session-1 has ended" in text(result)
    assert text(peer.tool("read_file", path="session-1/s.txt")) == "s"


def test_too_many_python_sessions(base_tree):
    with serve(base_tree, quotas={"sessions": 1}) as daemon:
        peer = new_peer(daemon)
        assert text(peer.tool("session_open")) == "session-1 is open"
        result = peer.tool("session_open")
        assert result["isError"] and "quota sessions" in text(result)
        assert text(peer.tool("session_close", session="session-1")).startswith("session-1 is closed")
        assert text(peer.tool("session_open")) == "session-3 is open"
        assert daemon.end() == 0


def test_files_of_a_python_session(peer):
    peer.tool("session_open", files={"first.txt": "one"})
    assert text(peer.tool("write_file", session="session-1", name="w.txt", text="w")) == "session-1: w.txt has 1 bytes"
    assert peer.tool("session_run", session="session-1", code="(open('w.txt').read(), open(first).read())")["structuredContent"]["value"]["text/plain"] == "('w', 'one')"
    assert text(peer.tool("read_file", session="session-1", path="w.txt")) == "w"
    peer.tool("session_close", session="session-1")
