"""Tenants of a hotcelld: shares and quotas as hotcelld.conf(5) says, and what `hotcell jobs` and `hotcell usage` say afterwards. The
rules themselves are tested beside them (src/daemon/*/*-test.c); here they hold for real jobs."""

import json
import os
import signal
import subprocess

import cells
import daemons
import pytest

FLOOD, QUIET = 61301, 61302  # users without an account
BUSY = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end:\n    pass"
GATE = "import time\nprint('up', flush=True)\ntime.sleep(100)"


def report(d, command, *options):
    done = subprocess.run([cells.HOTCELL, command, "--json", "--ledger", d.state / "ledger.db", *options], capture_output=True, text=True,
                          timeout=cells.PATIENCE, env=d.user.environment(), check=True, **d.user.popen_arguments())
    return json.loads(done.stdout)


def quotas(**rules):
    return {"tenants": {"mine": {"uids": [os.geteuid()], **rules}}}


def ended(d, job_id, uid=None):
    d.events(job_id, uid=uid)
    return d.get(f"/v1/jobs/{job_id}", uid=uid).json


def test_one_tenants_flood_is_not_in_anothers_way():
    """Of jobs that all came before the only worker was free, the other tenant's are the second and the fourth, or earlier, as all cost the same:
    none is in a warm cell."""
    cells.need_root()
    with daemons.Daemon(config={"workers": 1, "socket": {"mode": "0666"}, "warm": {"memory": 0}}) as d:
        gate = d.post_async({"code": GATE, "limits": {"timeout": 100 * cells.SLOWNESS}})
        flood = [d.post_async("1", uid=FLOOD) for _ in range(8)]
        quiet = [d.post_async("2", uid=QUIET) for _ in range(2)]
        d.request("DELETE", f"/v1/jobs/{gate}")
        jobs = [ended(d, job_id, FLOOD) for job_id in flood] + [ended(d, job_id, QUIET) for job_id in quiet]
        assert [job["state"] for job in jobs] == ["done"] * 10
        order = [job["tenant"] for job in sorted(jobs, key=lambda job: job["started"])]
        assert sorted(order[:4]) == [f"uid-{FLOOD}"] * 2 + [f"uid-{QUIET}"] * 2, order


def test_another_tenants_job_finds_a_worker_however_long_the_others_run():
    """By default; a tenant that was given all workers has them, and then nothing but its own jobs' end lets others in."""
    cells.need_root()
    long = {"code": "import time; time.sleep(86000)", "limits": {"timeout": "24h"}}
    everything = {"tenants": {"all": {"uids": [FLOOD], "running": 2}}}
    with daemons.Daemon(config={"workers": 2, "socket": {"mode": "0666"}, **everything}) as d:
        flood = [d.post_async(long, uid=FLOOD) for _ in range(3)]
        waiting = d.post_async("1", uid=QUIET)
        assert [d.get(f"/v1/jobs/{job_id}", uid=FLOOD).json["state"] for job_id in flood] == ["running", "running", "queued"]
        assert d.get(f"/v1/jobs/{waiting}", uid=QUIET).json["state"] == "queued"
    with daemons.Daemon(config={"workers": 2, "socket": {"mode": "0666"}}) as d:
        flood = [d.post_async(long, uid=FLOOD) for _ in range(3)]
        assert d.post("print(1)", uid=QUIET).json["status"] == "ok"
        assert [d.get(f"/v1/jobs/{job_id}", uid=FLOOD).json["state"] for job_id in flood] == ["running", "queued", "queued"]
        assert f'hotcell_tenant_running_most{{tenant="uid-{FLOOD}"}} 1' in d.get("/metrics").body.decode()


def test_a_tenant_that_is_alone_has_all_workers(user):
    with daemons.Daemon(user, config={"workers": 2}) as d:
        jobs = [d.post_async({"code": GATE, "limits": {"timeout": 100 * cells.SLOWNESS}}) for _ in range(2)]
        assert [d.get(f"/v1/jobs/{job_id}").json["state"] for job_id in jobs] == ["running"] * 2


def test_a_tenant_with_one_job_at_a_time_finds_a_worker_beside_a_flood():
    """While it waited, not even one of the flood's ended, as one would have to for it to find a worker: of most of its jobs, that is, as
    its client may be late."""
    cells.need_root()
    with daemons.Daemon(config={"workers": 2, "socket": {"mode": "0666"}}) as d:
        flood = [d.post_async("import time; time.sleep(0.1)", uid=FLOOD) for _ in range(60)]
        quiet = [d.post("import time; time.sleep(0.2)", uid=QUIET).json["job_id"] for _ in range(10)]
        jobs = {job["job_id"]: job for uid in (FLOOD, QUIET) for job in d.get("/v1/jobs", uid=uid).json["jobs"]}
        ends = [jobs[job_id]["finished"] for job_id in flood if jobs[job_id]["state"] == "done"]
        at_once = [job_id for job_id in quiet if not any(jobs[job_id]["accepted"] < end <= jobs[job_id]["started"] for end in ends)]
        assert len(at_once) >= 7, [jobs[job_id] for job_id in quiet]
        assert len(ends) < len(flood), "the flood was over before"


def test_cpu_time_that_is_used_up_is_refused_also_by_the_next_daemon(user):
    with daemons.Daemon(user, config=quotas(cpu_seconds=0.3, window="1h")) as d:
        assert d.post(BUSY).json["status"] == "ok"
        answer = d.post("1")
        assert (answer.status, answer.json["quota"], answer.json["retry"]) == (429, "cpu_seconds", "not_started")
        assert 3000 < int(answer.headers["Retry-After"]) <= 3700
        assert d.end() == 0
        d.start_again()
        assert d.post("1").json["quota"] == "cpu_seconds"
        [use] = report(d, "usage")
        assert (use["tenant"], use["jobs"], use["by_status"]) == ("mine", 1, {"ok": 1})
        assert use["cpu_seconds"] >= 0.4 and use["gb_seconds"] > 0
        assert d.end() == 0


def test_policies_memory_and_uids_are_what_the_configuration_says():
    config = {"local_users": "none", **quotas(policies=["none"], memory="200M")}
    with daemons.Daemon(config=config) as d:
        answer = d.post({"code": "1", "policy": "default"})
        assert (answer.status, answer.json["retry"]) == (403, "not_started")
        small = {"code": "1", "policy": "none", "limits": {"memory": "100M"}}
        assert d.post(small).json["tenant"] == "mine"
        answer = d.post({**small, "limits": {"memory": "201M"}})
        assert (answer.status, answer.json["quota"]) == (403, "memory")
        assert answer.json["detail"] == "limits.memory is 201M, and all of the tenant's jobs together may have 200M (quota memory)"
        assert "Retry-After" not in answer.headers  # no waiting helps
        if cells.IS_ROOT:
            os.chmod(d.socket, 0o666)
            answer = d.get("/v1/jobs", uid=QUIET)
            assert answer.status == 403 and f"(uid {QUIET}): see tenants and local_users" in answer.json["detail"], answer
            answer = d.request("GET", "/v1/jobs", headers={"Authorization": "Bearer x"}, uid=QUIET)  # it wants to be somebody else
            assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_trees_are_what_the_configuration_says(base_tree):
    """Whoever names it, the request or its policy; the answer names the rule."""
    policies = cells.new_directory(cells.caller())
    for name, tree in (("plain", "base"), ("large", "scientific")):
        (policies / f"{name}.json").write_text(json.dumps({"extends": "default", "tree": tree}))
    with daemons.Daemon(config=quotas(trees=["base", "other"]), env={"HOTCELL_POLICIES": str(policies)}, base=False) as d:
        assert d.post({"code": "print(1)", "policy": "plain"}).json["status"] == "ok"
        assert d.post({"code": "print(1)", "policy": "large", "tree": "base"}).json["status"] == "ok"
        for path in ("/v1/jobs", "/v1/sessions"):
            program = {"code": "1"} if path == "/v1/jobs" else {}
            for asked in ({"policy": "large"}, {"policy": "plain", "tree": "scientific"}):
                answer = d.send(path, {**program, **asked})
                assert (answer.status, answer.json["retry"]) == (403, "not_started"), answer
                assert answer.json["detail"] == ("the tenant 'mine' may not use the tree 'scientific': its rule in hotcelld.conf has "
                                                 '"trees": ["base", "other"]')
        assert d.post({"code": "1", "policy": "plain", "tree": os.path.realpath(base_tree).rpartition("/")[2]}).status == 403, "nor by what it is"


MAY_NOT = [({"policies": ["default"]}, {"policy": "none"}, "may not use the policy 'none'"),
           ({"trees": ["scientific"]}, {}, "may not use the tree 'base'"),
           ({"max": {"pids": 4}}, {"limits": {"pids": 5}}, "limits.pids: 5 is asked for")]


@pytest.mark.parametrize("how", ["restart", "reload"])
@pytest.mark.parametrize("rule, job, said", MAY_NOT)
def test_a_job_that_its_tenant_may_not_have_any_more_is_refused_before_it_begins(how, rule, job, said):
    with daemons.Daemon(config={"workers": 1, "drain": 0, **quotas()}) as d:
        gate = d.post_async({"code": GATE, "limits": {"timeout": 100 * cells.SLOWNESS}})
        cells.wait_until("a cell", d.busy_worker)
        waiting = d.post_async({"code": "print('ran')", **job})
        (d.directory / "hotcelld.conf").write_text(json.dumps({"workers": 1, **quotas(**rule)}))
        if how == "restart":
            assert d.end() == 0
            d.start_again()
        else:
            d.process.send_signal(signal.SIGHUP)
            d.wait_for_line("hotcelld: reloaded")
            d.request("DELETE", f"/v1/jobs/{gate}")
        found = ended(d, waiting)
        assert (found["state"], found["started"], found["status"]) == ("failed", None, "failed"), found
        assert (found["problem"]["status"], found["problem"]["retry"]) == (403, "not_started") and said in found["problem"]["detail"]
        assert said in found["reason"]
        assert d.get(f"/v1/jobs/{waiting}").json == found, "and is remembered so"
        assert d.end() == 0


def test_a_waiting_job_of_a_tenant_that_is_gone_does_not_run():
    with daemons.Daemon(config={"workers": 1, "drain": 0, **quotas()}) as d:
        d.post_async({"code": GATE, "limits": {"timeout": 100 * cells.SLOWNESS}})
        cells.wait_until("a cell", d.busy_worker)
        waiting = d.post_async("print('ran')")
        (d.directory / "hotcelld.conf").write_text(json.dumps({"tenants": {"other": {"uids": [os.geteuid()]}}}))
        assert d.end() == 0
        d.start_again()
        d.post("1")
        row = {row["job_id"]: row for row in report(d, "jobs")}[waiting]
        assert (row["state"], row["status"], row["started"]) == ("failed", "failed", None), row


def test_the_user_of_a_daemon_sees_its_counts_without_being_a_tenant(user):
    with daemons.Daemon(user, config={"local_users": "none"}) as d:
        assert d.get("/v1/jobs", uid=user.uid if cells.IS_ROOT else None).status == 403
        assert "hotcell_jobs_total" in d.get("/metrics", uid=user.uid if cells.IS_ROOT else None).body.decode()
        if cells.IS_ROOT:
            os.chmod(d.socket, 0o666)
            assert d.get("/metrics", uid=QUIET).status == 403


def test_a_job_is_listed_as_soon_as_nothing_else_runs():
    """While much runs it may take a second. On a loaded host the one who asks may be too fast, but not every time."""
    with daemons.Daemon() as d:
        assert any(d.post("1").json["job_id"] in (row["job_id"] for row in report(d, "jobs")) for _ in range(20))


def test_what_a_daemon_did_is_listed_while_it_runs_and_afterwards(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        failed = d.post("1 / 0").json["job_id"]
        kept = d.post("open('a', 'w').write('x' * 5000)", {"Idempotency-Key": "k"}).json["job_id"]
        gate = d.post_async({"code": GATE, "limits": {"timeout": 100 * cells.SLOWNESS}})
        cells.wait_until("a cell", d.busy_worker)
        waiting = d.post_async("1")
        d.get("/v1/jobs")  # what nobody was promised is written down within a second, or for this
        rows = {row["job_id"]: row for row in report(d, "jobs")}
        assert {job_id: (row["state"], row["status"]) for job_id, row in rows.items()} == {
            failed: ("done", "error"), kept: ("done", "ok"), gate: ("running", None), waiting: ("queued", None)}
        assert rows[kept]["idempotency_key"] == "k" and rows[kept]["stored_bytes"] >= 5000
        assert rows[failed]["cpu_seconds"] > 0
        assert [row["job_id"] for row in report(d, "jobs", "--state", "running")] == [gate]
        assert report(d, "jobs", "--tenant", "nobody") == []
        family = d.descendants()
        d.process.kill()
        d.process.wait()
        cells.wait_until("the end of all", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in family))
        assert {row["job_id"]: row["state"] for row in report(d, "jobs")}[gate] == "running"
        d.start_again()
        d.result(waiting)
        assert {row["job_id"]: row["state"] for row in report(d, "jobs", "--since", "1h")} == {
            failed: "done", kept: "done", gate: "failed", waiting: "done"}
        assert [row["job_id"] for row in report(d, "jobs", "--status", "unknown")] == [gate]
        [use] = report(d, "usage")
        assert use["by_status"] == {"error": 1, "ok": 2, "unknown": 1}
        assert d.end() == 0
