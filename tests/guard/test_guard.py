"""The guard while a program runs: what it is refused, in which words, and that all else works as without it.

Rows are programs. Names that a program computes reach the guard only at run time: `hide("socket")` is such a name.
"""
import importlib.util
import json
import marshal
import sqlite3
import subprocess
import sys

import cells
import pytest

PRELUDE = """
import sys

def hide(text):
    return "".join(list(text))

def tell(action):
    try:
        print(repr(action()))
    except BaseException as error:
        print(type(error).__name__ + ": " + str(error))

"""


def run(code, policy=None, *options, **more):
    result = cells.run(PRELUDE + code, *options, policy=policy, **more)
    assert result.manifest["status"] == "ok", result
    return result


def said(expression, policy=None, *options, **more):
    """What the program printed: a repr, or an exception's type and text."""
    return run(f"tell(lambda: ({expression}))", policy, *options, **more).stdout.rstrip("\n")


def refusals(result):
    return [(entry["layer"], entry["rule"], entry["what"]) for entry in result.manifest["denials"]]


def works_outside(code):
    """Plain Python does it: what the cell refuses is there to be refused."""
    done = subprocess.run(["/usr/bin/python3", "-c", PRELUDE + code], capture_output=True, text=True, check=True)
    return done.stdout.rstrip("\n")


LISTED = {"imports": {"allow": ["math", "json", "sys"], "deny": None, "exact": True, "from_top_level": True,
                      "when": "run", "message": "Import not allowed: {name}"}}
DENIED = {"imports": {"deny": ["shutil", "http.server", "urllib.request"], "when": "run", "message": "Importing '{name}' is not allowed."},
          "attributes": {"deny": None}}
BLOCKED = {"attributes": {"deny": ["__globals__", "__code__", "__class__", "__subclasses__"],
                          "message": "Access to `{name}` is not allowed."}}


@pytest.fixture(scope="module")
def scientific():
    if cells.hotcell("tree", "path", "scientific").returncode != 0:
        cells.skip("the tree scientific is not built: run 'hotcell tree build scientific'")


# ---- imports ----

@pytest.mark.parametrize("statement, policy, answer", [
    ("import json; print(json.dumps(1))", LISTED, "1"),
    ("from json import decoder; print(decoder.__name__)", LISTED, "json.decoder"),
    ("import json.decoder; print(json.decoder.__name__)", LISTED, "json.decoder"),
    ("import random", LISTED, "Import not allowed: random"),
    ("from random import choice", LISTED, "Import not allowed: random"),
    ("import shutil", DENIED, "Importing 'shutil' is not allowed."),
    ("from http.server import HTTPServer", DENIED, "Importing 'http.server' is not allowed."),
    ("from http import server", DENIED, "Importing 'http.server' is not allowed."),
    ("import http.client; print('fine')", {"imports": {**DENIED["imports"], "deny": ["http.server"]}}, "fine"),
    ("import urllib.parse; print(urllib.parse.quote(' '))", DENIED, "%20"),
    ("__import__(hide('shutil'))", DENIED, "Importing 'shutil' is not allowed."),
    ("import importlib; importlib.import_module(hide('shutil'))", DENIED, "Importing 'shutil' is not allowed."),
    ("from importlib import import_module; import_module('.server', package='http')", DENIED,
     "Importing 'http.server' is not allowed."),
    ("import importlib; importlib.__import__(hide('shutil'))", DENIED, "Importing 'shutil' is not allowed."),
    ("exec(hide('import shutil'))", DENIED, "Importing 'shutil' is not allowed."),
    ("exec(hide('import shutil'), {})", DENIED, "Importing 'shutil' is not allowed."),
    ("import builtins; builtins.__import__(hide('shutil'))", DENIED, "Importing 'shutil' is not allowed."),
])
def test_imports_are_what_the_policy_allows(base_tree, statement, policy, answer):
    """A program's imports by statement, function and computed name."""
    result = run(f"try:\n    {statement}\nexcept ImportError as error:\n    print(error)", policy)
    assert result.stdout.splitlines()[-1] == answer


def test_libraries_import_what_they_need(base_tree):
    """A rule binds the program; random may import hashlib, and strptime its own module, for it."""
    result = run("import time\nprint(time.strptime('2020', '%Y').tm_year)\nimport json, datetime\n"
                 "print(datetime.datetime.strptime('2021', '%Y').year)", {"imports": {**LISTED["imports"], "allow": ["time", "json", "datetime", "sys"]}})
    assert result.stdout == "2020\n2021\n" and refusals(result) == []


def test_only_modules_that_the_policy_has_loaded_are_imported(base_tree):
    """Modules that the policy has not loaded are refused with PermissionError."""
    policy = {"imports": {"deny": None, "loaded_only": True, "exception": "PermissionError", "when": "run",
                          "loaded_message": "{name} not preloaded"}}
    result = run("tell(lambda: __import__('sys').__name__)\ntell(lambda: __import__('wave'))", policy)
    assert result.stdout == "'sys'\nPermissionError: wave not preloaded\n"
    assert refusals(result) == [("runtime", "imports", "wave")]


def test_modules_that_the_program_wrote_are_bound_too(base_tree):
    """What a program puts into a file and imports is still its own code."""
    module = r"import math\ndef load():\n    import shutil\ndef reach(f):\n    return getattr(f, '__glo' + 'bals__')\n"
    result = run(f"""
open("/tmp/own.py", "w").write("{module}")
sys.path.insert(0, "/tmp")
import own
tell(own.load)
tell(lambda: own.reach(own.load))
""", {**DENIED, **BLOCKED})
    assert result.stdout == ("ImportError: Importing 'shutil' is not allowed.\n"
                             "AttributeError: Access to `__globals__` is not allowed.\n")


@pytest.mark.parametrize("kind", ["bytes", "bytearray", "str"])
def test_sources_of_loaders_that_the_program_made_are_judged(base_tree, kind):
    result = run(f"""
import importlib.machinery
class Loader(importlib.machinery.SourceFileLoader):
    def get_data(self, path):
        text = "seen = (lambda: 0).@globals@".replace("@", "__")
        return text if {kind} is str else {kind}(text, "ascii")
    def path_stats(self, path):
        raise OSError
tell(lambda: Loader("own", "/tmp/own.py").load_module())
""", {**BLOCKED, "imports": {"deny": []}})
    assert result.stdout == "PermissionError: Access to `__globals__` is not allowed.\n"


def test_a_module_is_not_the_trees_because_its_path_begins_there(base_tree):
    """A path that leads out of the tree again made a library of the program's module, with the real built-in names."""
    result = run("""
open("/tmp/own.py", "w").write("def load():\\n    import shutil\\n")
sys.path.insert(0, "/usr/lib/../../tmp")
import own
tell(own.load)
""", DENIED)
    assert result.stdout == "ImportError: Importing 'shutil' is not allowed.\n"


# Ways to code whose file is called NAME: a library makes it for the program, or a part of the import system does.
DEPUTIES = """
import copy, functools, importlib.util, marshal
class Deputy:
    def __init__(self, what, *given): self.made = (what, given)
    def __reduce_ex__(self, protocol): return self.made
def through(what, *given): return copy.copy(Deputy(what, *given))
own = compile(SOURCE, "own", "eval")
def renamed():
    importlib._bootstrap_external._imp._fix_co_filename(own, NAME)
    return own
ways = {
    "compile": lambda: through(compile, SOURCE, NAME, "eval"),
    "replace": lambda: through(functools.partial(own.replace, co_filename=NAME)),
    "new name": renamed,
    "marshal": lambda: through(marshal.loads, FORGED),
}
tell(lambda: eval(ways[WAY](), {"__builtins__": __builtins__}))
"""


@pytest.mark.parametrize("name", [f"{cells.STDLIB}/copy.py", "<frozen os>", "<hotcell>"])
@pytest.mark.parametrize("way", ["compile", "replace", "new name", "marshal"])
def test_code_is_not_a_librarys_because_it_is_called_so(base_tree, way, name):
    """A file name made library code of the program's, to which the rules for the program did not apply."""
    source = "bool(__import__('gc').get_objects())"
    forged = marshal.dumps(compile(source, name, "eval"))
    open_loaders = {"imports": {"deny": None}}  # one of the ways leads through the import system's own modules
    said = run(f"SOURCE, NAME, WAY, FORGED = {source!r}, {name!r}, {way!r}, {forged!r}" + DEPUTIES, open_loaders).stdout
    assert said == "PermissionError: gc.get_objects is not allowed by this policy\n"


FORGED_MODULE = "import gc\ndef everything():\n    return bool(gc.get_objects())\n"


@pytest.mark.parametrize("place, prepare", [
    ("/tmp/forged.pyc", "sys.path.insert(0, '/tmp')"),
    (f"/tmp{cells.STDLIB}/this.{sys.implementation.cache_tag}.pyc", "sys.pycache_prefix = '/tmp'"),
])
def test_compiled_modules_that_the_program_wrote_are_its_own(base_tree, place, prepare):
    """Their bytes say which file they were made from, and what they say is theirs to choose."""
    code = marshal.dumps(compile(FORGED_MODULE, f"{cells.STDLIB}/this.py", "exec"))
    pyc = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + code  # of an unchecked hash
    result = run(f"""
import os
os.makedirs(os.path.dirname({place!r}), exist_ok=True)
open({place!r}, "wb").write({pyc!r})
{prepare}
import {"forged" if "forged" in place else "this"} as forged
tell(forged.everything)
""")
    assert result.stdout == "PermissionError: gc.get_objects is not allowed by this policy\n"


def test_loaders_that_the_program_changed_make_no_libraries(base_tree):
    result = run(f"""
import importlib.machinery
class Loader(importlib.machinery.SourceFileLoader):
    def get_data(self, path): return {FORGED_MODULE!r}.encode()
    def path_stats(self, path): raise OSError
tell(Loader("forged", "{cells.STDLIB}/forged.py").load_module().everything)
""", {"imports": {"deny": []}})
    assert result.stdout == "PermissionError: gc.get_objects is not allowed by this policy\n"


@pytest.mark.parametrize("code", [
    "import timeit\ntell(lambda: timeit.timeit(hide('import shutil'), number=1))",
    "import timeit\ntell(lambda: timeit.timeit('__import__(\"shutil\")', number=1))",
    "import doctest, io, contextlib\nkept = io.StringIO()\nwith contextlib.redirect_stdout(kept):\n"
    "    doctest.run_docstring_examples('>>> import shutil', {}, name='x')\n"
    "print([line for line in kept.getvalue().splitlines() if 'Error' in line][-1].strip())",
])
def test_texts_that_libraries_run_for_the_program_are_its_own(base_tree, code):
    """Code without a file, run by timeit and its like, acted with the rights of the library that ran it."""
    policy = {"imports": {**DENIED["imports"], "deny": ["shutil"]}}
    assert run(code, policy).stdout == "ImportError: Importing 'shutil' is not allowed.\n"


@pytest.mark.parametrize("lines", [
    "importlib.machinery.SourceFileLoader",
    "type('ExtensionFileLoader', (importlib.machinery.SourceFileLoader,), {})",
])
def test_texts_of_other_loaders_than_that_of_extensions_are_the_programs(base_tree, lines):
    """A text that an extension runs while it is loaded is the library's; no text of the program's may look like one."""
    code = f"""import importlib.machinery, types
class Loader({lines}):
    def get_code(self, name): return compile(hide("import shutil"), "<string>", "exec")
tell(lambda: Loader("x", "/output/x.py").exec_module(types.ModuleType("x")))
"""
    policy = {"imports": {**DENIED["imports"], "deny": ["shutil"]}}
    assert run(code, policy).stdout == "ImportError: Importing 'shutil' is not allowed.\n"


def test_calls_that_look_like_the_interpreters_own_give_nothing_away(base_tree):
    """C code imports with an empty list of names, for its own use; a program that does so got any module."""
    result = run("""
take = __import__
print(take("shelve", None, None, []), take("json", None, None, []).__name__)
import datetime
print(datetime.date.fromisoformat("2026-01-31").strftime("%d"))
print(datetime.datetime.strptime("2026", "%Y").year)
""", {"imports": {**LISTED["imports"], "allow": ["json", "sys", "datetime"]}})
    assert result.stdout == "None json\n31\n2026\n"


# ---- built-in names ----

@pytest.mark.parametrize("expression, answer", [
    ("getattr(tell, hide('__globals__'))", "AttributeError: Access to `__globals__` is not allowed."),
    ("getattr(tell, hide('__globals__'), 5)", "AttributeError: Access to `__globals__` is not allowed."),
    ("getattr(tell, 'absent', 5)", "5"),
    ("getattr(tell, 'absent')", "AttributeError: 'function' object has no attribute 'absent'"),
    ("getattr(tell, '__name__')", "'tell'"),
    ("getattr(tell)", "TypeError: getattr expected 2 or 3 arguments, got 1"),
    ("hasattr(tell, hide('__globals__')), hasattr(tell, '__name__'), hasattr(tell, 'absent')", "(False, True, False)"),
    ("setattr(tell, hide('__code__'), None)", "AttributeError: Access to `__code__` is not allowed."),
    ("delattr(tell, hide('__code__'))", "AttributeError: Access to `__code__` is not allowed."),
    ("__import__('operator').attrgetter(hide('__code__.co_code'))(tell)", "AttributeError: Access to `__code__` is not allowed."),
    ("__import__('operator').attrgetter('__name__')(tell)", "'tell'"),
    ("eval(hide('tell.__globals__'))", "PermissionError: Access to `__globals__` is not allowed."),
    ("eval('1 + 1'), eval(' len([1])'), eval('a', {'a': 3})", "(2, 1, 3)"),
    ("exec(compile(hide('tell.__globals__'), 'x', 'exec'))", "PermissionError: Access to `__globals__` is not allowed."),
])
def test_denied_attributes_are_not_reached_by_computed_names(base_tree, expression, answer):
    """`getattr` and its kin refuse what the check of the text refuses."""
    assert said(expression, BLOCKED) == answer


@pytest.mark.parametrize("text, answer", [
    ("{0.__name__} {0.__module__}", "'tell __main__'"), ("{0.__globals__}", "denied"), ("{0.__name__.__class__}", "denied"),
    ("{1[0].__globals__}", "denied"), ("{1[.__globals__]}", "TypeError: list indices must be integers or slices, not str"),
    ("{{0.__globals__}} {2}", "'{0.__globals__} x'"), ("{2:{0.__globals__}}", "denied"), ("{0.__globals__!r:>5}", "denied"),
])
def test_denied_attributes_are_not_reached_by_format_strings(base_tree, text, answer):
    """str.format() reads attributes that only the text names."""
    expected = "AttributeError: Access to `__" if answer == "denied" else answer
    computed = f"{text.replace('__', '@')!r}.replace('@', '__')"
    for call in (f"{computed}.format(tell, [tell], 'x')", f"str.format({computed}, tell, [tell], 'x')"):
        assert said(call, BLOCKED).startswith(expected)
    assert said("'{a.@globals@}'.replace('@', '__').format_map({'a': tell})", BLOCKED).startswith("AttributeError: Access")


# A tree whose nodes are other ones when they are looked at again.
CHANGING = """
import ast, itertools

def changing():
    class Attribute(ast.Attribute):
        names = itertools.chain(["first"], itertools.repeat("__glob" + "als__"))
        attr = property(lambda self: next(self.names), lambda self, value: None)
    tree = ast.parse("tell.first", mode="exec")
    found = tree.body[0].value
    tree.body[0].value = Attribute(value=found.value, attr="", ctx=found.ctx, lineno=1, col_offset=0)
    return compile(tree, "x", "exec")

"""


@pytest.mark.parametrize("expression", [
    "__import__('string').Formatter().format('{0.@globals@}'.replace('@', '__'), tell)",
    "__import__('string').Formatter().get_field(hide('0.__globals__'), [tell], {})",
    "__import__('_operator').attrgetter(hide('__globals__'))",
    "__import__('codecs').builtins.eval(hide('tell.__globals__'))",
    "__import__('codecs').builtins.exec(hide('tell.__globals__'))",
    "(chr(0) + '{0.@globals@}'.replace('@', '__')).format(tell)",
    "(chr(0xd800) + '{0.@globals@}'.replace('@', '__')).format(tell)",
    "exec(bytearray(hide('tell.__globals__').encode()))",
    "exec(b'# coding: utf-7\\ntell.+AF8AXw-globals+AF8AXw-')",
    "exec(compile('1 <> tell.@globals@'.replace('@', '__'), 'x', 'eval', 0x400000))",
    "__import__('codecs').builtins.compile(hide('tell.__globals__'), 'x', 'eval')",
])
def test_attributes_by_another_way(base_tree, expression):
    """What the language and its library have in store for the same purpose."""
    shown = run(CHANGING + f"tell(lambda: ({expression}))", BLOCKED).stdout
    assert "Access to `__globals__` is not allowed." in shown or "SyntaxError" in shown and "<>" in expression, shown
    assert "__globals__" not in run(CHANGING + "print(changing().co_names)", BLOCKED).stdout
    assert said("__import__('string').Formatter().format('{0.real} {a[0]}', 5, a=[6])", BLOCKED) == "'5 6'"


def test_built_in_functions_lead_to_the_programs_own_module(base_tree):
    result = run("""
import builtins, math, functools
print(print.__self__ is builtins, len.__self__ is builtins, math.sqrt.__self__ is math, [].append.__self__)
tell(lambda: print.__self__.__dict__["__import__"]("shutil"))
""", {"imports": {**DENIED["imports"], "deny": ["shutil"]}})
    assert result.stdout == "True True True []\nImportError: Importing 'shutil' is not allowed.\n"


def test_the_real_built_in_functions_refuse_like_the_programs_own(base_tree):
    policy = {"builtins": {"deny": ["exec"], "refuse": ["eval"], "message": "No {name}()."}}
    assert said("vars(__import__('codecs'))['builtins'].exec('1')", policy) == "NameError: name 'exec' is not defined"
    assert said("vars(__import__('codecs'))['builtins'].eval('1')", policy) == "PermissionError: No eval()."


@pytest.mark.parametrize("other", ["__import__('codecs').builtins", "__import__('sys').modules['builtins']",
                                   "__import__('importlib').import_module('builtins')", "__import__('pkgutil').resolve_name('builtins')"])
def test_there_is_one_module_of_built_in_functions_for_the_program(base_tree, other):
    assert said(f"{other} is __import__('builtins')") == "True"


def test_vars_leaves_out_what_is_denied(base_tree):
    """vars() of an object without denied names is its very dict; else a dict without them."""
    policy = {"attributes": {"deny": ["__secret__"]}}
    result = run("""
class Box: pass
box = Box()
vars(box)["a"] = 1
print(box.a)
vars(box)["__sec" + "ret__"] = 2
print(vars(box), "__sec" + "ret__" in vars(Box), "__module__" in vars(Box))
tell(lambda: vars(5))
tell(lambda: sorted(vars()))
""", policy)
    assert result.stdout == ("1\n{'a': 1} False True\nTypeError: vars() argument must have __dict__ attribute\n[]\n")


ALLOWED = {"builtins": {"allow": ["print", "len", "repr", "type", "str", "isinstance", "Exception", "BaseException", "list", "int", "range"],
                        "refuse": ["eval", "exec", "compile"], "message": "{name} is not allowed."}}


def test_builtins_are_a_dict_of_what_is_allowed(base_tree):
    """Names outside the list do not exist; imports and classes work all the same."""
    result = run("""
print(type(__builtins__) is type({}), len([1]))
tell(lambda: sorted([1]))
import math
print(math.floor(1.5))
""", ALLOWED)
    assert result.stdout == "True 1\nNameError: name 'sorted' is not defined\n1\n"


def test_open_can_be_called(base_tree):
    """`open` can be called; the zones of files decide."""
    policy = {"files": {"write": ["/output"], "write_message": "Sandbox can only write inside output_dir."}}
    assert said("open('/output/a', 'w').write('x')", policy) == "1"
    assert said("open('/tmp/a', 'w')", policy) == "PermissionError: Sandbox can only write inside output_dir."


def test_classes_work(base_tree):
    """Class statements, inheritance, properties, super(), exceptions and dataclasses, under a list of names."""
    result = run("""
from dataclasses import dataclass
class Base:
    def name(self): return "base"
class Derived(Base):
    @property
    def shown(self): return super().name() + "!"
    @staticmethod
    def one(): return 1
    @classmethod
    def two(cls): return 2
class Wrong(Exception): pass
@dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int = 2
try:
    raise Wrong("no")
except Wrong as error:
    print(error, Derived().shown, Derived.one(), Derived.two(), Point(1), Point(1) < Point(3))
print([i for i in range(3)], {i: i for i in range(1)}, len([*range(2)]))
""", ALLOWED)
    assert result.stdout == "no base! 1 2 Point(x=1, y=2) True\n[0, 1, 2] {0: 0} 2\n"


def test_builtins_say_that_they_are_not_allowed(base_tree):
    """Functions that are there to say that they are not allowed."""
    result = run("e = eval\ntell(lambda: e('1'))\ntell(lambda: compile('1', 'x', 'eval'))", ALLOWED)
    assert result.stdout == "PermissionError: eval is not allowed.\nPermissionError: compile is not allowed.\n"
    assert {entry[1:] for entry in refusals(result)} == {("builtins", "eval"), ("builtins", "compile")}


def test_a_program_sees_only_its_own_names(base_tree):
    """globals(), locals(), dir() and vars() show the program's namespace; a prefix is hidden."""
    policy = {"builtins": {"own_namespace": True, "hide_prefix": "_sandbox_"}}
    result = run("""
class Box:
    _sandbox_inner = 1
    seen = 2
def inside():
    local = 1
    return locals() is globals(), "local" in vars(), "inside" in dir()
print(inside())
print([name for name in dir(Box) if not name.startswith("__")])
_sandbox_x = 1
print("_sandbox_x" in dir(), "_sandbox_x" in vars())
""", policy)
    assert result.stdout == "(True, False, True)\n['seen']\nFalse False\n"


def test_types_behave_as_in_plain_python(base_tree):
    """type(x), isinstance(x, type) and type(name, bases, dict) are what they were."""
    assert said("type(1) is int, isinstance(int, type), isinstance(1, type), type('T', (), {'a': 1})().a") == "(True, True, False, 1)"


# ---- sys.modules and functions of modules ----

def test_modules_that_are_not_shown_are_there_for_libraries(base_tree):
    """Hidden from the program in every way that dicts are read, and there for libraries."""
    policy = {"modules": {"scrub": ["pickle", "collections.abc"]}}
    result = run("""
import copyreg, json, pickle as loaded, collections.abc
def names(): return [name for name in sys.modules if name.startswith("pickle")]
print(isinstance(sys.modules, dict), "pickle" in sys.modules, sys.modules.get("pickle"), sys.modules.get("pickle", 3), names())
print("collections.abc" in sys.modules, "collections" in sys.modules, sys.modules["json"] is json)
print("pickle" in sys.modules.keys(), "pickle" in dict(sys.modules), "pickle" in sys.modules.copy(),
      any(name == "pickle" for name, module in sys.modules.items()), dict.get(sys.modules, "pickle"))
tell(lambda: sys.modules["pickle"])
tell(lambda: sys.modules.pop("pickle"))
import wave
print("wave" in sys.modules, loaded.loads(loaded.dumps([1])))
""", policy)
    assert result.stdout == ("True False None 3 []\nFalse True True\nFalse False False False None\n"
                             "KeyError: \"Module 'pickle' is not shown by this policy\"\nKeyError: 'pickle'\nTrue [1]\n")
    assert ("runtime", "modules", "pickle") in refusals(result)


REPLACED = {"modules": {"replace": [
    {"module": "os", "name": "kill*", "with": "refuse", "message": "os.{name}() is not allowed."},
    {"module": "os", "name": "system", "with": "refuse", "message": "os.{name}() is not allowed."},
    {"module": "wave", "name": "Error", "with": "none"},
    {"module": "textwrap", "name": "dedent", "with": "ignore"},
    {"module": "locale", "name": "setlocale", "with": "choose", "argument": "category", "values": []},
    {"module": "fnmatch", "name": "translate", "with": "choose", "values": ["a", "b"], "message": "only a and b"},
    {"module": "textwrap", "name": "TextWrapper.fill", "with": "choose", "argument": "text", "values": ["x"], "instead": "instead"},
]}}


@pytest.mark.parametrize("code, answer", [
    ("import os; tell(lambda: os.system('true'))", "PermissionError: os.system() is not allowed."),
    ("import os; tell(lambda: os.kill(1, 0))", "PermissionError: os.kill() is not allowed."),
    ("import os; tell(lambda: os.killpg(1, 0))", "PermissionError: os.killpg() is not allowed."),
    ("import os; print(os.getcwd(), os.kill.__name__)", "/output kill"),
    ("import wave; print(wave.Error)", "None"),
    ("import textwrap; print(textwrap.dedent(' a'))", "None"),
    ("import fnmatch; tell(lambda: fnmatch.translate('a')); tell(lambda: fnmatch.translate(pat='c'))",
     "'(?s:a)\\\\Z'\nPermissionError: only a and b"),
    ("import textwrap; print(textwrap.TextWrapper().fill('y'), textwrap.TextWrapper().fill(text='x'))", "instead x"),
])
def test_functions_that_the_policy_changes(base_tree, code, answer):
    """Refused, gone, of no effect, or with a choice of arguments."""
    assert run(code, REPLACED).stdout.rstrip("\n") == answer


def test_changed_functions_serve_libraries_as_ever(base_tree):
    result = run("import glob, fnmatch\nopen('q.txt', 'w').close()\nprint(glob.glob('*.txt'))", REPLACED)
    assert result.stdout == "['q.txt']\n"


# ---- files ----

ZONES = {"files": {"write": ["/output"], "read": ["/output"], "library": ["/usr/share/zoneinfo"], "risky": ["/etc", "/proc"],
                   "read_message": "not to be read: {path}", "write_message": "not to be written: {path}",
                   "risky_message": "Possible security violation detected: {path}"}}


@pytest.mark.parametrize("expression, answer", [
    ("open('/usr/lib/os-release').read()", "PermissionError: not to be read: "),
    ("open('/etc/passwd').read()", "PermissionError: Possible security violation detected: /etc/passwd"),
    ("open('/etc/absent').read()", "PermissionError: Possible security violation detected: /etc/absent"),
    ("open(b'/etc/passwd').read()", "PermissionError: Possible security violation detected: /etc/passwd"),
    ("__import__('io').open('/etc/passwd')", "PermissionError: Possible"),
    ("__import__('io').FileIO('/etc/passwd')", "PermissionError: Possible"),
    ("__import__('os').open('/etc/passwd', 0)", "PermissionError: Possible"),
    ("__import__('pathlib').Path('/etc/passwd').read_text()", "PermissionError: Possible"),
    ("__import__('codecs').open('/etc/passwd')", "PermissionError: Possible"),
    ("__import__('gzip').open('/etc/passwd').read()", "PermissionError: Possible"),
    ("__import__('shutil').copy('/etc/passwd', '/output/p')", "PermissionError: Possible"),
    ("open('../etc/passwd')", "PermissionError: Possible"),
    ("open('/output/../etc/passwd')", "PermissionError: Possible"),
    ("open('a', 'w').write('xy') + len(open('a').read())", "4"),
    ("open('/tmp/a', 'w')", "PermissionError: not to be written: /tmp/a"),
    ("open('/tmp/a', 'ab')", "PermissionError: not to be written: /tmp/a"),
    ("open('/output/../tmp/a', 'x')", "PermissionError: not to be written: /tmp/a"),
    ("__import__('os').open('/tmp/a', 66)", "PermissionError: not to be written: /tmp/a"),
    ("__import__('pathlib').Path('/tmp/a').write_text('x')", "PermissionError: not to be written: /tmp/a"),
    ("open(__import__('os').open('b', 65), 'w').write('x')", "1"),
    ("__import__('zoneinfo').ZoneInfo('Europe/Berlin').key", "'Europe/Berlin'"),
    ("__import__('inspect').getsource(hide).splitlines()[0]", "'def hide(text):'"),
    ("__import__('fractions').Fraction(1, 2)", "Fraction(1, 2)"),
])
def test_files_are_opened_in_the_zones_of_the_policy(base_tree, expression, answer):
    """By whatever way a file is opened, its real path is judged, in the policy's words."""
    assert said(expression, ZONES).startswith(answer)


def test_links_are_followed_before_a_zone_is_looked_up(base_tree):
    """A link in a zone to a file outside is outside. Programs cannot make links here; the tree has one."""
    policy = {"files": {"write": ["/etc"], "write_message": "not to be written: {path}"}}
    result = run("import os\nprint(os.path.islink('/etc/localtime'))\ntell(lambda: open('/etc/localtime', 'w'))", policy)
    assert result.stdout.startswith("True\nPermissionError: not to be written: /usr/share/zoneinfo/")


def test_links_that_a_program_made_are_followed_before_the_test(base_tree):
    """A link may lead elsewhere once it stands elsewhere: from then on what a path looks like says nothing."""
    policy = {"files": {"write": ["/tmp/in"], "write_message": "not to be written: {path}"}}
    result = run("""
import os
os.makedirs("/tmp/in/a/b")
tell(lambda: open("/tmp/in/a/file", "w").write("x"))
os.symlink("../..", "/tmp/in/a/b/link")
os.rename("/tmp/in/a/b/link", "/tmp/in/link")
tell(lambda: open("/tmp/in/link/tmp/file", "w"))
tell(lambda: os.mkdir("/tmp/in/link/tmp/folder"))
tell(lambda: open("/tmp/in/a/file", "a").write("x"))
""", policy)
    assert result.stdout.splitlines() == ["1", "PermissionError: not to be written: /tmp/file",
                                          "PermissionError: not to be written: /tmp/folder", "1"]


@pytest.mark.parametrize("path", ["/tmp/in/../out", "/tmp/./out", "//tmp/out", "/tmp/in/../in/../out", "in/../out", "./out", "out", "in2", "/tmp/in2"])
def test_a_path_is_taken_by_what_it_names_however_it_is_spelt(base_tree, path):
    policy = {"files": {"write": ["/tmp/in"], "write_message": "not to be written: {path}"}}
    result = run(f"import os\nos.mkdir('/tmp/in')\nos.chdir('/tmp')\ntell(lambda: open({path!r}, 'w'))\n"
                 "tell(lambda: open('in/file', 'w').write('x'))\nos.chdir('in')\ntell(lambda: open('file', 'a').write('x'))", policy)
    refused, *allowed = result.stdout.splitlines()
    assert refused == f"PermissionError: not to be written: /tmp/{path.rpartition('/')[2]}"
    assert allowed == ["1", "1"]


WRITES = {"files": {"write": ["/tmp"], "write_message": "not to be written: {path}"}}
PREPARED = """
import os, pathlib, shutil, sqlite3, tempfile
open("/tmp/a", "w").write("a"), os.mkdir("/tmp/d"), os.chdir("/tmp")
"""


@pytest.mark.parametrize("call, inside, outside", [
    ("pathlib.Path({}).write_text('x')", "'/tmp/n'", "'/output/n'"),
    ("pathlib.Path({}).write_bytes(b'x')", "'/tmp/n'", "'/output/n'"),
    ("pathlib.Path({}).touch()", "'/tmp/n'", "'/output/n'"),
    ("pathlib.Path({}).mkdir()", "'/tmp/n'", "'/output/n'"),
    ("pathlib.Path({}).unlink()", "'/tmp/a'", "'/output/a'"),
    ("pathlib.Path({}).rmdir()", "'/tmp/d'", "'/output/d'"),
    ("pathlib.Path({}).chmod(0o600)", "'/tmp/a'", "'/output/'"),
    ("pathlib.Path({}).symlink_to('/tmp/a')", "'/tmp/n'", "'/output/n'"),
    ("pathlib.Path({}).hardlink_to('/tmp/a')", "'/tmp/n'", "'/output/n'"),
    ("pathlib.Path('/tmp/a').rename({})", "'/tmp/n'", "'/output/n'"),
    ("pathlib.Path('/tmp/a').replace({})", "'/tmp/n'", "'/output/n'"),
    ("os.rename({}, '/tmp/n')", "'/tmp/a'", "'/output/a'"),
    ("os.link({}, '/tmp/n')", "'/tmp/a'", "'/etc/passwd'"),
    ("os.symlink({}, '/tmp/n')", "'/tmp/a'", "'/etc/passwd'"),
    ("os.symlink({}, '/tmp/n')", "'a'", "'../etc/passwd'"),
    ("open({}, 'r+')", "'a'", "'../output/a'"),
    ("open({}, 'w')", "'d/../n'", "'d/../../output/a'"),
    ("os.makedirs({})", "'/tmp/x/y'", "'/output/x/y'"),
    ("os.truncate({}, 0)", "'/tmp/a'", "'/output/'"),
    ("os.utime({})", "'/tmp/a'", "'/output'"),
    ("shutil.copy('/tmp/a', {})", "'/tmp/n'", "'/output/n'"),
    ("shutil.copy2('/tmp/a', {})", "'/tmp/n'", "'/output/n'"),
    ("shutil.copytree('/tmp/d', {})", "'/tmp/n'", "'/output/n'"),
    ("shutil.move('/tmp/a', {})", "'/tmp/n'", "'/output/n'"),
    ("shutil.rmtree({})", "'/tmp/d'", "'/output/d'"),
    ("shutil.make_archive({}, 'tar', '/tmp/d')", "'/tmp/n'", "'/output/n'"),
    ("sqlite3.connect({})", "'/tmp/n.db'", "'/output/n.db'"),
    ("sqlite3.connect({}, uri=True)", "'file:/tmp/n.db'", "'file:/output/n.db'"),
    ("tempfile.mkdtemp(dir={})", "'/tmp'", "'/output'"),
    ("os.remove('a', dir_fd=os.open({}, os.O_RDONLY))", "'/tmp'", "'/output'"),
])
def test_files_are_changed_in_the_zones_of_the_policy(base_tree, call, inside, outside):
    """Each way to change a file is let through inside the zone and refused outside, at both ends."""
    result = run(f"{PREPARED}tell(lambda: {call.format(inside)})\ntell(lambda: {call.format(outside)})", WRITES)
    first, second = result.stdout.splitlines()
    assert "Error" not in first
    assert second.startswith(f"{'OperationalError' if 'sqlite3' in call else 'PermissionError'}: not to be written: ")
    assert [rule for _, rule, _ in refusals(result)] == ["files"]


def test_a_refused_database_is_what_programs_expect_of_sqlite(base_tree):
    """Programs catch sqlite3.OperationalError, which plain Python raises, or what refusals are elsewhere."""
    works_outside("import sqlite3\ntry:\n    sqlite3.connect('/proc/none.db')\nexcept sqlite3.OperationalError as e:\n    pass")
    result = run("""
import errno, sqlite3
for expected in (sqlite3.OperationalError, sqlite3.Error, PermissionError, OSError):
    try:
        sqlite3.connect("/usr/n.db")
    except expected as error:
        print(error, type(error).__mro__[1] is sqlite3.OperationalError, error.errno == errno.EACCES)
""", None)
    assert result.stdout.splitlines() == ["Writing /usr/n.db is not allowed by this policy True True"] * 4


def test_writing_where_no_directory_is_says_where_to_write(base_tree):
    """A plain FileNotFoundError would have programs make the directory; inside the zones it is what they need to know."""
    result = run("""
for path in ("/mnt/data/result.csv", "/output/no/result.csv"):
    try:
        open(path, "w")
    except OSError as error:
        print(type(error).__name__, error)
""", None)
    assert result.stdout == ("PermissionError Writing /mnt/data/result.csv is not allowed by this policy\n"
                             "FileNotFoundError [Errno 2] No such file or directory: '/output/no/result.csv'\n")
    assert refusals(result) == [("audit", "files", "/mnt/data/result.csv")]


def test_the_working_directory_and_the_home_directory_are_zones(base_tree):
    """"." is the working directory of the moment, "~" the home directory; reads are free."""
    policy = {"files": {"write": ["."]}}
    result = run("""
import os
tell(lambda: open("a", "w").write("x"))
tell(lambda: open("/tmp/b", "w"))
os.chdir("/tmp")
tell(lambda: open("b", "w").write("x"))
tell(lambda: open("/output/a", "w"))
tell(lambda: open("/output/a").read())
""", policy)
    assert [line.split(" ")[0] for line in result.stdout.splitlines()] == ["1", "PermissionError:", "1", "PermissionError:", "'x'"]


# ---- audit events ----

@pytest.mark.parametrize("code, event", [
    ("import os; os.fork()", "os.fork"),
    ("import os; os.system('true')", "os.system"),
    ("import os; os.execv('/bin/true', ['true'])", "os.exec"),
    ("import os; os.posix_spawn('/bin/true', ['true'], {})", "os.posix_spawn"),
    ("import os; os.kill(os.getpid(), 0)", "os.kill"),
    ("import asyncio, os; asyncio.run(asyncio.create_subprocess_exec('/bin/true'))", "subprocess.Popen"),
    ("import _socket as s; s.socket(2, 1, 0)", "socket.__new__"),
    ("import _socket as s; s.getaddrinfo('example.org', 80)", "socket.getaddrinfo"),
    ("import _ctypes as c; c.dlopen('libc.so.6', 0)", "ctypes.dlopen"),
    ("import gc; gc.get_objects()", "gc.get_objects"),
    ("import marshal; marshal.loads(b'N')", "marshal.loads"),
    ("sys.settrace(None)", "sys.settrace"),
    ("sys.setprofile(None)", "sys.setprofile"),
    ("sys._getframe()", "sys._getframe"),
    ("sys._current_frames()", "sys._current_frames"),
    ("tell.__code__.replace(co_name='x')", "code.__new__"),
    ("compile('1', '/usr/lib/python3/x.py', 'exec')", "compile"),
    ("import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)", "sqlite3.enable_load_extension"),
    ("sys.audit('unheard.of')", "unheard.of"),
])
def test_effects_are_refused_by_their_audit_event(base_tree, code, event):
    """What has an effect, and what lays the interpreter open, is refused by its audit event."""
    if "load_extension" in code and not hasattr(sqlite3.Connection, "enable_load_extension"):
        pytest.skip("this build of Python was configured without extensions of SQLite, and has no such method")
    policy = {"imports": {"deny": None}, "calls": {"deny": None}, "attributes": {"deny": None}}
    result = run(f"try:\n    {code}\n    print('done')\nexcept PermissionError as error:\n    print(error, error.errno)", policy)
    assert result.stdout == f"{event} is not allowed by this policy 13\n"
    assert ("audit", "audit", event) in refusals(result)


@pytest.mark.parametrize("code", [
    "import atexit; atexit.register(os.fork)",
    "class Late:\n    def __del__(self, fork=os.fork): fork()\nlate = Late()",
    "import threading, time\nthreading.Thread(target=lambda: (threading.main_thread().join(), os.fork())).start()",
])
def test_what_the_program_leaves_for_its_end_is_guarded(base_tree, code):
    result = run("import os\n" + code)
    assert refusals(result) == [("audit", "audit", "os.fork")]


def test_hooks_of_the_program_are_not_added(base_tree):
    """sys.addaudithook swallows the refusal; the hook is not there, and the record says so."""
    assert works_outside("sys.addaudithook(lambda *a: print('seen') if a[0] == 'mine' else None)\nsys.audit('mine')") == "seen"
    policy = {"attributes": {"deny": None}, "audit": {"allow": ["mine"]}}
    result = run("sys.addaudithook(lambda *a: print('seen'))\nsys.audit('mine')", policy)
    assert result.stdout == "" and refusals(result) == [("audit", "audit", "sys.addaudithook")]


def test_a_policy_chooses_the_audit_events_that_are_refused(base_tree):
    """A policy lets events through, or refuses more of them."""
    policy = {"audit": {"allow": ["sys.set*"], "deny": ["os.list*", "time.*"]}, "attributes": {"deny": None}}
    assert said("sys.settrace(None)", policy) == "None"
    assert said("__import__('os').listdir('/')", policy) == "PermissionError: os.listdir is not allowed by this policy"


def test_what_the_kernel_allows_by_policy_the_guard_allows(base_tree):
    """Loopback sockets and forked children, with the options that give them."""
    sockets = """
import asyncio
async def serve(reader, writer):
    writer.write(await reader.read(5))
    writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"hello")
    print(await reader.read())
asyncio.run(main())
"""
    result = run(sockets, None, "--network=loopback")
    assert result.stdout == "b'hello'\n" and refusals(result) == []
    result = run("import os\nif os.fork() == 0: os._exit(3)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))", None, "--processes=fork")
    assert result.stdout == "3\n" and refusals(result) == []


def test_modules_that_need_what_the_policy_has(base_tree):
    """Modules of the deny list for which network or processes were all that was missing."""
    sockets = """
import socket
server = socket.create_server(("127.0.0.1", 0))
print(socket.create_connection(server.getsockname()).getpeername()[0])
"""
    children = """
import multiprocessing, os
context = multiprocessing.get_context("fork")
here, there = context.Pipe()
child = context.Process(target=lambda: there.send(os.getppid()))
child.start()
print(here.recv() == os.getpid())
"""
    for code, option, printed in [(sockets, "--network=loopback", "127.0.0.1\n"), (children, "--processes=fork", "True\n")]:
        assert cells.run(code).manifest["status"] == "rejected"
        result = run(code, None, option)
        assert result.stdout == printed and refusals(result) == []


def test_what_libc_does_by_itself_is_no_refusal(base_tree):
    """Looking up the user's name asks a cache of names first, over a socket."""
    result = run("import pwd\nprint(pwd.getpwuid(1000).pw_name)", None)
    assert result.stdout == "guest\n" and refusals(result) == []


def test_no_threads_start_but_those_of_asyncio(base_tree):
    """No threads but those of asyncio's executor."""
    policy = {"audit": {"threads": False}}
    assert said("__import__('threading').Thread(target=print).start()", policy) == (
        f"PermissionError: _thread.{'start_joinable_thread' if sys.version_info >= (3, 13) else 'start_new_thread'} is not allowed by this policy")
    code = """
import asyncio
async def main():
    return await asyncio.get_running_loop().run_in_executor(None, len, [1, 2])
print(asyncio.run(main()))
"""
    assert run(code, policy).stdout == "2\n"


@pytest.mark.parametrize("name, refused", [("PATH", True), ("LD_PRELOAD", True), ("PYTHONPATH", True), ("MINE", False)])
def test_variables_that_steer_other_programs_are_not_changed(base_tree, name, refused):
    """Variables that steer other programs are not changed."""
    policy = {"audit": {"env": ["PATH", "LD_*", "PYTHON*"]}}
    result = run(f"import os\ntell(lambda: os.environ.__setitem__('{name}', 'x'))\ntell(lambda: os.unsetenv('{name}'))", policy)
    expected = f"PermissionError: Changing the environment variable {name} is not allowed by this policy" if refused else "None"
    assert result.stdout.splitlines() == [expected] * 2


def test_a_refusal_names_the_event_and_the_calls_that_led_to_it(base_tree):
    """The message names the event, its arguments and the calls that led to it."""
    result = run("def inner():\n    import os\n    os.mkdir('/etc/x')\ndef outer():\n    inner()\ntell(outer)", {"audit": {"chain": True}})
    assert result.stdout.startswith("PermissionError: Writing /etc/x is not allowed by this policy [os.mkdir('/etc/x', 511, -1): "
                                    "inner (<cell>:")
    assert "< outer (<cell>:" in result.stdout


EVIL = "class Evil:\n    def __reduce__(self):\n        import {0}\n        return {0}.{1}, {2}\nimport pickle\ndata = pickle.dumps(Evil())\n"


@pytest.mark.parametrize("module, name, args", [
    ("os", "getcwd", "()"), ("builtins", "eval", "('1',)"), ("builtins", "exec", "('pass',)"), ("sys", "getsizeof", "(1,)"),
    ("operator", "attrgetter", "('real',)"), ("subprocess", "getoutput", "('true',)"),
])
def test_pickles_that_name_functions(base_tree, module, name, args):
    """Loading a pickle calls what it names."""
    data = works_outside(EVIL.format(module, name, args) + "pickle.loads(data)\nprint(data)")
    result = run(f"import pickle\ntell(lambda: pickle.loads({data}))\ntell(lambda: pickle._loads({data}))",
                 {"attributes": {"deny": None}})
    assert all(line.startswith("PermissionError: Unpickling ") for line in result.stdout.splitlines()), result.stdout


def test_pickles_of_data(base_tree):
    code = """
import pickle, copy, datetime, collections, decimal, fractions, uuid, pathlib, functools
class Own:
    def __init__(self): self.a = [1]
    def method(self): return self.a
things = [Own(), {1: {2, 3}}, datetime.datetime(2020, 1, 1), collections.OrderedDict(a=1), collections.Counter("aab"),
          decimal.Decimal("1.5"), fractions.Fraction(1, 3), uuid.UUID(int=5), pathlib.PurePath("a"), functools.partial(len, [1]),
          ValueError("x"), range(3), b"x", bytearray(b"y"), 1j, len, Own]
for protocol in range(6):
    for thing in things:
        pickle.loads(pickle.dumps(thing, protocol))
copy.deepcopy(things)
print("all")
"""
    result = run(code)
    assert result.stdout == "all\n" and refusals(result) == []


# ---- the record ----

def test_denials_are_counted_and_bounded(base_tree):
    """Each distinct refusal once, with its line and count; no more than 64 of them."""
    result = run("import os\nfor i in range(1000):\n    try: os.fork()\n    except OSError: pass\n")
    (entry,) = result.manifest["denials"]
    assert (entry["what"], entry["attested"], entry["line"]) == ("os.fork", False, 15)
    assert entry["count"] >= 512 and entry["hint"]
    result = run("import os\nfor i in range(300):\n    try: os.mkdir(f'/etc/{i}')\n    except OSError: pass\n")
    assert len(result.manifest["denials"]) == 64


def test_with_guard_off_nothing_is_in_the_way(base_tree):
    result = run("import gc, ctypes, __main__\ntell(lambda: getattr(tell, '__globals__') is globals())\n"
                 "print(type(__builtins__).__name__, len(gc.get_objects()) > 10)", None, "--guard=off")
    assert result.stdout == "True\nmodule True\n" and refusals(result) == []


# ---- guarded writes ----

UNLISTED = "PermissionError: Objects of type {} may not be changed in place under this policy"


@pytest.mark.parametrize("code, answer", [
    ("box = Box(); box.a = 1; box.a += 1; print(box.a); del box.a; print(vars(box))", "2\n{}"),
    ("d = {}; d['a'] = 1; d['a'] += 1; print(d); del d['a']; print(d)", "{'a': 2}\n{}"),
    ("l = [1, 2]; l[0] = 5; del l[1]; l[:0] = [7]; print(l)", "[7, 5]"),
    ("box = Box(); box.a, (l, *box.b) = 1, (2, 3); print(box.a, box.b)", "1 [3]"),
    ("d = {}; [None for d['k'] in (1, 2)]; print(d)", "{'k': 2}"),
    ("box = Box(); box.a: int = 4; print(box.a)", "4"),
    ("import types; n = types.SimpleNamespace(); n.a = 1; print(n.a)", "1"),
    ("Box.a = 1; print(Box.a)", "1"),
    ("Box().f = len", "PermissionError: Attribute 'f' may not be set to something callable under this policy"),
    ("setattr(Box(), 'f', len)", "PermissionError: Attribute 'f' may not be set to something callable under this policy"),
    ("import string; setattr(string, 'digits', '')", UNLISTED.format("module")),
    ("import string; delattr(string, 'digits')", UNLISTED.format("module")),
    ("box = Box(); setattr(box, 'a', 1); print(box.a); delattr(box, 'a'); print(hasattr(box, 'a'))", "1\nFalse"),
    ("b = bytearray(b'xy'); b[0] = 65; del b[1]; print(b)", "bytearray(b'A')"),
    ("globals()['x'] = 1", "PermissionError: A namespace with '__builtins__' may not be changed under this policy"),
    ("import string; string.digits = ''", UNLISTED.format("module")),
    ("[None for sys.path in '1']", UNLISTED.format("module")),
    ("exec('import string; string.digits = 5')", "PermissionError: Code that is made at run time is not allowed by this policy"),
    ("compile('1', 'x', 'eval')", "PermissionError: Code that is made at run time is not allowed by this policy"),
])
def test_objects_are_changed_in_place_as_the_policy_allows(base_tree, code, answer):
    """What may be changed in place, and what may be put where."""
    policy = {"code": {"writes": "guarded", "write_types": ["dict", "list", "types.SimpleNamespace"]}}
    result = run(f"class Box: pass\ntry:\n    {code}\nexcept PermissionError as error:\n    print('PermissionError: ' + str(error))", policy)
    assert result.stdout.rstrip("\n") == answer


def test_guarded_writes_say_what_to_do_instead(base_tree):
    policy = {"code": {"writes": "guarded", "write_types": ["dict"]}}
    result = run("x = [1]\ntry:\n    x[0] = 2\nexcept PermissionError: pass", policy)
    (denial,) = result.manifest["denials"]
    assert "Make a new object" in denial["hint"], denial


@pytest.mark.parametrize("write, hint", [
    (["/output", "/tmp"], "Write results below /output or /tmp."),
    (["/output"], "Write results below /output."),
    ([], "Write only into directories that may be changed (--dir); results can be the program's value."),
])
def test_hints_do_not_send_a_program_where_it_may_not_write(base_tree, write, hint):
    result = run("try: open('/usr/x', 'w')\nexcept PermissionError: pass", {"files": {"write": write}})
    (denial,) = result.manifest["denials"]
    assert denial["hint"] == hint, denial


def test_a_warning_says_that_more_was_refused_than_is_listed(base_tree):
    attempt = "for i in range(%d):\n    try: open(f'/usr/{i}', 'w')\n    except PermissionError: pass"
    all_listed, too_many = run(attempt % 64).manifest, run(attempt % 65).manifest
    assert len(all_listed["denials"]) == len(too_many["denials"]) == 64
    assert all_listed["warnings"] == [] and too_many["warnings"] == ["more was refused than is listed under denials"]


# ---- all else works ----

def test_ordinary_programs_meet_no_refusal(base_tree):
    """Libraries use what programs may not: frames, exec, threads, files of their own."""
    code = '''
import abc, argparse, ast, asyncio, base64, bisect, calendar, cmath, codecs, collections, concurrent.futures, configparser, contextlib
import copy, csv, dataclasses, datetime, decimal, difflib, enum, fnmatch, fractions, functools, glob, gzip, hashlib, heapq, html, inspect
import io, ipaddress, itertools, json, locale, logging, math, operator, os, pathlib, pickle, platform, pprint, queue, random, re, sched
import secrets, shelve, shlex, shutil, sqlite3, statistics, string, struct, tarfile, tempfile, textwrap, threading, time, timeit
import tokenize, traceback, types, typing, unicodedata, unittest, uuid, warnings, weakref, xml.etree.ElementTree, zipfile, zlib, zoneinfo

def double(x):
    """
    >>> double(2)
    4
    """
    return 2 * x

Pair = collections.namedtuple("Pair", "a b")
class Typed(typing.NamedTuple):
    a: int = 1
class Colour(enum.Enum):
    RED = 1
@dataclasses.dataclass(order=True)
class Item:
    name: str
    parts: list = dataclasses.field(default_factory=list)
@functools.singledispatch
def shown(x): return "any"
@shown.register
def _(x: int): return "int"
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

print(Pair(1, 2), Typed(), Colour.RED, Item("a"), shown(1), shown(""), inspect.signature(double), inspect.getsource(double)[:10])
logging.basicConfig(filename="/tmp/log", level=logging.INFO)
logging.info("text")
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "a", "b")
    path.mkdir(parents=True)
    (path / "x.txt").write_text("hi")
    shutil.copytree(folder + "/a", folder + "/c")
    shutil.make_archive("/tmp/packed", "zip", folder)
    shutil.unpack_archive("/tmp/packed.zip", folder + "/again")
    shutil.move(folder + "/c", folder + "/d")
    os.replace(path / "x.txt", path / "y.txt")
    print(len(glob.glob(folder + "/**", recursive=True)), [len(files) for _, _, files in os.walk(folder)].count(1))
    shutil.rmtree(folder + "/d")
    with gzip.open(path / "z.gz", "wt") as file: file.write("z" * 9)
    with tarfile.open(path / "t.tar", "w") as tar: tar.add(path / "y.txt", "y")
    with shelve.open(str(path / "shelf")) as shelf: shelf["k"] = [1]
    with sqlite3.connect(path / "db.sqlite") as db: print(db.execute("select 1 + 1").fetchone())
with tempfile.NamedTemporaryFile("w+") as file: file.write("x")
with concurrent.futures.ThreadPoolExecutor(2) as pool: print(list(pool.map(double, [1, 2])))
thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
async def main():
    await asyncio.sleep(0)
    return await asyncio.gather(asyncio.to_thread(double, 4), asyncio.sleep(0, 5))
print(asyncio.run(main()))
try: 1 / 0
except ZeroDivisionError: print(traceback.format_exc().splitlines()[0])
print(eval("a + 1", {"a": 1}), ast.literal_eval("[1]"), timeit.timeit("1", number=1) > 0, re.sub("a", "b", "aa"))
exec("def made(): return 3")
print(made(), uuid.uuid4().version, platform.system(), len(secrets.token_hex(4)), zoneinfo.ZoneInfo("UTC"))
print(getattr(double, "__name__"), hasattr(double, "x"), vars(Item("q")), "double" in dir(), type(Item).__name__, callable(double))
class Case(unittest.TestCase):
    def test(self):
        with self.assertRaises(ValueError): int("x")
print(unittest.TextTestRunner(io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(Case)).testsRun)
import doctest
print(doctest.testmod())
print(input is not None, open("STDLIB/this.py").readline()[:5], len(os.listdir("STDLIB")) > 9, os.path.exists("/etc"))
'''.replace("STDLIB", cells.STDLIB)
    result = run(code)
    assert refusals(result) == [] and result.stderr == "", result
    assert result.stdout == run(code, None, "--guard=off").stdout


def test_scientific_programs_meet_no_refusal(scientific):
    """The libraries' own ways (ctypes, pickles, threads, caches) are open to them."""
    code = '''
import numpy as np, pandas as pd, matplotlib.pyplot as plt, scipy.stats, scipy.optimize, statsmodels.api as sm, seaborn as sns
import plotly.express as px, joblib, sklearn.ensemble, sklearn.linear_model, PIL.Image
df = pd.DataFrame({"a": np.arange(20.), "b": np.arange(20.) ** 2, "c": list("xy") * 10})
df.to_csv("/output/a.csv"); df.to_pickle("/tmp/p.pkl"); df.to_json("/tmp/j.json")
print(pd.read_csv("/output/a.csv").shape, pd.read_pickle("/tmp/p.pkl").equals(df), pd.read_json("/tmp/j.json").shape)
print(df.query("a > 3 and b < 100").shape, df.eval("a + b").sum(), pd.eval("1 + 2"), df.groupby("c").agg("mean").shape)
fig, ax = plt.subplots(); ax.plot(df.a, df.b); fig.savefig("/output/f.png"); fig.savefig("/tmp/f.pdf"); plt.close(fig)
sns.lineplot(data=df, x="a", y="b"); plt.close("all")
model = sklearn.ensemble.RandomForestRegressor(n_estimators=5, n_jobs=2, random_state=0).fit(df[["a"]], df.b)
joblib.dump(model, "/tmp/m.joblib")
print(joblib.load("/tmp/m.joblib").predict(pd.DataFrame({"a": [1.]})).shape, sm.OLS(df.b, sm.add_constant(df.a)).fit().params.round(2).tolist())
px.line(df, x="a", y="b").write_html("/output/f.html")
np.save("/tmp/n.npy", df.a.values); np.savez("/tmp/n.npz", a=df.a.values)
print(np.load("/tmp/n.npy", mmap_mode="r").sum(), np.load("/tmp/n.npz")["a"].sum(), scipy.optimize.minimize(lambda x: (x - 1) ** 2, 0.).x.round(3))
print(pd.Timestamp("2020-01-01", tz="Europe/Berlin"), PIL.Image.open("/output/f.png").size)
'''
    options = ("--memory=1G", "--timeout=60s")
    result = run(code, None, *options, tree="scientific")
    assert refusals(result) == [], result
    assert result.stdout == run(code, None, "--guard=off", *options, tree="scientific").stdout


PANDAS = {"modules": {"replace": [
    {"module": "pandas", "name": "eval", "with": "refuse", "message": "pandas.eval() is not allowed."},
    {"module": "pandas", "name": "DataFrame.query", "with": "choose", "argument": "parser", "values": ["pandas"], "instead": "pandas"},
    {"module": "numpy", "name": "ctypeslib", "with": "none"},
    {"module": "matplotlib.pyplot", "name": "switch_backend", "with": "choose", "argument": "newbackend", "values": ["agg"],
     "message": "Not this backend."},
    {"module": "matplotlib.pyplot", "name": "ion", "with": "ignore"},
]}}


def test_functions_of_libraries_that_the_policy_changes(scientific):
    """The functions of pandas and matplotlib are changed for the program and serve pandas as before."""
    result = run("""
import numpy, pandas as pd, matplotlib.pyplot as plt
df = pd.DataFrame({"a": [1, 2, 3]})
tell(lambda: pd.eval("1"))
tell(lambda: int(df.eval("a + 1").sum()))
tell(lambda: len(df.query("a > 1")))
tell(lambda: len(df.query("a > 1", parser="python")))
tell(lambda: len(df.query("a > 1 and a < 3", parser="python")))
print(numpy.ctypeslib, plt.ion(), plt.isinteractive())
tell(lambda: plt.switch_backend("agg"))
tell(lambda: plt.switch_backend(newbackend="tkagg"))
""", PANDAS, "--memory=1G", "--timeout=60s", tree="scientific")
    assert result.stdout.splitlines() == ["PermissionError: pandas.eval() is not allowed.", "9", "2", "2", "1", "None None False", "None",
                                          "PermissionError: Not this backend."]
