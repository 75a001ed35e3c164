"""Through a daemon a request only tightens: what the policy and the tenant's maxima allow is what may be asked for, and whoever asks
for more is told so, with all of it, before anything runs."""

import json
import os

import cells
import daemons
import pytest

STRICT = {"extends": "default", "tree": "base", "limits": {"timeout": "20s", "memory": "128M", "pids": 8, "cpu_weight": 50}}
WANTED = {"timeout": "24h", "memory": "1G", "pids": 100, "cpu_weight": 10000, "enforcement": "rlimits"}


def shelf(**policies):
    """A directory of policies, by name."""
    directory = cells.new_directory(cells.caller())
    for name, policy in policies.items():
        (directory / f"{name}.json").write_text(json.dumps(policy))
    return directory


def slow(policy):
    """With times that a slow machine keeps."""
    limits = policy["limits"]
    times = {name: f"{int(limits[name][:-1]) * cells.SLOWNESS:g}s" for name in ("timeout",) if name in limits}
    return {**policy, "limits": {**limits, **times}}


POLICIES = {"strict": slow(STRICT), "cgroups": slow({**STRICT, "limits": {**STRICT["limits"], "enforcement": "cgroup"}}),
            "roomy": slow({**STRICT, "limits": {**STRICT["limits"], "max": {"timeout": "23h", "memory": "512M"}}})}


def config(**rules):
    return {"workers": 1, "tenants": {"carol": {"uids": [os.geteuid()], **rules}}}


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):
    with daemons.Daemon(config=config(), env={"HOTCELL_POLICIES": str(shelf(**POLICIES))}, wide=False, base=False) as d:
        yield d
        assert d.end() == 0, d.log


def ask(d, path="/v1/jobs", policy="strict", **limits):
    body = {"policy": policy, "limits": limits}
    return d.send(path, {"code": "print(6 * 7)", **body} if path == "/v1/jobs" else body)


def excesses(answer):
    assert (answer.status, answer.json["type"], answer.json["retry"]) == (403, "urn:hotcell:problem:limit", "not_started"), answer
    assert "Retry-After" not in answer.headers
    return {one.pop("limit").removeprefix("limits."): one for one in answer.json["limits"]}


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/sessions"])
def test_a_request_that_raises_limits_is_told_all_of_them_and_whose_they_are(daemon, path):
    found = excesses(ask(daemon, path, **WANTED))
    assert set(found) == set(WANTED)
    assert found["pids"] == {"asked": "100", "maximum": "8", "of": "policy", "name": "strict"}
    assert found["enforcement"] == {"asked": "rlimits", "maximum": "auto", "of": "policy", "name": "strict"}
    for name in WANTED:
        assert f"limits.{name}: " in ask(daemon, path, **{name: WANTED[name]}).json["detail"]


def test_a_sender_cannot_do_without_cgroups_where_the_policy_wants_them(daemon):
    assert excesses(ask(daemon, policy="cgroups", enforcement="rlimits"))["enforcement"]["maximum"] == "cgroup"
    plain = ask(daemon, policy="cgroups")
    assert plain.status == 503 or plain.json["limits"]["enforced_by"]["memory"] == "cgroup", plain


def test_a_request_that_tightens_is_taken_and_its_manifest_says_so(daemon):
    manifest = ask(daemon, memory="64M", pids=4, grace="500ms", enforcement="auto").json
    assert (manifest["status"], manifest["limits"]["memory"], manifest["limits"]["pids"]) == ("ok", 64 << 20, 4), manifest


def test_the_time_after_the_timeout_has_a_maximum_too(daemon):
    assert excesses(ask(daemon, grace="1h"))["grace"] == {"asked": "1h", "maximum": "1s", "of": "policy", "name": "strict"}


def test_a_policy_may_allow_requests_more_than_it_gives(daemon):
    manifest = ask(daemon, policy="roomy", memory="256M", timeout="22h").json
    assert (manifest["status"], manifest["limits"]["memory"], manifest["limits"]["timeout"]) == ("ok", 256 << 20, 22 * 3600), manifest
    assert ask(daemon, policy="roomy").json["limits"]["memory"] == 128 << 20
    found = excesses(ask(daemon, policy="roomy", memory="513M", timeout="22h", pids=9))
    assert {name: one["maximum"] for name, one in found.items()} == {"memory": "512M", "pids": "8"}


def test_a_run_of_a_session_asks_for_no_more_than_its_beginning_may(daemon):
    answer = ask(daemon, "/v1/sessions", "roomy", memory="200M")
    assert answer.status == 201, answer
    session = answer.headers["Location"]
    assert daemon.run(session, "1 + 1", limits={"timeout": "22h"})["manifest"]["limits"]["timeout"] == 22 * 3600
    for path, body in (("runs", {"code": "1", "limits": {"timeout": "24h"}}),):
        refused = daemon.send(f"{session}/{path}", body)
        assert refused.status == 422 and "limits.timeout: 24h is asked for, and the policy 'roomy' allows 23h" in refused.json["detail"]
    branches = daemon.send(f"{session}/branches", {"runs": [{"code": "1", "limits": {"stdout": "8M"}}]})
    assert "limits.stdout: 8M is asked for" in json.dumps(branches.json), branches
    assert daemon.send(f"{session}", None).status in (404, 405)
    daemon.request("DELETE", session)


def test_a_key_that_was_sent_with_other_limits_is_a_conflict(daemon):
    job = {"code": "1", "policy": "strict"}
    first = daemon.send("/v1/jobs", job, {"Idempotency-Key": "k"})
    assert first.status == 200
    assert daemon.send("/v1/jobs", {**job, "limits": {"pids": 4}}, {"Idempotency-Key": "k"}).status == 409
    assert daemon.send("/v1/jobs", {**job, "limits": {"pids": 9}}, {"Idempotency-Key": "k"}).status == 403


def test_a_policy_that_is_tightened_holds_at_once(base_tree):
    """The process that answers requests knows it from before; the one that runs them reads it."""
    policies = shelf(**POLICIES)
    with daemons.Daemon(config=config(), env={"HOTCELL_POLICIES": str(policies)}, wide=False, base=False) as d:
        assert ask(d, pids=8).status == 200
        (policies / "strict.json").write_text(json.dumps({**POLICIES["strict"], "limits": {**POLICIES["strict"]["limits"], "pids": 4}}))
        refused = ask(d, pids=8)
        assert refused.status == 422 and "limits.pids: 8 is asked for, and the policy 'strict' allows 4" in refused.json["detail"], refused
        assert ask(d).json["limits"]["pids"] == 4


def test_a_tenants_maxima_bound_what_is_asked_for_and_what_the_policy_gives(base_tree):
    rules = {"max": {"memory": "96M", "cpus": 1.5, "timeout": "22h"}, "policy": "roomy"}
    with daemons.Daemon(config=config(**rules), env={"HOTCELL_POLICIES": str(shelf(**POLICIES))}, wide=False, base=False) as d:
        manifest = d.send("/v1/jobs", {"code": "1"}).json
        assert manifest["policy"]["name"] == "roomy"
        assert (manifest["limits"]["memory"], manifest["limits"]["cpus"], manifest["limits"]["pids"]) == (96 << 20, 1.5, 8)
        found = excesses(ask(d, policy="roomy", memory="97M", cpus=0, timeout="23h", pids=9))
        assert {name: (one["of"], one["name"], one["maximum"]) for name, one in found.items()} == {
            "memory": ("tenant", "carol", "96M"), "cpus": ("tenant", "carol", "1.5"), "timeout": ("tenant", "carol", "22h"),
            "pids": ("policy", "roomy", "8")}
        assert ask(d, policy="roomy", memory="64M", cpus=1).json["limits"]["cpus"] == 1
        session = ask(d, "/v1/sessions", "roomy")
        assert session.status == 201, session
        assert d.run(session.headers["Location"], "1")["manifest"]["limits"]["memory"] == 96 << 20


def test_maxima_of_a_tenant_are_those_of_everybody_but_for_its_own(base_tree):
    rules = {**config(max={"pids": 6}), "quotas": {"max": {"pids": 4, "open_files": 100}, "policy": "strict"}}
    with daemons.Daemon(config=rules, env={"HOTCELL_POLICIES": str(shelf(**POLICIES))}, wide=False, base=False) as d:
        limits = d.send("/v1/jobs", {"code": "1"}).json["limits"]
        assert (limits["pids"], limits["open_files"]) == (6, 100)
        shown = d.get("/v1/policies/roomy").json["limits"]
        assert (shown["pids"], shown["memory"], shown["max"]["memory"]) == (6, "128M", "512M")


@pytest.mark.parametrize("rules, name", [({"policies": ["roomy", "strict"]}, "roomy"), ({"policies": ["strict", "roomy"], "policy": "roomy"}, "roomy"),
                                         ({"policy": "strict"}, "strict")])
def test_a_request_that_names_no_policy_has_the_tenants(rules, name, base_tree):
    with daemons.Daemon(config=config(**rules), env={"HOTCELL_POLICIES": str(shelf(**POLICIES))}, wide=False, base=False) as d:
        manifest = d.send("/v1/jobs", {"code": "1"}).json
        assert manifest["policy"]["name"] == name, manifest
        session = d.send("/v1/sessions", {})
        assert session.status == 201, session
        assert d.run(session.headers["Location"], "1")["manifest"]["policy"]["name"] == name
        assert d.get("/v1/card").json == d.get(f"/v1/card?policy={name}").json


@pytest.mark.parametrize("rules, said", [({"policy": "nothing"}, ":1:POLICY: policy of carol: there is no policy 'nothing'"),
                                         ({"policy": "none", "policies": ["default"]}, ":1:POLICY: policy of carol: 'none' is none of its policies"),
                                         ({"max": {"enforcement": "rlimits"}}, "there is no maximum of limits.enforcement"),
                                         ({"policies": ["default", "nothing"]}, ":1:NOTHING: policies of carol: there is no policy 'nothing'"),
                                         ({"max": {"memory": "2G"}, "memory": "1G"}, ":1:MEMORY: max.memory of carol: 2G for one job, and all of its jobs"),
                                         ({"max": {"memory": "1K"}}, "max.memory: expected 32M to 1T")])
def test_a_configuration_that_cannot_hold_is_refused(rules, said):
    path = cells.new_directory(cells.caller()) / "hotcelld.conf"
    text = json.dumps(config(**rules))
    path.write_text(text)
    for place, value in (("POLICY", '"policy": "'), ("NOTHING", '", "nothing'), ("MEMORY", '{"memory": "2G')):  # the column of the value
        said = said.replace(place, str(text.rfind(value) + 1 + value.rfind('"')))
    done = cells.subprocess.run([daemons.HOTCELLD, "--check-config", "--config", path], capture_output=True, text=True, timeout=cells.PATIENCE,
                                check=False)
    assert done.returncode == 78 and said in done.stderr, done


def test_the_configuration_with_its_defaults_has_maxima_and_policies():
    path = cells.new_directory(cells.caller()) / "hotcelld.conf"
    path.write_text(json.dumps(config(max={"memory": "1G"}, policy="none")))
    done = cells.subprocess.run([daemons.HOTCELLD, "--check-config", "--config", path], capture_output=True, text=True, timeout=cells.PATIENCE,
                                check=True)
    carol = json.loads(done.stdout)["tenants"]["carol"]
    assert (carol["max"], carol["policy"]) == ({"memory": "1G"}, "none")


def test_what_a_quota_can_never_give_is_no_matter_of_trying_again(base_tree):
    rules = config(memory="100M", sessions=0)
    with daemons.Daemon(config=rules, env={"HOTCELL_POLICIES": str(shelf(**POLICIES))}, wide=False, base=False) as d:
        for answer, quota in ((ask(d, memory="101M"), "memory"), (ask(d, "/v1/sessions"), "sessions")):
            assert (answer.status, answer.json["type"], answer.json["quota"]) == (403, "urn:hotcell:problem:limit", quota), answer
            assert "retry_after" not in answer.json
        assert ask(d, memory="100M").status == 200


def test_the_command_says_what_the_daemon_refuses_in_a_line(daemon):
    env = {"HOTCELL_SOCKET": str(daemon.socket)}
    result = cells.run("1", "-t", "base", "-p", "strict", "--memory", "128M", "--timeout", "10ms", "--pids", "100", "--enforcement", "rlimits", tree=None, user=daemon.user, env=env)
    assert result.status == 78, result
    assert result.stderr == ("hotcell: hotcelld: limits.pids: 100 is asked for, and the policy 'strict' allows 8; limits.enforcement: rlimits is "
                             "asked for, and the policy 'strict' allows auto\n")


def test_a_run_without_a_daemon_may_raise_limits(base_tree):
    path = shelf(**POLICIES) / "strict.json"
    assert cells.run("1", "-p", path, "--pids", "100").manifest["limits"]["pids"] == 100
