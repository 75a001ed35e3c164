"""What the policy denies is not reached by a way round: as another module's attribute, by a function that looks names up for
its caller, by a loader. The guard is no wall: these refusals come early and say what to do instead.
"""
import importlib.util
import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import cells
import pytest

PYTHON = sys.executable
POLICIES = Path(__file__).resolve().parents[2] / "policies"
NUMPY = importlib.util.find_spec("numpy")
NUMPY_HIDES = NUMPY is not None and Path(NUMPY.origin).with_name("lib").joinpath("_npyio_impl.py").exists()


def run(code, policy="default", tree="base", *options):
    result = cells.run(code, "--memory=1G", "--timeout=120s", *options, policy=policy, tree=tree)
    assert result.manifest["status"] == "ok", result.stderr
    return result


def numpys_own(code):
    """Replaces OWN_NAME by the module NAME of numpy's own, which numpy 2 calls _NAME_impl."""
    return re.sub(r"\bOWN_(\w+)", r"_\1_impl" if NUMPY_HIDES else r"\1", code)


def outside(code):
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def scientific():
    if cells.hotcell("tree", "path", "scientific").returncode != 0:
        cells.skip("the tree scientific is not built: run 'hotcell tree build scientific'")


# ---- one by one ----

TELL = """
def tell(text):
    space = {}
    try:
        exec(text, space)
        print("reached", space["it"])
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""
SOCKET = "ImportError: Import of 'socket' is not allowed"
CTYPES = "ImportError: Import of 'ctypes' is not allowed"
NATIVE = "ImportError: Import of '_ctypes' is not allowed"

WAYS = {
    "attribute": ("import asyncio.base_events as b; it = b.socket", SOCKET),
    "from": ("from asyncio.base_events import socket as it", SOCKET),
    "getattr": ("import asyncio.base_events as b; it = getattr(b, 'soc' + 'ket', None)", SOCKET),
    "attrgetter": ("import operator, asyncio; it = operator.attrgetter('base_events.socket')(asyncio)", SOCKET),
    "dict": ("import asyncio.base_events as b; it = b.__dict__['socket']", "KeyError: 'socket'"),
    "vars": ("import asyncio.base_events as b; it = vars(b)['socket']", "KeyError: 'socket'"),
    "members": ("import inspect, asyncio.base_events as b; it = dict(inspect.getmembers(b))['socket']", "KeyError: 'socket'"),
    "globals of a function": ("import inspect; it = dict(inspect.getmembers(lambda: 0))['__globals__']", "KeyError: '__globals__'"),
    "static attribute": ("import inspect; it = inspect.getattr_static(lambda: 0, '__glo' + 'bals__').__name__ or 1", "AttributeError: "),
    "module of": ("import inspect, asyncio.base_events as b; it = inspect.getmodule(b.BaseEventLoop.getaddrinfo).socket", SOCKET),
    "resolve_name": ("import pkgutil; it = pkgutil.resolve_name('socket')", SOCKET),
    "resolve_name of an object": ("import pkgutil; it = pkgutil.resolve_name('socket:socket')", SOCKET),
    "resolve_name in another": ("import pkgutil; it = pkgutil.resolve_name('asyncio.base_events:socket')", SOCKET),
    "locate": ("import pydoc; it = pydoc.locate('socket')", SOCKET),
    "locate by name": ("import pydoc; it = pydoc.locate(path='socket')", SOCKET),
    "locate in another": ("import pydoc; it = pydoc.locate('asyncio.base_events.socket')", SOCKET),
    "resolve": ("import pydoc; it = pydoc.resolve('socket')", SOCKET),
    "run_module": ("import runpy; it = runpy.run_module('http.client')['socket']", "ImportError: Import of 'http.client' is not"),
    "run_path": (f"import runpy; it = runpy.run_path('{cells.STDLIB}/ctypes/__init__.py')['memmove']", CTYPES),
    "modules": ("import sys, asyncio; it = sys.modules['soc' + 'ket']", "KeyError: "),
    "from sys": ("from sys import modules; import asyncio; it = modules['socket']", "KeyError: "),
    "values of modules": ("import sys, asyncio; it = {m.__name__: m for m in sys.modules.values()}['socket']", "KeyError: "),
    "extension's loader": ("import importlib.machinery as m, importlib.util as u; p = m.PathFinder.find_spec('_ctypes').origin;"
                           "it = m.ExtensionFileLoader('_ctypes', p).load_module()", NATIVE),
    "extension's spec": ("import importlib.util as u; it = u.module_from_spec(u.find_spec('_ctypes'))", NATIVE),
    "module's spec": ("import importlib.util as u; s = u.find_spec('ctypes'); it = u.module_from_spec(s); s.loader.exec_module(it)", CTYPES),
    "source under another name": ("from importlib.machinery import SourceFileLoader as L;"
                                  f"it = L('harmless', '{cells.STDLIB}/ctypes/__init__.py').load_module()", CTYPES),
}
SCIENTIFIC_WAYS = {
    "numpy's ctypes": ("import numpy as np; it = np.core._internal.ctypes", CTYPES),
    "ctypeslib": ("import numpy as np; it = np.ctypeslib", "ImportError: Import of 'numpy.ctypeslib' is not allowed"),
    "an array's ctypes": ("import numpy as np; it = getattr(np.arange(3).ctypes, '_cty' + 'pes')", "AttributeError: "),
    "matplotlib": ("import matplotlib; it = matplotlib.subprocess", "ImportError: Import of 'subprocess' is not allowed"),
    "formula": ("from patsy.eval import EvalEnvironment; it = EvalEnvironment.capture(0).eval(\"__import__('socket')\")", SOCKET),
}


@pytest.fixture(scope="module")
def refused(base_tree):
    program = TELL + "".join(f"tell({way!r})\n" for way, _ in WAYS.values())
    return dict(zip(WAYS, run(program).stdout.splitlines(), strict=True))


@pytest.mark.parametrize("name", WAYS)
def test_a_denied_module_is_not_reached_by_another_way(refused, name):
    way, answer = WAYS[name]
    outside(f"{way}\nassert it".replace(cells.STDLIB, sysconfig.get_path("stdlib")))
    assert refused[name].startswith(answer)


def test_a_denied_module_is_not_reached_through_libraries(scientific):
    for way, _ in SCIENTIFIC_WAYS.values():
        outside(f"{way}\nassert it")
    program = TELL + "".join(f"tell({way!r})\n" for way, _ in SCIENTIFIC_WAYS.values())
    said = run(program, tree="scientific").stdout.splitlines()
    for line, (way, answer) in zip(said, SCIENTIFIC_WAYS.values(), strict=True):
        assert line.startswith(answer), way


@pytest.mark.parametrize("way, name", [("pd.io.common.os", "os"), (numpys_own("np.lib.OWN_npyio.os"), "os"), ("json.codecs.sys.modules", "sys"),
                                       ("re.enum.sys.modules", "sys")])
def test_a_policy_that_lists_modules_does_not_give_others_through_them(scientific, way, name):
    outside(f"import json, re, numpy as np, pandas as pd\n{way}")
    result = run(f"import json, re\ntry:\n    {way}\nexcept ImportError as error:\n    print(error)", "analysis", "scientific")
    assert result.stdout == f"Import not allowed: {name}\n"
    assert [(d["layer"], d["rule"], d["what"]) for d in result.manifest["denials"]] == [("runtime", "imports", name)]
    assert result.manifest["denials"][0]["hint"]


def test_what_a_refused_module_is_asked_for_often_stays_refused(base_tree):
    """The interpreter remembers where in a module it found a name once code has run often."""
    result = run("""
import asyncio.base_events as events
reached = 0
def again():
    global reached
    for _ in range(100):
        try:
            events.socket
            reached += 1
        except ImportError:
            pass
again()
again()
print(reached)
""")
    assert result.stdout == "0\n"


def test_what_is_asked_for_the_first_time_in_code_that_has_run_often_is_refused(base_tree):
    """The interpreter adapts an instruction when it runs first, if the code around it has run often."""
    result = run("""
import asyncio.base_events as events
for _ in range(100):
    pass
try:
    print(events.socket)
except ImportError as error:
    print(error)
def often():
    for _ in range(100):
        pass
    return events.socket
try:
    print(often())
except ImportError as error:
    print(error)
""")
    assert result.stdout == "Import of 'socket' is not allowed by this policy\n" * 2


# ---- a denied module itself, however the program came by it: nothing in it is given ----

HELD = """
import asyncio.base_events as b, importlib.util, inspect, logging.config, operator, string, sys, types, typing
from functools import partial
from unittest import mock
def held(): return inspect.getclosurevars(b.BaseEventLoop.getaddrinfo).globals["socket"]
def temporary():
    patch = mock.patch("asyncio.base_events.socket")
    patch.start()
    try:
        return patch.temp_original
    finally:
        patch.stop()
def hinted(x: "socket"): pass
def hinted_inside(x: "socket.socket"): pass
def renamed():
    module = held()
    module.__name__ = "harmless"
    return module
def mine():
    sys.modules["mine"] = held()
    try:
        from mine import socket
        return socket
    finally:
        del sys.modules["mine"]
def second():
    spec = importlib.util.find_spec("inspect")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
def often():
    for module in [types] * 50 + [held()] * 50:
        try:
            return module.socket
        except (ImportError, AttributeError):
            pass
    raise ImportError("never")
def tell(make):
    try:
        print("reached", make())
    except (ImportError, AttributeError, KeyError, NameError, TypeError, ValueError) as error:
        print("refused", error)
"""
INSIDE_HELD = [
    "held().socket", "getattr(held(), 'socket')", "getattr(held(), 'socket', None) or 1", "partial(getattr, held())('socket')",
    "list(map(lambda module: module.socket, [held()]))", "vars(held())['socket']", "held().__dict__['socket']", "renamed().socket", "mine()",
    "types.ModuleType.__dict__['__dict__'].__get__(held())['socket']", "dict(inspect.getmembers(held()))['socket']",
    "operator.attrgetter('socket')(held())", "mock.patch.object(held(), 'socket').get_original()[0]", "often()",
    "inspect.getattr_static(b, 'socket')", "inspect.getattr_static(held(), 'socket')", "importlib.reload(inspect).getattr_static(b, 'socket')",
    "second().getattr_static(second().getattr_static(b, 'socket'), 'socket')", "string.Formatter().get_field('0.socket.socket', (b,), {})",
    "string.Formatter().format('{0.socket.socket}', b)", "logging.config.BaseConfigurator({}).resolve('socket').socket",
    "logging.config.BaseConfigurator({}).resolve('asyncio.base_events.socket')",
    "logging.config.BaseConfigurator({}).convert('ext://socket.socket')", "temporary().socket",
    "mock.patch('asyncio.base_events.socket').get_original()[0].socket", "typing.get_type_hints(hinted, vars(b), {})['x'].socket",
    "typing.get_type_hints(hinted_inside, vars(b), {})", "inspect.get_annotations(hinted, globals=b.__dict__, eval_str=True)['x'].socket",
    "inspect.get_annotations(hinted_inside, globals=b.__dict__, eval_str=True)",
    "b.__dict__['__built' + 'ins__']['__import__']('socket').socket"]


def test_what_is_in_a_denied_module_is_not_given_however_it_was_come_by(base_tree):
    for way in INSIDE_HELD:  # each in a fresh interpreter: some change what the next would find
        outside(f"{HELD}assert {way}")
    said = run(HELD + "".join(f"tell(lambda: {way})\n" for way in INSIDE_HELD)).stdout.splitlines()
    answers = dict(zip(INSIDE_HELD, said, strict=True))
    assert {way: line for way, line in answers.items() if not line.startswith("refused")} == {}


def test_a_denied_module_that_is_held_does_no_harm_to_what_goes_through_all(base_tree):
    program = HELD + """
import pickle
print(isinstance(held(), int), held().__name__, repr(held())[:16], inspect.getmodule(tell) is sys.modules["__main__"])
print(inspect.getsourcefile(b.BaseEventLoop), hasattr(held(), "socket"), pickle.loads(pickle.dumps(operator.add))(1, 2))
"""
    assert run(program).stdout.splitlines() == ["False socket <module 'socket' True", f"{cells.STDLIB}/asyncio/base_events.py False 3"]


# ---- what must go on working ----

def test_what_libraries_do_for_themselves_and_what_is_not_denied_stays(base_tree):
    result = run("""
import sys, inspect, asyncio, asyncio.base_events as events, unittest.mock, types, pydoc
print(hasattr(events, "socket"), "socket" in sys.modules, "asyncio" in sys.modules, len(sys.modules) > 50)
print(asyncio.run(asyncio.sleep(0, "slept")), sys.modules["asyncio"] is asyncio, sys.modules[__name__].__name__)
print(len(inspect.getmembers(events)) > 20, events.__dict__["BaseEventLoop"] is events.BaseEventLoop)
asyncio.__dict__["mark"] = 1
print(asyncio.mark)
from asyncio.base_events import *
sys.modules["made"] = types.ModuleType("made")
import made
print(made is sys.modules.pop("made"), "made" in sys.modules)
with unittest.mock.patch.dict(sys.modules, {"made": made}):
    import made as again
    print(again is made)
print("made" in sys.modules, pydoc.locate("asyncio.sleep") is asyncio.sleep)
with unittest.mock.patch.dict("sys.modules", {"made": made}):
    import made as again
    print(again is made)
print(len(pydoc.render_doc(events)) > 1000)
""")
    assert result.stdout.splitlines() == ["False False True True", "slept True __main__", "True True", "1", "True False", "True", "False True",
                                          "True", "True"]
    assert result.manifest["denials"] == []


def test_learning_a_policy_hides_nothing_and_notes_what_was_reached(base_tree, tmp_path):
    program = tmp_path / "trusted.py"
    program.write_text("import asyncio.base_events as b, sys\nprint(b.socket.__name__, hasattr(b, 'socket'), 'socket' in sys.modules)\n")
    done = cells.hotcell("policy", "learn", "-t", "base", str(program))
    assert done.returncode == 0 and "socket True True" in done.stderr, done.stderr
    learned = json.loads(done.stdout)["imports"]["deny"]
    assert "socket" not in learned and "ctypes" in learned


# ---- the class: every module that can be imported ----

SCAN = """
import importlib, sys, types, warnings
warnings.simplefilter("ignore")
LIBRARIES = ["numpy", "numpy.testing", "numpy.lib.npyio", "pandas", "pandas.testing", "scipy.stats", "scipy.optimize", "scipy.io",
             "matplotlib.pyplot", "matplotlib.animation", "seaborn", "statsmodels.api", "statsmodels.formula.api", "sklearn.ensemble",
             "sklearn.datasets", "plotly.express", "plotly.io", "patsy", "PIL.Image"]
SKIPPED = {"antigravity", "this", "idlelib", "turtle", "turtledemo", "tkinter", "lib2to3", "ensurepip", "venv", "test"}
for name in [*sorted(sys.stdlib_module_names - SKIPPED), *LIBRARIES]:
    try:
        importlib.import_module(name)
    except Exception:
        pass
"""
LIST = SCAN + """
import json
found = []
for holder, module in list(sys.modules.items()):
    for name, value in list(getattr(module, "__dict__", {}).items()):
        if isinstance(value, types.ModuleType):
            found.append((holder, name, value.__name__))
print(json.dumps(found))
"""
ASK = SCAN + """
ways = WAYS
reached = []
for holder, name, target in ways:
    module = sys.modules.get(holder)
    try:
        if module is not None:
            reached.append((holder, name, target, getattr(module, name).__name__))
    except Exception:  # ImportError; some policies have no such name
        pass
print(len(ways), reached)
"""


def denied(policy, name):
    deny = json.loads((POLICIES / f"{policy}.json").read_text())["imports"]["deny"]
    return any(name == one or name.startswith(f"{one}.") for one in deny)


@pytest.fixture(scope="module")
def attributes(scientific):
    """Every attribute of every module that is a module: (module, attribute, the other's name)."""
    return json.loads(run(LIST, "none", "scientific", "--stdout-size=16M").stdout.splitlines()[-1])


@pytest.mark.parametrize("policy", ["default", "charts"])
def test_no_module_of_the_tree_gives_one_that_the_policy_denies(attributes, policy):
    ways = [way for way in attributes if denied(policy, way[2])]
    assert len(ways) > 30
    result = run(ASK.replace("WAYS", repr(ways)), policy, "scientific")
    assert result.stdout.splitlines()[-1] == f"{len(ways)} []"


# ---- the built-in functions are the ones that libraries compare and replace ----

def test_what_is_pickled_by_reference_finds_the_program_s_built_in_functions(base_tree):
    program = """
import copy, functools, pickle
class Box:
    def value(self): return 5
same = lambda thing: pickle.loads(pickle.dumps(thing))
print(same((1).__add__)(2), same(Box().value)(), same(str.upper)("a"), same((1).__lt__)(2), same([1].append)(2))
print(same(functools.partial((1).__add__, 3))(), same(dict.fromkeys)("a"), copy.deepcopy(Box().value)())
print(pickle._loads(pickle._dumps((1).__add__))(2), same(len) is len)
"""
    assert run(program).stdout == outside(program)


def test_figures_and_models_are_pickled(scientific):
    result = run("""
import pickle
import joblib, matplotlib.pyplot as plt, numpy as np
from sklearn.ensemble import RandomForestClassifier
figure, axes = plt.subplots()
axes.plot([1, 2], label="a")
axes.legend()
copy = pickle.loads(pickle.dumps(figure))
print(len(copy.axes[0].lines), pickle.loads(pickle.dumps(np.arange(3).sum))())
joblib.dump(RandomForestClassifier(3, random_state=1).fit([[1], [2]], [0, 1]), "/tmp/model")
print(joblib.load("/tmp/model").n_estimators)
""", tree="scientific")
    assert result.stdout == "1 3\n3\n"


def test_mock_patch_takes_effect_and_ends(base_tree):
    program = """
import io, os
from unittest import mock
with mock.patch("builtins.print") as printed:
    print("hidden")
print(printed.call_count)
with mock.patch("builtins.open", mock.mock_open(read_data="text")):
    print(open("/nowhere").read())
@mock.patch("builtins.input", side_effect=["a", "b"])
@mock.patch("os.path.exists", return_value=True)
def ask(exists, answers):
    return input(), input(), os.path.exists("/nowhere")
print(ask())
with mock.patch("sys.stdout", new_callable=io.StringIO) as shown:
    print("hidden too")
print(repr(shown.getvalue()))
patcher = mock.patch("builtins.round", return_value=7)
patcher.start()
print(round(1.2))
patcher.stop()
print(round(1.2), open.__name__)
"""
    assert run(program).stdout == outside(program)
    denied = run("try:\n    input()\nexcept PermissionError as error:\n    print(error)", {"builtins": {"refuse": ["input"]}})
    assert denied.stdout == "input() has nobody to talk to here\n"


# ---- memory that is not the program's ----

STRIDES = """
import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view
a = np.arange(12, dtype=np.int64)
def tell(make):
    try:
        print(make())
    except PermissionError as error:
        print("refused", str(error)[:13])
"""
INSIDE = ["as_strided(a, (10, 3), (8, 8)).sum()", "as_strided(a[2:], (5,), (16,)).tolist()", "as_strided(a[::-1], (12,), (-8,)).tolist()",
          "as_strided(a[4:8], (2, 2), (8, 8), writeable=False).tolist()", "as_strided([1, 2, 3], (2, 2), (8, 8)).tolist()",
          "as_strided(as_strided(a, (3, 4), (32, 8)), (2, 2), (32, 8)).tolist()", "as_strided(a, (1000, 12), (0, 8)).shape",
          "as_strided(a, (0, 99999), (8, 8)).shape", "as_strided(np.matrix(a), (2, 2), (8, 8), subok=True).tolist()",
          "as_strided(np.array(['2020-01-01', '2021-01-01'], 'M8[D]'), (2, 1), (8, 8)).shape",
          "sliding_window_view(a, 3).sum()", "np.lib.stride_tricks.sliding_window_view(a.reshape(3, 4), (2, 2)).shape",
          "np.broadcast_to(a, (2, 12)).sum()", "a.__array_interface__['shape'], a.ctypes.data > 0"]
BEYOND = ["as_strided(a, (13,), (8,)).size", "as_strided(a, (2,), (-8,)).size", "as_strided(a[11:], (2,), (8,)).size",
          "as_strided(a, (2,), (1 << 40,)).size", "as_strided([1, 2], (3,), (8,)).size", "as_strided(a[:1], (2, 2), (96, -8)).size",
          "as_strided(as_strided(a, (3,), (8,)), (13,), (8,)).size", "np.lib.OWN_index_tricks.as_strided(a, (13,), (8,)).size",
          "as_strided(np.array(5), (2,), (8,)).size", "np.asarray(np.lib.OWN_stride_tricks.DummyArray(dict(a.__array_interface__))).size"]


def test_as_strided_stays_within_the_array(scientific):
    """Honest programs use it for windows; any other memory of the process was in its reach."""
    program = numpys_own(STRIDES + "".join(f"tell(lambda: ({make}))\n" for make in INSIDE + BEYOND))
    plain = outside(program).splitlines()
    result = run(program, tree="scientific")
    said = result.stdout.splitlines()
    assert said[:len(INSIDE)] == plain[:len(INSIDE)]
    assert not any("refused" in line for line in plain), "does not work in plain Python"
    assert [line.split()[0] for line in said[len(INSIDE):]] == ["refused"] * len(BEYOND), dict(zip(BEYOND, said[len(INSIDE):], strict=True))
    assert {entry["what"] for entry in result.manifest["denials"]} >= {"numpy.lib.stride_tricks.as_strided"}


WHERE = "{'shape': (1,), 'typestr': '<i8', 'data': (4096, False), 'version': 3}"


@pytest.mark.parametrize("program", [
    f"class A:\n    __array_interface__ = {WHERE}", "class A:\n    @property\n    def __array_interface__(self): return {}",
    f"class A: pass\na = A()\na.__array_interface__ = {WHERE}", f"A = type('A', (), {{'__array_interface__': {WHERE}}})",
    f"import types\na = types.SimpleNamespace(__array_interface__={WHERE})", "class A:\n    def __array_struct__(self): return 1"])
def test_no_object_of_the_program_says_where_its_memory_is(base_tree, program):
    outside(program)
    result = cells.run(program, policy="default", tree="base")
    assert result.manifest["status"] == "rejected", result
    assert "__array_" in result.manifest["reason"] and "np.array(values)" in result.stderr


def test_setattr_gives_no_such_attribute_either(base_tree):
    result = run("""
class A: pass
try:
    setattr(A, "__array_" + "interface__", {})
except AttributeError as error:
    print(error)
""")
    assert result.stdout == "Access to '__array_interface__' is not allowed by this policy\n"


MEMORY = """
import dataclasses, importlib, types
from unittest import mock
import numpy as np
import scipy._lib._ccallback_c
from PIL import Image
NAME = "__array_" + "interface__"
a = np.arange(5)
WHERE = {"shape": (1,), "typestr": "<i8", "data": (a.__array_interface__["data"][0] + 8, False), "version": 3}
def told(**change): return types.SimpleNamespace(**{NAME: {**WHERE, **change}})
def with_dict():
    made = types.SimpleNamespace()
    made.__dict__[NAME] = WHERE
    return made
def with_locals():
    class Made:
        locals()[NAME] = WHERE
    return Made()
class Asked:
    def __getattr__(self, name):
        if name == NAME:
            return WHERE
        raise AttributeError(name)
class Changing(int):
    def __index__(self): return 1 << 20
def second():
    spec = importlib.util.spec_from_file_location("harmless", np.lib.OWN_stride_tricks.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.as_strided
def tell(make):
    try:
        print("reached", make())
    except (PermissionError, AttributeError) as error:
        print("refused", error)
"""
NUMBERS = ["np.asarray(type('A', (), {NAME: WHERE})())", "np.asarray(with_dict())", "np.sum(told())", "np.asarray(with_locals())",
           "np.array(Asked())", "np.asarray(dataclasses.make_dataclass('A', [(NAME, dict, WHERE['shape'])])(WHERE))",
           "np.asarray(mock.NonCallableMock(spec=[NAME], **{NAME: WHERE}))", "np.asarray(told(data=b'12345678', offset=8))",
           "np.asarray(told(data=b'12345678', shape=(2,)))", "np.asarray(told(data=b'12345678', shape=(Changing(1),))).shape",
           "np.asarray(told(data=b'12345678', strides=(8,), shape=(2,)))", "np.asarray(told(data=b'12345678', typestr='<i4,<i8'))",
           "importlib.reload(np.lib.OWN_stride_tricks).as_strided(a, (6,), (8,)).size", "second()(a, (6,), (8,)).size",
           "np.apply_along_axis(second(), 0, a, (6,), (8,)).size",
           "type(np.random.PCG64().ctypes.next_double)(4096)", "a.ctypes.data_as(type(a.ctypes._data))",
           "type(a.ctypes.shape)(1)", "type(a.ctypes._data)(4096)", "a.ctypes.shape_as(type(a.ctypes.shape)._type_)",
           "type('A', (type(a.ctypes._data).__mro__[-3],), {'_type_': 'z'})(4096) is not None",
           "scipy._lib._ccallback_c.get_raw_capsule(4096, 'double (double)', 0)"]
HONEST = ["a.ctypes.data > 0, list(a.ctypes.shape), a.ctypes.strides[0]", "np.asarray(told(data=b'12345678')).tolist()", "np.asarray(told(data=b'ab', typestr='|S1', shape=(2,))).tolist()",
          "second()(a, (2, 2), (8, 8)).sum()", "np.asarray(Image.new('RGB', (3, 2))).shape", "np.asarray(Image.new('1', (9, 2))).shape",
          "np.asarray(Image.new('I;16', (3, 2))).dtype", "np.lib.stride_tricks.as_strided(np.zeros(3, 'i4,f8'), (2,), (12,)).shape",
          "scipy.integrate.odeint(lambda y, t: -y, 1, [0, 1]).shape"]


def test_no_number_of_the_program_s_becomes_an_address(scientific):
    """Whatever the object is made of, and by whichever copy of a function: it is judged where it is used."""
    program = numpys_own(MEMORY + "import scipy.integrate\n" + "".join(f"tell(lambda: ({make}))\n" for make in HONEST + NUMBERS))
    plain = outside(program).splitlines()
    assert all(line.startswith("reached") for line in plain)
    said = run(program, tree="scientific").stdout.splitlines()
    assert said[:len(HONEST)] == plain[:len(HONEST)]
    refusals = dict(zip(NUMBERS, said[len(HONEST):], strict=True))
    assert {make: line for make, line in refusals.items() if not line.startswith("refused")} == {}
