"""AsyncCodeExecutor: one chart, redacted output, the dict and the messages of the executor that it replaces."""

import asyncio
import base64
import datetime
import json
import logging
import math
import os
import re
import shutil
import struct
import sys
import tempfile
import threading
import types
import unicodedata
import uuid
import zlib
from pathlib import Path

import cells
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
from hotcell import InputError  # noqa: E402
from hotcell.adapters import DEFAULT_EXEC_TIMEOUT, AsyncCodeExecutor, charts, png, workdir  # noqa: E402

DRAW = "plt.plot([1, 2, 3])\n"
PNG = b"\x89PNG\r\n"


@pytest.fixture
def make(base_tree, tmp_path, monkeypatch):
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    return lambda timeout=60 * cells.SLOWNESS, **options: AsyncCodeExecutor(tmp_path / "work" / "dir", timeout, **options)


@pytest.fixture
def execute(make):
    """Runs code; `tree` base unless the test needs libraries."""
    def run(code, variables=None, **options):
        executor = make(**{"tree": "base", **options})
        for name, value in (variables or {}).items():
            executor.set_variable(name, value)
        result = asyncio.run(executor.execute(code))
        assert result.keys() == {"stdout", "stderr", "error", "chart_base64"}
        return result
    return run


def test_construction(make, tmp_path):
    executor = make()
    assert (tmp_path / "work" / "dir").is_dir()
    assert uuid.UUID(executor.session_id).version == 4 and executor.session_id != make().session_id
    assert AsyncCodeExecutor(tmp_path).exec_timeout == DEFAULT_EXEC_TIMEOUT == 120
    assert asyncio.iscoroutinefunction(executor.execute)


def test_hints_are_in_the_words_of_the_executor(execute):
    for code, hint in (("import requests", "pass data with set_variable()."), ("x = bytearray(10**11)", "\"limits\": {\"memory\": ...} in a policy"),
                       ("import sys\nsys.stdin.readline()\nraise EOFError", "Nobody answers here; pass values with set_variable().")):
        result = execute(code)
        assert result["error"] and hint in result["stderr"] and "inputs=" not in result["stderr"] and "--" not in result["stderr"]


def test_modules_of_the_working_directory_are_imported(make, tmp_path):
    """S1.20: as in the executor that this one replaces, whose interpreter ran there; what the policy denies, they are denied too."""
    executor = make(tree="base")
    (tmp_path / "work" / "dir" / "mine.py").write_text("VALUE = 7\n")
    (tmp_path / "work" / "dir" / "bad.py").write_text("import socket\n")
    (tmp_path / "work" / "dir" / "json.py").write_text("raise ValueError('not this one')\n")
    result = asyncio.run(executor.execute("import json, mine\nprint(mine.VALUE)"))
    assert (result["stdout"], result["error"]) == ("7\n", False), result
    result = asyncio.run(executor.execute("import bad"))
    assert result["error"] and "Importing 'socket' is not allowed in the code sandbox." in result["stderr"]


def test_each_run_is_a_process_of_its_own(make):
    executor = make(tree="base")
    asyncio.run(executor.execute("import math\nmath.marker = left = 1"))
    again = asyncio.run(executor.execute("import math\nprint(hasattr(math, 'marker'), 'left' in globals())"))
    assert again["stdout"] == "False False\n"
    assert asyncio.run(executor.execute("import ctypes"))["error"]  # and this process is still here
    assert asyncio.run(executor.execute("print('well')"))["stdout"] == "well\n"


def test_variables(make):
    class Odd:
        def __str__(self):
            return "odd one"
    executor = make(tree="base")
    for name, value in {"n": 3, "items": [1, {"a": None}], "odd": Odd()}.items():
        executor.set_variable(name, value)
        assert executor.get_variable(name) is value
    assert executor.get_variable("missing") is None
    for _ in range(2):  # on every run
        assert asyncio.run(executor.execute("print(n, items, odd)"))["stdout"] == "3 [1, {'a': None}] odd one\n"


class Mute:
    def __str__(self):
        raise RuntimeError("no text")


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(("value", "seen"), [
    (threading.Lock(), "<unlocked _thread.lock object at "), ((x for x in ()), "<generator object "),
    (open(os.devnull), "<_io.TextIOWrapper name="), ({1, 2}, "{1, 2}"), (Mute(), "<Mute object without a text>"),
    (nested(2000), ""), ("\ud800", "\ud800"), (types, "<module 'types' "),
], ids=["lock", "generator", "file", "set", "mute", "deep", "surrogate", "module"])
def test_a_variable_that_json_cannot_hold_is_its_text(make, caplog, value, seen):
    """S1.4: it costs no other variable and no later run, and is told once."""
    executor = make(tree="base")
    executor.set_variable("odd", value)
    executor.set_variable("beside", 1)
    for _ in range(2):
        result = asyncio.run(executor.execute(f"print(odd.startswith({seen!r}), beside)"))
        assert result["stdout"] == "True 1\n" and not result["error"], result
    assert caplog.text.count("the variable odd is its text") == (seen != "\ud800")


def test_a_frame_that_cannot_be_carried_is_its_text(make, caplog):
    """S1.4: a frame of objects fails no run."""
    pandas = pytest.importorskip("pandas")
    executor = make(tree="base")
    executor.set_variable("odd", pandas.DataFrame({"a": [Path]}))
    result = asyncio.run(executor.execute("print(odd)"))
    assert "<class 'pathlib.Path'>" in result["stdout"] and not result["error"]
    assert "the variable odd is its text" in caplog.text and "column 'a'" in caplog.text


def test_many_and_deep_variables(execute):
    """S1.3: how many variables there are, and how deep they are, ends no run."""
    variables = {**{f"v{number}": number for number in range(400)}, "deep": nested(90)}
    assert execute("print(v0, v399, str(deep).count('['))", variables)["stdout"] == "0 399 91\n"


def test_variables_are_told_as_the_code_sees_them(execute, make):
    """S1.5: the text for a model has the type and the value of the cell."""
    values = {"pair": (1, 2), "keys": {1: "a"}, "lock": threading.Lock(), "when": datetime.date(2026, 1, 2), "text": "a"}
    executor = make(tree="base")
    for name, value in values.items():
        executor.set_variable(name, value)
    told = executor.get_environment_info().split("- variables:\n")[1]
    printed = execute("for name in ('pair', 'keys', 'lock', 'when', 'text'): print('   ', name, '=', repr(globals()[name]))", values)
    assert told == printed["stdout"].rstrip("\n") and "pair = [1, 2]" in told


def test_the_text_about_variables_is_bounded(make):
    """S1.5: a variable takes no more of a prompt than it may."""
    executor = make()
    executor.set_variable("long", "x" * 10**6)
    executor.set_variable("mute", Mute())
    text = executor.get_environment_info()
    assert len(text) < 3000 and text.count("... (1000002 characters)") == 1 and "mute = '<Mute object without a text>'" in text


def test_what_carries_variables_is_not_seen(make):
    """S1.3: frames and variables of odd names leave no files in the cell, and no names."""
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    executor = make()
    for name, value in {"rows": pandas.DataFrame({"a": [1, 2]}), "_row": numpy.arange(3), "数": 1.5}.items():
        executor.set_variable(name, value)
    result = asyncio.run(executor.execute(
        "print(rows.a.sum(), _row.sum(), 数, [os.listdir(each) for each in ('.', '/input', '/output')])\n"
        "print(sorted(name for name in globals() if not name.startswith('__')))"))
    assert result["stdout"] == "3 3 1.5 [[], [], []]\n['_row', 'os', 'rows', '数']\n", result


def test_a_large_frame_comes_as_a_file(make):
    """S1.3: a frame that is too large for the carrier has its value and its name all the same."""
    numpy = pytest.importorskip("numpy")
    executor = make()
    executor.set_variable("_large", numpy.arange(3 << 20))
    executor.set_variable("small", numpy.arange(3))
    result = asyncio.run(executor.execute("print(_large.sum() == sum(range(3 << 20)), small.sum(), [n for n in globals() if 'hotcell' in n])"))
    assert result["stdout"] == "True 3 []\n", result


@pytest.mark.parametrize("name", ["数据", "_hidden", "ü", "hotcell_variables", "class", "a b", "x" * 100, "\ufb01t"])
def test_variables_of_any_name(execute, name):
    assert execute(f"print(globals()[{unicodedata.normalize('NFKC', name)!r}])", {name: 1, "beside": 2})["stdout"] == "1\n"
    if name.isidentifier() and name != "class":
        assert execute(f"print({name}, beside)", {name: [1], "beside": 2})["stdout"] == "[1] 2\n"


def test_data_frames_of_any_name(make):
    pandas = pytest.importorskip("pandas")
    executor = make()
    for name in ("数据", "_rows", "plain"):
        executor.set_variable(name, pandas.DataFrame({"a": [1, 2]}))
    result = asyncio.run(executor.execute("print(数据.a.sum(), _rows.a.sum(), plain.a.sum())\n"
                                          "print([n for n in globals() if 'hotcell' in n])"))
    assert result["stdout"] == "3 3 3\n[]\n", result


def test_variables_whose_name_is_used_on_the_way(make):
    """S1.3: names that hotcell's own code uses in the cell are free for the caller."""
    pandas = pytest.importorskip("pandas")
    executor = make()
    for name in ("hotcell", "space", "json", "df"):
        executor.set_variable(name, pandas.DataFrame({"a": [1, 2]}))
    result = asyncio.run(executor.execute("print([type(each).__name__ for each in (hotcell, space, json, df)])"))
    assert result["stdout"] == "['DataFrame', 'DataFrame', 'DataFrame', 'DataFrame']\n", result


def test_a_name_that_no_variable_can_have(make):
    for name in ("__builtins__", "__name__", 5):
        with pytest.raises(ValueError, match="name of a variable"):
            make().set_variable(name, 1)


def test_numbers_that_json_does_not_know(execute):
    values = {"row": [1.0, math.nan, 3.0], "far": math.inf, "deep": {"x": (-math.inf, 1)}, "plain": [1, 2]}
    result = execute("print(row, far + 1, deep, plain, sum(row[::2]))", values)
    assert result["stdout"] == "[1.0, nan, 3.0] inf {'x': [-inf, 1]} [1, 2] 4.0\n"


def test_a_policy_of_the_callers_keeps_its_own_code(execute):
    policy = {"name": "own", "extends": "charts", "tree": "base", "prelude": {"code": "greeting = 'hello'\n"}}
    assert execute("print(greeting, _name)", {"_name": "you"}, policy=policy, tree=None)["stdout"] == "hello you\n"


def test_environment_info(make, tmp_path):
    executor = make()
    executor.set_variable("city", "Köln")
    text = executor.get_environment_info()
    fonts = [path for line in text.splitlines() if "font: " in line for path in re.findall(r"\((/[^)]*)\)", line)]
    assert len(fonts) == 2
    loaded = asyncio.run(executor.execute(f"for path in {fonts!r}:\n    fm.fontManager.addfont(path)\n    print(fm.get_font(path).family_name)"))
    assert loaded["stdout"] == "DejaVu Sans\nDroid Sans Fallback\n", loaded
    for part in (str(tmp_path / "work" / "dir"), "font", "numpy", "pandas", "seaborn", "city = 'Köln'"):
        assert part in text


def test_result(execute):
    assert execute("print('hello')") == {"stdout": "hello\n", "stderr": "", "error": False, "chart_base64": None}
    assert execute("x = 1")["stdout"] == "Run completed with no output."


def test_an_exception(execute):
    result = execute("print('before'); {}['missing']")
    assert result["error"] is True and result["stdout"] == "before\n" and "KeyError: 'missing'" in result["stderr"]


@pytest.mark.parametrize(("code", "told"), [
    ("import sys; sys.exit(3)", "SystemExit: 3\n"), ("raise SystemExit('bye')", "bye\n"), ("os._exit(3)", "the program failed with exit status 3\n"),
    ("import atexit; atexit.register(os._exit, 3)", "the program failed with exit status 3\n"),
    ("os.close(2); raise ValueError('token=abcdef')", "ValueError: token=<REDACTED>\n")])
def test_an_end_without_a_word_is_told(execute, code, told):
    """S1.6, S1.8, S1.27: an error has a reason, also if the code itself says none; only a launch that fails is a SandboxError."""
    result = execute(code)
    assert result["error"] and result["stderr"].splitlines(True)[-1] == told and "SandboxError" not in result["stderr"], result


@pytest.mark.parametrize("code", ["import sys; sys.exit(0)", "raise SystemExit"])
def test_an_exit_without_a_fault_is_none(execute, code):
    """S1.27: it ends well, as before."""
    assert execute(code) == {"stdout": "Run completed with no output.", "stderr": "", "error": False, "chart_base64": None}


@pytest.mark.parametrize("code", ["", " \n"])
def test_blank_code_does_nothing(execute, code):
    """S1.6: it ends well, as before."""
    assert execute(code) == {"stdout": "Run completed with no output.", "stderr": "", "error": False, "chart_base64": None}


def test_code_that_is_no_python(execute):
    result = execute("x = = 1")
    assert result["error"] is True and "SyntaxError" in result["stderr"]


def test_timeout(execute):
    result = execute("print('before', flush=True)\nwhile True: pass", timeout=1)
    assert result["error"] is True and result["stdout"] == "before\n"
    assert result["stderr"] == "ExecutionTimeout: code execution exceeded 1s limit\n"


def test_a_program_has_all_of_its_time(execute):
    seconds = 2 * cells.SLOWNESS
    result = execute(f"import time\ntime.sleep({0.85 * seconds})\nprint('slept')", timeout=seconds)
    assert result["stdout"] == "slept\n" and result["error"] is False


def test_a_launch_that_fails_is_returned(execute, make):
    for options in ({"tree": "no-such"}, {"policy": "no-such"}, {"binary": "/no/hotcell"}):
        result = execute("1", **options)
        assert result["error"] is True and result["stderr"].startswith("SandboxError: [") and result["stdout"] == ""
    hidden = execute("1", binary="/no/password=hunter2")["stderr"]
    assert "hunter2" not in hidden and "<REDACTED>" in hidden


@pytest.mark.parametrize(("timeout", "message"), [
    (-1, "exec_timeout: expected 10ms to 24h, got -1"), ("soon", "exec_timeout: expected a duration such as \"60s\", got 'soon'"),
    (float("nan"), "exec_timeout: expected a finite number, got nan")])
def test_a_time_limit_that_is_none(make, timeout, message):
    """S1.2, S1.8: a wrong limit is one line in `stderr`, by the name that it has here."""
    result = asyncio.run(make(timeout, tree="base").execute("1"))
    assert result == {"stdout": "", "stderr": f"SandboxError: [InputError] {message}", "error": True, "chart_base64": None}


def test_arguments_of_wrong_types(make):
    """S1.2, S1.8: arguments that mean nothing are refused by their names."""
    with pytest.raises(InputError, match="^working_dir: expected a name or a path, got NoneType$"):
        AsyncCodeExecutor(None)
    for code, kind in ((None, "NoneType"), (["ls"], "list")):
        assert asyncio.run(make().execute(code))["stderr"] == f"SandboxError: [InputError] code: expected str, got {kind}"


def test_a_working_directory_that_went_away(make, tmp_path):
    executor = make()
    (tmp_path / "work" / "dir").rmdir()
    result = asyncio.run(executor.execute("1"))
    assert result["error"] is True and result["stderr"].startswith("SandboxError: [FileNotFoundError]")


def test_nothing_of_the_callers_environment_is_seen(execute, monkeypatch):
    monkeypatch.setenv("HOTCELL_TEST_SECRET", "seen")
    monkeypatch.setenv("_SANDBOX_CFG", "seen")
    result = execute("import os\nprint(sorted(os.environ), 'seen' in str(os.environ))")
    assert "False" in result["stdout"] and "SANDBOX" not in result["stdout"]


def test_the_first_figure_is_the_chart(execute, tmp_path):
    result = execute(DRAW + "plt.figure(); plt.plot([3, 1])\nprint(np.arange(3).sum(), pd.Series([1]).sum())", tree=None)
    assert result["error"] is False and result["stdout"] == "3 1\n"
    assert base64.b64decode(result["chart_base64"]).startswith(PNG)
    assert os.listdir(tmp_path / "work" / "dir") == []


def test_the_working_directory_has_its_own_path(execute, tmp_path):
    work = tmp_path / "work" / "dir"
    work.mkdir(parents=True)
    (work / "data.csv").write_text("a,b\n1,2\n")
    assert execute(f"print(os.getcwd(), open('data.csv').read(), open('{work}/data.csv').read() == open('data.csv').read())") == {
        "stdout": f"{work} a,b\n1,2\n True\n", "stderr": "", "error": False, "chart_base64": None}
    execute(f"open('{work}/whole.txt', 'w').write('1'); open('part.txt', 'w').write('2')")
    assert (work / "whole.txt").read_text() + (work / "part.txt").read_text() == "12"


def test_code_goes_on_with_what_earlier_code_left(execute, tmp_path):
    work = tmp_path / "work" / "dir"
    execute("os.makedirs('deep/er'); open('deep/er/log.txt', 'w').write('one\\n'); open('old.txt', 'w').write('old')")
    execute(f"with open('{work}/deep/er/log.txt', 'a') as log:\n    log.write('two\\n')\n"
            "os.rename('old.txt', 'new.txt'); os.chmod('new.txt', 0o640); open('temp', 'w').close(); os.remove('temp')")
    assert (work / "deep/er/log.txt").read_text() == "one\ntwo\n"
    assert sorted(path.name for path in work.rglob("*")) == ["deep", "er", "log.txt", "new.txt"]
    assert (work / "new.txt").read_text() == "old" and (work / "new.txt").stat().st_mode & 0o777 == 0o640
    execute("os.remove('deep/er/log.txt'); os.removedirs('deep/er'); 1/0")
    assert os.listdir(work) == ["new.txt"]  # an error undoes nothing
    execute("os.remove('new.txt'); os.mkdir('new.txt'); open('new.txt/x', 'w').close()")
    assert (work / "new.txt" / "x").is_file()


def test_the_caller_may_be_where_no_cell_can_go(execute, tmp_path, monkeypatch):
    """A launcher that is root has another user's id in the cell, who may not enter the caller's private directory."""
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    monkeypatch.chdir(private)
    assert execute("open('x', 'w').write('here'); print(os.listdir('.'))")["stdout"] == "['x']\n"


def test_many_changes_at_once(execute, tmp_path):
    execute("for n in range(500):\n    open(f'file-{n}', 'w').write(str(n))")
    work = tmp_path / "work" / "dir"
    assert sorted(int(path.read_text()) for path in work.iterdir()) == list(range(500))
    execute("for n in range(500):\n    os.remove(f'file-{n}')")
    assert os.listdir(work) == []


def test_a_font_of_the_callers(execute, tmp_path):
    mono = "/usr/share/matplotlib/mpl-data/fonts/ttf/DejaVuSansMono.ttf"
    (tmp_path / "work" / "dir").mkdir(parents=True)
    shutil.copy(mono, tmp_path / "work" / "dir" / "kt_font.ttf")
    result = execute("fm.fontManager.addfont('kt_font.ttf')\nplt.rcParams['font.family'] = 'DejaVu Sans Mono'\n"
                     "print(fm.findfont('DejaVu Sans Mono'))\nplt.title('own')", tree=None)
    assert result["error"] is False and result["chart_base64"], result


def test_what_is_outside_of_the_working_directory_stays_closed(execute, tmp_path):
    (tmp_path / "work" / "dir").mkdir(parents=True)
    (tmp_path / "work" / "beside.txt").write_text("secret")
    for path in (tmp_path / "work" / "beside.txt", "/etc/passwd", "../beside.txt"):
        result = execute(f"print(open('{path}').read())")
        assert result["error"] is True and "secret" not in result["stdout"]
    execute(f"open('{tmp_path}/work/beside.txt', 'w').write('changed')")
    assert (tmp_path / "work" / "beside.txt").read_text() == "secret"


@pytest.mark.parametrize("what", ["files", "bytes"])
def test_a_large_directory_can_be_read(make, tmp_path, caplog, what):
    """S1.19, S1.20: code reads a working directory that is too large for a copy, and what it leaves in /output comes there."""
    executor = make(tree="base")
    (executor.working_dir / "data.txt").write_text("data")
    for number in range(4200 if what == "files" else 0):  # more files than the policy lets a cell copy
        (executor.working_dir / f"file-{number}").touch()
    if what == "bytes":
        os.truncate(os.open(executor.working_dir / "hole", os.O_WRONLY | os.O_CREAT, 0o600), 300 << 20)
    code = "print(os.getcwd(), open('data.txt').read())\nopen('/output/left.txt', 'w').write('left')\nopen('data.txt', 'w')"
    with caplog.at_level(logging.WARNING, "hotcell.adapters.charts"):
        result = asyncio.run(executor.execute(code))
    reason = "more than 4096 files" if what == "files" else "more than 256M to copy"
    assert result["stdout"] == f"{executor.working_dir} data\n" and reason in caplog.text, result
    assert re.match(f"SandboxWarning: working_dir can be read alone in this run (.*{reason}.*); files that the code leaves in /output are "
                    "moved to working_dir[.]\nTraceback", result["stderr"])
    assert "PermissionError: Writing " in result["stderr"] or "Read-only file system" in result["stderr"]
    assert (executor.working_dir / "left.txt").read_text() == "left" and (executor.working_dir / "data.txt").read_text() == "data"


def test_a_directory_that_no_cell_can_have_gets_what_is_left_in_output(make, caplog):
    """S1.19, S1.20: without working_dir the code begins in /output, and is told."""
    executor = AsyncCodeExecutor("/tmp", tree="base", binary=str(cells.HOTCELL))
    name = f"left-{uuid.uuid4()}"
    try:
        result = asyncio.run(executor.execute(f"open('{name}', 'w').write('left')\nprint(os.getcwd())"))
        assert result["stdout"] == "/output\n" and not result["error"]
        assert result["stderr"].startswith("SandboxWarning: working_dir is not in the cell of this run (directory: /tmp: /tmp is the program's own")
        assert Path("/tmp", name).read_text() == "left"
    finally:
        Path("/tmp", name).unlink(missing_ok=True)


def test_files_come_to_another_file_system(execute, tmp_path, monkeypatch):
    shm = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        monkeypatch.setattr(tempfile, "tempdir", str(shm))
        execute("open('kept.txt', 'w').write('kept'); open('/output/more.txt', 'w').write('more')")
        work = tmp_path / "work" / "dir"
        assert sorted(os.listdir(work)) == ["kept.txt", "more.txt"] and (work / "kept.txt").read_text() == "kept"
        assert os.listdir(shm) == []
    finally:
        shutil.rmtree(shm)


def test_the_chart_survives_an_exception(execute):
    result = execute(DRAW + "1/0", tree=None)
    assert result["error"] is True and "ZeroDivisionError" in result["stderr"]
    assert base64.b64decode(result["chart_base64"]).startswith(PNG)


@pytest.mark.parametrize("data", [b"not a png", PNG + b"forged"])
def test_a_file_that_the_code_wrote_is_no_chart(execute, tmp_path, data):
    write = f"open('/output/figures/{{}}.png', 'wb').write({data!r})\n"
    result = execute(write.format("zzz"), tree=None)
    assert result["error"] is False and result["chart_base64"] is None
    assert (tmp_path / "work" / "dir" / "figures" / "zzz.png").read_bytes() == data
    chart = base64.b64decode(execute(write.format("aaa") + DRAW, tree=None)["chart_base64"])
    assert chart.startswith(PNG) and chart != data


FORGED = "plt.plot([1])\nforged = lambda *a, **k: a[-1].write({data!r}) if len(a) < 3 else a[1].write({data!r})\n"


@pytest.mark.parametrize("put", ["plt.gcf().savefig = forged", "type(plt.gcf()).savefig = forged",
                                 "plt.gcf().canvas.print_figure = forged"])
@pytest.mark.parametrize("data", [b"not a png", PNG + b"\x1a\nforged"])
def test_bytes_that_the_code_slips_into_a_figure_are_no_chart(execute, put, data):
    code = FORGED.format(data=data) + put + "\nimport io\nfile = io.BytesIO()\nplt.gcf().savefig(file)\nprint(file.getvalue())"
    result = execute(code, tree=None)
    assert result["stdout"] == f"{data!r}\n"  # outside of hotcell's own drawing it works
    chart = result["chart_base64"]
    assert chart is None or base64.b64decode(chart).endswith(b"IEND\xaeB`\x82")


def test_what_is_a_picture(execute):
    drawn = base64.b64decode(execute(DRAW, tree=None)["chart_base64"])
    assert png.is_picture(drawn)
    for other in (b"", drawn[:8], drawn[:-1], drawn + b"x", drawn[:8] + drawn, drawn[:-12], drawn[:40] + b"!" + drawn[41:],
                  b"GIF89a" + drawn, drawn[:33] + struct.pack(">I", 300) + b"tEXt" + b"x" * 300 + struct.pack(
                      ">I", zlib.crc32(b"tEXt" + b"x" * 300)) + drawn[33:]):
        assert not png.is_picture(other), other[:60]


def test_the_first_open_figure_is_the_chart_whatever_was_saved_before(execute):
    code = DRAW + "plt.figure(figsize=(1, 1)); plt.plot([3, 1]); plt.savefig('/output/figures/small.png')"
    chart, plain = (base64.b64decode(execute(each, tree=None)["chart_base64"]) for each in (code, DRAW))
    assert chart[16:24] == plain[16:24]  # its width and height


def test_a_marker_on_stdout_is_no_chart(execute):
    result = execute("print('__CHART_RESULT_SIGNATURE__: ' + '0' * 64)\nprint('/etc/passwd')")
    assert result["chart_base64"] is None


def tampered(monkeypatch, change):
    """Something on the host changes what the cell left, between its end and the look at it."""
    arun = charts.arun

    async def then_change(*arguments, **options):
        result = await arun(*arguments, **options)
        change(Path(options["output_dir"]), result)
        return result
    monkeypatch.setattr(charts, "arun", then_change)


@pytest.mark.parametrize("what", ["chart", "manifest", "signature", "key"])
def test_what_does_not_match_is_refused(execute, monkeypatch, caplog, what):
    def change(directory, result):
        manifest = directory / "manifest.json"
        text = manifest.read_text()
        if what == "chart":
            result.figures[0].location.write_bytes(PNG + b"forged")
        elif what == "manifest":
            manifest.write_text(text.replace('"partial": false', '"partial": true'))
        elif what == "signature":
            manifest.write_text(json.dumps({**json.loads(text), "signature": None}))
        else:
            manifest.write_text(text.replace(json.loads(text)["signature"]["value"], "0" * 64))
    tampered(monkeypatch, change)
    with caplog.at_level(logging.WARNING, "hotcell.adapters.charts"):
        result = execute(DRAW, tree=None)
    assert result["error"] is True and result["chart_base64"] is None
    assert result["stderr"] == "Security: HMAC verification failed"
    assert "chart refused" in caplog.text


def test_a_chart_whose_directory_leads_elsewhere_is_refused(execute, monkeypatch, caplog, tmp_path):
    def change(directory, _result):
        (directory / "figures").rename(tmp_path / "elsewhere")
        (directory / "figures").symlink_to(tmp_path / "elsewhere")
    tampered(monkeypatch, change)
    with caplog.at_level(logging.WARNING, "hotcell.adapters.charts"):
        result = execute(DRAW, tree=None)
    assert result["error"] is True and result["chart_base64"] is None
    assert result["stderr"] == "Security: chart path escape attempt"
    assert [record.levelname for record in caplog.records] == ["WARNING"] and "path escape attempt" in caplog.text


def test_no_secret_is_in_the_cell(execute):
    result = execute("import os\n"
                     "seen = [os.path.join(d, f) for top in ('/input', '/output', '/tmp') for d, _, names in os.walk(top)"
                     " for f in names]\n"
                     "print(seen, [name for name in os.environ if 'KEY' in name or 'SECRET' in name])")
    assert result["stdout"] == "[] []\n"


def test_output_is_redacted_and_short(execute):
    result = execute("print('api_key=abc123'); print('x' * 5000)\n"
                     "import sys; print('postgres://u:p@h/db MySQL://u:p@h/db', file=sys.stderr)")
    assert "abc123" not in result["stdout"] and "api_key=<REDACTED>" in result["stdout"]
    assert result["stdout"].endswith("\n... [OUTPUT TRUNCATED FOR SECURITY]") and len(result["stdout"]) < 2100
    assert result["stderr"] == "postgres://<REDACTED>@<REDACTED> MySQL://<REDACTED>@<REDACTED>\n"


def test_bytes_that_are_no_utf8(execute):
    result = execute("import os; os.write(1, b'a\\xffb\\n')")
    assert result["stdout"] == "a\ufffdb\n"


def test_temporary_files_go_and_the_codes_own_stay(execute, tmp_path):
    execute("import os; os.mkdir('sub'); open('sub/kept.txt', 'w').write('kept')")
    work = tmp_path / "work" / "dir"
    assert sorted(str(path.relative_to(work)) for path in work.rglob("*")) == ["sub", "sub/kept.txt"]
    execute("1/0")
    execute("while True: pass", timeout=1)
    assert os.listdir(work) == ["sub"]


def test_a_link_in_the_working_directory_is_not_followed(execute, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "work" / "dir").mkdir(parents=True)
    (tmp_path / "work" / "dir" / "sub").symlink_to(tmp_path / "other")
    execute("import os; os.mkdir('/output/sub'); open('/output/sub/x', 'w').write('kept')")
    execute("import os; os.unlink('sub'); os.mkdir('sub'); open('sub/x', 'w').write('kept')")
    assert os.listdir(tmp_path / "other") == [] and os.listdir(tmp_path / "work" / "dir" / "sub") == ["x"]


@pytest.mark.parametrize("what", ["file", "directory"])
def test_what_is_exchanged_for_a_link_meanwhile_is_not_followed(what, tmp_path, monkeypatch, caplog):
    """The directory gets another name, and a link its own, at each moment at which a path could just have been checked."""
    for at in range(40):
        root = tmp_path / str(at)
        directory, victim, made = root / "dir", root / "victim", root / "output/changes/0/sub"
        for folder in (directory / "sub", victim, made):
            folder.mkdir(parents=True)
        (made / "f").write_text("of the program")
        (made / "d").mkdir()
        entry = {"path": "sub/f", "change": "added", "now": {"kind": "file", "mode": "0644"}}
        if what == "directory":
            entry = {"path": "sub/d", "change": "added", "now": {"kind": "directory", "mode": "0755"}}
        manifest = {"dirs": [{"changes": {"directory": "changes/0", "entries": [entry]}}]}
        left = [at]

        def exchange(*_, left=left, directory=directory, victim=victim):
            left[0] -= 1
            if left[0] == -1:
                rename(directory / "sub", directory / "moved")
                link(victim, directory / "sub")
        rename, link = os.rename, os.symlink
        with monkeypatch.context() as patch:
            for name in ("open", "stat", "lstat", "replace", "mkdir", "chmod", "readlink"):
                patch.setattr(os, name, exchanging(getattr(os, name), exchange))
            workdir.apply_changes(types.SimpleNamespace(manifest=manifest), root / "output", directory)
        assert os.listdir(victim) == [], at
        if left[0] >= 0:
            break
    assert left[0] >= 0 and at > 3


def exchanging(call, exchange):
    def wrapper(*args, **kwargs):
        exchange()
        return call(*args, **kwargs)
    return wrapper


def test_modes_of_something_else_and_paths_that_lead_out_are_refused(tmp_path, caplog):
    (tmp_path / "dir").mkdir()
    (tmp_path / "outside").write_text("kept")
    (tmp_path / "dir/f").write_text("exchanged")
    (tmp_path / "dir/f").chmod(0o600)
    entries = [{"path": "f", "change": "mode", "was": {"kind": "file", "mode": "0644"}, "now": {"kind": "file", "mode": "0666"}},
               {"path": "../outside", "change": "removed", "was": {"kind": "file", "mode": "0644"}, "now": None}]
    result = types.SimpleNamespace(manifest={"dirs": [{"changes": {"directory": "changes/0", "entries": entries}}]})
    workdir.apply_changes(result, tmp_path / "output", tmp_path / "dir")
    assert oct((tmp_path / "dir/f").stat().st_mode) == "0o100600" and (tmp_path / "outside").exists()
    workdir.keep_file(tmp_path / "outside", tmp_path / "dir", "../other")
    assert (tmp_path / "outside").exists() and caplog.text.count("no path below") == 2 and "something else" in caplog.text


def test_runs_side_by_side(make):
    async def all_of_them():
        executor = make(tree="base")
        return await asyncio.gather(*(executor.execute(f"print({n})") for n in range(3)))
    assert [result["stdout"] for result in asyncio.run(all_of_them())] == ["0\n", "1\n", "2\n"]


def test_a_cancelled_run_leaves_nothing(make, tmp_path, monkeypatch):
    work, temporary = tmp_path / "work" / "dir", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    async def cancel():
        task = asyncio.ensure_future(make(tree="base").execute("while True: pass"))
        while not list(temporary.glob("hotcell-*/output")):
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()
    assert asyncio.run(cancel()) and os.listdir(work) == os.listdir(temporary) == []
