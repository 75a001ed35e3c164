"""Administrators of a hotcelld: root over its socket and tenants that the configuration says are some may look at everybody's jobs, end them,
hold a tenant and drain the daemon, over HTTP and by the command line; nobody else may, and each change is in the log."""

import hashlib
import json
import os
import signal
import subprocess

import cells
import daemons
import pytest

FLOOD, QUIET, OPERATOR = 61301, 61302, 61303  # users without an account
LONG = {"code": "import time\nprint('up', flush=True)\ntime.sleep(86000)", "limits": {"timeout": "24h"}}
NOBODYS = "20260101T000000Z-00000000000000000000"
ROUTES = [("GET", "jobs"), ("GET", f"jobs/{NOBODYS}"), ("POST", f"jobs/{NOBODYS}/cancel"), ("GET", "tenants"), ("POST", "tenants/uid-1/hold"),
          ("POST", "tenants/uid-1/release"), ("POST", "drain"), ("POST", "resume")]


@pytest.fixture(name="daemon")
def two_workers(base_tree):
    cells.need_root()
    config = {"workers": 2, "socket": {"mode": "0666"}, "tenants": {"ops": {"uids": [OPERATOR], "admin": True}}}
    with daemons.Daemon(config=config) as d:
        yield d


def admin(d, method, path, reason=None, uid=None):
    body = None if reason is None else json.dumps({"reason": reason}).encode()
    return d.request(method, f"/v1/admin/{path}", body, {"Content-Type": "application/json"} if body else {}, uid=uid)


def logged(d, text):
    """Waits for the line, and no longer."""
    d.wait_for_line(text)
    return True


def state(d, job_id, uid):
    return d.get(f"/v1/jobs/{job_id}", uid=uid).json["state"]


# ---- over HTTP ----

@pytest.mark.parametrize("who", [None, OPERATOR], ids=["root", "operator"])
def test_an_administrator_sees_shows_and_ends_everybodys_jobs(daemon, who):
    name = "ops" if who else "root"
    runs, waits = [daemon.post_async({**LONG, "labels": {"a": "b"}}, uid=FLOOD) for _ in range(2)]
    done = daemon.post({"code": "1 / 0", "policy": "none"}, uid=QUIET).json["job_id"]
    jobs = {job["job_id"]: job for job in admin(daemon, "GET", "jobs", uid=who).json["jobs"]}
    assert {job_id: (job["tenant"], job["state"], job["status"], job["policy"]) for job_id, job in jobs.items()} == {
        runs: (f"uid-{FLOOD}", "running", None, "default"), waits: (f"uid-{FLOOD}", "queued", None, "default"),
        done: (f"uid-{QUIET}", "done", "error", "none")}
    assert "ZeroDivisionError" in jobs[done]["reason"] or jobs[done]["reason"]
    for query, found in (("state=queued", [waits]), (f"tenant=uid-{QUIET}", [done]), ("status=error&policy=none", [done]),
                         ("state=done&policy=default", []), ("since=2999-01-01T00:00:00Z", []), ("number=1&state=running", [runs])):
        assert [job["job_id"] for job in admin(daemon, "GET", f"jobs?{query}", uid=who).json["jobs"]] == found, query
    assert admin(daemon, "GET", f"jobs/{runs}", uid=who).json["worker_pid"] in daemon.named("worker")
    assert "worker_pid" not in daemon.get(f"/v1/jobs/{runs}", uid=FLOOD).json
    shown = admin(daemon, "GET", f"jobs/{waits}", uid=who).json
    assert "worker_pid" not in shown and shown["position"] == 0 and shown["asked"]["limits"]["timeout"] == "24h" and shown["asked"]["labels"] == {"a": "b"}
    assert admin(daemon, "GET", f"jobs/{done}", uid=who).json["manifest"]["status"] == "error"

    assert admin(daemon, "POST", f"jobs/{waits}/cancel", "not now", who).status == 202
    assert admin(daemon, "POST", f"jobs/{runs}/cancel", "it is stuck", who).status == 202
    daemon.events(runs, uid=FLOOD)
    ended = daemon.get(f"/v1/jobs/{runs}", uid=FLOOD).json
    assert (ended["state"], ended["manifest"]["status"]) == ("done", "killed")
    assert ended["reason"] == ended["manifest"]["reason"] == "cancelled by the administrator: it is stuck"
    ended = daemon.get(f"/v1/jobs/{waits}", uid=FLOOD).json
    assert (ended["state"], ended["status"], ended["problem"]["detail"]) == ("failed", "cancelled", "cancelled by the administrator: not now")
    assert logged(daemon, f"admin {name}: cancels job {waits} of uid-{FLOOD}: not now")
    assert logged(daemon, f"admin {name}: cancels job {runs} of uid-{FLOOD}: it is stuck")
    assert admin(daemon, "POST", f"jobs/{runs}/cancel", uid=who).status == 200  # it has ended
    assert {job["status"] for job in admin(daemon, "GET", f"jobs?tenant=uid-{FLOOD}", uid=who).json["jobs"]} == {"killed", "cancelled"}


def test_the_worker_of_a_job_is_known_also_if_it_replaced_another(daemon):
    cells.wait_until("both workers", lambda: len(daemon.named("worker")) == 2)
    before = daemon.named("worker")
    first = daemon.post_async(LONG, uid=FLOOD)
    pid = admin(daemon, "GET", f"jobs/{first}").json["worker_pid"]
    assert pid in before
    cells.wait_until("a cell of the worker", lambda: daemon.children(pid))
    os.kill(pid, signal.SIGKILL)
    cells.wait_until("another worker", lambda: len(set(daemon.named("worker")) - {pid}) == 2)
    jobs = [daemon.post_async(LONG, uid=uid) for uid in (FLOOD, QUIET)]
    cells.wait_until("both run", lambda: all(admin(daemon, "GET", f"jobs/{job}").json["state"] == "running" for job in jobs))
    assert {admin(daemon, "GET", f"jobs/{job}").json["worker_pid"] for job in jobs} == set(daemon.named("worker"))


def test_only_root_and_configured_tenants_are_administrators(daemon):
    mine = daemon.post_async(LONG, uid=FLOOD)
    for method, path in [*ROUTES, ("GET", f"jobs/{mine}"), ("POST", f"jobs/{mine}/cancel")]:
        answer = admin(daemon, method, path, uid=QUIET)
        assert answer.status == 403 and "this is for administrators" in answer.json["detail"], (method, path, answer)
        answer = daemon.request(method, f"/v1/admin/{path}", headers={"Authorization": "Bearer no"})  # root, who says he is another
        assert answer.status == 401, (method, path, answer)
    assert logged(daemon, f"uid {QUIET} is refused GET /v1/admin/jobs: 403")
    assert daemon.request("POST", f"/v1/jobs/{mine}/cancel", uid=QUIET).status == 404  # and an administrator's jobs are his own here
    assert daemon.request("POST", f"/v1/jobs/{mine}/cancel", uid=OPERATOR).status == 404
    assert state(daemon, mine, FLOOD) == "running"
    for _ in range(30):
        admin(daemon, "GET", "jobs", uid=QUIET)
    admin(daemon, "POST", f"jobs/{mine}/cancel")
    assert daemon.end() == 0
    assert daemon.log.count("is refused") <= 10, daemon.log


def test_root_without_a_tenant_and_a_token_administer(base_tree):
    cells.need_root()
    tokens = cells.new_directory(cells.caller()) / "tokens"
    tokens.write_text(f"{hashlib.sha256(b'secret').hexdigest()} ops\n")
    config = {"local_users": "none", "tokens": str(tokens), "tenants": {"ops": {"admin": True}, "mine": {"uids": [FLOOD]}}, "socket": {"mode": "0666"}}
    with daemons.Daemon(config=config) as d:
        job = d.post_async(LONG, uid=FLOOD)
        assert d.get("/v1/jobs").status == 403  # no tenant is configured for root
        assert [found["job_id"] for found in admin(d, "GET", "jobs").json["jobs"]] == [job]
        token = {"Authorization": "Bearer secret"}
        assert [t["tenant"] for t in d.get("/v1/admin/tenants", headers=token, uid=QUIET).json["tenants"]] == ["ops", "mine"]
        assert admin(d, "POST", f"jobs/{job}/cancel").status == 202


def test_whoever_started_a_daemon_administers_it(base_tree):
    user = cells.ordinary()
    with daemons.Daemon(user) as d:
        uid = user.uid if cells.IS_ROOT else None
        assert admin(d, "GET", "tenants", uid=uid).json == {"tenants": []}
        assert admin(d, "POST", "drain", uid=uid).json["draining"] is True
        assert logged(d, f"admin uid-{user.uid}: drains the daemon")


def test_a_session_is_listed_and_ended(daemon):
    session = daemon.session({"policy": "none"}, uid=QUIET)
    [row] = admin(daemon, "GET", "jobs").json["sessions"]
    assert (row["tenant"], row["state"]) == (f"uid-{QUIET}", "idle")
    job_id = row["session_id"]
    assert admin(daemon, "GET", f"jobs/{job_id}").json["session_id"] == job_id
    assert admin(daemon, "POST", f"jobs/{job_id}/cancel", "enough").status == 202
    cells.wait_until("its end", lambda: daemon.get(session, uid=QUIET).json["state"] == "ended")
    assert daemon.get(session, uid=QUIET).json["manifest"]["reason"] == "cancelled by the administrator: enough"
    assert admin(daemon, "GET", "jobs").json["sessions"] == []
    [row] = admin(daemon, "GET", "jobs?status=killed").json["jobs"]
    assert (row["job_id"], row["policy"], row["reason"]) == (job_id, "none", "cancelled by the administrator: enough")


def test_an_ended_session_says_who_has_ended_it_and_why(daemon):
    mine, theirs, idle, used = [daemon.session({"limits": {"session_runs": 1}}, uid=QUIET) for _ in range(4)]
    admin(daemon, "POST", f"jobs/{theirs.rpartition('/')[2]}/cancel", "zu viel \u00fc")
    daemon.request("DELETE", idle, uid=QUIET)
    assert daemon.send(f"{used}/runs", {"code": "1"}, uid=QUIET).status == 200
    done = hotcell(daemon, "cancel", mine.rpartition("/")[2], uid=QUIET)
    assert (done.returncode, done.stdout) == (0, f"{mine.rpartition('/')[2]}: is being ended\n"), done
    ends = {}
    for session in (mine, theirs, idle, used):
        cells.wait_until("its end", lambda at=session: daemon.get(at, uid=QUIET).json["state"] == "ended")
        ends[session] = [daemon.get(session, uid=QUIET).json[name] for name in ("reason", "ended_by", "detail")]
    assert ends[mine] == ["cancelled", "tenant", "cancelled by its tenant"]
    assert ends[theirs] == ["cancelled", "administrator", "cancelled by the administrator: zu viel \u00fc"]
    assert ends[idle] == ["closed", "tenant", None]
    assert ends[used][:2] == ["runs", None] and "limits.session_runs" in ends[used][2]
    gone = daemon.send(f"{theirs}/runs", {"code": "1"}, uid=QUIET)
    assert gone.status == 410 and "(cancelled: cancelled by the administrator: zu viel" in gone.json["detail"], gone
    shown = hotcell(daemon, "jobs", "show", mine.rpartition("/")[2], uid=QUIET)
    assert shown.returncode == 0 and "cancelled by its tenant" in shown.stdout, shown


def test_a_session_is_ended_by_its_own_tenant_alone_and_is_no_job_before(daemon):
    session = daemon.session(uid=QUIET)
    job_id = session.rpartition("/")[2]
    shown = hotcell(daemon, "jobs", "show", job_id, uid=QUIET)
    assert shown.returncode == 65 and f"it is a session that is open, at {session}" in shown.stderr, shown
    assert daemon.request("DELETE", f"/v1/jobs/{job_id}", uid=QUIET).status == 404
    for other in (FLOOD, OPERATOR):
        done = hotcell(daemon, "cancel", job_id, uid=other)
        assert done.returncode == 65 and done.stderr == f"hotcell: {job_id}: hotcelld: there is no such job\n", done
    assert daemon.get(session, uid=QUIET).json["state"] == "idle"


def test_a_run_of_a_session_that_is_ended_says_so_too(daemon):
    session = daemon.session(uid=QUIET)
    job_id = session.rpartition("/")[2]
    connection = daemon.connect(QUIET)
    connection.request("POST", f"{session}/runs", json.dumps({"code": "import time\ntime.sleep(1000)"}), {"Content-Type": "application/json"})
    cells.wait_until("a run", lambda: daemon.get(session, uid=QUIET).json["state"] == "running")
    assert admin(daemon, "POST", f"jobs/{job_id}/cancel", "enough").status == 202
    answer = connection.getresponse()
    assert answer.status in (200, 410)
    connection.close()
    cells.wait_until("its end", lambda: daemon.get(session, uid=QUIET).json["state"] == "ended")
    assert daemon.get(session, uid=QUIET).json["manifest"]["reason"] == "cancelled by the administrator: enough"


def test_jobs_of_a_tenant_that_is_held_wait(daemon):
    running = daemon.post_async(LONG, uid=FLOOD)
    held = admin(daemon, "POST", f"tenants/uid-{FLOOD}/hold", "looking into it").json
    assert (held["held"], held["running"], held["running_most"]) == (True, 1, 1)
    admin(daemon, "POST", f"tenants/uid-{QUIET}/hold")  # who has not come yet
    waiting, others = daemon.post_async("1", uid=FLOOD), daemon.post_async("2", uid=QUIET)
    assert daemon.post("3", uid=OPERATOR).json["status"] == "ok"
    assert [state(daemon, running, FLOOD), state(daemon, waiting, FLOOD), state(daemon, others, QUIET)] == ["running", "queued", "queued"]
    told = daemon.get(f"/v1/jobs/{waiting}", uid=FLOOD).json
    assert told["held"] is True and told["hold"]["by"] == "root" and told["hold"]["reason"] == "looking into it"
    assert told["hold"] == held["hold"] and told["reason"] == f"held since {told['hold']['since'][:19]}Z by root: looking into it"
    again = daemon.post({"code": "1"}, {"Prefer": "respond-async"}, uid=QUIET).json
    assert (again["hold"]["by"], again["hold"]["reason"]) == ("root", None) and again["reason"].endswith(" by root")
    refused = daemon.send("/v1/sessions", daemon.spec({}), uid=QUIET)
    assert refused.status == 503 and "(held since 20" in refused.json["detail"], refused
    released = admin(daemon, "POST", f"tenants/uid-{QUIET}/release").json
    assert (released["held"], released["hold"]) == (False, None)
    daemon.events(others, uid=QUIET)
    assert state(daemon, others, QUIET) == "done" and state(daemon, waiting, FLOOD) == "queued"
    assert logged(daemon, f"admin root: holds tenant uid-{FLOOD}: looking into it")
    assert logged(daemon, f"admin root: releases tenant uid-{QUIET}")
    assert admin(daemon, "POST", "tenants/nobody/hold").status == 404


@pytest.mark.parametrize("name", ["uid-99999999999", "uid-18446744073709551617", "uid-4294967295", "uid-4294967296", "uid-007", f"uid-{OPERATOR}"])
def test_a_name_that_no_user_can_have_is_not_held(daemon, name):
    """Else an administrator who slips is told that somebody is held, and nobody is."""
    for change in ("hold", "release"):
        assert admin(daemon, "POST", f"tenants/{name}/{change}").status == 404
    assert name not in [tenant["tenant"] for tenant in admin(daemon, "GET", "tenants").json["tenants"]]
    assert admin(daemon, "POST", "tenants/uid-4294967294/hold").json["held"] is True


def test_a_reason_stays_if_a_tenant_is_held_again_without_one(daemon):
    path = f"tenants/uid-{FLOOD}/hold"
    first = admin(daemon, "POST", path, "looking into it").json["hold"]
    again = admin(daemon, "POST", path, uid=OPERATOR).json["hold"]
    assert (again["reason"], again["since"], again["by"]) == (first["reason"], first["since"], "ops")
    assert admin(daemon, "POST", path, "found it").json["hold"]["reason"] == "found it"
    admin(daemon, "POST", f"tenants/uid-{FLOOD}/release")
    assert admin(daemon, "POST", path).json["hold"]["reason"] is None


def test_a_run_that_is_cancelled_ends_alike_whether_it_waits_or_runs(daemon):
    for hold in (True, False):
        if hold:
            admin(daemon, "POST", f"tenants/uid-{QUIET}/hold")
        with running(daemon, QUIET, "run", "-t", "base", "--warm", "-") as process:
            process.stdin.write(LONG["code"])
            process.stdin.close()
            line = (process.stderr if hold else process.stdout).readline()
            assert line.startswith("hotcell: hotcelld: the job waits" if hold else "up"), line
            job, = (row for row in rows(daemon) if row["state"] == ("queued" if hold else "running"))
            assert hotcell(daemon, "cancel", job["job_id"], "--reason", "enough").returncode == 0
            assert process.wait(cells.PATIENCE) == 3
            assert "cancelled by the administrator: enough" in process.stderr.read()
        admin(daemon, "POST", f"tenants/uid-{QUIET}/release")


def test_whoever_waits_for_a_job_is_told_that_its_tenant_is_held(daemon):
    admin(daemon, "POST", f"tenants/uid-{QUIET}/hold", "über Nacht")
    with running(daemon, QUIET, "run", "-t", "base", "--warm", "-") as process:
        process.stdin.write("print('ran')")
        process.stdin.close()
        line = process.stderr.readline()
        assert line.startswith("hotcell: hotcelld: the job waits: the tenant is held since 20") and line.endswith(" by root: über Nacht\n"), line
        row, = (line for line in hotcell(daemon, "jobs", uid=QUIET).stdout.splitlines() if " queued " in line)
        assert row.endswith(" by root: über Nacht") and "  held since 20" in row
        admin(daemon, "POST", f"tenants/uid-{QUIET}/hold", "doch länger")
        assert process.stderr.readline().endswith(" by root: doch länger\n")
        admin(daemon, "POST", f"tenants/uid-{QUIET}/release")
        assert process.stderr.readline() == "hotcell: hotcelld: the tenant is not held any more\n"
        assert (process.stdout.read(), process.wait(cells.PATIENCE)) == ("ran\n", 0)


def test_a_daemon_that_is_drained_takes_nothing_until_it_is_resumed(daemon):
    running, waiting = [daemon.post_async(LONG, uid=FLOOD) for _ in range(2)]
    assert daemon.get("/healthz").json["status"] == "ok"
    left = admin(daemon, "POST", "drain", "a new kernel").json
    assert left == {"draining": True, "running": 1, "queued": 1, "sessions": 0}
    health = daemon.get("/healthz", uid=QUIET)
    assert (health.status, health.json["status"]) == (503, "draining")
    for path in ("/v1/jobs", "/v1/sessions"):
        answer = daemon.send(path, daemon.spec("1"), uid=QUIET)
        assert (answer.status, answer.json["retry"]) == (503, "not_started") and "drained" in answer.json["detail"], answer
        assert int(answer.headers["Retry-After"]) > 0
    daemon.request("DELETE", f"/v1/jobs/{running}", uid=FLOOD)
    cells.wait_until("what was accepted runs", lambda: state(daemon, waiting, FLOOD) == "running")
    assert admin(daemon, "POST", "resume").json["draining"] is False
    assert daemon.post("1", uid=QUIET).json["status"] == "ok" and daemon.get("/healthz").status == 200
    assert logged(daemon, "admin root: drains the daemon: a new kernel") and logged(daemon, "admin root: resumes the daemon")


@pytest.mark.parametrize("body", [b"[]", b'{"reason": 1}', b'{"reason": "a\\nb"}', b'{"reason": "\\u0085"}', b'{"why": "x"}', b'{"reason": "x", "y": 1}',
                                  json.dumps({"reason": "x" * 201}).encode(), b"{", b'{"reason": "\\u001b[31m"}',
                                  b'{"reason": "\\u202etxt.exe"}', '{"reason": "a\u2028b"}'.encode(), '{"reason": "a\u200bb"}'.encode()])
def test_a_reason_is_one_line(daemon, body):
    answer = daemon.request("POST", "/v1/admin/drain", body, {"Content-Type": "application/json"})
    assert answer.status == 400, answer
    assert daemon.get("/healthz").status == 200  # nothing was done


@pytest.mark.parametrize("query, text", [("state=accepted", "queued, running, done or failed"), ("status=zzz", "ok, error, rejected, timeout, cpu, memory, pids, output, collect, killed, failed, cancelled or unknown"),
                                         ("since=yesterday", "2026-11-20T08:00:00Z"), ("number=0", "1 to 1000"),
                                         ("tenant=a%2Fb", "a name"), ("state=done&state=done", "one value"), ("job=1", "and no other")])
def test_a_filter_that_would_find_nothing_for_a_slip_is_refused(daemon, query, text):
    answer = admin(daemon, "GET", f"jobs?{query}")
    assert answer.status == 400 and text in answer.json["detail"], answer


# ---- by the command line ----

def hotcell(d, *command, uid=0, env=None):
    """As this user, with a home of nobody's."""
    more = {"user": uid, "group": uid, "extra_groups": []} if uid else {}
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "HOTCELL_SOCKET": str(d.socket), **(env or {})}
    os.chmod(d.directory, 0o755)
    done = subprocess.run([cells.HOTCELL, *command], capture_output=True, text=True, timeout=cells.PATIENCE, check=False, env=environment, cwd="/", **more)
    return done


def running(d, uid, *command):
    """As this user, while the block goes on."""
    os.chmod(d.directory, 0o755)
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "HOTCELL_SOCKET": str(d.socket)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([cells.HOTCELL, *command], env=environment, cwd="/", user=uid, group=uid, extra_groups=[], **pipes)


def rows(d, *command, **more):
    done = hotcell(d, "jobs", "--json", *command, **more)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def test_tenants_list_show_and_end_their_own_jobs_by_the_command_line(daemon):
    mine, theirs = daemon.post_async({**LONG, "policy": "none"}, uid=QUIET), daemon.post_async(LONG, uid=FLOOD)
    assert [(row["job_id"], row["state"], row["policy"]) for row in rows(daemon, uid=QUIET)] == [(mine, "running", "none")]
    assert rows(daemon, "--state", "done", uid=QUIET) == []
    table = hotcell(daemon, "jobs", uid=QUIET).stdout.splitlines()
    assert table[0].split()[:5] == ["JOB", "TENANT", "STATE", "STATUS", "POLICY"] and table[0].endswith("  REASON")
    assert table[1].split()[:5] == [mine, f"uid-{QUIET}", "running", "-", "none"] and len(table) == 2
    shown = hotcell(daemon, "jobs", "show", mine, uid=QUIET)
    assert shown.returncode == 0 and f"job_id           {mine}\n" in shown.stdout and "policy           none\n" in shown.stdout
    refused = hotcell(daemon, "jobs", "show", theirs, uid=QUIET)
    assert (refused.returncode, refused.stdout) == (65, "") and "there is no such job" in refused.stderr, refused

    refused = hotcell(daemon, "cancel", theirs, mine, uid=QUIET)
    assert refused.returncode == 65 and refused.stderr.startswith(f"hotcell: {theirs}: hotcelld: there is no such job"), refused
    assert refused.stdout == f"{mine}: is being ended\n"
    daemon.events(mine, uid=QUIET)
    [row] = rows(daemon, uid=QUIET)
    assert (row["state"], row["status"], row["reason"]) == ("done", "killed", "cancelled from outside")
    assert state(daemon, theirs, FLOOD) == "running"
    for command in (["jobs", "--all"], ["cancel", "--admin", theirs], ["hold", f"uid-{FLOOD}"], ["release", f"uid-{FLOOD}"], ["drain"], ["resume"]):
        done = hotcell(daemon, *command, uid=QUIET)
        assert (done.returncode, done.stdout) == (78, "") and "this is for administrators" in done.stderr, (command, done)
    assert state(daemon, theirs, FLOOD) == "running"


@pytest.mark.parametrize("who", [0, OPERATOR], ids=["root", "operator"])
def test_administrators_order_by_the_command_line(daemon, who):
    flag, own = (["--admin"], ["--all"]) if who else ([], [])
    runs, waits = [daemon.post_async(LONG, uid=FLOOD) for _ in range(2)]
    done = daemon.post({"code": "import sys; sys.exit(3)", "policy": "none"}, uid=QUIET).json["job_id"]
    listed = rows(daemon, *own, uid=who)
    assert [(row["job_id"], row["tenant"], row["state"]) for row in listed] == [
        (done, f"uid-{QUIET}", "done"), (waits, f"uid-{FLOOD}", "queued"), (runs, f"uid-{FLOOD}", "running")]
    assert [row["job_id"] for row in rows(daemon, "--tenant", f"uid-{QUIET}", uid=who)] == [done]
    assert [row["job_id"] for row in rows(daemon, *own, "--status", "error", "--policy", "none", "--since", "1h", uid=who)] == [done]
    assert [row["job_id"] for row in rows(daemon, *own, "-n", "1", "--state", "queued", uid=who)] == [waits]
    table = hotcell(daemon, "jobs", *own, uid=who).stdout
    assert f"{done} " in table and "the program failed with exit status 3" in table
    whole = json.loads(hotcell(daemon, "jobs", "show", done, "--json", *own, uid=who).stdout)
    assert (whole["manifest"]["status"], whole["policy"]) == ("error", "none")

    held = hotcell(daemon, "hold", f"uid-{FLOOD}", "--reason", "too loud", uid=who)
    assert held.stdout == f"uid-{FLOOD}: held; 1 jobs run, 1 wait, 0 sessions\n", held
    ended = hotcell(daemon, "cancel", *flag, "--reason", "it is stuck", runs, uid=who)
    assert (ended.returncode, ended.stdout) == (0, f"{runs}: is being ended\n"), ended
    daemon.events(runs, uid=FLOOD)
    assert daemon.get(f"/v1/jobs/{runs}", uid=FLOOD).json["reason"] == "cancelled by the administrator: it is stuck"
    assert "cancelled by the administrator: it is stuck" in hotcell(daemon, "jobs", *own, uid=who).stdout
    assert state(daemon, waits, FLOOD) == "queued"
    unwanted = daemon.post_async("1", uid=FLOOD)
    ended = hotcell(daemon, "cancel", *flag, unwanted, done, uid=who)
    assert (ended.returncode, ended.stdout) == (0, f"{unwanted}: does not run any more\n{done}: had ended (error)\n"), ended
    assert hotcell(daemon, "release", f"uid-{FLOOD}", uid=who).stdout == f"uid-{FLOOD}: not held; 1 jobs run, 0 wait, 0 sessions\n"
    drained = hotcell(daemon, "drain", "--reason", "a new kernel", uid=who)
    assert drained.stdout == "hotcelld takes no new jobs; 1 jobs run, 0 wait, 0 sessions\n", drained
    assert daemon.post("1", uid=QUIET).status == 503
    assert json.loads(hotcell(daemon, "resume", "--json", uid=who).stdout) == {"draining": False, "running": 1, "queued": 0, "sessions": 0}
    assert daemon.post("1", uid=QUIET).status == 200


@pytest.mark.parametrize("command", [["jobs", "show", NOBODYS], ["cancel", NOBODYS], ["hold", "nobody"], ["release", "nobody"],
                                     ["jobs", "--all", "--tenant", "nobody"]])
def test_jobs_and_tenants_that_do_not_exist_are_wrong_input(daemon, command):
    done = hotcell(daemon, *command)
    assert (done.returncode, done.stdout) == (65, "") and "there is no such" in done.stderr, done
    assert command[0] == "jobs" and command[1] == "--all" or f"{command[-1]}: " in done.stderr, done


def test_a_list_has_no_more_rows_than_asked_for_and_sessions_alone_if_asked_for(daemon):
    jobs = [daemon.post("1", uid=FLOOD).json["job_id"] for _ in range(3)]
    session = daemon.send("/v1/sessions", daemon.spec({}), uid=QUIET).json["session_id"]
    assert [row["job_id"] for row in rows(daemon, "-n", "2")] == [session, jobs[2]]
    assert len(hotcell(daemon, "jobs", "-n", "2").stdout.splitlines()) == 3
    assert [row["job_id"] for row in rows(daemon, "--status", "session")] == [session]
    assert rows(daemon, "--status", "session", "--tenant", f"uid-{FLOOD}") == rows(daemon, "--status", "session", "--state", "done") == []
    assert [row["job_id"] for row in rows(daemon, "--status", "ok")] == jobs[::-1]


def test_the_ledger_tells_the_same_when_no_daemon_runs(daemon):
    daemon.post("1 / 0", uid=QUIET)
    waits = daemon.post_async(LONG, uid=FLOOD)
    admin(daemon, "POST", f"jobs/{waits}/cancel", "enough")
    daemon.events(waits, uid=FLOOD)
    told = rows(daemon)
    assert daemon.end() == 0
    kept = rows(daemon, "--ledger", str(daemon.state / "ledger.db"))
    same = ("job_id", "tenant", "state", "status", "policy", "reason")
    assert [[row[name] for name in same] for row in kept] == [[row[name] for name in same] for row in told]
    shown = hotcell(daemon, "jobs", "show", waits, "--json", "--ledger", str(daemon.state / "ledger.db"))
    assert json.loads(shown.stdout)["manifest"]["reason"] == "cancelled by the administrator: enough"
    lost = hotcell(daemon, "jobs")  # a socket was named, and nobody listens there
    assert lost.returncode == 69 and "connect to hotcelld at" in lost.stderr, lost
    fallback = subprocess.run([cells.HOTCELL, "jobs", "--json"], capture_output=True, text=True, timeout=cells.PATIENCE, check=False,
                              env={"PATH": os.environ["PATH"], "HOTCELL_STATE": "/nonexistent"})
    assert "ledger.db: is not there" in fallback.stderr, fallback
    daemon.start_again()  # for the fixture


@pytest.mark.parametrize("command, text", [
    (["cancel"], "expected ID..."), (["hold"], "expected TENANT"), (["hold", "a", "b"], "expected TENANT"), (["drain", "x"], "expected no arguments"),
    (["cancel", "--reason"], "--reason: expected a value"), (["cancel", "--all", "x"], "there is no option '--all'"),
    (["hold", "alice", "--reason", "a\nb"], "--reason: expected one line of at most 200 bytes"), (["drain", "--reason", "x" * 201], "--reason: expected one line"),
    (["cancel", "x", "--reason", "\x9b1m"], "--reason: expected one line"), (["resume", "--reason", b"\xff"], "--reason: expected one line"),
    (["jobs", "--status", "zzz"], "--status: expected ok, error, rejected, timeout, cpu, memory, pids, output, collect, killed, failed, cancelled or unknown, or session, got 'zzz'"),
    (["jobs", "show"], "expected no arguments, or show ID, got 'show'"), (["jobs", "--socket", "a", "--ledger", "b"], "it does not go with"),
])
def test_wrong_command_lines(command, text):
    done = subprocess.run([cells.HOTCELL, *command], capture_output=True, text=True, timeout=cells.PATIENCE, check=False)
    assert done.returncode == 64 and text in done.stderr and f"'hotcell {command[0]} --help'" in done.stderr, done


def test_a_reason_is_for_administrators(daemon):
    mine = daemon.post_async(LONG, uid=QUIET)
    done = hotcell(daemon, "cancel", mine, "--reason", "x", uid=QUIET)
    assert done.returncode == 64 and "--reason is for administrators" in done.stderr, done
    assert hotcell(daemon, "cancel", "a/b").returncode == 64
    assert hotcell(daemon, "cancel", mine).returncode == 0
