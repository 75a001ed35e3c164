"""What Python 3.12 and 3.13 added, and what leads to code, frames, files or attributes by it. Where the interpreter is older, it is not there."""
import subprocess
import sys

import cells
import pytest

PYTHON = sys.executable

pytestmark = pytest.mark.usefixtures("base_tree")


def since(version):
    if sys.version_info < version:
        pytest.skip(f"Python {version[0]}.{version[1]} added what this tries")  # nothing that the host lacks: with CI set it is no failure


def outside(code):
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def inside(code, policy="default"):
    result = cells.run(code, "--memory=1G", policy=policy)
    assert result.manifest["status"] == "ok", result.stderr
    return result.stdout


TELL = """
import sys, textwrap

def tell(make):
    try:
        print("reached", bool(make()))
    except Exception as error:
        print(type(error).__name__)

"""


def watch_all_threads(call):
    return f"""
import threading
def make():
    seen = []
    threading.{call}_all_threads(lambda *event: seen.append(event))
    textwrap.dedent("x")
    threading.{call}_all_threads(None)
    return seen
"""


# Each with the version that brought it.
WAYS = {
    "code with the name of a library's file": ((3, 13), """
import copy
def make():
    code = copy.replace(compile("1", "x", "exec"), co_filename=textwrap.__file__)
    return repr(code).count(f'"{textwrap.__file__}"')
""", "reached False"),
    "callback of sys.monitoring": ((3, 12), """
def make():
    seen = []
    sys.monitoring.use_tool_id(3, "x")
    sys.monitoring.register_callback(3, sys.monitoring.events.PY_START, lambda code, at: seen.append(code))
    sys.monitoring.set_events(3, sys.monitoring.events.PY_START)
    textwrap.dedent("x")
    sys.monitoring.set_events(3, 0)
    return seen
""", "PermissionError"),
    "name of a frame's module": ((3, 12), "def make():\n    return getattr(sys, '_getframe' + 'modulename')(0)\n", "PermissionError"),
    "tracing of the own thread": ((3, 12), watch_all_threads("settrace"), "reached False"),  # the refusal is no exception here
    "profiling of the own thread": ((3, 12), watch_all_threads("setprofile"), "reached False"),
    "file of names of functions": ((3, 12), """
def make():
    getattr(sys, "activate_stack_" + "trampoline")("perf")
    return sys.is_stack_trampoline_active()
""", "AttributeError"),
    "interpreters": ((3, 13), "def make():\n    return __import__('_inter' + 'preters').list_all()\n", "ImportError"),
    "channels of interpreters": ((3, 13), "def make():\n    return __import__('_inter' + 'pchannels').create\n", "ImportError"),
    "queues of interpreters": ((3, 13), "def make():\n    return __import__('_inter' + 'pqueues').create\n", "ImportError"),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_later_pythons_added_leads_no_further(way):
    version, code, expected = WAYS[way]
    since(version)
    program = f"{TELL}{code}\ntell(make)\n"
    assert outside(program) == "reached True\n"
    assert inside(program) == f"{expected}\n"


# Expressions that later grammars take: evaluated when the attribute behind them is asked for.
LAZY = {
    "alias": ((3, 12), "type A = print.ATTRIBUTE\nprint(A.__value__ is not None)"),
    "bound": ((3, 12), "class C[T: print.ATTRIBUTE]: pass\nprint(C.__type_params__[0].__bound__ is not None)"),
    "constraints": ((3, 12), "def f[T: (int, print.ATTRIBUTE)](): pass\nprint(f.__type_params__[0].__constraints__[1] is not None)"),
    "parameter of an alias": ((3, 12), "type A[T: print.ATTRIBUTE] = int\nprint(A.__type_params__[0].__bound__ is not None)"),
    "default": ((3, 13), "def f[T = print.ATTRIBUTE](): pass\nprint(f.__type_params__[0].__default__ is not None)"),
    "default of a tuple": ((3, 13), "class C[*T = print.ATTRIBUTE]: pass\nprint(C.__type_params__[0].__default__ is not None)"),
    "default of parameters": ((3, 13), "type A[**P = print.ATTRIBUTE] = int\nprint(A.__type_params__[0].__default__ is not None)"),
    "field within a field": ((3, 12), "print(bool(f'{f'{print.ATTRIBUTE}'}'))"),
}


@pytest.mark.parametrize("form", LAZY)
def test_expressions_of_later_grammars_are_checked(form):
    version, code = LAZY[form]
    since(version)
    code = code.replace("ATTRIBUTE", "__getattribute__")
    assert outside(code) == "True\n"
    result = cells.run(code, policy="default")
    assert result.manifest["status"] == "rejected", result.stdout
    assert "Access to '__getattribute__'" in result.stderr


@pytest.mark.parametrize("code", ["def f[NAME](): pass", "class C[*NAME]: pass", "type A[**NAME] = int", "type NAME = int"])
def test_type_parameters_and_aliases_take_no_denied_name(code):
    since((3, 12))
    policy = {"names": {"deny": ["secret"]}}
    assert outside(code.replace("NAME", "secret")) == ""
    result = cells.run(code.replace("NAME", "secret"), policy=policy)
    assert result.manifest["status"] == "rejected", result.stdout
    assert "'secret'" in result.stderr


FILES = {
    "pathlib": "import pathlib\nprint(len(pathlib.Path(FILE).read_bytes()) > 0)\n",
    "zipfile": "import zipfile\ntry:\n    zipfile.ZipFile(FILE)\nexcept zipfile.BadZipFile:\n    print(True)\n",
}


@pytest.mark.parametrize("module", FILES)
def test_packages_that_open_files_for_the_program_open_none_that_it_may_not_read(module):
    """Both became packages: pathlib/_local.py and zipfile/__init__.py open what pathlib.py and zipfile.py did."""
    policy = {"files": {"read": ["/tmp"], "read_message": "'{path}' is not for this program"}}
    program = FILES[module].replace("FILE", repr("/etc/passwd"))
    assert outside(program) == "True\n"
    result = cells.run(program, policy=policy)
    assert result.manifest["status"] == "error", result.stdout
    assert "'/etc/passwd' is not for this program" in result.stderr
