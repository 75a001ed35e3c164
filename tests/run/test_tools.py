"""Tools of the host: what a program may have done outside its cell, who answers it, and who keeps to the limits."""
import asyncio
import json
import os
import signal
import socket
import sys
import textwrap
import threading
import typing
from pathlib import Path

import cells
import session_client
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
import hotcell  # noqa: E402

# Says what it was asked; its arguments can make it behave otherwise.
TOOL = """\
#!/usr/bin/python3 -I
import json, os, sys, time
call = json.load(sys.stdin)
a = call["arguments"]
if "errors" in a:
    sys.stderr.write(a["errors"])
if "leave" in a:
    import subprocess
    subprocess.Popen([sys.executable, "-c", "import os, time; os.setsid(); time.sleep(1000)", sys.argv[0]], close_fds=False)
if "sleep" in a:
    if "mark" in a:
        open(a["mark"], "w").write(str(os.getpid()))
    time.sleep(a["sleep"])
if a.get("facts"):
    call = {"fds": sorted(os.listdir("/proc/self/fd")), "pgid": os.getpgid(0), "pid": os.getpid(), "uid": os.getuid()}
if "write" in a:
    sys.stdout.write(a["write"])
elif "many" in a:
    json.dump("x" * a["many"], sys.stdout)
else:
    json.dump(call, sys.stdout)
sys.exit(a.get("exit", 0))
"""

# Speaks to the launcher over the interpreter's own channel, as a hostile program would.
CHANNEL = """
import json, os, struct

def frame(kind, body=b"", last=1):
    os.write(3, struct.pack("=BBHI", kind, last, 0, len(body)) + body)

def call(id, name="tool", arguments={}):
    frame(9, json.dumps({"id": id, "name": name, "arguments": arguments}).encode())

def answer():
    text = b""
    while True:
        packet = os.read(3, 1 << 16)
        kind, last, _, size = struct.unpack("=BBHI", packet[:8])
        assert kind == 10 and size == len(packet) - 8
        text += packet[8:]
        if last:
            return json.loads(text)
"""

CITY = {"type": "object", "additionalProperties": False, "required": ["city"],
        "properties": {"city": {"type": "string", "minLength": 2}, "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 3}}}


@pytest.fixture(scope="module")
def tool():
    path = cells.scratch() / "tool"
    path.write_text(TOOL)
    path.chmod(0o755)
    return path


def run(tool, code, *options, policy=None, **more):
    """With a tool of the name "tool", as `policy` describes it."""
    tools = {"tools": {"tool": {"command": [str(tool)], **(policy or {})}}}
    return cells.run(code, *options, policy=tools, **more)


def calls(result):
    return [(entry["name"], entry["status"], entry["message"]) for entry in result.manifest["tools"]]


def denials(result):
    return [(entry["rule"], entry["what"]) for entry in result.manifest["denials"] if entry["layer"] == "tool"]


# ---- calls ----

def test_a_program_calls_a_command_of_the_host(base_tree, user, tool):
    result = cells.run("print(tools.tool(a=1, b=[None, 'x\\ny'])); facts = tools.tool(facts=True); print(facts['uid'])",
                       f"--tool=tool={tool}", user=user)
    asked = {"name": "tool", "arguments": {"a": 1, "b": [None, "x\ny"]}}
    assert (result.stdout, result.status) == (f"{asked}\n{user.uid}\n", 0), result
    first = result.manifest["tools"][0]
    assert json.loads(first["arguments"]) == asked["arguments"] and first["argument_bytes"] == len(first["arguments"])
    assert (first["status"], first["message"]) == ("ok", None) and first["wall"] > 0 and first["result_bytes"] > 0
    assert result.manifest["denials"] == []


def test_a_command_has_three_descriptors_and_a_process_group_of_its_own(base_tree, user, tool):
    """The one that lists its descriptors has a fourth for that."""
    result = cells.run("import json; print(json.dumps(tools.tool(facts=True)))", f"--tool=tool={tool}", user=user)
    assert result.facts()["fds"] == ["0", "1", "2", "3"] and result.facts()["pgid"] == result.facts()["pid"]


def test_words_of_a_command_are_split_as_a_shell_would_and_by_none(base_tree):
    result = cells.run("print(tools.say())", """--tool=say=/usr/bin/printf '["%s", "%s", "%s"]' 'a  b' "c;\\$HOME" $(x)*\\ """)
    assert result.stdout == "['a  b', 'c;$HOME', '$(x)* ']\n", result


def test_arguments_that_cannot_be_said_fail_their_call_alone(base_tree, tool):
    """An honest program's; sent as they are, they would break the channel, and the whole report would be lost."""
    result = run(tool, """
deep = []
for _ in range(80): deep = [deep]
told = []
for bad in ("a\\0b", {"a\\0": 1}, {1: 1, "1": 2}, deep, "\\ud800"):
    try: tools.tool(a=bad)
    except Exception as error: told.append([type(error).__name__, str(error)])
[told, tools.tool(a=1)]
""")
    assert result.manifest["status"] == "ok" and "protocol" not in " ".join(result.manifest["warnings"]), result
    told, _ = result.manifest["guest"]["value"]["application/json"]
    assert [kind for kind, _ in told] == ["ToolError"] * 4 + ["UnicodeEncodeError"], told
    for (_, text), says in zip(told, ("u0000", "u0000", "given twice", "levels")):
        assert says in text, told
    assert len(calls(result)) == 1


@pytest.mark.parametrize("bad", ["a", "b", "c", "é"])
def test_the_argument_that_cannot_be_sent_is_named(base_tree, tool, bad):
    result = run(tool, f"""
given = dict.fromkeys("abcé", "é" * 40)
given[{bad!r}] = ["x", "y\\0"]
try: tools.tool(**given)
except ToolError as error: print(error)
try: tools.tool(**{{"a": 1, {bad!r} + "\\0": 2}})
except ToolError as error: print(error)
""", policy={"parameters": {}})
    assert result.stdout.splitlines() == [f"the arguments cannot be sent: '{bad}': a string must not contain \\u0000",
                                          f"the arguments cannot be sent: '{bad}\\x00': a string must not contain \\u0000"], result


def test_arguments_are_bound_in_the_order_of_the_schema(base_tree, tool):
    code = """
    print(tools.tool("Bern")["arguments"], tools.tool("Bern", 1)["arguments"], tools.tool(days=2, city="Uri")["arguments"])
    for args, more in [((), {}), (("Bern", 1, 2), {}), (("Bern",), {"city": "Uri"}), ((1,), {}), (("B",), {}), (("Bern", 8), {}),
                       (("Bern", 1.5), {}), (("Bern",), {"x": 1})]:
        try:
            tools.tool(*args, **more)
        except Exception as error:
            print(type(error).__name__, error)
    """
    result = run(tool, code, policy={"parameters": CITY})
    assert result.stdout.splitlines() == [
        "{'city': 'Bern', 'days': 3} {'city': 'Bern', 'days': 1} {'days': 2, 'city': 'Uri'}",
        "ToolError 'city' is missing",
        "TypeError tool() takes 2 positional arguments, 3 were given",
        "TypeError tool() got multiple values for argument 'city'",
        "ToolError city: expected type string, got a number",
        "ToolError city: expected at least 2 characters",
        "ToolError days: expected at most 7",
        "ToolError days: expected type integer, got a number",
        "ToolError 'x' is not expected"], result
    assert [rule for rule, _ in denials(result)] == ["parameters"] * 6
    assert all(entry["attested"] for entry in result.manifest["denials"])
    assert [status for _, status, _ in calls(result)] == ["ok"] * 3 + ["refused"] * 6


def test_calls_can_be_awaited_side_by_side_and_from_threads(base_tree, tool):
    code = """
    import asyncio, threading
    async def many():
        return await asyncio.gather(*[tools.tool.call_async(n=i, many=40000) for i in range(20)])
    print([len(text) for text in await many()] == [40000] * 20)
    got = {}
    def work(n):
        got[n] = tools.tool(n=n)["arguments"]["n"]
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    [thread.start() for thread in threads]
    mine = tools.tool(n=99)["arguments"]["n"]
    [thread.join() for thread in threads]
    print(got == {n: n for n in range(8)}, mine)
    """
    result = run(tool, code)
    assert result.stdout == "True\nTrue 99\n", result


def test_the_program_finds_its_tools_described(base_tree, tool):
    code = "print(tools, dir(tools), tools.tool, tools.tool.__doc__, hasattr(tools, 'other'), ToolError.__name__)"
    result = run(tool, code, policy={"description": "Weather of a city.", "parameters": CITY})
    assert result.stdout == "<tools: tool> ['tool'] <tool tool(city, days)> Weather of a city. False ToolError\n", result
    assert "name 'tools' is not defined" in cells.run("tools").stderr


def test_numbers_keep_their_digits_and_arrays_become_lists(base_tree, tool):
    result = run(tool, "print(tools.tool(n=12345678901234567890, x=0.1)['arguments'])")
    assert result.stdout == "{'n': 12345678901234567890, 'x': 0.1}\n", result


def test_tools_can_be_called_while_the_program_runs_and_not_before_or_after(base_tree, tool):
    """What it registered for its end is part of it."""
    policy = {"tools": {"tool": {"command": [str(tool)]}}, "prelude": {"code": "try:\n    tools.tool()\nexcept Exception as error:\n    early = str(error)"}}
    result = cells.run("import atexit; atexit.register(lambda: print(tools.tool(n=2)['arguments'])); print(early)", policy=policy)
    assert result.stdout == "tools can be called only while the program runs\n{'n': 2}\n", result
    assert result.manifest["warnings"] == []


# ---- failures ----

def test_what_a_tool_says_of_its_failure_is_the_exception(base_tree, user, tool):
    code = """
    for more in [dict(errors="\\n\\x1b[31mno such\\tcity\\x07\\nmore\\n", exit=1), dict(exit=3), dict(write="{"), dict(write="")]:
        try:
            print(tools.tool(**more))
        except ToolError as error:
            print(repr(str(error)))
    tools.tool(errors="the last", exit=1)
    """
    result = run(tool, code, user=user)
    shown = result.stdout.splitlines()
    assert shown[:2] == ["'[31mno such city'", "'the tool failed with exit status 3'"], result
    assert "the tool did not answer with JSON: " in shown[2] and shown[3] == "None"
    marks = f"    {'~' * 10}{'^' * 27}\n" if sys.version_info >= (3, 13) else ""  # that version marks calls
    assert result.stderr == ('Traceback (most recent call last):\n  File "<cell>", line 7, in <module>\n'
                             f'    tools.tool(errors="the last", exit=1)\n{marks}ToolError: the last\n')
    assert [status for _, status, _ in calls(result)] == ["error", "error", "error", "ok", "error"]
    assert denials(result) == []


def test_a_command_that_cannot_be_executed_fails_its_call_alone(base_tree):
    path = cells.scratch() / "no-interpreter"
    path.write_text("#!/nowhere/at/all\n")
    path.chmod(0o755)
    result = run(path, "try: tools.tool()\nexcept ToolError as error: print(error)")
    assert result.stdout == "the tool's command cannot be executed: No such file or directory\n", result


# ---- limits ----

def test_calls_results_and_arguments_are_bounded(base_tree, tool):
    code = """
    def attempt(**more):
        try:
            return len(tools.tool(**more))
        except ToolError as error:
            return error
    print(attempt(many=90), attempt(many=200), attempt(text="x" * 300), attempt(many=1), attempt(many=1), sep="\\n")
    """
    result = run(tool, code, policy={"calls": 3, "argument_size": 200, "result_size": 100})
    assert result.stdout.splitlines() == [
        "90", "the result is longer than 100 (tools.tool.result_size)",
        "the arguments have 312 bytes, more than 200 (tools.tool.argument_size)",
        "1", "all 3 calls of this job are used up (tools.tool.calls)"], result
    assert [rule for rule, _ in denials(result)] == ["argument_size", "calls"]


def test_calls_come_no_faster_than_they_may(base_tree, tool):
    code = """
    refused = 0
    for i in range(20):
        try:
            tools.tool()
        except ToolError as error:
            refused, last = refused + 1, error
    print(refused, last)
    """
    result = run(tool, code, policy={"rate": 0.01, "calls": 5})
    assert result.stdout == "19 more than 0.01 calls per second (tools.tool.rate)\n", result
    assert result.manifest["denials"][0]["count"] == 19


def test_a_call_that_takes_too_long_is_ended_and_the_program_goes_on(base_tree, user, tool):
    mark = cells.new_directory(user) / "mark"
    code = f"""
    try:
        tools.tool(sleep=1000, mark={str(mark)!r}, leave=1)
    except ToolError as error:
        print(error)
    print(tools.other(n=1)["arguments"])
    """
    result = run(tool, code, "--tool=other=cat", policy={"timeout": "700ms"}, user=user)
    assert result.stdout == "the tool took longer than 700ms (tools.tool.timeout)\n{'n': 1}\n", result
    assert calls(result)[0][1] == "timeout"
    assert not cells_processes(tool)


def cells_processes(tool):
    """Processes that a tool left, or is."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        line = cells._read(f"/proc/{pid}/cmdline")
        if str(tool) in line:
            found.append((pid, line))
    return found


@pytest.mark.parametrize("end", ["timeout", "cancel", "kill"])
def test_no_tool_outlives_its_job(base_tree, user, tool, end):
    """Not at a limit, not when it is cancelled, not when the launcher is killed; and no process that a tool has left."""
    mark = cells.new_directory(user) / "mark"
    code = f"tools.tool(sleep=1000, leave=1, mark={str(mark)!r})"
    policy = {"tools": {"tool": {"command": [str(tool)], "timeout": "1h"}}}
    options = ["--timeout=4s", "--grace=0"] if end == "timeout" else []
    with cells.start(code, *options, policy=policy, user=user) as job:
        cells.wait_until("the tool runs", mark.exists, 10 * cells.SLOWNESS)
        if end != "timeout":
            job.signal(signal.SIGTERM if end == "cancel" else signal.SIGKILL)
        result = job.finish()
    if end == "kill":
        cells.wait_until("the tool is gone", lambda: not cells_processes(tool), 10 * cells.SLOWNESS)
    else:
        assert not cells_processes(tool)
        assert calls(result) == [("tool", "ended", "the job ended first")], result


def test_the_deadline_of_the_job_reaches_a_program_that_waits_for_a_tool(base_tree, tool):
    code = """
    try:
        tools.tool(sleep=1000)
    except TimeoutError:
        print("late", flush=True)
    """
    result = run(tool, code, "--timeout=3s", "--grace=2s", policy={"timeout": "1h"})
    assert (result.manifest["status"], result.stdout) == ("timeout", "late\n") or result.stdout == "late\n", result


# ---- hostile programs ----

def hostile(tool, code, *options, policy=None, **more):
    return run(tool, CHANNEL + textwrap.dedent(code), "--guard=off", *options, policy=policy, **more)


def test_a_forged_call_is_checked_like_any_other(base_tree, user, tool):
    result = hostile(tool, """
    call(1, arguments={"city": "Bern"}); print(answer()["value"]["arguments"])
    call(2, arguments={"city": 1}); print(answer())
    call(3, "other"); print(answer())
    call(7, "../../bin/sh"); print(answer())
    frame(9, b'{"id": 8, "name": "tool",\\n "arguments": {\\n"city":\\r\\n"Bern"}\\n}\\n'); print(answer()["value"]["arguments"])
    """, policy={"parameters": CITY}, user=user)
    assert result.stdout.splitlines() == [
        "{'city': 'Bern', 'days': 3}", "{'id': 2, 'error': 'city: expected type string, got a number'}",
        "{'id': 3, 'error': 'there is no tool of this name'}", "{'id': 7, 'error': 'there is no tool of this name'}",
        "{'city': 'Bern', 'days': 3}"], result
    assert [rule for rule, _ in denials(result)] == ["parameters", "name", "name"]


BROKEN = {
    "an id again": "call(5); answer(); call(5)",
    "an earlier id": "call(5); answer(); call(4)",
    "id 0": "call(0)",
    "an id that is no number": "call('1')",
    "garbage": "frame(9, b'\\xff\\xfe{{{')",
    "no object": "frame(9, b'[]')",
    "another member": "frame(9, b'{\"id\": 1, \"name\": \"tool\", \"arguments\": {}, \"x\": 1}')",
    "arguments that are a list": "call(1, arguments=[])",
    "a name twice": "frame(9, b'{\"id\": 1, \"name\": \"tool\", \"arguments\": {\"a\": 1, \"a\": 2}}')",
    "deep nesting": "frame(9, b'{\"id\": 1, \"name\": \"tool\", \"arguments\": {\"a\": ' + b'[' * 20000)",
    "no name": "call(1, '')",
    "an answer, as if it were the launcher": "frame(10, b'{\"id\": 1, \"value\": 1}')",
    "a call in a call": "frame(9, b'{\"id\": 1', 0); frame(7, b'{}')",
}


@pytest.mark.parametrize("attack", BROKEN)
def test_a_program_that_breaks_the_protocol_has_spoilt_its_own_report(base_tree, tool, attack):
    """Its calls are over, nothing runs for it, and the job ends as it would without."""
    result = hostile(tool, f"{BROKEN[attack]}\nprint('on', flush=True)\ntry:\n    call(100)\nexcept OSError: pass\n")
    assert result.stdout == "on\n" and result.manifest["status"] == "error", result
    assert any("protocol" in line or "frame" in line or "tool call" in line for line in result.manifest["warnings"]), result
    assert len(result.manifest["tools"]) <= 1


def test_floods_end_at_their_bounds(base_tree, tool):
    """Refused calls, calls that nobody reads the answers of, and calls beyond all that could be open."""
    result = hostile(tool, """
    for i in range(1, 3000): call(i, "other")
    for i in range(3000, 3500): call(i, arguments={"many": 60000})
    print("sent", flush=True)
    """, policy={"calls": 1000})
    listed = result.manifest["tools"]
    assert result.stdout == "sent\n", result
    assert sum(entry["status"] == "refused" for entry in listed) == 100
    assert sum(entry["status"] not in ("refused", "ok") for entry in listed) <= 256  # as many as can be open
    assert "more tools were called than are listed under tools" in result.manifest["warnings"]
    assert not cells_processes(tool)


def test_calls_without_tools_break_the_protocol(base_tree):
    result = cells.run(CHANNEL + "call(1)\nprint('on')", "--guard=off")
    assert result.stdout == "on\n" and any("there are no tools" in line for line in result.manifest["warnings"]), result


def test_huge_arguments_are_refused_before_anything_runs(base_tree, tool):
    result = hostile(tool, """
    call(1, arguments={"x": "y" * 20000}); print(answer())
    body = json.dumps({"id": 2, "name": "tool", "arguments": {"x": "y" * 900000}}).encode()
    for at in range(0, len(body), 32768):
        frame(9, body[at:at + 32768], int(at + 32768 >= len(body)))
    print(answer())
    """, policy={"argument_size": "1K"})
    assert [line.partition("more than")[2] for line in result.stdout.splitlines()] == [" 1K (tools.tool.argument_size)'}"] * 2, result
    assert [status for _, status, _ in calls(result)] == ["refused"] * 2
    assert all(len(entry["arguments"]) <= 1000 for entry in result.manifest["tools"])


def test_arguments_and_failures_are_redacted_like_output(base_tree, tool):
    policy = {"redact": {"rules": [{"name": "word", "pattern": "hunter[0-9]", "replace": "<GONE>"}]},
              "tools": {"tool": {"command": [str(tool)]}}}
    result = cells.run("try: tools.tool(p='hunter2', errors='not hunter3', exit=1)\nexcept ToolError: pass", policy=policy)
    assert "hunter" not in json.dumps(result.manifest["tools"]) and "<GONE>" in result.manifest["tools"][0]["arguments"], result


# ---- paths ----

def test_path_arguments_stay_below_their_directories(base_tree, user, tool):
    place = cells.new_directory(user)
    (place / "in" / "deep").mkdir(parents=True)
    (place / "in" / "file").write_text("")
    (place / "secret").write_text("")
    (place / "in" / "link").symlink_to(place / "secret")
    (place / "in" / "away").symlink_to("/")
    (place / "inside").mkdir()
    code = f"""
    place = {str(place)!r}
    for path in ["in/file", place + "/in/file", "in/deep/../file", "in/new", "in", "in/link", "in/away/etc/passwd", "in/../secret", "../x",
                 "/etc/passwd", "inside/x", "~/x", "~root/x", "", "in/none/new", "in/deep/..", "in/new/", 7, ["in/file"]]:
        try:
            print(tools.tool(path)["arguments"]["path"].removeprefix(place))
        except ToolError as error:
            print(str(error).replace(place, "P"))
    print(tools.tool("/etc/passwd", "r")["arguments"]["path"], tools.tool(path="in/link", mode="rb")["arguments"]["mode"])
    """
    policy = {"parameters": {"properties": {"path": {}, "mode": {"default": "w"}}},
              "paths": {"path": {"below": ["in"], "mode": "mode"}}}
    result = run(tool, code, policy=policy, user=user, cwd=place)
    outside = "path: expected a path below in, got '{}'"
    assert result.stdout.splitlines() == [
        "/in/file", "/in/file", "/in/file", "/in/new", "/in",
        *["path: a symbolic link is on its way, and none is followed"] * 2, "path: it leaves P/in", outside.format("../x"),
        outside.format("/etc/passwd"), outside.format("inside/x"), outside.format("~/x"), outside.format("~root/x"), outside.format(""),
        "path: its directory cannot be reached: No such file or directory", "/in", "/in/new",
        "path: expected a path, got a number", "path: expected a path, got a list", "/etc/passwd rb"], result
    assert {rule for rule, _ in denials(result)} == {"paths"}


# ---- the client ----

def serve(server, answer):
    """Answer each line with what `answer` makes of it, until the other side hangs up."""
    with server, server.makefile("rw") as stream:
        for line in stream:
            for reply in answer(json.loads(line)):
                stream.write(reply if isinstance(reply, str) else json.dumps(reply) + "\n")
            stream.flush()


def with_client(code, answer, user, tools=("ask",), **more):
    """A job whose spec describes tools, and a client that answers them."""
    ours, theirs = socket.socketpair()
    spec = {"code": textwrap.dedent(code), "tools": {name: {"timeout": "5s"} for name in tools}}
    thread = threading.Thread(target=serve, args=(ours, answer))
    thread.start()
    with theirs:
        job = cells.Job(None, "--spec=-", f"--tool-fd={theirs.fileno()}", user=user, stdin=json.dumps(spec),
                        popen={"pass_fds": [theirs.fileno()]}, **more)
    result = job.finish()
    thread.join()
    return result


def test_a_client_answers_tools_over_its_socket(base_tree, user):
    def answer(call):
        if call["arguments"].get("fail"):
            return [{"id": call["id"], "error": "cannot\nmore"}]
        return [{"id": call["id"] + 1000, "value": "unknown"}, {"id": call["id"], "value": call}, {"id": call["id"], "value": "again"}]
    code = """
    print(tools.ask(x=1)["arguments"], tools.ask(y="a\\nb")["name"])
    try:
        tools.ask(fail=True)
    except ToolError as error:
        print(error)
    """
    result = with_client(code, answer, user)
    assert result.stdout == "{'x': 1} ask\ncannot\n", result
    assert [status for _, status, _ in calls(result)] == ["ok", "ok", "error"]


def test_a_client_that_leaves_or_talks_nonsense_fails_its_calls_alone(base_tree):
    code = "for i in range(2):\n    try: print(tools.ask())\n    except ToolError as error: print(error)"
    result = with_client(code, lambda call: ["nonsense\n"], cells.caller())
    first, second = result.stdout.splitlines()
    assert "tool client:1:" in first and second == "the tools' client has gone", result
    assert result.manifest["status"] == "ok"


# ---- sessions ----

def test_a_session_has_tools_in_each_of_its_runs(base_tree, user, tool):
    """Counted anew, also after a run that was killed while its tool ran; and nothing of one run's calls reaches another."""
    mark = cells.new_directory(user) / "mark"
    policy = mark.parent / "policy.json"
    policy.write_text(json.dumps({"extends": "default", "tools": {"tool": {"command": [str(tool)], "calls": 2, "timeout": "1h"}}}))
    with session_client.Session(policy=policy, user=user) as session:
        first = session.run("a = tools.tool(n=1)['arguments']; b = await tools.tool.call_async(n=2); a")
        assert first.value == {"n": 1} and [entry["status"] for entry in first.manifest["tools"]] == ["ok", "ok"], first
        killed = session.run(f"tools.tool(sleep=1000, leave=1, mark={str(mark)!r})", limits={"timeout": "3s", "grace": "0"})
        assert killed.status == "timeout" and killed.state == "rolled back to run 1" and mark.exists(), killed
        assert [(entry["status"], entry["message"]) for entry in killed.manifest["tools"]] == [("ended", "the job ended first")]
        assert not cells_processes(tool)
        threads = session.run("import threading\nthread = threading.Thread(target=lambda: tools.tool(sleep=1000))\nthread.start()")
        assert threads.status == "ok" and not cells_processes(tool), threads
        loop = session.run("""
import threading, time
def call():
    while True:
        try: tools.tool(n=1)
        except ToolError: time.sleep(0.0001)
        except BaseException: return
thread = threading.Thread(target=call)
thread.start()""")
        assert loop.status == "ok" and loop.state == "kept", loop
        for _ in range(5):
            assert session.run("1").state == "kept"
        session.run("import os; os._exit(1)")  # the copy has no such thread
        late = session.run("[tools.tool(n=i)['arguments']['n'] for i in range(2)]")
        assert late.value == [0, 1] and late.state == "kept", late
        again = session.run("import os\ntry: tools.tool(n=1), tools.tool(n=2), tools.tool(n=3)\nexcept ToolError as error: print(error)\na")
        assert again.stdout == "all 2 calls of this job are used up (tools.tool.calls)\n" and again.value == {"n": 1}, again
        assert [entry["rule"] for entry in again.manifest["denials"]] == ["calls"]


def test_a_sessions_run_describes_no_tools(base_tree, tool):
    with session_client.Session(f"--tool=tool={tool}") as session:
        session.ask({"run": {"code": "1", "tools": {"x": {}}}})
        assert "'tools' is for a session as a whole" in json.dumps(session.answer())
        assert session.run("tools.tool(n=1)['name']").value == "tool"


# ---- warm cells ----

def test_a_warm_cell_has_the_tools_of_its_job(base_tree, tool, monkeypatch):
    if not (warm := cells.BUILD / "warm" / "hotcell").exists():
        cells.skip(f"{warm} is not built: run 'make warm'")
    monkeypatch.setattr(cells, "HOTCELL", warm)
    code = "print(tools.tool(n=1)['arguments'], await tools.tool.call_async(n=2) != None)"
    result = cells.run(code, f"--tool=tool={tool}", env={"HOTCELL_WARM_SAY": "1"})
    assert result.stdout == "{'n': 1} True\n" and "warm: yes" in result.stderr, result


# ---- the Python package ----

def python(code, **options):
    return hotcell.run(textwrap.dedent(code), tree="base", timeout=10 * cells.SLOWNESS, binary=cells.HOTCELL, **options)


def test_callables_of_the_caller_are_tools(base_tree, monkeypatch):
    def weather(city: str, days: int = 3, *, unit: typing.Literal["C", "F"] = "C", notes: typing.Optional[typing.List[str]] = None):
        """Weather of a city."""
        if city == "Nowhere":
            raise LookupError("no such city")
        return [city, days, unit, notes, threading.current_thread().name]

    async def slow(n, /):
        return n + 1
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    result = python("""
    print(tools.weather("Bern"), tools.weather("Bern", 5, unit="F", notes=["a"])[:4], await tools.slow.call_async(1), tools.slow(2))
    for args in [("Nowhere",), (1,), ("Bern", "x")]:
        try:
            tools.weather(*args)
        except ToolError as error:
            print(error)
    print(tools.weather.__doc__)
    """, tools=[weather, slow])
    assert result.text.splitlines() == [
        "['Bern', 3, 'C', None, 'hotcell-tools'] ['Bern', 5, 'F', ['a']] 2 3", "LookupError: no such city",
        "city: expected type string, got a number", "days: expected type integer, got a string", "Weather of a city."], result.manifest
    assert [entry["name"] for entry in result.manifest["tools"]] == ["weather", "weather", "slow", "slow", *["weather"] * 3]


def test_a_tool_has_limits_and_another_name(base_tree, monkeypatch):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    started, release = threading.Event(), threading.Event()

    def hang():
        started.set()
        release.wait()
    code = "for tool in (tools.count, tools.count, tools.hang):\n    try: print(tool())\n    except ToolError as error: print(error)"
    result = python(code, tools={"count": hotcell.Tool(lambda: 7, calls=1), "hang": hotcell.Tool(hang, timeout="300ms")})
    release.set()
    assert result.text.splitlines() == ["7", "all 1 calls of this job are used up (tools.count.calls)",
                                        "the tool took longer than 300ms (tools.hang.timeout)"] and started.is_set(), result.manifest
    for tools in ([3], {"if": print}, [hang, hang], {"x": hotcell.Tool(print, parameters={"oneOf": []})}):
        with pytest.raises(hotcell.InputError, match="tools"):
            python("1", tools=tools)


def test_tools_in_an_event_loop_share_it(base_tree, monkeypatch):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    loops = []

    async def where():
        loops.append(asyncio.get_running_loop())

    async def main():
        loops.append(asyncio.get_running_loop())
        return await hotcell.arun("tools.where()", tree="base", binary=cells.HOTCELL, tools=[where])
    assert asyncio.run(main()).ok and loops[0] is loops[1]


def test_a_signature_becomes_a_schema():
    def f(a, b: float, c: "int | None" = None, d: typing.Dict[str, int] = {}, e: object = object(), **more: str): ...
    assert hotcell.Tool(f).described()["parameters"] == {
        "type": "object", "required": ["a", "b"], "additionalProperties": {"type": "string"},
        "properties": {"a": {}, "b": {"type": "number"}, "c": {"type": ["integer", "null"], "default": None},
                       "d": {"type": "object", "additionalProperties": {"type": "integer"}, "default": {}}, "e": {}}}
    assert "parameters" in hotcell.Tool(dict.get).described() and "parameters" not in hotcell.Tool(max).described()


def test_descriptions_that_are_wrong_are_refused_with_their_place(base_tree, tool):
    for tools, what in [
        ({"if": {}}, "tools: 'if': expected a Python identifier"),
        ({"a": {"comand": []}}, "unknown member 'comand' in tools.a; did you mean 'command'?"),
        ({"a": {"parameters": {"properties": {"x": {"oneOf": []}}}}}, "'oneOf' is no keyword that this program knows"),
        ({"a": {"parameters": {"properties": {"x": {"pattern": "("}}}}}, "tools.a.parameters: pattern: missing closing parenthesis"),
        ({"a": {"parameters": {"type": "string"}}}, "tools.a.parameters: expected the schema of an object"),
        ({"a": {"calls": -1}}, "tools.a.calls: "),
        ({"a": {"command": []}}, "tools.a: command: expected a list of 1 to 64 strings"),
        ({"a": {"paths": {"p": {}}}}, "tools.a.paths.p: expected a member 'below'"),
        ({"a": {"paths": {"p": {"below": ["/"]}}, "parameters": {"properties": {}}}}, "'p' is none of its parameters"),
        ({"a": {}}, "tool 'a': nobody answers it"),
        ({"a": {"command": ["/no/such/thing"]}}, "'/no/such/thing' is no program that can be started"),
    ]:
        result = cells.run("1", policy={"tools": tools})
        assert result.status == 78 and what in result.stderr, (what, result)
        if "tool 'a'" not in result.stderr:
            assert ".policy.json:1:" in result.stderr
    for option, what in [("--tool=x", "expected NAME=COMMAND"), ("--tool=x=", "expected a command"), ("--tool=if=true", "identifier"),
                         ("--tool=x='a", "not closed"), ("--tool-fd=1", "a descriptor from 3 on"), ("--tool-fd=77", "Bad file descriptor")]:
        result = cells.run("1", option)
        assert result.status == 64 and what in result.stderr, (option, result)


def test_a_spec_describes_tools_and_cannot_name_commands_or_loosen_a_policy(base_tree, tool):
    def spec(tools, **more):
        text = json.dumps({"code": "1", "tools": tools, **more})
        return cells.run(None, "--spec=-", stdin=text, policy={"tools": {"mine": {"command": [str(tool)]}}})
    for tools, what in [({"x": {"command": ["/bin/true"]}}, "a spec cannot name a command"), ({"mine": {}}, "'mine' is the policy's already")]:
        result = spec(tools)
        assert result.status == 65 and what in result.stderr, result
    result = spec({}, vars={"tools": 1})
    assert result.status == 65 and "'tools' is a name of the program already" in result.stderr, result


def test_the_manifest_stays_as_its_schema_says(base_tree, tool):
    import jsonschema
    schema = cells.generated("manifest.schema.json")
    result = run(tool, "tools.tool()\ntry: tools.tool(exit=1)\nexcept ToolError: pass\ntools.tool(x=1)", policy={"calls": 2})
    jsonschema.validate(result.manifest, schema)
    assert [status for _, status, _ in calls(result)] == ["ok", "error", "refused"]
