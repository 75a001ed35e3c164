"""Programs of layers: the recipe shell over another tree, console scripts of wheels, python3 as a command with modules of layers."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import cells
import daemons
from trees import MINOR, Store
from wheels import make_wheel, pin

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "rootfs"))
import elf  # noqa: E402  pylint: disable=wrong-import-position
import loadercache  # noqa: E402  pylint: disable=wrong-import-position

GEO = b"""
import sys
class tool:
    @staticmethod
    def area():
        print(3 * int(sys.argv[1]) ** 2, __file__)
        return 4
"""
ANY = {"extends": "shell", "layers": {"allow": ["*"]}}


class Programs(Store):
    """A store with trees of the caller's, and layers of programs for them."""

    def __init__(self, path):
        super().__init__(path)
        for folder in ("trees", "names"):
            (path / folder).mkdir(parents=True)
        self.wheels = path.parent / "wheels"
        self.wheels.mkdir()

    def link(self, name):
        """Takes a tree that the caller has."""
        tree = Path(cells.tree_path(name))
        (self.path / "trees" / tree.name).symlink_to(tree)
        (self.path / "names" / name).symlink_to(f"../trees/{tree.name}")

    def extend(self, base, name, *options):
        return self.tree("extend", base, "--name", name, *options, timeout=300)

    def from_wheel(self, base, name, files, distribution="geo"):
        """A layer of one wheel, which has these files beside those that every wheel has."""
        path = make_wheel(self.wheels, name=distribution, files=files)
        lock = self.path.parent / "requirements.txt"
        lock.write_text(pin(path))
        return self.extend(base, name, "--wheels", self.wheels, "--requirements", lock)

    def execute(self, tree, *command, policy="shell", user=None, options=(), **more):
        return cells.execute(list(command), "-t", tree, *options, policy=policy, user=user, env=self.env, **more)

    def left(self):
        """What there is of layers."""
        return sorted(path.name for folder in ("layers", "layer-names") if (self.path / folder).is_dir() for path in (self.path / folder).iterdir())


def new_store():
    return Programs(cells.new_directory(cells.caller()) / "state")


@pytest.fixture(scope="module")
def store(base_tree, shell_tree):  # pylint: disable=unused-argument
    """The trees base and shell, over base the layers shell and geo, and others beside geo that have a program of the same name."""
    here = new_store()
    here.link("base")
    here.link("shell")
    for done in (here.extend("base", "shell", "--recipe", "shell"),
                 here.from_wheel("base", "geo", entry_points("geo-area = geo:tool.area\nGEO2=geo:tool.area [more]\n")),
                 here.from_wheel("base", "other", {"other.py": b"", **scripts(who=b"#!python\nprint('other')\n")}, "other"),
                 here.from_wheel("base", "another", {"another.py": b"", **scripts(who=b"#!/bin/sh\necho another\n")}, "another")):
        assert done.returncode == 0, done.stderr
    return here


def entry_points(text, **more):
    """The files of the wheel geo with a table of console scripts."""
    return {"geo.py": GEO, "geo-1.0.dist-info/entry_points.txt": b"[console_scripts]\n" + text.encode(), **more}


def scripts(**programs):
    """Programs in the folders of the wheels `other` and `another`, as they lie in both: only one of these names counts."""
    return {f"x-1.0.data/scripts/{name}": data for name, data in programs.items()}


# ---- the programs of a recipe over another tree ----

WORK = """
    set -e
    git init -q . && git config user.email a@b.c && git config user.name n
    seq 1 9 > numbers && git add numbers && git commit -qm first && git log --oneline | wc -l
    sed -i s/5/five/ numbers && grep -n five numbers
    awk 'BEGIN { system("echo from awk") }'
    echo '{"a": [1, 2]}' | jq -c .a
    /bin/bash -c 'echo $((6 * 7))'
    env -i ls /usr/bin/sh
    python3 -c 'import os; os.system("echo from python")'
"""


def test_a_tree_without_programs_has_them_by_a_layer(store, user):
    done = store.execute("base+shell", "sh", "-c", WORK, user=user)
    assert done.stdout.splitlines() == ["1", "5:five", "from awk", "[1,2]", "42", "/usr/bin/sh", "from python"], done
    assert not store.execute("base+shell", "sh", "-c", "echo x > /usr/local/x || echo x > /usr/bin/x", user=user).status == 0


def test_its_mount_is_the_trees_kind(store, user):
    with cells.start(["sh", "-c", "echo up; sleep 60"], "-t", "base+shell", tree=None, policy="shell", user=user, env=store.env) as job:
        assert job.read_line().strip() == "up"
        text = Path(f"/proc/{job.descendants()[-1]}/mountinfo").read_text(encoding="utf-8")
        mounts = {fields[4]: set(fields[5].split(",")) for fields in map(str.split, text.splitlines())}
        assert mounts["/usr/local"] >= {"ro", "nosuid", "nodev"} and mounts["/"] >= {"ro", "nosuid", "nodev"}


def test_a_layer_has_what_its_tree_lacks_and_no_program_that_changes_its_user(store):
    layer = Path(store.tree("path", "+shell").stdout.strip())
    about = json.loads((layer / "meta.json").read_text())
    assert {"sh", "git", "python3"} <= set(about["programs"]) and "pytest" in about["modules"] and "dash" in about["packages"]
    names = [path for path in layer.rglob("*") if path.is_file()]
    assert not [path for path in names if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)]
    assert not {path.name for path in names} & set(os.listdir(os.path.join(cells.tree_path("base"), "root/usr/lib", os.uname().machine + "-linux-gnu")))
    assert "programs: " in store.tree("show", "+shell").stdout and store.tree("verify", "+shell").returncode == 0
    assert store.tree("outdated", "+shell").returncode in (0, 1)
    bill = {component["name"]: component["purl"] for component in json.loads(store.tree("sbom", "+shell").stdout)["components"]}
    assert re.fullmatch(r"pkg:deb/\w+/dash@\S+\?arch=\w+&distro=\w+-[0-9.]+", bill["dash"]) and bill["pytest"].startswith("pkg:pypi/pytest@"), bill


def test_the_loaders_cache_has_the_loaders_form_and_order(tmp_path):
    """As ldconfig writes it of this host's libraries: entries of one kind, from the highest name to the lowest."""
    def listed(*options):
        done = subprocess.run(["/sbin/ldconfig", "-p", *options], capture_output=True, text=True, check=True)
        return [match.groups() for match in re.finditer(r"^\t(\S+) \((libc6,[^,)]+)\) => (\S+)$", done.stdout, re.M)]

    host = listed()
    kind = next(kind for name, kind, _ in host if name == "libc.so.6")
    names = list(dict.fromkeys(name for name, found, _ in host if found == kind))
    own = tmp_path / "cache"
    own.write_bytes(loadercache.pack(sorted(names), "/usr/local/lib", elf.read("/usr/bin/python3").machine))
    assert len(names) > 20 and listed("-C", own) == [(name, kind, f"/usr/local/lib/{name}") for name in names]


def test_the_policy_shell_gives_that_layer_and_no_other(store):
    assert store.execute("base+shell", "true").status == 0
    refused = store.execute("base+shell+geo", "true")
    assert refused.status == 78 and "policy 'shell' does not give programs the layer 'geo'" in refused.stderr, refused
    for policy in ("default", "analysis", "none"):
        assert cells.run("1", tree="base+shell", policy=policy, env=store.env).status == 78


def test_a_layer_of_programs_gives_no_commands_to_a_policy_without(store):
    """A program in Python finds /usr/bin/sh there and cannot execute it."""
    code = "import os, subprocess\nprint(os.path.exists('/usr/bin/sh'))\nsubprocess.run(['/usr/bin/sh', '-c', 'exit 0'])"
    for policy in ({"layers": {"allow": ["shell"]}, "guard": "off"}, {"layers": {"allow": ["shell"]}, "guard": "off", "processes": "fork"}):
        done = cells.run(code, tree="base+shell", policy=policy, env=store.env)
        assert done.stdout == "True\n" and done.manifest["status"] == "error", done


def test_a_session_has_commands_and_modules_of_the_layer(store):
    path = store.path.parent / "session.json"
    path.write_text(json.dumps({"extends": "shell", "limits": {"enforcement": "rlimits"}}))
    requests = [{"run": {"code": "import pytest, subprocess\nsubprocess.run('echo sh; echo x > f', shell=True)\nprint(pytest.__file__)"}},
                {"run": {"command": ["sh", "-c", "cat f; python3 -c 'import pytest; print(pytest.__file__)'"]}}, {"end": True}]
    done = subprocess.run([cells.HOTCELL, "session", "-p", path, "-t", "base+shell"], input="".join(json.dumps(line) + "\n" for line in requests),
                          capture_output=True, text=True, check=False, env={**os.environ, **store.env}, timeout=cells.PATIENCE)
    results = [json.loads(line) for line in done.stdout.splitlines() if '"result"' in line]
    where = "/usr/lib/layers/shell/pytest/__init__.py\n"
    assert [result["manifest"]["stdout"]["text"] for result in results] == [f"sh\n{where}", f"x\n{where}"], done


def test_hotcelld_runs_commands_of_the_layer(store):
    counted = {} if cells.counts_memory(cells.caller()) else {"limits": {"enforcement": "rlimits"}}
    folder = cells.new_directory(cells.caller())
    (folder / "commands.json").write_text(json.dumps({**ANY, "tree": "base+shell+geo", **counted}))
    with daemons.Daemon(base=False, env={"HOTCELL_POLICIES": str(folder), **store.env}) as daemon:
        for _ in range(3):  # cold, then warm
            answer = daemon.post({"command": ["sh", "-c", "geo-area 1; exit 7"], "policy": "commands"})
            assert answer.json["process"] == {"exit": 7} and answer.json["stdout"]["text"] == "3 /usr/lib/layers/geo/geo.py\n", answer
        answer = daemon.post({"command": ["true"], "policy": "shell", "tree": "base+shell+geo"})
        assert answer.status >= 400 and "does not give programs the layer 'geo'" in json.dumps(answer.json), answer


def test_a_tree_that_has_no_place_for_programs_says_so(store):
    here = new_store()
    tree = Path(cells.tree_path("base"))
    shutil.copytree(tree, here.path / "trees" / tree.name, symlinks=True)
    shutil.rmtree(here.path / "trees" / tree.name / "root/usr/local")
    (here.path / "names/base").symlink_to(f"../trees/{tree.name}")
    for folder in ("layers", "layer-names"):
        (here.path / folder).symlink_to(store.path / folder)
    done = here.execute("base+shell", "true", options=("--tree-check", "none"))
    assert done.status == 69 and "no place for the programs of the layer 'shell', as an older hotcell built it" in done.stderr, done


def test_programs_of_two_recipes_are_refused(store, tmp_path):
    recipe = tmp_path / "few.json"
    recipe.write_text(json.dumps({"name": "few", "programs": ["cat"]}))
    assert store.extend("base", "few", "--recipe", recipe).returncode == 0
    done = store.execute("base+few+shell", "cat", policy=ANY)
    assert done.status == 64 and "the layer 'shell' has the programs of a recipe, as a layer before it has" in done.stderr, done


@pytest.mark.parametrize("recipe, words", [
    ({"name": "x"}, "expected a recipe with programs"),
    ({"name": "x", "programs": ["no-such-program"]}, "no-such-program: not on this host"),
    ({"name": "x", "programs": ["cat"], "files": ["/usr/share/doc"]}, "/usr/share/doc: not in the tree base"),
])
def test_a_recipe_that_is_none_for_a_layer_leaves_nothing(store, tmp_path, recipe, words):
    before, path = store.left(), tmp_path / "x.json"
    path.write_text(json.dumps(recipe))
    done = store.extend("base", "wrong", "--recipe", path)
    assert done.returncode in (65, 69) and words in done.stderr and store.left() == before, done


def test_with_scientific_a_command_has_its_libraries(scientific):  # pylint: disable=unused-argument
    here = new_store()
    here.link("scientific")
    assert here.extend("scientific", "shell", "--recipe", "shell").returncode == 0
    code = "import pandas, sys; print(pandas.DataFrame({'a': [1, 2]}).a.sum(), sys.executable)"
    done = here.execute("scientific+shell", "python3", "-c", code)
    assert done.stdout == "3 /usr/bin/python3\n", done


# ---- python3 as a command ----

def test_python3_is_the_trees_with_modules_of_layers_whatever_its_environment(store, user):
    for tree in ("base+shell+geo", "shell+geo"):
        for command in (["python3", "-c", "import geo; print(geo.__file__)"], ["env", "-i", "python3", "-I", "-c", "import geo; print(geo.__file__)"]):
            done = store.execute(tree, *command, policy=ANY, user=user)
            assert done.stdout == "/usr/lib/layers/geo/geo.py\n", done
    script = "echo 'import pytest; print(2)' > s.py; python3 s.py; echo '{\"a\":1}' | python3 -m json.tool --compact"
    done = store.execute("base+shell", "sh", "-c", script, user=user)
    assert done.stdout == '2\n{"a":1}\n', done


def test_modules_of_layers_come_behind_the_trees_in_the_order_of_their_names_in_the_tree(store):
    for name in ("second", "first"):
        assert store.from_wheel("base", name, {"geo.py": f"who = '{name}'\n".encode()}).returncode == 0
    for tree, who in (("base+shell+second+first", "second"), ("base+shell+first+second", "first")):
        done = store.execute(tree, "python3", "-c", "import geo, sys; print(geo.who, sys.path.index('/usr/lib/python3/dist-packages') < 5)", policy=ANY)
        assert done.stdout == f"{who} True\n", done
        assert cells.run("import geo; print(geo.who)", tree=tree, policy=ANY, env=store.env).stdout == f"{who}\n"


@pytest.mark.parametrize("path", ["sitecustomize.py", "usercustomize/__init__.py"])
def test_a_layer_has_no_module_that_runs_by_itself(store, tmp_path, path):
    """Python imports it where it is on its module path, as the path of a layer is."""
    module = tmp_path / path
    module.parent.mkdir(exist_ok=True)
    module.write_text("print('ran')\n")
    done = subprocess.run(["/usr/bin/python3", "-c", "pass"], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True)
    assert done.stdout == "ran\n"
    before = store.left()
    refusals = [store.from_wheel("base", "hostile", {"geo.py": b"", path: module.read_bytes()}),
                store.extend("base", "hostile", "--module", tmp_path / path.partition("/")[0])]
    for refused in refusals:
        assert refused.returncode == 65 and "would run in every python3" in refused.stderr and store.left() == before, refused


def test_there_is_no_pip(store):
    done = store.execute("base+shell", "pip", "install", "x")
    assert done.status == 127 and "pip: there is no such program in the tree" in done.stderr
    done = store.execute("base+shell", "python3", "-m", "pip", "install", "x")
    assert done.status == 1 and "No module named pip" in done.stderr


# ---- console scripts ----

def test_console_scripts_and_scripts_of_wheels_are_commands(store, user):
    done = store.execute("base+shell+geo", "geo-area", "2", policy=ANY, user=user)
    assert (done.status, done.stdout) == (4, "12 /usr/lib/layers/geo/geo.py\n"), done
    assert store.execute("shell+geo", "sh", "-c", "GEO2 1", policy=ANY, user=user).status == 4
    for layer in ("other", "another"):
        assert store.execute(f"base+shell+{layer}", "who", policy=ANY, user=user).stdout == f"{layer}\n"


def test_of_two_layers_that_have_a_program_the_first_gives_it(store):
    for tree, who in (("shell+other+another", "other"), ("shell+another+other", "another")):
        assert store.execute(tree, "who", policy=ANY).stdout == f"{who}\n"


def test_a_list_of_commands_holds_for_programs_of_layers(store):
    few = {**ANY, "commands": {"allow": ["python3", "geo-area"]}}
    for tree in ("base+shell+geo", "shell+geo"):
        assert store.execute(tree, "geo-area", "1", policy=few).status == 4
        assert store.execute(tree, "GEO2", "1", policy=few).status == 126
        assert store.execute(tree, "sh", policy=few).status == 126


def test_a_script_is_no_module_of_another(store):
    done = store.from_wheel("base", "same", entry_points("geo-area = geo:tool.area\n", **scripts(**{"geo.py": b"#!python\nprint('no')\n"})))
    assert done.returncode == 0, done.stderr
    assert store.execute("shell+same", "geo-area", "1", policy=ANY).stdout == "3 /usr/lib/layers/same/geo.py\n"


def test_console_scripts_of_an_environment_are_commands(store):
    environment = store.path.parent / "venv"
    site = environment / f"lib/python{MINOR}/site-packages"
    site.mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text("home = /usr/bin\n")
    table = site / "geo-1.0.dist-info/entry_points.txt"
    with zipfile.ZipFile(make_wheel(store.wheels, files=entry_points("geo-area = geo:tool.area\n"))) as archive:
        archive.extractall(site)
    assert store.extend("base", "venv", "--venv", environment).returncode == 0
    assert store.execute("shell+venv", "geo-area", "1", policy=ANY).stdout == "3 /usr/lib/layers/venv/geo.py\n"
    before = store.left()
    for text in ("[console_scripts]\n../x = geo:tool\n", "[console_scripts]\nsh = geo:tool\n"):
        table.write_text(text)
        done = store.extend("base", "hostile", "--venv", environment)
        assert done.returncode == 65 and len(done.stderr.splitlines()) == 2 and store.left() == before, done


def test_a_native_program_of_a_wheel_runs_as_it_is(store):
    wheel = scripts(mine=Path(shutil.which("true")).read_bytes())
    assert store.from_wheel("base", "native", {"geo.py": b"", **wheel}).returncode == 0
    assert store.execute("shell+native", "mine", policy=ANY).status == 0


NAMES = ["../x", "/usr/bin/x", "a/b", "..", ".hidden", "-x", "x y", "x\\n", "\u00e9", "x" * 300, "sh", "python3", "python", "python3.11", "git", "[", "pip"]


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_of_a_program_leaves_nothing(store, name):
    before = store.left()
    wheels = [entry_points(f"{name} = geo:tool\n")] if name != "[" else []
    if "/" not in name and name not in ("..",):
        wheels.append({"geo.py": b"", **scripts(**{name: b"#!python\n"})})
    for files in wheels:
        done = store.from_wheel("base", "hostile", files)
        assert done.returncode == 65 and done.stdout == "" and store.left() == before, done
        assert len(done.stderr.splitlines()) == 2 and "program" in done.stderr or "expected the path" in done.stderr, done


@pytest.mark.parametrize("table", [
    "x = geo", "x = geo:", "x = os:system('id')", "x = geo:tool; import os", "x = geo:tool\nx = geo:tool", "x", "[", "= geo:tool",
    "x = geo.:tool", "x = 1:tool", "\n continued", "x = geo:tool\n\timport os",
    pytest.param("x" + " " * 900000 + "y", id="a line for whose spaces configparser would take hours"),
    pytest.param("#\n" * 600000, id="a long table"),
])
def test_hostile_entry_points_leave_nothing(store, table):
    before = store.left()
    done = store.from_wheel("base", "hostile", entry_points(table + "\n"))
    assert done.returncode == 65 and len(done.stderr.splitlines()) == 2 and store.left() == before, done


@pytest.mark.parametrize("path", ["bin.d/x", "local.d/bin/sh", "local.d/lib/ld.so.cache", "geo-1.0.data/purelib/bin.d/x", "geo-1.0.data/scripts/sub/x",
                                  "geo-1.0.data/platlib/local.d/lib/libc.so.6", "geo-1.0.data/scripts/../../x"])
def test_a_wheel_has_no_say_in_a_layers_own_folders(store, path):
    before = store.left()
    done = store.from_wheel("base", "hostile", {"geo.py": b"", path: b"#!/bin/sh\n"})
    assert done.returncode == 65 and len(done.stderr.splitlines()) == 2 and store.left() == before, done


@pytest.mark.parametrize("text", ["x" + " " * 900000 + "y", "#\n" * 600000], ids=["a long line", "a long table"])
def test_a_hostile_table_of_an_environment_leaves_nothing(store, tmp_path, text):
    site = tmp_path / f"lib/python{MINOR}/site-packages"
    site.mkdir(parents=True)
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\n")
    with zipfile.ZipFile(make_wheel(store.wheels, files=entry_points(text))) as archive:
        archive.extractall(site)
    before = store.left()
    done = store.extend("base", "hostile", "--venv", tmp_path)
    assert done.returncode == 65 and len(done.stderr.splitlines()) == 2 and store.left() == before, done


def with_recipe(store, recipe, files):
    """Tries to make one layer of a wheel with these files and of a recipe."""
    wheel = make_wheel(store.wheels, files={"geo.py": b"", **files})
    lock = store.path.parent / "requirements.txt"
    lock.write_text(pin(wheel))
    return store.extend("base", "mixed", "--wheels", store.wheels, "--requirements", lock, "--recipe", recipe)


@pytest.mark.parametrize("path", ["pytest/more.py", "pytest", "pytest/__init__.py", "_pytest/more.py"])
def test_a_recipe_and_a_wheel_do_not_mix_their_modules(store, path):
    """A wheel's file would stand in a library of this host, or be replaced although its hash was right."""
    before = store.left()
    done = with_recipe(store, "shell", {path: b"raise SystemExit\n"})
    assert done.returncode == 65 and "the layer has this already" in done.stderr and store.left() == before, done


def test_a_recipe_and_a_wheel_do_not_both_have_a_program(store, tmp_path):
    before, recipe = store.left(), tmp_path / "few.json"
    recipe.write_text(json.dumps({"name": "few", "programs": ["tput"]}))
    done = with_recipe(store, recipe, scripts(tput=b"#!python\n"))
    assert done.returncode == 65 and "the program 'tput'" in done.stderr and store.left() == before, done


def test_a_layer_of_a_recipe_and_a_wheel_counts_its_files_once(store, tmp_path):
    recipe = tmp_path / "few.json"
    recipe.write_text(json.dumps({"name": "few", "programs": ["tput"]}))
    assert with_recipe(store, recipe, {"more.txt": b"x"}).returncode == 0
    layer = Path(store.tree("path", "+mixed").stdout.strip())
    files = [path for path in (layer / "root").rglob("*") if path.is_file()]
    about = json.loads((layer / "meta.json").read_text())
    assert (about["files"], about["bytes"]) == (len(files), sum(path.stat().st_size for path in files))


def test_a_damaged_program_is_the_wheels_fault(store):
    before, head = store.left(), b"\x7fELF\2\1\1".ljust(16, b"\0") + b"\2\0\x3e\0"
    done = store.from_wheel("base", "hostile", {"geo.py": b"", **scripts(mine=head.ljust(64, b"\xff"))})
    assert done.returncode == 65 and "read bin.d/mine: a damaged ELF file" in done.stderr and store.left() == before, done


def test_a_name_that_a_wheel_gives_twice_is_refused(store):
    before = store.left()
    done = store.from_wheel("base", "hostile", entry_points("x = geo:tool\n", **scripts(x=b"#!python\n")))
    assert done.returncode == 65 and "has this file already" in done.stderr and store.left() == before, done
