"""The tree builder: what it refuses, what it reads from ELF files, and what the trees it makes hold."""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOTFS = Path(__file__).resolve().parents[2] / "rootfs"
PYTHON = "/usr/bin/python3"
MINOR = subprocess.run([PYTHON, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                       capture_output=True, text=True, check=True).stdout.strip()
SITE = "usr/lib/python3/dist-packages"
STDLIB = f"usr/lib/python{MINOR}"

sys.path.insert(0, str(ROOTFS))
import elf  # noqa: E402
import requirements  # noqa: E402


def build(recipe, staging, *options):
    """Runs the builder as `hotcell tree build` does."""
    return subprocess.run([PYTHON, "-I", ROOTFS / "build.py", "--recipe", recipe, "--staging", staging, *options],
                          capture_output=True, text=True, check=False)


def write_recipe(folder, **keys):
    path = folder / "mine.json"
    path.write_text(json.dumps({"name": "mine", "extends": str(ROOTFS / "base.json"), **keys}))
    return path


def contents(root):
    """What a tree's hash covers: every path with its kind, executability and content."""
    found = {}
    for folder, folders, names in os.walk(root):
        for name in folders + names:
            path = Path(folder, name)
            if path.is_symlink():
                what = ("link", os.readlink(path))
            elif path.is_dir():
                what = ("folder", stat.S_IMODE(path.stat().st_mode))
            else:
                what = (stat.S_IMODE(path.stat().st_mode), hashlib.sha256(path.read_bytes()).hexdigest())
            found[str(path.relative_to(root))] = what
    return found


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The base tree."""
    staging = tmp_path_factory.mktemp("base") / "staging"
    done = build(ROOTFS / "base.json", staging)
    assert done.returncode == 0, done.stderr
    return staging


# ELF files

@pytest.mark.parametrize("path", ["/usr/bin/python3", "/usr/bin/bash", "/usr/bin/env"])
def test_needed_names_are_among_those_that_the_loader_loads(path):
    loaded = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    about = elf.read(os.path.realpath(path))
    names = set(re.findall(r"^\s*(\S+) => ", loaded, re.MULTILINE))
    assert about.needed and set(about.needed) <= names
    assert re.search(rf"^\s*{re.escape(about.interp)} ", loaded, re.MULTILINE)


def test_closure_of_needed_is_what_the_loader_loads():
    loaded = subprocess.run(["ldd", PYTHON], capture_output=True, text=True, check=True).stdout
    expected = dict(re.findall(r"^\s*(\S+) => (\S+)", loaded, re.MULTILINE))
    program = elf.read(os.path.realpath(PYTHON))
    multiarch = os.path.basename(os.path.dirname(expected["libc.so.6"]))
    resolver, found, queue = elf.Resolver(program.machine, multiarch), {}, list(program.needed)
    while queue:
        name = queue.pop()
        if name not in found and name != os.path.basename(program.interp):
            found[name] = resolver.find(name, [])
            queue += elf.read(found[name]).needed
    assert {name: os.path.realpath(path) for name, path in found.items()} == \
           {name: os.path.realpath(path) for name, path in expected.items()}


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"#!/bin/sh\n", b"\x7fELF\x01\x01" + bytes(100)])
def test_what_is_no_64_bit_elf_file_is_not_read(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    assert elf.read(tmp_path / "file") is None


def test_a_damaged_elf_file_is_refused_in_one_line(tmp_path):
    whole = Path(os.path.realpath(PYTHON)).read_bytes()
    (tmp_path / "cut").write_bytes(whole[:80])
    with pytest.raises(elf.BuildError, match="damaged ELF file"):
        elf.read(tmp_path / "cut")


# Requirements

ENVIRONMENT = {"python_version": "3.11", "python_full_version": "3.11.2", "sys_platform": "linux", "os_name": "posix",
               "platform_system": "Linux", "platform_machine": "x86_64", "implementation_name": "cpython"}


@pytest.mark.parametrize("line, expected", [
    ("numpy", True),
    ("numpy (>=1.16)", True),
    ("typing_extensions ; python_version < '3.8'", False),
    ('tzdata>=2022.7; python_version >= "3.9"', True),
    ('a; python_version > "3.9" and python_version < "3.12"', True),
    ('a; python_version == "3.1"', False),
    ('a; python_version == "3.11.*"', True),
    ('a; python_full_version ~= "3.11.0"', True),
    ('a; python_full_version ~= "3.10.0"', False),
    ('a; (sys_platform == "win32" or os_name == "posix") and platform_machine != "arm64"', True),
    ('a; sys_platform == "win32" or (os_name == "nt" and python_version > "3")', False),
    ('a; "linux" in sys_platform', True),
    ('a; platform_machine not in "x86_64 aarch64"', False),
    ('pytest ; extra == "test"', False),
    ("b @ https://example.org/b-1.0.whl ; python_version >= '3'", True),
])
def test_markers(line, expected):
    assert requirements.applies(requirements.parse(line), ENVIRONMENT, frozenset()) is expected


def test_extras_that_are_asked_for_apply():
    needed = requirements.parse('Bokeh_Core[A,b.c]; extra == "plot-ting"')
    assert (needed.name, needed.extras) == ("bokeh-core", {"a", "b-c"})
    assert requirements.applies(needed, ENVIRONMENT, frozenset({"plot-ting"}))


@pytest.mark.parametrize("line", [
    "", "a; python_version", "a; (os_name == 'x'", "a; os_name == 'x' 'y'", "a; no_such == 'x'"])
def test_what_is_no_requirement_is_refused(line):
    with pytest.raises(ValueError):
        requirements.applies(requirements.parse(line), ENVIRONMENT, frozenset())


# Recipes

@pytest.mark.parametrize("text, expected", [
    ('{"name": "a",\n  "files" ["x"]}', r":2:11: not JSON"),
    ('[]', "a JSON object"),
    ('{}', "name: expected .* missing"),
    ('{"name": "A b"}', "name: expected a name of a-z"),
    ('{"name": 3}', "name: expected a name"),
    ('{"name": "a", "colour": 1}', "unknown key 'colour': expected one of name"),
    ('{"name": "a", "name": "b"}', "key 'name' appears twice"),
    ('{"name": "a", "distributions": "numpy"}', "distributions: expected a list of PyPI names"),
    ('{"name": "a", "distributions": [1]}', "distributions: expected a list"),
    ('{"name": "a", "files": ["relative"]}', "files: expected a list of absolute paths"),
    ('{"name": "a", "files": ["/usr/../root"]}', "files: expected a list of absolute paths"),
    ('{"name": "a", "files": ["/home/x"]}', "files: expected a list of absolute paths"),
    ('{"name": "a", "imports": ["import os"]}', "imports: expected a list of module names"),
    ('{"name": "a", "debian": {"numpy": "python3-numpy"}}', "debian: expected an object such as"),
    ('{"name": "a", "debian": {"numpy": {"package": "x", "wants": []}}}', "debian: expected an object such as"),
    ('{"name": "a", "extends": "no-such"}', "open recipe .*no-such.json: No such file"),
    ('{"name": "a", "extends": "./bad.json"}', "extend each other in a circle"),
    ('[' * 100000, "nested too deeply"),
])
def test_a_bad_recipe_is_refused_with_its_file_and_key(tmp_path, text, expected):
    (tmp_path / "bad.json").write_text(text)
    done = build(tmp_path / "bad.json", tmp_path / "staging")
    assert done.returncode == 65
    assert len(done.stderr.splitlines()) == 1 and "Traceback" not in done.stderr
    assert re.match(rf"tree build: (open recipe )?{re.escape(str(tmp_path))}", done.stderr)
    assert re.search(expected, done.stderr)
    assert not (tmp_path / "staging").exists()


def test_a_recipe_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "bad.json").write_bytes(b'{"name": "\xff"}')
    done = build(tmp_path / "bad.json", tmp_path / "staging")
    assert done.returncode == 65 and "byte 10: a recipe is UTF-8 text" in done.stderr


def test_a_missing_distribution_names_the_debian_package(tmp_path):
    recipe = write_recipe(tmp_path, distributions=["No.Such_Thing", "other-thing"],
                          debian={"no-such-thing": {"package": "python3-elsewhere"}})
    done = build(recipe, tmp_path / "staging")
    assert done.returncode == 69 and len(done.stderr.splitlines()) == 1
    assert "apt-get install python3-elsewhere python3-other-thing" in done.stderr


def test_a_missing_file_is_named(tmp_path):
    done = build(write_recipe(tmp_path, files=["/usr/share/no-such-data"]), tmp_path / "staging")
    assert done.returncode == 69 and "/usr/share/no-such-data: not on this host" in done.stderr


def test_a_module_that_does_not_import_is_named(tmp_path):
    done = build(write_recipe(tmp_path, imports=["json", "no_such_module"]), tmp_path / "staging")
    assert done.returncode == 69
    assert "1 modules do not import" in done.stderr and "no_such_module: ModuleNotFoundError" in done.stderr
    assert not (tmp_path / "staging/meta.json").exists()


def test_a_staging_folder_that_is_in_use_is_refused(base):
    done = build(ROOTFS / "base.json", base)
    assert done.returncode == 70 and "expected a fresh staging folder" in done.stderr


def test_a_wrong_call_says_so():
    done = subprocess.run([PYTHON, "-I", ROOTFS / "build.py", "--staging", "x"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 64 and "--recipe" in done.stderr and len(done.stderr.splitlines()) == 1


# Interpreters

def script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_another_minor_version_is_refused_with_the_way_out(tmp_path):
    answer = json.dumps({"version": "3.9.2", "minor": "3.9", "tag": "cpython-39", "implementation": "CPython",
                         "machine": "x86_64", "multiarch": "", "prefix": "/x", "base_prefix": "/usr", "stdlib": "/x", "executable": "/x", "free_threaded": False, "builtins": [],
                         "path": [], "markers": {}})
    other = script(tmp_path / "python", f"#!/bin/sh\necho '{answer}'\n")
    done = build(ROOTFS / "base.json", tmp_path / "staging", "--python", other)
    assert done.returncode == 65
    assert done.stderr == (f"tree build: {other} is Python 3.9, but this hotcell embeds {MINOR}: "
                           f"make the environment with python{MINOR}\n")


@pytest.mark.parametrize("text", [
    "#!/bin/sh\nexit 3\n", "#!/bin/sh\necho hello\n", "no program\n", "#!/bin/sh\necho '{}'\n"])
def test_what_is_no_python_is_refused(tmp_path, text):
    done = build(ROOTFS / "base.json", tmp_path / "staging", "--python", script(tmp_path / "python", text))
    assert done.returncode == 65 and "expected a Python 3 interpreter" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_path_without_interpreter_is_refused(tmp_path, name):
    done = build(ROOTFS / "base.json", tmp_path / "staging", "--python", tmp_path / name)
    assert done.returncode == 65 and "expected a Python interpreter, such as" in done.stderr


# A virtual environment

@pytest.fixture
def environment(tmp_path):
    """A virtual environment with two small distributions, one of which requires the other."""
    root = tmp_path / "venv"
    site = root / f"lib/python{MINOR}/site-packages"
    site.mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "bin/python").symlink_to(PYTHON)
    (root / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    install(site, "First-Thing", {"first/__init__.py": "import second\n", "first/data.txt": "42",
                                  "first/tests/x.py": "", "../../../bin/first": "#!/bin/sh\n"},
            'Requires-Dist: second\nRequires-Dist: nobody; extra == "test"\nRequires-Dist: old; python_version < "3"\n')
    install(site, "second", {"second.py": "VALUE = 6\n"})
    (site / "stranger.py").write_text("")
    return root


def install(site, name, files, headers=""):
    """Does to SITE what an installer does."""
    info = f"{requirements.normal(name).replace('-', '_')}-1.5.dist-info"
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n{headers}\n",
             f"{info}/direct_url.json": '{"url": "file:///somewhere"}'}
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    (site / info / "RECORD").write_text("".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))


def test_an_environments_distributions_go_where_a_cell_looks(tmp_path, environment):
    recipe = write_recipe(tmp_path, distributions=["first.thing"], exclude=["*/tests"], imports=["first"])
    done = build(recipe, tmp_path / "staging", "--python", environment / "bin/python")
    assert done.returncode == 0, done.stderr
    site = tmp_path / "staging/root" / SITE
    assert {path for path in contents(site) if ".pyc" not in path and "__pycache__" not in path} == {
        "hotcell-layers.pth", "first", "first/__init__.py", "first/data.txt", "second.py", "first_thing-1.5.dist-info",
        "first_thing-1.5.dist-info/METADATA", "second-1.5.dist-info", "second-1.5.dist-info/METADATA"}
    meta = json.loads((tmp_path / "staging/meta.json").read_text())
    assert meta["distributions"] == {"First-Thing": "1.5", "second": "1.5"}


def test_an_environment_without_a_distribution_is_told_to_pip_install(tmp_path, environment):
    recipe = write_recipe(tmp_path, distributions=["first-thing"])
    shutil.rmtree(next(environment.glob("lib/*/site-packages/second-1.5.dist-info")))
    done = build(recipe, tmp_path / "staging", "--python", environment / "bin/python")
    assert done.returncode == 69
    assert "second (which first-thing requires)" in done.stderr
    assert f"{environment}/bin/python -m pip install second" in done.stderr


def test_an_editable_distribution_is_refused(tmp_path, environment):
    info = next(environment.glob("lib/*/site-packages/second-1.5.dist-info"))
    (info / "direct_url.json").write_text('{"url": "file:///x", "dir_info": {"editable": true}}')
    done = build(write_recipe(tmp_path, distributions=["second"]), tmp_path / "staging", "--python",
                 environment / "bin/python")
    assert done.returncode == 69 and "second is installed in editable form" in done.stderr


def test_a_source_that_does_not_compile_is_named(tmp_path, environment):
    next(environment.glob("lib/*/site-packages/second.py")).write_text("print 'old'\n")
    done = build(write_recipe(tmp_path, distributions=["second"]), tmp_path / "staging", "--python",
                 environment / "bin/python")
    assert done.returncode == 69 and f"{SITE}/second.py: SyntaxError" in done.stderr


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_libraries_of_a_distribution_stay_and_others_follow(tmp_path, environment):
    site = next(environment.glob("lib/*/site-packages"))
    install(site, "native", {"native/__init__.py": "", "native.libs/libinner-1.so": "", "native/core.so": ""})
    (tmp_path / "a.c").write_text("int inner(void) { return 1; }\n")
    (tmp_path / "b.c").write_text("int inner(void); int BZ2_bzlibVersion(void); int f(void) { return inner(); }\n")
    shared = ["cc", "-shared", "-fPIC", "-Wl,--no-as-needed"]
    subprocess.run([*shared, tmp_path / "a.c", "-Wl,-soname,libinner-1.so", "-o", site / "native.libs/libinner-1.so"],
                   check=True)
    subprocess.run([*shared, tmp_path / "b.c", site / "native.libs/libinner-1.so", "-lstdc++",
                    "-Wl,-rpath,$ORIGIN/../native.libs", "-o", site / "native/core.so"], check=True)
    recipe = write_recipe(tmp_path, distributions=["native"])
    done = build(recipe, tmp_path / "one", "--python", environment / "bin/python")
    assert done.returncode == 0, done.stderr
    found = {path for path in contents(tmp_path / "one/root") if "libinner" in path or "libstdc++" in path}
    assert {os.path.basename(path) for path in found} == {"libinner-1.so", "libstdc++.so.6"}
    assert f"{SITE}/native.libs/libinner-1.so" in found and len(found) == 2

    install(site, "native", {"native/__init__.py": ""})
    (site / "native-1.5.dist-info/RECORD").write_text("native/core.so,,\nnative-1.5.dist-info/METADATA,,\n")
    (site / "native.libs/libinner-1.so").unlink()
    done = build(recipe, tmp_path / "two", "--python", environment / "bin/python")
    assert done.returncode == 69
    assert f"{SITE}/native/core.so needs libinner-1.so, which is not on this host" in done.stderr


# The base tree

def test_base_has_mount_points_and_merged_usr(base):
    root = base / "root"
    assert {entry.name for entry in root.iterdir()} == {
        "dev", "proc", "tmp", "output", "input", "usr", "etc", "bin", "lib", "lib64"}
    assert os.readlink(root / "bin") == "usr/bin" and os.readlink(root / "usr/bin") == "local/bin"
    assert {str(path.relative_to(root / "usr/local")): path.stat().st_size for path in (root / "usr/local").rglob("*") if path.is_file()} == {
        "lib/ld.so.cache": 0}
    assert os.readlink(root / "lib") == "usr/lib" and os.readlink(root / "lib64") == "usr/lib64"
    assert {entry.name: entry.stat().st_size for entry in (root / "dev").iterdir()} == dict.fromkeys(
        ("null", "zero", "full", "random", "urandom"), 0)
    for folder in ("proc", "tmp", "output", "input"):
        assert not any((root / folder).iterdir())


def test_base_has_plain_modes_and_one_program(base):
    found = contents(base / "root")
    modes = {path: what[1] if what[0] == "folder" else what[0] for path, what in found.items() if what[0] != "link"}
    folders = {mode for path, mode in modes.items() if found[path][0] == "folder"}
    programs = [path for path, mode in modes.items() if found[path][0] != "folder" and mode != 0o644]
    interp = json.loads((base / "meta.json").read_text())["interp"]
    assert folders == {0o755}
    assert [("/" + path, oct(modes[path])) for path in programs] == [("/usr" + interp, oct(0o755))]


def test_every_link_is_relative_and_stays_inside(base):
    root = os.path.realpath(base / "root")
    links = [path for path, what in contents(root).items() if what[0] == "link"]
    assert "etc/localtime" in links
    for path in links:
        target = os.readlink(os.path.join(root, path))
        # As the kernel of a cell resolves it: one component at a time, from the tree's own root.
        assert not target.startswith("/")
        assert os.path.realpath(os.path.join(root, path)).startswith(root + "/")
        assert os.path.exists(os.path.join(root, path))


def test_base_names_only_the_guest(base):
    etc = base / "root/etc"
    assert (etc / "passwd").read_text() == "guest:x:1000:1000:guest:/tmp:/\n"
    assert (etc / "group").read_text() == "guest:x:1000:\n"
    assert not {"resolv.conf", "shadow"} & {entry.name for entry in etc.iterdir()}
    assert (etc / "ld.so.cache").read_bytes() == b""


@pytest.mark.parametrize("path", [
    "test", "unittest/test", "ensurepip", "venv", "idlelib", "tkinter", "turtle.py", "turtledemo", "lib2to3",
    "sitecustomize.py", "EXTERNALLY-MANAGED", "dist-packages", "distutils/tests"])
def test_base_is_without(base, path):
    assert not os.path.lexists(base / "root" / STDLIB / path)


def test_base_has_no_tests_at_all(base):
    names = {os.path.basename(path) for path, what in contents(base / "root").items() if what[0] == "folder"}
    assert not names & {"test", "tests", "idle_test"}


@pytest.mark.parametrize("module", [
    "unittest/__init__.py", "doctest.py", "sqlite3/__init__.py", "zoneinfo/__init__.py", "distutils/core.py",
    "pydoc.py", "multiprocessing/__init__.py", "asyncio/__init__.py", "lib-dynload"])
def test_base_keeps(base, module):
    assert (base / "root" / STDLIB / module).exists()


def test_every_source_is_compiled_with_an_unchecked_hash(base):
    root = base / "root"
    sources = [path for path in root.rglob("*.py")]
    assert len(sources) > 400
    for source in sources:
        compiled = Path(importlib.util.cache_from_source(str(source)).replace(
            sys.implementation.cache_tag, json.loads((base / "meta.json").read_text())["python_tag"]))
        flags = compiled.read_bytes()[4:8]
        assert flags == b"\1\0\0\0", source   # hash-based, and nobody checks it
    assert len(list(root.rglob("*.pyc"))) == len(sources)


def test_byte_code_names_the_path_inside_the_cell(base):
    probe = textwrap.dedent("""
        import marshal, sys
        print(marshal.loads(open(sys.argv[1], "rb").read()[16:]).co_filename)
    """)
    tag = json.loads((base / "meta.json").read_text())["python_tag"]
    compiled = base / "root" / STDLIB / f"json/__pycache__/decoder.{tag}.pyc"
    done = subprocess.run([PYTHON, "-I", "-c", probe, compiled], capture_output=True, text=True, check=True)
    assert done.stdout == f"/{STDLIB}/json/decoder.py\n"


def test_shared_libraries_are_closed(base):
    """Everything that an ELF file of the tree needs lies where the loader of the cell looks."""
    root = base / "root"
    files = [path for path in contents(root) if not (root / path).is_symlink() and (root / path).is_file()]
    elves = {path: elf.read(root / path) for path in files if not path.endswith((".py", ".pyc"))}
    elves = {path: about for path, about in elves.items() if about is not None}
    interp = os.path.basename(json.loads((base / "meta.json").read_text())["interp"])
    libraries = {os.path.basename(path): path for path in elves if "/python" not in path}
    assert "libc.so.6" in libraries and "libgcc_s.so.1" in libraries
    for path, about in elves.items():
        assert set(about.needed) - {interp} <= set(libraries), path


def test_the_meta_data_counts_what_is_there(base):
    meta = json.loads((base / "meta.json").read_text())
    files = [path for path in (base / "root").rglob("*") if path.is_file() and not path.is_symlink()]
    assert meta["recipe"] == "base" and meta["abi"] == MINOR and meta["distributions"] == {}
    assert meta["files"] == len(files) and meta["bytes"] == sum(path.stat().st_size for path in files)


def test_two_builds_are_the_same_bytes_and_hold_no_path_of_the_builder(base, tmp_path):
    staging = tmp_path / "json" / "another staging folder"   # a name that the standard library interns, too
    done = build(ROOTFS / "base.json", staging)
    assert done.returncode == 0, done.stderr
    assert contents(staging / "root") == contents(base / "root")
    assert (staging / "meta.json").read_bytes() == (base / "meta.json").read_bytes()
    for path in (staging / "root").rglob("*"):
        if path.is_file():
            assert b"another staging folder" not in path.read_bytes(), path


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_an_interpreter_runs_in_the_tree_and_sees_nothing_else(base, tmp_path):
    probe = textwrap.dedent(f"""
        import sys
        sys.path[:] = ["/{STDLIB}", "/{STDLIB}/lib-dynload", "/{SITE}"]
        import bz2, ctypes, hashlib, json, locale, lzma, os, pwd, socket, sqlite3, ssl, time, zoneinfo
        ctypes.CDLL("libgcc_s.so.1")
        print(json.dumps([
            str(zoneinfo.ZoneInfo("Europe/Berlin")), locale.setlocale(locale.LC_ALL, "C.UTF-8"), time.tzname,
            [user.pw_name for user in pwd.getpwall()], socket.gethostbyname("localhost"),
            sqlite3.connect(":memory:").execute("select 6 * 7").fetchone()[0],
            [name for name in ("/bin/sh", "/usr/bin/sh", "/sbin", "/home", "/root", "/var") if os.path.lexists(name)]]))
    """)
    guest = tmp_path / "python"
    guest.touch()
    done = subprocess.run(["bwrap", "--unshare-all", "--clearenv", "--ro-bind", base / "root", "/", "--proc", "/proc",
                           "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", os.path.realpath(PYTHON), "/tmp/python",
                           "/tmp/python", "-I", "-S", "-c", probe], capture_output=True, text=True, check=False)
    if done.returncode != 0 and done.stderr.startswith("bwrap:"):
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["Europe/Berlin", "C.UTF-8", ["UTC", "UTC"], ["guest"], "127.0.0.1", 42, []]
