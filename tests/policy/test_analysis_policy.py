"""The policy `analysis`: what its programs may import, call and open."""

import json
import re
import subprocess
import sys

import cells
import pytest

pytestmark = pytest.mark.usefixtures("base_tree")

ALLOWED = ("pandas numpy scipy scipy.stats scipy.special statsmodels statsmodels.api statsmodels.formula.api matplotlib "
           "matplotlib.pyplot plotly plotly.express plotly.graph_objects plotly.io collections math statistics re json "
           "datetime itertools").split()
BLOCKED_CALLS = "eval exec compile __import__ breakpoint exit quit input globals".split()
BLOCKED_ATTRIBUTES = ("__subclasses__ __bases__ __mro__ __class__ __globals__ __code__ __closure__ __builtins__ __loader__ "
                      "__spec__ __import__ __qualname__").split()


def run(code, *options, tree="base"):
    return cells.run(code, *options, policy="analysis", tree=tree)


def messages(result):
    assert (result.manifest["status"], result.status) == ("rejected", 2), result
    return [finding["message"] for finding in result.manifest["rejection"]["findings"]]


def denied(result, layer):
    return [denial for denial in result.manifest["denials"] if denial["layer"] == layer]


def test_the_allowlist():
    shown = json.loads(cells.hotcell("policy", "show", "analysis").stdout)
    assert shown["imports"]["allow"] == ALLOWED and len(ALLOWED) == 21
    assert shown["attributes"]["deny"] == BLOCKED_ATTRIBUTES and len(BLOCKED_ATTRIBUTES) == 12
    assert shown["calls"]["deny"] == BLOCKED_CALLS


def test_every_allowed_module_can_be_imported():
    """All of them, in both forms, and what they import for themselves: of that, nothing is judged."""
    code = "".join(f"import {name}\nfrom {name} import *\n" for name in ALLOWED)
    result = run(code + "print('all')", tree="scientific")
    assert (result.manifest["status"], result.stdout) == ("ok", "all\n"), result


@pytest.mark.parametrize("module", ["scipy.optimize", "os", "sys", "pandas.io", "matplotlib.figure", "collections.abc"])
def test_import_of_a_name_that_is_not_listed_itself(module):
    assert messages(run(f"import {module}")) == [f"Import not allowed: {module}"]


def test_every_refused_import_is_named():
    assert messages(run("import os, math, sys\ndef f():\n    import socket as s\n")) == [
        f"Import not allowed: {name}" for name in ("os", "sys", "socket")]


def test_from_a_package_whose_top_is_listed():
    result = run("from pandas.io import json\nfrom json.decoder import JSONDecodeError\nprint(json.__name__)",
                 tree="scientific")
    assert (result.manifest["status"], result.stdout) == ("ok", "pandas.io.json\n"), result


@pytest.mark.parametrize("statement", ["from pandas.io import json", "import pandas", "from scipy import stats", "import statsmodels.api"])
def test_libraries_are_loaded_without_noise(scientific, statement):
    """S0.7: while they are loaded, modules of Cython run a text that asks the module "inspect" something."""
    result = run(statement + "\nprint(1)", tree="scientific")
    assert (result.stdout, result.stderr) == ("1\n", "")


@pytest.mark.parametrize("statement, named", [
    ("from os import path", "os"), ("from os.path import join", "os.path"), ("from urllib.request import urlopen",
                                                                            "urllib.request")])
def test_from_a_package_that_is_not(statement, named):
    assert messages(run(statement)) == [f"Import not allowed: {named}"]


@pytest.mark.parametrize("statement", ["from . import x", "from .. import x", "from .pandas import x"])
def test_relative_imports(statement):
    assert len(messages(run(statement))) == 1


@pytest.mark.parametrize("name", BLOCKED_CALLS)
def test_calls_of_blocked_builtins(name):
    assert messages(run(f"print(1)\n{name}(x)\n")) == [f"`{name}()` is not allowed in the sandbox."]


@pytest.mark.parametrize("name", BLOCKED_ATTRIBUTES)
def test_blocked_attributes(name):
    assert messages(run(f"x = 1\nx.{name}\n")) == [f"Access to `{name}` is not allowed in the sandbox."]


def test_attributes_that_are_not_blocked():
    """The list is the row's, no longer."""
    result = run("def f():\n    'it'\nprint(f.__name__, f.__doc__, f.__dict__, (1).__add__(1))")
    assert result.stdout == "f it {} 2\n", result


def test_imports_at_run_time():
    result = run("""
        names = ["math", "scipy.optimize.nothing", "json.decoder", "os", "socket", "_io"]
        importer = next(value for name, value in vars(__builtins__).items() if name == "__import" "__") \\
            if not isinstance(__builtins__, dict) else __builtins__["__import" "__"]
        for name in names:
            try:
                importer(name)
                print(name, "imported")
            except ImportError as error:
                print(name, error)
    """)
    assert result.stdout.splitlines() == [
        "math imported", "scipy.optimize.nothing No module named 'scipy'", "json.decoder imported",
        "os Import not allowed: os", "socket Import not allowed: socket", "_io Import not allowed: _io"], result
    assert {denial["rule"] for denial in denied(result, "runtime")} == {"imports"}


def test_getattr_refuses_blocked_names():
    result = run("""
        for name in ["__cla" "ss__", "__glo" "bals__", "__mr" "o__"]:
            try:
                print(getattr(print, name))
            except AttributeError as error:
                print(error)
        print(getattr(1, "missing", "default"), getattr("a", "upper")())
        try:
            getattr(1, "missing")
        except AttributeError as error:
            print(error)
    """)
    lines = result.stdout.splitlines()
    assert lines[:3] == [f"Access to `{name}` is not allowed in the sandbox."
                         for name in ("__class__", "__globals__", "__mro__")], result
    assert lines[3] == "default A"
    assert lines[4] == "'int' object has no attribute 'missing'"
    assert {denial["rule"] for denial in denied(result, "runtime")} == {"attributes"}


def test_vars_drops_blocked_names():
    result = run("""
        class A:
            kept = 1
        def f():
            pass
        import json
        print("kept" in vars(A), sorted(set(vars(json)) & {"__loader__", "__spec__", "__builtins__", "__name__"}))
        print(sorted(name for name in vars() if name in ("A", "f", "__loader__", "__spec__", "__builtins__")))
    """)
    assert result.stdout.splitlines() == ["True ['__name__']", "['A', 'f']"], result


def test_the_programs_builtins():
    result = run(f"""
        import json
        found = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
        print(json.dumps(sorted(found)))
    """)
    builtins = set(result.facts())
    public = set(subprocess.run([sys.executable, "-ISc", "print(*dir(__builtins__))"], capture_output=True, text=True,
                                check=True).stdout.split())
    public = {name for name in public if not name.startswith("_")}
    expected = public - set(BLOCKED_CALLS)
    assert expected <= builtins, expected - builtins
    assert not builtins & (set(BLOCKED_CALLS) - {"__import__"})
    assert {"__import__", "getattr", "vars", "open", "print"} <= builtins


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    return path


READ = "Sandbox can only read pre-loaded datasets and files inside its own output_dir."
WRITE = "Sandbox can only write inside output_dir."
LOOP = "Too many levels of symbolic links"


@pytest.mark.parametrize("call, message", [
    ("open('/etc/passwd')", READ), ("open('/usr/lib/python3.11/os.py')", READ), ("open('../etc/passwd')", READ),
    ("open('/output/../etc/passwd')", READ), ("open('/tmp/x')", READ), ("open('/proc/self/maps')", READ),
    ("open('/tmp/x', 'w')", WRITE), ("open('/input/x', 'a')", WRITE), ("open('/etc/passwd', 'r+')", WRITE),
    ("open('/output/../tmp/x', 'x')", WRITE), ("open('/usr/x', 'wb')", WRITE),
    ("(output_dir / '../etc/passwd').read_text()", READ), ("(output_dir / '../tmp/x').write_text('')", WRITE),
])
def test_zones_of_open(call, message):
    result = run(f"try:\n    {call}\nexcept PermissionError as error:\n    print(str(error).partition('] ')[2] or error)")
    assert result.stdout.strip().startswith(message), result
    assert denied(result, "audit")


def test_open_reads_inputs_and_writes_outputs(tmp_path):
    (tmp_path / "d.txt").write_text("a line\n")
    result = run("""
        with open('/output/note.txt', 'w') as file:
            file.write('hello')
        with open('note.txt', 'a+') as file:
            file.seek(0)
            print(file.read(), (output_dir / 'note.txt').read_text())
        print(open('/input/d.txt').readline().strip(), open(d).read())
    """, "--input", f"d={tmp_path / 'd.txt'}")
    assert result.stdout.splitlines() == ["hello hello", "a line a line", ""], result
    assert result.files() == ["note.txt"] and result.manifest["denials"] == []


@pytest.mark.parametrize("target, path, mode, message", [
    ("/output", "/tmp/link/note", "w", LOOP), ("/", "/tmp/link/output/note", "a", LOOP),
    ("/", "/tmp/link/etc/passwd", "r", READ), ("/output", "/tmp/link/../tmp/note", "w", WRITE)])
def test_links_are_followed_before_the_zone_is_looked_at(target, path, mode, message):
    """One that the policy's own code made. What leads into a zone the kernel refuses then: it follows none there."""
    policy = {"extends": "analysis", "prelude": {"code": f"import os; os.symlink({target!r}, '/tmp/link')"}}
    result = cells.run(f"try:\n    open({path!r}, {mode!r}).close()\nexcept OSError as error:\n    print(error)", policy=policy)
    assert result.manifest["status"] == "ok" and message in result.stdout, result
    assert bool(denied(result, "audit")) == (message != LOOP) and result.files() == []


def test_open_can_be_called_by_its_name():
    assert run("open('a', 'w').close()").files() == ["a"]


def test_classes_can_be_made():
    result = run("""
        import collections
        class Point(collections.namedtuple('Point', 'x y')):
            @property
            def sum(self):
                return self.x + self.y
            @classmethod
            def zero(cls):
                return cls(0, 0)
            @staticmethod
            def two():
                return 2
        class Named(Point):
            def __init__(self, *args):
                super().__init__()
                self.name = 'n'
        print(Point(1, 2).sum, Point.zero(), Point.two(), Named(3, 4).sum, isinstance(Named(1, 1), Point))
    """)
    assert result.stdout == "3 Point(x=0, y=0) 2 7 True\n", result


def test_what_is_there_already(data):
    result = run("""
        print(output_dir, type(output_dir).__name__, output_dir.is_dir(), _rpln_plotly_figs)
        print(pd.__name__, np.__name__, px.__name__, go.__name__, list(d.a))
    """, "--input", f"d={data}", tree="scientific")
    assert result.stdout.splitlines() == ["/output PosixPath True []",
                                          "pandas numpy plotly.express plotly.graph_objects [1, 2]"], result


def test_a_library_that_is_missing_is_left_out():
    assert run("try:\n    np\nexcept NameError as error:\n    print(error)").stdout == "name 'np' is not defined\n"


FIGURES = """
import matplotlib.pyplot as plt
for i in range(4):
    plt.figure()
    plt.plot([i, 1])
    go.Figure(go.Scatter(y=[i])).show()
"""


def test_figures_of_both_kinds_up_to_the_limit():
    result = run(FIGURES, "--max-figures", "3", tree="scientific")
    names = [figure["path"] for figure in result.manifest["figures"]]
    for pattern in (r"figures/fig_[0-9a-f]{12}\.png", r"figures/plotly_[0-9a-f]{12}\.json"):
        assert sum(bool(re.fullmatch(pattern, name)) for name in names) == 3, names
    for name in names:
        content = (result.output / name).read_bytes()
        assert content.startswith(b"\x89PNG") if name.endswith("png") else json.loads(content)["data"]


def test_a_figure_that_cannot_be_saved_is_no_failure():
    result = run("""
        import matplotlib.pyplot as plt
        plt.figure()
        plt.plot([1])
        plt.gcf().draw = 5
        print('done')
    """, tree="scientific")
    assert (result.manifest["status"], result.status, result.stdout) == ("ok", 0, "done\n"), result
    assert "Matplotlib figure capture skipped: TypeError: " in result.stderr


def test_matplotlibs_environment():
    policy = {"extends": "analysis", "imports": {"allow+": ["os", "stat"]}}
    result = cells.run("""
        import json, matplotlib.pyplot, os, stat
        mode = stat.S_IMODE(os.stat('/output/.matplotlib').st_mode)
        print(json.dumps([os.environ['MPLBACKEND'], os.environ['MPLCONFIGDIR'], oct(mode), matplotlib.get_backend().lower()]))
    """, policy=policy, tree="scientific")
    assert result.facts() == ["Agg", "/output/.matplotlib", "0o700", "agg"]


def test_limits_count_bytes():
    result = run("print('\\u00e4' * 60, end='')", "--stdout-size", "100")
    text = result.manifest["stdout"]["text"]
    assert text == "\u00e4" * 50 + "\n\n[Output truncated at 100 bytes]", result
    assert result.manifest["stdout"]["truncated"] is True


def test_the_programs_file_name():
    result = run("def f():\n    1/0\nf()")
    assert 'File "<sandbox>", line 3, in <module>' in result.stderr
    assert result.manifest["guest"]["error"]["traceback"].count("<sandbox>") == 2
