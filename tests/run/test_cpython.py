"""CPython's own tests of a few modules, and numpy's: every test ends in a cell as it ends outside.

Long, so only with HOTCELL_LONG set (scripts/test sets it). The policy is the default one without its lists of names that
a program may not write, and with tracing: the tests' own helpers use both. Everything else of the guard is on. A test that
ends otherwise must name what was refused to it, or stand in EXPLAINED.
"""

import json
import os
import re
import zipfile
from pathlib import Path

import pytest

import cells
import corpora

pytestmark = pytest.mark.skipif(not os.environ.get("HOTCELL_LONG"), reason="long: set HOTCELL_LONG")

PACKAGE = Path("/usr/lib/python3.11/test")
MODULES = ["base64", "bisect", "collections", "contextlib", "copy", "csv", "dataclasses", "difflib", "enum", "fractions", "functools",
           "heapq", "itertools", "json", "operator", "statistics", "string", "struct", "textwrap"]
HELPERS = ["__init__.py", "support", "string_tests.py", "mapping_tests.py", "pickletester.py", "list_tests.py", "seq_tests.py",
           "test_contextlib_async.py"]
NUMPY = Path("/usr/lib/python3/dist-packages/numpy")
NUMPY_TESTS = ["fft", "linalg", "polynomial"]
PYTEST = ["pytest", "_pytest", "pluggy", "iniconfig", "attr", "attrs", "py.py"]

POLICY = {
    "attributes": {"deny": []},
    "imports": {"deny": []},
    "audit": {"allow": ["sys.settrace", "sys.setprofile", "sys._getframe", "gc.*"]},
}

# What may differ: a pattern over "name: outcome in the cell", and why.
EXPLAINED = [
    (r"not allowed by this policy", "the policy refuses what the test wants"),
    (r"_testcapi|_testinternalcapi|requires legacy Unicode C API", "CPython's test extensions are in no tree"),
    (r"test_xerbla_override: skipped", "the test forks, and skips itself where it cannot"),
    (r"test_json\.test_tool.*: (error|fail)", "its clean-up misses the file that a refused process should have written"),
]

UNITTEST = """
import json, os, sys, unittest, warnings, zipfile
zipfile.ZipFile(ARCHIVE).extractall(PLACE)
sys.path.insert(0, PLACE)
os.chdir(PLACE)
warnings.simplefilter("ignore")

class Outcomes(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.found = {}
    def addSuccess(self, test):
        self.found.setdefault(test.id(), "ok")
    def addError(self, test, error):
        self.found[test.id()] = f"error: {error[0].__name__}: {error[1]}"[:2000]
    def addFailure(self, test, error):
        self.found[test.id()] = f"fail: {error[1]}"[:2000]
    def addSkip(self, test, reason):
        self.found[test.id()] = f"skip: {reason}"
    def addSubTest(self, test, subtest, error):
        if error:
            self.found[test.id()] = f"fail: {error[1]}"[:2000]

outcomes = Outcomes()
unittest.defaultTestLoader.loadTestsFromName(MODULE).run(outcomes)
with open(RESULTS, "w") as file:
    json.dump(outcomes.found, file)
"""

PYTEST_PROGRAM = """
import json, os, sys, zipfile
zipfile.ZipFile(ARCHIVE).extractall(PLACE)
sys.path.insert(0, PLACE)
os.chdir(PLACE)
import pytest

class Outcomes:
    def __init__(self):
        self.found = {}
    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.found[report.nodeid] = report.outcome + (f": {report.longrepr}"[-2000:] if report.failed else "")

outcomes = Outcomes()
pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-W", "ignore", "--capture=no", "--import-mode=importlib",
             "-o", "markers=slow\\nxslow", "numpy_tests/" + MODULE], [outcomes])
with open(RESULTS, "w") as file:
    json.dump(outcomes.found, file)
"""


def archive(path, members):
    """A zip of files and directories; members: {where they are: what they are called inside}."""
    with zipfile.ZipFile(path, "w") as packed:
        for source, name in members.items():
            files = [source] if source.is_file() else [file for file in source.rglob("*") if file.is_file()]
            for file in files:
                if "__pycache__" not in file.parts:
                    packed.write(file, name if file == source else Path(name) / file.relative_to(source))
    path.chmod(0o644)


def outcomes(program, module, packed, tree):
    """How each test of a module ends: outside, and in a cell."""
    user = cells.ordinary()
    directory = cells.new_directory(user)

    def fill(archive_path, place, results):
        values = {"ARCHIVE": archive_path, "PLACE": place, "RESULTS": results, "MODULE": module}
        return re.sub("|".join(values), lambda name: repr(str(values[name[0]])), program)

    plain = corpora.outside(fill(packed, directory / "place", directory / "results.json"), user, directory)
    assert plain.returncode == 0, plain.stderr[-2000:]
    cell = cells.run(fill("/input/tests.zip", "/tmp/place", "/output/results.json"), "--memory=1G", "--timeout=120s", "--stdout-size=16M",
                     "--tmp-files=8192", "--input", f"tests={packed}", user=cells.caller(), policy=POLICY, tree=tree)
    assert cell.manifest and (cell.output / "results.json").exists(), cell
    return [json.loads(path.read_text()) for path in (directory / "results.json", cell.output / "results.json")]


def compare(found):
    plain, cell = found
    assert len(plain) > 5, plain
    for name in plain.keys() | cell.keys():
        if plain.get(name, "absent")[:4] != cell.get(name, "absent")[:4]:
            said = f"{name}: {cell.get(name, 'absent')}"
            assert any(re.search(pattern, said) for pattern, _ in EXPLAINED), f"outside {plain.get(name)}, in a cell {said}"


@pytest.fixture(scope="module")
def cpython(request, base_tree):
    if not PACKAGE.is_dir() or not (PACKAGE / "test_json").is_dir():
        cells.skip("libpython3.11-testsuite is not installed")
    packed = cells.scratch() / "cpython.zip"
    wanted = [PACKAGE / name for name in HELPERS]
    wanted += [path for name in MODULES for path in (PACKAGE / f"test_{name}.py", PACKAGE / f"test_{name}")]
    wanted += PACKAGE.glob("dataclass_*.py")
    archive(packed, {path: f"test/{path.name}" for path in wanted if path.exists()})
    return corpora.side_by_side(lambda name: outcomes(UNITTEST, f"test.test_{name}", packed, "base"),
                                corpora.selected(request, "module"))


@pytest.mark.parametrize("module", MODULES)
def test_cpython(module, cpython):
    if isinstance(cpython[module], Exception):
        raise cpython[module]
    compare(cpython[module])


@pytest.fixture(scope="module")
def numpy(request, base_tree):
    cells.build_tree("scientific")
    packages = Path(pytest.__file__).parent.parent
    packed = cells.scratch() / "numpy.zip"
    members = {packages / name: name for name in PYTEST if (packages / name).exists()}
    members |= {NUMPY / name / "tests": f"numpy_tests/{name}" for name in NUMPY_TESTS}
    archive(packed, members)
    return corpora.side_by_side(lambda name: outcomes(PYTEST_PROGRAM, name, packed, "scientific"),
                                corpora.selected(request, "part"))


@pytest.mark.parametrize("part", NUMPY_TESTS)
def test_numpy(part, numpy):
    if isinstance(numpy[part], Exception):
        raise numpy[part]
    compare(numpy[part])
