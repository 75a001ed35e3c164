"""hotcelld's /mcp, the Model Context Protocol over HTTP: a real daemon with real cells, used by the client library that
assistants' programs are made with."""

import json
import subprocess
from pathlib import Path

import cells
import daemons
import npm
import pytest
import test_mcp_client

SOURCE = Path(__file__).resolve().parents[1] / "mcp"
TOKEN = "the-token-of-the-team"


@pytest.fixture(name="client")
def installed_client():
    return npm.installed(SOURCE, "mcp-client") / "client.mjs"


def listening(env, **more):
    """A daemon that listens on a port for the tenant "team"."""
    port, config = daemons.config_with_token(TOKEN)
    daemon = daemons.Daemon(config={**config, "workers": 2, "mcp": {"sessions": 4}, **more}, env=env)
    daemon.url = f"http://127.0.0.1:{port}/mcp"
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
