"""The examples in hotcell-python(3) for users of older executors run as they are printed there."""

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import cells
import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
EXAMPLES = dict(re.findall(r'Tests run this example: (\w+)\n\.Bd [^\n]*\n(.*?)\n\.Ed\n',
                           (SOURCE / "man" / "hotcell-python.3.in").read_text(), re.DOTALL))

FRAMEWORKS = re.findall(r"^\.Bd [^\n]*\n(.*?)^\.Ed$", (SOURCE / "man" / "hotcell-python.3.in").read_text().partition(".Ss Frameworks")[2].partition("\n.Ss ")[0],
                        re.DOTALL | re.MULTILINE)


@pytest.fixture
def run(base_tree, tmp_path):
    pytest.importorskip("pandas")

    def run_example(name):
        code = EXAMPLES[name].replace("\\e", "\\")
        return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=cells.PATIENCE,
                              env={**os.environ, "PYTHONPATH": str(SOURCE / "python"), "HOTCELL": str(cells.HOTCELL)})
    return run_example


def test_only_the_import_is_of_hotcell():
    """What an example imports of hotcell is one line, and no other line names it."""
    assert set(EXAMPLES) == {"charts", "statistics", "runner", "notebook"}
    for code in EXAMPLES.values():
        assert len([line for line in code.splitlines() if "hotcell" in line]) == 1
        ast.parse(code.replace("\\e", "\\"))


def test_charts(run, tmp_path):
    done = run("charts")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.split() == ["12", "iVBORw0K"] and os.listdir(tmp_path / "work") == []


def test_statistics(run, tmp_path):
    done = run("statistics")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout == "True done\n ['mean_A: 2.0', 'sum_B: 15', 'correlation: 1.0']\niVBORw0K\n"
    assert os.listdir(tmp_path / "output" / "sandbox" / "session" / "step" / "plots") == ["plot_1.png"]


def test_the_runner(run, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"n": 1}\n{"n": 2}\n')
    done = run("runner")
    assert (done.returncode, done.stderr) == (0, ""), done
    code, output, *paths = done.stdout.split(maxsplit=2)
    assert (code, output) == ("0", "3")
    figures = ast.literal_eval(paths[0])
    assert len(figures) == 1 and re.fullmatch(rf"{tmp_path}/out/figures/plotly_[0-9a-f]{{12}}\.json", figures[0])
    assert Path(figures[0]).is_file()


def test_the_notebook(run):
    done = run("notebook")
    assert (done.returncode, done.stdout, done.stderr) == (0, "[42, 250, True]\n", ""), done


def test_examples_for_frameworks_name_what_there_is():
    """They cannot be run here, as they need models; but they are Python, and what they import of hotcell is there."""
    assert len(FRAMEWORKS) == 9
    sys.path.insert(0, str(SOURCE / "python"))
    for text in FRAMEWORKS:
        code = text.replace("\\e", "\\")
        compile(code, "example", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        imported = re.findall(r"^(?:from (hotcell\.adapters\.\w+) import (\w+)|import (hotcell\.adapters\.\w+))", code, re.MULTILINE)
        assert imported and len(code.splitlines()) <= 20
        for module, name, whole in imported:
            found = importlib.import_module(module or whole)
            assert not name or callable(getattr(found, name))
