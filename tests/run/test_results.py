"""What a program leaves behind: its value in several forms, chosen variables, results; and what a prelude gives it."""

import base64
import json
import struct
from pathlib import Path

import cells
import jsonschema
import pytest

SCIENTIFIC = ["--memory", "1G", "--timeout", "60s"]
SCHEMA = cells.generated("manifest.schema.json")
PNG = b"\x89PNG\r\n\x1a\n"


def guest(result):
    assert result.manifest and result.manifest["guest"], result
    jsonschema.validate(result.manifest, SCHEMA)
    assert result.manifest["guest"]["complete"] is True
    return result.manifest["guest"]


# ---- the file name of programs ----

def test_policy_names_the_programs_file(base_tree):
    result = cells.run("""\
        import sys, warnings, inspect
        def f():
            return 1
        print(__file__, sys.argv, f.__code__.co_filename, inspect.getsource(f).strip(), sep="|")
        warnings.warn("take care")
        f() / 0
        """, "--guard", "off", policy={"code": {"filename": "<sandbox>"}})
    assert result.stdout == "<sandbox>|['<sandbox>']|<sandbox>|def f():\n    return 1\n", result
    assert "<sandbox>:5: UserWarning: take care\n  warnings.warn(\"take care\")\n" in result.stderr
    trace = guest(result)["error"]["traceback"]
    assert 'File "<sandbox>", line 6, in <module>\n    f() / 0\n' in trace and "<cell>" not in trace
    assert result.stderr.endswith(trace)


def test_rejections_name_the_programs_file(base_tree):
    result = cells.run("a b", policy={"code": {"filename": "<sandbox>"}})
    assert result.manifest["status"] == "rejected" and 'File "<sandbox>", line 1' in result.stderr, result


# ---- preludes ----

def test_prelude_binds_names_of_modules_and_attributes(base_tree):
    result = cells.run("print(math.pi > 3, pj.__name__, Seq.__module__, 'json' in globals())", policy={
        "prelude": {"names": {"math": "math", "pj": "os.path", "Seq": "collections.abc:Sequence", "json": "json",
                              "dumps": "json:dumps"}}})
    assert result.stdout == "True posixpath collections.abc True\n", result  # the word json stands in the program


def test_prelude_loads_only_what_the_program_mentions(base_tree):
    policy = {"prelude": {"names": {"js": "json", "st": "statistics"}, "load": ["decimal", "xml.dom"]}}
    result = cells.run("""\
        import sys
        print([name in sys.modules for name in ("js" "on", "statisti" "cs", "deci" "mal", "x" "ml.dom")])
        js.dumps(1)  # of xml
        """, policy=policy)
    assert result.stdout == "[True, False, False, True]\n", result
    result = cells.run("print('st' in globals(), statistic, js2, _js)", "--var", "statistic=1", "--var", "js2=2",
                       "--var", "a=3", policy=policy)
    assert "NameError: name '_js'" in result.stderr, result


@pytest.mark.parametrize("code, why", [
    ("def f(:", "SyntaxError: invalid syntax"),
    ("1 / 0", "ZeroDivisionError: division by zero"),
    ("import sys; sys.exit(0)", "SystemExit: 0"),
])
def test_a_prelude_that_fails_is_a_fault_of_the_policy(base_tree, code, why):
    result = cells.run("print('ran')", policy={"name": "own", "prelude": {"code": code}})
    assert result.status == 78 and result.stdout == "", result
    assert result.stderr.endswith(f"hotcell: policy 'own': its prelude failed: {why}\n"), result


def test_prelude_leaves_out_what_is_not_there(base_tree):
    """Missing libraries are skipped silently."""
    result = cells.run("print('np' in globals(), 'x' in globals())", policy={
        "prelude": {"names": {"np": "no_such_module", "x": "math:no_such_attribute"}, "load": ["np"]}})
    assert result.stdout == "False False\n" and result.stderr == "", result


def test_prelude_aliases_and_variables_of_the_job(base_tree):
    """One value under two names; what the job sets wins over what the policy would."""
    policy = {"prelude": {"names": {"json": "json"}, "aliases": {"data": "df", "other": "missing", "taken": "df"},
                          "results": True}}
    result = cells.run("print(data is df, json, taken, results, 'other' in globals())", "--var", "df=[1]",
                       "--var", "json=5", "--var", "taken=6", "--var", "results=7", policy=policy)
    assert result.stdout == "True 5 6 7 False\n", result


def test_prelude_code_runs_in_the_programs_namespace(base_tree):
    """Presets that are more than a module."""
    result = cells.run("""\
        import warnings
        warnings.warn("not shown")
        print(type(output_dir).__name__, output_dir, figs, helper(2), "hotcell" in globals(), "pathlib" in globals())
        import colorsys
        print(seen)
        """, "--var", "factor=21", policy={"prelude": {"code": (
            "import pathlib, warnings\n"
            "output_dir = pathlib.Path(hotcell.output)\n"
            "figs = hotcell.shown\n"
            "seen = []\n"
            "helper = lambda x: x * factor\n"
            "hotcell.after_import('colorsys', lambda module: seen.append(module.__name__))\n"
            "warnings.filterwarnings('ignore')\n"
            "del pathlib\n")}})
    assert result.stdout == "PosixPath /output [] 42 False False\n['colorsys']\n", result
    assert result.stderr == ""


def test_prelude_code_that_fails_is_the_policys_fault(base_tree):
    result = cells.run("print(1)", policy={"prelude": {"code": "undefined_name\n"}})
    assert result.status == 78 and result.manifest["status"] == "launch_failed", result
    assert "undefined_name" in result.stderr and "prelude" in result.stderr + str(result.manifest["reason"])


def test_a_job_may_have_a_variable_called_hotcell(base_tree):
    result = cells.run("print(hotcell, n)", "--var", "hotcell=1", policy={"prelude": {"code": "n = len(hotcell.output)"}})
    assert result.stdout == "1 7\n", result


def test_prelude_of_scientific_names(scientific):
    names = {"plt": "matplotlib.pyplot", "np": "numpy", "pd": "pandas", "stats": "scipy.stats", "sns": "seaborn",
             "sm": "statsmodels.api", "fm": "matplotlib.font_manager"}
    result = cells.run("print(*sorted(m.__name__ for m in (plt, np, pd, stats, sns, sm, fm)))", *SCIENTIFIC,
                       tree=scientific, policy={"prelude": {"names": names}})
    assert result.stdout.split() == sorted(names.values()), result


# ---- the dict "results" ----

RESULTS = {"prelude": {"results": True}}


def test_results_are_there_and_come_back(base_tree):
    empty = cells.run("pass", policy=RESULTS)
    assert guest(empty)["results"] == {"summary_statistics": {}, "test_results": {}, "plots": [], "assumptions": {},
                                       "interpretation": ""}
    assert "results" not in guest(cells.run("results = {}"))
    result = cells.run("results['test_results']['t'] = (1.5, True, None, 'é')\n"
                       "results['interpretation'] = 'so it is'\n1 / 0", policy=RESULTS)
    assert result.manifest["status"] == "error"
    assert guest(result)["results"]["test_results"] == {"t": [1.5, True, None, "é"]}
    assert guest(result)["results"]["interpretation"] == "so it is"


@pytest.mark.parametrize("code, expected", [
    ("results = {1: {2}, (1, 2): 3}", {"1": [2], "(1, 2)": 3}),
    ("import datetime as d; results = [d.date(2026, 1, 2), d.datetime(2026, 1, 2, 3), float('nan'), float('inf')]",
     ["2026-01-02", "2026-01-02T03:00:00", None, None]),
    ("results = {'big': 10**30, 'class': int, 'c': 1j}", {"big": str(10**30), "class": "<class 'int'>", "c": "1j"}),
    ("class D(dict):\n    def items(self): raise SystemExit\nresults = D(a=1)", {"a": 1}),
    ("class S(str):\n    def __str__(self): raise SystemExit\nresults = S('text')", "text"),
    ("class B:\n    def __str__(self): raise SystemExit\nresults = [B()]", ["<unprintable B object>"]),
    ("results = None", None),
])
def test_results_that_are_no_json_become_it(base_tree, code, expected):
    assert guest(cells.run(code, policy=RESULTS))["results"] == expected


@pytest.mark.parametrize("code", [
    "results = [results]; results.append(results)", "results = ['x' * 10**6]", "results = [0] * 10**6",
    "for _ in range(500): results = [results]",
])
def test_results_that_have_no_end_are_left_out(base_tree, code):
    told = guest(cells.run(code, policy=RESULTS))
    assert "results" not in told and told["warnings"][0].startswith("The results were left out: "), told


@pytest.mark.parametrize(("code", "told"), [
    ("results['a'] = results", "The JSON of results['a'] was left out: it contains itself"),
    ("results['a'] = 'x' * 10**6", "The JSON of results['a'] was left out: 1000009 bytes, more than the "),
    ("results['a'] = [0] * 10**6", "The JSON of results['a'] was left out: more than 100000 values"),
    ("results['\\0'] = 1", "The JSON of results['\\x00'] was left out: a key with a NUL"),
])
def test_an_item_that_is_left_out_is_named_and_costs_no_other(base_tree, code, told):
    """S2.12: the results in the manifest lack that item alone."""
    found = guest(cells.run(f"results = {{'before': 1}}\n{code}\nresults['after'] = 2", policy=RESULTS))
    assert found["results"] == {"before": 1, "after": 2}
    assert len(found["warnings"]) == 1 and found["warnings"][0].startswith(told), found["warnings"]


def test_results_of_scientific_libraries(scientific):
    result = cells.run("""\
        import numpy as np, pandas as pd
        frame = pd.DataFrame({"a": [1, 2], "b": [np.nan, 2.5]}, index=["x", "y"])
        results = {"scalar": np.float64(0.5), "int": np.int32(3), "bool": np.bool_(True), "nan": np.nan,
                   "array": np.arange(4).reshape(2, 2), "frame": frame, "series": frame["a"], "mean": frame.mean(),
                   "index": frame.index, "time": pd.Timestamp("2026-01-02"), "missing": [pd.NaT, pd.NA]}
        """, *SCIENTIFIC, tree=scientific, policy=RESULTS)
    assert guest(result)["results"] == {
        "scalar": 0.5, "int": 3, "bool": True, "nan": None, "array": [[0, 1], [2, 3]],
        "frame": {"a": {"x": 1, "y": 2}, "b": {"x": None, "y": 2.5}}, "series": {"x": 1, "y": 2},
        "mean": {"a": 1.5, "b": 2.5}, "index": ["x", "y"], "time": "2026-01-02T00:00:00", "missing": [None, None]}


# ---- variables that are asked for ----

def returned(code, *names, **arguments):
    options = [word for name in names for word in ("--return", name)]
    result = cells.run(code, *arguments.pop("options", []), *options, **arguments)
    return result, guest(result)["returned"]


def test_a_key_that_cannot_be_said_is_called_that(base_tree):  # pylint: disable=unused-argument
    _, got = returned("a = {'x\\0': 1}; b = {'\\ud800': [1]}; c = {'x': 'y\\0'}", "a", "b", "c")
    assert "a key with a NUL" in got["a"]["error"] and "a key with a NUL" in got["b"]["error"], got
    assert got["c"]["json"] == {"x": "y\ufffd"}


def test_plain_variables_come_back_as_json(base_tree):
    _, got = returned("a = 1; _b = 'x'; c_ = [1, {'k': None}]; d = (1, 2); e = {3}; g = 2.5", "a", "_b=json", "c_", "d", "e",
                      "missing")
    assert got == {"a": {"type": "int", "json": 1}, "_b": {"type": "str", "json": "x"},
                   "c_": {"type": "list", "json": [1, {"k": None}]}, "d": {"type": "tuple", "json": [1, 2]},
                   "e": {"type": "set", "json": [3]}, "missing": {"error": "the program has no variable of this name"}}


def test_variables_come_back_after_an_error(base_tree):
    result, got = returned("a = 1\n1 / 0\na = 2", "a")
    assert result.manifest["status"] == "error" and got["a"]["json"] == 1


def test_large_json_becomes_a_file(base_tree):
    result, got = returned("a = list(range(50000))", "a")
    assert got["a"] == {"type": "list", "path": "values/a.json", "mime": "application/json"}
    assert json.loads((result.output / "values" / "a.json").read_text()) == list(range(50000))
    assert result.listed() == ["values/a.json"]


@pytest.mark.parametrize("code, said", [
    ("import math; v = math", "module is not JSON"), ("v = print", "builtin_function_or_method is not JSON"),
    ("v = []\nv.append(v)", "NotJson: it contains itself"), ("v = list(range(10**6))", "more than 100000 values"),
    ("class V(list):\n    def __iter__(self): raise SystemExit(3)\nv = V([1])", "SystemExit"),
    ("class M(type):\n    def __getattribute__(cls, name): raise KeyboardInterrupt\nclass V(metaclass=M): pass\nv = V()", "JSON"),
])
def test_variables_that_are_no_json(base_tree, code, said):
    result, got = returned(code, "v")
    assert result.manifest["status"] == "ok" and said in got["v"]["error"], got


def test_arrays_and_frames_come_back_as_files(scientific):
    result, got = returned("""\
        import numpy as np, pandas as pd
        array = np.arange(6, dtype="<i4").reshape(2, 3)
        scalar = np.float64(2.5)
        objects = np.array([1, "a", None], dtype=object)
        frame = pd.DataFrame({"a": [1, 2], "when": pd.to_datetime(["2026-01-01", "2026-01-02"])})
        named = frame.set_index("when")
        series = named["a"]
        mixed = [array, scalar]
        """, "array", "scalar", "objects", "objects_=npy", "frame", "named=csv", "series=jsonl", "array2=json", "mixed",
        options=SCIENTIFIC, tree=scientific)
    data = (result.output / got["array"].pop("path")).read_bytes()
    assert data.startswith(b"\x93NUMPY") and struct.unpack("<6i", data[-24:]) == tuple(range(6))
    assert got["array"] == {"type": "numpy.ndarray", "mime": "application/x-npy"}
    assert got["scalar"] == {"type": "numpy.float64", "json": 2.5}
    assert got["objects"]["json"] == [1, "a", None]
    assert got["mixed"]["json"] == [[[0, 1, 2], [3, 4, 5]], 2.5]
    rows = [json.loads(line) for line in (result.output / got["frame"]["path"]).read_text().splitlines()]
    assert [row["a"] for row in rows] == [1, 2] and rows[0]["when"].startswith("2026-01-01T")
    assert got["frame"]["mime"] == "application/jsonl" and got["named"]["mime"] == "text/csv"
    assert (result.output / got["named"]["path"]).read_text() == "when,a\n2026-01-01,1\n2026-01-02,2\n"
    rows = [json.loads(line) for line in (result.output / got["series"]["path"]).read_text().splitlines()]
    assert [row["a"] for row in rows] == [1, 2] and "when" in rows[0]
    assert result.listed() == ["values/array.npy", "values/frame.jsonl", "values/named.csv", "values/series.jsonl"]


def test_arrays_of_objects_are_never_pickled(scientific):
    result, got = returned("import numpy as np\nv = np.array([{1}, print], dtype=object)", "v=npy", options=SCIENTIFIC,
                           tree=scientific)
    assert "Python objects" in got["v"]["error"] and result.files() == []


def test_a_value_that_does_not_fit_leaves_no_file(scientific):
    result, got = returned("import numpy as np\nv = np.zeros(10**6)", "v", options=[*SCIENTIFIC, "--output-size", "1M"],
                           tree=scientific)
    assert "error" in got["v"] and "values/v.npy" not in result.files(), result


# ---- the value ----

def value(code, *options, **arguments):
    result = cells.run(code, *options, **arguments)
    assert result.manifest["status"] == "ok", result
    return guest(result)["value"], guest(result)["warnings"]


def test_objects_show_themselves_in_their_forms(base_tree):
    got, _ = value("""\
        class V:
            def _repr_html_(self): return "<b>é</b>"
            def _repr_markdown_(self): return "**b**"
            def _repr_latex_(self): return "$x$", {"metadata": 1}
            def _repr_svg_(self): return "<svg/>"
            def _repr_png_(self): return b"\\x89PNG"
            def _repr_json_(self): return {"a": [1, None]}
            def _repr_mimebundle_(self, include=None, exclude=None):
                return {"text/x-own": "own", "application/geo+json": {"type": "Point"}, "text/plain": "ignored",
                        "image/png": b"other"}, {}
            def __repr__(self): return "V!"
        V()
        """)
    assert got == {"text/plain": "V!", "text/html": "<b>é</b>", "text/markdown": "**b**", "text/latex": "$x$",
                   "image/svg+xml": "<svg/>", "image/png": base64.b64encode(b"other").decode(),
                   "application/json": {"a": [1, None]}, "text/x-own": "own", "application/geo+json": {"type": "Point"}}


@pytest.mark.parametrize("body", [
    "def _repr_html_(self): raise SystemExit(3)",
    "def _repr_html_(self): return self._repr_html_()",
    "def _repr_html_(self): return 5",
    "_repr_html_ = 5",
    "_repr_html_ = property(lambda self: 1 / 0)",
    "def _repr_png_(self): return object()",
    "def _repr_mimebundle_(self, **_): return {5: 'x', 'no mime': 'x', '../x': 'x', 'a/B': 'x', 'a/b c': 'x', 'text/a\\n': 'x'}",
    "def _repr_mimebundle_(self, **_): return [1]",
    "def _repr_mimebundle_(self): return {'text/html': 'x'}",
    "def __getattribute__(self, name): raise KeyboardInterrupt",
    "__class__ = property(lambda self: __import__('datetime').date)",
])
def test_forms_that_fail_are_not_there(base_tree, body):
    got, _ = value(f"class V:\n    {body}\n    def __repr__(self): return 'V!'\nV()")
    assert got == {"text/plain": "V!"}


def test_forms_that_are_too_large_are_left_out(base_tree):
    got, warnings = value("class V:\n    def _repr_html_(self): return 'x' * 10**7\n"
                          "    def _repr_png_(self): return bytes(10**7)\n    def _repr_json_(self): return [0] * 10**7\n"
                          "    def _repr_latex_(self): return 'fits'\n    def __repr__(self): return 'V!'\nV()")
    assert got == {"text/plain": "V!", "text/latex": "fits"}
    assert sorted(warnings) == [f"The value as {mime} was left out: it is too large: limits.value is 1M. "
                                "A variable comes back whole with --return NAME."
                                for mime in ("application/json", "image/png", "text/html")]


@pytest.mark.parametrize("code, text", [
    ("[0] * 10**8", "[0, 0, 0"), ("'é' * 10**8", "'éééé"), ("b'a' * 10**8", "b'aaaa"), ("(1,) * 10**8", "(1, 1, 1"),
])
def test_the_text_of_a_large_value_is_its_beginning(base_tree, code, text):
    """The repr of all of it would not fit into the cell's memory."""
    got, warnings = value(code, "--memory", "1200M")
    assert got["text/plain"].startswith(text) and list(got) == ["text/plain"]
    assert "The text of the value was cut: it is too long." in warnings


@pytest.fixture(scope="module")
def frames(scientific):
    """Values of several shapes, one job for each would take long: the program shows them to the harness's measure."""
    def show(expression):
        return value("import pandas as pd, numpy as np\n"
                     "frame = pd.DataFrame({'a': [1, 2, 3], 'b': [0.5, None, 1], 'c': list('xyz'),"
                     " 'when': pd.to_datetime(['2026-01-01'] * 3)})\n" + expression, *SCIENTIFIC, tree=scientific)[0]
    return show


DATA = "application/vnd.dataresource+json"


def test_value_of_a_frame_has_a_structured_form(frames):
    table = frames("frame")[DATA]
    assert [(field["name"], field["type"]) for field in table["schema"]["fields"]] == [
        ("index", "integer"), ("a", "integer"), ("b", "number"), ("c", "string"), ("when", "datetime")]
    assert table["data"][1] == {"index": 1, "a": 2, "b": None, "c": "y", "when": "2026-01-01T00:00:00.000"}
    assert table["rows"] == 3 and table["truncated"] is False


@pytest.mark.parametrize("expression, rows, column", [
    ("frame['a']", 3, "a"), ("pd.Series([1, 2])", 2, "values"), ("frame.groupby('c').agg({'a': ['min', 'max']})", 3, "a_max"),
    ("frame.describe()", 8, "a"), ("pd.concat([frame, frame], axis=1)", 3, "a"), ("frame.set_index(['a', 'c'])", 3, "b"),
    ("pd.DataFrame()", 0, None), ("pd.concat([frame, frame])", 6, "b"), ("frame.T", 4, "0"),
])
def test_values_of_many_shapes_have_a_structured_form(frames, expression, rows, column):
    table = frames(expression)[DATA]
    assert table["rows"] == rows == len(table["data"]) and table["truncated"] is False
    assert column is None or column in table["data"][0], table["data"][0]


def test_long_tables_are_cut_at_whole_rows(frames):
    table = frames("pd.DataFrame({'n': np.arange(10**6), 's': 'text ' * 50})")[DATA]
    assert table["rows"] == 10**6 and table["truncated"] is True
    assert [row["n"] for row in table["data"]] == list(range(len(table["data"]))) and len(table["data"]) > 100


def test_wide_tables_do_not_cost_the_report(frames):
    got = frames("pd.DataFrame(np.zeros((3, 2000)))")
    assert got["text/plain"].startswith("   0 ") and DATA not in got
    got = frames("pd.DataFrame({'x' * 10**6: [1]})")
    assert DATA not in got and "text/plain" in got


def test_value_of_a_figure_is_its_picture(scientific):
    code = "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot([1, 2])\nfigure"
    result = cells.run(code, *SCIENTIFIC, tree=scientific)
    picture = base64.b64decode(guest(result)["value"]["image/png"])
    assert picture.startswith(PNG)
    assert picture == (result.output / result.manifest["figures"][0]["path"]).read_bytes()
    got, _ = value(code, *SCIENTIFIC, tree=scientific, policy={"figures": {"formats": ["svg"]}})
    assert "<svg" in got["image/svg+xml"] and "image/png" not in got
    got, _ = value("from matplotlib.figure import Figure\nFigure()", *SCIENTIFIC, tree=scientific)
    assert base64.b64decode(got["image/png"]).startswith(PNG)


# ---- objects that never answer ----

HANGS = "class H:\n    def hang(self, *a, **k):\n        while True: pass\n"


def test_forms_that_never_come_cost_themselves_only(base_tree):
    got, _ = value(HANGS + "    _repr_html_ = _repr_latex_ = _repr_svg_ = _repr_mimebundle_ = hang\n"
                   "    def __repr__(self): return 'H!'\nH()", "--timeout=4s")
    assert got == {"text/plain": "H!"}


def test_after_a_variable_that_never_comes_the_rest_is_not_waited_for(base_tree):
    result, got = returned(HANGS + "    __iter__ = hang\nclass L(H, list): pass\na, b, c = 1, L([1]), 2", "a", "b", "c",
                           options=["--timeout=4s"])
    assert got["a"]["json"] == 1 and "TimeoutError" in got["b"]["error"], result
    assert got["c"] == {"error": "another variable took too long"}
