"""The policy `statistics`: one frame, its libraries, a dict of results."""

import builtins
import json

import cells
import pytest

pytestmark = pytest.mark.usefixtures("base_tree")

ALLOWED = "pandas numpy scipy statsmodels matplotlib seaborn sklearn math statistics datetime json".split()
DANGEROUS = "os sys subprocess eval exec compile open __import__ vars".split()
BUILTINS = ("abs all any bool dict enumerate filter float int len list map max min range round set sorted str sum tuple type "
            "zip print isinstance hasattr getattr setattr locals globals Exception ValueError TypeError KeyError IndexError "
            "AttributeError").split()
# What ordinary scripts use besides, none of which reaches further than the names above.
HARMLESS = ("bin chr ord hex oct divmod pow issubclass callable iter next reversed slice frozenset bytes bytearray complex format "
            "repr ascii delattr hash id").split()
EXCEPTIONS = [name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException) and name[0] != "_"]
OF_CLASSES = "object super property classmethod staticmethod".split()  # without them class statements are of little use


def run(code, *options, tree="base"):
    return cells.run(code, *options, policy="statistics", tree=tree)


def findings(result):
    assert (result.manifest["status"], result.status) == ("rejected", 2), result
    return [finding["message"] for finding in result.manifest["rejection"]["findings"]]


@pytest.fixture
def frame(tmp_path):
    path = tmp_path / "df.csv"
    path.write_text("group,score\na,1\na,2\nb,3\nb,4\n")
    return f"df={path}"


def test_every_allowed_import_works():
    code = "".join(f"import {name}\n" for name in ALLOWED) + "from scipy import stats as s\nimport sklearn.linear_model\n"
    result = run(code + "print('all')", tree="scientific")
    assert (result.manifest["status"], result.stdout) == ("ok", "all\n"), result


@pytest.mark.parametrize("statement", ["import collections", "from pathlib import Path", "import plotly.express", "import re"])
def test_other_imports_are_refused_before_anything_runs(statement):
    result = run(f"print('ran')\n{statement}")
    assert len(findings(result)) == 1 and result.stdout == ""


def test_the_frame_has_two_names_and_is_a_copy(frame, tmp_path):
    before = (tmp_path / "df.csv").read_bytes()
    result = run("df['score'] = 0\nprint(data is df, list(data.score), len(df))", "--input", frame, tree="scientific")
    assert result.stdout == "True [0, 0, 0, 0] 4\n", result
    assert (tmp_path / "df.csv").read_bytes() == before


@pytest.mark.parametrize("name", DANGEROUS)
def test_dangerous_imports_and_calls(name):
    said = f"Dangerous import/function detected: {name}"
    assert findings(run(f"import {name}\n" if name != "__import__" else "__import__(x)\n")) == [said]
    assert findings(run(f"from {name} import x\n")) == [said]
    assert findings(run(f"def f():\n    return {name}(x)\n")) == [said]


def test_programs_that_only_look_dangerous_run():
    """Patterns over the text refused these; the syntax tree tells them apart."""
    result = run("# import os\ntext = 'eval(1) open(2)'\nsystem = {'os': 1}\nprint(text, 'sys' in system)")
    assert result.stdout == "eval(1) open(2) False\n", result


def test_a_script_that_is_too_long():
    assert findings(run("#" * 10_001)) == ["Script too long"]
    result = run("print(1)\n#" + "\u00e4" * 9_990)
    assert result.stdout == "1\n", result  # 10 000 characters, though more bytes


@pytest.mark.parametrize("code, warned", [
    ("x = None\nif x:\n    x.read()\n", True), ("x = None\nif x:\n    x.write('a')\n", True),
    ("x = None\nif x:\n    x.write('a')\n    plt.savefig('b')\n", False), ("while True:\n    break\n", True),
    ("while 1:\n    break\n", True), ("x = 1\nwhile x < 3:\n    x += 1\n", False),
    ("x = 1", False)])
def test_soft_warnings_do_not_refuse(code, warned):
    result = run(code)
    assert result.manifest["status"] == "ok", result
    messages = [warning["message"] for warning in (result.manifest["check"] or {"warnings": []})["warnings"]]
    assert bool(messages) == warned, messages
    if "while" in code and warned:
        assert messages == ["Potential infinite loop detected"]


def test_modules_that_are_there():
    result = run("print(*(m.__name__ for m in (pd, np, plt, sns, stats, sm, warnings, math)))", tree="scientific")
    assert result.stdout.split() == ("pandas numpy matplotlib.pyplot seaborn scipy.stats statsmodels.api warnings "
                                     "math").split(), result


def test_the_builtins_that_there_are():
    result = run("print([n for n in " + repr(BUILTINS) + " if n not in globals()['__builtins__']])\n"
                 "print(sorted(n for n in globals()['__builtins__'] if n[0] != '_'))")
    missing, there = (json.loads(line.replace("'", '"')) for line in result.stdout.splitlines())
    assert missing == [] and set(there) == {*BUILTINS, *HARMLESS, *EXCEPTIONS, *OF_CLASSES}, set(there) ^ set(BUILTINS)


@pytest.mark.parametrize("name", ["memoryview", "input", "dir", "exit", "help", "breakpoint"])
def test_builtins_that_there_are_not(name):
    result = run(f"try:\n    {name}\nexcept Exception as error:\n    print(error)")
    assert result.stdout == f"name '{name}' is not defined\n", result


def test_ordinary_code_runs():
    result = run("""
        assert issubclass(bool, int) and bin(5) == "0b101" and chr(ord("a") + 1) == "b" and next(iter([1])) == 1
        try:
            assert not df_is_missing, "never said"
        except (AssertionError, NameError, ZeroDivisionError, FileNotFoundError) as error:
            print(type(error).__name__, repr("a"), list(reversed("ab")))
    """)
    assert result.stdout == "NameError 'a' ['b', 'a']\n", result


def test_classes_and_comprehensions_can_be_made():
    result = run("class A:\n    def __init__(self, x):\n        self.x = x\nprint([A(i).x for i in range(3)], "
                 "{k: v for k, v in zip('ab', (1, 2))})")
    assert result.stdout == "[0, 1, 2] {'a': 1, 'b': 2}\n", result


def test_what_was_done_before():
    result = run("""
        print(plots_dir, plt.isinteractive())
        warnings.warn('not shown')
        plt.plot([1])
        plt.savefig(plots_dir + '/own.svg')
    """, tree="scientific")
    assert (result.stdout, result.stderr) == ("/output/plots False\n", ""), result
    assert "plots/own.svg" in result.files()


def test_results_come_back():
    result = run("""
        import numpy
        results['summary_statistics']['mean'] = numpy.float64(1.5)
        results['test_results']['t'] = {'p': 0.25, 'ok': numpy.bool_(True)}
        results['interpretation'] += 'fine'
        results['own'] = [numpy.arange(3)]
    """, tree="scientific")
    assert result.manifest["guest"]["results"] == {
        "summary_statistics": {"mean": 1.5}, "test_results": {"t": {"p": 0.25, "ok": True}}, "plots": [],
        "assumptions": {}, "interpretation": "fine", "own": [[0, 1, 2]]}, result


def test_results_that_are_there_untouched_or_replaced():
    empty = {"summary_statistics": {}, "test_results": {}, "plots": [], "assumptions": {}, "interpretation": ""}
    assert run("x = 1").manifest["guest"]["results"] == empty
    assert run("results = {'mine': 1}").manifest["guest"]["results"] == {"mine": 1}


def test_results_survive_an_exception():
    result = run("print('partial')\nresults['interpretation'] = 'so far'\n1/0")
    assert (result.status, result.stdout) == (1, "partial\n")
    assert result.manifest["guest"]["results"]["interpretation"] == "so far"
    assert result.manifest["guest"]["error"]["type"] == "ZeroDivisionError"


def test_show_saves_the_current_figure():
    result = run("""
        plt.plot([1, 2])
        plt.show()
        plt.figure()
        plt.show()
        plt.bar([1], [2])
        plt.show()
        print(results['plots'], plt.get_fignums())
    """, tree="scientific")
    assert result.stdout == "['plot_1.png', 'plot_2.png'] []\n", result
    assert [figure["path"] for figure in result.manifest["figures"]] == ["plots/plot_1.png", "plots/plot_2.png"]
    assert (result.output / "plots" / "plot_1.png").read_bytes().startswith(b"\x89PNG")


def test_a_plot_that_cannot_be_saved():
    result = run("plt.plot([1])\nplt.gcf().savefig = None\nplt.show()\nprint('on')", tree="scientific")
    assert result.stdout.startswith("Warning: Could not save plot: ") and result.stdout.endswith("on\n"), result


def test_streams_are_apart():
    result = run("warnings.simplefilter('always')\nwarnings.warn('on stderr')\nprint('on stdout')")
    assert result.stdout == "on stdout\n" and "on stderr" in result.stderr and result.status == 0, result


def test_the_time_out_is_real():
    result = run("print('before')\nwhile True:\n    pass", "--timeout", "1s", "--grace", "0")
    assert (result.manifest["status"], result.status, result.stdout) == ("timeout", 3, "before\n"), result
    assert result.manifest["usage"]["wall"] >= 1
    assert json.loads(cells.hotcell("policy", "show", "statistics").stdout)["limits"]["timeout"] == "60s"


def test_columns_that_the_script_uses(frame):
    result = run("x = df['group'], df[\"score\"], data.score, df.missing_one, df.mean\n", "--input", frame,
                 tree="scientific")
    columns = result.manifest["check"]["columns"]
    assert set(columns["df"]) >= {"group", "score", "missing_one"} and columns["data"] == ["score"], columns
