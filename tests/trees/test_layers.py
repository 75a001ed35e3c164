"""Layers: modules beside a tree, from wheels, folders and environments, for programs whose policy gives them."""

import contextlib
import ctypes
import errno
import hashlib
import json
import os
import stat
import struct
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import cells
import daemons
import jsonschema
import pytest
from trees import MINOR, Store, write_recipe
from wheels import link, make_wheel, pin, unpack_carelessly

ROOTFS = Path(__file__).resolve().parents[2] / "rootfs"
sys.path.insert(0, str(ROOTFS))
import elf  # noqa: E402  pylint: disable=wrong-import-position
import source  # noqa: E402  pylint: disable=wrong-import-position
import wheel as wheels  # noqa: E402  pylint: disable=wrong-import-position
from errors import BuildError  # noqa: E402  pylint: disable=wrong-import-position

GEO = {"layers": {"allow": ["geo"]}}


class Layers(Store):
    """A store with the tree tiny, and layers for it."""

    def __init__(self, path):
        super().__init__(path)
        self.wheels = path.parent / "wheels"
        self.wheels.mkdir(exist_ok=True)

    def extend(self, name, *options, base="tiny"):
        return self.tree("extend", base, "--name", name, *options)

    def from_wheels(self, name, *paths, base="tiny", requirements=None):
        """A layer of these wheels; those beside them may be taken, too."""
        lock = self.path.parent / "requirements.txt"
        lock.write_text("".join(map(pin, paths)) if requirements is None else requirements)
        return self.extend(name, "--wheels", self.wheels, "--requirements", lock, base=base)

    def job(self, code, layers="geo", policy=None, user=None, *options):
        return cells.run(code, "--json", *options, tree=f"tiny+{layers}", policy=policy or GEO, user=user, env=self.env)

    def left(self):
        """What there is of layers."""
        return sorted(path.name for folder in ("layers", "layer-names") if (self.path / folder).is_dir() for path in (self.path / folder).iterdir())

    def meta(self, name):
        return json.loads((Path(self.tree("path", f"+{name}").stdout.strip()) / "meta.json").read_text())


@pytest.fixture(scope="module")
def tiny(base_tree):  # pylint: disable=unused-argument
    """A state directory with the tree tiny, which tests link."""
    here = cells.new_directory(cells.caller())
    store = Store(here / "state")
    store.id = store.build(write_recipe(here))
    return store


@pytest.fixture
def store(tiny):
    """A store of the test's own, which has that tree."""
    here = cells.new_directory(cells.caller())
    for folder in ("trees", "names"):
        (here / "state" / folder).mkdir(parents=True)
    (here / "state/trees" / tiny.id).symlink_to(tiny.path / "trees" / tiny.id)
    (here / "state/names/tiny").symlink_to(f"../trees/{tiny.id}")
    return Layers(here / "state")


@pytest.fixture(scope="module")
def geo(tiny):
    """A store with the layer geo, which tests leave as it is."""
    here = Layers(tiny.path)
    here.id = tiny.id
    done = here.from_wheels("geo", make_wheel(here.wheels))
    assert done.returncode == 0, done.stderr
    here.layer = done.stdout.split()[0]
    return here


# ---- in the cell ----

READ_ONLY = """
import os
import geo
print(geo.area(2), geo.__file__)
for path in ("/usr/lib/layers/new", "/usr/lib/layers/geo/new", "/usr/lib/layers/geo/geo.py"):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    except OSError as error:
        print(error.strerror)
print(sorted(os.listdir("/usr/lib/layers")))
"""


def test_program_has_the_modules_and_cannot_change_them(geo, user):
    r = geo.job(READ_ONLY, "geo", {**GEO, "guard": "off"}, user)
    assert r.manifest["status"] == "ok", r
    lines = r.manifest["stdout"]["text"].splitlines()
    assert lines[0] == "12 /usr/lib/layers/geo/geo.py" and lines[-1] == "['geo']"
    assert len(lines) == 5 and set(lines[1:4]) <= {"Read-only file system", "Permission denied"}
    assert r.manifest["tree"] == {"name": "tiny+geo", "sha256": geo.id, "checked": "quick", "layers": [{"name": "geo", "sha256": geo.layer}]}
    jsonschema.validate(r.manifest, daemons.manifest_schema())


def test_mounts_of_layers_are_the_trees_kind(geo, user):
    with cells.start("import geo, time; print('up', flush=True); time.sleep(60)", tree="tiny+geo", policy=GEO, user=user, env=geo.env) as job:
        assert job.read_line().strip() == "up"
        text = Path(f"/proc/{job.descendants()[-1]}/mountinfo").read_text(encoding="utf-8")
        mounts = {fields[4]: set(fields[5].split(",")) for fields in map(str.split, text.splitlines())}
        assert {"ro", "nosuid", "nodev"} <= mounts["/usr/lib/layers/geo"] & mounts["/usr/lib/layers"] and mounts["/"] >= {"ro", "nosuid", "nodev"}


def test_without_the_layer_there_is_no_module(geo):
    done = geo.run("tiny", "import geo")
    assert done.returncode == 1 and "No module named 'geo'" in done.stderr


@pytest.mark.parametrize("policy, layers, status", [
    ({}, "geo", 78), ({"layers": {"allow": []}}, "geo", 78), ({"layers": {"allow": ["ge", "geo2"]}}, "geo", 78),
    ({"layers": {"allow": ["*"]}}, "geo", 0), ({"layers": {"allow": ["geo"]}}, "geo+other", 78),
    (GEO, "", 78), ({"layers": {"allow": ["*"]}}, "other", 69), ({"layers": {"allow": ["*"]}}, "geo+geo", 64),
    ({"layers": {"allow": ["*"]}}, "../geo", 69), ({"layers": {"allow": ["*"]}}, "geo+", 64),
])
def test_only_what_the_policy_gives(geo, policy, layers, status):
    r = cells.run("import geo", tree=f"tiny+{layers}", policy={"name": "mine", **policy}, env=geo.env)
    assert r.status == status, r.stderr
    assert status != 78 or f"\"layers\": {{\"allow\": [\"{layers.split('+')[-1]}\"]}}" in r.stderr and "'mine'" in r.stderr


def test_imports_of_the_policy_hold_for_layers(geo):
    allowed = geo.job("import geo; geo.area(1)", "geo", {**GEO, "imports": {"allow": ["math"], "deny": []}})
    assert allowed.manifest["guest"]["value"]["text/plain"] == "3", allowed
    denied = geo.job("import geo; geo.area(1)", "geo", {**GEO, "imports": {"deny": ["geo"], "unused": "refuse"}})
    assert denied.manifest["status"] == "rejected", denied
    other = geo.job("import json; json.dumps(1)", "geo", {**GEO, "imports": {"allow": ["math"], "deny": [], "unused": "refuse"}})
    assert other.manifest["status"] == "rejected", other


def test_sessions_and_batches_and_checks_take_layers(geo):
    policy = geo.path.parent / "geo.json"
    policy.write_text(json.dumps({"extends": "default", **GEO}))
    jobs = geo.path.parent / "jobs.jsonl"
    jobs.write_text('{"code": "import geo; print(geo.area(1))"}\n{"code": "import geo; print(geo.area(2))"}\n')
    done = cells.hotcell("batch", "-p", policy, "-t", "tiny+geo", "-o", geo.path.parent / "batch", jobs, env=geo.env)
    assert done.returncode == 0, done.stderr
    assert cells.hotcell("batch", "-t", "tiny+geo", "-o", geo.path.parent / "batch2", jobs, env=geo.env).returncode == 78
    request = '{"run": {"code": "import geo\\nprint(geo.area(2))"}}\n{"end": true}\n'
    done = subprocess.run([cells.HOTCELL, "session", "-p", policy, "-t", "tiny+geo"], input=request, capture_output=True, text=True,
                          check=False, env={**os.environ, **geo.env}, timeout=cells.PATIENCE)
    assert done.returncode == 0 and "12\\n" in done.stdout, done


def test_card_knows_the_modules_of_layers(geo):
    policy = geo.path.parent / "card.json"
    policy.write_text(json.dumps({"extends": "default", **GEO, "imports": {"allow": ["math"], "deny": []}}))
    card = cells.hotcell("policy", "card", "--json", "-t", "tiny+geo", policy, env=geo.env)
    told = json.loads(card.stdout)
    assert told["tree"] == "tiny+geo" and told["libraries"]["geo"] == "1.0" and told["modules"] == ["geo"], card
    assert told["rules"]["imports_allowed"] == ["math", "geo"]
    assert "Modules beside these: geo\n" in cells.hotcell("policy", "card", "-t", "tiny+geo", policy, env=geo.env).stdout
    assert "geo" not in cells.hotcell("policy", "card", "-t", "tiny", policy, env=geo.env).stdout
    refused = cells.hotcell("policy", "card", "-t", "tiny+geo", env=geo.env)
    assert refused.returncode == 78 and "does not give programs the layer 'geo'" in refused.stderr
    for wrong in (["--tree"], ["-t", "tiny", "default", "default"], ["--tre", "tiny"]):
        assert cells.hotcell("policy", "card", *wrong, env=geo.env).returncode == 64


def test_hint_for_a_missing_module_names_those_of_layers(store, base_tree):
    """The tree tiny has no room for the library that finds near names."""
    assert store.from_wheels("geo", make_wheel(store.wheels)).returncode == 0
    (store.path / "trees" / Path(base_tree).name).symlink_to(base_tree)
    (store.path / "names/base").symlink_to(f"../trees/{Path(base_tree).name}")
    lost = cells.run("import geometry", tree="base+geo", policy=GEO, env=store.env)
    assert "Libraries that are there: geo, and Python's own." in lost.stderr, lost
    assert "there: geo" not in cells.run("import geometry", tree="base", policy=GEO, env=store.env).stderr


def test_daemon_gives_layers_by_policy_and_takes_a_new_one_while_it_runs(store):
    """Warm cells of the old layer are not used for jobs that come after the name has moved."""
    assert store.from_wheels("geo", make_wheel(store.wheels)).returncode == 0
    policies = store.path.parent / "policies"
    policies.mkdir()
    (policies / "geo.json").write_text(json.dumps({"name": "geo", "extends": "default", **GEO, "limits": {"max": daemons.WIDE}}))
    with daemons.Daemon(base=False, env={**store.env, "HOTCELL_POLICIES": str(policies)}) as d:
        spec = {"code": "import geo; print(geo.area(2))", "tree": "tiny+geo"}
        refused = d.post(spec)
        assert refused.status == 403 and "'geo'" in refused.json["detail"], refused
        for _ in range(2):
            answer = d.post({**spec, "policy": "geo"})
            assert answer.status == 200 and answer.json["stdout"]["text"] == "12\n", answer
        first = answer.json["tree"]["layers"]
        newer = make_wheel(store.wheels, version="2.0", files={"geo.py": b"def area(r):\n    return 'new'\n"})
        assert store.from_wheels("geo", newer).returncode == 0
        d.wait_for_line("layer '+geo' is ")
        cells.wait_until("the new layer is used", lambda: d.post({**spec, "policy": "geo"}).json["stdout"]["text"] == "new\n")
        assert d.post({**spec, "policy": "geo"}).json["tree"]["layers"] != first
        session = d.session({"policy": "geo", "tree": "tiny+geo"})
        assert d.run(session, "import geo; print(geo.area(1))")["manifest"]["stdout"]["text"] == "new\n"
        assert d.send("/v1/sessions", d.spec({"tree": "tiny+geo"})).status == 403


def test_daemon_refuses_jobs_with_a_layer_that_is_removed_while_it_runs(store):
    """Also where a warm interpreter has it."""
    assert store.from_wheels("geo", make_wheel(store.wheels)).returncode == 0
    policies = store.path.parent / "policies"
    policies.mkdir()
    (policies / "geo.json").write_text(json.dumps({"name": "geo", "extends": "default", **GEO, "limits": {"max": daemons.WIDE}}))
    with daemons.Daemon(base=False, config={"workers": 1}, env={**store.env, "HOTCELL_POLICIES": str(policies)}) as d:
        spec = {"code": "import geo; print(geo.area(2))", "tree": "tiny+geo", "policy": "geo"}
        assert [d.post(spec).json["stdout"]["text"] for _ in range(3)] == ["12\n"] * 3
        cells.wait_until("a warm interpreter", d.zygotes)
        assert store.tree("remove", "+geo").returncode == 0
        d.wait_for_line("layer '+geo' has been removed: no job is run in it")
        answer = d.post(spec)
        assert answer.status == 422 and "there is no layer 'geo'" in answer.json["detail"], answer
        cells.wait_until("its warm interpreter ends", lambda: not d.zygotes())
        assert d.post({"code": "print(1)", "tree": "tiny"}).json["status"] == "ok"


def test_tenant_with_a_list_of_trees_names_them_with_their_layers(geo):
    policies = geo.path.parent / "policies"
    policies.mkdir()
    (policies / "geo.json").write_text(json.dumps({"name": "geo", "extends": "default", **GEO}))
    config = {"quotas": {"trees": ["tiny"], "policies": ["geo"]}}
    with daemons.Daemon(base=False, config=config, env={**geo.env, "HOTCELL_POLICIES": str(policies)}) as d:
        assert d.post({"code": "1", "tree": "tiny", "policy": "geo"}).status == 200
        refused = d.post({"code": "1", "tree": "tiny+geo", "policy": "geo"})
        assert refused.status == 403 and "tree 'tiny+geo'" in refused.json["detail"], refused


def test_changed_layer_is_noticed(store):
    assert store.from_wheels("geo", make_wheel(store.wheels)).returncode == 0
    with open(Path(store.tree("path", "+geo").stdout.strip()) / "root/geo.py", "ab") as file:
        file.write(b"#")
    r = cells.run("1", tree="tiny+geo", policy=GEO, env=store.env)
    assert r.status == 69 and "'+geo' was changed" in r.stderr, r.stderr
    assert store.tree("verify", "tiny+geo").returncode == 1 and store.tree("verify", "tiny").returncode == 0
    assert store.tree("remove", "+geo").returncode == 0 and store.left() == []


def test_messages_tell_layers_from_trees(geo):
    """A layer without a tree, a layer's ID as a tree's, and what is said of layers alone."""
    run = cells.run("1", tree="+geo", policy=GEO, env=geo.env)
    assert run.status == 64 and "a layer needs a tree before it: expected TREE+LAYER" in run.stderr, run
    for name, told in ((geo.layer[:12], f"is the ID of a layer: name it as '+{geo.layer[:12]}'"), ("1234", "of an ID, 8 digits are needed"),
                       ("0123456789", "not just one whose ID begins so: ")):
        done = geo.tree("path", name)
        assert done.returncode == 69 and told in done.stderr and "recipe" not in done.stderr, done
    assert geo.tree("path", f"+{geo.layer[:12]}").returncode == 0
    done = geo.extend("none", "--module", geo.path / "nothing")
    assert done.stderr.endswith("hotcell: the layer was not built\n"), done
    done = geo.tree("outdated", "+geo")
    assert done.returncode == 65 and done.stdout == "" and "+geo: not looked at" in done.stderr, done


# ---- the store ----

def test_layers_share_their_base(store):
    before = sum(path.lstat().st_size for path in (store.path / "trees").rglob("*"))
    for number in range(4):
        assert store.from_wheels(f"geo{number}", make_wheel(store.wheels, name=f"geo{number}")).returncode == 0
    size = sum(path.lstat().st_size for path in (store.path / "layers").rglob("*"))
    assert before == sum(path.lstat().st_size for path in (store.path / "trees").rglob("*")) and size < 4 * 50000
    both = cells.run("import geo0, geo3; print(geo0.area(1) + geo3.area(1))", tree="tiny+geo0+geo3",
                     policy={"layers": {"allow": ["*"]}}, env=store.env)
    assert both.stdout == "6\n", both
    rows = store.list()
    assert {f"+geo{number}" for number in range(4)} < set(rows) and "tiny" in rows


def test_same_files_are_the_same_layer(store):
    wheel = make_wheel(store.wheels)
    ids = {store.from_wheels(name, wheel).stdout.split()[0] for name in ("one", "two")}
    assert len(ids) == 1 and store.left() == sorted([*ids, "one", "two"])
    assert store.meta("one")["sources"] == store.meta("two")["sources"]


# ---- wheels ----

HOSTILE = {
    "up": ("../escaped.py", b"1"), "up-within": ("geo/../../escaped.py", b"1"), "absolute": ("/escaped.py", b"1"),
    "dot": ("./geo2.py", b"1"), "backslash": ("..\\escaped.py", b"1"), "newline": ("geo\n.py", b"1"), "twice": ("geo.py", b"1"),
    "link": link("geo2.py", "/etc/passwd"), "link-to-folder": link("sub", "/etc"), "pth": ("geo.pth", b"import os"),
    "bomb": ("geo.bin", bytes(64 << 20)), "unlisted": ("geo3.py", b"1"), "in-data": ("geo-1.0.data/purelib/../../../escaped.py", b"1"),
    "tree's": ("encodings.py", b"1"), "Python's": ("sys.py", b"1"), "folder-of-file": ("geo.py/sub.py", b"1"), "deep": ("/".join("d" * 99), b"1"),
    "long": ("x" * 300 + ".py", b"1"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_wheel_leaves_nothing(store, name):
    entry = HOSTILE[name]
    listed = {"tree's", "Python's"}
    files = {"geo.py": b"", entry[0]: entry[1]} if name in listed else None
    wheel = make_wheel(store.wheels, files=files, more=[] if name in listed else [entry])
    done = store.from_wheels("geo", wheel)
    assert done.returncode == 65 and len(done.stderr.splitlines()) == 2 and done.stdout == "", done
    assert store.left() == [] and list(store.path.parent.rglob("escaped.py")) == []


def test_careless_tool_is_had_by_these_wheels(tmp_path):
    """What the wheels above would do to a tool that believes them."""
    inner = tmp_path / "one/two"
    inner.mkdir(parents=True)
    for name in ("up", "link", "bomb"):
        wheel = make_wheel(tmp_path, more=[HOSTILE[name]])
        unpack_carelessly(wheel.read_bytes(), inner)
    assert (inner.parent / "escaped.py").exists() and (inner / "geo2.py").read_text() == Path("/etc/passwd").read_text()
    assert (inner / "geo.bin").stat().st_size > 100 * wheel.stat().st_size


def test_wrong_hash_and_record_and_what_is_no_wheel(store):
    wheel = make_wheel(store.wheels)
    wrong = pin(wheel).replace("sha256:", "sha256:0")[:-2] + "\n"
    done = store.from_wheels("geo", requirements=wrong)
    assert done.returncode == 65 and "is none of those" in done.stderr
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.getinfo("geo.py").CRC ^= 1
        archive.writestr("more.txt", b"")
    wheel.write_bytes(wheel.read_bytes()[:-30])
    assert store.from_wheels("geo", wheel).returncode == 65
    wheel.write_bytes(b"PK\x03\x04 and no more")
    assert store.from_wheels("geo", wheel).returncode == 65
    wheel.unlink()
    os.mkfifo(wheel)
    assert store.from_wheels("geo", requirements=f"geo==1.0 --hash=sha256:{'0' * 64}\n").returncode == 65
    assert store.left() == []


@pytest.mark.parametrize("text, phrase", [
    ("", "expected requirements"), ("geo==1.0\n", ":1: geo: expected at least one --hash"), ("geo>=1.0 --hash=sha256:0\n", ":1: "),
    ("--require-hashes\n\n-r other.txt\n", ":3: "), ("--index-url https://example.invalid\n", ":1: "), ("-e .\n", ":1: "),
    ("geo @ https://example.invalid/geo.whl --hash=sha256:0\n", ":1: "), ("geo==1.0 --hash=md5:0\n", "SHA-256"),
    (f"# one\ngeo==1.0 \\\n  --hash=sha256:{'0' * 64}\ngeo==1.1 --hash=sha256:{'0' * 64}\n", ":4: geo is in line 2"),
    (f"nosuch==1.0 --hash=sha256:{'0' * 64}\n", "has no wheel of nosuch 1.0"),
    (f"native==1.0 --hash=sha256:{'0' * 64}\n", "native-1.0-cp27-cp27m-win32.whl"),
])
def test_requirements_that_are_wrong(store, text, phrase):
    make_wheel(store.wheels, name="native", tag="cp27-cp27m-win32")
    done = store.from_wheels("geo", requirements=text)
    assert done.returncode == 65 and phrase in done.stderr and store.left() == [], done


def test_wheels_that_require_others(store):
    wheel = make_wheel(store.wheels, requires=["other (>=1)", "absent; sys_platform == 'win32'", "more; extra == 'all'"])
    done = store.from_wheels("geo", wheel)
    assert done.returncode == 65 and "geo requires other" in done.stderr
    other = make_wheel(store.wheels, name="other", files={"other/__init__.py": b"x = 1\n", "other-1.0.data/headers/run.h": b"\n"})
    done = store.from_wheels("geo", wheel, other)
    assert done.returncode == 0 and "left out 1 headers" in done.stderr, done
    assert store.meta("geo")["modules"] == ["geo", "other"] and store.meta("geo")["distributions"] == {"geo": "1.0", "other": "1.0"}
    done = store.from_wheels("third", make_wheel(store.wheels, name="third", requires=["other"]), base="tiny+geo")
    assert done.returncode == 0, done.stderr
    again = store.from_wheels("fourth", other, make_wheel(store.wheels, name="fourth", requires=["other"]), base="tiny+geo")
    assert again.returncode == 0 and "other 1.0 is in the tree tiny+geo already" in again.stderr, again


def refused(done, *phrases):
    """Whether the layer was refused with one line of the builder, which has these phrases and nothing that steers a terminal."""
    lines = done.stderr.split("\n")
    return done.returncode in (65, 69) and len(lines) == 3 and "Traceback" not in done.stderr and all(phrase in lines[0] for phrase in phrases) \
        and lines[0].isprintable()


@pytest.mark.parametrize("line, phrase", [
    ("a" + " " * 4000 + "@", "not a requirement"), ("a" * 5000, "not a requirement"), ("a; " + "(" * 4000, "parentheses"),
    ("a; " + "(" * 40 + "'a' == 'a'" + ")" * 40, "parentheses"), ("a; 'x' < python_version", "not a version"),
    ("a \x1b[2Jb; \x1b]0;", "not a marker"),
], ids=["spaces", "long", "parentheses", "nested", "version", "control"])
def test_requirements_of_hostile_wheels(store, line, phrase):
    """None of these takes long, ends the builder by an exception or reaches the terminal as it is."""
    done = store.from_wheels("geo", make_wheel(store.wheels, requires=[line]))
    assert refused(done, phrase) and store.left() == [], done


def test_control_characters_of_requirements_are_escaped(store):
    done = store.from_wheels("geo", requirements="geo\x1b[2J\u202e\n")
    assert refused(done, "\\x1b[2J\\u202e"), done
    done = store.extend("geo", "--module", store.path / "no\x1b[2J\nsuch")
    assert refused(done, "\\x1b[2J\\nsuch"), done


def repeat_directory(path, times):
    """Lists each entry of a wheel so often, as an archive's directory may."""
    data = path.read_bytes()
    length, begin = struct.unpack("<LL", data[-10:-2])
    directory = data[begin:begin + length] * times
    path.write_bytes(data[:begin] + directory + data[-22:-10] + struct.pack("<LLH", len(directory), begin, 0))


def test_archive_of_too_many_entries_is_not_read(store):
    wheel = make_wheel(store.wheels)
    repeat_directory(wheel, 20000)
    assert len(zipfile.ZipFile(wheel).infolist()) == 80000   # the end record still says 4
    assert refused(store.from_wheels("geo", wheel), "at most 62500 entries")
    with zipfile.ZipFile(make_wheel(store.wheels), "a") as archive:
        archive.comment = b"more"
    assert refused(store.from_wheels("geo", wheel), "end record")
    for length in (0, 1, 30):
        wheel.write_bytes(make_wheel(store.wheels).read_bytes()[:length])
        assert refused(store.from_wheels("geo", wheel), "end record")
    data = make_wheel(store.wheels).read_bytes()
    end64 = struct.pack("<LQHHLLQQQQ", 0x06064b50, 44, 45, 45, 0, 0, 4, 4, *struct.unpack("<LL", data[-10:-2]))
    wheel.write_bytes(data[:-22] + end64 + struct.pack("<LLQL", 0x07064b50, 0, len(data) - 22, 1) + data[-22:])
    assert len(zipfile.ZipFile(wheel).infolist()) == 4
    assert refused(store.from_wheels("geo", wheel), "zip64")


def test_record_that_is_no_table(store):
    wheel = make_wheel(store.wheels)
    with zipfile.ZipFile(wheel) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in {**entries, "geo-1.0.dist-info/RECORD": b"x" * 200000 + b",,\n"}.items():
            archive.writestr(name, data)
    assert refused(store.from_wheels("geo", wheel), "field larger than field limit")


@pytest.mark.parametrize("inside, outside, good", [
    ("1.0", "2.0", False), ("1.0", "1.0.post1", False), ("1.0", "1.0+local", False), ("1.0", "1.0rc1", False), ("1!1.0", "1.0", False),
    ("1.0", "1", True), ("2023.01.0-Beta_1", "2023.1b1", True), ("1.0-1", "1.0.post1", True), ("1.0+A-b", "1.0+a.b", True),
])
def test_version_of_a_wheel_is_that_of_its_name(store, inside, outside, good):
    made = make_wheel(store.wheels, version=inside)
    done = store.from_wheels("geo", made.rename(store.wheels / f"geo-{outside}-py3-none-any.whl"))
    assert done.returncode == 0 if good else refused(done, f"that of version {inside}"), done


def test_wheel_that_is_written_to_after_it_was_hashed(store, tmp_path):
    """In place, by whoever may write to it: the bytes that were hashed are unpacked, and no copy is left."""
    made = make_wheel(store.wheels)
    digest, other = pin(made).rpartition(":")[2].strip(), make_wheel(tmp_path, files={"geo.py": b"import os\n"}).read_bytes()
    opened = wheels.Opened(next(found for found in wheels.of_directory(store.wheels) if found.path == str(made)), {digest})
    with open(made, "r+b") as file:
        file.write(other)
        file.truncate()
    (tmp_path / "root").mkdir()
    opened.unpack(wheels.Room(str(tmp_path / "root")))
    assert (tmp_path / "root/geo.py").read_bytes() == b"def area(r):\n    return 3 * r * r\n"
    assert store.from_wheels("geo", requirements=f"geo==1.0 --hash=sha256:{digest}\n").returncode == 65


def test_of_a_native_module_only_the_loaders_tables_are_read(tmp_path):
    """However large the file is, and however large it says that they are."""
    library = Path(sysconfig.get_path("platstdlib"), "lib-dynload").glob("_ctypes.*.so")
    path = tmp_path / "large.so"
    path.write_bytes(next(library).read_bytes())
    found = elf.read(path)
    assert "libffi.so.8" in found.needed
    os.truncate(path, 1 << 42)   # sparse: four terabytes, which nothing could hold
    assert elf.read(path) == found
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    loaded = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, 1 << 40, 1 << 40, 4096) + struct.pack("<IIQQQQQQ", 2, 4, 256, 256, 0, 64, 64, 8)
    path.write_bytes((header + loaded).ljust(256, b"\0") + struct.pack("<qQqQqQqQ", 5, 512, 10, 1 << 39, 1, 1, 0, 0))
    with pytest.raises(BuildError, match="a table of more than"):
        elf.read(path)


def test_damaged_native_module(store):
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, (1 << 64) - 8, 0, 0, 64, 56, 1, 0, 0, 0)
    wheel = make_wheel(store.wheels, files={"geo.so": header})
    assert refused(store.from_wheels("geo", wheel), "a damaged ELF file")


NATIVE = """
#include <Python.h>
int other(void);
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "fast", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_fast(void)
{
    PyObject *made = PyModule_Create(&module);
    PyModule_AddIntConstant(made, "value", other());
    return made;
}
"""


def compile_native(folder):
    """A native module, and the library that it finds beside itself, as wheels carry them."""
    (folder / "other.c").write_text("int other(void) { return 6; }\n")
    (folder / "fast.c").write_text(NATIVE)
    headers = f"-I{sysconfig.get_path('include', vars={'installed_base': '/usr', 'base': '/usr'})}"
    for command in (["-o", "libother.so", "other.c"], ["-o", "fast.so", headers, "fast.c", "-L.", "-lother", "-Wl,-rpath,$ORIGIN/fast.libs"]):
        subprocess.run(["cc", "-shared", "-fPIC", *command], cwd=folder, check=True, capture_output=True)
    return (folder / "fast.so").read_bytes(), (folder / "libother.so").read_bytes()


def test_native_module_finds_the_library_in_its_wheel(store, tmp_path):
    fast, other = compile_native(tmp_path)
    tag = f"cp{MINOR.replace('.', '')}-cp{MINOR.replace('.', '')}-manylinux_2_17_{os.uname().machine}"
    wheel = make_wheel(store.wheels, name="fast", files={"fast.so": fast, "fast.libs/libother.so": other}, tag=tag)
    assert store.from_wheels("fast", wheel).returncode == 0
    assert store.meta("fast")["modules"] == ["fast"]
    r = cells.run("import fast; print(fast.value)", tree="tiny+fast", policy={"layers": {"allow": ["fast"]}}, env=store.env)
    assert r.stdout == "6\n", r
    alone = make_wheel(store.wheels, name="fast", version="2.0", files={"fast.so": fast}, tag=tag)
    done = store.from_wheels("alone", alone)
    assert done.returncode == 65 and "fast.so needs libother.so, which neither" in done.stderr


# ---- folders and environments ----

def test_layer_of_a_module(store):
    package = store.path.parent / "mine"
    (package / "__pycache__").mkdir(parents=True)
    (package / "__init__.py").write_text("from .part import value\n")
    (package / "part.py").write_text("value = 7\n")
    (package / "__pycache__/part.cpython-311.pyc").write_bytes(b"nothing")
    single = store.path.parent / "single.py"
    single.write_text("value = 1\n")
    assert store.extend("mine", "--module", package, "--module", single).returncode == 0
    r = cells.run("import mine, single; print(mine.value + single.value)", tree="tiny+mine", policy={"layers": {"allow": ["mine"]}}, env=store.env)
    assert r.stdout == "8\n", r
    (package / "passwd.py").symlink_to("/etc/passwd")
    done = store.extend("other", "--module", package)
    assert done.returncode == 65 and "no link" in done.stderr and "other" not in store.left(), done
    clash = package.rename(store.path.parent / "encodings")
    (clash / "passwd.py").unlink()
    done = store.extend("other", "--module", clash)
    assert done.returncode == 65 and "the module 'encodings' is in" in done.stderr


COMPILED = """
import importlib.machinery as machinery
sources = []
compiler = machinery.SourceFileLoader.source_to_code
machinery.SourceFileLoader.source_to_code = lambda self, data, path, **more: (sources.append(path), compiler(self, data, path, **more))[1]
import geo, hard
print(geo.where(), geo.where.__code__.co_filename, hard.value, sources)
try:
    import hard.old
except SyntaxError:
    print(sources)
"""


def test_layer_has_byte_code_and_running_it_is_left_to_the_cell(store, base_tree):
    """Neither the builder nor the compiler runs a source; what does not compile has no byte code and harms nothing else."""
    ran = store.path.parent / "ran"
    geo = f"import sys\ndef where():\n    return sys._getframe().f_code.co_filename\nif not sys.flags.isolated or __file__[:9] != '/usr/lib/':\n    open({str(ran)!r}, 'w')\n"
    files = {"geo.py": geo.encode(), "hard/__init__.py": b"value = 7\n", "hard/old.py": b"print 'two'\n", "hard/deep.py": b"(" * 100000,
             "hard/large.py": b"x = '" + b"y" * 999 + b"' * (1 << 40)\n"}
    done = store.from_wheels("geo", make_wheel(store.wheels, files=files))
    assert done.returncode == 0 and "2 of 5 sources do not compile" in done.stderr and not ran.exists(), done
    root = Path(store.tree("path", "+geo").stdout.strip()) / "root"
    assert sorted(path.name.split(".")[0] for path in root.rglob("*.pyc")) == ["__init__", "geo", "large"]
    assert store.meta("geo")["modules"] == ["geo", "hard"] and store.meta("geo")["files"] == sum(path.is_file() for path in root.rglob("*"))
    again = store.from_wheels("other", store.wheels / "geo-1.0-py3-none-any.whl")
    assert again.stdout.split()[0] == done.stdout.split()[0]   # byte for byte
    (store.path / "trees" / Path(base_tree).name).symlink_to(base_tree)
    (store.path / "names/base").symlink_to(f"../trees/{Path(base_tree).name}")
    r = cells.run(COMPILED, "--guard", "off", tree="base+geo", policy=GEO, env=store.env)
    place = "/usr/lib/layers/geo/geo.py"
    assert r.stdout.splitlines() == [f"{place} {place} 7 []", "['/usr/lib/layers/geo/hard/old.py']"], r
    third = store.from_wheels("third", make_wheel(store.wheels, name="third", requires=["geo"]), base="tiny+geo")
    assert third.returncode == 0, third


def test_layer_of_an_environment(store):
    environment = store.path.parent / "venv"
    site = environment / f"lib/python{MINOR}/site-packages"
    site.mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text("home = /usr/bin\n")
    with zipfile.ZipFile(make_wheel(store.wheels)) as archive:
        archive.extractall(site)
    (site / "stray.py").write_text("")
    assert store.extend("geo", "--venv", environment).returncode == 0
    assert store.meta("geo")["modules"] == ["geo"]
    assert store.job("import geo; print(geo.area(2))").manifest["stdout"]["text"] == "12\n"
    (site / "geo.py").unlink()
    (site / "geo.py").symlink_to("/etc/passwd")
    assert store.extend("bad", "--venv", environment).returncode == 65
    with open(site / "geo-1.0.dist-info/RECORD", "a", encoding="utf-8") as record:
        record.write("x/../../../../../../etc/passwd,,\n")
    (site / "geo.py").unlink()
    (site / "geo.py").write_text("")
    assert store.extend("bad", "--venv", environment).returncode == 65
    assert "bad" not in store.left()


def conda_environment(folder, fast=b"", other=b""):
    """geo, a pure package; fast, whose module needs a library: of the environment, and of its own; and one that pip has put there."""
    site = folder / f"lib/python{MINOR}/site-packages"
    (folder / "conda-meta").mkdir(parents=True)
    files = {"geo": {"geo.py": b"def area(r):\n    return 3 * r * r\n", "geo-1.0.dist-info/METADATA": b"Name: Geo\nVersion: 1.0\nRequires-Dist: piped\n"},
             "fast": {"lost/__init__.py": b"", "lost/fast.so": fast, "fast.so": fast, "fast.libs/libother.so": other}, "python": {}}
    for name, content in files.items():
        for path, data in content.items():
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).write_bytes(data)
        about = {"name": name, "version": "1.0", "build": "py_0", "channel": "https://example.org/t/SECRET-1/forge/noarch", "subdir": "noarch",
                 "license": "BSD-3-Clause", "sha256": hashlib.sha256(name.encode()).hexdigest(),
                 "files": [f"bin/{name}", *(f"lib/python{MINOR}/site-packages/{path}" for path in content)]}
        (folder / f"conda-meta/{name}-1.0-py_0.json").write_text(json.dumps(about))
    (site / "stray.py").write_text("")
    with zipfile.ZipFile(make_wheel(folder, name="piped")) as archive:
        archive.extractall(site)
    return site


def test_layer_of_a_conda_environment(store, tmp_path):
    fast, other = compile_native(tmp_path)
    alone = subprocess.run(["cc", "-shared", "-fPIC", "-o", "alone.so", "fast.c", f"-I{sysconfig.get_path('include', vars={'base': '/usr', 'installed_base': '/usr'})}",
                            "-L.", "-lother", "-lz"], cwd=tmp_path, check=True, capture_output=True)
    assert alone.returncode == 0
    site = conda_environment(tmp_path / "env", fast, other)
    (site / "lost/fast.so").write_bytes((tmp_path / "alone.so").read_bytes().replace(b"libother.so", b"libnowhr.so"))
    done = store.extend("conda", "--conda", tmp_path / "env")
    assert done.returncode == 0 and "left out lost/fast.so, which needs libnowhr.so" in done.stderr, done
    meta = store.meta("conda")
    assert meta["modules"] == ["fast", "geo", "lost", "piped"] and meta["distributions"] == {"Geo": "1.0", "fast": "1.0", "piped": "1.0"}
    assert meta["conda"]["geo"] == {"version": "1.0", "build": "py_0", "channel": "forge", "platform": "noarch", "license": "BSD-3-Clause",
                                    "sha256": hashlib.sha256(b"geo").hexdigest(), "distributions": ["Geo"]} and "python" not in meta["conda"]
    root = Path(store.tree("path", "+conda").stdout.strip()) / "root"
    assert meta["files"] == sum(path.is_file() for path in root.rglob("*")) and not (root / "lost/fast.so").exists()
    r = cells.run("import fast, geo, lost; print(fast.value, geo.area(1))", tree="tiny+conda", policy={"layers": {"allow": ["conda"]}}, env=store.env)
    assert r.stdout == "6 3\n", r
    bill = json.loads(store.tree("sbom", "+conda").stdout)
    parts = {part["name"]: part for part in bill["components"]}
    assert parts["geo"]["purl"] == "pkg:conda/geo@1.0?build=py_0&channel=forge&subdir=noarch" and set(parts) == {"geo", "fast", "piped"}
    assert parts["geo"]["licenses"] == [{"license": {"name": "BSD-3-Clause"}}] and parts["piped"]["purl"] == "pkg:pypi/piped@1.0"
    assert "SECRET" not in json.dumps([bill, meta])
    assert "piped" not in json.loads(store.tree("sbom", "tiny").stdout)
    shown = store.tree("show", "+conda").stdout
    assert "sources: env" in shown and "Geo==1.0" in shown


@pytest.mark.parametrize("about, phrase", [
    ("[]", 'an object with "files"'), ("{" * 100000, "expected JSON"), ('{"files": [1]}', 'an object with "files"'),
    ('{"files": [], "name": "a\\u001b[2J", "version": "1"}', '"name", a word'), ('{"files": [], "name": "a", "version": 1}', '"version", a word'),
    (json.dumps({"name": "a", "version": "1", "files": [f"lib/python{MINOR}/site-packages/../../../../x.py"]}), "without '..'"),
    (json.dumps({"name": "a", "version": "1", "files": [f"lib/python{MINOR}/site-packages/none.py"]}), "No such file"),
    (json.dumps({"name": "a", "version": "1", "files": [f"lib/python{MINOR}/site-packages/x.pth"]}), "change the module path"),
])
def test_conda_environment_that_is_wrong(store, tmp_path, about, phrase):
    conda_environment(tmp_path / "env")
    (tmp_path / "env/conda-meta/a-1-0.json").write_text(about)
    assert refused(store.extend("conda", "--conda", tmp_path / "env"), phrase)
    (tmp_path / "env/conda-meta/a-1-0.json").unlink()
    (tmp_path / "env/conda-meta/a-1-0.json").symlink_to("/dev/zero")
    assert refused(store.extend("conda", "--conda", tmp_path / "env"), "no link or special file")
    assert refused(store.extend("conda", "--conda", tmp_path), "expected a conda environment") and store.left() == []


@pytest.fixture
def environment(store):
    """A virtual environment with geo."""
    folder = store.path.parent / "venv"
    site = folder / f"lib/python{MINOR}/site-packages"
    site.mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
    with zipfile.ZipFile(make_wheel(store.wheels, files={"geo/__init__.py": b"", "geo/part/__init__.py": b"mine = 1\n"})) as archive:
        archive.extractall(site)
    return folder


@pytest.mark.parametrize("name", ["METADATA", "RECORD"])
def test_environment_with_special_files(store, environment, name):
    """Without a bound, the FIFO would stop the builder for good, and the link would fill the memory."""
    info = environment / f"lib/python{MINOR}/site-packages/geo-1.0.dist-info"
    (info / name).unlink()
    os.mkfifo(info / name)
    assert refused(store.extend("geo", "--venv", environment), name, "no link or special file")
    (info / name).unlink()
    (info / name).symlink_to("/dev/zero")
    assert refused(store.extend("geo", "--venv", environment), name, "no link or special file")
    (info / name).unlink()
    with open(info / name, "wb") as file:
        file.truncate(17 << 20)
    assert refused(store.extend("geo", "--venv", environment), name, "at most 16 MiB")
    assert store.left() == []


@pytest.mark.parametrize("row, phrase", [
    ("no\x1b[2Jsuch.py,,", "no\\x1b[2Jsuch.py"), ("x" * 200000 + ",,", "field larger than field limit"), ("./geo.py,,", "'..'"),
    ("d/" * 5000 + "x.py,,", "at most 32 names"),
], ids=["control", "field", "dot", "deep"])
def test_environment_with_hostile_records(store, environment, row, phrase):
    with open(environment / f"lib/python{MINOR}/site-packages/geo-1.0.dist-info/RECORD", "a", encoding="utf-8") as record:
        record.write(row + "\n")
    assert refused(store.extend("geo", "--venv", environment), phrase) and store.left() == []


# ---- folders that another user changes meanwhile ----

EXCHANGE = """
import ctypes, os, sys
one, other = map(os.fsencode, sys.argv[1:])
libc = ctypes.CDLL(None)
print("up", flush=True)
while libc.renameat2(-100, one, -100, other, 2) == 0:   # RENAME_EXCHANGE
    pass
"""


@contextlib.contextmanager
def exchanged_all_the_time(one, other):
    """While a process gives two files each other's name, over and over."""
    with subprocess.Popen([sys.executable, "-c", EXCHANGE, one, other], stdout=subprocess.PIPE) as attack:
        try:
            assert attack.stdout.readline() == b"up\n"
            yield
        finally:
            attack.kill()


def walk_by_names(folder):
    """What a walk reads that looks at each path before it opens it."""
    texts = []
    for path in folder.iterdir():
        if stat.S_ISDIR(path.lstat().st_mode):
            texts += [file.read_text() for file in path.iterdir()]
    return texts


def walk_by_descriptors(folder):
    """What a walk reads that opens each folder once; None: it met the link."""
    try:
        with source.open_path(folder) as top, top.open("part") as part, part.open("__init__.py") as file:
            return file.text(100)
    except BuildError as error:
        assert "no link or special file" in str(error) or os.strerror(errno.ELOOP) in str(error)
        return None


def exchange(one, other):
    """Gives two files each other's name at once."""
    assert ctypes.CDLL(None).renameat2(-100, os.fsencode(one), -100, os.fsencode(other), 2) == 0


@pytest.fixture
def secret(store):
    """What the owner of a folder may not read, beside it."""
    folder = store.path.parent / "secret"
    folder.mkdir()
    (folder / "__init__.py").write_text("secret = 1\n")
    return folder


def test_folder_that_is_exchanged_for_a_link_is_read_as_it_was(environment, secret):
    package = environment / f"lib/python{MINOR}/site-packages/geo"
    trap = environment / "trap"
    trap.symlink_to(secret)
    assert (package / "part").is_dir() and not (package / "part").is_symlink()   # what a walk by names would ask
    with source.open_path(package) as top, top.open("part") as part:
        exchange(package / "part", trap)
        assert "secret" in (package / "part/__init__.py").read_text()            # and what it would then read
        with part.open("__init__.py") as file:
            assert file.text(100) == "mine = 1\n"
        for attempt in (lambda: top.open("part"), lambda: top.below(["part", "__init__.py"])):
            with pytest.raises(BuildError, match="no link or special file"):
                attempt()


@pytest.mark.parametrize("way", ["module", "venv"])
def test_layer_of_a_folder_that_changes_all_the_time(store, environment, secret, way):
    package = environment / f"lib/python{MINOR}/site-packages/geo"
    (environment / "trap").symlink_to(secret)
    given = ["--module", package] if way == "module" else ["--venv", environment]
    with exchanged_all_the_time(package / "part", environment / "trap"):
        cells.wait_until("a walk by names reads the secret", lambda: "secret = 1\n" in walk_by_names(package))
        cells.wait_until("a walk by descriptors reads the folder", lambda: walk_by_descriptors(package))
        assert {walk_by_descriptors(package) for _ in range(1000)} <= {"mine = 1\n", None}
        for number in range(2):
            done = store.extend(f"geo{number}", *given)
            assert done.returncode == 0 or refused(done), done
    assert all("secret" not in path.read_text() for path in store.path.glob("layers/*/root/**/*.py"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make another user's link")
def test_links_of_other_users_on_the_way(store, secret):
    link = store.path.parent / "mine"
    link.symlink_to(secret)
    done = store.extend("mine", "--module", link)
    assert done.returncode == 0 and store.meta("mine")["modules"] == ["secret"], done
    os.lchown(link, 1000, 1000)
    assert refused(store.extend("other", "--module", link), "another user's link")
    link.unlink()
    link.symlink_to("mine")
    assert refused(store.extend("other", "--module", link), "at most 40 links")


@pytest.mark.parametrize("arguments, status", [
    (["tiny"], 64), (["tiny", "--name", "x"], 64), (["tiny", "--name", "x", "--wheels", "."], 64), (["--name", "x", "--module", "m"], 64),
    (["tiny", "--name", "a+b", "--module", "m"], 64), (["nowhere", "--name", "x", "--module", "m"], 69),
    (["tiny", "--name", "x", "--module", "/nowhere"], 65), (["tiny", "--name", "x", "--venv", "/etc"], 65),
    (["tiny", "--name", "x", "--frob"], 64), (["tiny", "--name", "x", "--wheels", "/nowhere", "--requirements", "/nowhere"], 65),
])
def test_wrong_calls(store, arguments, status):
    done = store.tree("extend", *arguments)
    assert done.returncode == status and store.left() == [], done
