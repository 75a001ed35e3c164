"""hotcell mcp, in raw messages: the protocol, the tools, and what a client may not do."""

import base64
import json
import os
import signal
import subprocess

import cells
import jsonschema
import mcp_client
import pytest
from mcp_client import text


@pytest.fixture
def server(base_tree):
    with mcp_client.Server() as running:
        running.initialize()
        yield running


@pytest.fixture(scope="module")
def quiet(base_tree):
    """One for many tests that change nothing in it."""
    with mcp_client.Server() as running:
        running.initialize()
        yield running


def kept(server):
    """The directory of the server's own."""
    (found,) = server.output.glob("mcp-*")
    return found


# ---- the protocol ----

@pytest.mark.parametrize("asked, given", [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"),
                                          ("2025-03-26", "2025-03-26"), ("2024-11-05", "2024-11-05"),
                                          ("1.0", "2025-11-25"), ("2024-10-07", "2025-11-25")])
def test_version_is_negotiated(base_tree, asked, given):
    with mcp_client.Server() as running:
        result = running.initialize(asked)
        assert result["protocolVersion"] == given
        assert result["serverInfo"]["name"] == "hotcell" and set(result["capabilities"]) == {"tools", "resources"}
        assert running.end() == (0, "")


@pytest.mark.parametrize("version, annotated, structured", [
    ("2024-11-05", False, False), ("2025-03-26", True, False), ("2025-06-18", True, True), ("2025-11-25", True, True)])
def test_an_older_version_gets_what_it_knows(base_tree, version, annotated, structured):
    with mcp_client.Server() as running:
        assert ("title" in running.initialize(version)["serverInfo"]) == structured
        for tool in running.result("tools/list")["tools"]:
            assert ("annotations" in tool, "title" in tool) == (annotated, structured), tool
            assert "outputSchema" not in tool or structured
        result = running.tool("run_python", code="print('out')\n6 * 7")
        assert ("structuredContent" in result) == structured and "out\n" in text(result) and "42" in text(result)
        running.send("tools/call", name="run_python", _meta={"progressToken": 7}, arguments={"code": "import time\ntime.sleep(600)"})
        params = progress(running, 7)
        assert ("message" in params) == annotated


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-11-25"])
def test_a_batch_is_refused_in_every_version(base_tree, version):
    with mcp_client.Server() as running:
        running.initialize(version)
        code, message = running.error(b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]')
        assert code == -32600 and "one message a line" in message
        assert running.result("ping") == {}


def test_nothing_but_ping_before_initialize(base_tree):
    with mcp_client.Server() as running:
        assert running.result("ping") == {}
        answer = running.request("tools/list")
        assert answer["error"]["code"] == -32600 and "initialize" in answer["error"]["message"]
        assert running.request("initialize")["error"]["code"] == -32602
        running.initialize()
        assert running.result("tools/list")
        assert running.request("initialize", protocolVersion="2025-06-18")["error"]["code"] == -32600


@pytest.mark.parametrize("line, code, says, request_id", [
    (b"garbage", -32700, "message:1:1", None),
    (b"{", -32700, "message:1:", None),
    (b"\xff\xfe", -32700, "message:1:1", None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","id":2}', -32700, "twice", None),
    (b'{"jsonrpc":"2.0","id":"\\u0000","method":"ping"}', -32700, "u0000", None),
    (b"[" * 100 + b"]" * 100, -32700, "", None),
    (b"[]", -32600, "batches", None),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, "batches", None),
    (b"7", -32600, "object", None),
    (b'{"id":9,"method":"ping"}', -32600, "jsonrpc", 9),
    (b'{"jsonrpc":"2.0","id":9}', -32600, "method", 9),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, "id", None),
    (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, "id", None),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, "id", None),
    (b'{"jsonrpc":"2.0","id":"' + b"x" * 300 + b'","method":"ping"}', -32600, "id", None),
    (b'{"jsonrpc":"2.0","id":9,"method":"no/such"}', -32601, "no/such", 9),
    (b'{"jsonrpc":"2.0","id":9,"method":"notifications/cancelled"}', -32601, "cancelled", 9),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/list","params":[]}', -32602, "params", 9),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":"x"}}', -32602, "cursor", 9),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/call"}', -32602, "name", 9),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"sh"}}', -32602, "sh", 9),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"list_files","arguments":3}}', -32602, "arguments", 9),
    (b'{"jsonrpc":"2.0","id":9,"method":"resources/list","params":{"cursor":"-1"}}', -32602, "cursor", 9),
    (b'{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{}}', -32602, "uri", 9),
    (b'{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}', -32002, "passwd", 9),
    (b'{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"hotcell://files/%2e%2e/x"}}', -32002, "", 9),
])
def test_each_wrong_message_has_one_clear_answer(quiet, line, code, says, request_id):
    got, message = quiet.error(line, request_id)
    assert got == code and says in message
    assert quiet.result("ping") == {}


def test_ids_come_back_as_they_were(quiet):
    for written in (b"12345678901234567890123", b'"a b\\n\\u00e9"', b"-1", b"0", b'""'):
        quiet.write(b'{"jsonrpc":"2.0","id":' + written + b',"method":"ping"}\r\n')
        assert quiet.message() == {"jsonrpc": "2.0", "id": json.loads(written), "result": {}}


def test_notifications_have_no_answer(quiet):
    quiet.write(b'\n  \n{"jsonrpc":"2.0","method":"no/such"}\n{"jsonrpc":"2.0","id":5,"result":{}}\n'
                b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}\n'
                b'{"jsonrpc":"2.0","method":"notifications/cancelled"}\n')
    assert quiet.result("ping") == {}


def test_a_line_that_is_too_long_is_dropped(server):
    for _ in range(2):
        code, message = server.error(b'{"a":"' + b"x" * (16 << 20) + b'"}')
        assert code == -32600 and "16777216" in message
    assert server.result("ping") == {}


def test_messages_come_in_any_pieces(quiet):
    for byte in b'{"jsonrpc":"2.0","id":77,"method":"ping"}\n':
        quiet.write(bytes([byte]))
    assert quiet.receive()["id"] == 77


# ---- programs ----

def test_tools_are_described(quiet):
    tools = {tool["name"]: tool for tool in quiet.result("tools/list")["tools"]}
    assert set(tools) == {"run_python", "list_files", "read_file", "write_file", "remove_file", "session_open", "session_run",
                          "session_checkpoint", "session_rollback", "session_interrupt", "session_list", "session_close"}
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        assert len(tool["description"]) < 8000
    assert "Not allowed:" in tools["run_python"]["description"]
    assert "10s by the clock" in tools["run_python"]["description"] or cells.SLOWNESS != 1


def test_a_program(server):
    tools = {tool["name"]: tool for tool in server.result("tools/list")["tools"]}
    result = server.tool("run_python", code="import sys; print('out'); print('err', file=sys.stderr)\n"
                                            "open('a.txt', 'w').write('left'); big + 1", vars={"big": 2 ** 70})
    jsonschema.validate(result["structuredContent"], tools["run_python"]["outputSchema"])
    data = result["structuredContent"]
    assert (data["status"], data["run"], data["exit_code"]) == ("ok", "run-1", 0)
    assert (data["stdout"]["text"], data["stderr"]["text"]) == ("out\n", "err\n")
    assert data["value"]["text/plain"] == str(2 ** 70 + 1)
    assert [file["path"] for file in data["files"]] == ["run-1/a.txt"]
    assert not result["isError"]
    said = text(result)
    assert "stdout:\nout\n" in said and "stderr:\nerr\n" in said and str(2 ** 70 + 1) in said and "run-1/a.txt" in said
    assert text(server.tool("read_file", path="run-1/a.txt")) == "left"


@pytest.mark.parametrize("code, status, says", [
    ("def f():\n    return 1 / 0\nf()", "error", "line 2, in f"),
    ("import socket; socket", "rejected", "Import of 'socket' is not allowed"),
    ("print(1", "rejected", "SyntaxError"),
    ("```json\n{}\n```", "rejected", "hint: Leave out the Markdown fence"),
    ("import requests\nrequests.get('x')", "rejected", 'pass data with the argument "files".'),
    ("open('x.csv')", "error", "hint: The job has no inputs."),
    ("import json\njson.loads('{')", "error", "3 frames of json"),
    ("print('before', flush=True)\nwhile True: pass", "timeout", "before"),
])
def test_a_program_that_fails(quiet, code, status, says):
    result = quiet.tool("run_python", code=code, timeout=1)
    assert result["isError"] and result["structuredContent"]["status"] == status
    assert says in text(result)


def test_what_was_left_out_is_said(quiet):
    result = quiet.tool("run_python", code="(0.5, 'x' * 3_000_000)")
    said = result["structuredContent"]["warnings"]
    assert said and all(line.startswith("guest: The ") for line in said) and said[0] in text(result)
    assert "application/vnd.hotcell.value+json" not in quiet.tool("run_python", code="(1,)")["structuredContent"]["value"]


def test_each_program_starts_from_nothing(quiet):
    quiet.run("leftover = 1")
    assert "NameError" in text(quiet.tool("run_python", code="leftover"))


def test_files_and_inputs(server):
    assert "files/notes.txt" in text(server.tool("write_file", name="notes.txt", text="grüße"))
    server.tool("write_file", name="raw.bin", base64=base64.b64encode(bytes(range(256))).decode())
    first = server.run("print(open(given).read())\nopen('next.txt', 'w').write('from the first')",
                       files={"given.txt": "in the call", "coded.dat": {"base64": "AAEC"}})
    assert first["stdout"]["text"] == "in the call\n"
    second = server.run("print(open(notes, encoding='utf8').read(), len(open(raw, 'rb').read()), open(before).read())",
                        inputs={"notes": "files/notes.txt", "raw": "files/raw.bin", "before": "run-1/next.txt"})
    assert second["stdout"]["text"] == "grüße 256 from the first\n"
    assert not list((kept(server) / "given").iterdir())


def test_a_file_that_is_asked_for_by_its_name_alone_is_told_by_its_path(server):
    for content in ("a\n1\n", "a\n2\n"):
        server.run(f"open('left.txt', 'w').write({content!r})")
    server.tool("write_file", name="given.csv", text="a\n1\n")
    assert server.refusal("read_file", path="given.csv") == "there is no file 'given.csv' here: did you mean 'files/given.csv'?"
    assert server.refusal("read_file", path="left.txt") == "there is no file 'left.txt' here: did you mean 'run-2/left.txt'?"
    assert server.refusal("run_python", code="1", inputs={"a": "given.csv"}).endswith(
        "inputs: a: there is no file 'given.csv' here: did you mean 'files/given.csv'?")
    server.tool("write_file", name="left.txt", text="a\n3\n")
    assert "'files/left.txt'?" in server.refusal("read_file", path="left.txt")
    assert server.refusal("read_file", path="other") == "there is no file 'other' here (list_files names them)"


def test_a_file_has_its_own_name_and_a_variable_that_python_takes(server):
    files = {"q3-sales v1.2.txt": "one", "2026.txt": "two", "class.txt": "three", "plain.txt": "four"}
    code = f"print([open(name).read() for name in {list(files)!r}], [open(each).read() for each in (q3_sales_v1_2, file_2026, file_class, plain)])"
    assert str([*files.values()]) * 2 in text(server.tool("run_python", code=code, files=files)).replace("] [", "][")


@pytest.mark.parametrize("arguments, says", [
    ({}, "code"),
    ({"code": 7}, "expected a string, got a number"),
    ({"code": "1", "cod": "1"}, "did you mean 'code'?"),
    ({"code": "1", "vars": []}, "expected an object"),
    ({"code": "1", "vars": {"1x": 1}}, "1x"),
    ({"code": "1", "timeout": 0}, "more than 0"),
    ({"code": "1", "timeout": 1e9}, "at most"),
    ({"code": "1", "files": {"../x.csv": ""}}, "expected a file name"),
    ({"code": "1", "files": {" b.csv": ""}}, "expected a file name"),
    ({"code": "1", "files": {"a\nb.csv": ""}}, "expected a file name"),
    ({"code": "1", "files": {f"{'a' * 65}.csv": ""}}, "expected a file name"),
    ({"code": "1", "files": {"a-b.csv": "", "a b.txt": ""}}, "'a_b'"),
    ({"code": "1", "files": {"a.csv": 1}}, "base64"),
    ({"code": "1", "files": {"a.csv": {"base64": "???"}}}, "base64"),
    ({"code": "1", "files": {"a.csv": {"base64": "AAAA", "x": 1}}}, "base64"),
    ({"code": "1", "files": {"a.csv": "", "a.txt": ""}}, "'a'"),
    ({"code": "1", "inputs": {"a": "/etc/passwd"}}, "list_files"),
    ({"code": "1", "inputs": {"a": "files/../../x"}}, "list_files"),
    ({"code": "1", "inputs": {"a": 3}}, "list_files"),
    ({"code": "1", "inputs": {"import": "files/x"}}, "Python name"),
])
def test_wrong_arguments_are_told_to_the_model(quiet, arguments, says):
    assert says in quiet.refusal("run_python", **arguments)


def test_others_are_answered_while_a_program_runs(server):
    running = server.call("run_python", code="import time\nprint('up', flush=True)\ntime.sleep(600)")
    assert server.result("ping") == {}
    assert text(server.tool("list_files")) == "no files\n"
    code, message = server.error(json.dumps({"jsonrpc": "2.0", "id": running, "method": "ping"}).encode(), running)
    assert code == -32600 and "not answered yet" in message
    server.notify("notifications/cancelled", requestId=running)
    assert server.result("ping") == {}


def test_cancelling_ends_the_program_without_an_answer(server):
    running = server.call("run_python", code="import time\ntime.sleep(600)")
    cells.wait_until("the cell is there", lambda: len(server.descendants()) >= 3, 60)
    server.notify("notifications/cancelled", requestId=running, reason="a test")
    cells.wait_until("the cell is gone", lambda: not server.descendants(), 60)
    assert server.result("ping") == {}
    assert "killed" in (kept(server) / "run-1" / "manifest.json").read_text()


def test_only_so_many_at_once(base_tree):
    with mcp_client.Server("--jobs", "2") as server:
        server.initialize()
        server.tool("write_file", name="a.txt", text="as it was")
        running = [server.call("run_python", code="import time\ntime.sleep(600)") for _ in range(2)]
        waiting = [server.call("run_python", code=f"print({i}, open(a).read())", inputs={"a": "files/a.txt"}) for i in range(3)]
        server.tool("write_file", name="a.txt", text="changed meanwhile")
        cells.wait_until("both cells are there", lambda: len(server.descendants()) >= 6, 60)
        server.notify("notifications/cancelled", requestId=waiting[1])
        server.notify("notifications/cancelled", requestId=running[0])
        for i, request in ((0, waiting[0]), (2, waiting[2])):  # one after the other, in their order
            assert server.receive(request)["result"]["structuredContent"]["stdout"]["text"] == f"{i} as it was\n"
        assert not (kept(server) / "run-4").exists(), "the cancelled one has run"


def test_so_many_may_wait(base_tree):
    with mcp_client.Server("--jobs", "1") as server:
        server.initialize()
        requests = [server.call("run_python", code="import time\ntime.sleep(600)") for _ in range(33)]
        assert "1 programs run and 32 wait already" in server.refusal("run_python", code="1")
        server.notify("notifications/cancelled", requestId=requests[7])
        server.call("run_python", code="1")
        assert "32 wait already" in server.refusal("run_python", code="1")
        assert server.end() == (0, "")
        assert not list(server.output.glob("mcp-*/given/*"))


def test_progress(base_tree):
    with mcp_client.Server("--timeout=20s") as server:
        server.initialize()
        request = server.send("tools/call", name="run_python", _meta={"progressToken": "tok"},
                              arguments={"code": "import time\ntime.sleep(600)"})
        message = server.message()
        assert message["method"] == "notifications/progress" and "id" not in message
        assert message["params"]["progressToken"] == "tok" and 0 <= message["params"]["total"] - 20 * cells.SLOWNESS < 1
        assert message["params"]["message"].startswith("the program runs") and 0 < message["params"]["progress"] < 20 * cells.SLOWNESS
        server.notify("notifications/cancelled", requestId=request)


def progress(server, token):
    """The parameters of the next message about this call."""
    while (message := server.message()).get("params", {}).get("progressToken") != token:
        assert "id" not in message, message
    return message["params"]


@pytest.mark.parametrize("where", ["program", "session"])
def test_progress_has_what_was_printed(server, where):
    if where == "session":
        server.tool("session_open")
    name, given = ("run_python", {}) if where == "program" else ("session_run", {"session": "session-1"})
    request = server.send("tools/call", name=name, _meta={"progressToken": 1},
                          arguments={**given, "code": "import sys, time\nprint('one é', flush=True)\nprint('two', file=sys.stderr)\ntime.sleep(600)"})
    told, last = "", 0
    while not ("one é\n" in told and "two\n" in told):
        params = progress(server, 1)
        assert params["progress"] > last
        told, last = told + params["message"], params["progress"]
    server.notify("notifications/cancelled", requestId=request)


def test_progress_of_much_output_has_its_end(server):
    server.send("tools/call", name="run_python", _meta={"progressToken": 1},
                arguments={"code": "import time\nprint('begin' + 'é' * 50_000 + 'end', flush=True)\ntime.sleep(600)"})
    while (told := progress(server, 1)["message"]).startswith("the program runs"):
        pass
    assert told.startswith("[") and " bytes are left out here]\n" in told and told.endswith("éend\n")
    assert len(told.encode()) < 2200 and "\ufffd" not in told and "begin" not in told


def test_progress_of_a_program_that_waits(base_tree):
    with mcp_client.Server("--jobs=1") as server:
        server.initialize()
        server.call("run_python", code="import time\ntime.sleep(600)")
        server.send("tools/call", name="run_python", _meta={"progressToken": 1}, arguments={"code": "1"})
        params = progress(server, 1)
        assert "waits for its turn" in params["message"] and "total" not in params


def test_long_output_is_whole_in_the_text_only(quiet):
    """Some clients give the model the text, others the data: both have what was printed, and of much output one has all."""
    result = quiet.tool("run_python", code="print('begin' + 'é' * 20_000 + 'end')\ntype('T', (), {'__repr__': lambda self: 'v' * 20_000})()")
    data = result["structuredContent"]
    assert "begin" + "é" * 20_000 + "end" in text(result) and "v" * 20_000 in text(result)
    for part in (data["stdout"]["text"], data["value"]["text/plain"]):
        assert " bytes are left out here]\n" in part and len(part.encode()) < 8300
    assert data["stdout"]["text"].startswith("beginé") and data["stdout"]["text"].endswith("éend\n") and data["stdout"]["truncated"]
    assert len(json.dumps(result, ensure_ascii=False).encode()) < 85_000
    short = quiet.tool("run_python", code="print('x' * 8000)")
    assert "x" * 8000 in text(short) and short["structuredContent"]["stdout"] == {"text": "x" * 8000 + "\n", "bytes": 8001, "truncated": False}


LONG = {
    "message": "raise ValueError('begin' + 'x' * 30_000 + 'end')",
    "displays": "for i in range(40):\n    display('begin' + 'z' * 1000)",
    "values": "[['begin', i] for i in range(9_000)]",
    "warnings": "import warnings\nopen('d', 'w').close()\nfor i in range(200):\n    open(f'{i:0100}', 'w').close()",
}


@pytest.mark.parametrize("code", LONG.values(), ids=LONG)
def test_whatever_is_long_comes_once(quiet, code):
    """A model that is shown text and data does not get the same 30 KB twice; what was left out is still found."""
    schema = next(tool for tool in quiet.result("tools/list")["tools"] if tool["name"] == "run_python")["outputSchema"]
    result = quiet.tool("run_python", code=code)
    data = result["structuredContent"]
    jsonschema.validate(data, schema)
    assert all(len(json.dumps(member)) < 2 * 8192 + 4096 for member in data.values()), {name: len(json.dumps(data[name])) for name in data}
    assert len(json.dumps(result["content"])) > 6000
    assert data["more_files"] == (201 - len(data["files"]) if "warnings" in code else 0)


def test_the_data_says_where_the_rest_of_the_output_is(server):
    data = server.run("print('begin' + 'x' * 20_000 + 'end')")
    assert data["stdout"]["truncated"] and data["stdout"]["rest"] == "run-1/manifest.json" and "rest" not in data["stderr"]
    assert "x" * 20_000 in text(server.tool("read_file", path=data["stdout"]["rest"]))
    server.tool("session_open")
    assert "rest" not in in_session(server, "print('x' * 20_000)")["structuredContent"]["stdout"]  # a session keeps no manifest


# ---- answers as data ----

def test_every_answer_that_names_something_has_it_as_data(server):
    """The text stays what it was: clients of before 2025-06-18 and models read it."""
    schemas = {tool["name"]: tool.get("outputSchema") for tool in server.result("tools/list")["tools"]}

    def answer(tool, /, **arguments):
        result = server.tool(tool, **arguments)
        jsonschema.validate(result["structuredContent"], schemas[tool])
        return text(result), result["structuredContent"]

    said, opened = answer("session_open")
    assert (said, opened["session"], opened["policy"]) == ("session-1 is open", "session-1", "default") and opened["tree"] == cells.tree_path("base")
    assert opened["limits"]["timeout"] == 10 * cells.SLOWNESS and opened["limits"]["session_idle"] == 3600 and opened["limits"]["session_runs"] == 10000
    assert answer("session_list") == ("session-1 waits\n", {"sessions": [{"session": "session-1", "state": "idle"}]})
    assert answer("session_interrupt", session="session-1")[1] == {"session": "session-1", "interrupted": False}
    in_session(server, "x = 1")
    assert answer("session_checkpoint", session="session-1", name="a") == (
        "session-1: the state is that of run 1", {"session": "session-1", "state": "that of run 1"})
    assert answer("session_rollback", session="session-1", name="a")[1]["state"] == "that of run 1"
    assert answer("write_file", name="a.csv", text="é")[1] == {"path": "files/a.csv", "mime": "text/csv", "bytes": 2}
    assert answer("write_file", session="session-1", name="d/a.csv", text="é")[1] == {"path": "d/a.csv", "mime": "text/csv", "bytes": 2}
    assert answer("list_files", of="files")[1] == {"files": [{"path": "files/a.csv", "mime": "text/csv", "bytes": 2}], "more": 0}
    assert answer("list_files", session="session-1")[1] == {"files": [{"path": "d", "kind": "directory"}], "more": 0}
    assert answer("list_files", session="session-1", of="d")[1]["files"] == [{"path": "d/a.csv", "mime": "text/csv", "bytes": 2, "kind": "file"}]
    assert answer("session_close", session="session-1")[1] == {"session": "session-1", "state": "closed"}
    assert answer("session_list")[1] == {"sessions": []}
    assert schemas["read_file"] is None and "structuredContent" not in server.tool("read_file", path="files/a.csv")
    assert "structuredContent" not in server.tool("session_close", session="session-1")  # which is an error


def test_a_long_list_of_files_is_read_as_data_in_parts(server):
    server.run("for i in range(300):\n    open(f'{i:0100}', 'w').close()")
    names, offset = [], 0
    while True:
        data = server.tool("list_files", of="run-1", offset=offset)["structuredContent"]
        assert 0 < len(json.dumps(data)) < 10_000
        names += [file["path"] for file in data["files"]]
        if not data["more"]:
            break
        offset = data["next_offset"]
        assert offset == len(names) and data["more"] == 301 - offset
    assert sorted(set(names)) == sorted([f"run-1/{i:0100}" for i in range(300)] + ["run-1/manifest.json"])


def test_older_clients_get_no_data(base_tree):
    with mcp_client.Server() as server:
        server.initialize("2025-03-26")
        assert server.tool("session_open") == {"content": [{"type": "text", "text": "session-1 is open"}]}


# ---- sessions ----

@pytest.fixture
def session(server):
    assert text(server.tool("session_open", files={"given.txt": "with the session"})) == "session-1 is open"
    return server


def in_session(server, code, **arguments):
    return server.tool("session_run", session="session-1", code=code, **arguments)


def test_a_session_keeps_its_variables(session):
    tools = {tool["name"]: tool for tool in session.result("tools/list")["tools"]}
    first = in_session(session, "x = n + 1\nprint(open(given).read())\nopen('a.txt', 'w').write('1')", vars={"n": 40})
    jsonschema.validate(first["structuredContent"], tools["session_run"]["outputSchema"])
    assert first["structuredContent"]["stdout"]["text"] == "with the session\n"
    assert [file["path"] for file in first["structuredContent"]["files"]] == ["session-1/a.txt"]
    second = in_session(session, "open('a.txt', 'w').write('22')\nx + 1")
    assert second["structuredContent"]["value"]["text/plain"] == "42" and "variables: kept" in text(second)
    assert text(session.tool("list_files", of="session-1")) == "session-1/a.txt  2 bytes  text/plain\n"
    assert text(session.tool("read_file", path="session-1/a.txt")) == "22"


def test_files_go_into_an_open_session_and_come_back(session):
    picture = base64.b64decode(b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
    assert text(session.tool("write_file", session="session-1", name="d/a.txt", text="é" * 40000)) == "session-1: d/a.txt has 80000 bytes"
    session.tool("write_file", session="session-1", name="p.png", base64=base64.b64encode(picture).decode())
    session.tool("write_file", session="session-1", name="b.bin", base64=base64.b64encode(b"\0\xff" * 9).decode())
    in_session(session, "print(len(open('d/a.txt').read()), len(open('p.png', 'rb').read()))\nopen('left', 'w').write('by the program')")
    assert text(session.tool("list_files", session="session-1")) == (
        "b.bin  18 bytes  application/octet-stream\nd  directory\ngiven.txt  16 bytes  text/plain\nleft  14 bytes  application/octet-stream\n"
        f"p.png  {len(picture)} bytes  image/png\n")
    assert text(session.tool("list_files", session="session-1", of="d")) == "d/a.txt  80000 bytes  text/plain\n"
    assert text(session.tool("read_file", session="session-1", path="left")) == "by the program"
    part = session.tool("read_file", session="session-1", path="d/a.txt", offset=1)["content"]
    assert part[0]["text"] == "é" * 32767 and part[1]["text"] == "bytes 2 to 65536 of 80000: go on with that offset", part[1]
    (image,) = session.tool("read_file", session="session-1", path="p.png")["content"]
    assert image["mimeType"] == "image/png" and base64.b64decode(image["data"]) == picture
    (blob,) = session.tool("read_file", session="session-1", path="b.bin")["content"]
    assert base64.b64decode(blob["resource"]["blob"]) == b"\0\xff" * 9
    assert text(session.tool("remove_file", session="session-1", path="left")) == "session-1: it is gone"
    assert "no such file" in session.refusal("read_file", session="session-1", path="left")
    assert "session-1" not in text(session.tool("list_files", of="files"))


def test_files_of_a_session_are_refused_where_there_is_none(session):
    for path in ("../x", "/etc/passwd", ""):
        assert "path" in session.refusal("write_file", session="session-1", name=path, text="1")
    assert "no session 'session-2'" in session.refusal("list_files", session="session-2")
    waits = session.send("tools/call", name="session_run", arguments={"session": "session-1", "code": "while True: pass"})
    assert "session-1 is busy" in session.refusal("read_file", session="session-1", path="x")
    session.tool("session_interrupt", session="session-1")
    assert session.receive(waits)["result"]["isError"]


@pytest.mark.parametrize("code, status, state, value", [
    ("import os\nx = 2\nos._exit(3)", "error", "rolled back to run 1", "1"),
    ("x = 2\nwhile True: pass", "timeout", "kept", "2"),
])
def test_a_run_that_is_killed_costs_only_itself(session, code, status, state, value):
    in_session(session, "x = 1")
    killed = in_session(session, code, timeout=1)
    assert killed["isError"] and f"variables: {state}" in text(killed)
    assert (killed["structuredContent"]["status"], killed["structuredContent"]["state"]) == (status, state)
    assert in_session(session, "x")["structuredContent"]["value"]["text/plain"] == value


def test_a_run_is_answered_whatever_it_reports(base_tree):
    """On the interpreter's own channel, as deep as a report may be that no session's answer holds."""
    with mcp_client.Server("--policy=none") as server:
        server.initialize()
        server.tool("session_open")
        code = "import os, struct\nbody = b'{\"results\": ' + b'[' * 62 + b']' * 62 + b'}'\n" \
               "os.write(3, struct.pack('=BBHI', 5, 1, 0, len(body)) + body)"
        assert in_session(server, code)["isError"]
        in_session(server, "1")  # is not told that the session is busy


@pytest.mark.parametrize("way", ["tool", "cancel"])
def test_an_interrupt_keeps_the_variables(session, way):
    in_session(session, "x = 1")
    running = session.call("session_run", session="session-1", code="import time\nopen('up', 'w').close()\ntime.sleep(600)")
    assert "busy" in session.refusal("session_run", session="session-1", code="1")
    if way == "tool":
        interrupting = session.call("session_interrupt", session="session-1")
        answers = {answer["id"]: answer["result"] for answer in (session.receive(), session.receive())}
        assert "KeyboardInterrupt" in text(answers[interrupting])
        assert "KeyboardInterrupt" in text(answers[running]) and answers[running]["isError"]
    else:
        session.notify("notifications/cancelled", requestId=running)
        assert in_session(session, "y = 2")["structuredContent"]["status"] == "ok"  # it waits for the end of the cancelled one
    assert in_session(session, "x")["structuredContent"]["value"]["text/plain"] == "1"


def test_a_call_that_waits_for_a_cancelled_one_can_be_cancelled(session):
    """The first holds on for a while after its interrupt."""
    running = session.call("session_run", session="session-1", code="""
import time
try: time.sleep(600)
except KeyboardInterrupt: time.sleep(1)
""")
    session.notify("notifications/cancelled", requestId=running)
    waiting = session.call("session_run", session="session-1", code="x = 1")
    assert "busy" in session.refusal("session_run", session="session-1", code="x = 2")
    session.notify("notifications/cancelled", requestId=waiting)
    assert "that of" in text(session.tool("session_checkpoint", session="session-1", name="one"))
    assert "NameError" in text(in_session(session, "x"))
    session.notify("notifications/cancelled", requestId=session.call("session_run", session="session-1", code="while True: pass"))
    waiting, closing = session.call("session_run", session="session-1", code="1"), session.call("session_close", session="session-1")
    answers = {answer["id"]: text(answer["result"]) for answer in (session.receive(), session.receive())}
    assert "has ended" in answers[waiting] and "is closed" in answers[closing]


def test_checkpoints(session):
    in_session(session, "x = 1")
    assert "that of run 1" in text(session.tool("session_checkpoint", session="session-1", name="one"))
    in_session(session, "x = 2")
    assert "that of run 1" in text(session.tool("session_rollback", session="session-1", name="one"))
    assert in_session(session, "x")["structuredContent"]["value"]["text/plain"] == "1"
    assert "session-1" in session.refusal("session_rollback", session="session-1", name="other")
    assert "letters" in session.refusal("session_checkpoint", session="session-1", name='a"}')


def test_closing_a_session(session):
    in_session(session, "open('a.txt', 'w').write('left')")
    assert "close it first" in session.refusal("remove_file", path="session-1")
    assert "is closed" in text(session.tool("session_close", session="session-1"))
    assert "no session is open" in text(session.tool("session_list"))
    assert "session_open" in session.refusal("session_run", session="session-1", code="1")
    assert session.run("print(open(a).read())", inputs={"a": "session-1/a.txt"})["stdout"]["text"] == "left\n"
    assert "is gone" in text(session.tool("remove_file", path="session-1"))
    assert not (kept(session) / "session-1").exists()


def test_sessions_are_apart_and_bounded(session):
    in_session(session, "mine = 1")
    names = [text(session.tool("session_open")) for _ in range(3)]
    assert names == [f"session-{i} is open" for i in (2, 3, 4)]
    assert "session_close" in session.refusal("session_open")
    assert "NameError" in text(session.tool("session_run", session="session-2", code="mine"))
    running = session.call("session_run", session="session-3", code="import time\ntime.sleep(600)")
    assert text(session.tool("session_list")) == "session-1 waits\nsession-2 waits\nsession-3 is busy\nsession-4 waits\n"
    closing = session.call("session_close", session="session-3")
    assert {session.receive()["id"], session.receive()["id"]} == {running, closing}


def test_a_session_that_cannot_be_opened(server):
    assert "could not be opened" in server.refusal("session_open", files={"d.npy": "no array"})
    assert "expected a file name" in server.refusal("session_open", files={"a/b": ""})
    assert text(server.tool("session_open")) == "session-3 is open"


@pytest.mark.parametrize("limit, why", [("--session-runs=1", "had as many runs as it may have: 1 (limits.session_runs)"),
                                        ("--session-idle=1s", "limits.session_idle")])
def test_a_session_that_has_ended_says_why(base_tree, limit, why):
    with mcp_client.Server(limit) as server:
        server.initialize()
        server.tool("session_open")
        in_session(server, "x = 1")
        while "no session is open" not in text(server.tool("session_list")):
            pass  # its end is told to nobody
        refusal = server.refusal("session_run", session="session-1", code="x")
        assert refusal.startswith("session-1 has ended: ") and why in refusal and "variables are gone" in refusal
        assert "has ended" in server.refusal("session_close", session="session-1")
        assert text(server.tool("session_open")) == "session-2 is open"


def test_no_end_leaves_a_session_behind(base_tree):
    with mcp_client.Server() as server:
        server.initialize()
        server.tool("session_open")
        server.call("session_run", session="session-1", code="import time\ntime.sleep(600)")
        ends = [os.pidfd_open(pid) for pid in server.descendants()]
        assert len(ends) >= 2
        assert server.end() == (0, "")
        for fd in ends:
            assert cells.select.select([fd], [], [], 60)[0], "a process is left"
            os.close(fd)


# ---- files ----

def test_text_is_read_in_parts(server):
    content = "ä" * 50000
    server.tool("write_file", name="long.txt", text=content)
    got, offset = "", 0
    while True:
        result = server.tool("read_file", path="files/long.txt", offset=offset)
        part, note = [block["text"] for block in result["content"]]
        got += part
        offset += len(part.encode())
        assert f"of {len(content.encode())}" in note
        if "go on" not in note:
            break
    assert got == content and offset == 100000
    middle = server.tool("read_file", path="files/long.txt", offset=99997)
    assert [block["text"] for block in middle["content"]] == ["ä", "bytes 99998 to 100000 of 100000"]


def test_pictures_and_bytes_are_read_as_what_they_are(server):
    pixel = base64.b64encode(b"\x89PNG not really").decode()
    server.tool("write_file", name="a.png", base64=pixel)
    server.tool("write_file", name="a.bin", base64="AP8A")
    (image,) = server.tool("read_file", path="files/a.png")["content"]
    assert image == {"type": "image", "mimeType": "image/png", "data": pixel}
    (blob,) = server.tool("read_file", path="files/a.bin")["content"]
    assert blob["type"] == "resource" and blob["resource"] == {
        "uri": "hotcell://files/a.bin", "mimeType": "application/octet-stream", "blob": "AP8A"}


def test_resources(server):
    server.run("import os\nos.mkdir('sub')\nopen('sub/a b%é.txt', 'w').write('here')")
    resources = {item["name"]: item for item in server.result("resources/list")["resources"]}
    uri = resources["run-1/sub/a b%é.txt"]["uri"]
    assert uri == "hotcell://run-1/sub/a%20b%25%C3%A9.txt"
    (content,) = server.result("resources/read", uri=uri)["contents"]
    assert content == {"uri": uri, "mimeType": "text/plain", "text": "here"}
    (card,) = server.result("resources/read", uri="hotcell://card")["contents"]
    assert "Not allowed:" in card["text"]
    assert server.result("resources/templates/list")["resourceTemplates"]
    assert {note["method"] for note in server.notifications} == {"notifications/resources/list_changed"}


def test_lists_have_pages(server):
    server.run("for i in range(450): open(f'{i:03}.txt', 'w').close()")
    names, cursor = [], {}
    while cursor is not None:
        page = server.result("resources/list", **cursor)
        names += [item["name"] for item in page["resources"]]
        cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
    assert len(names) == len(set(names)) == 452
    said = text(server.tool("list_files", of="run-1", offset=200))
    assert said.startswith("run-1/200.txt  0 bytes") and said.endswith("and 51 more: go on with offset 400\n")


def test_removing_and_the_oldest(base_tree):
    with mcp_client.Server("--store=1M") as server:
        server.initialize()
        server.tool("write_file", name="a.txt", text="x")
        server.run("open('small', 'w').write('x')")
        server.run("open('large', 'w').write('x' * 700_000)")
        assert "run-1/small" in text(server.tool("list_files"))
        server.run("open('large', 'w').write('x' * 700_000)")
        assert not (kept(server) / "run-2").exists() and (kept(server) / "run-3" / "large").exists()
        assert "is gone" in text(server.tool("remove_file", path="files/a.txt"))
        assert "is gone" in text(server.tool("remove_file", path="run-3"))
        assert "no files" in text(server.tool("list_files"))
        assert "list_files" in server.refusal("remove_file", path="run-3")
        assert "list_files" in server.refusal("remove_file", path="files")
        assert server.end() == (0, "")
        assert not list(server.output.iterdir())


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a/b", "/etc/passwd", "x" * 81, "a b", "ü"])
def test_names_of_written_files(quiet, name):
    assert "plain file name" in quiet.refusal("write_file", name=name, text="x")


def test_room_for_written_files(server):
    for i in range(256):
        server.tool("write_file", name=f"f{i}", text="x")
    assert "remove_file" in server.refusal("write_file", name="one-more", text="x")
    server.tool("write_file", name="f0", text="in the place of the other")
    assert text(server.tool("read_file", path="files/f0")) == "in the place of the other"


@pytest.mark.parametrize("tool, arguments", [("run_python", {"code": "print(open(v30).read(), open(f31).read())"}), ("session_open", {})])
def test_too_many_files_and_inputs_are_refused_before_any_is_stored(server, tool, arguments):
    server.tool("write_file", name="a.txt", text="stored")
    files, inputs = {f"f{i}.txt": "given" for i in range(33)}, {f"v{i}": "files/a.txt" for i in range(32)}
    assert "files and inputs: 65 together, more than 64: put them into fewer files" in server.refusal(tool, files=files, inputs=inputs, **arguments)
    del files["f32.txt"]
    result = server.tool(tool, files=files, inputs=inputs, **arguments)
    assert not result.get("isError") and ("stored given\n" in text(result) or "is open" in text(result))


def test_room_for_the_inputs_of_all_programs(base_tree):
    """257 MiB of them, with this --store."""
    with mcp_client.Server("--jobs=1", "--store=1M", "--timeout=60s") as server:
        server.initialize()
        for name in ("a.txt", "b.txt"):
            server.tool("write_file", name=name, text="x" * (15 << 20))
        both = {"code": "1", "inputs": {"a": "files/a.txt", "b": "files/b.txt"}}
        server.call("run_python", code="import time\ntime.sleep(600)")
        waiting = [server.call("run_python", **both) for _ in range(8)]
        full = "larger than 17M, which is left of the 257M for all programs that run or wait and all open sessions"
        for _ in range(2):
            refusal = server.refusal("run_python", **both)
            assert full in refusal and "call again when programs have ended" in refusal
            assert full in server.refusal("session_open", inputs=both["inputs"])
            server.notify("notifications/cancelled", requestId=waiting.pop())
            waiting.append(server.call("run_python", **both))
        assert "is open" in text(server.tool("session_open", inputs={"a": "files/a.txt"}))
        left = "larger than 2M"
        assert left in server.refusal("session_open", files={"c.txt": "x" * (3 << 20)})
        assert left in server.refusal("session_open", files={"c.txt": {"base64": "AAAA" * (1 << 20)}})
        server.tool("session_close", session="session-3")
        assert full in server.refusal("run_python", **both)
        there = {file.stat().st_ino: file.stat().st_size for file in kept(server).rglob("*") if file.is_file()}
        assert sum(there.values()) < 31 << 20, "written files are copied"
        assert server.end() == (0, "")


def test_inputs_stay_as_they_were(base_tree):
    """Written files are links, which nothing writes to; results, which a session may write to, are copies."""
    with mcp_client.Server("--jobs=1") as server:
        server.initialize()
        server.tool("write_file", name="a.txt", text="written")
        server.run("open('b.txt', 'w').write('left')")
        running = server.call("run_python", code="import time\ntime.sleep(600)")
        waiting = server.call("run_python", code="print(open(a).read(), open(b).read())\nopen(a, 'w')",
                              inputs={"a": "files/a.txt", "b": "run-1/b.txt"})
        server.tool("list_files")
        assert [(kept(server) / "given" / "run-3" / name).stat().st_nlink for name in ("a.txt", "b.txt")] == [2, 1]
        server.tool("write_file", name="a.txt", text="changed")
        server.tool("remove_file", path="run-1")
        server.notify("notifications/cancelled", requestId=running)
        result = server.receive(waiting)["result"]["structuredContent"]
        assert result["stdout"]["text"] == "written left\n" and result["status"] == "error"
        assert text(server.tool("read_file", path="files/a.txt")) == "changed"


def test_links_in_the_directory_lead_nowhere(server):
    """Somebody else who may write there gets nothing of the host read."""
    server.tool("write_file", name="a.txt", text="x")
    path = kept(server) / "files" / "a.txt"
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert "root:" not in server.refusal("read_file", path="files/a.txt")
    assert "root:" not in server.refusal("run_python", code="print(open(a).read())", inputs={"a": "files/a.txt"})


# ---- what is given by the host ----

def test_data_of_the_host(base_tree):
    directory = cells.new_directory(cells.caller())
    (directory / "q1.txt").write_text("of the host")
    with mcp_client.Server("--input", "sales=q1.txt", "--var", "year=2025", cwd=directory) as server:
        server.initialize()
        assert "sales, year." in server.result("tools/list")["tools"][0]["description"]
        assert server.run("print(open(sales).read(), year)")["stdout"]["text"] == "of the host 2025\n"
        assert "sales" in server.refusal("run_python", code="1", vars={"sales": 1})


@pytest.mark.parametrize("options, status, says", [
    (["prog.py"], 64, "expected no program"), (["--json"], 64, "--json"), (["--jobs", "0"], 64, "1 to 64"),
    (["--store", "1K"], 64, "1M"), (["-p", "nowhere"], 78, "nowhere"), (["-o", "/dev/null/x"], 65, "/dev/null"),
    (["-t", "nowhere"], 69, "nowhere"), (["--timeout", "x"], 64, "timeout"),
    (["--input", "a=/nowhere.csv"], 65, "input 'a': /nowhere.csv: No such file"),  # not only to each program
    (["--tool", "f=nowhere"], 78, "tool 'f': 'nowhere' is no program that can be started"),
])
def test_wrong_command_lines(base_tree, options, status, says):
    done = cells.hotcell("mcp", "-t", base_tree, *options)
    assert (done.returncode, done.stdout) == (status, "") and says in done.stderr and done.stderr.count("\n") == 1


# ---- the end ----

def test_as_any_user(user):
    with mcp_client.Server(user=user) as server:
        server.initialize()
        assert server.run("import os\nos.getuid()")["value"]["text/plain"] == "1000"
        assert server.end() == (0, "")


def test_a_temporary_directory_goes(base_tree):
    place = cells.new_directory(cells.caller())
    command = [cells.HOTCELL, "mcp", "-t", base_tree]
    lines = b"".join(json.dumps({"jsonrpc": "2.0", "id": i, "method": method, "params": params}).encode() + b"\n" for
                     i, (method, params) in enumerate([
                         ("initialize", {"protocolVersion": "2025-06-18"}),
                         ("tools/call", {"name": "write_file", "arguments": {"name": "a", "text": "x"}}), ("ping", {})]))
    done = subprocess.run(command, input=lines, capture_output=True, check=True, timeout=cells.PATIENCE,
                          env={**cells.caller().environment(), "TMPDIR": str(place)})
    assert [json.loads(line).get("id") for line in done.stdout.splitlines()] == [0, 1, None, 2]
    assert not list(place.iterdir())


def serve_nothing(base_tree, place, fault):
    """A server whose client says nothing, and one of whose system calls fails."""
    cells.need_program("strace")
    return subprocess.run(["strace", "-o", "/dev/null", "-e", f"inject={fault}", cells.HOTCELL, "mcp", "-t", base_tree], input=b"",
                          capture_output=True, check=False, timeout=cells.PATIENCE, env={**cells.caller().environment(), "TMPDIR": str(place)})


@pytest.mark.parametrize("call", ["flock", "mkdirat"])
def test_a_temporary_directory_that_cannot_be_had_is_told_and_goes(base_tree, call):
    place = cells.new_directory(cells.caller())
    done = serve_nothing(base_tree, place, f"{call}:error=ENOLCK")
    assert done.returncode in (65, 70) and done.stderr.startswith(b"hotcell: make ") and str(place).encode() in done.stderr, done
    assert done.stderr.endswith(b": No locks available\n") and done.stderr.count(b"\n") == 1 and not list(place.iterdir()), done


def test_a_temporary_directory_that_somebody_removes_is_made_again(base_tree):
    place = cells.new_directory(cells.caller())
    done = serve_nothing(base_tree, place, "flock:error=EAGAIN:when=1")
    assert (done.returncode, done.stderr) == (0, b"") and len(list(place.iterdir())) == 1, done  # who holds the first one removes it


def temporary_server(user, place):
    """One without -o, which is there when this returns."""
    before = set(place.iterdir())
    server = subprocess.Popen([cells.HOTCELL, "mcp", "-t", cells.tree_path("base")], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              env={**user.environment(), "TMPDIR": str(place)}, cwd=cells.scratch(), **user.popen_arguments())
    cells.wait_until("its directory is there", lambda: any((path / "given").exists() for path in set(place.iterdir()) - before))
    return server


@pytest.mark.parametrize("how", ["the next server", "hotcell clean"])
def test_files_of_a_killed_server_are_removed(user, how, base_tree):  # pylint: disable=unused-argument
    place = cells.new_directory(user)
    foreign = place / "hotcell-mcp-foreign"  # a link is nobody's directory
    foreign.symlink_to(cells.new_directory(user))
    with temporary_server(user, place) as server:
        kept = set(place.iterdir())
        with temporary_server(user, place) as killed:
            killed.kill()
        assert len(set(place.iterdir()) - kept) == 1
        if how == "hotcell clean":
            done = cells.hotcell("clean", user=user, env={"TMPDIR": str(place)})
            assert "1 left-over directory of killed servers removed\n" in done.stdout
        else:
            with temporary_server(user, place) as following:
                following.stdin.close()
        assert set(place.iterdir()) == kept
        server.stdin.close()
        assert server.wait(cells.PATIENCE) == 0
    assert list(place.iterdir()) == [foreign]


@pytest.mark.parametrize("way", ["end of input", signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_end_leaves_a_program_behind(base_tree, way):
    with mcp_client.Server() as server:
        server.initialize()
        for _ in range(2):
            server.call("run_python", code="import time\ntime.sleep(600)")
        cells.wait_until("both cells are there", lambda: len(server.descendants()) >= 6, 60)
        ends = [os.pidfd_open(pid) for pid in server.descendants()]
        if way == "end of input":
            assert server.end() == (0, "")
        else:
            server.signal(way)
            assert server.wait() == -way
        for fd in ends:
            assert cells.select.select([fd], [], [], 60)[0], "a process is left"
            os.close(fd)


def test_a_client_that_does_not_read(server):
    """Answers wait, nothing more is read, and a signal is still obeyed."""
    server.tool("write_file", name="a.txt", text="x" * 60000)
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": {"name": "read_file", "arguments": {"path": "files/a.txt"}}}).encode() + b"\n"
    os.set_blocking(server.process.stdin.fileno(), False)
    data = memoryview(line * 2000)
    while data:
        ready = cells.select.select([], [server.process.stdin], [], 1)[1]
        if not ready:
            break
        data = data[os.write(server.process.stdin.fileno(), data):]
    assert data, "all was taken, though nobody read 120 MB of answers"
    server.signal(signal.SIGTERM)
    assert server.wait() == -signal.SIGTERM
