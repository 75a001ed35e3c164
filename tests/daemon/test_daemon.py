"""hotcelld: jobs over HTTP, in real cells, for several tenants; what it does with bad requests and with deaths."""

import base64
import contextlib
import hashlib
import http.client
import json
import os
import select
import shutil
import signal
import socket
import subprocess

import cells
import daemons
import jsonschema
import pytest

LONG = {"code": "import time\nprint('up', flush=True)\ntime.sleep(100)", "limits": {"timeout": 100 * cells.SLOWNESS}}


@pytest.fixture(name="daemon", scope="module")
def module_daemon(daemons_user):
    """One for all tests that leave it as it was."""
    config = {"socket": {"mode": "0666"}, "workers": 2, "http": {"body": "1M", "headers": "8K", "idle": "1s"}}
    with daemons.Daemon(daemons_user, config=config) as d:
        yield d
        assert d.end() == 0, d.log


def stranger(daemon):
    """A user who is not the daemon's."""
    cells.need_root()
    return 61234


# ---- jobs ----

def test_a_job_is_answered_with_its_manifest(daemon):
    answer = daemon.post({"code": "print('é', 6 * 7)\n{'a': n}", "vars": {"n": 5}, "labels": {"k": "v"}})
    assert answer.status == 200 and answer.headers["Location"] == f"/v1/jobs/{answer.json['job_id']}"
    manifest = answer.json
    jsonschema.Draft202012Validator(daemons.manifest_schema()).validate(manifest)
    assert (manifest["status"], manifest["stdout"]["text"]) == ("ok", "é 42\n")
    assert manifest["guest"]["value"]["application/json"] == {"a": 5}
    assert manifest["tenant"] == f"uid-{os.geteuid()}"
    cold = cells.run("1", user=daemon.user).manifest
    assert isolation(manifest) == isolation(cold)


def test_hints_are_in_the_words_of_the_interface(daemon):
    """A client that says nothing sends JSON; those that speak for another interface say which."""
    code = "import requests\nrequests.get('x')"
    assert daemon.post({"code": code}).json["rejection"]["hint"].endswith('pass data with "inputs".')
    assert daemon.post({"code": code, "interface": "mcp"}).json["rejection"]["hint"].endswith('the argument "files".')
    assert '"limits": {"memory": ...}' in daemon.post({"code": "bytearray(10**12)"}).json["guest"]["error"]["hint"]
    assert daemon.post({"code": code, "interface": "soap"}).status == 400


def isolation(manifest):
    return {name: layer["on"] for name, layer in manifest["layers"].items()}


@pytest.mark.parametrize("code, status", [("raise ValueError('no')", "error"), ("x = = 1", "rejected"), ("while True: pass", "timeout")])
def test_a_program_that_fails_has_a_manifest_too(daemon, code, status):
    answer = daemon.post({"code": code, "limits": {"timeout": 0.5 * cells.SLOWNESS}})
    assert (answer.status, answer.json["status"]) == (200, status)


def test_inputs_are_content(daemon):
    raw = bytes(range(256))
    answer = daemon.post({
        "code": "print(open('/input/sales.txt').read(), end='')\nlist(open('/input/raw.bin', 'rb').read())",
        "policy": "none",
        "inputs": {"sales": {"file": "sales.txt", "text": "a,b\n1,2\n"}, "raw": {"file": "raw.bin", "data": base64.b64encode(raw).decode()}}})
    assert answer.json["stdout"]["text"] == "a,b\n1,2\n", answer
    assert answer.json["guest"]["value"]["application/json"] == list(raw)
    assert not list((daemon.state / "inputs").glob("*/*"))


def output(lines, stream):
    """The bytes of it: as text where they are UTF-8."""
    return b"".join(line["text"].encode() if "text" in line else base64.b64decode(line["data"])
                    for line in lines if line["event"] == stream)


def test_later_answers_and_events_as_they_come(daemon):
    job_id = daemon.post_async({"code": "import sys\nprint('one', flush=True)\nprint('two', file=sys.stderr, flush=True)\n"
                                        "sys.stdout.buffer.write(b'\\xff\\xc3')", "policy": "none"})
    lines = daemon.events(job_id)
    states = [line["state"] for line in lines if line["event"] == "state"]
    assert states == ["queued", "running", "done"]
    assert (output(lines, "stdout"), output(lines, "stderr")) == (b"one\n\xff\xc3", b"two\n")
    job = daemon.get(f"/v1/jobs/{job_id}").json
    assert job["state"] == "done" and job["manifest"]["job_id"] == job_id
    assert lines[-2]["manifest"] == job["manifest"]
    assert job_id in [row["job_id"] for row in daemon.get("/v1/jobs").json["jobs"]]
    assert [line["event"] for line in daemon.events(job_id)] == ["manifest", "state"]  # once more, later


def test_events_in_answer_to_the_job_itself(daemon):
    answer = daemon.post({"code": cells.FIGURE + "print('x')\ndraw_figure('figures/a.svg', b'<svg/>')"},
                         {"Accept": "application/x-ndjson"})
    kinds = [line["event"] for line in answer.lines]
    assert list(dict.fromkeys(kinds)) == ["state", "stdout", "figure", "manifest"] and kinds[-2:] == ["manifest", "state"]


def test_files_come_by_the_names_of_the_manifest_and_no_others(daemon):
    answer = daemon.post("import os\nos.makedirs('d')\nopen('d/é x', 'w').write('hello')\nos.symlink('/etc/passwd', 'link')")
    job_id = answer.json["job_id"]
    assert [entry["path"] for entry in answer.json["files"]] == ["d/é x"]
    found = daemon.get(f"/v1/jobs/{job_id}/files/d/%C3%A9%20x")
    assert (found.status, found.body, found.headers["Content-Type"]) == (200, b"hello", "application/octet-stream")
    for path in ("d", "link", "../" + job_id + "/d", "..%2f..%2flock", "/etc/passwd", "%2e%2e/lock", ".", "nothing", "d/../../x"):
        assert daemon.get(f"/v1/jobs/{job_id}/files/{path}").status == 404, path
    assert daemon.request("DELETE", f"/v1/jobs/{job_id}").status == 204
    assert daemon.get(f"/v1/jobs/{job_id}").status == 404
    assert daemon.get(f"/v1/jobs/{job_id}/files/d/%C3%A9%20x").status == 404


@pytest.mark.parametrize("method, path", [("DELETE", ""), ("POST", "/cancel")])
def test_a_job_that_runs_can_be_ended(daemon, method, path):
    job_id = daemon.post_async(LONG)
    assert daemon.request(method, f"/v1/jobs/{job_id}{path}").status == 202
    job = daemon.result(job_id)
    assert job["state"] == "done" and job["manifest"]["status"] == "killed", job
    assert daemon.request("POST", f"/v1/jobs/{job_id}/cancel").status == 200  # it has ended: nothing to be done


def test_a_job_that_waits_can_be_taken_back(daemon):
    running = [daemon.post_async(LONG) for _ in range(2)]
    waiting = daemon.post_async(LONG)
    assert daemon.get(f"/v1/jobs/{waiting}").json["state"] == "queued"
    assert daemon.request("DELETE", f"/v1/jobs/{waiting}").status == 202
    job = daemon.get(f"/v1/jobs/{waiting}").json
    assert (job["state"], job["problem"]["retry"]) == ("failed", "not_started")
    for job_id in running:
        daemon.request("DELETE", f"/v1/jobs/{job_id}")
        assert daemon.result(job_id)["manifest"]["status"] == "killed"


def test_a_client_that_hangs_up_ends_its_job(daemon):
    connection = daemon.connect()
    body = json.dumps(daemon.spec(LONG))
    connection.request("POST", "/v1/jobs", body, {"Content-Type": "application/json", "Accept": "application/x-ndjson"})
    response = connection.getresponse()
    while b"up" not in response.readline():
        pass
    job_id = response.headers["Location"].rpartition("/")[2]
    response.close()
    connection.close()
    assert daemon.result(job_id)["manifest"]["status"] == "killed"


def test_the_same_key_is_the_same_job(daemon):
    key = {"Idempotency-Key": "key 1"}
    first = daemon.post("import random\nrandom.random()", key)
    again = daemon.post("import random\nrandom.random()", key)
    assert first.status == again.status == 200 and first.json == again.json
    other = daemon.post("2", key)
    assert (other.status, other.json["retry"]) == (409, "not_started")
    assert daemon.post("2", {"Idempotency-Key": "x" * 256}).status == 400


# ---- tenants ----

def test_another_tenants_jobs_do_not_exist(daemon):
    other = stranger(daemon)
    job_id = daemon.post({"code": "open('a', 'w').write('secret')\nprint('secret')"}).json["job_id"]
    for method, path in [("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("GET", "/events"), ("GET", "/files/a")]:
        answer = daemon.request(method, f"/v1/jobs/{job_id}{path}", uid=other)
        unknown = daemon.request(method, f"/v1/jobs/20200101T000000Z-0123{path}", uid=other)
        assert answer.status == unknown.status == 404 and answer.body == unknown.body
    assert job_id not in str(daemon.get("/v1/jobs", uid=other).json)
    mine = daemon.post({"code": "1"}, {"Idempotency-Key": "shared"})
    theirs = daemon.post({"code": "2"}, {"Idempotency-Key": "shared"}, uid=other)
    assert mine.json["tenant"] != theirs.json["tenant"] == f"uid-{other}"
    assert daemon.get(f"/v1/jobs/{job_id}/files/a").body == b"secret"


def test_metrics_are_for_who_runs_it(daemon):
    daemon.post("1")
    text = daemon.get("/metrics").body.decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values['hotcell_jobs_total{status="ok"}']) >= 1
    assert float(values['hotcell_job_seconds_count{phase="total"}']) >= 1
    if cells.IS_ROOT:
        assert daemon.get("/metrics", uid=61235).status == 403


# ---- bad requests ----

def described(properties):
    """A job whose tool has these arguments."""
    return json.dumps({"code": "1", "tools": {"a": {"parameters": {"properties": properties}}}}).encode()


@pytest.mark.parametrize("spec, status, says", [
    (b"{", 400, "request:1:2: "),
    (b'{"code": "1",\n "inputs": {"a": "/etc/passwd"}}', 400, "request:2:18: inputs.a: expected an object"),
    (b'{"code": "1", "output_dir": "/tmp"}', 400, "request:1:15: 'output_dir' is not the sender's to say"),
    (b'{"code": "1", "dirs": [{"host": "/srv", "mode": "cow"}]}', 400, "request:1:15: 'dirs' is not the sender's to say"),
    (b'{"code": "1", "workdir": "/srv"}', 400, "request:1:15: 'workdir' is not the sender's to say"),
    (b'{"code": "1", "tenant": "root"}', 400, "request:1:15: 'tenant'"),
    (b'{"code": "1", "policy": "/etc/x"}', 400, "request:1:25: policy: expected a name, got a path"),
    (b'{"code": "1", "policy": "nobodys"}', 422, "there is no policy 'nobodys'"),
    (b'{"code": "1", "tree": "nobodys"}', 422, "nobodys"),
    (b'{"code": "1", "limits": {"memory": "much"}}', 400, "limits.memory"),
    (b'{"code": "\\ud800"}', 400, "request:1:"),
    (described({f"p{i}": {"default": 0} for i in range(20000)}), 400, "tools.a.parameters: more than 262144 bytes"),
    (described({"p": {"default": "x" * 65536}}), 400, "tools.a.parameters: a default of more than 65536 bytes"),
    (b"", 400, "request:1:1"),
])
def test_a_wrong_request_is_told_what_is_wrong(daemon, spec, status, says):
    answer = daemon.post(spec)
    assert answer.status == status or (status == 422 and answer.status == 503), answer
    assert says in answer.json["detail"] and answer.json["retry"] == "not_started", answer


def test_what_is_not_there_and_what_does_not_apply(daemon):
    assert daemon.get("/").status == daemon.get("/v1/jobs/").status == daemon.get("/v1/jobs/x/y").status == 404
    answer = daemon.request("PUT", "/v1/jobs/x")
    assert answer.status == 405 and "GET" in answer.headers["Allow"]
    assert daemon.post("1", {"Content-Type": "text/plain"}).status == 415
    assert daemon.get("/healthz").json["status"] == "ok"
    assert daemon.get("/v1/openapi.json").json == daemons.openapi()
    assert daemon.request("HEAD", "/healthz").status == 200


# ---- quotas ----

def test_a_full_queue_says_so(user):
    config = {"workers": 1, "quotas": {"queued": 1}, "http": {"tenant_connections": 3}}
    with daemons.Daemon(user, config=config) as d:
        running, waiting = d.post_async(LONG), d.post_async(LONG)
        answer = d.post("1")
        assert (answer.status, answer.json["quota"], answer.json["retry"]) == (429, "queued", "not_started")
        assert int(answer.headers["Retry-After"]) >= 1
        for job_id in (waiting, running):
            d.request("DELETE", f"/v1/jobs/{job_id}")
        d.result(running)
        assert d.post("1").json["status"] == "ok"
        held = [d.connect() for _ in range(3)]
        for connection in held:
            connection.request("GET", "/v1/jobs")
            assert connection.getresponse().read()
        answer = d.get("/v1/jobs")
        assert (answer.status, answer.json["quota"]) == (429, "connections")
        for connection in held:
            connection.close()


# ---- deaths ----

def test_a_worker_that_dies_costs_its_job_alone(user):
    with daemons.Daemon(user, config={"workers": 2}) as d:
        job_id = d.post_async(LONG)
        cells.wait_until("a cell", d.busy_worker)
        victim = d.busy_worker()
        cell = d.children(victim)
        os.kill(victim, signal.SIGKILL)
        job = d.result(job_id)
        assert (job["state"], job["problem"]["status"], job["problem"]["retry"]) == ("failed", 502, "started_outcome_unknown")
        cells.wait_until("its cell's end", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in cell))
        d.wait_for_line("another is started")
        both = [d.post_async({"code": "print('x')"}) for _ in range(4)]
        assert [d.result(job_id)["manifest"]["status"] for job_id in both] == ["ok"] * 4
        assert d.end() == 0


def test_a_front_that_dies_is_started_again(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        d.post_async(LONG)
        cells.wait_until("a cell", d.busy_worker)
        cells.wait_until("the ledger's process has its name", lambda: d.named("ledger"))
        cells.wait_until("and the one that looks at trees", lambda: d.named("trees"))
        stay = d.named("ledger") + d.named("trees")
        before = [pid for pid in d.descendants() if pid not in stay]
        os.kill(d.named("front")[0], signal.SIGKILL)
        d.wait_for_line("it is started again")
        cells.wait_until("the end of all", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in before))
        cells.wait_until("an answer", lambda: answers(d))
        assert d.post("print(1)").json["status"] == "ok"
        assert d.end() == 0


def answers(d):
    try:
        return d.get("/healthz").status == 200
    except OSError:
        return False


def test_nothing_is_left_of_a_daemon_that_is_killed_and_nothing_is_lost(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        key = {"Idempotency-Key": "k"}
        done = d.post("open('a', 'w').write('x')", key).json
        running = d.post_async({**LONG, "inputs": {"a": {"text": "x"}}})
        cells.wait_until("a cell", d.busy_worker)
        waiting = d.post_async("print('at last')")
        (d.state / "jobs" / "20200101T000000Z-0123").mkdir()  # of a job that nobody was promised
        family = d.descendants()
        assert len(family) >= 3
        d.process.kill()
        d.process.wait()
        cells.wait_until("the end of all", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in family))
        d.start_again()
        assert d.result(waiting)["manifest"]["stdout"]["text"] == "at last\n"
        problem = d.get(f"/v1/jobs/{running}").json["problem"]
        assert (problem["status"], problem["retry"]) == (502, "started_outcome_unknown")
        assert d.post("open('a', 'w').write('x')", key).json == done == d.get(f"/v1/jobs/{done['job_id']}").json["manifest"]
        assert d.post("2", key).status == 409
        assert d.get(f"/v1/jobs/{done['job_id']}/files/a").body == b"x"
        assert [job["job_id"] for job in d.get("/v1/jobs").json["jobs"]] == [waiting, running, done["job_id"]]
        assert [path.name for path in (d.state / "jobs").iterdir()] == [done["job_id"]] and not list((d.state / "inputs").glob("*/*"))
        assert d.request("DELETE", f"/v1/jobs/{done['job_id']}").status == 204
        assert d.get(f"/v1/jobs/{done['job_id']}").status == d.get(f"/v1/jobs/{done['job_id']}/files/a").status == 404
        assert d.end() == 0


def test_what_was_promised_and_not_begun_in_time_is_for_the_next_daemon(user):
    with daemons.Daemon(user, config={"workers": 1, "drain": 0}) as d:
        running = d.post_async(LONG)
        cells.wait_until("a cell", d.busy_worker)
        waiting = d.post_async("print('at last')")
        assert d.end() == 0
        assert d.log.count("drain is over: 1 jobs that run are cancelled") == 1
        d.start_again()
        assert d.result(waiting)["manifest"]["stdout"]["text"] == "at last\n"
        assert d.get(f"/v1/jobs/{running}").json["manifest"]["status"] == "killed"
        assert d.end() == 0


def test_a_daemon_that_was_replaced_leaves_what_waits_to_the_new_one(user, monkeypatch):
    """Its own shim is gone after an upgrade, so it can start no job any more."""
    place = cells.new_directory(user)
    (place / "bin").mkdir()
    for name in ("hotcell", "hotcelld", "hotcell-shim", "hotcell-ledger"):
        shutil.copy(cells.BUILD / name, place / "bin")
    shutil.copytree(cells.BUILD.parent / "policies", place / "share/hotcell/policies")
    monkeypatch.setattr(daemons, "HOTCELLD", place / "bin/hotcelld")
    with daemons.Daemon(user, config={"workers": 1}) as d:
        running = d.post_async("import time\ntime.sleep(1)\nprint('done')")
        cells.wait_until("a cell", d.busy_worker)
        waiting = d.post_async("print('at last')")
        connection = d.connect()
        connection.request("POST", "/v1/jobs", json.dumps(d.spec("print('at once')")))
        cells.wait_until("it waits, too", lambda: len(d.get("/v1/jobs").json["jobs"]) == 3)
        shutil.copy(place / "bin/hotcelld", place / "hotcelld")
        (place / "hotcelld").rename(place / "bin/hotcelld")
        assert d.end() == 0
        assert "for the version that was installed" in d.log
        answer = connection.getresponse()
        problem = json.loads(answer.read())
        connection.close()
        assert problem["retry"] == "not_started" and "another version of hotcelld" in json.dumps(problem), problem
        d.start_again()
        assert d.result(waiting)["manifest"]["stdout"]["text"] == "at last\n"
        assert d.get(f"/v1/jobs/{running}").json["manifest"]["stdout"]["text"] == "done\n"
        assert d.end() == 0


def test_a_daemon_that_is_told_to_end_lets_jobs_end(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        connection = d.connect()
        body = d.spec("import time\nprint('up', flush=True)\ntime.sleep(0.5)\nprint('done')")
        connection.request("POST", "/v1/jobs", json.dumps(body), {"Accept": "application/x-ndjson"})
        response = connection.getresponse()
        while b"up" not in response.readline():
            pass
        d.process.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in response.read().splitlines()]
        connection.close()
        assert d.process.wait(cells.PATIENCE) == 0
        assert lines[-2]["manifest"]["status"] == "ok"
        assert not d.socket.exists()


def test_who_comes_while_it_ends_is_told_so(user):
    """Nobody is left in a queue that the daemon's end resets, which would say nothing of what became of a job."""
    with daemons.Daemon(user, config={"workers": 1, "drain": "1h"}) as d:
        d.post_async(LONG)
        cells.wait_until("a cell", d.busy_worker)
        d.process.send_signal(signal.SIGTERM)
        d.wait_for_line("draining")
        answer = d.post("print(1)")
        assert (answer.status, answer.json["retry"]) == (503, "not_started"), answer
        assert (d.get("/healthz").status, d.get("/healthz").json["status"]) == (503, "draining")
        assert d.end() == 0


def test_who_sends_a_job_when_the_last_has_ended_is_told_so(user):
    """As a batch does, at the moment at which the daemon has nothing to do any more."""
    with daemons.Daemon(user, config={"workers": 1}) as d:
        connection = d.connect()
        connection.request("POST", "/v1/jobs", json.dumps(d.spec("import time\ntime.sleep(1)")))
        cells.wait_until("a cell", d.busy_worker)
        d.process.send_signal(signal.SIGTERM)
        d.wait_for_line("draining")
        assert json.loads(connection.getresponse().read())["status"] == "ok"
        connection.close()
        answer = d.post("print(1)")
        assert (answer.status, answer.json["retry"]) == (503, "not_started"), answer
        assert d.process.wait(cells.PATIENCE) == 0


def test_who_waits_for_a_job_that_the_end_cancels_gets_its_manifest(user):
    with daemons.Daemon(user, config={"workers": 1, "drain": 0}) as d:
        connection = d.connect()
        connection.request("POST", "/v1/jobs", json.dumps(d.spec(LONG)))
        cells.wait_until("a cell", d.busy_worker)
        assert d.end() == 0
        manifest = json.loads(connection.getresponse().read())
        connection.close()
        assert manifest["status"] == "killed", manifest


def test_a_second_signal_ends_it_at_once(user):
    with daemons.Daemon(user, config={"workers": 1, "drain": "1h"}) as d:
        d.post_async(LONG)
        cells.wait_until("a cell", d.busy_worker)
        family = d.descendants()
        d.process.send_signal(signal.SIGTERM)
        d.wait_for_line("draining")
        assert d.end() == 0
        cells.wait_until("the end of all", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in family))


# ---- warm cells ----

def metric(d, name):
    uid = d.user.uid if cells.IS_ROOT else None
    lines = d.get("/metrics", uid=uid).body.decode().splitlines()
    return float(next(line for line in lines if line.startswith(f"hotcell_{name} ")).rpartition(" ")[2])


def run_until_warm(d, spec):
    """The first that ran in a cell that had waited for it, and the last that did not."""
    cold = None
    for _ in range(20):
        before = metric(d, "jobs_warm_total")
        manifest = d.post(spec).json
        if metric(d, "jobs_warm_total") > before:
            return cold, manifest
        cold = manifest
    raise AssertionError(f"no job was warm: {d.log}")


def kill_what_waits(d, worker):
    """Zygotes and waiting cells; returns when their processes have ended, as a job that came sooner could get a cell that is about to end."""
    with contextlib.ExitStack() as stack:
        ends = [os.pidfd_open(pid) for pid in d.descendants(worker)]
        for end in ends:
            stack.callback(os.close, end)
        for pid in d.children(worker):
            os.kill(pid, signal.SIGKILL)
        for end in ends:
            assert select.select([end], [], [], cells.PATIENCE)[0]


def test_a_program_that_is_sent_again_runs_in_a_warm_cell(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        spec = {"code": "import random\nopen('a', 'w').write(x['text'])\nprint(random.random())", "vars": {"x": {"text": "hello"}}}
        cold, warm = run_until_warm(d, spec)
        assert warm["status"] == cold["status"] == "ok" and isolation(warm) == isolation(cold)
        assert d.get(f"/v1/jobs/{warm['job_id']}/files/a").body == b"hello"
        assert warm["stdout"]["text"] != cold["stdout"]["text"]
        worker = next(pid for pid in d.children() if d.children(pid))
        printed = {d.post(spec).json["stdout"]["text"] for _ in range(20)}
        assert len(printed) == 20  # no two cells draw the same numbers
        kill_what_waits(d, worker)  # jobs never notice
        assert d.post(spec).json["status"] == "ok"
        assert run_until_warm(d, spec)[1]["status"] == "ok"
        assert metric(d, "jobs_failed_total") == metric(d, "workers_lost_total") == 0
        family = d.descendants()
        assert d.end() == 0
        cells.wait_until("the end of all", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in family))


def test_without_memory_for_warm_cells_every_job_is_cold(user):
    with daemons.Daemon(user, config={"workers": 1, "warm": {"memory": 0}}) as d:
        assert [d.post("1").json["status"] for _ in range(4)] == ["ok"] * 4
        assert metric(d, "jobs_warm_total") == 0
        assert d.end() == 0


# ---- configuration ----

def test_a_daemon_takes_a_new_configuration_or_goes_on_as_before(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        path = d.directory / "hotcelld.conf"
        path.write_text('{"quotas": {"queued": "many"}}')
        d.process.send_signal(signal.SIGHUP)
        d.wait_for_line("not reloaded: configuration: ")
        assert f"{path}:1:23: queued: expected" in d.log
        assert d.post("1").status == 200
        path.write_text('{"workers": 1, "quotas": {"queued": 0, "policies": ["default"]}}')
        d.process.send_signal(signal.SIGHUP)
        d.wait_for_line("hotcelld: reloaded\n")
        assert d.post("1").json["quota"] == "queued"
        path.write_text('{"workers": 2, "quotas": {"queued": 0, "policies": ["default"]}}')
        d.process.send_signal(signal.SIGHUP)
        d.wait_for_line("hotcelld: reloaded: what has changed of workers holds from the next start on\n")
        assert d.post({"code": "1", "policy": "none"}).status == 403
        text = {"workers": 2, "warm": {"cells": 7, "idle": "9s"}, "http": {"connections": 100, "body": "1M"}, "state": "/elsewhere"}
        path.write_text(json.dumps(text))
        d.process.send_signal(signal.SIGHUP)
        d.wait_for_line("hotcelld: reloaded: what has changed of warm.cells, warm.idle, http.connections holds from the next start on\n")
        assert "hotcelld: state: the new path holds from the next start on\n" in d.log
        assert d.end() == 0


def test_tokens_over_tcp(user):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    tokens = cells.new_directory(user) / "tokens"
    tokens.write_text(f"{hashlib.sha256(b'secret-token-0123456789').hexdigest()} alice\n")
    tokens.chmod(0o644)
    if user.is_root is False and cells.IS_ROOT:
        os.chown(tokens, user.uid, user.uid)
    config = {"workers": 1, "listen": [{"address": "127.0.0.1", "port": port}], "tokens": str(tokens), "tenants": {"alice": {}}}
    with daemons.Daemon(user, config=config) as d:
        def ask(path, token=None, body=None):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=cells.PATIENCE)
            headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
            connection.request("POST" if body else "GET", path, body, headers)
            response = connection.getresponse()
            answer = daemons.Answer(response.status, response.headers, response.read())
            connection.close()
            return answer
        assert ask("/healthz").status == 200
        for wrong in (None, "secret-token-012345678", "x"):
            answer = ask("/v1/jobs", wrong)
            assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        answer = ask("/v1/jobs", "secret-token-0123456789", json.dumps(d.spec("print(1)")))
        assert (answer.json["status"], answer.json["tenant"]) == ("ok", "alice")
        assert d.get(f"/v1/jobs/{answer.json['job_id']}").status == 404  # the same daemon, another tenant
        assert ask("/metrics", "secret-token-0123456789").status == 403
        assert d.end() == 0


# ---- its processes ----

def test_the_front_has_no_rights(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        def status(name):
            for pid in d.named(name):
                with open(f"/proc/{pid}/status", encoding="ascii") as file:
                    return dict(line.rstrip("\n").split(":\t", 1) for line in file)
            return {}
        # Nobody waits for the ledger's process.
        cells.wait_until("its filter", lambda: status("ledger").get("Seccomp") == "2")
        front = status("front")
        assert (front["NoNewPrivs"], front["Seccomp"]) == ("1", "2")
        assert int(front["CapEff"], 16) == int(front["CapPrm"], 16) == 0
        assert set(front["Uid"].split()) != {"0"} and front["Groups"].split() in ([], [str(user.uid)])
        if user.is_root:
            assert len(set(front["Uid"].split() + front["Gid"].split())) == 1 and int(front["Uid"].split()[0]) > 65535
        assert d.end() == 0


def test_systemd_is_told(user):
    """Its socket is passed on, it hears READY, the watchdog's beat and STOPPING; lines have their priorities."""
    directory = cells.new_directory(user)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, socket.socket(socket.AF_UNIX) as listening:
        notify.bind(str(directory / "notify"))
        os.chmod(directory / "notify", 0o777)
        notify.settimeout(cells.PATIENCE)
        listening.bind(str(directory / "passed"))
        os.chmod(directory / "passed", 0o666)
        listening.listen()
        env = {"NOTIFY_SOCKET": str(directory / "notify"), "WATCHDOG_USEC": "200000", "JOURNAL_STREAM": "8:1"}
        with daemons.Daemon(user, env=env, passed=listening) as d:
            d.socket = directory / "passed"
            said = {notify.recv(1000) for _ in range(3)}
            assert said == {b"READY=1", b"WATCHDOG=1"}
            assert d.post("print(1)").json["status"] == "ok"
            assert d.end() == 0
            assert "<6>ready: " in d.log
            while (word := notify.recv(1000)) != b"STOPPING=1":
                assert word == b"WATCHDOG=1"


def test_the_command_line(user, tmp_path):
    def run(*arguments):
        return cells.hotcell(*arguments, user=user, executable=daemons.HOTCELLD)
    assert "usage: hotcelld" in run("--help").stdout
    assert run("--version").stdout.startswith("hotcelld 0.")
    assert run("--nothing").returncode == 64 and run("more").returncode == 64 and run("--socket").returncode == 64
    bad = cells.new_directory(user) / "bad.conf"
    bad.write_text('{"workers": "many"}')
    found = run("--config", str(bad), "--check-config")
    assert found.returncode == 78 and f"{bad}:1:13: workers: expected" in found.stderr
    bad.write_text('{"workers": 3}')
    assert json.loads(run("--config", str(bad), "--check-config").stdout)["workers"] == 3
    with daemons.Daemon(user) as d:
        second = run("--socket", str(d.socket) + "2", "--state", str(d.state))
        assert second.returncode == 78 and "another hotcelld uses it" in second.stderr
        second = run("--socket", str(d.socket), "--state", str(d.state) + "2")
        assert second.returncode == 78 and "another hotcelld listens there" in second.stderr
        assert d.end() == 0


def test_a_user_without_a_home_says_where_things_are(base_tree):
    user = cells.ordinary()
    directory = cells.new_directory(user)
    command = [daemons.HOTCELLD, "--check-config"]
    env = {name: value for name, value in user.environment().items() if name not in ("HOME", "HOTCELL_STATE") and not name.startswith("XDG_")}

    def check(*options):
        return subprocess.run([*command, *options], env=env, cwd=directory, capture_output=True, text=True, check=False, timeout=cells.PATIENCE,
                              **user.popen_arguments())
    places = ["--state", str(directory / "state"), "--socket", str(directory / "socket")]
    done = check(*places)
    assert (done.returncode, done.stderr) == (0, "") and json.loads(done.stdout)["state"] == places[1], done
    for given, missing in ((places[:2], "socket.path (--socket)"), (places[2:], "state (--state)")):
        done = check(*given)
        assert (done.returncode, done.stdout) == (78, ""), done
        assert done.stderr == f"hotcelld: configuration: {missing}: no place for files of this user: set HOTCELL_STATE, XDG_DATA_HOME or HOME to an absolute path\n"
