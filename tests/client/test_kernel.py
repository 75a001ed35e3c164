"""hotcell kernel under the real jupyter_client, and notebooks that nbconvert executes."""

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import cells
import daemons
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))

DEBIANS = "/usr/bin/python3"  # which the kernel runs in
pytestmark = pytest.mark.usefixtures("base_tree")
BOUNDS = ("--timeout", f"{20 * cells.SLOWNESS:g}s", "--memory", "256M")


@pytest.fixture(name="jupyter", autouse=True)
def own_jupyter(monkeypatch, tmp_path):
    """Jupyter and its packages, with directories of the test's own."""
    cells.need_module("jupyter_client")
    if subprocess.run([DEBIANS, "-I", "-c", "import ipykernel.kernelbase"], capture_output=True, check=False).returncode:
        cells.skip("python3-ipykernel is not installed (scripts/deps)")
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for name in ("JUPYTER_PATH", "HOTCELL_SOCKET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(cells.new_directory(cells.caller()))


def kernel(*arguments):
    return subprocess.run([cells.HOTCELL, "kernel", *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def install(*options, name="test", status=0):
    done = kernel("--install", "--user", "--name", name, *options)
    assert done.returncode == status, done.stderr
    return done


class Notebook:
    """A kernel and its client."""

    def __init__(self, *options, mode="signal"):
        from jupyter_client.manager import KernelManager
        path = Path(install(*options).stdout.strip())
        spec = json.loads(path.read_text())
        path.write_text(json.dumps({**spec, "interrupt_mode": mode}))
        self.manager = KernelManager(kernel_name="test")
        self.manager.start_kernel()
        self.connect()

    def connect(self):
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=cells.PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel(now=True)

    def run(self, code, answers=(), on_message=None, **options):
        """The reply's content, and the messages [(type, content)] about the cell."""
        answers, messages = list(answers), []

        def hear(message):
            messages.append((message["header"]["msg_type"], message["content"]))
            if on_message:
                on_message(*messages[-1])

        def answer(message):
            messages.append(("input_request", message["content"]))
            self.client.input(answers.pop(0))
        reply = self.client.execute_interactive(code, allow_stdin=bool(answers), output_hook=hear, stdin_hook=answer, timeout=cells.PATIENCE, **options)
        return reply["content"], messages

    def value(self, code):
        return [content["data"]["text/plain"] for kind, content in self.run(code)[1] if kind == "execute_result"]


@pytest.fixture(name="notebook", params=["signal"])
def fixture_notebook(request):
    with Notebook("--tree", "base", *BOUNDS, mode=request.param) as notebook:
        yield notebook


def printed(messages, name):
    return "".join(content["text"] for kind, content in messages if kind == "stream" and content["name"] == name)


def kinds(messages):
    return [kind for kind, _ in messages if kind != "status"]


def test_a_cell_prints_shows_and_has_a_value(notebook):
    reply, messages = notebook.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\nx = 41\nx + 1")
    assert (reply["status"], reply["execution_count"]) == ("ok", 1)
    assert (printed(messages, "stdout"), printed(messages, "stderr")) == ("out\n", "err\n")
    assert messages[-2][0] == "execute_result" and messages[-2][1]["data"] == {"text/plain": "42"} and messages[-2][1]["execution_count"] == 1
    assert notebook.value("[x, {'a': 1}]") == ["[41, {'a': 1}]"] and notebook.value("None") == notebook.value("x + 1;\n") == [] and notebook.run("  \n")[0]["status"] == "ok"
    shown = [content["data"] for kind, content in notebook.run(
        "class H:\n    def _repr_html_(self): return '<b>1</b>'\ndisplay(H(), 'two')\ndisplay({'image/svg+xml': '<svg/>', 'no mime': 1}, raw=True)")[1] if kind == "display_data"]
    assert [shown[0]["text/html"], shown[1]["text/plain"], shown[2]["image/svg+xml"]] == ["<b>1</b>", "'two'", "<svg/>"] and "no mime" not in shown[2]


def test_output_comes_while_the_cell_runs(notebook):
    seen = []

    def stop(kind, content):
        if kind == "stream" and "ready" in content["text"]:
            seen.append(content["text"])
            notebook.manager.interrupt_kernel()
    reply, messages = notebook.run("x = 1\nprint('ready', flush=True)\nwhile True: pass", on_message=stop)
    assert seen and (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt") and notebook.value("x") == ["1"]
    assert kinds(messages).count("error") == 1


@pytest.mark.parametrize("notebook", ["message"], indirect=True)
def test_an_interrupt_may_be_a_message(notebook):
    test_output_comes_while_the_cell_runs(notebook)


def test_an_error_has_name_value_and_traceback_once(notebook):
    notebook.run("def f():\n    return 1 / 0")
    reply, messages = notebook.run("print('before')\nf()")
    error = dict(messages)["error"]
    assert (reply["ename"], reply["evalue"], reply["execution_count"]) == ("ZeroDivisionError", "division by zero", 2)
    assert error["traceback"] == reply["traceback"] and error["traceback"][0].startswith("Traceback") and error["traceback"][-1] == "ZeroDivisionError: division by zero"
    text = "\n".join(error["traceback"])
    assert 'File "Cell In[2]", line 2' in text and 'File "Cell In[1]", line 2' in text and "return 1 / 0" in text
    assert printed(messages, "stdout") == "before\n" and "Traceback" not in printed(messages, "stderr")
    reply, messages = notebook.run("def f(:")
    assert reply["ename"] == "SyntaxError" and "def f(:" in "\n".join(reply["traceback"]) and not printed(messages, "stderr")
    reply, _ = notebook.run("import sys\nsys.exit(3)")
    assert (reply["ename"], reply["evalue"]) == ("SystemExit", "3")
    reply, _ = notebook.run("(lambda: 0).__code__")
    assert reply["ename"] == "PolicyError" and "__code__" in reply["evalue"]


def test_input_asks_the_front_end(notebook):
    reply, messages = notebook.run("name = input('Name? ')\nage = input('Age? ')\nprint(name, age)", answers=["Ada", "36"])
    assert reply["status"] == "ok" and [c["prompt"] for k, c in messages if k == "input_request"] == ["Name? ", "Age? "]
    assert printed(messages, "stdout") == "Ada 36\n"
    reply, _ = notebook.run("input()")
    assert reply["ename"] == "EOFError"


def test_a_cell_that_is_killed_is_undone(notebook):
    notebook.run("x = 1")
    reply, messages = notebook.run("x = 2\nimport os\nos._exit(3)")
    assert reply["status"] == "error" and "the variables are those that cell [1] left" in printed(messages, "stderr")
    assert notebook.value("x") == ["1"]
    reply, messages = notebook.run("x = 3\ny = [b'x' * (1 << 20) for _ in range(400)]")
    assert reply["status"] == "error" and notebook.manager.is_alive() and notebook.value("x") in (["1"], ["3"])


def test_a_timeout_does_not_end_the_kernel():
    with Notebook("--tree", "base", "--timeout", f"{cells.SLOWNESS:g}s", "--grace", "0", "--memory", "256M") as notebook:
        notebook.run("x = 1")
        reply, messages = notebook.run("x = 2\nwhile True: pass")
        assert reply["ename"] == "TimeoutError" and "the variables are those that cell [1] left" in printed(messages, "stderr")
        assert notebook.value("x") == ["1"]


def test_restart_and_shutdown_leave_nothing(notebook):
    notebook.run("x = 1\nopen('/output/f', 'w').write('1')")
    first = notebook.manager.provisioner.pid
    session = children(first)
    assert session
    notebook.client.stop_channels()
    notebook.manager.restart_kernel()
    cells.wait_until("the end of the session", lambda: not any(map(alive, session)), cells.PATIENCE)
    notebook.connect()
    assert notebook.run("x")[0]["ename"] == "NameError"
    session = children(notebook.manager.provisioner.pid)
    notebook.client.shutdown()
    cells.wait_until("the end of the kernel", lambda: not notebook.manager.is_alive() and not any(map(alive, session)), cells.PATIENCE)


def test_a_shutdown_ends_a_cell_that_runs(notebook):
    notebook.client.execute("print('ready', flush=True)\nwhile True: pass")
    while True:
        message = notebook.client.get_iopub_msg(timeout=cells.PATIENCE)
        if message["header"]["msg_type"] == "stream":
            break
    session = children(notebook.manager.provisioner.pid)
    notebook.client.shutdown()
    cells.wait_until("the end of the kernel", lambda: not notebook.manager.is_alive() and not any(map(alive, session)), cells.PATIENCE)


@pytest.mark.parametrize("end", ["its parent is killed", "SIGTERM"])
def test_the_end_of_a_kernel_leaves_nothing(monkeypatch, tmp_path, end):
    install("--tree", "base", *BOUNDS)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    program = ("import sys; from jupyter_client.manager import KernelManager; m = KernelManager(kernel_name='test'); m.start_kernel(); c = m.blocking_client()\n"
               "c.start_channels(); c.wait_for_ready(timeout=100); c.execute_interactive('x = 1'); print(m.provisioner.pid, flush=True); sys.stdin.read()")
    with subprocess.Popen([DEBIANS, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        processes = [pid, *children(pid)]
        assert list((tmp_path / "temporary").glob("hotcell-*"))
        os.kill(pid, signal.SIGTERM) if end == "SIGTERM" else parent.kill()
        cells.wait_until("the end of the kernel", lambda: not any(map(alive, processes)), cells.PATIENCE)
        parent.kill()
    assert not list((tmp_path / "temporary").glob("hotcell-*"))


def test_a_missing_package_is_named():
    program = "import runpy, sys; sys.modules['ipykernel'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"
    done = subprocess.run([DEBIANS, "-I", "-c", program, cells.BUILD / "hotcell-kernel"], capture_output=True, text=True, check=False)
    assert done.returncode == 69 and "python3-ipykernel" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("text, why", [(None, "No such file or directory"), ("{}", "expected a front end's connection file, with key, "),
                                       ("[1]", "expected a front end's connection file"), ("{", "expected JSON: ")])
def test_a_file_that_is_no_connection_file_is_refused(text, why):
    if text is not None:
        Path("c.json").write_text(text, encoding="utf-8")
    done = kernel("-f", "c.json")
    assert (done.returncode, done.stdout) == (65, "") and done.stderr.startswith(f"hotcell: c.json: {why}") and done.stderr.count("\n") == 1, done
    assert Path("c.json").exists() == (text is not None)


def children(pid):
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] + [
        int(each) for task in Path(f"/proc/{pid}/task").iterdir() for each in (task / "children").read_text().split()]


def alive(pid):
    with contextlib.suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


def test_names_are_completed_and_explained(notebook):
    notebook.run("import math\nclass Apple:\n    'A fruit.'\n    def slice(self, parts): ...\napple = Apple()\nappetite = 1\nboom = []\nclass Bad:\n    def __dir__(self): boom.append(1); raise SystemExit(3)\nbad = Bad()")

    def complete(code):
        reply = notebook.client.complete(code, reply=True, timeout=cells.PATIENCE)["content"]
        return reply["matches"], reply["cursor_start"], reply["cursor_end"]
    assert complete("x = app") == (["appetite", "apple"], 4, 7)
    assert complete("apple.sl") == (["slice"], 6, 8) and complete("math.isn") == (["isnan"], 5, 8)
    assert complete("whil") == (["while"], 0, 4) and complete("f().x") == ([], 4, 5) and complete("bad.x")[0] == []

    def explain(code, at):
        return notebook.client.inspect(code, at, reply=True, timeout=cells.PATIENCE)["content"]
    told = explain("apple.slice(", 12)
    assert told["found"] and "Signature: apple.slice(parts)" in told["data"]["text/plain"]
    assert "A fruit." in explain("apple", 3)["data"]["text/plain"] and not explain("nothing", 3)["found"]
    assert notebook.value("sorted(n for n in dir() if not n.startswith('_'))") == ["['Apple', 'Bad', 'appetite', 'apple', 'bad', 'boom', 'math']"]
    assert notebook.run("1 / 0")[0]["execution_count"] == 3


@pytest.mark.parametrize("code, status", [
    ("x = 1", "complete"), ("if x:", "incomplete"), ("if x:\n    y", "incomplete"), ("if x:\n    y\n", "complete"), ("f(1,", "incomplete"),
    ("x = '''a", "incomplete"), ("x = ')' # (", "complete"), ("x = 1)", "invalid"), ("(" * 100000, "incomplete"), ("x = 1 + \\", "incomplete")])
def test_completeness_needs_no_parser(code, status):
    from hotcell import notebook
    assert notebook.completeness(code)["status"] == status


def test_the_console_asks_for_completeness(notebook):
    asked = notebook.client.is_complete("for i in x:")
    reply = next(message for message in iter(lambda: notebook.client.get_shell_msg(timeout=cells.PATIENCE), None)
                 if message["parent_header"]["msg_id"] == asked)["content"]
    assert (reply["status"], reply["indent"]) == ("incomplete", "    ")


def test_quiet_cells_expressions_and_history(notebook):
    reply, messages = notebook.run("x = 1\nprint(x)", silent=True)
    assert reply["status"] == "ok" and kinds(messages) == []
    reply, _ = notebook.run("y = x + 1", store_history=False)
    reply, _ = notebook.run("z = 3", user_expressions={"sum": "x + y", "wrong": "nothing"})
    assert reply["execution_count"] == 1 and reply["user_expressions"]["sum"]["data"] == {"text/plain": "3"}
    assert reply["user_expressions"]["wrong"]["ename"] == "NameError"
    notebook.run("z + 1")
    history = notebook.client.history(hist_access_type="tail", n=2, output=True, raw=True, reply=True, timeout=cells.PATIENCE)["content"]["history"]
    assert [(line, tuple(text)) for _, line, text in history] == [(1, ("z = 3", None)), (2, ("z + 1", "4"))]
    found = notebook.client.history(hist_access_type="search", pattern="*+*", output=False, raw=True, reply=True, timeout=cells.PATIENCE)["content"]["history"]
    assert [text for _, _, text in found] == ["z + 1"]


def test_lines_of_notebooks(notebook):
    reply, messages = notebook.run("%matplotlib inline\n5")
    assert reply["status"] == "ok" and "'%matplotlib inline' was left out" in printed(messages, "stderr")
    assert notebook.run("!ls /")[0]["status"] in ("ok", "error")  # this policy executes no commands
    assert "bin" not in printed(notebook.run("!ls /usr")[1], "stdout")


def test_commands_run_where_the_policy_has_them(shell_tree):
    with Notebook("-p", "shell", "--enforcement", "rlimits", "--timeout", f"{20 * cells.SLOWNESS:g}s") as notebook:
        reply, messages = notebook.run("!echo one > f; cat f\n!echo $((1 + 1))")
        assert reply["status"] == "ok" and printed(messages, "stdout") == "one\n2\n"
        assert notebook.value("open('f').read()") == ["'one\\n'"]
        reply, messages = notebook.run("!exit 3")
        assert reply["status"] == "ok" and "exit status 3" in printed(messages, "stderr")


def test_figures_are_images(scientific):
    with Notebook("--tree", "scientific", "--timeout", f"{60 * cells.SLOWNESS:g}s") as notebook:
        _, messages = notebook.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nimport pandas as pd")
        images = [content["data"]["image/png"] for kind, content in messages if kind == "display_data"]
        assert len(images) == 1 and base64.b64decode(images[0]).startswith(b"\x89PNG")
        _, messages = notebook.run("display(plt.subplots()[0])\nplt.close()")
        assert kinds(messages).count("display_data") == 1  # once, although the figure is a file of the run too
        _, messages = notebook.run("import plotly.express as px\npx.line(x=[1], y=[2]).show()")
        assert [c["data"]["application/vnd.plotly.v1+json"]["data"][0]["type"] for k, c in messages if k == "display_data"] == ["scatter"]
        _, messages = notebook.run("pd.DataFrame({'a': [1]})")
        assert "<table" in [c["data"] for k, c in messages if k == "execute_result"][0]["text/html"]


def test_nothing_is_imported_from_the_notebooks_directory(notebook):
    for name in ("pandas", "numpy", "IPython", "codeop"):
        Path(f"{name}.py").write_text(f"open({str(Path.cwd() / 'loaded')!r}, 'w')\n")
    notebook.client.stop_channels()
    notebook.manager.restart_kernel(now=True)
    notebook.connect()
    assert notebook.value("1 + 1") == ["2"] and not Path("loaded").exists()


def test_a_session_that_ends_is_told(notebook):
    notebook.run("x = 1")
    for each in children(notebook.manager.provisioner.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, 15)
    reply, messages = notebook.run("x")
    assert reply["status"] == "error" and "the next cell begins with none" in printed(messages, "stderr")
    assert notebook.run("x")[0]["ename"] == "NameError"


def test_a_daemon_has_the_session(monkeypatch):
    with daemons.Daemon() as d:
        monkeypatch.setenv("HOTCELL_SOCKET", str(d.socket))
        with Notebook("--tree", "base", *BOUNDS, "--var", "n=[1]", "--env", "A=b", "--seed", "3", "--label", "team=a") as notebook:
            assert notebook.value("import os\nn, os.environ['A']") == ["([1], 'b')"]
            assert notebook.run("x = 1\nprint('there')")[0]["status"] == "ok" and notebook.value("x + 1") == ["2"]
            reply, messages = notebook.run("print(input('Name? '))", answers=["Ada"])
            assert printed(messages, "stdout") == "Ada\n"
        with Notebook("--dir", "/usr:/data") as notebook:
            reply, _ = notebook.run("1")
            assert "--dir: not sent to the daemon" in reply["evalue"]


def test_nbconvert_executes_a_notebook():
    if subprocess.run([DEBIANS, "-c", "import nbconvert, nbclient"], check=False, capture_output=True).returncode:
        cells.skip("python3-nbconvert is not installed (scripts/deps)")
    install("--tree", "base", *BOUNDS)
    written = [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source, "id": f"c{number}"}
               for number, source in enumerate(("x = 20\nprint('hello')", "x * 2 + 2"))]
    Path("in.ipynb").write_text(json.dumps({"cells": written, "nbformat": 4, "nbformat_minor": 5, "metadata": {
        "kernelspec": {"name": "test", "display_name": "test", "language": "python"}}}))
    done = subprocess.run([DEBIANS, "-m", "nbconvert", "--to", "notebook", "--execute", "in.ipynb", "--output", "out.ipynb"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second = json.loads(Path("out.ipynb").read_text())["cells"]
    assert "".join(first["outputs"][0]["text"]) == "hello\n" and (first["execution_count"], second["execution_count"]) == (1, 2)
    assert "".join(second["outputs"][0]["data"]["text/plain"]) == "42"


def test_what_install_writes():
    Path("p.json").write_text('{"extends": "default"}')
    path = Path(install("-p", "./p.json", "--memory=256M", name="mine").stdout.strip())
    spec = json.loads(path.read_text())
    assert spec["argv"][1:] == ["kernel", "-f", "{connection_file}", f"--policy={Path.cwd() / 'p.json'}", "--memory=256M"]
    assert spec["language"] == "python" and path.parts[-3:] == ("kernels", "mine", "kernel.json")
    assert "--name" in install(name="no name", status=64).stderr
    assert "there is no policy 'none-such'" in install("-p", "none-such", status=78).stderr


@pytest.mark.parametrize("arguments, words", [
    ([], "expected -f FILE, or --install"), (["-f", "x", "--install"], "expected -f FILE, or --install"), (["-f", "x", "--user"], "--user and --name are for --install"),
    (["-f", ""], "expected a value"), (["-f", "x", "y"], "expected no program"), (["-f", "x", "--tool-fd", "5"], "--tool-fd")])
def test_wrong_command_lines(arguments, words):
    done = kernel(*arguments)
    assert done.returncode == 64 and words in done.stderr and done.stderr.count("\n") == 1
