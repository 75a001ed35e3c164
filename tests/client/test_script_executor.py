"""ScriptExecutor: statistics scripts over one frame; the dicts and the messages of the executor that it replaces."""

import base64
import math
import os
import sys
import threading
import time
from pathlib import Path

import cells
import pytest

pd = pytest.importorskip("pandas")

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
from hotcell import InputError  # noqa: E402
from hotcell.adapters import ScriptConfig, ScriptExecutor  # noqa: E402

KEYS = {"success", "output", "error", "results", "plots", "execution_time", "warnings"}


@pytest.fixture
def make(base_tree, tmp_path, monkeypatch):
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    return lambda **config: ScriptExecutor(ScriptConfig(**{"OUTPUT_DIR": tmp_path, **config}))


@pytest.fixture
def execute(make):
    def run(script, data=None, step="step", **config):
        data = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2.0, 4.0, 7.0]}) if data is None else data
        outcome = make(**config).execute_script(script, data, "session", step)
        assert outcome.keys() == KEYS and outcome["success"] == (outcome["error"] == "")
        return outcome
    return run


def test_hints_are_in_the_words_of_the_executor(scientific, execute):
    outcome = execute("x = pd.read_csv('http://localhost/x')")
    assert "\nhint: Network is off in this policy; pass data with the argument data.\n" in outcome["error"]


def test_configuration(tmp_path):
    executor = ScriptExecutor(ScriptConfig(OUTPUT_DIR=tmp_path))
    assert executor.sandbox_dir == tmp_path / "sandbox" and executor.timeout == 60
    assert executor.allowed_imports == ["pandas", "numpy", "scipy", "statsmodels", "matplotlib", "seaborn", "sklearn",
                                        "math", "statistics", "datetime", "json"]

    class Settings:  # any object, with some of the names
        SANDBOX_FOLDER = tmp_path / "elsewhere"
        SCRIPT_TIMEOUT = 5
    executor = ScriptExecutor(Settings)
    assert executor.sandbox_dir == tmp_path / "elsewhere" and executor.timeout == 5


def test_allowed_imports_are_those_of_the_configuration(make, execute):
    assert execute("import decimal")["error"].startswith("Script validation failed: ")
    outcome = execute("import decimal\nprint(decimal.Decimal(1))", ALLOWED_IMPORTS=["decimal"])
    assert outcome["success"] and outcome["output"] == "1\n"
    assert not make(ALLOWED_IMPORTS=["decimal"]).validate("import json")["safe"]


@pytest.mark.parametrize("script", ["", " \n"])
def test_a_blank_script_does_nothing(execute, script):
    outcome = execute(script, pd.DataFrame({"a": [1]}))
    assert outcome["success"] and outcome["results"]["plots"] == [] and outcome["warnings"] == []


def test_a_script(execute):
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [2.0, 4.0, 7.0]})
    outcome = execute("t = stats.ttest_rel(df['a'], data['b'])\n"
                      "results['test_results']['p'] = float(t.pvalue)\n"
                      "results['summary_statistics'] = {'mean': df.a.mean(), 'n': np.int64(len(df))}\n"
                      "results['interpretation'] = 'small'\n"
                      "df['a'] = 0\n"
                      "print(sm.__name__, math.pi > 3, pd.__name__, sns.__name__)", frame)
    assert outcome["error"] == "" and outcome["success"]
    assert outcome["output"] == "statsmodels.api True pandas seaborn\n"
    assert outcome["results"]["summary_statistics"] == {"mean": pytest.approx(7 / 3), "n": 3}
    assert 0 < outcome["results"]["test_results"]["p"] < 1 and outcome["results"]["interpretation"] == "small"
    assert outcome["results"].keys() == {"summary_statistics", "test_results", "plots", "assumptions", "interpretation"}
    assert outcome["plots"] == [] and outcome["execution_time"] > 0
    assert list(frame.a) == [1.0, 2.0, 4.0]  # it was a copy


def test_allowed_imports_work(execute):
    outcome = execute("import pandas as pd\nimport scipy.stats\nfrom sklearn.linear_model import LinearRegression\n"
                      "print(LinearRegression().fit(df[['a']], df['b']).coef_.round(2))")
    assert outcome["error"] == "" and outcome["output"] == "[2.5]\n"


def test_plots(execute, make, tmp_path):
    outcome = execute("plt.plot(df.a); plt.show()\nplt.bar([1], [2]); plt.savefig(plots_dir + '/own.svg')\nplt.close()\n"
                      "plt.figure(); plt.show()")
    plots = tmp_path / "sandbox" / "session" / "step" / "plots"
    assert outcome["error"] == "" and outcome["plots"] == [str(plots / "plot_1.png"), str(plots / "own.svg")]
    assert outcome["results"]["plots"] == ["plot_1.png"]
    encoded = make().get_plot_data(outcome["plots"][0])
    assert base64.b64decode(encoded).startswith(b"\x89PNG")
    assert make().get_plot_data(plots / "missing.png") is None


def test_every_step_has_its_directory(execute, tmp_path):
    execute("1", step="one")
    execute("import os", step="two")  # refused, and yet there is a place
    for step in ("one", "two"):
        assert (tmp_path / "sandbox" / "session" / step / "plots").is_dir()


@pytest.mark.parametrize("bad", ["", "..", "a/b", ".hidden", "a b", "ü", "x" * 65])
def test_ids_that_could_lead_elsewhere(make, bad):
    for ids in ((bad, "step"), ("session", bad)):
        with pytest.raises(ValueError, match="expected 1 to 64"):
            make().execute_script("1", pd.DataFrame(), *ids)


def test_ids_that_are_no_texts(make):
    """S2.3: a number, which has digits alone, is told that it is no text."""
    for ids in ((7, "step"), ("session", 7)):
        with pytest.raises(ValueError, match="^7: expected a str, got int$"):
            make().execute_script("1", pd.DataFrame(), *ids)


@pytest.mark.parametrize(("script", "reason"), [
    ("import os", "Dangerous import/function detected: os"),
    ("from subprocess import run", "Dangerous import/function detected: subprocess"),
    ("eval('1')", "Dangerous import/function detected: eval"),
    ("open('x')", "Dangerous import/function detected: open"),
    ("__import__('os')", "Dangerous import/function detected: __import__"),
    ("x = 1\n" * 2000, "Script too long"),
], ids=["import", "from", "eval", "open", "__import__", "long"])
def test_validation(make, execute, script, reason):
    checked = make().validate_script(script)
    assert checked.keys() == {"safe", "reason", "warnings"}
    assert checked["safe"] is False and checked["reason"] == reason
    outcome = execute(script)
    assert outcome["error"] == f"Script validation failed: {reason}" and outcome["output"] == ""


def test_validation_of_a_good_script_runs_nothing(make):
    assert make().validate_script("print(1)\nwhile False: pass") == {"safe": True, "reason": None, "warnings": []}
    started = time.monotonic()
    assert make().validate("for _ in iter(int, 1): pass")["safe"]  # it would never end
    assert time.monotonic() - started < cells.PATIENCE


def test_warnings_reach_the_result(make, execute):
    script = "while True:\n    break\n"
    assert make().validate_script(script)["warnings"] == ["Potential infinite loop detected"]
    assert execute(script)["warnings"] == ["Potential infinite loop detected"]
    assert any("write" in warning for warning in make().validate_script("df.write(1)")["warnings"])
    assert make().validate_script("df.write(1); plt.savefig('x')")["warnings"] == []


def test_prelude(execute):
    outcome = execute("warnings.warn('not shown')\nprint(plots_dir, plt.isinteractive())")
    assert outcome["output"] == "/output/plots False\n" and outcome["warnings"] == []


def test_text_on_stderr_alone_is_no_failure(execute):
    outcome = execute("print('out')\nwarnings.simplefilter('always')\nwarnings.warn('to stderr')")
    assert outcome["success"] and outcome["output"] == "out\n"
    assert any("to stderr" in warning for warning in outcome["warnings"])


def test_a_script_has_all_of_its_time(execute):
    seconds = 2 * cells.SLOWNESS
    outcome = execute(f"end = pd.Timestamp.now() + pd.Timedelta(seconds={0.85 * seconds})\nwhile pd.Timestamp.now() < end: pass\nprint('done')",
                      SCRIPT_TIMEOUT=seconds)
    assert outcome["output"] == "done\n" and outcome["success"]


def test_timeout(execute):
    outcome = execute("print('before', flush=True)\nwhile True: pass", SCRIPT_TIMEOUT=4)
    assert outcome["error"] == "Script execution timed out after 4 seconds"
    assert outcome["output"] == "before\n" and outcome["execution_time"] >= 1


def test_an_exception(execute):
    outcome = execute("results['test_results']['kept'] = 1\nprint('before')\ndf['missing']")
    assert outcome["error"].startswith("Execution error: 'missing'\nTraceback") and "KeyError" in outcome["error"]
    assert outcome["output"] == "before\n" and outcome["results"]["test_results"] == {"kept": 1}


def test_failures_without_a_traceback(execute):
    outcome = execute("x = = 1")
    assert outcome["error"].startswith("Execution error: invalid syntax\n")
    refused = execute("1", data={"no": "frame"})
    assert refused["error"].startswith("Execution error: ") and refused["execution_time"] >= 0


def test_summary_of_results():
    summary = ScriptExecutor().extract_results_summary({
        "summary_statistics": {"mean": 1.5, "gone": float("nan"), "by": {"x": 2, "y": float("nan")}},
        "test_results": {"t": {"p": 0.04}}, "plots": ["plot_1.png"], "assumptions": {}, "interpretation": "small"})
    assert summary == {
        "statistics": {"mean": 1.5, "gone": pytest.approx(float("nan"), nan_ok=True),
                       "by": {"x": 2, "y": pytest.approx(float("nan"), nan_ok=True)}},
        "tests": {"t": {"p": 0.04}}, "plots_count": 1,
        "key_findings": ["summary_statistics.mean: 1.5", "summary_statistics.by.x: 2", "test_results.t.p: 0.04"],
        "interpretation": "small"}
    assert ScriptExecutor().extract_results_summary({})["key_findings"] == []


def test_the_documented_example(execute, make):
    outcome = execute("""
import pandas as pd
import numpy as np

results['mean_A'] = df['A'].mean()
results['sum_B'] = df['B'].sum()
results['correlation'] = df['A'].corr(df['B'])

plt.figure(figsize=(8, 6))
plt.scatter(df['A'], df['B'])
plt.title('A vs B')
plt.show()

print(f"Mean of A: {results['mean_A']}")
""", pd.DataFrame({"A": [1, 2, 3], "B": [4, 5, 6]}))
    assert outcome["error"] == "" and outcome["success"] and outcome["warnings"] == []
    assert outcome["output"] == "Mean of A: 2.0\n"
    assert [Path(plot).name for plot in outcome["plots"]] == outcome["results"]["plots"] == ["plot_1.png"]
    summary = make().extract_results_summary(outcome["results"])
    assert summary["key_findings"] == ["mean_A: 2.0", "sum_B: 15", "correlation: 1.0"] and summary["plots_count"] == 1


def test_numbers_that_json_does_not_know_stay_numbers(execute, make):
    outcome = execute("results['summary_statistics'] = {'m': 1, 'p': float('nan'), 'far': np.float64('inf'), 'note': 'text'}\n"
                      "results['ratio'] = np.nan\nresults['row'] = np.array([1.0, np.nan])\nresults[3] = (float('nan'), None)\n"
                      "results['none'] = None")
    results = outcome["results"]
    assert outcome["success"] and math.isnan(results["summary_statistics"]["p"]) and math.isnan(results["ratio"])
    assert results["row"][0] == 1.0 and math.isnan(results["row"][1]) and math.isnan(results[3][0])
    assert results["none"] is None and results[3][1] is None and results["summary_statistics"]["far"] == math.inf
    assert make().extract_results_summary(results)["key_findings"] == ["summary_statistics.m: 1", "summary_statistics.far: inf"]


def test_an_object_that_is_not_json_costs_other_numbers_nothing(execute):
    outcome = execute("results['n'] = float('nan')\nresults['o'] = str\nresults['in'] = [np.float64('-inf'), {'o': object, 'p': (1, float('nan'))}]\n"
                      "results['a'] = np.array([str, float('nan')], dtype=object)\nresults['c'] = 1j")
    results = outcome["results"]
    assert outcome["success"] and math.isnan(results["n"]) and results["o"] == "<class 'str'>", outcome
    assert results["in"][0] == -math.inf and results["in"][1]["o"] == "<class 'object'>" and math.isnan(results["in"][1]["p"][1])
    assert results["a"][0] == "<class 'str'>" and math.isnan(results["a"][1]) and results["c"] == 1j
    assert outcome["warnings"] == [f"results['{key}'] came back as text: type is not carried: convert it first, such as to str"
                                   for key in ("o", "in", "a")]


@pytest.mark.parametrize(("code", "results"), [("del results", {}), ("results = 5", {}), ("results = {'mine': 1}", {"mine": 1}),
                                               ("results = {'long': 'x' * 1000000}", {"long": "x" * 1000000})])
def test_results_that_are_another_object(execute, code, results):
    outcome = execute(code)
    assert outcome["success"] and outcome["results"] == results


@pytest.mark.parametrize("size", [1, 200_000])
def test_results_come_back_as_themselves_whatever_their_size(execute, size):
    """S2.12: the types of `results` do not depend on how much there is."""
    outcome = execute(f"results['list'] = list(range({size}))\nresults['array'] = np.arange({size})\nresults[1] = (1, {{2}})\n"
                      "results['frame'] = df\nresults['when'] = pd.Timestamp('2026-01-02')\nresults['$dict'] = {'$x': 1}")
    results = outcome["results"]
    assert outcome["success"] and outcome["warnings"] == []
    assert results["list"] == list(range(size)) and type(results["array"]).__name__ == "ndarray" and len(results["array"]) == size
    assert results[1] == (1, {2}) and results["when"] == pd.Timestamp("2026-01-02") and results["$dict"] == {"$x": 1}
    pd.testing.assert_frame_equal(results["frame"], pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2.0, 4.0, 7.0]}))


@pytest.mark.parametrize(("code", "told"), [
    ("results['bad'] = results", "results['bad'] was left out: it contains itself"),
    ("a = []; a.append(a)\nresults['bad'] = {'in': a}", "results['bad'] was left out: it contains itself"),
    ("results['bad'] = [[0] * 1001] * 20000", "results['bad'] was left out: it has more than 20000000 values"),
    ("class K: pass\nresults[K] = 1", "results[<class '__main__.K'>] was left out: its key: type is not carried: convert it first, such as to str"),
], ids=["circular", "circular-below", "large", "key"])
def test_what_cannot_come_back_is_named_and_costs_no_other_item(execute, code, told):
    """S2.12: an item that is left out is named in `warnings`, and the other items are there."""
    outcome = execute(f"results['before'] = np.array([1.0])\n{code}\nresults['after'] = np.array([2.0])")
    assert outcome["success"] and outcome["warnings"] == [told]
    assert list(outcome["results"]["before"]) == [1.0] and list(outcome["results"]["after"]) == [2.0] and "bad" not in outcome["results"]


def test_an_item_without_room_costs_no_other_item(execute):
    """S2.12: what does not fit into the output directory is named, and nothing else is in the way."""
    outcome = execute("results['before'] = np.array([1.0])\nresults['large'] = np.zeros(40_000_000)\nresults['after'] = 2")
    assert outcome["success"] and outcome["results"]["before"] == 1.0 and outcome["results"]["after"] == 2
    assert outcome["warnings"] == ["results['large'] was left out: its 320000018 bytes have no room in the output directory"]


def test_output_that_was_cut_is_told(execute):
    """S2.14: what a script prints beyond the limit is missing, and a warning says so."""
    outcome = execute("print('x' * 3_000_000)")
    assert outcome["success"] and len(outcome["output"]) == 1 << 20
    assert outcome["warnings"] == ["output was cut: the script has printed 3000001 bytes, more than the policy's limits.stdout"]


@pytest.mark.parametrize("code", ["", " \n"])
def test_a_blank_script_does_nothing(execute, code):
    """S2.2: it ends well, as before."""
    assert execute(code)["success"]


def test_an_exception_without_a_text_is_named(execute):
    """S2.16: the error says something also if the exception has no text."""
    assert execute("raise RuntimeError")["error"].startswith("Execution error: RuntimeError\nTraceback")


def test_what_comes_back_as_something_else_is_named(execute):
    """S2.12: subclasses and other objects come back as what they are like, or as text; cut text is told."""
    outcome = execute("class Long:\n    def __str__(self): return 'x' * 20000\n"
                      "class Own(dict): pass\nresults['own'] = Own(a=1)\nresults['long'] = Long()\n"
                      "results['t'] = stats.ttest_1samp([1.0, 2.0, 3.0], 2.0)")
    assert outcome["results"]["own"] == {"a": 1} and outcome["results"]["long"] == "x" * 10000
    assert outcome["results"]["t"] == (0.0, 1.0)
    assert [text.partition(":")[0] for text in outcome["warnings"]] == [
        "results['own'] came back as dict", "results['long'] came back as text, cut to 10000 characters", "results['t'] came back as tuple"]


def test_warnings_about_results_are_bounded(execute):
    """S2.12: a script cannot fill the warnings."""
    outcome = execute("for i in range(50): results[i] = object()")
    assert len(outcome["warnings"]) == 21 and outcome["warnings"][-1] == "results: 30 further values were changed or left out"


def test_results_that_are_no_dict_are_told(execute):
    """S2.12: `results` that is no dict is left out with a warning."""
    assert execute("results = 5")["warnings"] == ["results was left out: it is no dict, but int"]
    assert execute("results = None")["warnings"] == ["results was left out: it is no dict, but NoneType"]


def test_the_text_of_an_exit_is_the_error(execute):
    """S2.16: the text that ends a script, as sys.exit("text") does, is in the error."""
    outcome = execute("print('before')\nraise SystemExit('no data for 2026')")
    assert outcome["error"].startswith("Execution error: no data for 2026\n") and outcome["output"] == "before\n"


@pytest.mark.parametrize("data", [None, 5, {"a": [1]}, [1]], ids=["None", "int", "dict", "list"])
def test_data_that_is_no_frame_is_said_in_the_executors_words(execute, data, make):
    """S2.2: the message names the argument that execute_script has."""
    outcome = make().execute_script("1", data, "session", "step")
    assert outcome["error"] == f"Execution error: data: expected a pandas DataFrame, got {type(data).__name__}"


@pytest.mark.parametrize(("config", "message"), [
    ({"SCRIPT_TIMEOUT": -1}, "SCRIPT_TIMEOUT: expected 10ms to 24h, got -1"),
    ({"SCRIPT_TIMEOUT": "soon"}, "SCRIPT_TIMEOUT: expected a duration such as \"60s\", got 'soon'"),
    ({"SANDBOX_FOLDER": __file__}, f"[Errno 20] Not a directory: '{__file__}/session'"),
])
def test_settings_that_no_step_can_have_are_in_the_error(make, config, message):
    """S2.1: a wrong setting is one clear line in `error`, in the words of the configuration."""
    assert make(**config).execute_script("1", pd.DataFrame(), "session", "step")["error"] == f"Execution error: {message}"


def test_arguments_of_wrong_types_are_one_clear_line(make):
    """S2.1, S2.2, S2.20, S2.22: arguments that mean nothing are refused by their names."""
    executor = make()
    for call, message in [
            (lambda: make(ALLOWED_IMPORTS="pandas"), "ALLOWED_IMPORTS: expected a list of names, got str"),
            (lambda: make(ALLOWED_IMPORTS=[5]), "ALLOWED_IMPORTS: expected names, got 5"),
            (lambda: make(SANDBOX_FOLDER=5), "SANDBOX_FOLDER: expected a name or a path, got int"),
            (lambda: ScriptExecutor({"SCRIPT_TIMEOUT": 5}), "config: expected an object with attributes such as SCRIPT_TIMEOUT, got dict"),
            (lambda: executor.cleanup_session("session", -1), "keep_recent: expected a whole number from 0 on, got -1"),
            (lambda: executor.validate_data_access("df.a", None), "available_columns: expected a list of names, got NoneType"),
            (lambda: executor.extract_results_summary(None), "results: expected a dict, got NoneType")]:
        with pytest.raises(InputError) as raised:
            call()
        assert str(raised.value) == message
    assert executor.get_plot_data(None) is None
    assert executor.execute_script(None, pd.DataFrame(), "session", "step")["error"] == "Execution error: script: expected str, got NoneType"


def test_a_summary_of_frames_and_arrays(make):
    """S2.19: results that come back as tables have a summary too."""
    frame = pd.DataFrame({"a": [1]})
    summary = make().extract_results_summary({"summary_statistics": frame, "plots": frame.a.to_numpy(), "n": 2})
    assert summary["statistics"] is frame and summary["plots_count"] == 1 and summary["key_findings"] == ["n: 2"]


@pytest.mark.parametrize("form", ["png", "jpg", "jpeg", "svg", "pdf"])
def test_a_figure_that_is_saved_and_not_shown_is_listed_once(execute, form, tmp_path):
    outcome = execute(f"plt.plot(df.a)\nplt.savefig(plots_dir + '/mine.{form}')")
    assert outcome["error"] == "" and [Path(plot).name for plot in outcome["plots"]] == [f"mine.{form}"]
    assert all(Path(plot).is_absolute() and Path(plot).is_file() for plot in outcome["plots"])
    assert os.listdir(tmp_path / "sandbox" / "session" / "step" / "plots") == [f"mine.{form}"]


def test_cleanup_keeps_the_newest(make, tmp_path):
    session = tmp_path / "sandbox" / "session"
    for age, name in enumerate(["newest", "newer", "old", "older"]):
        (session / name / "plots").mkdir(parents=True)
        os.utime(session / name, (1e9 - age, 1e9 - age))
    (session / "link").symlink_to(tmp_path)
    make().cleanup_session("session", keep_recent=2)
    assert sorted(path.name for path in session.iterdir() if not path.name.startswith(".")) == ["link", "newer", "newest"]
    make().cleanup_session("never-was")
    assert not (tmp_path / "sandbox" / "never-was").exists()


def test_data_access(make):
    script = "print(df['a'], df[\"b c\"], df.d, data['e'])\ndf.mean()\n'df.in_a_string'  # df['comment']\n"
    assert make().validate_data_access(script, ["a", "b c", "d", "e"]) == {
        "valid": True, "accessed_columns": ["a", "b c", "d", "e"], "warnings": []}
    missing = make().validate_data_access(script, ["a", "b c"])
    assert missing["valid"] is False and missing["warnings"] == ["Columns not found in dataset: ['d', 'e']"]


def test_steps_of_one_session_wait_for_each_other(make, monkeypatch):
    """Each step notes how many of its session are running, in whichever executor."""
    from hotcell.adapters import statistics
    running, most, run, lock = [], {}, statistics.run, threading.Lock()

    def counted(script, **options):
        session = Path(options["output_dir"]).parent.name
        with lock:
            running.append(session)
            most[session] = max(most.get(session, 0), running.count(session))
        try:
            return run(script, **options)
        finally:
            with lock:
                running.remove(session)
    monkeypatch.setattr(statistics, "run", counted)
    executors = [make(), make()]
    steps = [threading.Thread(target=executors[n % 2].execute_script, args=("1", pd.DataFrame({"a": [1]}), "same", str(n)))
             for n in range(4)]
    for step in steps:
        step.start()
    for step in steps:
        step.join()
    assert most == {"same": 1}
