"""hotcell-runner: the older child runner's spec, messages and exit codes."""

import json
import os
import re
import socket
import stat
import subprocess
import sys
from pathlib import Path

import cells
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"


@pytest.fixture
def runner(base_tree, tmp_path):
    """Runs `python -m hotcell.runner SPEC`; `default` values of the spec can be overridden or left out with None."""
    def run(code="", *arguments, tree="base", **spec):
        spec = {"code": code, "output_dir": str(tmp_path / "out"), **spec}
        path = tmp_path / "spec.json"
        path.write_text(json.dumps({name: value for name, value in spec.items() if value is not None}))
        policies = tmp_path / "policies"
        if tree and not policies.exists():  # the shipped policy, in the small tree
            policies.mkdir()
            shipped = json.loads((PACKAGE.parent.parent / "policies" / "analysis.json").read_text())
            (policies / "analysis.json").write_text(json.dumps({**shipped, "tree": "base"}))
        done = subprocess.run([sys.executable, "-m", "hotcell.runner", *(arguments or [path])], capture_output=True,
                              text=True, check=False, timeout=cells.PATIENCE,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE), "HOTCELL": str(cells.HOTCELL),
                                   **({"HOTCELL_POLICIES": str(policies)} if tree else {})})
        result = tmp_path / "out" / "_sandbox_result.json"
        done.result = json.loads(result.read_text()) if result.exists() else None
        done.output_dir = tmp_path / "out"
        return done
    return run


def test_hints_are_in_the_words_of_the_runner(runner):
    done = runner("x = [0] * 10**11")
    assert done.returncode == 1 and '"limits": {"memory": ...} in a policy' in done.stderr, done.stderr


@pytest.mark.parametrize("arguments", [[], ["a", "b"]])
def test_another_number_of_arguments_is_a_usage_error(arguments):
    done = subprocess.run([sys.executable, "-m", "hotcell.runner", *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    assert done.returncode == 64 and done.stdout == "" and done.stderr.startswith("usage: ")


def test_a_wrong_spec_is_named_by_its_path(runner, tmp_path):
    done = runner("1", max_output_bytes="x", df_paths={})
    assert done.returncode == 65 and done.stderr.startswith(f"hotcell-runner: {tmp_path}/spec.json:1:")
    done = runner("1", max_output_bytes="x")  # without df_paths the command gets another text, with other places
    assert done.stderr == f"hotcell-runner: {tmp_path}/spec.json: max_output_bytes: expected a whole number, got a string\n"


def test_a_spec_that_is_none(tmp_path):
    for name, text in (("missing", None), ("broken", "{"), ("list", "[]")):
        path = tmp_path / name
        if text is not None:
            path.write_text(text)
        done = subprocess.run([sys.executable, "-m", "hotcell.runner", path], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        assert done.returncode == 65 and str(path) in done.stderr and len(done.stderr.splitlines()) == 1


def test_success(runner):
    done = runner("print('hello')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")
    assert done.result.keys() == {"exit_code", "figure_paths", "code_paths", "truncated"}
    assert done.result["exit_code"] == 0 and done.result["figure_paths"] == [] and not done.result["truncated"]
    assert len(done.result["code_paths"]) == 1  # persist_code is true unless the spec says otherwise
    assert stat.S_IMODE((done.output_dir / "_sandbox_result.json").stat().st_mode) == 0o600


def test_output_is_utf8_whatever_the_locale(runner, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("LC_ALL", "POSIX")
    assert runner("print('ä€')").stdout == "ä€\n"


def test_persist_code_false(runner):
    assert runner("1", persist_code=False).result["code_paths"] == []


def test_an_exception(runner):
    done = runner("print('before')\n1/0")
    assert done.returncode == 1 and done.result["exit_code"] == 1
    assert done.stdout == "before\n"
    assert done.stderr.startswith("Traceback") and "ZeroDivisionError" in done.stderr
    assert 'File "<sandbox>", line 2' in done.stderr


@pytest.mark.parametrize("error", ["SystemExit", "SystemExit(0)", "SystemExit(3)", "SystemExit('bye')", "KeyboardInterrupt", "GeneratorExit"])
def test_what_is_no_exception_proper_fails_too(runner, error):
    done = runner(f"print('before')\nraise {error}")
    assert done.returncode == 1 and done.result["exit_code"] == 1 and done.stdout == "before\n"
    assert done.stderr.startswith("Traceback (most recent call last):\n  File \"<sandbox>\", line 2")
    assert done.stderr.splitlines()[-1].startswith(error.partition("(")[0])
    assert len(done.result["code_paths"]) == 1  # nothing is lost


def test_syntax_error(runner):
    done = runner("x = = 1")
    assert done.returncode == 2 and done.result["exit_code"] == 2
    assert done.stderr.startswith("Syntax error: ") and "line 1" in done.stderr


@pytest.mark.parametrize(("code", "line", "message"), [
    ("print('ran')\nx = '\0'\n", 2, "source code string cannot contain null bytes"),
    ("# \0", 1, "source code string cannot contain null bytes"),
    ("print(1)\n\nx = '\ud800'", 3, "'utf-8' codec can't encode character '\\ud800' in position 15: surrogates not allowed"),
], ids=["nul", "comment", "surrogate"])
def test_code_that_no_text_can_hold(runner, code, line, message):
    """S0.10: it is a syntax error like others, and there is a result; the code itself is not saved."""
    done = runner(code)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"Syntax error: {message} (<sandbox>, line {line})\n")
    assert done.result == {"exit_code": 2, "figure_paths": [], "code_paths": [], "truncated": False}
    assert runner(code, max_figures=-1).returncode == 65  # a wrong spec is still told


@pytest.mark.parametrize(("code", "message"), [
    ("import os", "Import not allowed: os"),
    ("import scipy.optimize", "Import not allowed: scipy.optimize"),
    ("eval('1')", "`eval()` is not allowed in the sandbox."),
    ("().__class__", "Access to `__class__` is not allowed in the sandbox."),
])
def test_refusals(runner, code, message):
    done = runner(code)
    assert done.returncode == 2 and done.result["exit_code"] == 2
    assert message in done.stderr.splitlines() and done.stdout == ""


def test_long_output_says_that_it_was_cut(runner):
    done = runner("print('x' * 500)", max_output_bytes=100)
    assert done.returncode == 0 and done.result["truncated"]
    assert done.stdout == "x" * 100 + "\n\n[Output truncated at 100 bytes]"


def test_the_time_in_the_name_is_the_one_in_the_header(runner):
    """S0.28, S0.29: one run has one time, however long it takes."""
    done = runner("import datetime\ndef second(): return datetime.datetime.now().second\n"
                  "begun = second()\nwhile second() == begun: pass\nbegun = second()\nwhile second() == begun: pass\n")
    code = Path(done.result["code_paths"][0])
    told = re.search(r", run at (\S+)[.]\n", code.read_text())[1]
    assert re.fullmatch(rf"run_{told.replace(':', '-')}_[0-9a-f]{{12}}[.]py", code.name), (told, code.name)


READ = """
for name in ('text.txt', 'sub/rows.csv', 'figures/fig_0123456789ab.png', 'code/run.py', 'link', 'second', 'down/text.txt', 'manifest.json'):
    try:
        print(name, open(output_dir / name).read())
    except OSError as error:
        print(name, type(error).__name__)
"""


@pytest.fixture
def earlier(tmp_path):
    """An output directory with files of its caller's and of an earlier run, and with links out of it."""
    out = tmp_path / "out"
    for directory in (out / "sub", out / "figures", out / "code", tmp_path / "outside"):
        directory.mkdir(parents=True)
    for name in ("out/text.txt", "out/sub/rows.csv", "out/figures/fig_0123456789ab.png", "out/code/run.py", "outside/text.txt", "second"):
        (tmp_path / name).write_text(f"in {name}")
    (out / "link").symlink_to(tmp_path / "outside" / "text.txt")
    (out / "down").symlink_to(tmp_path / "outside")
    os.link(tmp_path / "second", out / "second")
    return out


def test_files_that_were_in_the_output_directory_are_read(runner, earlier):
    """S0.15: a program reads what is in output_dir; links and files with further names lead out of it, and are not there."""
    assert [(earlier / name).read_text() for name in ("link", "down/text.txt", "second")] == ["in outside/text.txt"] * 2 + ["in second"]
    done = runner(READ)
    assert done.stdout.splitlines() == [
        "text.txt in out/text.txt", "sub/rows.csv in out/sub/rows.csv", "figures/fig_0123456789ab.png in out/figures/fig_0123456789ab.png",
        "code/run.py FileNotFoundError", "link FileNotFoundError", "second FileNotFoundError", "down/text.txt FileNotFoundError",
        "manifest.json FileNotFoundError"], done
    manifest = json.loads((earlier / "manifest.json").read_text())
    assert [text for text in manifest["warnings"] if text.startswith("3 files or directories of the output directory are not in the cell")]
    assert manifest["files"] == [] and done.result["figure_paths"] == []


def state(path):
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, stat.S_IMODE(found.st_mode), path.read_bytes()


def test_files_that_the_program_leaves_as_they_are_stay_so(runner, earlier):
    """S0.15: reading changes nothing; what the program writes is there afterwards, and what it removes stays with the caller."""
    kept, removed, written = earlier / "sub" / "rows.csv", earlier / "figures" / "fig_0123456789ab.png", earlier / "text.txt"
    kept.chmod(0o640)
    before = [state(path) for path in (kept, removed)]
    done = runner("print(open('sub/rows.csv').read())\n(output_dir / 'figures/fig_0123456789ab.png').unlink()\n"
                  "with open('text.txt', 'a') as file: file.write(' and more')\nopen('new.txt', 'w').write('new')")
    assert done.returncode == 0, done.stderr
    assert [state(path) for path in (kept, removed)] == before
    assert written.read_text() == "in out/text.txt and more" and (earlier / "new.txt").read_text() == "new"
    manifest = json.loads((earlier / "manifest.json").read_text())
    assert sorted(file["path"] for file in manifest["files"]) == ["new.txt", "text.txt"]


def test_a_replay_says_that_it_lacks_the_files(runner, earlier, tmp_path):
    """S0.30, S0.15: what differs for want of the files of then has its reason told."""
    saved = runner("print(open('text.txt').read())").result["code_paths"][0]
    again = replicate("-o", str(tmp_path / "again"), saved)
    assert again.returncode == 1 and "status differs" in again.stdout
    assert again.stdout.endswith("The first run had copies of files that were in its output directory before; a replay has none.\n")


def test_files_in_the_output_directory_are_bounded(runner, tmp_path):
    """S0.15: what has no room in the cell is left out, and the manifest says so."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "small").write_text("small")
    with open(out / "huge", "wb") as file:
        file.truncate(100 << 20)
    for number in range(1000):
        (out / f"{number}").touch()
    done = runner("print(len([path for path in output_dir.iterdir() if path.name.isdigit()]), (output_dir / 'huge').exists())")
    count, huge = done.stdout.split()
    assert 890 <= int(count) <= 900 and huge == "False", done
    assert "files or directories of the output directory are not in the cell" in (out / "manifest.json").read_text()
    assert len(os.listdir(out)) == 1005  # nothing else was touched: manifest.json, _sandbox_result.json and code came


@pytest.mark.parametrize(("spec", "status"), [
    ({"max_figures": -1}, 65), ({"code": 5}, 65), ({"df_paths": {"a b": "x"}}, 65), ({"binary": "/nowhere/hotcell"}, 70),
    ({"df_paths": {"df": "/nowhere/rows.jsonl"}}, 2), ({"code": "import os"}, 2),
], ids=["limit", "code", "name", "binary", "frame", "refused"])
def test_no_result_of_an_earlier_run_is_left(runner, monkeypatch, spec, status):
    """S0.3: what ends a run before it has a result leaves none of an earlier run that could be taken for its own."""
    assert runner("1").result["exit_code"] == 0
    spec = {"code": "1", **spec}
    if "binary" in spec:
        monkeypatch.setattr(cells, "HOTCELL", spec.pop("binary"))
    done = runner(**spec)
    assert done.returncode == status
    assert done.result is None if status > 2 else done.result["exit_code"] == status


def test_a_result_that_cannot_be_removed_ends_the_run(runner, tmp_path, monkeypatch):
    """S0.3: the runner names the file, and runs nothing."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "_sandbox_result.json").mkdir()
    done = subprocess.run([sys.executable, "-c", "import sys\nfrom hotcell import runner\n"
                           "def fail(output_dir): raise PermissionError(13, 'Permission denied')\n"
                           "runner.remove_old_result = fail\nsys.exit(runner.main(sys.argv[1:]))", _spec(tmp_path)],
                          capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    assert done.returncode == 65 and done.stderr == f"hotcell-runner: {tmp_path}/out/_sandbox_result.json: Permission denied\n"


def _spec(tmp_path):
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({"code": "1", "output_dir": str(tmp_path / "out")}))
    return path


@pytest.mark.parametrize("code", ["", "  \n"])
def test_a_program_that_is_blank_does_nothing(runner, code):
    """S0.3: it ends well, as before."""
    done = runner(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "") and done.result["exit_code"] == 0


def test_a_frame_that_is_a_directory(runner, tmp_path):
    """S0.18: what is no file cannot be loaded, and the program is refused for it."""
    done = runner("1", df_paths={"df": str(tmp_path)})
    assert done.returncode == 2 and done.stderr == f"Could not load DataFrame df from {tmp_path}: Is a directory\n"


@pytest.mark.parametrize("kind", ["device", "endless", "pipe", "socket"])
def test_a_frame_that_is_no_plain_file(runner, tmp_path, kind):
    """S0.18: as for a directory; nobody waits for the writer of a named pipe."""
    path = {"device": "/dev/null", "endless": "/dev/zero"}.get(kind, str(tmp_path / "frame"))
    if kind == "pipe":
        os.mkfifo(path)
    with socket.socket(socket.AF_UNIX) as listening:
        if kind == "socket":
            listening.bind(path)
        done = runner("1", df_paths={"df": path})
    assert done.returncode == 2 and done.stderr == f"Could not load DataFrame df from {path}: Not a regular file\n"
    assert done.result["exit_code"] == 2


def test_a_frame_that_cannot_be_loaded(runner, tmp_path):
    path = tmp_path / "broken.jsonl"
    path.write_text("{no json}\n")
    done = runner("1", tree=None, df_paths={"df": str(path)})
    assert done.returncode == 2 and done.result["exit_code"] == 2
    assert done.stderr.startswith(f"Could not load DataFrame df from {path}: ")
    path.unlink()
    done = runner("1", tree=None, df_paths={"df": str(path)})
    assert done.returncode == 2 and done.result["exit_code"] == 2
    assert done.stderr.startswith(f"Could not load DataFrame df from {path}: No such file or directory")


def test_frames_figures_and_code(runner, tmp_path):
    path = tmp_path / "sales"
    path.write_text('{"city": "A", "n": 1}\n{"city": "B", "n": 2}\n')
    done = runner("import matplotlib.pyplot as plt\n"
                  "plt.plot(df.n)\n"
                  "px.line(df, x='city', y='n').show()\n"
                  "print(df.n.sum(), output_dir, pd.__name__, np.__name__, _rpln_plotly_figs.__class__ if 0 else '')\n",
                  tree=None, df_paths={"df": str(path)})
    assert done.returncode == 2  # __class__ is refused wherever it stands
    done = runner("import matplotlib.pyplot as plt\n"
                  "plt.plot(df.n)\n"
                  "px.line(df, x='city', y='n').show()\n"
                  "print(df.n.sum(), output_dir, pd.__name__, np.__name__, isinstance(_rpln_plotly_figs, list))\n",
                  tree=None, df_paths={"df": str(path)})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "3 /output pandas numpy True\n"
    kinds = sorted(os.path.basename(figure).split("_")[0] for figure in done.result["figure_paths"])
    assert kinds == ["fig", "plotly"]
    paths = [Path(path) for path in (*done.result["figure_paths"], *done.result["code_paths"])]
    assert all(path.is_absolute() and path.is_file() and path.parent.parent == done.output_dir for path in paths)
    code = Path(done.result["code_paths"][0])
    assert stat.S_IMODE(code.stat().st_mode) == 0o600 and stat.S_IMODE(code.parent.stat().st_mode) == 0o700
    assert "# === LLM-generated analysis code below ===" in code.read_text()


def widths(paths):
    """Of PNG files."""
    return [int.from_bytes(Path(path).read_bytes()[16:20], "big") for path in paths]


def test_figures_are_listed_in_the_order_of_drawing(runner):
    done = runner("import matplotlib.pyplot as plt\n"
                  "for width in (5, 2, 4, 3):\n    plt.figure(figsize=(width, 2)); plt.plot([1])\n"
                  "shown = go.Figure(go.Scatter(y=[1]))\nshown.show(); px.line(y=[1, 2]).show(); shown.show()\n", tree=None)
    plotly, drawn = ([path for path in done.result["figure_paths"] if f"/{kind}_" in path] for kind in ("plotly", "fig"))
    assert sorted(widths(drawn)) != widths(drawn) == sorted(widths(drawn), key=lambda w: [5, 2, 4, 3].index(round(w / 150))), widths(drawn)
    lengths = [len(json.loads(Path(path).read_text())["data"][0]["y"]) for path in plotly]
    assert lengths == [1, 2, 1]  # what is shown twice is there twice


def test_paths_are_whole_if_the_directory_was_given_relative(runner, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = runner("1", output_dir="out")
    assert Path(done.result["code_paths"][0]).parent == tmp_path / "out" / "code"


def replicate(*arguments):
    return subprocess.run([sys.executable, "-m", "hotcell.replicate", *arguments], capture_output=True, text=True, check=False,
                          timeout=cells.PATIENCE, env={**os.environ, "PYTHONPATH": str(PACKAGE), "HOTCELL": str(cells.HOTCELL)})


def test_saved_code_can_be_replicated_as_it_says(runner, tmp_path):
    saved = runner("print(6 * 7)").result["code_paths"][0]
    assert "python3 -m hotcell.replicate THIS_FILE" in Path(saved).read_text()
    done = replicate("-o", str(tmp_path / "again"), saved)
    assert done.returncode == 0 and "the same as then (ok)" in done.stdout, done
    assert replicate(str(tmp_path / "missing.py")).returncode == 65
    assert replicate().returncode == 64


def test_a_runner_that_is_ended_takes_its_cell_along(base_tree, tmp_path):
    """Its parent's time limit is such an end. That the program runs shows in the launcher's processes."""
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"code": "while True: pass", "df_paths": {}, "output_dir": str(tmp_path / "out")}))
    with subprocess.Popen([sys.executable, "-m", "hotcell.runner", spec], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE), "HOTCELL": str(cells.HOTCELL)}) as runner:
        cells.wait_until("there is a cell", lambda: len(descendants(runner.pid)) >= 3, 30 * cells.SLOWNESS)
        inside = descendants(runner.pid)
        runner.terminate()
        runner.communicate(timeout=cells.PATIENCE)
    assert runner.returncode == 128 + 15
    cells.wait_until("all are gone", lambda: not any(Path(f"/proc/{pid}").exists() for pid in inside))
    assert json.loads((tmp_path / "out" / "_sandbox_result.json").read_text())["exit_code"] == 3


def descendants(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        found = [int(child) for child in children.read_text().split()]
    except OSError:
        return []
    return found + [other for child in found for other in descendants(child)]
