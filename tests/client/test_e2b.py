"""E2B's dialect of hotcelld: real sandboxes, used by E2B's own libraries for Node.js as a program of their users would."""

import contextlib
import gzip
import http.client
import json
import os
import subprocess
import time
import zlib
from pathlib import Path

import cells
import daemons
import npm
import pytest

SOURCE = Path(__file__).resolve().parents[1] / "e2b"
TOKEN, OTHER = "e2b_the-token-of-the-team", "e2b_the-token-of-others"


@pytest.fixture(name="client", scope="module")
def installed_client():
    return npm.installed(SOURCE, "e2b-client") / "client.mjs"


def write_policies(folder, scientific, shell):
    """The policies of the templates: "box", "plots" and "tools"."""
    limits = {"timeout": f"{30 * cells.SLOWNESS:g}s", "memory": "512M"}
    counted = {} if cells.counts_memory(cells.caller()) else {"enforcement": "rlimits"}
    default, shipped = (str(daemons.SOURCE.parent / "policies" / f"{name}.json") for name in ("default", "shell"))
    for name, policy in {"box": {"extends": default, "tree": "base"}, "plots": {"extends": default, "tree": scientific},
                         "tools": {"extends": shipped, "tree": shell, "limits": {**counted}}}.items():
        (folder / f"{name}.json").write_text(json.dumps({"name": name, **policy, "limits": {**limits, **policy.get("limits", {})}}))


@pytest.fixture(name="daemon", scope="module")
def listening_daemon(base_tree, scientific, shell_tree):
    del base_tree
    folder = cells.new_directory(cells.caller())
    write_policies(folder, scientific, shell_tree)
    port, config = daemons.config_with_token(TOKEN)
    with Path(config["tokens"]).open("a") as file:
        file.write(f"{daemons.hashlib.sha256(OTHER.encode()).hexdigest()} others\n")
    config = {**config, "tenants": {"team": {}, "others": {}}, "workers": 2, "e2b": {"policy": "box", "templates": "plots tools"},
              "http": {"body": "1M", "bodies": "64M"}}
    with daemons.Daemon(config=config, env={"HOTCELL_POLICIES": str(folder)}, base=False) as daemon:
        daemon.port, daemon.url = port, f"http://127.0.0.1:{port}"
        yield daemon
        assert daemon.end() == 0, daemon.log


def play(daemon, client, scenario, **env):
    done = subprocess.run(["node", client, scenario], capture_output=True, text=True, check=False, timeout=cells.PATIENCE,
                          cwd=cells.new_directory(cells.caller()),
                          env={**os.environ, "E2B_API_URL": daemon.url, "E2B_SANDBOX_URL": daemon.url, "E2B_API_KEY": TOKEN, **env})
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


def ask(daemon, method, path, body=None, raw=False, **headers):
    """One request as no client of E2B sends it: the status, the answer's headers, and its JSON, or its bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=cells.PATIENCE)
    body = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the answer may come before the end of a body that is too large
        connection.request(method, path, body, {"Content-Type": "application/json", **headers} if body is not None else headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, answer.headers, text if raw else json.loads(text) if text else None


def create(daemon, token=TOKEN, **body):
    status, _, made = ask(daemon, "POST", "/sandboxes", {"templateID": "base", **body}, X_API_Key=token)
    assert status == 201, made
    return made["sandboxID"], {"E2b_Sandbox_Id": made["sandboxID"], "X_Access_Token": made["envdAccessToken"]}


def joined(pieces):
    """Output comes in pieces as it is printed."""
    return {name: "".join(texts) for name, texts in pieces.items()}


# ---- code ----

def test_code_runs_with_its_state_output_and_errors(daemon, client):
    seen = play(daemon, client, "code")
    run, failed, syntax = seen["run"], seen["failed"], seen["syntax"]
    assert (seen["text"], seen["count"], joined(run["logs"])) == ("42", 2, {"stdout": "out\n", "stderr": "err\n"}), seen
    assert "".join(failed["logs"]["stderr"]) == "before\n" and failed["results"] == []  # the traceback is in the error alone
    assert (failed["error"]["name"], failed["error"]["value"]) == ("ZeroDivisionError", "division by zero")
    assert "line 2, in <module>\n    1 / 0" in failed["error"]["traceback"]
    assert (syntax["error"]["name"], syntax["results"], syntax["logs"]["stderr"]) == ("SyntaxError", [], []), syntax
    assert "line 1" in syntax["error"]["traceback"] and "SyntaxError: invalid syntax" in syntax["error"]["traceback"], syntax
    memory = seen["memory"]  # what is said of the limit stands beside the traceback, which the error alone has
    assert memory["error"]["name"] == "MemoryError" and "Traceback" not in "".join(memory["logs"]["stderr"]), memory
    assert (seen["env"], seen["string"], "".join(seen["bytes"])) == ("('sandbox', 'run')", "a text", "\ufffd\ufffd!")
    assert joined(seen["seen"]) == {"stdout": "out\n", "stderr": "err\nbefore\n", "results": "42", "errors": "ZeroDivisionError"}


def test_results_are_rich(daemon, client):
    seen = play(daemon, client, "results")
    assert seen["errors"] == [None] * 3 or seen["errors"] == [], seen
    table, chart = seen["table"], seen["chart"]
    assert table["data"] == {"a": [1, 2], "b": ["x", "y"]} and "<table" in table["html"] and "a  b" in table["text"], table
    assert chart["png"] == "iVBORw0K" and chart["main"] is False and chart["count"] == 1
    assert (chart["chart"]["type"], chart["chart"]["title"], chart["chart"]["elements"]) == ("line", "T", [{"label": "l", "points": [[1, 3], [2, 4]]}])
    assert (seen["html"]["html"], seen["html"]["latex"], seen["json"]) == ("<b>x</b>", "$x$", {"a": [1, 2]})


def test_output_comes_while_code_runs_and_ends_with_the_sandbox(daemon, client):
    seen = play(daemon, client, "streaming")
    assert "".join(seen["order"]).strip("\n").replace("\n", "") == "oneseen", seen
    assert seen["gone"]["name"] == "TimeoutError", seen
    assert "two" not in json.dumps(seen["ended"]) and "sandbox" in json.dumps(seen["other"]).lower(), seen


def test_code_whose_client_gives_up_is_interrupted(daemon, client):
    seen = play(daemon, client, "stuck")
    assert seen["late"]["name"] == "TimeoutError" and seen["next"] == "2", seen  # what it has done until then is kept
    assert seen["waited"] < 20_000 * cells.SLOWNESS, seen  # limits.timeout alone would take longer


# ---- sandboxes ----

def test_sandboxes_are_sessions_of_the_tenant(daemon, client):
    other, _ = create(daemon, OTHER)
    seen = play(daemon, client, "sandboxes", OTHER=other)
    first, second = seen["ids"]
    assert seen["all"] == seen["pages"] == [second, first] and seen["mine"] == [first] and seen["none"] == [], seen
    assert (seen["info"]["templateId"], seen["info"]["metadata"], seen["info"]["state"]) == ("box", {"who": "one & two", "kind": "a=b"}, "running")
    assert seen["info"]["memoryMB"] == 512 and seen["info"]["endAt"] < seen["later"]["endAt"]
    assert (seen["running"], seen["connected"], seen["killed"]) == ([True, True], "5", [True, False, True])
    over, refused = seen["over"], seen["refused"]
    assert (over["running"], over["run"]["name"], over["info"]["name"]) == (False, "TimeoutError", "SandboxNotFoundError"), over
    assert "template 'nothing' not found: there are base and plots tools" in refused["template"]["message"], refused
    assert "network: " in refused["network"]["message"] and refused["key"]["name"] == "AuthenticationError", refused
    assert refused["connect"]["name"] == refused["other"]["name"] == "SandboxNotFoundError", refused
    assert ask(daemon, "DELETE", f"/sandboxes/{other}", X_API_Key=OTHER)[0] == 204


def test_a_sandbox_ends_with_its_timeout(daemon, client):
    seen = play(daemon, client, "timeout")
    assert seen["run"]["name"] == "TimeoutError" and seen["list"] == 0, seen


def test_contexts_have_names_of_their_own_and_the_same_files(daemon, client):
    seen = play(daemon, client, "contexts")
    assert (seen["context"]["language"], seen["context"]["cwd"], seen["others"]) == ("python", "/output", [])
    assert (seen["before"], seen["after"], seen["again"], seen["file"]) == ("1", "NameError", "NameError", "kept"), seen
    for name, words in (("another", "'r' not found"), ("unknown", "Context unknown not found"),
                        ("language", "'r' not found"), ("removed", "first context")):
        assert seen[name]["name"] == "NotFoundError" and words in seen[name]["message"], seen
    assert seen["elsewhere"]["name"] == "SandboxError" and (seen["placed"]["cwd"], seen["place"]) == ("/tmp", "/tmp"), seen
    one, two = seen["one"]["id"], seen["two"]["id"]
    assert seen["one"] == {"id": one, "language": "python", "cwd": "/output"} and len({one, two, seen["context"]["id"]}) == 3, seen
    assert seen["listed"] == [seen["context"]["id"], one, two] and seen["left"] == [seen["context"]["id"], two]
    assert seen["own"] == ["NameError", "first!", "one", "two", "kept+", "NameError", "two", "NameError", "first!"], seen["own"]
    assert seen["stopped"] and [gone["name"] for gone in seen["gone"]] == ["NotFoundError"] * 3, seen
    assert "returned" not in seen["many"] and seen["counted"] == 8, seen


def test_a_paused_sandbox_waits_with_its_state(daemon, client):
    seen = play(daemon, client, "pause")
    assert (seen["paused"], seen["again"], seen["state"], seen["running"], seen["listed"]) == (True, False, "paused", False, [True]), seen
    assert "paused" in seen["run"]["message"] and (seen["value"], seen["after"]) == ("26", "running"), seen


# ---- files ----

def test_files_are_those_of_the_session(daemon, client):
    seen = play(daemon, client, "files")
    assert seen["written"] == {"type": "file", "name": 'a "quoted" \u00e9.txt', "path": '/output/d/a "quoted" \u00e9.txt'}, seen
    assert [entry["path"] for entry in seen["several"]] == ["/output/one.bin", "/output/empty", "/output/d/two.txt"]
    assert (seen["streamed"]["path"], seen["inside"]) == ("/output/streamed.txt", "hello \u00fcfrom a stream300")
    assert (seen["read"], seen["bytes"]) == (["by code", "--x\r\n", "", 0], True)
    assert {"dir /output/deep", "file /output/made.txt"} <= set(seen["list"]) and "file /output/deep/er/x" not in seen["list"], seen
    assert seen["deep"] == ["dir /output/deep/er", "file /output/deep/er/x"] and seen["some"] == len(seen["list"])
    assert (seen["exists"], seen["made"], seen["removed"]) == ([True, False, True, False], [True, False, False], [False] * 3)
    assert seen["zipped"]["path"] == "/output/zipped.txt" and seen["unzipped"]
    assert seen["home"] == ["/output/h/one.txt", "at home", "at home", ["file /output/h/one.txt"], True], seen["home"]
    assert (seen["renamed"]["path"], seen["renamed"]["size"]) == ("/output/new/named.txt", 7)
    assert [(info["type"], info["path"]) for info in seen["info"]] == [("file", "/output/new/named.txt"), ("dir", "/output/new"), ("dir", "/output")]
    refused = seen["refused"]
    for name in ("missing", "info", "list", "rename"):
        assert refused[name]["name"] == "FileNotFoundError" and "no such file" in refused[name]["message"], (name, refused[name])
    for name, words in (("directory", "is a directory"), ("outside", "/output"), ("up", '".."'), ("file", "no directory"),
                        ("root", "directory itself"), ("home", "/output"), ("root2", "directory itself"), ("large", "http.body"), ("metadata", "metadata")):
        assert "returned" not in refused[name] and words in refused[name]["message"], (name, refused[name])


def test_large_files_and_long_lists_come_in_parts(daemon, client):
    seen = play(daemon, client, "large")
    assert seen == {"whole": True, "listed": 3001}


def test_compressed_uploads_are_bounded_and_whole(daemon):
    sandbox, access = create(daemon)
    random = os.urandom(900_000)  # several parts would be a file of more than 4 MiB, and http.body is 1 MiB here
    zipped = {**access, "Content_Type": "application/octet-stream", "Content_Encoding": "gzip"}
    whole = gzip.compress(random)
    try:
        assert ask(daemon, "POST", "/files?path=whole", whole, **zipped)[0] == 200
        assert ask(daemon, "GET", "/files?path=whole", raw=True, **access)[2] == random
        for body, encoding, status, words in (
                (gzip.compress(bytes(1 << 26)), "gzip", 413, "decompressed"), (whole[:-1], "gzip", 400, "one whole gzip file"),
                (whole + b"x", "gzip", 400, "one whole"),
                (whole[:-8] + bytes(8), "gzip", 400, "one whole"), (b"plain", "gzip", 400, "one whole"), (b"", "gzip", 400, "one whole"),
                (zlib.compress(b"x"), "gzip", 400, "one whole"), (whole, "br", 415, "gzip")):
            status_, _, answer = ask(daemon, "POST", "/files?path=broken", body, **{**zipped, "Content_Encoding": encoding})
            assert status_ == status and words in answer["message"], (body[:9], answer)
        assert ask(daemon, "GET", "/files?path=broken", **access)[0] == 404
        assert ask(daemon, "GET", "/files?path=whole", raw=True, **access)[2] == random
    finally:
        assert ask(daemon, "DELETE", f"/sandboxes/{sandbox}", X_API_Key=TOKEN)[0] == 204


def test_compressed_uploads_that_break_off_hold_no_place_for_files_in_parts(base_tree):
    del base_tree
    folder = cells.new_directory(cells.caller())
    write_policies(folder, "base", "base")
    port, config = daemons.config_with_token(TOKEN)
    config = {**config, "tenants": {"team": {}}, "workers": 1, "e2b": {"policy": "box"}, "http": {"body": "5M"}}
    with daemons.Daemon(config=config, env={"HOTCELL_POLICIES": str(folder)}, base=False) as daemon:
        daemon.port = port
        access = {**create(daemon)[1], "Content_Type": "application/octet-stream", "Content_Encoding": "gzip"}
        broken = gzip.compress(bytes(5 << 20))[:-1]
        for number in range(9):  # a session takes parts of 8 files at a time
            assert ask(daemon, "POST", f"/files?path=broken{number}", broken, **access)[0] == 400
            status, _, answer = ask(daemon, "POST", f"/files?path=bomb{number}", gzip.compress(bytes((5 << 20) + 1)), **access)
            assert status == 413, answer
        assert ask(daemon, "POST", "/files?path=whole", gzip.compress(bytes(5 << 20)), **access)[0] == 200
        assert daemon.end() == 0, daemon.log


def test_directories_are_watched(daemon, client):
    seen = play(daemon, client, "watching")
    assert not any("deep" in event or "elsewhere" in event for event in seen["events"]), seen
    assert "no such file" in seen["missing"]["message"], seen["missing"]


class Watch:
    """A watch of a directory, message by message."""

    def __init__(self, daemon, access, path):
        self.connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=cells.PATIENCE)
        headers = {name.replace("_", "-"): value for name, value in {**access, "Content_Type": "application/connect+json"}.items()}
        self.connection.request("POST", "/filesystem.Filesystem/WatchDir", message(json.dumps({"path": path}).encode()), headers)
        self.answer = self.connection.getresponse()

    def next(self):
        while True:
            head = self.answer.read(5)
            told = json.loads(self.answer.read(int.from_bytes(head[1:], "big")))
            if "keepalive" not in told:
                return told

    def close(self):
        self.answer.close()
        self.connection.close()


def test_watches_of_one_directory_share_its_list_and_each_is_told(daemon):
    sandbox, access = create(daemon)
    try:
        assert ask(daemon, "POST", "/files?path=d/before", b"1", **access, Content_Type="application/octet-stream")[0] == 200
        watches = [Watch(daemon, access, "d") for _ in range(5)]
        assert [watch.next() for watch in watches] == [{"start": {}}] * 5
        for number, gone in ((0, watches[:2]), (1, watches[2:3]), (2, [])):  # those that are left are told, whoever made the list before
            for watch in gone:
                watch.close()
            assert ask(daemon, "POST", f"/files?path=d/{number}", b"1", **access, Content_Type="application/octet-stream")[0] == 200
            for watch in watches[2 + (number > 0):]:
                assert [watch.next() for _ in range(2)] == [{"filesystem": {"name": str(number), "type": f"EVENT_TYPE_{kind}"}} for kind in ("CREATE", "WRITE")]
        for watch in watches[3:]:
            watch.close()
    finally:
        assert ask(daemon, "DELETE", f"/sandboxes/{sandbox}", X_API_Key=TOKEN)[0] == 204


def test_what_is_made_while_a_list_has_to_wait_is_told_when_it_is_due(daemon):
    """The list of a directory with many files comes no sooner than a while after the last one, but no second later."""
    sandbox, access = create(daemon)
    try:
        assert ask(daemon, "POST", "/execute", {"code": "for i in range(400):\n    open(f'{i}', 'w').close()"}, raw=True, **access)[0] == 200
        taken = 0
        for number in range(4):
            watch = Watch(daemon, access, ".")
            assert watch.next() == {"start": {}}
            begun = time.monotonic()
            assert ask(daemon, "POST", f"/files?path=new{number}", b"1", **access, Content_Type="application/octet-stream")[0] == 200
            assert watch.next()["filesystem"]["name"] == f"new{number}"
            taken += time.monotonic() - begun
            watch.close()
        assert taken < 2 * cells.SLOWNESS
    finally:
        assert ask(daemon, "DELETE", f"/sandboxes/{sandbox}", X_API_Key=TOKEN)[0] == 204


def test_watchers_are_asked_for_events(daemon):
    """As E2B's library for Python does, whose clients are not told of events but ask for them."""
    sandbox, access = create(daemon)

    def call(name, **body):
        return ask(daemon, "POST", f"/filesystem.Filesystem/{name}", body, **access)[::2]

    def events(watcher):
        status, answer = call("GetWatcherEvents", watcherId=watcher)
        assert status == 200, answer
        return [f"{event['type'].removeprefix('EVENT_TYPE_').lower()} {event['name']}" for event in answer["events"]]
    try:
        assert ask(daemon, "POST", "/execute", {"code": "import os\nos.makedirs('d/e')\nopen('d/old', 'w').close()"}, raw=True, **access)[0] == 200
        flat, deep = (call("CreateWatcher", path="/home/user/d", recursive=recursive)[1]["watcherId"] for recursive in (False, True))
        assert events(flat) == events(deep) == []
        code = "open('d/new', 'w').write('1')\nopen('d/e/x', 'w').close()\nos.remove('d/old')"
        assert ask(daemon, "POST", "/execute", {"code": code}, raw=True, **access)[0] == 200
        assert events(flat) == ["create new", "write new", "remove old"] and events(flat) == []
        assert sorted(events(deep)) == ["create e/x", "create new", "remove old", "write new"]
        assert call("RemoveWatcher", watcherId=flat) == (200, {})
        for name, watcher in (("GetWatcherEvents", flat), ("RemoveWatcher", flat), ("GetWatcherEvents", "w0"), ("RemoveWatcher", "x" * 100)):
            assert call(name, watcherId=watcher)[0] == 404
        for name, body, status in (("GetWatcherEvents", {}, 400), ("RemoveWatcher", {"watcherId": 1}, 400), ("CreateWatcher", {"path": "nothing"}, 404),
                                   ("CreateWatcher", {"path": "d/new"}, 400), ("CreateWatcher", {"path": 1}, 400), ("CreateWatcher", {"path": "../x"}, 400)):
            assert call(name, **body)[0] == status, (name, body)
        other, theirs = create(daemon, OTHER)
        assert ask(daemon, "POST", "/filesystem.Filesystem/GetWatcherEvents", {"watcherId": deep}, **theirs)[0] == 404  # of another sandbox
        assert ask(daemon, "DELETE", f"/sandboxes/{other}", X_API_Key=OTHER)[0] == 204
        made = 1
        while (status := call("CreateWatcher", path="d")[0]) == 200:
            made += 1
        assert (status, made) == (400, 64)
    finally:
        assert ask(daemon, "DELETE", f"/sandboxes/{sandbox}", X_API_Key=TOKEN)[0] == 204


def test_long_paths_do_not_make_a_list_large(daemon):
    sandbox, access = create(daemon)
    code = "import os\nfor _ in range(14):\n    os.mkdir('d' * 250)\n    os.chdir('d' * 250)\nfor i in range(3000):\n    open(str(i), 'w').close()"
    try:
        assert ask(daemon, "POST", "/execute", {"code": code}, raw=True, **access)[0] == 200
        status, _, answer = ask(daemon, "POST", "/filesystem.Filesystem/ListDir", {"path": ".", "depth": 64}, **access)
        assert status == 413 and "their paths are too long" in answer["message"], (status, str(answer)[:300])
        assert len(ask(daemon, "POST", "/filesystem.Filesystem/ListDir", {"path": ".", "depth": 3}, **access)[2]["entries"]) == 3
    finally:
        assert ask(daemon, "DELETE", f"/sandboxes/{sandbox}", X_API_Key=TOKEN)[0] == 204


def test_code_that_ends_its_process_is_undone_and_says_so(daemon):
    sandbox, access = create(daemon)

    def execute(code):
        status, _, lines = ask(daemon, "POST", "/execute", {"code": code}, raw=True, **access)
        assert status == 200, lines
        return [json.loads(line) for line in lines.splitlines()]
    try:
        execute("x = 1")
        told = execute("x = 2\nimport os\nos._exit(3)")
        said = [line["text"] for line in told if line["type"] == "stderr"]
        assert [line["name"] for line in told if line["type"] == "error"], told
        assert "hotcell: the run is undone: the variables were rolled back to run 1\n" in said, told
        last = execute("x")
        assert [line["text"] for line in last if line["type"] == "result"] == ["1"] and not any(line["type"] == "stderr" for line in last), last
    finally:
        assert ask(daemon, "DELETE", f"/sandboxes/{sandbox}", X_API_Key=TOKEN)[0] == 204


def test_a_host_that_cannot_isolate_is_not_asked_again(base_tree):
    """500, which clients do not try again; where cgroups count memory, nothing is missing."""
    policies = cells.new_directory(cells.caller())
    (policies / "counted.json").write_text(json.dumps({"extends": "default", "tree": "base", "limits": {"enforcement": "cgroup"}}))
    port, config = daemons.config_with_token(TOKEN)
    with daemons.Daemon(config={**config, "e2b": {"policy": "counted"}}, env={"HOTCELL_POLICIES": str(policies)}) as daemon:
        daemon.port = port
        status, _, said = ask(daemon, "POST", "/sandboxes", {"templateID": "base"}, X_API_Key=TOKEN)
        assert status == (201 if cells.counts_memory(cells.caller()) else 500), said
        assert status == 201 or "limits.enforcement" in said["message"], said
        assert daemon.end() == 0, daemon.log


def test_figures_of_a_run_have_no_more_than_a_body(daemon):
    sandbox, access = create(daemon, templateID="plots")
    code = "import numpy, matplotlib.pyplot as plt\nfor size in (700, 5):\n    plt.imsave(f'{size}.png', numpy.random.rand(size, size, 3))"
    code += "\n    plt.figure(figsize=(size / 100, size / 100)).figimage(numpy.random.rand(size, size, 3))\n    plt.show()"
    try:
        status, _, lines = ask(daemon, "POST", "/execute", {"code": code}, raw=True, **access)
        found = [json.loads(line) for line in lines.splitlines()]
        sizes = [len(line["png"]) for line in found if "png" in line]
        assert status == 200 and len(sizes) == 1 and sizes[0] < 1 << 16, (sizes, [line for line in found if "png" not in line])
    finally:
        assert ask(daemon, "DELETE", f"/sandboxes/{sandbox}", X_API_Key=TOKEN)[0] == 204


# ---- commands ----

def test_commands_run_where_the_policy_has_them(daemon, client):
    seen = play(daemon, client, "commands")
    assert (seen["run"]["exitCode"], seen["run"]["stdout"], seen["run"]["stderr"]) == (0, "2\n/output\n", "sandbox mine\n"), seen
    assert "".join(seen["chunks"]) == "2\n/output\n" and (seen["inside"], seen["absolute"]) == ("/output/d\n", "/tmp\n")
    assert (seen["made"], "".join(seen["bash"]), seen["bytes"]) == ("made\\n", "42\n", "\u00e9\ufffd"), seen
    assert seen["fails"] == {"name": "CommandExitError", "code": 3, "stderr": "bad\n"}
    assert seen["late"]["name"] == "TimeoutError" and seen["left"] and "returned" not in seen["cwd"], seen
    assert "no terminals" in seen["terminal"]["message"], seen["terminal"]
    assert 1 << 18 < seen["flood"]["bytes"] < 1 << 20 and "the rest of stdout is left out" in seen["flood"]["stderr"], seen["flood"]


def test_commands_go_on_beside_code(daemon, client):
    seen = play(daemon, client, "background")
    assert seen["list"] == [[True, "/bin/bash", 3]] * 2 and seen["beside"] == "42", seen
    assert seen["ended"]["stdout"] == "got one\ngot two\nover\n" and seen["connected"]["stdout"] == "got two\nover\n", seen
    assert (seen["killed"], seen["left"]) == ([True, -1, False], []), seen
    assert "commands go on" in seen["paused"]["message"], seen["paused"]
    assert [gone["name"] for gone in seen["gone"]] == ["NotFoundError"] * 2 and "returned" not in seen["over"], seen


def test_without_commands_they_are_refused(daemon, client):
    seen = play(daemon, client, "without")
    assert "commands.allow" in seen["run"]["message"] and "commands.allow" in seen["bash"]["value"], seen


# ---- what is refused ----


def message(text):
    """One message of Connect."""
    return bytes(5) if text is None else b"\0" + len(text).to_bytes(4, "big") + text


# Requests to a sandbox that are wrong, and the status of each: an error in a stream has 200.
BROKEN = [
    *(("POST", f"/filesystem.Filesystem/{name}", body, 400) for name in ("Stat", "ListDir", "MakeDir", "Move", "Remove")
      for body in (b"{", b"[]", b'{"path": 1, "source": 1}', b'{"path": "../x", "source": "../x", "destination": "y"}')),
    ("POST", "/filesystem.Filesystem/ListDir", b'{"path": ".", "depth": 100000}', 400), ("POST", "/filesystem.Filesystem/Stat", b'{"path": "nothing"}', 404),
    *(("POST", path, body, 400) for path in ("/filesystem.Filesystem/WatchDir", "/process.Process/Start", "/process.Process/Connect")
      for body in (b"", b"{}", b"\1\0\0\0\0", b"\0\xff\xff\xff\xff{}", message(b"{"), message(b"[]"), message(b'{"path": 7, "process": 7}'))),
    ("POST", "/process.Process/Connect", message(b'{"process": {"pid": 999}}'), 404),
    *(("POST", f"/process.Process/{name}", body, status) for name in ("SendInput", "CloseStdin", "SendSignal")
      for body, status in ((b"{", 400), (b"[]", 400), (b"{}", 400), (b'{"process": {"pid": "x"}}', 400), (b'{"process": {"pid": 999}}', 404))),
    ("POST", "/files", b"", 400), ("POST", "/files?path=../x", b"1", 400), ("POST", "/files?path=/etc/x", b"1", 400), ("GET", "/files", None, 400),
    ("GET", "/files?path=nothing", None, 404), ("GET", "/files?path=..", None, 400), ("GET", "/files?path=.", None, 400)]

API = [("GET", "/sandboxes"), ("GET", "/v2/sandboxes"), ("POST", "/sandboxes"), ("POST", "/v2/sandboxes"), ("GET", "/sandboxes/{}"), ("DELETE", "/sandboxes/{}"),
       *(("POST", f"/sandboxes/{{}}/{name}") for name in ("timeout", "pause", "resume", "connect")), ("POST", "/v2/sandboxes/{}/connect")]
INSIDE = [("POST", "/execute"), ("GET", "/contexts"), ("POST", "/contexts"), ("DELETE", "/contexts/x"), ("POST", "/contexts/x/restart"), ("GET", "/health"), ("GET", "/files?path=x"),
          ("POST", "/files?path=x"), *(("POST", f"/filesystem.Filesystem/{name}") for name in ("Stat", "ListDir", "MakeDir", "Move", "Remove", "CreateWatcher", "GetWatcherEvents", "RemoveWatcher")),
          *(("POST", f"/process.Process/{name}") for name in ("List", "SendInput", "CloseStdin", "SendSignal"))]


def test_without_a_token_there_is_nothing(daemon):
    one, access = create(daemon)
    two, _ = create(daemon, OTHER)
    try:
        for method, path in API:
            for headers in ({}, {"X_API_Key": "wrong"}):
                status, _, answer = ask(daemon, method, path.format(one), b"{}" if method == "POST" else None, **headers)
                assert (status, answer["code"]) == (401, 401) and "X-API-Key" in answer["message"], (method, path, answer)
        local = daemon.connect()
        local.request("GET", "/sandboxes", None, {"X-API-Key": "wrong"})  # a wrong token is no lack of a tenant for the user of the socket
        answer = local.getresponse()
        assert answer.status == 401 and b"X-API-Key" in answer.read()
        local.close()
        for method, path in INSIDE:
            for headers in ({}, {"E2b_Sandbox_Id": one}, {**access, "X_Access_Token": "0" * 64}, {**access, "E2b_Sandbox_Id": two}, {"X_API_Key": TOKEN}):
                status, _, answer = ask(daemon, method, path, b"{}" if path in ("/execute", "/contexts") and method == "POST" else None, **headers)
                assert status == 401 and "token" in answer["message"], (method, path, headers, answer)
    finally:
        for sandbox, token in ((one, TOKEN), (two, OTHER)):
            assert ask(daemon, "DELETE", f"/sandboxes/{sandbox}", X_API_Key=token)[0] == 204


def test_another_tenants_sandbox_is_none(daemon):
    other, _ = create(daemon, OTHER)
    try:
        for method, path in API[4:]:
            for sandbox in (other, "unknown", "20260101T000000Z-000000000000"):
                status, _, answer = ask(daemon, method, path.format(sandbox), b'{"timeout": 9}' if method == "POST" else None, X_API_Key=TOKEN)
                assert (status, answer["code"]) == (404, 404), (method, path, answer)
        assert ask(daemon, "GET", "/v2/sandboxes", X_API_Key=TOKEN)[2] == []
    finally:
        assert ask(daemon, "DELETE", f"/sandboxes/{other}", X_API_Key=OTHER)[0] == 204


@pytest.mark.parametrize("body, words", [
    (b"", None), (b"{", "request:1:2"), (b"[]", "expected an object"), (b'{"timeout": "x"}', "timeout: expected a number"), (b'{"timeout": -1}', "timeout: "),
    (b'{"timeout": 1e300}', "timeout: "), (b'{"templateID": 3}', "templateID: "), (b'{"metadata": {"a": 1}}', "a: expected a string"),
    (b'{"envVars": []}', "envVars: expected an object"), (b'{"metadata": {"": "x"}}', "labels"), (b'{"volumeMounts": [{"name": "../x", "path": "/d"}]}', "volumes"),
    (b'{"autoPause": true}', "autoPause: "), (b'{"templateID": "x"}', "not found"), (b'{"x": "' + b"y" * (1 << 20) + b'"}', "1048576"),
    (b'{"metadata": {"a": "\xff"}}', "request:1:"), (b'{"templateID": "base", "templateID": "base"}', "twice")])
def test_malformed_sandboxes_are_refused(daemon, body, words):
    status, _, answer = ask(daemon, "POST", "/v2/sandboxes", body, X_API_Key=TOKEN)
    if words is None:
        assert status == 201 and ask(daemon, "DELETE", f"/sandboxes/{answer['sandboxID']}", X_API_Key=TOKEN)[0] == 204
        return
    assert status == answer["code"] and status in (400, 404, 413) and words in answer["message"], answer
    assert ask(daemon, "GET", "/v2/sandboxes", X_API_Key=TOKEN)[2] == []


def test_malformed_requests_to_a_sandbox_are_refused(daemon):
    sandbox, access = create(daemon)
    host = {"Host": f"49999-{sandbox.lower()}.example.org", "X_Access_Token": access["X_Access_Token"]}
    try:
        for body, words in ((b"", "code: expected"), (b"{", "request:1:2"), (b"[]", "expected an object"), (b'{"code": 1}', "code: expected a string"),
                            (b'{"code": "1", "env_vars": {"A": 1}}', "A: expected a string"), (b'{"code": "1", "context_id": 7}', "context_id"),
                            (b'{"code": "' + b"x" * (1 << 20) + b'"}', "http.body")):
            status, _, answer = ask(daemon, "POST", "/execute", body, **access)
            assert status in (400, 413) and answer["code"] == status and words in answer["message"], (body[:40], answer)
        status, _, answer = ask(daemon, "POST", "/execute", {"code": "1", "env_vars": {"A=B": "c"}}, **access)  # the session refuses it
        assert status == 200 and answer["type"] == "error" and "'A=B': expected a name" in answer["value"], answer
        for name in ("timeout", "connect"):
            assert ask(daemon, "POST", f"/sandboxes/{sandbox}/{name}", b'{"timeout": []}', X_API_Key=TOKEN)[0] == 400
        assert ask(daemon, "POST", f"/sandboxes/{sandbox}/timeout", b"{}", X_API_Key=TOKEN)[0] == 400
        assert ask(daemon, "GET", "/v2/sandboxes?limit=x", X_API_Key=TOKEN)[0] == ask(daemon, "GET", "/v2/sandboxes?misspelt=1", X_API_Key=TOKEN)[0] == 400
        status, headers, _ = ask(daemon, "PUT", "/sandboxes", b"{}", X_API_Key=TOKEN)
        assert (status, headers["Allow"]) == (405, "GET, HEAD, POST")
        assert ask(daemon, "GET", f"/sandboxes/{sandbox}/metrics", X_API_Key=TOKEN)[0] == 501
        for name, body in (("Remove", {"path": "/home/user"}), ("Move", {"source": "~", "destination": "x"})):
            status, _, answer = ask(daemon, "POST", f"/filesystem.Filesystem/{name}", body, **access)
            assert status == 400 and answer["message"] == "/output: the working directory itself cannot be removed or moved", answer
        for method, path, body, status in BROKEN:
            kind = {"Content_Type": "application/connect+json"} if path.endswith(("Dir", "Start", "/Connect")) and "List" not in path and "Make" not in path else {}
            answer = ask(daemon, method, path, body, raw=bool(kind), **access, **kind)
            text = answer[2][5:] if kind else json.dumps(answer[2])
            assert answer[0] == (200 if kind else status) and ("error" if kind else "message") in json.loads(text), (path, body[:40] if body else "", answer)
            assert (b"invalid_argument" if status == 400 else b"not_found" if status == 404 else b"") in (answer[2] if kind else text.encode()) or "/files" in path, answer
        assert ask(daemon, "GET", "/contexts", **host)[2] == [{"id": sandbox, "language": "python", "cwd": "/output"}]  # found by the host's name
    finally:
        assert ask(daemon, "DELETE", f"/sandboxes/{sandbox}", X_API_Key=TOKEN)[0] == 204


def test_it_is_off_unless_a_policy_is_named():
    with daemons.Daemon(config={"workers": 1}) as daemon:
        for method, path in API + INSIDE:
            connection = daemon.connect()
            connection.request(method, path.format("x"), b"{}" if method == "POST" else None)
            assert connection.getresponse().status == 404, (method, path)
            connection.close()
