"""The data of charts beside their figures, as the program's process reports it."""

import json
import sys
from pathlib import Path

import cells
import jsonschema
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
import hotcell  # noqa: E402  pylint: disable=wrong-import-position

SCIENTIFIC = ["--memory", "1G", "--timeout", "60s", "--value-size", "4M"]
SCHEMA = cells.generated("manifest.schema.json")

# name: a program that draws one figure
DRAWN = {
    "line": "plt.plot([1, 2, 3], [4, 5, float('nan')], label='a'); plt.plot([3, 2]); plt.axhline(2); plt.title('T'); plt.xlabel('Time (s)')",
    "dates": "plt.plot([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], [1, 2])",
    "categories": "plt.plot(['x', 'y'], [1, 2])",
    "series": "pd.Series([1, 2], index=pd.date_range('2024-01-01', periods=2), name='n').plot(legend=True)",
    "scatter": "plt.scatter([1, 2], [3, 4], label='s'); plt.yscale('log')",
    "markers": "plt.plot([1, 2], [3, 4], 'o')",
    "bar": "plt.bar(['a', 'b'], [1, 2], label='g'); plt.ylabel('Mass [kg]')",
    "barh": "plt.barh(['a', 'b'], [1, 2])",
    "grouped": "x = np.arange(2); plt.bar(x - .2, [1, 2], .4, label='m'); plt.bar(x + .2, [3, 4], .4, label='w'); plt.xticks(x, ['A', 'B'])",
    "years": "plt.bar([0, 1], [1, 2], tick_label=['2020', '2021'])",
    "hist": "plt.hist([1, 1, 2, 3], bins=2)",
    "pie": "plt.pie([1, 3], labels=['p', 'q'])",
    "box": "plt.boxplot([[1, 2, 3, 4, 20], [2, 3, 4]], labels=['u', 'v'])",
    "lying": "plt.boxplot([[1, 2, 3, 4, 20], [2, 3, 4]], labels=['u', 'v'], vert=False, patch_artist=True)",
    "image": "plt.imshow([[1, 2], [3, 4]]); plt.colorbar(); plt.title('I')",
    "two": "f, (a, b) = plt.subplots(1, 2); a.plot([1]); b.bar(['x'], [2]); f.suptitle('S')",
    "nothing": "plt.figure()",
    "long": "plt.plot(range(100000), label='l'); plt.plot(range(10))",
    "hostile": "plt.plot([1]); plt.gca().get_title = lambda: 1 / 0",
    "liar": "plt.plot([1]); plt.gca().get_title = lambda: 'x' * 10**7",
    "shown": "plt.plot([7]); plt.show()",
    "saved": "plt.plot([8]); plt.savefig('figures/own.png')",
}


@pytest.fixture(scope="module")
def charts(scientific):
    """{name: chart}, all of one job."""
    code = "import datetime, numpy as np, pandas as pd, matplotlib.pyplot as plt\n"
    code += "".join(f"plt.figure({number})\n{draw}\nplt.show()\n" for number, draw in enumerate(DRAWN.values(), 1))
    result = cells.run(code, *SCIENTIFIC, "--max-figures", "50", tree=scientific)
    assert result.manifest["status"] == "ok" and len(result.manifest["figures"]) == len(DRAWN) - 1, result  # one is empty
    jsonschema.validate(result.manifest, SCHEMA)
    rows = iter(result.manifest["guest"]["figures"])
    return {name: next(rows).get("chart") if name != "nothing" else None for name in DRAWN}


def test_lines(charts):
    chart = charts["line"]
    assert chart["type"] == "line" and chart["title"] == "T" and "truncated" not in chart
    assert chart["elements"] == [{"label": "a", "points": [[1, 4], [2, 5], [3, None]]}, {"label": "", "points": [[0, 3], [1, 2]]}]
    assert (chart["x_label"], chart["x_unit"], chart["y_label"], chart["y_unit"]) == ("Time (s)", "s", None, None)
    assert chart["x_scale"] == chart["y_scale"] == "linear" and len(chart["x_ticks"]) == len(chart["x_tick_labels"]) > 2


@pytest.mark.parametrize("name, points, scale", [
    ("dates", [["2024-01-01T00:00:00", 1], ["2024-01-02T00:00:00", 2]], "datetime"),
    ("series", [["2024-01-01T00:00:00", 1], ["2024-01-02T00:00:00", 2]], "datetime"),
    ("categories", [["x", 1], ["y", 2]], "categorical"),
    ("shown", [[0, 7]], "linear"),
    ("saved", [[0, 8]], "linear"),
])
def test_points_are_what_the_program_drew(charts, name, points, scale):
    assert charts[name]["type"] == "line" and charts[name]["x_scale"] == scale
    assert [each["points"] for each in charts[name]["elements"]] == [points]


def test_scatters(charts):
    assert charts["scatter"]["type"] == charts["markers"]["type"] == "scatter" and charts["scatter"]["y_scale"] == "log"
    assert charts["scatter"]["elements"] == [{"label": "s", "points": [[1, 3], [2, 4]]}]
    assert charts["markers"]["elements"] == [{"label": "", "points": [[1, 3], [2, 4]]}]


@pytest.mark.parametrize("name, elements", [
    ("bar", [("a", "g", 1), ("b", "g", 2)]), ("barh", [("a", "", 1), ("b", "", 2)]),
    ("grouped", [("A", "m", 1), ("B", "m", 2), ("A", "w", 3), ("B", "w", 4)]), ("hist", [("1.5", "", 2), ("2.5", "", 2)]),
    ("years", [("2020", "", 1), ("2021", "", 2)]),
])
def test_bars(charts, name, elements):
    assert charts[name]["type"] == "bar"
    assert [(bar["label"], bar["group"], bar["value"]) for bar in charts[name]["elements"]] == elements


def test_units_in_square_brackets(charts):
    assert (charts["bar"]["y_label"], charts["bar"]["y_unit"]) == ("Mass [kg]", "kg")


def test_pies(charts):
    assert charts["pie"] == {"type": "pie", "title": None, "elements": [
        {"label": "p", "angle": 90, "radius": 1}, {"label": "q", "angle": 270, "radius": 1}]}


@pytest.mark.parametrize("name", ["box", "lying"])
def test_boxes(charts, name):
    assert charts[name]["type"] == "box_and_whisker" and charts[name]["elements"] == [
        {"label": "u", "min": 1, "first_quartile": 2, "median": 3, "third_quartile": 4, "max": 4, "outliers": [20]},
        {"label": "v", "min": 2, "first_quartile": 2.5, "median": 3, "third_quartile": 3.5, "max": 4, "outliers": []}]


def test_others(charts):
    assert charts["image"]["type"] == "unknown" and charts["image"]["title"] == "I" and charts["image"]["elements"] == []
    assert charts["two"]["type"] == "superchart" and charts["two"]["title"] == "S"
    assert [chart["type"] for chart in charts["two"]["elements"]] == ["line", "bar"]


def test_long_series_are_thinned(charts):
    long, short = charts["long"]["elements"]
    assert charts["long"]["truncated"] is True and 200 <= len(long["points"]) + len(short["points"]) <= 500
    assert long["points"][0] == [0, 0] and long["points"][-1][0] > 99000 and len(short["points"]) == 10


def test_objects_that_lie_or_fail(charts):
    assert charts["hostile"] is None and charts["liar"]["title"] == "x" * 200


def test_data_is_bounded_and_figures_are_not_lost_for_it(scientific):
    code = "import matplotlib.pyplot as plt\nfor n in range(12):\n    plt.plot([x / 7 for x in range(500)]); plt.show()\n"
    result = cells.run(code, *SCIENTIFIC[:4], "--value-size", "256K", tree=scientific)
    rows = result.manifest["guest"]["figures"]
    assert len(rows) == len(result.manifest["figures"]) == 12 and 1 <= sum("chart" in row for row in rows) < 12
    assert "The data of a chart was left out: it is too large." in result.manifest["guest"]["warnings"]
    assert len(json.dumps(rows)) < 64 << 10


def test_a_policy_leaves_the_data_out(scientific):
    result = cells.run("import matplotlib.pyplot as plt\nplt.plot([1])", *SCIENTIFIC, tree=scientific, policy={"figures": {"data": False}})
    assert [sorted(row) for row in result.manifest["guest"]["figures"]] == [["kind", "mime", "path"]], result


def test_python_has_it_beside_the_figure(scientific, tmp_path):
    result = hotcell.run("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.title('T')", tree=scientific, memory="1G", timeout=60,
                         binary=cells.HOTCELL, output_dir=tmp_path / "out")
    assert [figure.chart["title"] for figure in result.figures] == ["T"]
