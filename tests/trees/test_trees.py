"""Trees: built once, known by what they hold, and never half there."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import cells
import pytest
from trees import MINOR, PYTHON, TINY, Store, unshare, write_recipe


@pytest.fixture(scope="module")
def built(base_tree):
    """A store with the tree tiny, which tests leave as it is."""
    here = cells.new_directory(cells.caller())
    store = Store(here / "state")
    store.recipe = write_recipe(here)
    store.id = store.build(store.recipe)
    return store


@pytest.fixture
def store(built):
    """A copy of that, in another place, to be spoiled; its files are still the same, see unshare()."""
    here = cells.new_directory(cells.caller())
    shutil.copytree(built.path, here / "state", symlinks=True, copy_function=os.link)
    copy = Store(here / "state")
    copy.recipe, copy.id = built.recipe, built.id
    return copy


def test_list_and_path(built):
    assert built.list() == {"tiny": built.id} and re.fullmatch("[0-9a-f]{64}", built.id)
    row = json.loads(built.tree("list", "--json").stdout)[0]
    assert row["path"] == str(built.path / "trees" / built.id)
    text = built.tree("list").stdout
    assert "tiny" in text and built.id[:12] in text and f"Python {MINOR}" in text and row["path"] in text
    for name in ("tiny", built.id, built.id[:8]):
        done = built.tree("path", name)
        assert done.stdout == row["path"] + "\n" and done.stderr == ""
    assert {entry.name for entry in Path(row["path"]).iterdir()} == {"root", "index", "meta.json", "stamps"}


def test_cells_run_in_it_by_name_id_and_path(built):
    for name in ("tiny", built.id, built.id[:8], str(built.path / "trees" / built.id)):
        done = built.run(name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


@pytest.mark.parametrize("name", ["", ".", "..", "nowhere", "0" * 64, "0" * 8, "../trees", "tiny\n", "TINY", "x" * 300])
def test_what_is_no_tree(built, name):
    for command in ("path", "verify", "remove"):
        done = built.tree(command, name)
        assert done.returncode in (64, 65, 69) and done.stdout == "" and len(done.stderr.splitlines()) == 1, command
    assert built.list() == {"tiny": built.id}


def test_short_prefix_of_an_id_is_none(built):
    assert built.tree("path", built.id[:7]).returncode == 69


def test_store_without_trees(base_tree, tmp_path):
    empty = Store(tmp_path / "state")
    assert empty.list() == {}
    assert "hotcell tree build" in empty.tree("list").stdout
    assert not (tmp_path / "state").exists()


def test_tree_is_its_content(built, tmp_path):
    """The same recipe from another place, under another name, gives the same tree."""
    other = Store(tmp_path / "state")
    assert other.build(write_recipe(tmp_path), "--name", "other.name") == built.id
    assert other.list() == {"other.name": built.id}


def test_store_may_be_copied(store):
    assert store.tree("verify", "tiny").returncode == 0
    assert store.run("tiny").stdout == "42\n"
    moved = store.path.parent / "elsewhere"
    shutil.copytree(store.path / "trees" / store.id, moved, symlinks=True)
    shutil.rmtree(store.path)
    assert store.run(str(moved)).stdout == "42\n"
    assert store.run("../" + moved.parent.name + "/elsewhere").stdout == "42\n"


def test_verify_a_good_tree(built):
    done = built.tree("verify", "tiny")
    assert done.returncode == 0 and built.id in done.stdout and done.stderr == ""


def test_verify_takes_several(store):
    store.build(store.recipe, "--name", "second")
    done = store.tree("verify", "tiny", "second")
    assert done.returncode == 0 and [line.split(":")[0] for line in done.stdout.splitlines()] == ["tiny", "second"]
    done = store.tree("verify", "missing", "tiny")
    assert done.returncode == 69 and "'missing'" in done.stderr and done.stdout.startswith("tiny: every entry")
    (store.path / "trees" / store.id / "root/etc/added").write_text("")
    assert store.tree("verify", "tiny", "second").returncode == 1
    assert store.tree("verify").returncode == 64


def test_build_takes_several(base_tree, tmp_path):  # pylint: disable=unused-argument
    store = Store(tmp_path / "state")
    recipes = [write_recipe(tmp_path, name=name) for name in ("one", "two")]
    done = store.tree("build", *recipes, timeout=300)
    assert done.returncode == 0 and [line.split()[1] for line in done.stdout.splitlines()] == ["one", "two"], done
    assert sorted(store.list()) == ["one", "two"]
    done = store.tree("build", "--name", "both", *recipes)
    assert done.returncode == 64 and "--name is for one RECIPE" in done.stderr


def test_verify_finds_what_differs(store):
    root = store.path / "trees" / store.id / "root"
    library = root / f"usr/lib/python{MINOR}"
    with open(unshare(library / "io.py"), "r+b") as file:
        file.write(b"?")
    unshare(library / "os.py" if (library / "os.py").exists() else library / "codecs.py").chmod(0o666)
    (library / "encodings/ascii.py").unlink()
    (root / "etc/added").write_text("")
    (root / "lib64").unlink()
    (root / "lib64").symlink_to("usr/lib")
    (root / "tmp").rmdir()
    (root / "dev").chmod(0o777)
    done = store.tree("verify", "tiny")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "not what it was" in done.stderr
    named = [line.split()[-1] for line in done.stdout.splitlines()]
    for path in (f"usr/lib/python{MINOR}/io.py", "lib64", "dev"):
        assert named.count(path) == 2, path  # as expected, and as found
    for path in (f"usr/lib/python{MINOR}/encodings/ascii.py", "etc/added", "tmp"):
        assert named.count(path) == 1, path
    assert len(named) == 2 * 4 + 3


def test_verify_finds_what_no_tree_has(store):
    victim = store.path / "trees" / store.id / f"root/usr/lib/python{MINOR}/io.py"
    unshare(victim).chmod(0o4755)
    done = store.tree("verify", "tiny")
    assert done.returncode != 0 and "io.py has a set-id bit" in done.stderr
    victim.unlink()
    os.mkfifo(victim)
    done = store.tree("verify", "tiny")
    assert done.returncode != 0 and "io.py" in done.stderr


def test_verify_finds_another_index(store):
    with open(unshare(store.path / "trees" / store.id / "index"), "a") as file:
        file.write("f 0644 0 " + "0" * 64 + " zzz\n")
    done = store.tree("verify", "tiny")
    assert done.returncode == 1
    assert f"the tree is called {store.id}" in done.stdout and "zzz" in done.stdout


# ---- names ----

def test_remove_a_name_and_with_the_last_the_tree(store):
    store.build(store.recipe, "--name", "second")
    assert store.list() == {"tiny": store.id, "second": store.id}
    assert store.tree("remove", "tiny").returncode == 0
    assert store.list() == {"second": store.id} and store.run("second").stdout == "42\n"
    assert store.tree("remove", "second").returncode == 0
    assert store.list() == {} and store.entries() == []
    assert store.tree("remove", "second").returncode == 65


def test_tree_loses_its_name_to_a_newer_one(store):
    changed = write_recipe(store.path.parent, description="of more", files=[*TINY["files"], "/etc/debian_version"])
    newer = store.build(changed)
    assert newer != store.id
    assert store.list() == {"tiny": newer, "": store.id}
    assert store.run("tiny").stdout == store.run(store.id[:12]).stdout == "42\n"
    assert store.tree("remove", store.id[:8]).returncode == 0
    assert store.list() == {"tiny": newer} and store.entries() == [newer]


def test_tree_with_a_name_is_not_removed_by_its_id(built):
    done = built.tree("remove", built.id)
    assert done.returncode == 65 and "has a name" in done.stderr
    assert built.list() == {"tiny": built.id}


@pytest.mark.parametrize("name", ["", ".x", "a/b", "../x", "a b", "a\nb", "é", "x" * 65])
def test_names_that_cannot_be(built, name):
    done = built.tree("build", "--name", name, built.recipe)
    assert done.returncode == 64
    assert "tree name" in done.stderr and len(done.stderr.splitlines()) == 1  # before anything was built
    assert built.entries() == [built.id]


# ---- building ----

def test_build_that_is_killed_leaves_nothing(store, tmp_path):
    before = store.entries()
    recipe = write_recipe(tmp_path, files=TINY["files"] + ["/etc/debian_version"])
    with store.start_build(recipe) as process:
        os.killpg(process.pid, signal.SIGKILL)
    assert store.list() == {"tiny": store.id}
    left = set(store.entries()) - set(before)
    assert all(name.startswith(".new-") for name in left)
    newer = store.build(recipe)
    assert store.entries() == sorted([*before, newer])
    assert store.tree("verify", "tiny").returncode == 0


def test_interrupted_build_cleans_up(store, tmp_path):
    recipe = write_recipe(tmp_path, files=TINY["files"] + ["/etc/debian_version"])
    with store.start_build(recipe) as process:
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
        process.stderr.read()
    assert process.returncode != 0
    assert store.list() == {"tiny": store.id} and store.entries() == [store.id]


def test_two_builds_at_once(tmp_path, base_tree):
    both = Store(tmp_path / "state")
    recipe = write_recipe(tmp_path)
    builds = [subprocess.Popen([cells.HOTCELL, "tree", "build", "--name", name, recipe], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **both.env})
              for name in ("a", "b", "a")]
    ids = set()
    for build in builds:
        stdout, stderr = build.communicate(timeout=cells.PATIENCE)
        assert build.returncode == 0, stderr
        ids.add(stdout.split()[0])
    assert len(ids) == 1 and both.entries() == list(ids)
    assert both.list() == dict.fromkeys("ab", *ids)
    assert both.tree("verify", "a").returncode == 0


@pytest.mark.parametrize("text, status, phrase", [
    ("{", 65, ":1:2"), ("[]", 65, "JSON object"), ('{"name": 1}', 65, "name"),
    ('{"name": "x", "frob": 1}', 65, "unknown key 'frob'"),
    ('{"name": "x", "extends": "nowhere"}', 65, "nowhere"), ('{"name": "x", "extends": "./mine.json"}', 65, "circle"),
    ('{"name": "x", "distributions": ["no-such-thing"]}', 69, "no-such-thing"),
    ('{"name": "x", "files": ["/etc/shadow/../passwd"]}', 65, "files"),
])
def test_recipe_that_is_wrong(built, text, status, phrase):
    recipe = built.path.parent / "mine.json"
    recipe.write_text(text)
    done = built.tree("build", recipe)
    assert done.returncode == status, done.stderr
    assert done.stdout == "" and phrase in done.stderr
    assert built.list() == {"tiny": built.id} and built.entries() == [built.id]


def test_recipe_that_is_not_there(built):
    for name in ("nowhere", "./nowhere.json", "../base", ""):
        done = built.tree("build", name)
        assert done.returncode == 65 and len(done.stderr.splitlines()) == 1, done.stderr


def test_all_recipes_are_looked_at_before_the_first_is_built(built):
    recipe = Path(built.recipe)
    first = recipe.with_name("first.json")
    first.write_bytes(recipe.read_bytes())
    for wrong in ("nope", str(recipe.with_name("nope.json"))):
        done = built.tree("build", str(first), wrong)
        assert done.returncode == 65 and "nope" in done.stderr and done.stdout == "", done
        assert "first" not in built.tree("list").stdout


def test_recipe_is_relative_to_the_current_directory(store):
    here = store.path.parent
    write_recipe(here, name="mine")
    done = store.tree("build", "./mine.json", cwd=here)
    assert done.returncode == 0 and store.list()["mine"] == store.id


# ---- a virtual environment ----

@pytest.fixture
def environment(tmp_path):
    """What `python3 -m venv` makes, with a distribution in it."""
    root = tmp_path / "venv"
    site = root / f"lib/python{MINOR}/site-packages"
    info = site / "thing-1.5.dist-info"
    info.mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "bin/python").symlink_to(PYTHON)
    (root / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    (site / "thing.py").write_text("VALUE = 6\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1.5\n")
    (info / "RECORD").write_text("thing.py,,\nthing-1.5.dist-info/METADATA,,\nthing-1.5.dist-info/RECORD,,\n")
    return root


def test_tree_from_a_virtual_environment(store, tmp_path, environment):
    recipe = write_recipe(tmp_path, name="mine", distributions=["thing"])
    done = store.tree("build", "--python", environment / "bin/python", "--name", "with-thing", recipe, timeout=300)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(environment)
    ran = store.run("with-thing", "import thing\nprint(thing.VALUE)")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "6\n", "")


def test_environment_of_another_version_or_none(built, tmp_path):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho '%s'\n" % json.dumps({
        "version": "3.9.2", "minor": "3.9", "tag": "cpython-39", "implementation": "CPython", "machine": "x86_64",
        "multiarch": "", "prefix": "/x", "base_prefix": "/usr", "stdlib": "/x", "executable": "/x", "free_threaded": False, "builtins": [], "path": [], "markers": {}}))
    fake.chmod(0o755)
    done = built.tree("build", "--python", fake, built.recipe)
    assert done.returncode == 65
    assert f"is Python 3.9, but this hotcell embeds {MINOR}" in done.stderr
    for python in ("/bin/true", tmp_path, tmp_path / "absent"):
        done = built.tree("build", "--python", python, built.recipe)
        assert done.returncode == 65 and "Python" in done.stderr
    assert built.entries() == [built.id]


# ---- users ----

def test_ordinary_users_have_stores_of_their_own(built):
    user = cells.ordinary()
    cells.need_cells(user)
    here = cells.new_directory(user)
    env = {"XDG_DATA_HOME": str(here / "data")}
    recipe = write_recipe(here)
    recipe.chmod(0o644)
    done = cells.hotcell("tree", "build", recipe, user=user, env=env, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [built.id, "tiny"]
    assert (here / "data/hotcell/trees" / built.id).is_dir()
    (here / "a.py").write_text("print(6 * 7)")
    done = cells.hotcell("run", "-t", "tiny", "a.py", user=user, env=env, cwd=here)
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    done = cells.hotcell("tree", "remove", "tiny", user=user, env=env)
    assert done.returncode == 0 and not list((here / "data/hotcell/trees").iterdir())


def test_store_that_cannot_be_written(built):
    user = cells.ordinary()
    cells.need_root()
    cells.need_cells(user)
    for command in (["build", str(built.recipe)], ["remove", "tiny"]):
        done = cells.hotcell("tree", *command, user=user, env=built.env)
        assert done.returncode in (70, 78), done.stderr
        assert "Permission denied" in done.stderr and len(done.stderr.splitlines()) == 1
    assert built.list() == {"tiny": built.id}
    here = cells.new_directory(user)
    (here / "program.py").write_text("print(6 * 7)")
    done = cells.hotcell("run", "-t", "tiny", "program.py", user=user, env=built.env, cwd=here)
    assert done.returncode == 0, done.stderr  # reading is all that a run needs
