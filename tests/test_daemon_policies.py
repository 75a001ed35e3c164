"""Policies and their card over HTTP: what a tenant may use, and no more of it than is his affair."""

import json
import os

import cells
import daemons
import pytest


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):
    own = {"extends": "default", "tree": "base", "redact": {"rules": [{"name": "own", "pattern": "SECRET-[0-9]+", "replace": "-"}]},
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
    for query in ("none", "", "a/../own", "%00"):
        assert daemon.get(f"/v1/card?policy={query}").status == 404


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
