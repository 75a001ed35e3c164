"""%load_ext hotcell in a real IPython, and the file that says what a user wants."""

import json
import sys
from pathlib import Path

import cells
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402
from hotcell.adapters import notebook  # noqa: E402
from hotcell.config import Config, read_config  # noqa: E402


@pytest.fixture(name="config")
def config_file(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config" / "hotcell" / "python.json"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture(name="shell")
def ipython(monkeypatch, tmp_path, config, base_tree):
    try:
        from IPython.core.interactiveshell import InteractiveShell
    except ImportError:
        cells.skip("IPython is not installed")
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    config.write_text(json.dumps({"tree": "base", "limits": {"timeout": f"{10 * cells.SLOWNESS}s", "memory": "256M"}}))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    assert shell.run_line_magic("load_ext", "hotcell") is None
    yield shell
    shell.run_line_magic("hotcell_reset", "")
    InteractiveShell.clear_instance()


def run(shell, cell):
    """What is shown of it: standard output, standard error, texts of what is displayed."""
    from IPython.utils.capture import capture_output
    with capture_output() as shown:
        result = shell.run_cell(cell)
    assert result.success, result
    return shown.stdout, shown.stderr, [one.data for one in shown.outputs]


def test_state_lives_from_cell_to_cell(shell):
    assert run(shell, "%%hotcell\nimport math\ndef double(x): return 2 * x\nprint('hello')\ndouble(4)") == ("hello\n", "", [{"text/plain": "8"}])
    assert run(shell, "%hotcell double(5)") == ("", "", [{"text/plain": "10"}])
    assert shell.user_ns["_hotcell"].value == 10 and "double" not in shell.user_ns


def test_frames_and_arrays_go_in_and_come_back(shell, config, scientific):
    pandas, numpy = cells.need_module("pandas"), cells.need_module("numpy")
    config.write_text(json.dumps({"tree": "scientific", "limits": {"timeout": f"{60 * cells.SLOWNESS}s", "memory": "1G"}}))
    shell.run_line_magic("hotcell_reset", "")
    shell.user_ns.update(df=pandas.DataFrame({"day": pandas.to_datetime(["2024-01-02", None]), "id": ["007", "8"]}), arr=numpy.arange(3), n=2)
    run(shell, "%%hotcell -i df,arr,n -o more,twice\nmore = df.assign(n=n)\ntwice = arr * n")
    pandas.testing.assert_frame_equal(shell.user_ns["more"], shell.user_ns["df"].assign(n=2))
    assert list(shell.user_ns["twice"]) == [0, 2, 4]


def test_variables_go_in_and_come_back(shell):
    run(shell, "n = [1, 2]")
    run(shell, "%%hotcell -i n -o total,pair\ntotal = sum(n)\npair = (1, 'é')")
    assert (shell.user_ns["total"], shell.user_ns["pair"]) == (3, (1, "é"))
    assert run(shell, "%%hotcell -o f\nf = print")[1].startswith("hotcell: f did not come back")
    assert "there is no nothing in the notebook" in run(shell, "%%hotcell -i nothing\n1")[1]


def test_a_cell_that_fails_says_so(shell):
    out, err, shown = run(shell, "%%hotcell\nx = 1\n1 / 0")
    assert "ZeroDivisionError" in err and "1 / 0" in err and not shown
    out, err, shown = run(shell, "%%hotcell -t 0.3s\nx = 2\nimport os\nos._exit(3)")
    assert "the state is rolled back to run 1" in err
    assert run(shell, "%hotcell x")[2] == [{"text/plain": "1"}]
    assert "subprocess" in run(shell, "%%hotcell\nimport subprocess\nsubprocess.run([])")[1]
    assert "SyntaxError" in run(shell, "%%hotcell\nx = = 1")[1]
    assert run(shell, "%%hotcell --nothing\n1")[1].startswith("hotcell: unrecognized arguments")


def test_checkpoints_and_a_new_beginning(shell):
    run(shell, "%hotcell x = 1")
    run(shell, "%hotcell_checkpoint one")
    run(shell, "%hotcell x = 2")
    run(shell, "%hotcell_rollback one")
    assert run(shell, "%hotcell x")[2] == [{"text/plain": "1"}]
    assert "there is no checkpoint 'two'" in run(shell, "%hotcell_rollback two")[1]
    run(shell, "%hotcell_reset")
    assert "NameError" in run(shell, "%hotcell x")[1]


def test_what_could_run_in_the_page_is_not_shown(shell):
    """A notebook's page belongs to the caller: of what comes from a cell it gets text and pictures."""
    code = ("%%hotcell\nopen('a.svg', 'w').write('<svg/>')\nclass Page:\n    def _repr_html_(self): return '<script>alert(1)</script>'\n"
            "    def __repr__(self): return 'a page'\nPage()")
    for data in run(shell, code)[2]:
        assert set(data) == {"text/plain"} and "<s" not in data["text/plain"], data


# ---- the file ----

def test_the_file_and_what_comes_before_it(config, monkeypatch):
    monkeypatch.delenv("HOTCELL", raising=False)
    assert read_config() == Config()
    config.write_text(json.dumps({"policy": "notebook", "limits": {"timeout": "5s", "pids": 9}, "ok_dests": [".", "/tmp"], "binary": "/x/hotcell"}))
    found = read_config()
    assert (found.policy, found.ok_dests, found.tree, found.path) == ("notebook", (".", "/tmp"), None, config)
    assert found.options() == {"policy": "notebook", "tree": None, "limits": {"timeout": "5s", "pids": 9}, "binary": "/x/hotcell"}
    assert found.options(policy="default", timeout=3)["policy"] == "default"
    assert found.options(limits={"pids": 1}, timeout=3)["limits"] == {"timeout": 3, "pids": 1}
    monkeypatch.setenv("HOTCELL", "/y/hotcell")
    assert found.options()["binary"] is None


@pytest.mark.parametrize("text, place, message", [
    ("{", "1:2", "Expecting"), ("[1]", "1:1", "expected an object"), ("", "1:1", "Expecting value"),
    ('{\n  "policies": 1}', "2:3", "unknown member 'policies'; expected one of policy,"),
    ('{"policy":\n\n   3}', "3:4", "policy: expected a policy's name or path"), ('{"policy": ""}', "1:12", "policy: expected"),
    ('{"tree": "a",\n "tree": "b"}', "2:2", "'tree' stands twice"), ('{"limits": {"timeout": NaN}}', "1:24", "NaN is no JSON"),
    ('{"limits": {"timeout": [1]}}', "1:24", "limits.timeout: expected a number"), ('{"limits": {"pids": true}}', "1:21", "limits.pids"),
    ('{"ok_dests": ["é", 1]}', "1:14", "ok_dests: expected a list of directories"), ("[" * 100000, "1:1", "nested too deep"),
])
def test_a_bad_file_is_said_with_its_place(config, text, place, message):
    config.write_text(text)
    with pytest.raises(hotcell.PolicyError) as caught:
        read_config()
    assert str(caught.value).startswith(f"{config}:{place}: {message}"), str(caught.value)


def test_a_file_that_is_no_text(config):
    config.write_bytes(b"\xff")
    with pytest.raises(hotcell.PolicyError, match="python.json"):
        read_config()


# ---- %%py ----

@pytest.fixture(name="py")
def magic_py(shell):
    """Shows what a cell with %%py shows: standard output and standard error together."""
    shell.run_line_magic("colors", "NoColor")
    shell.run_line_magic("load_ext", "hotcell.adapters.notebook")

    def show(cell, fails=True):
        from IPython.utils.capture import capture_output
        with capture_output() as shown:
            result = shell.run_cell(cell)
        assert result.success is not fails, shown.stdout
        return shown.stdout + shown.stderr
    return show


@pytest.mark.parametrize(("cell", "shown"), [
    ("%%py\nx = 1\ny = = 2", ":2\n    y = = 2\n        ^\nSyntaxError: invalid syntax"), ("%py 3 +", ":1\n    3 +\n       ^\nSyntaxError: invalid syntax"),
    ("%%py\nx = (1,\n", ":1\n    x = (1,\n        ^\nSyntaxError: '(' was never closed"),
])
def test_a_syntax_error_is_shown_as_ipython_shows_its_own(shell, py, cell, shown):
    """S3.24: the line and the caret, and no frame of this package; the cell fails, with a SyntaxError."""
    text = py(cell)
    assert text.startswith("  File <pyrun_") and text.rstrip().endswith(shown) and text.count("\n") < 6, text
    assert "hint: Lines that begin with % or ! are notebook commands" in py("%%py\n!ls")
    shell.run_cell(f"try:\n    get_ipython().run_cell_magic('py', '', 'x = (')\nexcept SyntaxError as error:\n    told = (error.lineno, error.text)")
    assert shell.user_ns["told"] == (1, "x = (\n")


def test_other_errors_are_shown_without_frames_of_this_package(shell, py, config):
    shell.user_ns["function"] = lambda: None
    assert py("%%py\n1/0").startswith('Traceback (most recent call last):\n  File "<pyrun_')
    assert py("%%py\nx = []\nx._private").endswith("hint: Names that begin with an underscore are closed; use the public ones.\n")
    assert py("%%py\nfunction()").endswith("PermissionError: function is not allowed\nhint: The caller has to allow it: allow(function) a function or class, "
                                           'allow({C: ["function"]}) a method or attribute of C, which is its class or module.\n')
    assert "UsageError: %%py has no argument but -o: -x" in py("%%py -x\n1")
    assert "site-packages" not in (text := py("import os\n%py -o\n%py 1 + '1'")) and "hotcell/adapters" not in text
    config.write_text(json.dumps({"limits": {"pids": 1}}))
    assert "hotcell.errors.InputError: " in (text := py("from hotcell.adapters import notebook\nnotebook.load_ipython_extension(get_ipython())\n%py 1"))
    assert text.count("\n") < 4 and f"{config}:1:21: limits.pids: expected 2 to 4096, got 1" in text


def test_a_handler_of_the_users_for_other_exceptions_stays(shell, py):
    seen = []
    shell.set_custom_exc((KeyError,), lambda shell, kind, error, traceback, tb_offset=None: seen.append(kind))
    notebook.load_ipython_extension(shell)
    assert "SyntaxError: invalid syntax" in py("%py 3 +") and seen == []
    py("{}[0]")
    assert seen == [KeyError]


def test_the_runner_and_values_of_the_line_magic(shell, py):
    py("runner = %py -o\nz = %py 3 * 4\nempty = %py # nothing", fails=False)
    assert shell.user_ns["runner"] is shell.user_ns["pyrun"] and shell.user_ns["z"] == 12 and shell.user_ns["empty"] is None
