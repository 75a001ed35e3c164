"""hotcell mcp, used by the client library that assistants' programs are made with."""

import json
import os
import subprocess
from pathlib import Path

import cells
import npm
import pytest

SOURCE = Path(__file__).resolve().parents[1] / "mcp"


@pytest.fixture
def client():
    """Where the library is, in the version that the lock file pins."""
    return npm.installed(SOURCE, "mcp-client") / "client.mjs"


def texts(result):
    return [block["text"] for block in result["content"] if block["type"] == "text"]


def talk(client, library, scientific):
    """What a client has seen that uses this library."""
    place = cells.new_directory(cells.caller())
    done = subprocess.run(["node", client, library, cells.HOTCELL, "mcp", "-t", scientific, "--timeout", f"{30 * cells.SLOWNESS:g}"],
                          capture_output=True, text=True, check=False, timeout=cells.PATIENCE, cwd=place,
                          env={**os.environ, "TMPDIR": str(place)})
    assert (done.returncode, done.stderr) == (0, ""), done
    assert not list(place.iterdir()), "the server has left its directory"
    seen = json.loads(done.stdout)
    assert seen["errors"] == []
    return seen


def look_at(seen):
    """What a client has to have seen, whichever way its messages went."""
    assert seen["version"]["name"] == "hotcell" and seen["capabilities"]["resources"] == {"listChanged": True}
    tools = {tool["name"]: tool for tool in seen["tools"]}
    assert {"run_python", "list_files", "read_file", "write_file", "remove_file"} <= tools.keys()
    assert "matplotlib" in tools["run_python"]["description"] and tools["list_files"]["annotations"]["readOnlyHint"]

    figure = seen["figure"]
    assert not figure["isError"] and figure["structuredContent"]["value"]["text/plain"] == "42"
    (image,) = [block for block in figure["content"] if block["type"] == "image"]
    assert image["mimeType"] == "image/png" and image["data"].startswith("iVBORw0KGgo")
    assert seen["failed"]["isError"] and "ZeroDivisionError" in texts(seen["failed"])[0]
    assert seen["given"]["structuredContent"]["stdout"]["text"] == "one (1, 2) 3\n"

    assert texts(seen["read"]) == ["written"]
    assert {"hotcell://card", "hotcell://run-1/table.csv", "hotcell://files/notes.txt"} <= {r["uri"] for r in seen["resources"]}
    assert seen["resource"]["contents"][0]["text"] == "a,b\n1,2\n" and seen["templates"]
    assert seen["no_tool"]["code"] == -32602 and seen["no_resource"]["code"] == -32002
    assert seen["changed"] >= 4

    assert [run["structuredContent"]["state"] for run in seen["session"]] == ["kept", "rolled back to run 1", "kept", "kept", "kept"]
    assert [run["isError"] for run in seen["session"]] == [False, True, False, True, False]
    assert seen["session"][2]["structuredContent"]["value"]["text/plain"] == "('one', 'three')"
    assert "that of run 1" in texts(seen["rollback"])[0] and "KeyboardInterrupt" in texts(seen["session"][3])[0]
    assert seen["session"][4]["structuredContent"]["value"]["text/plain"] == "'one'"
    opened = seen["opened"]["structuredContent"]
    assert (opened["session"], set(opened)) == ("session-1", {"session", "policy", "tree", "limits"}) and opened["limits"]["timeout"] == 30 * cells.SLOWNESS
    assert seen["sessions"]["structuredContent"] == {"sessions": [{"session": "session-1", "state": "idle"}]}
    assert texts(seen["sessions"]) == ["session-1 waits\n"] and "KeyboardInterrupt" in texts(seen["interrupt"])[0]

    assert len(seen["progress"]) == 1 and 0 < seen["progress"][0]["progress"] < seen["progress"][0]["total"]
    assert "enough" in seen["cancelled"]["message"]
    assert "still here" in texts(seen["after"])[0]


def look_at_older(seen):
    """It asks for 2025-03-26, and ends if it is offered a version of later: it knows no structured part and no titles."""
    assert seen["version"]["name"] == "hotcell" and "title" not in seen["version"]
    tools = {tool["name"]: tool for tool in seen["tools"]}
    assert tools["list_files"]["annotations"]["readOnlyHint"] and not [tool for tool in seen["tools"] if {"title", "outputSchema"} & tool.keys()]
    assert "structuredContent" not in seen["figure"] and texts(seen["figure"])[:2] == ["stdout:\ndrawn\n", "value:\n42"]
    assert [block["type"] for block in seen["figure"]["content"]].count("image") == 1
    assert seen["failed"]["isError"] and "one (1, 2) 3" in texts(seen["given"])[0]
    assert texts(seen["read"]) == ["written"] and seen["resource"]["contents"][0]["text"] == "a,b\n1,2\n"
    assert [run.get("isError") for run in seen["session"]] == [False, True, False, True, False]
    assert len(seen["progress"]) == 1 and "enough" in seen["cancelled"]["message"] and "still here" in texts(seen["after"])[0]


def test_with_the_real_client(client, scientific):
    look_at(talk(client, "@modelcontextprotocol/sdk", scientific))


def test_with_the_client_of_spring_2025(client, scientific):
    look_at_older(talk(client, "sdk-of-spring-2025", scientific))
