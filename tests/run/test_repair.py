"""Errors that the writer of a program, often a model, can repair it from: place, short traceback, and a hint in the words of the sender."""

import importlib
import json
import os
import sys
from pathlib import Path

import cells
import daemons
import pytest

sys.path.insert(0, str(daemons.SOURCE / "python"))
import hotcell  # noqa: E402

TABLE = "import pandas as pd\nf = pd.DataFrame({'price': [1], 'count': [2]})\n"
ADVICE = daemons.SOURCE / "shim" / "harness" / "guest_advice.py"


def last_line(result):
    return result.stderr.rstrip("\n").rpartition("\n")[2]


def error(result):
    return result.manifest["guest"]["error"]


# ---- the place and the traceback ----

@pytest.mark.parametrize("code, place", [
    ("x = 1\n1 / 0", (2, 1, 6)),
    ("def f():\n    return [1][5]\nf()", (2, 12, 18)),
    ("é = 'ü'; 1 / (0)", (1, 10, 17)),
    ("import json\njson.loads('{')", (2, 1, 16)),
    ("(1 /\n 0)", (1, 2, None)),
    ("exec('\\n\\n1 / 0')", (1, 1, 18)),
    ("raise SystemError", (1, 1, 18)),
], ids=range(7))
def test_an_error_has_its_place(base_tree, code, place):
    found = error(cells.run(code))
    assert (found["line"], found["column"], found["end_column"]) == place


def test_an_error_has_no_place_that_the_program_makes_up(base_tree):
    code = "import types\ntry:\n    1 / 0\nexcept ZeroDivisionError as e:\n    t = e.__traceback__\n"
    result = cells.run(code + "    raise e.with_traceback(types.TracebackType(None, t.tb_frame, 4, 10**6))", "--guard", "off")
    assert error(result)["line"] is None and "ZeroDivisionError" in result.stderr


def test_frames_of_libraries_are_one_line(base_tree):
    result = cells.run("import json\njson.loads('{')")
    assert "  ... 3 frames of json ...\n" in result.stderr and "decoder.py" not in result.stderr
    assert "decoder.py" in error(result)["traceback"] and "frames of" not in error(result)["traceback"]
    result = cells.run("import json\njson.loads('{')", policy={"code": {"traceback": "full"}})
    assert result.stderr == error(result)["traceback"] and "decoder.py" in result.stderr


def test_frames_of_the_program_are_all_shown(base_tree):
    code = ("open('mine.py', 'w').write('def f(g):\\n    return g()\\n')\nimport sys; sys.path.insert(0, '.')\nimport mine, json\n"
            "mine.f(lambda: json.loads('{'))")
    result = cells.run(code)
    assert "mine.py" in result.stderr and "<lambda>" in result.stderr and "3 frames of json" in result.stderr


def test_python_knows_place_and_hint(base_tree):
    found = hotcell.run("import numpyy", binary=cells.HOTCELL, tree="base", limits={"timeout": 10}).error
    assert (found.line, found.column) == (1, 1) and "numpyy is not installed" in found.hint


# ---- hints ----

@pytest.mark.parametrize("code, hint", [
    ("import polars", "polars is not installed, and nothing can be installed in the cell. Python's own libraries are there."),
    ("import statistic", "statistic is not installed, and nothing can be installed in the cell. Perhaps statistics is meant."),
    ("import json.nothing", "The library json is there, and has no module nothing."),
    ("import matplotlib_x, tkinter", "matplotlib_x is not installed"),
    ("open('data.csv')", "The job has no inputs. The working directory is empty."),
    ("open('a.txt', 'w').close(); open('data.csv')", "The job has no inputs. Files in the working directory: a.txt."),
    ("import os\nos.mkdir('d'); os.chdir('d'); open('data.csv')", "The job has no inputs. The working directory is empty."),
    ("open('/output/x/y.txt', 'w')", "There is no directory /output/x; to write there, make it with os.makedirs('/output/x'). The job has no inputs."),
    ("open('x/y.txt')", "There is no directory x; to write there, make it with os.makedirs('x'). The job has no inputs."),
    ("import os\nos.mkdir('x')\nopen('/output/x/y.txt')", "The job has no inputs. Files in the working directory: x."),
    ("open('/nowhere/y.txt')", "The job has no inputs. The working directory is empty."),
    ("bytearray(10**11)", "limits.memory is 256M, which the sender of the job sets with --memory."),
    ("from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor().submit(print)", "There are no other processes in the cell"),
    ("import urllib.parse, asyncio\nasyncio.run(asyncio.open_connection('127.0.0.1', 80))", "Network is off in this policy; pass data with --input."),
    ("import os\nos.symlink('a', 'b')", "Links cannot be made here, and none would come out: copy the file, as with shutil.copy."),
    ("from pathlib import Path\nPath('b').symlink_to('a')", "Links cannot be made here"),
    ("import os\nos.mkfifo('p')", "Named pipes and devices cannot be made here, and none would come out: write a plain file."),
], ids=range(17))
def test_hints_say_what_there_is(base_tree, code, hint):
    result = cells.run(code)
    assert result.manifest["status"] in ("error", "memory")
    assert last_line(result).startswith("hint: " + hint) and error(result)["hint"].startswith(hint)


@pytest.mark.parametrize("option, place, hint", [
    ("--output-size=64K", "/output", "limits.output is 64K, which the sender of the job sets with --output-size."),
    ("--tmp-size=64K", "/tmp", "limits.tmp is 64K, which the sender of the job sets with --tmp-size."),
    ("--file-size=64K", "/tmp", "limits.file is 64K, which the sender of the job sets with --file-size."),
])
def test_limits_of_files_are_named(user, option, place, hint):
    result = cells.run(f"open('{place}/x', 'wb').write(b'x' * (1 << 20))", option, user=user)
    assert last_line(result) == "hint: " + hint


@pytest.mark.parametrize("option, place, hint", [
    ("--output-files=64", "/output", "/output may have no more files: limits.output_files, which the sender of the job sets with --output-files."),
    ("--tmp-files=64", "/tmp", "/tmp may have no more files: limits.tmp_files, which the sender of the job sets with --tmp-files."),
])
def test_limits_of_the_number_of_files_are_named(base_tree, option, place, hint):
    result = cells.run(f"for i in range(200):\n    open(f'{place}/{{i}}', 'w').close()", option)
    assert last_line(result) == "hint: " + hint


def test_inputs_are_named(base_tree, tmp_path):
    file = tmp_path / "sales.xlsx"
    file.write_bytes(b"x")
    result = cells.run("open('Sales 2026.xlsx')", "--input", f"d={file}")
    assert error(result)["hint"].startswith("The job's inputs: /input/d.xlsx (variable d).")


def test_the_names_of_the_data_are_told(base_tree, tmp_path):
    file = tmp_path / "sales.txt"
    file.write_text("x")
    hint = "The job's inputs: /input/sales.txt (variable sales)."
    assert error(cells.run("df.head()", "--input", f"sales={file}"))["hint"] == hint
    assert error(cells.run("print(data)", "--input", f"sales={file}"))["hint"] == hint
    assert error(cells.run("other.head()", "--input", f"sales={file}"))["hint"] is None and error(cells.run("df.head()"))["hint"] is None


@pytest.mark.parametrize("code, hint", [
    ("f['Price']", "The columns are: 'price', 'count'. Perhaps 'price' is meant."),
    ("f.groupby('x').sum()", "The columns are: 'price', 'count'."),
    ("f.sort_values('x')", "The columns are: 'price', 'count'."),
    ("f.prices", "The columns are: 'price', 'count'. Perhaps 'price' is meant."),
    ("f.loc['x']", "The labels of the index are: 0."),
    ("pd.DataFrame({i: [1] for i in range(50)})['x']", "The columns are: 0, 1,"),
    ("pd.read_csv('http://example.com/x.csv')", "Network is off in this policy; pass data with --input."),
    ("f.to_parquet('f')", "pyarrow is not installed, and nothing can be installed in the cell. Libraries that are there: numpy,"),
    ("f.to_hdf('f', key='k')", "pytables is not installed, and nothing can be installed in the cell. Libraries that are there: numpy,"),
    ("import pandass", "pandass is not installed, and nothing can be installed in the cell. Perhaps pandas is meant. Libraries that are there: numpy,"),
    ("import matplotlib; matplotlib.use('TkAgg')\nimport matplotlib.pyplot as plt; plt.plot([1])", "There is no screen in the cell"),
])
def test_hints_about_libraries(scientific, code, hint):
    result = cells.run(TABLE + code, tree=scientific)
    assert last_line(result).startswith("hint: " + hint), result.stderr
    assert len(error(result)["hint"]) < 1500


MISSING = [("pd.DataFrame()", "import pandas as pd is missing."), ("np.pi", "import numpy as np is missing."),
           ("plt.plot([1])", "import matplotlib.pyplot as plt is missing."), ("sns.x", "import seaborn as sns is missing."),
           ("def f():\n    return stats.zscore([1])\nf()", "from scipy import stats is missing."),
           ("numpy.pi", "If the module numpy is meant, import numpy is missing.")]
OWN_MISSING = [("json.loads('1')", "If the module json is meant, import json is missing."), ("math.pi", "If the module math is meant, import math is missing."),
               ("re.escape('.')", "If the module re is meant, import re is missing."), ("os.getcwd()", "If the module os is meant, import os is missing.")]
OWN_NAMES = [("Path('x')", "from pathlib import Path is missing."), ("defaultdict(list)", "from collections import defaultdict is missing.")]


@pytest.mark.parametrize("code, hint", MISSING + OWN_MISSING + OWN_NAMES)
def test_a_missing_import_is_told(scientific, code, hint):
    result = cells.run(code, tree=scientific)
    assert last_line(result) == "hint: " + hint and error(result)["hint"] == hint
    statement = hint.removesuffix(" is missing.").rpartition(", ")[2]
    assert "NameError" not in cells.run(f"{statement}\n{code}", tree=scientific).stderr  # as it says


def test_only_imports_that_would_work_are_told(base_tree):
    for code in (each for each, _ in MISSING):  # without libraries
        assert "hint:" not in cells.run(code).stderr, code
    for code in "fortune()", "x = Json", "def f():\n    print(json)\n    json = 1\nf()", "raise NameError('json')", "del x":
        assert "hint:" not in cells.run(code).stderr, code
    refused = cells.run("pickle.dumps(1)\njson.dumps(1)", policy={"imports": {"deny": ["pickle"]}})
    assert "hint:" not in refused.stderr and "'pickle' is not defined" in refused.stderr


def test_the_model_sees_what_import_is_missing(scientific):
    with hotcell.Session(tree=scientific, binary=cells.HOTCELL) as session:
        failed = session.run("pd.DataFrame()")
        assert failed.error.hint == "import pandas as pd is missing." and str(failed.stderr).endswith("hint: import pandas as pd is missing.\n")
        assert session.run("import pandas as pd\npd.DataFrame().size").value == 0


def test_columns_are_no_hint_for_another_key(scientific):
    result = cells.run(TABLE + "f.apply(lambda row: {}['x'], axis=1)", tree=scientific)
    assert result.stderr.endswith("KeyError: 'x'\n") and error(result)["hint"] is None
    assert (error(result)["line"], error(result)["column"]) == (3, 21)


@pytest.mark.parametrize("attack", [
    "class K(KeyError):\n    @property\n    def args(self): raise SystemExit(3)\nraise K('x')",
    "class M(ModuleNotFoundError):\n    @property\n    def name(self): raise KeyboardInterrupt\nraise M()",
    "e = ValueError('x')\ne.__notes__ = ['hint: ' + 'x' * 10**6]\nraise e",
    "e = ValueError('x')\ne.__cause__ = e\nraise e",
    "import sys\nclass P(list):\n    def __getitem__(self, i): 1 / 0\nsys.path = P()\nimport nothing_here",
    "import posix, sys\nposix.listdir = None\nopen('nothing')",
    "class N(str):\n    def __format__(self, s): raise SystemExit\n    def partition(self, s): raise SystemExit\nraise ModuleNotFoundError(name=N('x'))",
    "import traceback\ntraceback.TracebackException = None\nopen('nothing')",
], ids=range(8))
def test_hostile_exceptions_are_reported_like_others(base_tree, attack):
    """What the advice looks at is the program's: whatever it does there, the job ends with its report, bounded."""
    result = cells.run(attack)
    assert result.manifest["status"] == "error" and result.manifest["guest"]["complete"], result
    assert len(error(result)["hint"] or "") <= 500


def test_advice_that_never_ends_ends_with_the_job(scientific):
    code = TABLE + "import pandas.core.indexes.base as b\nb.Index.__getitem__ = lambda *a: sum(0 for _ in iter(int, 1))\nf['x']"
    result = cells.run(code, "--timeout", f"{3 * cells.SLOWNESS:g}s", tree=scientific)
    assert result.manifest["status"] in ("error", "timeout")


OWN = "open('mine.py', 'w').write('VALUE = 7')\nimport mine\nprint(mine.VALUE)"


def test_modules_in_the_working_directory_are_told_of(base_tree):
    result = cells.run(OWN)
    assert result.stderr.endswith("hint: mine.py is in the working directory, from which nothing is imported by itself: "
                                  "import sys; sys.path.append('.') comes before the import.\n")
    assert cells.run(f"import sys; sys.path.append('.')\n{OWN}").stdout == "7\n"  # as it says
    assert "package is in the working directory" in cells.run("import os\nos.mkdir('package')\nimport package.x").stderr
    assert "is not installed" in cells.run("open('mine.txt', 'w')\nimport mine").stderr
    guarded = {"extends": "notebook", "tree": "base"}
    for code in OWN, f"import sys\nsys.path.append('.')\n{OWN}":
        result = cells.run(code, policy=guarded)
        assert result.manifest["status"] == "error" and "program" in result.stderr.rpartition("hint: ")[2], result
    assert 'this policy imports nothing from there (code.writes is "guarded")' in cells.run(OWN, policy=guarded).stderr


# ---- words ----

SAYS = {"cli": "--input.", "python": "inputs={...}.", "http": '"inputs".', "mcp": 'the argument "files".', "charts": "set_variable().",
        "scripts": "the argument data.", "runpython": "a variable of the caller.", "runner": '"df_paths".'}


@pytest.mark.parametrize("interface", SAYS)
def test_hints_are_in_the_words_of_the_sender(base_tree, interface):
    result = cells.run("import requests\nrequests.get('x')", "--interface", interface)
    assert f"pass data with {SAYS[interface]}\n" in result.stderr and result.manifest["rejection"]["hint"].endswith(SAYS[interface])


def test_python_speaks_python(base_tree):
    given = {"binary": cells.HOTCELL, "tree": "base", "limits": {"timeout": 10, "memory": "256M"}}
    result = hotcell.run("import requests\nrequests.get('x')", **given)
    assert result.rejection.hint.endswith(SAYS["python"]) and SAYS["python"] in str(result.stderr)
    assert "limits={\"memory\": ...}" in hotcell.run("bytearray(10**11)", **given).error.hint
    assert hotcell.run("import requests\nrequests.get('x')", interface="mcp", **given).rejection.hint.endswith(SAYS["mcp"])
    assert hotcell.check("import requests\nrequests.get('x')", tree="base", binary=cells.HOTCELL).findings[0].hint.endswith(SAYS["python"])
    with hotcell.Session(tree="base", binary=cells.HOTCELL) as session:
        for _ in range(2):
            assert session.run("import requests\nrequests.get('x')").rejection.hint.endswith(SAYS["python"])


def test_there_are_no_other_interfaces(base_tree):
    done = cells.hotcell("run", "--interface", "soap", "-", input="1", stdin=None)
    assert done.returncode == 64 and "expected cli, python, http, mcp, charts, scripts, runpython or runner, got 'soap'" in done.stderr
    spec = json.dumps({"code": "1", "interface": "soap"})
    done = cells.hotcell("run", "--spec", "-", input=spec, stdin=None)
    assert done.returncode == 65 and "interface: expected cli, python, http, mcp, charts, scripts, runpython or runner, got 'soap'" in done.stderr


# ---- programs that are repaired ----

@pytest.mark.parametrize("code, line, warning", [
    ("```python\nprint('said')\n```", 1, "The Markdown fence, and the text outside of it, were left out."),
    ("Here's the code:\n\n```python\nprint('said')\n```\nIt says (it.", 3, "The Markdown fence, and the text outside of it, were left out."),
    ("```\nprint('said')", 1, "The Markdown fence, and the text outside of it, were left out."),
    ("!pip install x\nprint('said')", 1, "The notebook command '!pip install x' was left out."),
    ("if True:\n    %matplotlib inline\nprint('said')", 2, "The notebook command '%matplotlib inline' was left out."),
    ("%%time\nprint('said')", 1, "The notebook command '%%time' was left out."),
    ("print(\u201csaid\u201d)", 1, "Typographic quotes were replaced by plain ones."),
    ("x = 'a \u201cq\u201d'; assert len(x) == 5\nprint(\u2018said\u2019)", 2, "Typographic quotes were replaced by plain ones."),
    ("print(\u00a0'said')", 1, "Characters that cannot be seen were replaced by blanks."),
], ids=range(9))
def test_what_models_add_is_left_out(base_tree, code, line, warning):
    result = cells.run(code)
    assert result.stdout == "said\n" and result.manifest["status"] == "ok", result
    assert f"line {line}: {warning}" in result.manifest["warnings"] and f"line {line}: {warning}" in result.stderr
    finding = result.manifest["check"]["warnings"][0]
    assert (finding["rule"], finding["line"], finding["message"]) == ("tidy", line, warning)
    assert cells.run(code, policy={"code": {"tidy": False}}).manifest["rejection"]["rule"] == "syntax"


@pytest.mark.parametrize("code, hint", [
    ("x = = 1", None),
    ("%%bash\nls", "notebook commands"),
    ("!curl x", "notebook commands"),
    ("%time f(1)", "notebook commands"),
    ("```json\n{}\n```", "Markdown fence"),
    ("```\nx = 1\n```\nand\n```\ny = 1\n```", "Markdown fence"), ("Here it is:\n```json\n{}\n```", "Markdown fence"),
    ("def f():\n    '''\n    ```\n    print(1)\n    ```\n    '''\nx = = 1", None),
    ("x = (1\n%matplotlib", None),
    ("x = \u2018it\u2019s\u2019", "plain quotes"),
    ("print 'x'", "print is a function"),
], ids=range(11))
def test_what_cannot_be_left_out_is_refused_with_a_hint(base_tree, code, hint):
    result = cells.run(code)
    assert result.manifest["rejection"]["rule"] == "syntax" and result.stdout == ""
    assert last_line(result).startswith("hint: ") and hint in last_line(result) if hint else "hint" not in result.stderr


@pytest.mark.parametrize("code", [
    "x = '''\n```python\nprint(1)\n```\n'''\nprint(len(x))", "pip = 4\nx = 7\nprint((x\n%pip))",
    "print('\u201ca\u201d \u2018b\u2019')", "# ```python\nprint(1)",
], ids=range(4))
def test_programs_that_parse_are_left_alone(base_tree, code):
    outside = cells.subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                                   env={**os.environ, "PYTHONUTF8": "1"}).stdout
    result = cells.run(code)
    assert result.stdout == outside and result.manifest["warnings"] == cells.run("1").manifest["warnings"]


def test_errors_in_a_repaired_program_have_the_lines_of_the_text_that_was_sent(base_tree):
    result = cells.run("Here is it:\n```python\nx = 1\n1 / 0\n```")
    assert error(result)["line"] == 4 and 'line 4, in <module>\n    1 / 0' in result.stderr
    result = cells.run("Here is it:\n```python\nx = = 1\n```")
    assert result.manifest["rejection"]["line"] == 3


# ---- imports that are not used ----

@pytest.mark.parametrize("code", [
    "import subprocess", "import subprocess as s", "from subprocess import run, PIPE", "import os, subprocess", "import urllib.request",
    "def f():\n    import subprocess\nf()", "from subprocess import (\n    run)", "import multiprocessing",
])
def test_an_unused_import_is_a_warning(base_tree, code):
    result = cells.run(f"{code}\nprint('ran')")
    assert result.stdout == "ran\n" and result.manifest["status"] == "ok", result
    finding, = result.manifest["check"]["warnings"]
    assert finding["rule"] == "imports" and finding["what"] in code and finding["hint"]
    assert not result.manifest["denials"] and "is not allowed by this policy" in result.stderr
    refused = cells.run(code, policy={"extends": "default", "imports": {"unused": "refuse"}})
    assert refused.manifest["rejection"]["rule"] == "imports"
    listed = cells.run(code, policy={"extends": "default", "imports": {"allow": ["os"]}})
    assert listed.manifest["rejection"]["rule"] == "imports"


@pytest.mark.parametrize("code", [
    "import subprocess\nsubprocess.run('x')", "import subprocess as s\nprint(s)", "from subprocess import run, PIPE\nrun('x')",
    "def f(): subprocess.run('x')\nimport subprocess", "import subprocess\nglobals()['subprocess'].run('x')", "from subprocess import *",
    "import urllib.parse, urllib.request\nurllib.parse.quote('x')", "import multiprocessing.pool as p", "import subprocess\ndel subprocess",
])
def test_a_used_import_is_refused_before_the_program_runs(base_tree, code):
    result = cells.run(f"print('ran')\n{code}")
    assert result.manifest["rejection"]["rule"] == "imports" and result.stdout == ""


@pytest.mark.parametrize("use", [
    "x.run", "x()", "x[0]", "list(x)", "setattr(x, 'a', 1)", "x.__class__", "x.__dict__", "isinstance(x, int)", "vars(x)", "getattr(x, 'run')",
    "from_import('x')", "type(x)()",
])
def test_every_use_of_an_unused_import_is_refused(base_tree, use):
    """The check cannot see these names; what they are bound to gives nothing away."""
    code = ("import subprocess\ndef from_import(name): raise PermissionError\nx = globals()['sub' + 'process']\n"
            f"try:\n    {use}\nexcept (ImportError, PermissionError, TypeError) as e: print('refused')\n"
            "else: print('given')")
    result = cells.run(code)
    assert result.stdout == "refused\n", result
    assert use in ("type(x)()", "from_import('x')", "vars(x)", "isinstance(x, int)") or result.manifest["denials"][0]["rule"] == "imports"


def test_an_import_that_the_program_tries_still_fails(base_tree):
    result = cells.run("import subprocess\ntry:\n    import socket\nexcept ImportError:\n    print('none')")
    assert result.stdout == "none\n" and result.manifest["status"] == "ok"


# ---- names of libraries ----

@pytest.mark.parametrize("recipe", sorted((Path(__file__).parents[2] / "rootfs").glob("*.json")), ids=lambda path: path.stem)
def test_a_library_of_a_recipe_is_one_that_hints_name(recipe):
    """Under the name that programs import, and with the name of its package known where that is another."""
    sys.path.insert(0, str(ADVICE.parent))
    try:
        advice = importlib.import_module(ADVICE.stem)
    finally:
        sys.path.remove(str(ADVICE.parent))
    told = json.loads(recipe.read_text(encoding="utf-8"))
    imported = {name.partition(".")[0] for name in told.get("imports", ())} - set(sys.stdlib_module_names) - {"mpl_toolkits"}
    assert imported - set(advice.LIBRARIES) == set()
    lower = {name.lower(): name for name in advice.LIBRARIES}
    packages = told.get("distributions", [])
    assert [name for name in packages if name.lower() not in lower and advice.OTHER_NAMES.get(name) not in advice.LIBRARIES] == []
