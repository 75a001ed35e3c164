"""Trees of several Pythons beside each other: which shim runs a job, and what is said where there is none for it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import cells
import pytest
from trees import MINOR, PYTHON, TINY, Store, other_pythons, write_recipe

SOURCES = Path(__file__).resolve().parents[2]
THREADED = ("#!/bin/sh\ncase \"$*\" in *Py_GIL_DISABLED*) ;; *) exec {python} \"$@\" ;; esac\n"
            "{python} \"$@\" | sed 's/\"free_threaded\": false/\"free_threaded\": true/; s/^$/1/'\n").format(python=PYTHON)


@pytest.fixture(scope="module", name="others")
def trees_of_other_pythons(base_tree):
    """A store with a tree "base-VERSION" for each of them, and the versions."""
    pythons = other_pythons()
    if not pythons:
        pytest.skip(f"no shim for another Python is built (make shims) beside Python {MINOR}")
    here = cells.new_directory(cells.caller())
    store = Store(here / "state")
    for version, path in pythons.items():
        store.build("base", "--python", path, "--name", f"base-{version}")
    store.build(write_recipe(here))
    return store, sorted(pythons)


@pytest.fixture(name="installed")
def a_place_with_one_shim(monkeypatch, base_tree):
    """hotcell, with its own shim alone."""
    place = cells.new_directory(cells.caller())
    (place / "bin").mkdir()
    for name in ("hotcell", "hotcell-shim"):
        shutil.copy(cells.BUILD / name, place / "bin" / name)
    for name in ("policies", "rootfs"):
        shutil.copytree(SOURCES / name, place / "share/hotcell" / name)
    monkeypatch.setattr(cells, "HOTCELL", place / "bin/hotcell")
    return place


def empty_tree(python):
    """What a launcher looks at before it has built a cell."""
    tree = cells.new_directory(cells.caller())
    (tree / "root/usr/lib" / python).mkdir(parents=True)
    return tree


def run(tree):
    program = cells.new_directory(cells.caller()) / "program.py"
    program.write_text("import sys\nprint('%d.%d' % sys.version_info[:2], sys.path[0])\n")
    return cells.hotcell("run", "-o", str(program.parent / "out"), "-t", str(tree), str(program))


def test_each_job_runs_with_the_python_of_its_tree(others, monkeypatch):
    store, versions = others
    monkeypatch.setenv("HOTCELL_STATE", str(store.path))
    for version in versions:
        done = run(f"base-{version}")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{version} /usr/lib/python{version}\n", ""), version
    assert run("tiny").stdout == f"{MINOR} /usr/lib/python{MINOR}\n"
    listed = store.tree("list").stdout
    assert all(f"Python {version}." in line for version in versions for line in listed.splitlines() if f"base-{version}" in line)
    assert all(f"base-{version}" in listed for version in versions)


def test_a_session_has_the_python_of_its_tree(others, monkeypatch):
    store, versions = others
    monkeypatch.setenv("HOTCELL_STATE", str(store.path))
    here = cells.new_directory(cells.caller())
    code = ("import sys, hotcell\nfor version in sys.argv[1:]:\n    with hotcell.Session(tree=f'base-{version}') as session:\n"
            "        session.run('import sys; x = sys.version_info[:2]')\n        print(session.run('\"%d.%d\" % x').value)")
    done = subprocess.run([PYTHON, "-c", code, *versions], capture_output=True, text=True, check=False, cwd=here,
                          env={**os.environ, "PYTHONPATH": str(SOURCES / "src/python"), "HOTCELL": str(cells.HOTCELL)})
    assert (done.stdout.split(), done.stderr) == (versions, "")


def test_a_missing_import_is_told_once(others, monkeypatch):
    """From Python 3.12 on the traceback itself names a module of Python's own, and hotcell does not say it again."""
    store, versions = others
    monkeypatch.setenv("HOTCELL_STATE", str(store.path))
    for version in versions:
        said = cells.run("json.loads('1')", tree=f"base-{version}").stderr
        assert said.count("import") == 1 and ("Did you forget to import 'json'" in said) == (version >= "3.12"), said
        assert cells.run("Path('x')", tree=f"base-{version}").stderr.endswith("hint: from pathlib import Path is missing.\n")


def test_layers_are_for_the_python_of_their_tree(others, monkeypatch):
    store, versions = others
    monkeypatch.setenv("HOTCELL_STATE", str(store.path))
    module = cells.new_directory(cells.caller()) / "mine.py"
    module.write_text("VALUE = 7\n")
    done = store.tree("extend", "--name", "own", "--module", str(module), f"base-{versions[0]}")
    assert done.returncode == 0, done.stderr
    layers = cells.new_directory(cells.caller())
    policy = layers / "layers.json"
    policy.write_text(json.dumps({"extends": "default", "layers": {"allow": ["own"]}}))
    program = layers / "program.py"
    program.write_text("import mine\nprint(mine.VALUE)\n")
    arguments = ["-p", str(policy), "-o", str(layers / "out"), str(program)]
    done = cells.hotcell("run", "-t", f"base-{versions[0]}+own", *arguments)
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
    done = cells.hotcell("run", "-t", "tiny+own", *arguments)
    assert (done.returncode, done.stderr) == (69, f"hotcell: the layer 'own' was made for Python {versions[0]}, and the tree 'tiny' has Python "
                                                  f"{MINOR}: 'hotcell tree extend' makes it anew\n")


def test_a_missing_shim_is_named_with_what_installs_it(installed):
    version = "3.12" if MINOR != "3.12" else "3.13"
    tree = empty_tree(f"python{version}")
    done = run(tree)
    assert done.returncode == 69
    assert done.stderr == (f"hotcell: tree '{tree}': hotcell-shim-{version} is not where hotcell is installed (looked from {installed}/bin); it runs "
                           f"the programs of trees with Python {version}: in hotcell's sources, 'make shims PYTHONS=/path/to/python{version}' and "
                           "'make install' put it there\n")


def test_an_interpreter_without_a_shim_is_refused_before_a_tree_is_made(installed):
    version = "3.12" if MINOR != "3.12" else "3.13"
    here = cells.new_directory(cells.caller())
    python = here / "python"
    python.write_text(f"#!/bin/sh\n{PYTHON} \"$@\" | sed 's/\"minor\": \"{MINOR}\"/\"minor\": \"{version}\"/'\n")
    python.chmod(0o755)
    done = Store(here / "state").tree("build", "--python", str(python), "base")
    assert done.returncode == 69
    assert done.stderr.splitlines()[0] == (f"tree build: {python} is Python {version}, for which this hotcell has no shim: in hotcell's sources, "
                                           f"'make shims PYTHONS={python}' and 'make install' put it there")


def test_free_threaded_builds_are_refused(base_tree):
    here = cells.new_directory(cells.caller())
    python = here / "python"
    python.write_text(THREADED)
    python.chmod(0o755)
    recipe = here / "tiny.json"
    recipe.write_text(json.dumps(TINY))
    done = Store(here / "state").tree("build", "--python", str(python), str(recipe))
    assert (done.returncode, done.stderr.splitlines()[0]) == (65, (
        f"tree build: {python} is a free-threaded build of Python {MINOR}, which hotcell does not run, as its guard relies on the global lock: "
        "name another build"))
    tree = empty_tree("python3.13t")
    done = run(tree)
    assert (done.returncode, done.stderr) == (69, f"hotcell: the tree '{tree}' has a free-threaded build of Python 3.13, which hotcell does not run, "
                                                  "as its guard relies on the global lock: build it of another Python\n")
    made = subprocess.run(["make", "-n", f"PYTHON={python}", f"B={here}/build", "all"], cwd=SOURCES, capture_output=True, text=True, check=False,
                          env={name: value for name, value in os.environ.items() if name != "MAKEFLAGS"})
    assert made.returncode == 2 and f"{python} is a free-threaded build of Python, which hotcell does not embed" in made.stderr
