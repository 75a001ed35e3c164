"""hotcelld's /mcp, the Model Context Protocol over HTTP: a real daemon with real cells, used by the client library that
assistants' programs are made with."""

import json
import re
import subprocess
from pathlib import Path

import cells
import daemons
import npm
import pytest
import test_mcp_client
import token_proxy

SOURCE = Path(__file__).resolve().parents[1] / "mcp"
TOKEN = "the-token-of-the-team"


@pytest.fixture(name="client")
def installed_client():
    return npm.installed(SOURCE, "mcp-client") / "client.mjs"


def listening(env, **more):
    """A daemon that listens on a port for the tenant "team"."""
    port, config = daemons.config_with_token(TOKEN)
    daemon = daemons.Daemon(config={**config, "workers": 2, "mcp": {"sessions": 32}, "quotas": {"mcp_sessions": 32}, **more}, env=env)
    daemon.port, daemon.url = port, f"http://127.0.0.1:{port}/mcp"
    return daemon


def talk(daemon, client, library, policy):
    done = subprocess.run(["node", client, library, f"{daemon.url}?policy={policy}", TOKEN], capture_output=True, text=True, check=False,
                          timeout=cells.PATIENCE, cwd=cells.new_directory(cells.caller()))
    assert (done.returncode, done.stderr) == (0, ""), done
    seen = json.loads(done.stdout)
    assert seen["errors"][:seen["closing"]] == []
    return seen


@pytest.fixture(name="policies")
def scientific_policies(scientific):
    """The shipped policies, with one whose tree has the libraries that the client's programs use."""
    directory = cells.new_directory(cells.caller())
    (directory / "plots.json").write_text(json.dumps({"name": "plots", "extends": str(daemons.SOURCE.parent / "policies" / "default.json"), "tree": scientific,
                                                      "limits": {"timeout": f"{30 * cells.SLOWNESS:g}s"}}))
    return {"HOTCELL_POLICIES": str(directory)}


@pytest.mark.parametrize("library, look_at", [("@modelcontextprotocol/sdk", test_mcp_client.look_at), ("sdk-of-spring-2025", test_mcp_client.look_at_older)])
def test_with_the_real_client(client, policies, library, look_at):
    """It sees over HTTP what it sees of `hotcell mcp`, and its programs are the tenant's jobs."""
    with listening(policies) as daemon:
        seen = talk(daemon, client, library, "plots")
        look_at(seen)
        assert daemon.end() == 0, daemon.log


# ---- programs of others that check servers ----

@pytest.fixture(name="checkers", scope="module")
def installed_checkers():
    """The directory of their commands."""
    return npm.installed(SOURCE.parent / "mcp_conformance", "mcp-conformance") / "node_modules" / ".bin"


@pytest.fixture(name="daemon", scope="module")
def plain_daemon(base_tree):
    policies = cells.new_directory(cells.caller())
    shipped = daemons.SOURCE.parent / "policies" / "default.json"
    (policies / "default.json").write_text(json.dumps({"name": "default", "extends": str(shipped), "tree": str(base_tree)}))
    with listening({"HOTCELL_POLICIES": str(policies)}) as daemon:
        yield daemon
        assert daemon.end() == 0, daemon.log


def run_checker(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=cells.PATIENCE, cwd=cells.new_directory(cells.caller()))


# Its other scenarios call tools and read resources that only its own example of a server has.
@pytest.mark.parametrize("scenario", ["server-initialize", "ping", "tools-list", "resources-list", "server-sse-multiple-streams", "dns-rebinding-protection"])
def test_conformance(daemon, checkers, scenario):
    with token_proxy.to(daemon.port, TOKEN) as port:
        done = run_checker(checkers / "conformance", "server", "--url", f"http://127.0.0.1:{port}/mcp", "--scenario", scenario)
    passed = re.search(r"Passed: (\d+)/(\d+), 0 failed, 0 warnings", done.stdout)
    assert done.returncode == 0 and passed and passed[1] == passed[2] != "0", done


def test_the_inspector(daemon, checkers):
    def inspect(*arguments):
        done = run_checker(checkers / "mcp-inspector", "--cli", daemon.url, "--transport", "http", "--header", f"Authorization: Bearer {TOKEN}", *arguments)
        assert done.returncode == 0, done
        return json.loads(done.stdout)
    assert "run_python" in [tool["name"] for tool in inspect("--method", "tools/list")["tools"]]
    result = inspect("--method", "tools/call", "--tool-name", "run_python", "--tool-arg", "code=6*7")
    assert result["structuredContent"]["value"]["text/plain"] == "42"
    refused = run_checker(checkers / "mcp-inspector", "--cli", daemon.url, "--transport", "http", "--method", "tools/list")
    assert refused.returncode and "401" in refused.stderr + refused.stdout or "token" in refused.stderr, refused
