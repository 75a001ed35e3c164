"""Standard input, arguments and environment, whichever way a job comes: hotcelld and its warm cells, batches, sessions, Python, MCP."""

import asyncio
import base64
import json
import os
import sys
from pathlib import Path

import cells
import daemons
import mcp_client
import pytest
import session_client

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
import hotcell  # noqa: E402

CODE = "import os, sys\nprint(sys.argv[1:], os.environ['A'], repr(sys.stdin.readline()), sys.stdin.seekable())"
GIVEN = {"args": ["x", "-y"], "env": {"A": "b"}, "stdin": "text\nmore"}
SAID = "['x', '-y'] b 'text\\n' False\n"
NONE = "import sys\nprint(sys.argv[1:], repr(sys.stdin.read()))"


@pytest.fixture(scope="module")
def daemon(base_tree):
    with daemons.Daemon(config={"workers": 1}) as d:
        yield d
        assert d.end() == 0, d.log


def test_hotcelld_in_cold_and_in_warm_cells(daemon):
    for _ in range(30):
        answer = daemon.post({"code": CODE, **GIVEN})
        assert answer.json["stdout"]["text"] == SAID, answer
        answer = daemon.post({"code": NONE})
        assert answer.json["stdout"]["text"] == "[] ''\n", "a later job has nothing of an earlier one's"
        if daemon.warm_counts()["jobs_warm_total"] >= 4:
            break
    assert daemon.warm_counts()["jobs_warm_total"] >= 4


def test_hotcelld_takes_large_input_and_bytes(daemon):
    code = "import sys\nprint(len(sys.stdin.buffer.read()))"
    for stdin, said in (("x" * 3000000, "3000000\n"), ({"data": base64.b64encode(bytes(range(256)) * 1000).decode()}, "256000\n")):
        assert daemon.post({"code": code, "stdin": stdin}).json["stdout"]["text"] == said
    assert daemon.post({"code": "print(1)", "stdin": "x" * 3000000}).json["stdout"]["text"] == "1\n"


def test_a_request_cannot_have_more_than_the_policy(daemon):
    answer = daemon.post({"code": "pass", "stdin": "12345", "limits": {"stdin": 4}})
    assert answer.json["rejection"]["rule"] == "stdin_size", answer
    answer = daemon.post({"code": "pass", "limits": {"stdin": "64M"}})
    assert answer.status in (403, 422) and "limits.stdin: 64M is asked for" in answer.json["detail"], answer
    answer = daemon.post({"code": "pass", "env": {"PYTHONPATH": "/tmp"}})
    assert answer.status == 400 and "env: 'PYTHONPATH'" in answer.json["detail"], answer


@pytest.mark.parametrize("stdin", [b"text\nmore", b"text\n\0\xff"])
def test_command_through_hotcelld(daemon, stdin):
    result = cells.run(CODE, "-t", "base", "--stdin", "-", "--env", "A=b", tree=None, user=daemon.user, stdin=stdin, arguments=["x", "-y"],
                       env={"HOTCELL_SOCKET": str(daemon.socket)})
    assert result.stdout == SAID, result


def test_command_that_finds_no_daemon(base_tree):
    result = cells.run(CODE, "--warm=try", "--stdin", "-", "--env", "A=b", "--stdin-size", "2", stdin="text\nmore", arguments=["x", "-y"],
                       env={"HOTCELL_SOCKET": "/nowhere"})
    assert result.stdout == SAID, result


def test_batch(base_tree):
    folder = cells.new_directory(cells.caller())
    jobs = [{"code": CODE, **GIVEN}, {"code": NONE}] * 5
    (folder / "jobs.jsonl").write_text("".join(json.dumps(job) + "\n" for job in jobs))
    done = cells.hotcell("batch", "-o", "out", "-t", cells.tree_path("base"), "--jobs", "1", "--ordered", "jobs.jsonl", cwd=folder)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in (folder / "out" / "results.jsonl").read_text().splitlines()]
    assert [result["manifest"]["stdout"]["text"] for result in results] == [SAID, "[] ''\n"] * 5


def test_each_run_of_a_session_has_its_own(base_tree):
    with session_client.Session("--env", "A=b") as session:
        for _ in range(2):
            run = session.run(CODE, stdin="text\nmore", args=["x", "-y"])
            assert (run.state, run.stdout) == ("kept", SAID), run
            assert session.run(NONE).stdout == "[] ''\n"
        run = session.run("input()")
        assert run.status == "error" and "The job has no standard input" in run.manifest["stderr"]["text"], run
        run = session.run("print(len(input()))", stdin="x" * 1000000)
        assert run.stdout == "1000000\n", run
        assert session.run("print('unread')", stdin="x" * 1000000).stdout == "unread\n"
        run = session.run("import os\nos._exit(0)", stdin="x" * 1000000)
        assert run.state == "rolled back to run 7", run
        assert session.run("print(input())", stdin="after").stdout == "after\n"
        run = session.run("pass", stdin="12345", limits={"stdin": 4})
        assert run.manifest["rejection"]["rule"] == "stdin_size"


def test_session_whose_policy_refuses_its_environment(base_tree):
    done = cells.hotcell("session", "-t", cells.tree_path("base"), "--env", "A=b", "--env-count", "0")
    assert done.returncode == 65 and "env: the job sets 1 environment variables, more than 0 (limits.env)" in done.stderr, done


def test_sessions_over_http(daemon):
    session = daemon.session({"env": {"A": "b"}})
    for _ in range(2):
        assert daemon.run(session, CODE, args=GIVEN["args"], stdin=GIVEN["stdin"])["manifest"]["stdout"]["text"] == SAID
    assert daemon.run(session, NONE)["manifest"]["stdout"]["text"] == "[] ''\n"
    shown = "import os\nprint(os.environ['A'])"
    assert daemon.run(session, shown, env={"A": "c"})["manifest"]["stdout"]["text"] == "c\n"
    assert daemon.run(session, shown)["manifest"]["stdout"]["text"] == "b\n"
    daemon.request("DELETE", session)


@pytest.fixture
def package(base_tree, monkeypatch):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    monkeypatch.delenv("HOTCELL_SOCKET", raising=False)
    return {"tree": "base", "timeout": 10 * cells.SLOWNESS, "memory": "256M"}


def test_python(package, daemon):
    given = {"input": "text\nmore", "args": ["x", "-y"], "env": {"A": "b"}, **package}
    assert hotcell.run(CODE, **given).text == SAID
    assert asyncio.run(hotcell.arun(CODE, **given)).text == SAID
    client = hotcell.Daemon(daemon.socket)
    assert client.run(CODE, **given).text == SAID
    assert client.submit(CODE, **given).result().text == SAID
    for content in (b"\0\xff", "\0", "", bytearray(b"x")):
        expected = content.encode() if isinstance(content, str) else bytes(content)
        assert hotcell.run("import sys; print(sys.stdin.buffer.read())", input=content, **package).text == f"{expected}\n"
    with pytest.raises(hotcell.InputError, match="input: expected str or bytes, got int"):
        hotcell.run("pass", input=1, **package)
    for call in (hotcell.run, hotcell.check, client.run, client.submit):
        with pytest.raises(hotcell.InputError, match="^code: expected str, or for a command a list of str, got bytes$"):
            call(b"1", **({} if call is hotcell.check else package))
    with pytest.raises(hotcell.InputError, match="env: 'LD_PRELOAD': it changes how programs are loaded"):
        hotcell.run("pass", env={"LD_PRELOAD": "x"}, **package)


def test_python_sessions(package, daemon):
    with hotcell.Session(env={"A": "b"}, **package) as session:
        assert session.run(CODE, input="text\nmore", args=["x", "-y"]).text == SAID
        assert session.run(NONE).text == "[] ''\n"
    with hotcell.Daemon(daemon.socket).session(env={"A": "b"}, tree="base") as session:
        assert session.run(CODE, input="text\nmore", args=["x", "-y"]).text == SAID


def test_mcp(base_tree):
    with mcp_client.Server() as server:
        server.initialize()
        assert server.run(CODE, **GIVEN)["stdout"]["text"] == SAID
        assert "args" in server.refusal("run_python", code="pass", args="x")
        server.tool("session_open")
        for arguments, said in (({"stdin": "text\n", "args": ["x"]}, "['x'] 'text\\n'\n"), ({}, "[] ''\n")):
            assert server.tool("session_run", session="session-1", code=NONE, **arguments)["structuredContent"]["stdout"]["text"] == said
