"""The tool run_command, which both servers of the Model Context Protocol offer where the policy lets programs of the tree be executed."""

import json

import cells
import daemons
import mcp_client
import mcp_http
import pytest
from mcp_http import text

TOKEN = "token-of-the-team"


def shell_daemon():
    """A daemon on a port, whose policies default and shell have the trees base and shell."""
    policies = cells.new_directory(cells.caller())
    for name, tree in (("default", "base"), ("shell", "shell")):
        shipped = daemons.SOURCE.parent / "policies" / f"{name}.json"
        policy = {"name": name, "extends": str(shipped), "tree": str(cells.tree_path(tree))}
        counted = name == "default" or cells.counts_memory(cells.caller())
        (policies / f"{name}.json").write_text(json.dumps(policy if counted else policy | {"limits": {"enforcement": "rlimits"}}))
    port, given = daemons.config_with_token(TOKEN)
    given |= {"tenants": {"team": {}}, "workers": 2, "mcp": {"sessions": 8}}
    daemon = daemons.Daemon(config=given, env={"HOTCELL_POLICIES": str(policies)}, wide=False)
    daemon.port = port
    return daemon


@pytest.fixture(name="server", scope="module", params=["stdio", "daemon"])
def shell_server(request, base_tree, shell_tree):
    """A server under the policy shell."""
    if request.param == "stdio":
        with mcp_client.Server(tree=shell_tree, policy="shell") as running:
            running.initialize()
            yield running
        return
    with shell_daemon() as daemon:
        peer = mcp_http.Peer(daemon.port, TOKEN, query="?policy=shell")
        assert peer.initialize().status == 200
        yield peer
        peer.end()


def run(server, *command, **arguments):
    """The structured part of a command's answer."""
    result = server.tool("run_command", command=list(command), **arguments)
    assert "structuredContent" in result, result
    return result["structuredContent"]


def test_a_command_has_its_exit_status_and_output(server):
    done = run(server, "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (done["status"], done["process"], done["stdout"]["text"], done["stderr"]["text"]) == ("error", {"exit": 3}, "out\n", "err\n")
    assert done["reason"] == "the command failed with exit status 3"
    result = server.tool("run_command", command=["echo", "$HOME"])
    assert not result["isError"] and "$HOME" in text(result), "no shell reads the arguments"


def test_it_finds_its_files_input_and_environment(server):
    done = run(server, "sh", "-c", "cat a.csv; cat; echo $LEVEL; cd /output && touch left; pwd -P", files={"a.csv": "1,2\n"}, stdin="said\n",
               env={"LEVEL": "debug"})
    assert done["stdout"]["text"] == "1,2\nsaid\ndebug\n/output\n", done
    assert [file["path"].rpartition("/")[2] for file in done["files"]] == ["left"], done


def test_a_session_has_the_same_files_for_commands_and_programs(server):
    session = text(server.tool("session_open")).split()[0].strip(":.,")
    server.tool("write_file", session=session, name="n", text="41\n")
    assert run(server, "sh", "-c", "expr $(cat n) + 1 > m; cat m", session=session)["stdout"]["text"] == "42\n"
    value = server.tool("session_run", session=session, code="int(open('m').read())")["structuredContent"]
    assert value["value"]["text/plain"] == "42", value
    refused = server.tool("run_command", session=session, command=["true"], files={"x.txt": "x"})
    assert refused["isError"] and "write_file" in text(refused), refused
    server.tool("session_close", session=session)


@pytest.mark.parametrize("arguments, says", [({}, "expected the argument command"), ({"command": "ls"}, "a list"), ({"command": []}, "command"),
                                             ({"command": [7]}, "command"), ({"command": ["ls"], "code": "1"}, "no argument 'code'"),
                                             ({"command": ["ls"], "session": "session-77"}, "session-77")])
def test_bad_calls_are_refused_with_the_reason(server, arguments, says):
    refused = server.tool("run_command", **arguments)
    assert refused["isError"] and says in text(refused), refused


def test_time_is_limited(server):
    done = run(server, "sleep", "600", timeout=0.5)
    assert done["status"] == "timeout", done


def offered(server):
    listed = server.result("tools/list") if isinstance(server, mcp_client.Server) else server.post("tools/list").json["result"]
    return {tool["name"] for tool in listed["tools"]}


def test_it_is_offered_where_the_policy_has_commands(server):
    assert "run_command" in offered(server)


def test_other_policies_do_not_have_it(base_tree, shell_tree):
    with mcp_client.Server() as running:
        running.initialize()
        assert "run_command" not in offered(running)
        assert running.request("tools/call", name="run_command", arguments={"command": ["ls"]})["error"]["code"] == -32602
    with shell_daemon() as daemon:
        peer = mcp_http.Peer(daemon.port, TOKEN)
        assert peer.initialize().status == 200
        assert "run_command" not in offered(peer)
        peer.end()
