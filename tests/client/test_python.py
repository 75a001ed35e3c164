"""The Python package: one call, one cell; what comes back, what is raised, what is left behind."""

import asyncio
import concurrent.futures
import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import cells
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402

pytestmark = pytest.mark.usefixtures("base_tree", "in_scratch")


@pytest.fixture
def in_scratch(monkeypatch):
    """A directory of its own for each test, and the command that is tested."""
    directory = cells.new_directory(cells.caller())
    monkeypatch.chdir(directory)
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    (directory / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(directory / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)  # looked for again
    return directory


def run(code, **options):
    return hotcell.run(code, **{"tree": "base", "timeout": 10 * cells.SLOWNESS, "memory": "256M", **options})


# ---- what comes back ----

def test_value_text_and_usage():
    result = run("print('hello'); {'a': [1, 2.5, None]}")
    assert result.ok and result.status == "ok" and result.exit_code == 0 and result.reason is None
    assert result.text == "hello\n" and str(result.stdout) == "hello\n" and result.stdout.bytes == 6
    assert result.value == {"a": [1, 2.5, None]}
    assert result.usage.wall > 0 and result.usage.memory_peak > 0
    assert result.manifest["layers"]["seccomp"]["on"]


def test_value_that_is_no_json_is_its_repr():
    assert run("object").value == "<class 'object'>"
    assert run("x = 1").value is None


def test_an_exception_is_a_result():
    result = run("print('before'); 1/0")
    assert not result.ok and result.status == "error" and result.exit_code == 1
    assert result.error.type == "ZeroDivisionError" and result.error.message == "division by zero"
    assert "1/0" in result.error.traceback and result.text == "before\n"


@pytest.mark.parametrize(("code", "classes"), [
    ("1/0", ()), ("import json\njson.loads('[')", ("json.decoder.JSONDecodeError", "ValueError")), ("raise SystemExit('x')", ()),
    ("class Own(KeyError): pass\nclass Other(Own): pass\nraise Other", ("__main__.Other", "__main__.Own", "KeyError")),
    ("class Meta(type):\n    def __getattribute__(cls, name): return 5\nclass Own(Exception, metaclass=Meta): pass\nraise Own", ("__main__.Own", "Exception")),
    ("Own = type('Own', (Exception,), {'__module__': 5})\nraise Own", ("Own", "Exception")),
    ("Own = type('O' * 100_000, (Exception,), {})\nraise Own", ()), ("Own = type('\\ud800', (Exception,), {})\nraise Own", ()),
])
def test_the_classes_of_an_exception(code, classes):
    """The class and its bases up to a built-in one; () for a built-in class, and for names that are too long or no text."""
    result = run(code)
    assert result.status == "error" and (result.error.classes if result.error else ()) == classes


def test_check_raises_with_the_result():
    with pytest.raises(hotcell.JobError, match="ZeroDivisionError") as caught:
        run("1/0", check=True)
    assert caught.value.result.error.type == "ZeroDivisionError"
    assert run("1", check=True).ok


def test_a_refusal_and_a_limit_are_results():
    refused = run("x = = 1")
    assert refused.status == "rejected" and refused.rejection.rule == "syntax" and refused.rejection.line == 1
    ended = run("while True: pass", timeout=1)
    assert ended.status == "timeout" and ended.exit_code == 3 and "limits.timeout" in ended.reason


def test_files_are_read_by_their_hash(in_scratch):
    result = run("import os; os.mkdir('d'); open('d/x.txt', 'w').write('kept')", output_dir="out")
    assert [file.path for file in result.files] == ["d/x.txt"]
    assert result.output_dir == in_scratch / "out"
    assert result.file("d/x.txt").read() == b"kept"
    (in_scratch / "out/d/x.txt").write_text("KEPT")
    with pytest.raises(hotcell.TamperedError, match="d/x.txt"):
        result.file("d/x.txt").read()
    with pytest.raises(KeyError):
        result.file("y")


def test_a_file_that_became_a_link_is_not_followed(in_scratch):
    result = run("open('x', 'w').write('kept')", output_dir="out")
    (in_scratch / "out/x").unlink()
    (in_scratch / "other").write_text("kept")
    (in_scratch / "out/x").symlink_to(in_scratch / "other")
    with pytest.raises(OSError):
        result.file("x").read()


def test_a_name_that_is_no_text_is_found(in_scratch):
    result = run("open(b'\\xff\\\\x', 'w').write('kept')", output_dir="out")
    assert result.files[0].escaped and result.files[0].read() == b"kept"


def test_without_an_output_directory_nothing_is_left_behind(in_scratch):
    def left():
        return [path.name for path in (*in_scratch.iterdir(), *(in_scratch / "tmp").iterdir()) if path.name != "tmp"]
    assert run("1").output_dir is None and not left()
    result = run("open('x', 'w').write('kept')", persist_code=True)
    assert result.file("x").read() == b"kept" and (result.output_dir / "manifest.json").exists()
    file = result.file("x")
    del result
    assert file.read() == b"kept" and len(left()) == 1  # as long as somebody may read it
    del file
    assert not left()
    with run("open('x', 'w').write('kept')") as result:
        assert result.file("x").read() == b"kept"
    with pytest.raises(FileNotFoundError):
        result.file("x").read()
    assert not left()
    with pytest.raises(hotcell.InputError):
        run("1", inputs={"x": "/no/such"})
    assert not left()


def test_a_temporary_directory_goes_with_its_process_alone(in_scratch):
    code = f"""if True:
    import copy, hotcell, os, pickle
    result = hotcell.run("open('x', 'w').write('kept')", tree={str(cells.tree_path("base"))!r}, memory="256M")
    if os.fork() == 0:
        raise SystemExit(0)
    os.wait()
    others = pickle.loads(pickle.dumps(result)), copy.deepcopy(result)
    assert all(other.file("x").read() == b"kept" for other in others), others
    del others
    print(result.file("x").read())
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=cells.PATIENCE,
                          env={**os.environ, "PYTHONPATH": str(Path(hotcell.__file__).parents[1])})
    assert (done.returncode, done.stdout) == (0, "b'kept'\n"), done
    assert not list((in_scratch / "tmp").iterdir())


def test_results_are_saved_where_they_are_wanted(in_scratch):
    result = run("import os; os.mkdir('d'); open('d/x.txt', 'w').write('kept')\nopen(b'\\xff', 'w').write('odd')", persist_code=True)
    (in_scratch / "saved").mkdir()
    (in_scratch / "saved" / "other").write_text("left alone")
    where = result.save("saved")
    result.close()
    assert where == in_scratch / "saved" and (where / "d" / "x.txt").read_text() == "kept" and (where / "other").exists()
    assert json.loads((where / "manifest.json").read_text())["job_id"] == result.job_id
    assert (where / result.manifest["code_path"]).exists() and (where / os.fsdecode(b"\xff")).read_text() == "odd"
    hotcell.verify(where / "manifest.json")
    with pytest.raises(hotcell.InputError):
        run("1").save("/dev/null/x")
    assert (run("1").save("alone") / "manifest.json").exists()


def test_where_nothing_can_be_written_a_job_has_its_results(in_scratch):
    """Even if the current directory is gone: only the temporary one is needed."""
    gone = in_scratch / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    assert run("open('x', 'w').write('kept')").file("x").read() == b"kept"


def test_limits_and_their_short_forms():
    def limits(**more):
        return hotcell.run("1", tree="base", **more).manifest["limits"]
    assert limits(limits={"memory": "300M", "timeout": 9})["memory"] == 300 << 20
    assert limits(limits={"timeout": "9s"})["timeout"] == 9
    assert limits(limits={"timeout": "9s"}, timeout=8)["timeout"] == 8


def test_request_reaches_the_manifest():
    result = run("import random; random.random()", seed=7, tenant="team", job_id="j", labels={"k": "v"},
                 limits={"pids": 9}, guard=False)
    again = run("import random; random.random()", seed=7)
    manifest = result.manifest
    assert (manifest["tenant"], manifest["job_id"], manifest["labels"]) == ("team", "j", {"k": "v"})
    assert manifest["limits"]["pids"] == 9 and manifest["limits"]["memory"] == 256 << 20
    assert result.value == again.value


def test_policy_as_a_dict_and_as_a_path(in_scratch):
    rules = {"name": "mine", "extends": "default", "env": {"TZ": "Europe/Berlin"}}
    assert run("import os; os.environ['TZ']", policy=rules).value == "Europe/Berlin"
    (in_scratch / "p.json").write_text(json.dumps(rules))
    assert run("1", policy=Path("p.json")).manifest["policy"]["name"] == "mine"


def test_persist_code():
    result = run("1 + 1", persist_code=True, output_dir="out")
    assert "1 + 1" in (result.output_dir / result.manifest["code_path"]).read_text()


# ---- what goes in ----

def test_variables_and_files(in_scratch):
    (in_scratch / "notes.txt").write_text("from a file")
    result = run("[n, s, deep, open(notes).read()]", inputs={"notes": "notes.txt"},
                 vars={"n": 3, "s": "ä\u2028'\"", "deep": {"x": [None, True]}})
    assert result.value == [3, "ä\u2028'\"", {"x": [None, True]}, "from a file"]


@pytest.mark.parametrize(("options", "error", "text"), [
    ({"memory": "1Q"}, hotcell.CommandError, '^limits.memory: expected a size such as "512M", got .1Q.$'),
    ({"policy": {"limits": {"memory": "1Q"}}}, hotcell.PolicyError, "^limits.memory: expected a size"),
    ({"policy": {"extnds": "default"}}, hotcell.PolicyError, "^policy: unknown member 'extnds'; did you mean 'extends'"),
    ({"policy": {"extends": "nope"}}, hotcell.PolicyError, "^policy: there is no policy 'nope'"),
    ({"env": {"A B": "1"}}, hotcell.CommandError, "^env: 'A B': expected a name"),
])
def test_messages_name_arguments_and_no_temporary_file(options, error, text):
    for call in (run, lambda code, **options: hotcell.Session(**options)):
        with pytest.raises(error, match=text):
            call("1", **options)


def test_volumes_are_of_daemons():
    for call in (lambda **options: run("1", **options), lambda **options: asyncio.run(hotcell.arun("1", **options)), hotcell.Session):
        with pytest.raises(TypeError, match="'volumes': volumes are of the tenants of hotcelld: give it to Daemon.run .* dirs="):
            call(volumes={"cache": "/data"})


@pytest.mark.parametrize(("options", "error", "text"), [
    ({"policy": "no-such"}, hotcell.PolicyError, "no policy 'no-such'"),
    ({"tree": "no-such"}, hotcell.LaunchFailed, "is not built"),
    ({"limits": {"zz": 1}}, hotcell.InputError, "^unknown member 'zz'"),  # no place in JSON that the caller has not written
    ({"limits": 5}, hotcell.InputError, "^limits: expected a mapping, names and values, got int$"),
    ({"limits": []}, hotcell.InputError, "^limits: expected a mapping"),
    ({"inputs": ["f"]}, hotcell.InputError, "^inputs: expected a mapping"),
    ({"returns": 5}, hotcell.InputError, "^returns: expected a list, got int$"),
    ({"tools": 5}, hotcell.InputError, "^tools: expected a list, got int$"),
    ({"policy": 5}, hotcell.InputError, "^policy: expected a name or a path, got int$"),
    ({"output_dir": 5}, hotcell.InputError, "^output_dir: expected a name or a path, got int$"),
    ({"socket": 5}, hotcell.InputError, "^socket: expected a name or a path, got int$"),
    ({"socket": "https://localhost:0"}, hotcell.UsageError, "expected a path, http://HOST:PORT or https://HOST:PORT"),
    ({"socket": "http://localhost:65536"}, hotcell.UsageError, "expected a path, http://HOST:PORT or https://HOST:PORT"),
    ({"socket": "localhost:1"}, hotcell.UsageError, "did you mean http://localhost:1\\?$"),
    ({"binary": 5}, hotcell.InputError, "^binary: expected a name or a path, got int$"),
    ({"inputs": {"f": "/no/such"}}, hotcell.InputError, "/no/such"),
    ({"inputs": {"f": 3}}, hotcell.InputError, "expected a path"),
    ({"vars": {"n": 1, "v": object()}}, hotcell.InputError, "^vars: v: object is not carried: convert it"),
    ({"vars": {"n": 1}, "labels": {"l": object()}}, hotcell.InputError, "^spec: object"),
    ({"vars": {"no name": 1}}, hotcell.InputError, "no name"),
    ({"tenant": "a b"}, hotcell.InputError, "tenant"),
    ({"sign": "/no/key"}, hotcell.PolicyError, "/no/key"),
    ({"output_dir": "/no/such/dir"}, hotcell.InputError, "/no/such"),
    ({"binary": "/no/hotcell"}, hotcell.NotInstalled, "/no/hotcell"),
    ({"binary": "/bin/false"}, hotcell.LaunchFailed, "status 1"),
])
def test_a_bad_request_raises(options, error, text):
    with pytest.raises(error, match=text) as caught:
        run("1", **options)
    assert isinstance(caught.value, hotcell.HotcellError)


def test_a_bad_check_raises():
    for options, text in (({"code": 5}, "^code: expected"), ({"code": "1", "inputs": 5}, "^inputs: expected a list, got int$")):
        with pytest.raises(hotcell.InputError, match=text):
            hotcell.check(**options)


def test_code_that_no_spec_can_hold():
    with pytest.raises(hotcell.InputError):
        run("'\ud800'")
    with pytest.raises(hotcell.InputError):
        run("1\0")


# ---- ends ----

def children():
    found = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has just ended
            found += (task / "children").read_text().split()
    return found


def test_arun_runs_several_at_once():
    async def all_of_them():
        return await asyncio.gather(*(hotcell.arun(f"{n} * 2", tree="base", memory="256M") for n in range(3)))
    assert [result.value for result in asyncio.run(all_of_them())] == [0, 2, 4]


def test_arun_in_another_thread_and_with_a_time_limit_of_the_callers():
    """The caller's limit cancels the wait; the job would run longer than this test may."""
    async def limited():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(hotcell.arun("while True: pass", tree="base", timeout=3600), 0.5)
        return (await hotcell.arun("6 * 7", tree="base")).value

    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        assert threads.submit(asyncio.run, limited()).result() == 42
    assert not children() and not os.listdir("tmp")


def test_a_cancelled_task_leaves_nothing(in_scratch):
    """The program says that it runs through a file in a directory that both sides see."""
    before = children()

    async def cancel():
        rules = {"name": "bound", "extends": "default", "output": {"mode": "bind"}}
        task = asyncio.ensure_future(hotcell.arun(
            "open('started', 'w').close()\nwhile True: pass", tree="base", memory="256M", output_dir="out", policy=rules))
        while not (in_scratch / "out/started").exists() and not task.done():
            await asyncio.sleep(0.01)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return task.cancelled()

    assert asyncio.run(cancel())
    assert json.loads((in_scratch / "out/manifest.json").read_text())["status"] == "killed"
    assert children() == before and not os.listdir("tmp")


def test_ctrl_c_leaves_nothing(in_scratch):
    script = in_scratch / "caller.py"
    script.write_text(
        "import hotcell\n"
        "rules = {'name': 'bound', 'extends': 'default', 'output': {'mode': 'bind'}}\n"
        "try:\n"
        "    hotcell.run('open(\"started\", \"w\").close()\\nwhile True: pass', tree='base', memory='256M',\n"
        "                output_dir='out', policy=rules)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, start_new_session=True,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE)}) as caller:
        cells.wait_until("the program runs", (in_scratch / "out/started").exists, 30 * cells.SLOWNESS)
        caller.send_signal(signal.SIGINT)
        assert caller.communicate(timeout=cells.PATIENCE)[0] == "interrupted\n"
    assert json.loads((in_scratch / "out/manifest.json").read_text())["status"] == "killed"
    assert not os.listdir("tmp")


def test_signature_is_verified(in_scratch):
    key = in_scratch / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    result = run("open('x', 'w').write('kept')", output_dir="out", sign=key)
    manifest = result.output_dir / "manifest.json"
    hotcell.verify(manifest, sign=key)
    manifest.write_text(manifest.read_text().replace('"status": "ok"', '"status": "error"'))
    with pytest.raises(hotcell.TamperedError):
        hotcell.verify(manifest, sign=key)
    with pytest.raises(hotcell.InputError):
        hotcell.verify(key)


# ---- the package ----

def test_the_command_is_found(in_scratch, monkeypatch):
    monkeypatch.delenv("HOTCELL")
    monkeypatch.setenv("PATH", str(cells.BUILD))
    assert hotcell.find_binary() == str(cells.HOTCELL)
    monkeypatch.setenv("HOTCELL", "/no/such")
    with pytest.raises(hotcell.NotInstalled, match="HOTCELL"):
        hotcell.find_binary()
    assert hotcell.find_binary(cells.HOTCELL) == str(cells.HOTCELL)


def test_nothing_but_the_standard_library_is_needed():
    """-S: without site-packages."""
    done = subprocess.run([sys.executable, "-S", "-c", "import hotcell.adapters, hotcell.runner, sys; print(*sys.modules)"],
                          env={"PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not {"numpy", "pandas", "IPython"} & set(done.stdout.split())


def test_syntax_is_that_of_python_3_9():
    import ast
    for source in PACKAGE.rglob("*.py"):
        ast.parse(source.read_text(), feature_version=(3, 9))


# ---- frames and arrays: see test_values ----

def test_inputs_that_cannot_go_into_a_cell_are_refused():
    pd, np = cells.need_module("pandas"), cells.need_module("numpy")
    with pytest.raises(hotcell.InputError, match="inputs: a: object is not carried"):
        run("1", inputs={"a": np.array([object()])})
    with pytest.raises(hotcell.InputError, match="identifier"):
        run("1", inputs={"../a": pd.DataFrame()})
    with pytest.raises(hotcell.InputError, match="Series"):
        run("1", inputs={"a": [1]})


def test_arrays_and_returned_values():
    pd, np = cells.need_module("pandas"), cells.need_module("numpy")
    array = np.array([[0.1, np.nan], [1e300, -0.0]])
    result = run("import pandas as pd\ntwice = a * 2\nframe = pd.DataFrame({'s': ['007', 'x'], 'x': [0.1, 1/3]})\n"
                 "t, s, nan, text = (1, 2), {1}, float('nan'), 'x'\nhidden = object()", tree=None, memory="1G", output_dir="out",
                 inputs={"a": array}, returns=["twice", "frame", "t", "s", "nan", "text", "hidden", "missing"])
    returned = result.returned
    assert np.array_equal(returned["twice"], array * 2, equal_nan=True)
    assert list(returned["frame"].s) == ["007", "x"] and returned["frame"].x.tolist() == pytest.approx([0.1, 1 / 3], rel=1e-14)
    assert returned["t"] == (1, 2) and returned["s"] == {1} and returned["nan"] != returned["nan"] and returned["text"] == "x"
    assert set(returned) == {"twice", "frame", "t", "s", "nan", "text"}
    assert "variable" in returned.why("missing") and returned.why("text") is None
    with pytest.raises(KeyError, match="hidden"):
        returned["hidden"]
    (result.output_dir / "values" / "twice.npy").write_bytes(b"forged")
    with pytest.raises(hotcell.TamperedError):
        returned["twice"]


# ---- looking before running ----

def test_check_says_all_that_it_found():
    checked = hotcell.check("import socket\nprint(socket)\nimport subprocess\n", tree="base")
    assert not checked.safe and "socket" in checked.reason
    assert [(finding.line, finding.rule) for finding in checked.findings] == [(1, "imports"), (3, "imports")]
    assert checked.findings[0].column == 8 and checked.findings[0].hint
    assert hotcell.check("print(1)", tree="base") == hotcell.Check(True, None, (), (), {}, {
        "safe": True, "reason": None, "findings": [], "warnings": [], "columns": {}})


def test_check_runs_nothing():
    assert hotcell.check("while True: pass", tree="base").safe
    assert asyncio.run(hotcell.acheck("while True: pass", tree="base")).safe


def test_check_finds_columns_and_syntax():
    checked = hotcell.check("sales['units'] + sales.price", tree="base", inputs=["sales"])
    assert checked.safe and checked.columns == {"sales": ["units", "price"]}
    broken = hotcell.check("x = = 1", tree="base")
    assert not broken.safe and broken.findings[0].rule == "syntax" and broken.findings[0].line == 1
    assert not os.listdir("tmp")


def test_check_raises_for_a_bad_request():
    with pytest.raises(hotcell.PolicyError):
        hotcell.check("1", policy="no-such")
    with pytest.raises(hotcell.UsageError):
        hotcell.check("1", tree="")
    assert hotcell.check("", tree="base").safe


@pytest.mark.parametrize("asked", [hotcell.run, hotcell.check])
@pytest.mark.parametrize(("code", "message"), [("1\n\0", "code: line 2: contains a NUL byte"), ("1\nx = '\ud83d'", "code: line 2: contains half of a surrogate pair")])
def test_a_program_that_is_no_text_is_named_with_its_line(asked, code, message):
    with pytest.raises(hotcell.InputError, match=f"^{message}$"):
        asked(code, tree="base")


def test_findings_of_a_refused_run():
    result = run("import socket\nimport subprocess\nsocket, subprocess")
    assert result.status == "rejected" and result.rejection.rule == "imports" and result.rejection.hint
    assert [finding.line for finding in result.rejection.findings] == [1, 2]
    assert {denial.layer for denial in result.denials} == {"ast"} and all(denial.attested for denial in result.denials)


def test_denials_of_a_run():
    result = run("import os\ntry:\n    os.system('x')\nexcept PermissionError as error:\n    print(error)")
    assert result.ok and result.text
    denial, = result.denials
    assert denial.layer == "audit" and "os.system" in denial.rule + denial.what and not denial.attested and denial.line == 3


def test_sessions_and_steps(in_scratch):
    for step in ("one", "two"):
        result = run("open('x', 'w').write('kept')", output_dir="out", session="s", step=step)
        assert result.output_dir == in_scratch / "out" / "s" / step and result.file("x").read() == b"kept"
    with open(in_scratch / "out" / "s" / ".hotcell-session", "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(hotcell.InputError):
            run("1", output_dir="out", session="s", step="three")
    assert run("1", output_dir="out", session="s", step="three", wait=True).ok
    with pytest.raises(hotcell.UsageError):
        run("1", output_dir="out", session="s")


# ---- the caller is killed ----

CLIENT = """
import asyncio, sys, threading
import hotcell

def work(code, options):
    hotcell.run(code, **options)

async def main(code, options):
    await hotcell.arun(code, **options)

how, outlive, code = sys.argv[1:]
options = {"tree": "base", "timeout": 3000, "memory": "256M", "output_dir": "out", "policy": {"extends": "none", "output": {"mode": "bind"}},
           "outlive": outlive == "yes", "guard": False}
if how == "fork":  # a child that lives on must not keep the cell
    import os
    if os.fork() == 0:
        threading.Event().wait(100)
        os._exit(0)
if how == "async":
    asyncio.run(main(code, options))
elif how == "thread":
    thread = threading.Thread(target=work, args=(code, options))
    thread.start()
    thread.join()
else:
    work(code, options)
"""
WAITING = """
import os, time
open("/output/begun", "w").close()
while not os.path.exists("/output/go"):
    time.sleep(0.05)
"""


def start_client(how, outlive):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    client = subprocess.Popen([sys.executable, "-c", CLIENT, how, outlive, WAITING], env=environment)
    cells.wait_until("the program", Path("out/begun").exists, cells.PATIENCE)
    return client


def launcher_of(client):
    [launcher] = [pid for pid in children_of(client.pid) if Path(f"/proc/{pid}/comm").read_text() == "hotcell\n"]
    return launcher


def children_of(pid):
    return [int(child) for task in os.listdir(f"/proc/{pid}/task") for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]


def has_ended(pidfd):
    return bool(select.select([pidfd], [], [], cells.PATIENCE)[0])


@pytest.mark.parametrize("pidfd", ["pidfd", "pipe"])
@pytest.mark.parametrize("how", ["plain", "thread", "async", "fork"])
def test_a_cell_ends_with_a_caller_that_is_killed(in_scratch, how, pidfd, monkeypatch):
    if pidfd == "pipe":
        if how == "fork":
            pytest.skip("a pipe is held by such a child")
        (in_scratch / "sitecustomize.py").write_text("import os\ndel os.pidfd_open\n")
        monkeypatch.setattr(sys.modules[__name__], "PACKAGE", f"{PACKAGE}:{in_scratch}")
    client = start_client(how, "no")
    launcher = launcher_of(client)
    processes = [launcher, *children_of(launcher)]
    assert len(processes) > 1
    ends = [os.pidfd_open(pid) for pid in processes]
    forked = [os.pidfd_open(pid) for pid in children_of(client.pid) if pid != launcher]
    client.kill()
    client.wait()
    assert all(has_ended(end) for end in ends), "the cell goes on"
    for fd in forked:
        signal.pidfd_send_signal(fd, signal.SIGKILL)
    for fd in (*ends, *forked):
        os.close(fd)
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert (manifest["status"], manifest["reason"]) == ("killed", "cancelled from outside")


def test_a_cell_that_was_asked_to_outlives_its_caller(in_scratch):
    """Which also shows that nothing else ends it."""
    client = start_client("plain", "yes")
    launcher = os.pidfd_open(launcher_of(client))
    client.kill()
    client.wait()
    Path("out/go").write_text("")
    assert has_ended(launcher)
    os.close(launcher)
    assert json.loads(Path("out/manifest.json").read_text())["status"] == "ok"


def test_outlive_is_not_for_a_daemon(in_scratch):
    with pytest.raises(hotcell.UsageError, match="outlive"):
        hotcell.run("1", outlive=True, socket="nowhere")


@pytest.mark.parametrize("call, near", [(lambda: hotcell.run("1", timout=3), "timeout"), (lambda: hotcell.check("1", polcy="default"), "policy"),
                                        (lambda: hotcell.Session(memroy="1G"), "memory"), (lambda: asyncio.run(hotcell.arun("1", input_="x")), "input")])
def test_a_wrong_argument_names_the_near_one(call, near):
    with pytest.raises(TypeError, match=f"did you mean '{near}'"):
        call()


def test_what_was_changed_in_a_copy_is_there_without_an_output_directory():
    tmp_path = cells.new_directory(cells.caller())
    work = tmp_path / "work"
    work.mkdir()
    (work / "kept").write_text("before")
    result = hotcell.run(f"open('{work}/kept', 'w').write('after')", dirs=[{"host": work, "mode": "cow"}], binary=cells.HOTCELL)
    assert result.output_dir is not None and (work / "kept").read_text() == "before", result
    for directory in (result.output_dir, result.save(tmp_path / "saved")):
        shown = cells.hotcell("workspace", "diff", directory)
        assert shown.returncode == 0 and "M kept (6 -> 5 bytes)" in shown.stdout, shown
    result.save(tmp_path / "saved")  # once more, over what is there
    assert cells.hotcell("workspace", "commit", tmp_path / "saved").returncode == 0
    assert (work / "kept").read_text() == "after"
    result.close()
