"""The policy `charts`: what its programs may import, call, open and change."""

import builtins as python
import json
import re
import subprocess
import sys

import cells
import pytest

pytestmark = pytest.mark.usefixtures("base_tree")

DENIED = ("subprocess shutil ctypes pty pexpect paramiko asyncio.subprocess signal multiprocessing threading socket "
          "http.server xmlrpc ftplib smtplib webbrowser telnetlib poplib imaplib nntplib urllib.request requests aiohttp code "
          "codeop compileall exec builtins pickle shelve marshal importlib.util tempfile gc traceback dis inspect").split()
BUILTINS = ("int float str bool list dict tuple set frozenset bytes bytearray complex range slice abs all any bin chr ord "
            "divmod hex oct max min pow round sum len sorted reversed isinstance issubclass type callable hasattr iter next "
            "enumerate zip map filter format repr ascii print getattr setattr delattr Ellipsis Exception ValueError TypeError "
            "KeyError IndexError AttributeError RuntimeError StopIteration open __import__").split()
EXCEPTIONS = [name for name, value in vars(python).items() if isinstance(value, type) and issubclass(value, BaseException) and name[0] != "_"]
REFUSED = "eval exec compile breakpoint input".split()
RISKY = "/etc /root /home /var/log /var/lib /proc /sys /dev /run /opt /usr/share /usr/local/etc".split()


def run(code, *options, tree="base"):
    return cells.run(code, *options, policy="charts", tree=tree)


def said(code, tree="base"):
    """What each line of `code`, an expression, gives or raises."""
    probe = "import json\nfound = []\n"
    for line in code:
        probe += (f"try:\n    found.append(repr({line}))\nexcept Exception as error:\n"
                  "    found.append(type(error).__name__ + ': ' + str(error))\n")
    return run(probe + "print(json.dumps(found))\n", tree=tree).facts()


def denied(result, layer):
    return [denial for denial in result.manifest["denials"] if denial["layer"] == layer]


def test_libraries_are_loaded_before_restrictions_hold():
    """Preloading imports what the program itself may not: pandas alone imports pickle, threading and inspect."""
    result = run("print(np.sum([1, 2]), len(pd.DataFrame({'a': [1]})), matplotlib.get_backend(), sns.__name__)",
                 tree="scientific")
    assert (result.manifest["status"], result.stdout.lower()) == ("ok", "3 1 agg seaborn\n"), result
    assert run("import pickle").manifest["status"] == "error"


@pytest.mark.parametrize("module", ["statsmodels.api", "statsmodels.formula.api", "plotly.express", "plotly.graph_objects", "patsy", "sklearn.linear_model"])
def test_libraries_that_load_pandas_for_themselves(module):
    """They are loaded before restrictions hold, too: pandas would complain of modules that it cannot have."""
    result = run(f"import {module}\nprint({module}.__name__)", tree="scientific")
    assert (result.stdout, result.stderr) == (f"{module}\n", ""), result


def test_what_cannot_be_preloaded_is_left_out():
    """Each for itself: without numpy and pandas, json and math are there all the same."""
    result = run("print(json.dumps(math.pi > 3), re.sub('a', 'b', 'a'), os.sep)\nprint(np)")
    assert result.stdout == "true b /\n" and "NameError" in result.stderr, result


def test_the_denylist():
    shown = json.loads(cells.hotcell("policy", "show", "charts").stdout)
    assert shown["imports"]["deny"] == DENIED and len(DENIED) == 37


def test_every_denied_module_in_every_form():
    """Dotted names too. Names that are not Python's ("exec") are refused like the rest."""
    code = "import importlib, json\nfound = {}\n"
    for name in DENIED:
        forms = [f"__import__({name!r})", f"importlib.import_module({name!r})", f"__import__({name + '.sub'!r})"]
        for form in forms:
            code += f"try:\n    {form}\nexcept Exception as error:\n    found[{form!r}] = str(error)\n"
    result = run(code + "json.dump(found, open('found.json', 'w'))")  # what is printed is cut
    found = json.loads((result.output / "found.json").read_text())
    for form, message in found.items():
        name = form.split("'")[1]
        assert message == f"Importing '{name}' is not allowed in the code sandbox."
    assert len(found) == 3 * len(DENIED)


@pytest.mark.parametrize("statement, name", [
    ("import socket", "socket"), ("import json, shutil as s", "shutil"), ("from subprocess import run", "subprocess"),
    ("from gc import *", "gc")])
def test_import_statements_of_denied_modules(statement, name):
    """They are refused when they run, not before: what comes first has run."""
    result = run(f"print('before')\n{statement}")
    assert (result.manifest["status"], result.stdout) == ("error", "before\n"), result
    assert f"Importing '{name}' is not allowed in the code sandbox." in result.stderr
    assert {(denial["rule"], denial["what"]) for denial in denied(result, "runtime")} == {("imports", name)}


@pytest.mark.parametrize("statement", ["import urllib.request", "from urllib import request", "import http.server as h",
                                       "from http import server", "from importlib import util",
                                       "from asyncio import subprocess", "import asyncio.subprocess"])
def test_dotted_names_are_denied(statement):
    result = run(statement)
    assert "is not allowed in the code sandbox." in result.stderr and result.manifest["status"] == "error", result


def test_what_is_beside_a_dotted_name_is_not():
    result = run("import urllib.parse, http, importlib\nfrom http import HTTPStatus\nprint(HTTPStatus.OK.value)")
    assert result.stdout == "200\n", result


@pytest.mark.parametrize("name", ["ctypes", "_ctypes", "subprocess", "shutil", "pickle", "marshal"])
def test_sys_modules_hides_what_is_restricted(name):
    import_it = f"import {name}"
    outside = subprocess.run([sys.executable, "-c", f"{import_it}, sys\nprint({name!r} in sys.modules)"], text=True,
                             capture_output=True, check=True)
    assert outside.stdout == "True\n"
    result = run(f"""
        import sys
        found = [{name!r} in sys.modules, sys.modules.get({name!r}), sys.modules.get({name!r}, 5)]
        try:
            sys.modules[{name!r}]
        except Exception as error:
            found.append(type(error).__name__)
        print(found, {name!r} in list(sys.modules), "json" in sys.modules, sys.modules["json"].__name__)
    """)
    assert result.stdout.startswith("[False, None, 5, '") and result.stdout.endswith("] False True json\n"), result


def test_libraries_keep_the_modules_that_are_hidden():
    """pandas pickles with the real one, and a copy of a frame works."""
    result = run("import copy\nprint(len(copy.deepcopy(pd.DataFrame({'a': [1, 2]}))), pd.DataFrame({'a': [1]}).to_csv())",
                 tree="scientific")
    assert result.stdout == "2 ,a\n0,1\n\n", result


def test_hardened_libraries():
    found = said([
        "plt.switch_backend('agg')", "plt.switch_backend('TkAgg')", "plt.switch_backend(newbackend='svg')",
        "plt.ion()", "plt.ioff()", "plt.show()", "plt.isinteractive()",
        "pd.eval('1 + 1')",
        "len(pd.DataFrame({'a': [1, 2]}).query('a > 1'))",
        "len(pd.DataFrame({'a': [1, 2]}).query('a > 1', parser='python'))",
        "len(pd.DataFrame({'a': [1, 2]}).query('a in [1]', parser='pandas'))",
        "np.ctypeslib", "plt.switch_backend('Agg')", "plt.switch_backend(newbackend='AGG')",
    ], tree="scientific")
    assert found[0] == found[12] == found[13] == "None" and found[3:7] == ["None", "None", "None", "False"], found
    for refused in found[1:3]:
        assert refused == "PermissionError: Switching to this backend is not allowed in the code sandbox."
    assert found[7] == "PermissionError: pandas.eval() is not allowed in the code sandbox."
    assert found[8:12] == ["1", "1", "1", "None"]


def test_query_never_has_pythons_parser():
    """A call is what the parser "python" allows and "pandas" does not: "and" for two columns is the difference."""
    code = "pd.DataFrame({'a': [1, 2], 'b': [1, 0]}).query('a > 0 and b > 0', parser='python')"
    plain = subprocess.run(["/usr/bin/python3", "-c", f"import pandas as pd\n{code}"], capture_output=True, text=True,
                           check=False)
    if "No module named" in plain.stderr:
        cells.skip("needs pandas for /usr/bin/python3")
    assert "NotImplementedError" in plain.stderr
    assert run(f"print(len({code}))", tree="scientific").stdout == "1\n"


@pytest.mark.parametrize("path, allowed", [
    ("chart.txt", True), ("/output/x", True), ("/tmp/x", True), ("/usr/x", False), ("/input/x", False),
    ("/x", False), ("/output/../x", False), ("/etc/passwd", False)])
def test_where_files_can_be_written(path, allowed):
    result = run(f"try:\n    open({path!r}, 'w').close()\n    print('written')\nexcept Exception as error:\n"
                 "    print(type(error).__name__, error)")
    assert (result.stdout == "written\n") == allowed, result
    assert allowed or result.stdout.startswith("PermissionError "), result


@pytest.mark.parametrize("path, allowed", [
    ("/tmp/made", True), ("made", True), ("/usr/lib/python3.11/os.py", True), ("/var/x", False), ("/bin/sh", False),
    ("/usr/bin/python3", False), ("/usr/include/x", False)])
def test_where_files_can_be_read(path, allowed):
    result = run(f"""
        for made in "made", "/tmp/made":
            open(made, "w").close()
        try:
            open({path!r}).close()
            print('read')
        except Exception as error:
            print(type(error).__name__, error)
    """)
    assert (result.stdout == "read\n") == allowed, result
    assert allowed or re.fullmatch(r"PermissionError Reading /\S+ is not allowed in the code sandbox.\n",
                                   result.stdout), result


def test_fonts_can_be_read():
    result = run("print(open('/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf', 'rb').read(4))", tree="scientific")
    assert result.stdout == "b'\\x00\\x01\\x00\\x00'\n", result


@pytest.mark.parametrize("place", RISKY)
def test_risky_places(place):
    """Whether they exist or not."""
    result = run(f"try:\n    open('{place}/secret')\nexcept Exception as error:\n    print(error)")
    assert "Possible security violation detected" in result.stdout, result
    assert denied(result, "audit")


@pytest.mark.parametrize("name, arguments", [
    ("system", "'true'"), ("popen", "'true'"), ("execv", "'/bin/true', ['true']"), ("execvp", "'true', ['true']"),
    ("execle", "'true', 'true', {}"), ("spawnv", "0, '/bin/true', ['true']"), ("spawnlp", "0, 'true', 'true'"),
    ("kill", "os.getpid(), 0"), ("killpg", "0, 0")])
def test_functions_of_os(name, arguments):
    result = run(f"try:\n    os.{name}({arguments})\nexcept Exception as error:\n    print(error)")
    assert result.stdout == f"os.{name}() is not allowed in the code sandbox.\n", result


def test_os_itself_stays_usable():
    result = run("os.makedirs('a/b')\nprint(os.listdir('a'), os.path.join('x', 'y'), os.getcwd(), os.getpid() > 0)")
    assert result.stdout == "['b'] x/y /output True\n", result


def test_the_builtins_that_there_are():
    result = run("import json\nfound = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)\n"
                 "print(json.dumps(sorted(found)))")
    builtins = set(result.facts())
    wanted = {*BUILTINS, *EXCEPTIONS, "hash", "id"}
    assert wanted <= builtins, wanted - builtins
    more = {name for name in builtins - wanted if not name.startswith("_")}
    assert more <= {"None", "True", "False", "globals", "locals", "dir", "vars", *REFUSED,
                    "object", "super", "property", "classmethod", "staticmethod"}, more


@pytest.mark.parametrize("name", ["memoryview", "help", "copyright", "exit", "quit"])
def test_builtins_that_there_are_not(name):
    result = run(f"try:\n    {name}\nexcept Exception as error:\n    print(type(error).__name__)")
    assert result.stdout == "NameError\n", result


def test_ordinary_code_runs():
    result = run("""
        assert issubclass(bool, int) and bin(5) == "0b101" and chr(ord("a") + 1) == "b" and hash("a") == hash("a")
        found = []
        for action in (lambda: open("missing.csv"), lambda: 1 / 0, lambda: json.loads("{"), lambda: np_is_not_here):
            try:
                action()
            except (FileNotFoundError, ZeroDivisionError, NameError, json.JSONDecodeError) as error:
                found.append(type(error).__name__)
        try:
            assert found == [], "not empty"
        except AssertionError as error:
            print(found, error)
    """)
    assert result.stdout == "['FileNotFoundError', 'ZeroDivisionError', 'JSONDecodeError', 'NameError'] not empty\n", result


def test_classes_can_be_made():
    result = run("class A:\n    x = 1\nclass B(A):\n    def __init__(self):\n        super().__init__()\n        self.y = 2\n"
                 "print(B().x + B().y)")
    assert result.stdout == "3\n", result


@pytest.mark.parametrize("call", ["eval('1')", "exec('x = 1')", "compile('1', 'f', 'eval')", "breakpoint()", "input()",
                                  "(lambda f: f('1'))(eval)"])
def test_refused_builtins(call):
    result = run(f"try:\n    {call}\nexcept Exception as error:\n    print(type(error).__name__, error)")
    assert result.stdout == "PermissionError This built-in function is not allowed in sandbox.\n", result


def test_namespaces_are_the_programs_own():
    result = run("""
        import json
        _sandbox_secret = 1
        kept = 2
        class A:
            _sandbox_hidden = 1
            shown = 2
        def f():
            inner = 3
            return sorted(set(globals()) & {"kept", "f"}), "kept" in locals(), "kept" in vars(), "kept" in dir()
        print(json.dumps([f(), [n for n in dir() if n.startswith("_sandbox_")],
                          [n for n in dir(A) if n.startswith(("_sandbox_", "shown"))]]))
    """)
    assert result.facts() == [[["f", "kept"], True, True, True], [], ["shown"]], result


def test_names_that_are_there():
    names = "os json math re matplotlib plt fm font_manager np numpy pd pandas sns seaborn".split()
    result = run("print(" + ", ".join(f"{name}.__name__" for name in names) + ", mine)", "--var", "mine=[1]",
                 tree="scientific")
    assert result.stdout.split() == ("os json math re matplotlib matplotlib.pyplot matplotlib.font_manager "
                                     "matplotlib.font_manager numpy numpy pandas pandas seaborn seaborn [1]").split(), result


def test_the_first_open_figure_alone_is_kept():
    result = run("for i in range(3):\n    plt.figure()\n    plt.plot([i])\n    plt.show()\n1/0", tree="scientific")
    assert result.manifest["status"] == "error", result
    (figure,) = result.manifest["figures"]
    assert figure["mime"] == "image/png" and (result.output / figure["path"]).read_bytes().startswith(b"\x89PNG")


TWO = "plt.plot([1, 2])\nplt.title('one')\nplt.show()\nplt.bar([0, 1], [2, 1])\nplt.title('two')\nplt.show()"


@pytest.mark.parametrize("policy, titles", [
    ("charts", ["two"]), ({"extends": "charts", "figures": {"show": "save"}}, ["one"]),
    ({"extends": "charts", "figures": {"show": "save", "which": "all"}}, ["one", "two"]),
    ("default", ["one", "two"]), ("none", ["one", "two"]), ("analysis", ["one", "two"]), ("statistics", ["one", "two"]), ("notebook", ["one", "two"])],
    ids=["charts", "save", "save and all", "default", "none", "analysis", "statistics", "notebook"])
def test_two_plots_with_two_shows_are_two_figures_elsewhere(policy, titles):
    """Code for the older chart executor draws on after plt.show(), which does nothing; a policy that extends `charts` has the notebooks' way."""
    result = cells.run("import matplotlib.pyplot as plt\n" + TWO, policy=policy, tree="scientific")
    assert result.manifest["status"] == "ok", result
    assert [figure["chart"]["title"] for figure in result.manifest["guest"]["figures"]] == titles, result.manifest["guest"]["figures"]
    assert len(result.manifest["figures"]) == len(titles)


SECRETS = {
    "api_key = abc123": "api_key=<REDACTED>", "TOKEN: xyz": "TOKEN=<REDACTED>", "my password hunter2": "my password=<REDACTED>",
    "aws_secret_access_key=AAAA/BBB": "aws_secret_access_key=<REDACTED>", "AWS-ACCESS-KEY-ID: AK": "AWS-ACCESS-KEY-ID=<REDACTED>",
    "see postgres://u:p@h/d now": "see postgres://<REDACTED>@<REDACTED> now",
    "redis://:p@h:1": "redis://<REDACTED>@<REDACTED>",
    "a eyJhbGciOi.eyJzdWIi.c2ln z": "a <JWT_REDACTED> z",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nAAAA\n-----END RSA PRIVATE KEY----- after": "<PRIVATE_KEY_REDACTED> after",
    "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----": "<PRIVATE_KEY_REDACTED>",
    "no secrets in tokens or passwords": "no secrets in tokens or passwords",
}


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("text", SECRETS)
def test_secrets_in_output(text, stream):
    result = run(f"import sys\nsys.{stream}.write({text + chr(10)!r})")
    assert getattr(result, stream) == SECRETS[text] + "\n", result
    assert result.manifest[stream]["text"] == SECRETS[text] + "\n"
    assert result.manifest[stream]["redactions"] >= (text != SECRETS[text])


def test_dumps_of_the_environment():
    lines = [f"VAR_{i}=value{i}" for i in range(14)]
    result = run(f"print({'|'.join([*lines, 'plain text', ' B=2', 'C=', 'D=4'])!r}.replace('|', chr(10)))")
    expected = [f"VAR_{i}=<REDACTED>" for i in range(10)] + ["plain text", " B=<REDACTED>", "C=", "D=<REDACTED>"]
    kept = [line for line in result.stdout.splitlines() if not line.startswith("...")]
    assert [line.strip() for line in kept] == [line.strip() for line in expected], result
    assert "value" not in result.stdout


def test_long_output_is_cut():
    result = run("print('ab ' * 1000, end='')")
    assert result.stdout == ("ab " * 1000)[:2000] + "\n... [OUTPUT TRUNCATED FOR SECURITY]", result
