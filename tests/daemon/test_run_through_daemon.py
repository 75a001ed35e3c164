"""hotcell run through a daemon: the same command, the same results, in a cell that was waiting; and daemons that lie."""

import hashlib
import json
import os
import signal
import socket

import cells
import daemons
import impostors
import pytest


@pytest.fixture(name="daemon", scope="module")
def module_daemon(daemons_user):
    with daemons.Daemon(daemons_user, config={"workers": 2}) as d:
        yield d
        assert d.end() == 0, d.log


def run(daemon, code, *options, start=cells.run, **more):
    """In the daemon; `options` as of cells.run."""
    return start(code, "-t", "base", *options, tree=None, user=daemon.user, env={"HOTCELL_SOCKET": str(daemon.socket)}, **more)


def cold(daemon, code, *options):
    return cells.run(code, *options, user=daemon.user)


PROGRAMS = {
    "output": "import os, sys\nprint('one')\nprint('two', file=sys.stderr)\nos.makedirs('d/é')\nopen('d/é/f x.bin', 'wb').write(bytes(range(256)))\n6 * 7",
    "error": "print('before', flush=True)\nraise ValueError('no')",
    "syntax": "x = = 1",
    "rejected": "import subprocess as s; s",
    "limit": "open('kept', 'w').write('x')\nwhile True: pass",
    "exit": "raise SystemExit(5)",
    "odd name": "open('a\\nb', 'w').write('x')",
    "no text": "import os, warnings\nprint('a\\0b')\nos.write(2, b'\\0\\xff\\n')\nwarnings.warn('\\0')\n'\\0'",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_job_ends_as_it_does_without_a_daemon(daemon, name):
    # Without time to end by itself, which one of the two could need more of than the other has.
    options = ["--timeout=2", "--grace=0"] if name == "limit" else []
    warm, other = [one(daemon, PROGRAMS[name], "--label", "k=v", *options) for one in (run, cold)]
    assert (warm.status, warm.stdout, warm.stderr, warm.files()) == (other.status, other.stdout, other.stderr, other.files()), warm
    for member in ("status", "exit_code", "reason", "rejection", "guest", "labels", "stdout", "stderr", "files", "figures", "partial"):
        assert warm.manifest[member] == other.manifest[member], member
    for path in warm.files():
        assert (warm.output / path).read_bytes() == (other.output / path).read_bytes()
        assert (warm.output / path).stat().st_mode == (other.output / path).stat().st_mode


# A report as deep as `depth`, by the interpreter's own channel, as a hostile program would send it.
DEEP = """
import os, struct, time
body = b'{"results": ' + b"[" * depth + b"]" * depth + b"}"
os.write(3, struct.pack("=BBHI", 5, 1, 0, len(body)) + body)
time.sleep(1000)
"""


@pytest.mark.parametrize("depth, kept", [(54, True), (62, False)])
def test_no_report_is_too_deep_for_who_reads_it(daemon, depth, kept):
    """Of one that is, its manifest says so, and who waits for the manifest gets it."""
    result = run(daemon, f"depth = {depth}\n{DEEP}", "--policy=none", "--timeout=1s", "--grace=0")
    assert result.status in (1, 3), result
    assert bool(result.manifest["guest"] and result.manifest["guest"]["results"]) is kept, result
    assert kept or any("nested deeper" in line for line in result.manifest["warnings"]), result


def test_what_the_command_line_says_goes_along(daemon):
    text, raw = daemon.directory / "sales.txt", daemon.directory / "raw.bin"
    text.write_text("a,b\n1,é\n")
    raw.write_bytes(bytes(range(256)))
    code = "print(open('/input/t.txt').read(), n, sum(open('/input/r.bin', 'rb').read()))\nx = [n, 2]"
    result = run(daemon, code, "--input", f"t={text}", "--input", f"r={raw}", "--var", "n=1.50", "--return", "x=json", "--seed", "7",
                 "--persist-code", "--stdout-size", "64K", "--pids", "10", "--policy", "none")
    assert (result.status, result.stdout) == (0, "a,b\n1,é\n 1.5 32640\n"), result
    manifest = result.manifest
    assert manifest["guest"]["returned"]["x"]["json"] == [1.5, 2]
    assert (manifest["limits"]["stdout"], manifest["limits"]["pids"], manifest["policy"]["name"]) == (65536, 10, "none")
    assert {one["name"]: one["file"] for one in manifest["inputs"]} == {"t": "sales.txt", "r": "raw.bin"}
    kept = result.output / manifest["code_path"]
    assert "print(open(" in kept.read_text() and json.loads(kept.with_suffix(".json").read_text())["job_id"] == manifest["job_id"]


def test_a_command_is_saved_as_json_beside_its_record(daemon, shell_tree):
    del shell_tree
    bounds = {} if cells.counts_memory(daemon.user) else {"limits": {"enforcement": "rlimits"}}
    policy = {"extends": "shell", **bounds}
    folder = cells.new_directory(daemon.user)
    (folder / "commands.json").write_text(json.dumps(policy))
    spec = json.dumps({"command": ["echo", "hi"], "policy": "commands", "persist_code": True, "output_dir": "saved"})
    with daemons.Daemon(daemon.user, base=False, env={"HOTCELL_POLICIES": str(folder)}) as d:
        result = cells.hotcell("run", "--warm", "--spec", "-", user=d.user, cwd=d.directory, stdin=None, input=spec, env={"HOTCELL_SOCKET": str(d.socket)})
        assert (result.returncode, result.stdout) == (0, "hi\n"), result
    saved, = (d.directory / "saved/code").glob("*.command.json")
    record, = set((d.directory / "saved/code").iterdir()) - {saved}
    assert json.loads(saved.read_text()) == ["echo", "hi"] and record.name == saved.name.replace(".command", ""), record
    assert json.loads(record.read_text())["code"]["command"] is True


def test_a_spec_and_json_and_the_default_place(daemon):
    spec = json.dumps({"code": "open('f', 'w').write('x')\nn + 1", "vars": {"n": 41}, "tree": "base", "limits": {"timeout": "9s"}})
    result = cells.hotcell("run", "--warm", "--json", "--spec", "-", user=daemon.user, cwd=daemon.directory, stdin=None, input=spec,
                           env={"HOTCELL_SOCKET": str(daemon.socket)})
    manifest = json.loads(result.stdout)
    assert (result.returncode, manifest["guest"]["value"]["application/json"], manifest["limits"]["timeout"]) == (0, 42, 9), result
    place = daemon.directory / "hotcell-output" / manifest["job_id"]
    assert (place / "f").read_text() == "x" and (place / "manifest.json").read_text() == result.stdout


def test_steps_of_a_session_are_directories(daemon):
    result = run(daemon, "open('f', 'w').write('x')", "--session", "s", "--step", "1")
    assert (result.status, result.files()) == (0, ["s/.hotcell-session", "s/1/f", "s/1/manifest.json"]), result


def test_output_passes_as_it_comes_and_a_signal_cancels(daemon):
    with run(daemon, "import time\nprint('up', flush=True)\ntime.sleep(100)", "--timeout=100", start=cells.start) as job:
        assert job.read_line() == "up"
        job.signal(signal.SIGINT)
        result = job.finish()
    assert result.status == -signal.SIGINT and result.manifest["status"] == "killed", result


def test_a_signal_ends_it_whose_output_nobody_reads(daemon):
    with run(daemon, "while True: print('x' * 1000)", "--timeout=100", "--stdout-size", "4M", start=cells.start) as job:
        assert job.read_line() == "x" * 1000
        job.signal(signal.SIGTERM)
        assert job.wait() == -signal.SIGTERM


def test_a_reader_that_goes_away_is_no_failure(daemon):
    with run(daemon, "print('up', flush=True)\nfor _ in range(1000): print('x' * 1000)", start=cells.start) as job:
        job.read_line()
        job.process.stdout.close()
        assert job.wait() == 0


REFUSED = [
    (["--policy", "./none.json"], 64, "--policy: not for a job that a daemon runs: it has its policies by their names"),
    (["--tree", "/somewhere"], 64, "--tree"), (["--guard", "off"], 64, "--guard"), (["--tenant", "x"], 64, "--tenant"),
    (["--job-id", "x"], 64, "--job-id"), (["--sign", "key"], 64, "--sign"),
    (["--policy", "nothing"], 78, "there is no policy 'nothing'"), (["--input", "x=/nothing"], 65, "input 'x'"),
    (["--tree", "nothing"], 78, "there is no tree 'nothing' here"), (["--warm=perhaps"], 64, "--warm: expected yes, no or try, got 'perhaps'"),
]


@pytest.mark.parametrize("options, status, message", REFUSED, ids=lambda value: value[0] if isinstance(value, list) else None)
def test_what_a_daemon_does_not_take_is_named(daemon, options, status, message):
    result = run(daemon, "1", *options)
    assert result.status == status and message in result.stderr and result.stderr.count("\n") == 1, result


def test_without_a_daemon(user):
    env = {"HOTCELL_SOCKET": str(cells.new_directory(user) / "none")}
    result = cells.run("1", "--warm", user=user, env=env)
    assert result.status == 64, result  # base is given by its path
    result = cells.run("1", "--warm", tree=None, user=user, env=env)
    assert result.status == 69 and "No such file or directory: start hotcelld(8)" in result.stderr, result
    for option in ("--warm=try", "--warm=no"):
        result = cells.run("print(1)", option, user=user, env=env)
        assert (result.status, result.stdout, result.stderr) == (0, "1\n", ""), result
    for place in ("http://nowhere", "http://localhost:65536", "http://localhost:0", "ftp://localhost:80"):
        result = cells.run("print(1)", "--warm", tree=None, user=user, env={"HOTCELL_SOCKET": place})
        assert result.status == 64 and f"with /PREFIX behind it or without, got '{place}'" in result.stderr, result
    for place in ("127.0.0.1:1", "localhost:8080", "[::1]:80"):
        result = cells.run("print(1)", "--warm", tree=None, user=user, env={"HOTCELL_SOCKET": place})
        assert result.status == 64 and f"got '{place}': did you mean http://{place}?" in result.stderr, result
    result = cells.run("print(1)", "--warm", tree=None, user=user, env={"HOTCELL_SOCKET": "./127.0.0.1:1"})
    assert result.status == 69 and "No such file or directory" in result.stderr, result


def test_who_may_not_connect_is_not_told_to_start_another():
    cells.need_root()
    with daemons.Daemon() as d:
        d.directory.chmod(0o711)
        result = cells.run("1", "--warm", tree=None, user=cells.ordinary(), env={"HOTCELL_SOCKET": str(d.socket)})
        assert result.status == 69 and "Permission denied: socket.mode and socket.group of hotcelld.conf(5)" in result.stderr, result


def test_results_that_could_not_be_put_anywhere_are_not_computed(daemon):
    directory = cells.new_directory(daemon.user)
    (directory / "file").touch()
    for place, why in (("file", "Not a directory"), ("no/parent", "No such file or directory")):
        result = run(daemon, "print(1)", f"--output={directory / place}")
        assert (result.status, result.stdout) == (65, "") and why in result.stderr, result


def test_a_try_runs_here_what_the_daemon_cannot_take(daemon):
    result = run(daemon, "print(tools.eight())", "--warm=try", "--tool", "eight=/bin/echo 8", "--guard", "off")
    assert (result.status, result.stdout) == (0, "8\n") and result.manifest["tenant"] is None, result


TOOLS = """
import threading
print(tools.back(a=[1, 'é'], b=None), tools.eight())
for bad in (tools.fails, tools.hangs, tools.mute, tools.typed):
    try: print(bad())
    except ToolError as error: print('failed:', error)
threads = [threading.Thread(target=tools.slow) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(tools.long()))
"""


def test_tools_are_commands_of_this_host(daemon):
    spec = cells.new_directory(daemon.user) / "spec"
    spec.write_text(json.dumps({"code": TOOLS, "tree": "base", "limits": {"timeout": 60 * cells.SLOWNESS}, "tools": {
        "typed": {"parameters": {"type": "object", "required": ["x"]}}, "hangs": {"timeout": "300ms"}}}))
    options = ["--tool", "back=sh -c 'sed s/^.*arguments.:// | sed s/.$//'", "--tool", "eight=/bin/echo 8", "--tool", "fails=sh -c 'echo no >&2; exit 3'",
               "--tool", "hangs=sleep 100", "--tool", "mute=true", "--tool", "typed=true", "--tool", "slow=sleep 0.2",
               "--tool", "long=sh -c 'printf \\\"; head -c 300000 /dev/zero | tr \\\\0 x; printf \\\"'"]
    job = [cells.run(None, "--spec", str(spec), *options, tree=None, user=daemon.user, env=env)
           for env in ({"HOTCELL_SOCKET": str(daemon.socket)}, {})]
    assert job[0].status == 0 and job[0].stdout == job[1].stdout, job
    assert job[0].stdout.startswith("{'a': [1, 'é'], 'b': None} 8\nfailed: no\nfailed: ") and job[0].stdout.endswith("\n300000\n"), job[0]
    assert [(c["name"], c["status"]) for c in job[0].manifest["tools"]] == [(c["name"], c["status"]) for c in job[1].manifest["tools"]]


def test_tools_are_answered_by_a_client(daemon):
    spec = cells.new_directory(daemon.user) / "spec"
    spec.write_text(json.dumps({"code": "print(tools.double(n=4))", "tree": "base", "tools": {"double": {}}}))
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.makefile("rw", newline="\n") as stream:
        with cells.start(None, "--spec", str(spec), "--tool-fd", str(theirs.fileno()), tree=None, user=daemon.user,
                         env={"HOTCELL_SOCKET": str(daemon.socket)}, popen={"pass_fds": [theirs.fileno()]}) as job:
            call = json.loads(stream.readline())
            stream.write(json.dumps({"id": call["id"], "value": call["arguments"]["n"] * 2}) + "\n")
            stream.flush()
            result = job.finish()
    assert (result.status, result.stdout, call["name"]) == (0, "8\n", "double"), result


HASH = "import hashlib\nprint(hashlib.sha256(open({name}, 'rb').read()).hexdigest())"


def test_a_large_input_goes_before_the_job_in_parts(daemon):
    """85 MB are more than one body may have."""
    folder = cells.new_directory(daemon.user)
    data = os.urandom(1 << 20) * 85 + b"end"
    (folder / "big.bin").write_bytes(data)
    result = run(daemon, HASH.format(name="d"), "--input", f"d:raw={folder}/big.bin", "--memory=1G", "--timeout=60")
    assert (result.status, result.stdout) == (0, hashlib.sha256(data).hexdigest() + "\n"), result
    assert daemon.get("/v1/uploads").json["uploads"] == []  # none is left


def test_inputs_that_are_small_each_go_before_a_body_that_they_make_too_large(daemon):
    folder, options = cells.new_directory(daemon.user), []
    for i in range(12):
        (folder / f"f{i}.txt").write_text(f"{i}" + "x" * (7 << 20))
        options += ["--input", f"d{i}={folder}/f{i}.txt"]
    result = run(daemon, "print(*(open(d).read(2) for d in (d0, d5, d11)))", *options, "--memory=1G", "--timeout=60")
    assert (result.status, result.stdout) == (0, "0x 5x 11\n"), result


def test_what_is_too_large_for_a_daemon_is_refused_by_its_limit(user):
    with daemons.Daemon(user, config={"http": {"body": "1M"}, "quotas": {"stored_bytes": "12M"}}) as d:
        folder = cells.new_directory(user)
        for name, size in (("a", 2), ("b", 20)):
            (folder / name).write_bytes(b"x" * (size << 20))
        body = run(d, "1", "--input", f"d={folder}/a")
        assert body.status == 65 and "http.body" in body.stderr and "UPLOADS" in body.stderr, body
        part = run(d, "1", "--input", f"d={folder}/b")
        assert part.status == 65 and "input 'd'" in part.stderr and "http.body" in part.stderr, part
        assert d.get("/v1/uploads").json["uploads"] == []
    with daemons.Daemon(user, config={"quotas": {"stored_bytes": "12M"}}) as d:
        quota = run(d, "1", "--input", f"d={folder}/b")
        assert quota.status in (65, 69) and "stored_bytes" in quota.stderr, quota


def test_tools_that_nobody_answers_are_refused(daemon):
    result = run(daemon, "1", "--tool", "t=/nothing/there")
    assert result.status == 78 and "'/nothing/there' is no program that can be started" in result.stderr, result


def test_an_answer_that_the_daemon_does_not_take_fails_its_call(user):
    """And the user is told, once; the program does not wait until the call's time is up."""
    with daemons.Daemon(user, config={"http": {"body": "16K"}}) as d:
        code = "for _ in range(2):\n    try: tools.long()\n    except ToolError as error: print(error)\nprint(tools.short())"
        result = run(d, code, "--tool", "long=sh -c 'printf \\\"; head -c 30000 /dev/zero | tr \\\\0 x; printf \\\"'", "--tool", "short=/bin/echo 8")
    why = "hotcelld: a body of 30013 bytes, and at most 16384 are taken"
    assert (result.status, result.stdout) == (0, f"{why}\n{why}\n8\n"), result
    assert result.stderr == f"hotcell: the answer of a tool was not taken: {why}\n", result


def test_a_daemon_that_dies_leaves_an_unknown_outcome(user):
    with daemons.Daemon(user) as d:
        with run(d, "import time\nprint('up', flush=True)\ntime.sleep(100)", "--timeout=100", start=cells.start) as job:
            job.read_line()
            d.process.kill()
            d.process.wait()
            result = job.finish()
    assert result.status == 70 and "what became of the job is not known" in result.stderr, result


def test_over_tcp_with_a_token(user):
    directory = cells.new_directory(user)
    token = directory / "tokens"
    token.write_text(hashlib.sha256(b"secret").hexdigest() + " team\n")
    os.chown(token, user.uid, -1)
    token.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = {"listen": [{"address": "127.0.0.1", "port": port}], "tokens": str(token), "tenants": {"team": {}}}
    with daemons.Daemon(user, config=config) as daemon:
        assert f", 127.0.0.1 port {port}" in daemon.log
        env = {"HOTCELL_SOCKET": f"http://127.0.0.1:{port}", "HOTCELL_TOKEN": "secret"}
        result = cells.run("open('f', 'w').write('x')", "-t", "base", tree=None, user=user, env=env)
        assert (result.status, result.manifest["tenant"], result.files()) == (0, "team", ["f"]), result
        result = cells.run("1", "-t", "base", tree=None, user=user, env={**env, "HOTCELL_TOKEN": "wrong"})
        assert result.status == 78 and "HOTCELL_TOKEN" in result.stderr, result


# ---- a daemon that is none ----

@pytest.mark.parametrize("name", impostors.LIES)
def test_nothing_that_a_daemon_says_is_believed(name):
    answers, message = impostors.LIES[name]
    outside = cells.new_directory(cells.caller())
    with impostors.impostor(answers) as directory:
        (directory / "out").mkdir()
        (directory / "out" / "link").symlink_to(outside)
        result = cells.run("1", tree=None, cwd=directory, env={"HOTCELL_SOCKET": str(directory / "socket")})
        assert result.status == 70 and message in result.stderr, result
        assert sorted(os.listdir(directory / "out")) == ["link"] and not os.listdir(outside)
        assert sorted(os.listdir(directory)) == ["out", "socket"]
