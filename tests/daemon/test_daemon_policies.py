"""Policies and their card over HTTP: what a tenant may use, and no more of it than is his affair."""

import json
import os

import cells
import daemons
import pytest


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):
    own = {"extends": "default", "tree": "base", "limits": {"stdout": "32M"}, "redact": {"rules": [{"name": "own", "pattern": "SECRET-[0-9]+", "replace": "-"}]},
           "tools": {"echo": {"description": "says it again", "command": ["/bin/cat", "/a/secret/path"]}}}
    with daemons.Daemon(config={"tenants": {"me": {"uids": [cells.caller().uid], "policies": ["default", "own"]}}},
                        env={"HOTCELL_POLICIES": str(directory_with(own))}) as d:
        yield d


def directory_with(policy):
    directory = cells.new_directory(cells.caller())
    (directory / "own.json").write_text(json.dumps(policy))
    (directory / "no policy").write_text("")
    return directory


def test_a_tenant_sees_the_policies_that_he_may_use(daemon):
    assert daemon.get("/v1/policies").json == {"policies": ["default", "own"]}
    for name in ("none", "nothing", "..%2fown", "own.json"):
        assert daemon.get(f"/v1/policies/{name}").status == 404


def test_who_names_what_is_not_there_is_told_what_he_may_name(daemon):
    """And not where the operator keeps it: the sender may be on another host."""
    answer = daemon.post({"code": "1", "tree": "nope"})
    assert answer.status == 422 and answer.json["retry"] == "not_started", answer
    assert "there is no tree 'nope' here: expected one of " in answer.json["detail"] and "base" in answer.json["detail"]
    asked = daemon.send("/v1/sessions", daemon.spec({"tree": "nope"}))
    assert asked.status == 422 and "expected one of" in asked.json["detail"], asked
    with daemons.Daemon(env={"HOTCELL_POLICIES": str(directory_with({"extends": "default"}))}) as other:
        for answer, status in ((other.post({"code": "1", "policy": "nope"}), 422), (other.get("/v1/policies/nope"), 404)):
            assert answer.status == status and "HOTCELL" not in answer.json["detail"], answer
            assert "there is no policy 'nope': expected one of " in answer.json["detail"] and "default, " in answer.json["detail"]


def test_a_policy_is_shown_in_its_effective_form_without_what_is_the_hosts(daemon):
    shown = daemon.get("/v1/policies/own").json
    default = daemon.get("/v1/policies/default").json
    assert (shown["tree"], shown["imports"]) == ("base", default["imports"])
    assert shown["tools"]["echo"]["description"] == "says it again"
    assert "secret" not in json.dumps(shown).lower()


def test_the_card_is_that_of_the_command_line(daemon):
    data = daemon.get("/v1/card?policy=own").json
    assert data["tree"] == "base"
    text = daemon.get("/v1/card?policy=own", headers={"Accept": "text/plain"})
    assert text.headers["Content-Type"].startswith("text/plain") and b"What comes back:" in text.body
    for query in ("none", "", "a/../own", "%01"):
        assert daemon.get(f"/v1/card?policy={query}").status == 404


@pytest.mark.parametrize("limits, most", [({"stdout": "17M"}, "16M"), ({"stderr": "1G"}, "16M"), ({"value": "64M"}, "16M"),
                                          ({"stdout": "33M"}, "32M"), ({"stdout": "32M", "stderr": "16M", "value": "16M"}, None)])
def test_what_a_manifest_holds_as_text_is_bounded_whatever_is_asked_for(daemon, limits, most):
    """One job's answer would else be gigabytes in the process that serves all tenants; by a session's runs no less."""
    policy = "default" if most == "16M" else "own"
    session = daemon.session({"policy": policy})
    requests = [("/v1/jobs", {"code": "1", "tree": "base", "policy": policy, "limits": limits}),
                ("/v1/sessions", {"tree": "base", "policy": policy, "limits": limits}),
                (f"{session}/runs", {"code": "1", "limits": limits}), (f"{session}/branches", {"runs": [{"code": "1", "limits": limits}]})]
    for path, body in requests:
        answer = daemon.send(path, body)
        if "branches" in path:
            assert answer.json["branches"][0]["event"] == ("error" if most else "result"), answer
        elif most:
            assert answer.status == 422 and f"expected at most {most}, got" in answer.json["detail"], answer
        else:
            assert answer.status in (200, 201), answer
            if "session_id" in answer.json:
                daemon.request("DELETE", f"/v1/sessions/{answer.json['session_id']}")
    daemon.request("DELETE", session)


def test_a_path_is_no_policy_for_who_may_use_all(tmp_path, base_tree):
    """Whoever names one learns nothing of the host's files, and nobody waits for a pipe that is never written to."""
    policy, pipe = tmp_path / "policy.json", tmp_path / "pipe"
    policy.write_text(json.dumps({"extends": "default", "tree": "base"}))
    os.mkfifo(pipe, 0o644)
    with daemons.Daemon() as d:
        unknown = d.get("/v1/card?policy=none%2Fsuch")
        for path in (policy, pipe, "/etc/passwd", "/dev/zero", "/nowhere/at/all", f"../..{policy}"):
            answer = d.get(f"/v1/card?policy={path}")
            assert (answer.status, answer.body) == (404, unknown.body), answer
        assert d.get("/v1/card?policy=none").status == 200
