"""What code of RunPython has of the caller's namespace: the value itself where it can be carried, else a stand-in whose every use
is asked of the caller, and a Desk that is asked by a hostile program."""

import asyncio
import collections
import copy
import datetime
import decimal
import inspect
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import types
import urllib.request
from pathlib import Path

import cells
import pytest
from runners import fresh  # noqa: F401

import hotcell
from hotcell import values
from hotcell.adapters import RunPython, notebook, standins
from hotcell.adapters import allow as registry
from hotcell.adapters.allow import AllowPolicy, allow

BOUNDS = {"tree": "base", "timeout": 10 * cells.SLOWNESS}


@pytest.fixture(name="ask", params=[False, True], ids=["one cell each", "session"])
def runner_of_both_kinds(request):
    """Runs code in a namespace, in a cell of its own or in a session."""
    made = []

    def ask(code, g, **options):
        runner = RunPython(g=g, session=request.param, **{**BOUNDS, **options})
        made.append(runner)
        return asyncio.run(runner(code))
    yield ask
    for runner in made:
        runner.close()


class Shop:
    """Sells tea."""

    def __init__(self, name="corner"):
        self.name, self.secret, self.log = name, "the till's code", []

    def price(self, thing, *, times=1):
        """In cents."""
        return {"tea": 250}[thing] * times

    def sell(self, thing):
        self.log.append(thing)

    async def deliver(self, thing):
        await asyncio.sleep(0)
        return f"{thing} from {self.name}"

    @classmethod
    def named(cls, name):
        return cls(name)

    @property
    def stock(self):
        self.log.append("counted")
        return 3

    def __len__(self):
        return 7

    def __getitem__(self, key):
        return key * 2


@pytest.fixture(name="shop")
def one_shop():
    return Shop()


@pytest.fixture(name="module")
def module_of_the_callers(monkeypatch):
    module = types.ModuleType("shop_tools", "Of the caller's alone.")
    exec("RATE = 3\ndef double(x): return x * 2\ndef wipe(): raise AssertionError('ran')\nclass Own:\n    def n(self): return 1", vars(module))
    monkeypatch.setitem(sys.modules, "shop_tools", module)
    return module


# ---- values ----

CARRIED = [(1, (2, "x")), b"x\0y", bytearray(b"x"), {1, 2}, frozenset({1, 2}), datetime.date(2020, 2, 29), datetime.timedelta(hours=1),
           datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc), decimal.Decimal("1.10"), 1j, float("inf"), {1: 2, None: (3,)},
           [(1, 2), {"a": b"b"}], Path("a/b"), types.SimpleNamespace(a=(1, 2))]


@pytest.mark.parametrize("value", CARRIED, ids=repr)
def test_values_go_in_and_come_back_as_they_are(ask, value):
    g = {"value": value}
    back = ask("again_ = value\n[type(value).__name__, value]", g)
    assert back == [type(value).__name__, value] and type(back[1]) is type(value)
    assert g["again_"] == value and type(g["again_"]) is type(value)


def test_what_code_changes_in_place_is_the_callers_object(ask):
    g = {"o": types.SimpleNamespace(x=1), "several": {1: [1], 2: [2]}, "found": {1}, "items": [1]}
    before = dict(g)
    assert ask("d = {}\nd['x'] = 1\no.x = 2\nseveral[1] += [5]\nfound.add(2)\nitems.append(3)\nd['x'], o.x", g) == (1, 2)
    assert all(g[name] is value for name, value in before.items())
    assert (g["o"].x, g["several"], g["found"], g["items"]) == (2, {1: [1, 5], 2: [2]}, {1, 2}, [1, 3])
    ask("items = items + [4]", g)
    assert g["items"] == [1, 3, 4] and before["items"] == [1, 3]


def test_the_cell_has_what_libraries_have(ask):
    """Classes, functions and modules that the cell has itself are the cell's own."""
    g = {"Path": Path, "Counter": collections.Counter, "os": os, "join": os.path.join, "compiled": re.compile, "re": re, "date": datetime.date}
    assert ask("Path().exists()", g) is True
    assert ask("os.path.join('/foo', 'bar', 'baz.py')", g) == "/foo/bar/baz.py" == ask("join('/foo', 'bar', 'baz.py')", g)
    assert ask("[Counter('aab')['a'], isinstance(Path(), Path), date(2020, 1, 2)]", g) == [2, True, datetime.date(2020, 1, 2)]
    assert ask("compiled('a', re.I)", g) == re.compile("a", re.I)
    assert ask("[os.path.exists('/etc/shadow'), Path('/etc/shadow').exists()]", g) == [False, False]  # of the cell, not of this host


COLLECTIONS = [
    (collections.Counter("aab"), "value['z'] += 1", {"a": 2, "b": 1, "z": 1}), (collections.Counter({(1, 2): 3}), "value[(1, 2)] += 1", {(1, 2): 4}),
    (collections.OrderedDict(b=1, a=2), "value.move_to_end('b')", {"a": 2, "b": 1}),
    (collections.defaultdict(list, {"a": [1]}), "value['b'].append(2)", {"a": [1], "b": [2]}),
    (collections.deque([1, 2], 3), "value.extend([(3,), 4])", [2, (3,), 4]),
]


@pytest.mark.parametrize(("value", "change", "after"), COLLECTIONS, ids=lambda each: type(each).__name__)
def test_containers_of_the_module_collections_keep_their_type(ask, value, change, after):
    """S3.10: code finds the methods, and what it changes is changed in the caller's object, whose type stays."""
    value = copy.copy(value)
    g = {"value": value, "within": [value]}
    assert ask(f"{change}\n[type(value).__name__, type(within[0]).__name__]", g) == [type(value).__name__] * 2
    assert g["value"] is value and (list(value) if isinstance(value, collections.deque) else dict(value)) == after
    assert list(value) == list(after) and ask("value", g) == value


def test_a_dict_or_list_of_a_class_of_the_callers_keeps_its_class(ask):
    class Table(dict):
        def update(self, *others): raise AssertionError("ran")

    class Row(list):
        def __setitem__(self, key, value): raise AssertionError("ran")
    table, row, counted = Table(a=1), Row([1]), collections.defaultdict(lambda: 1, a=2)
    g = {"table": table, "row": row, "counted": counted}
    ask("table['b'] = 2\nrow.append(2)\ncounted['a'] = 3", g)
    assert (g["table"], g["row"], g["counted"]) == ({"a": 1, "b": 2}, [1, 2], {"a": 3})
    assert g["table"] is table and g["row"] is row and g["counted"] is counted


def test_exceptions_of_the_namespace_go_in(ask):
    """S3.1: such as those that asyncio.gather has returned."""
    class Own(ValueError):
        def __str__(self): return "in its own words"
    g = {"found": [1, ValueError("x"), KeyError("k"), OSError(2, "gone", "f"), UnicodeDecodeError("utf-8", b"x", 0, 1, "bad")], "own": Own("y"), "Own": Own}
    assert ask("[type(each).__name__ for each in found], [str(each) for each in found[1:]]", g) == (
        ["int", "ValueError", "KeyError", "FileNotFoundError", "UnicodeDecodeError"], [str(each) for each in g["found"][1:]])
    assert ask("try: raise own\nexcept Own as error: text = [isinstance(error, ValueError), error.args]\ntext", g) == [True, ("y",)]
    with pytest.raises(ValueError, match="y") as caught:
        ask("raise own", g)
    assert caught.value.cell_type == "Own"


# ---- stand-ins ----

def test_methods_that_are_functions_of_a_library_are_the_cells_own(ask):
    """random.choice and its like are methods of one object of their module."""
    assert ask("[choice([7]), isinstance(uniform(0, 1), float)]", {"choice": random.choice, "uniform": random.uniform}) == [7, True]


def test_what_a_library_defines_in_a_private_module_is_known_by_its_public_name(monkeypatch):
    """Python 3.13 defines Path in pathlib._local; code, policies and cells know it as pathlib.Path."""
    outer, inner = types.ModuleType("outer_of_test"), types.ModuleType("outer_of_test._inner")
    outer.Place = inner.Place = type("Place", (), {"__module__": inner.__name__, "method": lambda self: 1})
    inner.Hidden = type("Hidden", (), {"__module__": inner.__name__})
    for module in (outer, inner):
        module.__file__ = "/usr/lib/python3/dist-packages/outer.py"
        monkeypatch.setitem(sys.modules, module.__name__, module)
    assert standins._place(outer.Place) == ("outer_of_test", "Place")
    assert standins._place(inner.Hidden) == ("outer_of_test._inner", "Hidden")
    registry.allow_write({"outer_of_test.Place.method": notebook.PosAllowPolicy(0, "to")})
    assert registry.policies_for(outer.Place, "method") and registry.type_name(outer.Place) == "outer_of_test.Place"


def test_libraries_are_known_in_python_39_too(monkeypatch):
    monkeypatch.delattr(sys, "stdlib_module_names")
    assert all(map(standins.is_library, (sys, json, math))) and not standins.is_library(sys.modules[__name__])


def test_methods_that_are_allowed_are_called_in_the_callers_process(ask, shop):
    g = {"shop": shop, "Shop": Shop}
    for code in ("shop.price('tea')", "shop.sell('tea')", "shop.named('x')", "Shop.named('x')", "Shop()", "len(shop)", "shop[1]", "shop.name",
                 "shop.stock", "shop.secret", "shop.name = 'x'", "shop.other"):
        with pytest.raises((PermissionError, TypeError), match="not allowed|may not be changed"):
            ask(code, g)
    assert shop.log == []
    allow(Shop.price)
    allow({Shop: ["sell", "deliver", "named", "stock", "__len__", "__getitem__"]})
    assert ask("[shop.price('tea', times=2), shop.price.__doc__, await shop.deliver('tea')]", g) == [500, "In cents.", "tea from corner"]
    assert ask("shop.sell('tea')\n[shop.stock, len(shop), shop[(1,)]]", g) == [3, 7, (1, 1)] and shop.log == ["tea", "counted"]
    assert ask("Shop.named('other').price('tea')", g) == 250
    with pytest.raises(KeyError) as caught:
        ask("shop.price('gold')", g)
    assert caught.value.args == ("gold",)
    with pytest.raises(PermissionError, match="secret is not allowed"):
        ask("shop.secret", g)
    registry.allow_write_types(Shop)
    ask("shop.name = 'other'", g)
    assert shop.name == "other"
    with pytest.raises(PermissionError, match="callable"):
        ask("shop.price = len", g)


def test_stand_ins_are_told_apart_and_come_back_as_themselves(ask, shop):
    class Other(Shop):
        pass
    other, seen = Other("other"), []

    def look(one, several=()): seen.append((one, several))

    def find(): return other
    allow(look, find)
    g = {"shop": shop, "Shop": Shop, "Other": Other, "other": other, "look": look, "find": find, "both": [shop, other]}
    assert ask("[isinstance(Shop, type), isinstance(shop, type), isinstance(shop, Shop), isinstance(other, Shop), isinstance(shop, Other)]", g) == \
        [True, False, True, True, False]
    ask("look(shop, several=(other, both[0], find()))\nlook(int)", g)
    assert seen == [(shop, (other, shop, other)), (int, ())]
    with pytest.raises(PermissionError, match="Shop is not allowed as an argument"):
        ask("look(Shop)", g)
    assert ask("shop", g) is shop and ask("find()", g) is other
    allow(Shop)
    assert type(ask("Shop('new')", g)) is Shop
    with pytest.raises(TypeError, match="cannot be sent to the caller"):
        ask("look(lambda: 1)", g)
    with pytest.raises(TypeError, match="inherited"):
        ask("class Mine(Shop): pass\nMine()", g)


def test_objects_come_back_under_new_names(ask, shop):
    def find(): return shop
    allow(find)
    g = {"find": find, "shop": Shop("another"), "keep": print}
    ask("mine = find()\nother_, keep = mine, mine\nshop = find()\n_hidden = mine", g)
    assert g["mine"] is shop is g["other_"] is g["shop"] and g["keep"] is print and "_hidden" not in g


REBIND = """
import inspect
inside = lambda f: inspect.getclosurevars(f).globals
made = inside(inside(inside(wipe)["ask"])["result"])["made"]
forged = lambda to: inside(made)["makers"]["object"]({"class": {"key": 77, "name": "Z", "bases": []}, "to": to})
clean_, later, new, other_, third_ = forged({"name": "wipe"}), forged({"name": "wipe"}), forged({"name": "wipe"}), forged({"name": "Shop"}), shop
fourth_, fifth_ = forged({"name": "os"}), forged({"name": "box"})
"""


def test_code_cannot_bind_an_allowed_name_to_another_function(ask, shop):
    """What comes back under such a name would be called as what was allowed."""
    ran = []

    def wipe(path): ran.append(path)
    def clean_(path): return "clean " + path
    g = {"wipe": wipe, "clean_": clean_, "shop": shop, "Shop": Shop, "os": os, "box": collections.deque([wipe])}
    desk = standins.Desk(lambda: {**g, "clean_": wipe}, ())
    allow("clean_", "later")
    desk.begin(registry.registry_state())
    assert "value" in hostile(desk, "call", {"name": "clean_"}, None, ["x"]) and ran == ["x"]  # what the code tries works without a rule
    before = dict(g)
    with pytest.warns(UserWarning, match="did not come back"):
        ask(REBIND, g)
    assert {name: value for name, value in g.items() if name != "third_"} == before and g["third_"] is shop
    assert ask("clean_('a')", g) == "clean a"
    ask("clean_ = 5\nlater = 6", g)
    assert g["clean_"] is clean_ and "later" not in g
    for code in ("clean_('a')", "later('b')", "wipe('q')"):
        try:
            ask(code, g)
        except (PermissionError, NameError):
            pass
    assert ran == ["x"]


def test_modules_of_the_caller(ask, module):
    g = {"tools": module, "shop_tools": module}
    with pytest.raises(PermissionError, match="RATE is not allowed"):
        ask("shop_tools.RATE", g)
    with pytest.raises(PermissionError, match="double is not allowed"):
        ask("shop_tools.double(2)", g)
    with pytest.raises(PermissionError, match="may not be changed in place"):
        ask("shop_tools.RATE = 5", g)
    allow({module: ["double", "RATE"], module.Own: ["n", "__init__"]})
    assert ask("[shop_tools.double(2), shop_tools.RATE, tools.double('x'), shop_tools.Own().n()]", g) == [4, 3, "xx", 1]
    for code in ("shop_tools.wipe()", "shop_tools.__builtins__", "shop_tools._private"):
        with pytest.raises((PermissionError, AttributeError)):
            ask(code, g)


def test_functions_of_libraries_that_reach_out_are_the_callers(ask, tmp_path):
    g = {"subprocess": subprocess, "os": os, "pathlib": pathlib, "Path": Path}
    with pytest.raises(PermissionError):
        ask("subprocess.run(['echo', 'hi'])", g)
    allow({subprocess: ["run"], os: ["getpid"]})
    assert ask("[subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout, os.getpid(), os.sep]", g) == ["hi\n", os.getpid(), "/"]

    class Extensions(AllowPolicy):
        def __call__(self, obj, args, kwargs, ok_dests):
            notebook.chk_dest(obj, ok_dests)
            if obj.suffix != ".csv":
                raise PermissionError(f"{obj.suffix!r} not allowed")
    allow({Path: [("write_text", Extensions())]})
    place = str(tmp_path / "own")
    os.mkdir(place)
    assert ask(f"(Path({place!r}) / 'x.csv').write_text('hello')", g, ok_dests=[place]) == 5
    assert (tmp_path / "own" / "x.csv").read_text() == "hello"
    for name, why in (("own/x.sh", "'.sh' not allowed"), ("x.csv", "not allowed; permitted"), ("own/../x.csv", "not allowed; permitted")):
        with pytest.raises(PermissionError, match=why):
            ask(f"Path({str(tmp_path / name)!r}).write_text('bad')", g, ok_dests=[place])
    assert [path.name for path in tmp_path.rglob("*.*")] == ["x.csv"]


PATHS = """
import asyncio, pathlib
from pathlib import Path as P
found = [p.exists(), p.read_text(), P({place!r}).exists(), pathlib.Path({place!r}).exists(), (P({folder!r}) / 'f.txt').exists(), P.exists(p),
         several[0].exists(), await asyncio.to_thread(p.exists), getattr(p, 'exists')(), list(map(P.exists, several)), P.cwd(),
         [q.name for q in p.parent.iterdir()], p.stat().st_size, isinstance(p, P), type(p) is type(P()), p.with_suffix('.csv').name]
found
"""


def test_methods_of_paths_that_are_allowed_are_the_callers(ask, tmp_path):
    """S3.16: for every path that code has, however it came by it; what libraries in the cell do with paths stays there."""
    p = tmp_path / "f.txt"
    p.write_text("of the caller's")
    g = {"p": p, "several": [p]}
    code = PATHS.format(place=str(p), folder=str(tmp_path))
    assert ask("p.exists()", g) is False  # the cell does not see it
    allow({Path: ["exists", "read_text", "iterdir", "cwd", "stat"]})
    assert ask(code, g) == [True, "of the caller's", True, True, True, True, True, True, True, [True], Path.cwd(), ["f.txt"], 15, True, True, "f.csv"]
    assert ask("p.exists()", {"p": Path("f.txt")}) is True  # from the caller's directory
    assert ask("import shutil, os\n[os.path.exists(p), shutil.which(p), p.is_file()]", {"p": p}) == [False, None, False]
    with pytest.raises(FileNotFoundError):
        ask("p.read_bytes()", g)
    registry.__pytools__.clear()
    assert ask("p.exists()", g) is False


def test_a_method_of_one_path_is_that_paths_alone(ask, tmp_path):
    """S3.16: code has an equal path, and no other one's method."""
    (tmp_path / "f.txt").write_text("x")
    allow({tmp_path / "f.txt": ["exists"]})
    g = {"mine": tmp_path / "f.txt", "other": tmp_path / "g.txt"}
    assert ask("mine.exists()", g) is True
    with pytest.raises(PermissionError, match="exists is not allowed"):
        ask("other.exists()", g)


def test_writing_methods_of_paths_ask_their_policies(ask, tmp_path):
    """S3.16, S3.18: with a policy on ok_dests the file is written there, and nowhere else."""
    own = tmp_path / "own"
    own.mkdir()
    allow({Path: [("write_text", notebook.PathWritePolicy()), "read_text"]})
    g = {"inside": own / "x.txt", "outside": tmp_path / "y.txt"}
    assert ask("inside.write_text('hello')\ninside.read_text()", g, ok_dests=[str(own)]) == "hello"
    assert (own / "x.txt").read_text() == "hello"
    with pytest.raises(PermissionError, match="not allowed; permitted"):
        ask("outside.write_text('hello')", g, ok_dests=[str(own)])
    assert not (tmp_path / "y.txt").exists()


def test_data_of_a_class_that_is_allowed_can_be_read(ask):
    """S3.16: plain data alone; a class of which only methods were allowed shows none."""
    class Rates:
        LIMIT, NAMES, NOTHING, _hidden, call = 3, ["a"], None, 5, print
        Inner = type("Inner", (), {})

        def method(self): raise AssertionError("ran")

        @property
        def counted(self): raise AssertionError("ran")

        @staticmethod
        def static(): raise AssertionError("ran")
    g = {"Rates": Rates}
    allow({Rates: ["method"]})
    with pytest.raises(PermissionError, match="LIMIT is not allowed"):
        ask("Rates.LIMIT", g)
    registry.__pytools__.clear()
    allow(Rates)
    assert ask("[Rates.LIMIT, Rates.NAMES, Rates.NOTHING, Rates().LIMIT]", g) == [3, ["a"], None, 3]
    for name in ("method", "counted", "static()", "Inner", "call", "missing", "_hidden"):
        with pytest.raises(PermissionError, match="not allowed"):
            ask(f"Rates.{name}", g)
    with pytest.raises(PermissionError, match="may not be changed in place"):
        ask("Rates.LIMIT = 4", g)
    assert Rates.LIMIT == 3


def test_names_that_a_cell_uses_itself_are_the_callers(ask):
    def double(x): return 2 * x
    allow(double)
    g = {"double": double, "tools": ["hammer"], "ToolError": {"a": 1}, "warnings": (1,), "hotcell": "cold", "json": 5}
    assert ask("tools.append(double(2))\n[tools, ToolError, warnings, hotcell, json]", g) == [["hammer", 4], {"a": 1}, (1,), "cold", 5]
    assert g["tools"] == ["hammer", 4]
    assert ask("[warnings, tools]", {**g, "warnings": "none"}) == ["none", ["hammer", 4]]


def test_what_allowed_calls_return(ask):
    class Found:
        def __init__(self):
            self.text, self.inner, self._private = "plain", Shop(), 1

        @property
        def more(self):
            raise AssertionError("ran")

        def method(self):
            raise AssertionError("ran")

    def find(): return Found()
    def numbers(): yield from range(3)
    allow(find, numbers)
    g = {"find": find, "numbers": numbers}
    assert ask("[find().text, list(numbers()), sum(n for n in numbers())]", g) == ["plain", [0, 1, 2], 3]
    for name in ("inner", "more", "method", "missing"):
        with pytest.raises(PermissionError, match=f"{name} is not allowed"):
            ask(f"find().{name}", g)


def test_asynchronous_generators_of_the_callers(ask):
    """S3.5: code iterates over what an allowed call returns as over its own; the steps run in the caller's event loop."""
    loops = []

    async def ticks(count):
        for n in range(count):
            await asyncio.sleep(0)
            loops.append(asyncio.get_running_loop())
            yield n
        if count > 3:
            raise ValueError("too many")
    allow(ticks)
    g = {"ticks": ticks}
    assert ask("found = []\nasync for n in ticks(3):\n    found.append(n)\n[found, [n async for n in ticks(2)]]", g) == [[0, 1, 2], [0, 1]]
    with pytest.raises(ValueError, match="too many"):
        ask("[n async for n in ticks(4)]", g)
    with pytest.raises(TypeError, match="not an iterator of an allowed call"):
        ask("[n async for n in other]", {"other": Shop()})
    assert len(loops) == 9


def test_texts_are_names_too(ask):
    def greet(name): return f"Hello, {name}!"
    allow("greet", "numpy.array", "Shop.price")
    assert ask("greet('World')", {"greet": greet}) == "Hello, World!"
    assert ask("shop.price('tea')", {"shop": Shop()}) == 250
    with pytest.raises(PermissionError, match="other is not allowed"):
        ask("other('World')", {"other": greet})


def test_sources_can_be_read_and_not_run(ask):
    def plain(): return undefined  # noqa: F821
    text = inspect.getsource(plain).strip()
    g = {"plain": plain, "inspect": inspect}
    assert ask("inspect.getsource(plain)", g).strip() == text
    with pytest.raises(PermissionError, match="plain is not allowed"):
        ask("plain()", g)


# ---- a registry that changes while code runs ----

def _more(): allow(os.system)
def _types(): registry.allow_write_types(Shop)
def _data(): registry.set_data(ok_urls=["evil.example"])
def _fewer(): registry.__pytools__.clear()


@pytest.mark.parametrize("change", [_more, _types, _data, _fewer])
def test_a_tool_that_changes_the_rules(ask, change):
    """The run fails, leaves nothing, and calls nothing of the caller's any more."""
    ran = []

    def wipe(): ran.append(1)
    allow(change, wipe)
    g = {"change": change, "wipe": wipe}
    try:
        with pytest.raises(PermissionError, match="sandbox policy changed during execution"):
            ask("change()\nx = 1\ntry: wipe()\nexcept PermissionError: pass", g)
    finally:
        registry.set_data()
    assert "x" not in g and not ran


# ---- a hostile program ----

def hostile(desk, what="call", to=None, name=None, args=(), kwargs=None):
    """The answer to a message that a program has written itself."""
    return desk.answer(what, to, name, list(args), kwargs or {})


@pytest.fixture(name="desk")
def desk_of_a_shop(shop):
    allow({Shop: ["price"]})
    desk = standins.Desk(lambda: {"shop": shop, "Shop": Shop, "text": "x", "_own": shop, "os": os, "greedy": print}, ())
    desk.begin(registry.registry_state())
    assert hostile(desk, "call", {"name": "shop"}, "price", ["tea"]) == {"value": 250}
    return desk


ATTACK = """
import gc
shop  # gives the code its tool
tool = next(each for each in gc.get_objects() if type(each).__name__ == "Tool" and getattr(each, "__name__", "") == "hotcell_call")
def ask(what, to, name=None, *args): return tool(what=what, to=to, name=name, args=list(args), kwargs={})
attempts = [
    ("call", {"name": "os"}, "system", "touch reached"), ("call", {"name": "run"}, None, ["touch", "reached"]),
    ("call", {"name": "shop"}, "sell", "tea"), ("get", {"name": "shop"}, "__class__"), ("get", {"name": "shop"}, "secret"),
    ("call", {"name": "shop"}, "__init__", "other"), ("set", {"name": "shop"}, "name", "other"), ("get", {"name": "os"}, "environ"),
    ("call", {"id": 7}), ("call", {"name": "__builtins__"}, "eval", "1"), ("call", {"name": "Shop"}, "price", {"$namespace": {}}, "tea"),
]
[ask("call", {"name": "shop"}, "price", "tea"), [ask(*attempt) for attempt in attempts]]
"""


def test_a_program_that_has_the_tool_itself(ask, shop, tmp_path):
    """With the guard off, code finds the tool by which its stand-ins ask. What it could do with it is shown by what is allowed."""
    allow({Shop: ["price"]})
    g = {"shop": shop, "Shop": Shop, "os": os, "run": subprocess.run}
    allowed, refused = ask(ATTACK, g, policy="none")
    assert allowed == {"value": 250}
    assert [answer["raised"][0] for answer in refused] == ["PermissionError"] * 10 + ["TypeError"]
    assert not (tmp_path / "reached").exists() and shop.log == [] and shop.name == "corner"


ARGUMENTS = """
import inspect
ask = inspect.getclosurevars(wipe).globals["ask"]
attempts = [
    lambda: apply_all(wipe, [1]), lambda: ask("get", {"name": "helpers"}, "subprocess"), lambda: apply_all(helpers.wipe, [1]),
    lambda: apply_all(Shop, ["new"]), lambda: apply_all(type, [1]),
    lambda: ask("call", {"name": "apply_all"}, None, [{"fn": wipe}["fn"], [1]]), lambda: apply_all(fn=wipe, items=[1]),
    lambda: apply_all([{"fn": wipe}], [1]),
]
refused = []
for attempt in attempts:
    try: refused.append(attempt())
    except Exception as error: refused.append([type(error).__name__, str(error)])
refused
"""


def test_a_program_cannot_have_the_callers_code_called_for_it(ask, module):
    """An allowed function that calls its argument would call it without a policy."""
    ran = []

    def apply_all(fn, items): return [fn(item) for item in items]
    def wipe(path): ran.append(path)
    assert apply_all(wipe, [1]) == [None] and ran.pop() == 1  # what the code tries works without a rule
    module.subprocess, module.wipe = subprocess, wipe
    allow(apply_all)
    g = {"apply_all": apply_all, "wipe": wipe, "helpers": module, "Shop": Shop}
    refused = ask(ARGUMENTS, g)
    assert [kind for kind, _ in refused] == ["PermissionError"] * 8 and not ran, refused
    assert refused[0][1].startswith("wipe is not allowed as an argument: the caller has to allow it")


def test_what_is_allowed_asks_its_own_policies_as_an_argument(ask, shop):
    def apply_all(fn, items): return [fn(item) for item in items]

    def double(x): return 2 * x

    class Small(AllowPolicy):
        def __call__(self, obj, args, kwargs, ok_dests):
            if args[0] > 5:
                raise PermissionError(f"{args[0]} is too large")
    allow(apply_all)
    allow(double, allow_policy=Small())
    allow({Shop: ["price"]})
    g = {"apply_all": apply_all, "double": double, "shop": shop, "Shop": Shop}
    assert ask("[apply_all(double, [1, 5]), apply_all(shop.price, ['tea']), apply_all(str, [1])]", g) == [[2, 10], [250], ["1"]]
    for code, why in (("apply_all(double, [1, 6])", "6 is too large"), ("apply_all(shop.sell, ['tea'])", "sell is not allowed")):
        with pytest.raises(PermissionError, match=why):
            ask(code, g)
    with pytest.raises(TypeError, match="its first argument is one"):
        ask("apply_all(Shop.price, ['tea'])", g)
    assert shop.log == []


def test_containers_of_functions_are_no_arguments():
    """What comes back as a reference is the caller's own object, with all that is in it."""
    def first(items): return next(iter(items))()
    def wipe(): raise AssertionError("ran")
    inside = [1, {"a": (wipe,)}]
    inside.append(inside)
    space = {"first": first, "plain": [lambda: 1], "deep": inside, "loop": [1], "own": collections.deque([os]),
             "made": collections.defaultdict(lambda: wipe), "names": types.SimpleNamespace(a=wipe), "many": list(range(200000))}
    space["loop"].append(space["loop"])
    allow(first)
    desk = standins.Desk(lambda: space, ())
    desk.begin(registry.registry_state())
    for name in ("plain", "deep", "own", "made", "names", "many"):
        assert hostile(desk, "call", {"name": "first"}, None, [{"$other": {"name": name}}])["raised"][0] == "PermissionError", name
        with pytest.raises(PermissionError):
            desk.object_of({"name": name})
    assert hostile(desk, "call", {"name": "first"}, None, [{"$other": {"name": "loop"}}])["raised"][0] == "TypeError"
    assert desk.object_of({"name": "loop"}) is space["loop"]


def test_modules_within_modules(module, monkeypatch):
    """Of what a module has imported, and of its submodules, code gets those in which something is allowed."""
    inner, other = types.ModuleType("shop_tools.inner"), types.ModuleType("shop_tools.other")
    vars(inner)["double"], vars(inner)["SECRET"] = (lambda x: 2 * x), "s"
    monkeypatch.setitem(sys.modules, "shop_tools.inner", inner)
    module.inner, module.other, module.os, module.reach = inner, other, os, os
    desk = standins.Desk(lambda: {"tools": module}, ())

    def got(name):
        desk.begin(registry.registry_state())
        answer = hostile(desk, "get", {"name": "tools"}, name)
        return "value" in answer or answer["raised"][0]
    assert [got(name) for name in ("inner", "other", "os")] == ["PermissionError"] * 3
    allow({module: [...]})
    vars(module)["__getattr__"] = lambda name: {"lazy": os}[name]
    assert module.lazy is os
    assert [got(name) for name in ("inner", "other", "os", "lazy")] == ["PermissionError"] * 4
    allow({"shop_tools.inner": ["double"], module: ["reach"]})
    assert [got(name) for name in ("inner", "other", "os", "reach")] == [True, "PermissionError", "PermissionError", True]
    to = hostile(desk, "get", {"name": "tools"}, "reach")["value"]["$other"]["to"]
    for name in ("system", "environ", "sep"):
        assert hostile(desk, "get", to, name).get("raised", [""])[0] == "PermissionError" or name == "system"
    assert hostile(desk, "call", to, "system", ["true"])["raised"][0] == "PermissionError"


def test_methods_do_not_let_code_make_objects(ask, shop):
    """What an allowed method does depends on the object, which code could otherwise make for any place."""
    g = {"shop": shop, "Shop": Shop}

    class Corners(AllowPolicy):
        def __call__(self, obj, args, kwargs, ok_dests):
            if args != ("corner",):
                raise PermissionError("only a corner shop")

    class Branch(Shop):
        pass
    assert Shop("any").price("tea") == 250  # what the code tries works without a rule
    allow({Shop: ["price"]})
    for code in ("Shop('any').price('tea')", "type(shop)('any').price('tea')"):
        with pytest.raises((PermissionError, TypeError), match="Shop is not allowed|inherited"):
            ask(code, g)
    assert ask("shop.price('tea')", g) == 250
    allow({Shop: [("__init__", Corners())]})
    assert ask("Shop('corner').price('tea')", g) == 250
    with pytest.raises(PermissionError, match="only a corner shop"):
        ask("Shop('any').price('tea')", g)
    with pytest.raises(PermissionError, match="Branch is not allowed"):
        ask("Branch('corner').price('tea')", {"Branch": Branch})
    allow({Branch: [...]})
    with pytest.raises(PermissionError, match="__init__|_private"):
        ask("branch.__init__('other')", {"branch": Branch("mine")})


def test_open_takes_no_opener(tmp_path):
    """An opener decides what is opened, whatever the path says."""
    def opener(path, flags): return os.open(tmp_path / "secret", os.O_RDONLY)
    (tmp_path / "secret").write_text("s")
    with open("/dev/null", opener=opener, encoding="utf-8") as file:
        assert file.read() == "s"
    for args, kwargs in ((["x"], {"opener": opener}), (["x", "r", -1, None, None, None, True, opener], {})):
        with pytest.raises(PermissionError, match="opener"):
            registry.OpenWritePolicy()(None, args, kwargs, ["/tmp"])


OPTIONS = [("to_string", {"formatters": ["run"]}), ("to_json", {"default_handler": "run"}), ("to_csv", {"float_format": "run"}),
           ("to_html", {"formatters": {"a": "run"}}), ("to_csv", {"columns": ("run",)}), ("to_xml", {"stylesheet": "/etc/passwd"}),
           ("to_parquet", {"partition_cols": ["a"]}), ("to_parquet", {"filesystem": "x"}), ("to_excel", {"engine_kwargs": {"options": {"tmpdir": "/etc"}}}),
           ("to_csv", {"storage_options": {"a": 1}}), ("to_csv", {"compression": {"method": "tar", "fileobj": 1}})]


def _with(value, fn):
    """The value, with a function in place of the text "run"."""
    if isinstance(value, dict):
        return {key: _with(each, fn) for key, each in value.items()}
    return type(value)(_with(each, fn) for each in value) if isinstance(value, (list, tuple)) else fn if value == "run" else value


def test_writers_of_frames_take_data_alone(tmp_path):
    """Their options can be functions, which pandas would call, or other places."""
    pandas = pytest.importorskip("pandas")
    ran = []

    def run(value): return str(ran.append(value))
    frame = pandas.DataFrame({"a": ["x"]})
    frame.to_string(formatters=[run])
    assert ran == ["x"]  # what the code tries works without a rule
    notebook.allow_pandas()
    allow(run)  # not even what is allowed
    desk = standins.Desk(lambda: {"frame": frame, "run": run}, (str(tmp_path),))
    desk.begin(registry.registry_state())
    for writer, options in OPTIONS:
        sent = _with(options, {"$other": {"name": "run"}})
        sent = {key: {"$tuple": list(value)} if isinstance(value, tuple) else value for key, value in sent.items()}
        answer = hostile(desk, "call", {"name": "frame"}, writer, [str(tmp_path / "x")], sent)
        assert answer["raised"][0] == "PermissionError" and "not allowed" in answer["raised"][1], answer
    for writer, args in (("to_csv", [str(tmp_path / "x"), ","]), ("to_hdf", [str(tmp_path / "x"), "key"]), ("to_csv", ["file:/etc/x"])):
        assert hostile(desk, "call", {"name": "frame"}, writer, args)["raised"][0] == "PermissionError"
    assert ran == ["x"] and not os.listdir(tmp_path)
    plain = hostile(desk, "call", {"name": "frame"}, "to_csv", [], {"index": False, "columns": ["a"], "sep": ";"})
    assert plain == {"value": "a\nx\n"}


def test_drawing_writes_below_the_destinations_alone_and_loads_nothing(tmp_path, monkeypatch):
    plt = cells.need_module("matplotlib.pyplot")
    plt.switch_backend("agg")
    (tmp_path / "own").mkdir()
    (tmp_path / "evil_backend.py").write_text("import pathlib\npathlib.Path(__file__).with_name('loaded').touch()\nfrom matplotlib.backends.backend_agg import *")
    monkeypatch.syspath_prepend(str(tmp_path))
    plt.switch_backend("module://evil_backend")
    assert (tmp_path / "loaded").exists()  # what the code tries works without a rule
    plt.switch_backend("agg")
    (tmp_path / "loaded").unlink()
    sys.modules.pop("evil_backend")
    notebook.allow_matplotlib()
    figure = plt.figure()
    desk = standins.Desk(lambda: {"plt": plt, "fig": figure}, (str(tmp_path / "own"),))
    desk.begin(registry.registry_state())
    own, out = str(tmp_path / "own" / "x.png"), str(tmp_path / "x.png")
    attacks = [("imsave", [out, [[1.0]]], {}), ("savefig", [out], {}), ("savefig", [], {"fname": out}), ("switch_backend", ["module://evil_backend"], {}),
               ("savefig", [own], {"backend": "module://evil_backend"}), ("figure", [], {"FigureClass": {"$other": {"builtin": "dict"}}}),
               ("rc", ["text"], {"usetex": True}), ("rc_context", [], {"fname": out}), ("imread", ["/etc/passwd"], {}), ("setp", [1, "usetex", True], {}),
               ("title", ["x"], {"usetex": True}), ("text", [0, 0, "x", {"usetex": True}], {}), ("savefig", [own], {"format": "pgf"}),
               ("Figure", [], {}), ("connect", ["a", "b"], {}), ("xkcd", [], {}), ("imsave", [own, [[1.0]], 0, 1, "gray", "pdf"], {})]
    for name, args, kwargs in attacks:
        answer = hostile(desk, "call", {"name": "plt"}, name, args, kwargs)
        assert answer.get("raised", [""])[0] == "PermissionError", (name, args, kwargs, answer)
    for name in ("np", "style", "rcParams", "sys", "importlib"):
        assert hostile(desk, "get", {"name": "plt"}, name)["raised"][0] == "PermissionError", name
    assert not {"loaded", "x.png"} & set(os.listdir(tmp_path)) and not os.listdir(tmp_path / "own") and "evil_backend" not in sys.modules
    for name, args in (("plot", [[1, 2]]), ("title", ["x"]), ("savefig", [own])):
        assert "value" in hostile(desk, "call", {"name": "plt"}, name, args), name
    assert os.listdir(tmp_path / "own") == ["x.png"]
    assert "value" in hostile(desk, "call", {"name": "fig"}, "savefig", [own])
    assert hostile(desk, "call", {"name": "fig"}, "savefig", [out])["raised"][0] == "PermissionError"
    for name in ("canvas", "set_canvas", "add_callback"):
        assert hostile(desk, "get", {"name": "fig"}, name)["raised"][0] == "PermissionError"
    plt.close("all")


INTERNALS = ["__class__", "__init__", "__globals__", "__dict__", "__reduce__", "__getattribute__", "_private", "price.__func__", "price ", "", 5,
             ["price"], "pr\u0131ce", "__getitem__", "mro"]


@pytest.mark.parametrize("name", INTERNALS, ids=repr)
@pytest.mark.parametrize("what", ["call", "get", "set", "of"])
def test_names_of_the_language_are_refused(desk, what, name):
    for to in ({"name": "shop"}, {"name": "Shop"}):
        answer = hostile(desk, what, to, name, ["x"])
        assert set(answer) == {"raised"} and answer["raised"][0] in ("PermissionError", "TypeError"), answer


@pytest.mark.parametrize("to", [None, {}, 5, "shop", {"name": "_own"}, {"name": "nothing"}, {"name": "__builtins__"}, {"id": 0}, {"id": -1}, {"id": True},
                                {"id": "0"}, {"id": 1.0}, {"name": ["shop"]}, {"name": "shop", "id": 0}, {"value": 1}, {"builtin": "open"}], ids=repr)
def test_only_what_was_lent_can_be_referred_to(desk, to):
    for what in ("call", "get", "iter", "next", "item", "len"):
        assert hostile(desk, what, to, "price", ["tea"])["raised"][0] == "PermissionError"
    answer = hostile(desk, "call", {"name": "shop"}, "price", [{"$other": to}])
    assert "raised" in answer, answer


@pytest.mark.parametrize("what", ["exec", "__call__", "_lend", "", None, 5, ["call"], "serve"], ids=repr)
def test_only_uses_that_there_are_can_be_asked_for(desk, what):
    assert hostile(desk, what, {"name": "shop"}, "price", ["tea"])["raised"][0] in ("PermissionError", "TypeError")


@pytest.mark.parametrize("args", [
    [{"$pickle": "gASVBQAAAAAAAABLAS4="}], [{"$other": {"builtin": "eval"}}], [{"$other": {"builtin": "__import__"}}],
    [{"$other": {"kind": "cell", "module": "os"}}],
    [{"$objects": [[1], [{"$other": {"id": 9}}]]}], {"$tuple": ["tea"]}, "tea", 5, None, [{"$ndarray": "AAAA"}],
], ids=lambda args: repr(args)[:40])
def test_arguments_are_data(desk, args):
    answer = desk.answer("call", {"name": "shop"}, "price", args, {})
    assert "raised" in answer, answer


def test_what_is_not_allowed_is_not_even_looked_at(desk, shop):
    for what in ("get", "call", "set"):
        assert hostile(desk, what, {"name": "shop"}, "stock", ["x"])["raised"][0] == "PermissionError"
    assert shop.log == []
    for name, to in (("system", "os"), ("environ", "os"), ("upper", "text"), (None, "greedy"), (None, "Shop")):
        answer = hostile(desk, "call", {"name": to}, name, ["true"] if name == "system" else [])
        assert answer.get("raised", [""])[0] == "PermissionError" or to == "Shop" and "value" in answer, answer


def test_methods_are_called_on_objects_of_their_class_alone(desk, shop):
    """Data that looks like an object would be in a state that the class never lets it have."""
    forged = {"$namespace": {"name": "forged", "log": []}}
    for what, to, name in (("call", {"name": "Shop"}, "price"), ("of", {"name": "Shop"}, "price")):
        assert hostile(desk, what, to, name, [forged, "tea"])["raised"][0] == "TypeError"
    assert hostile(desk, "call", {"name": "Shop"}, "price", [{"$other": {"name": "shop"}}, "tea"]) == {"value": 250}
    bare = standins.Desk(lambda: {"price": Shop.price, "shop": shop}, ())
    bare.begin(registry.registry_state())
    assert hostile(bare, "call", {"name": "price"}, None, [forged, "tea"])["raised"][0] == "TypeError"
    assert hostile(bare, "call", {"name": "price"}, None, [{"$other": {"name": "shop"}}, "tea"]) == {"value": 250}


def test_lent_objects_are_bounded(desk, monkeypatch):
    monkeypatch.setattr(standins, "MOST_LENT", 3)

    def shops(): return [Shop() for _ in range(5)]
    allow(shops)
    desk = standins.Desk(lambda: {"shops": shops}, ())
    desk.begin(registry.registry_state())
    kind, text, _ = hostile(desk, "call", {"name": "shops"})["raised"]
    assert kind == "RuntimeError" and "can have no more" in text


def test_a_letter_is_read_by_who_knows_what_stands_in_it():
    letter = values.to_letter([1, len], 1000, lambda value: ({"fn": value.__name__},))
    assert letter == [1, {"$other": {"fn": "len"}}] and values.of_letter(letter, lambda content: content["fn"]) == [1, "len"]
    with pytest.raises(ValueError, match="other"):
        values.untagged(letter)
    with pytest.raises(values.NotCarried):
        values.to_letter([len], 1000, standins._no_other)  # pylint: disable=protected-access


# ---- names, and modules that code imports ----

@pytest.mark.parametrize(("code", "g", "value", "after"), [
    ("名 = sum(数据)\n数据.append(9)\n名", {"数据": [1, 2, 3]}, 6, {"名": 6, "数据": [1, 2, 3, 9]}),
    ("_limit = _limit + 1\n_limit", {"_limit": (1,)[0]}, 2, {"_limit": 1}), ("_pair", {"_pair": (1, 2)}, (1, 2), {}),
    ("f'{数据} {_x}'", {"数据": 1, "_x": 2}, "1 2", {}), ("\ufb01le + 1", {"file": 1}, 2, {}),
    ("数" * 40 + " + 1", {"数" * 40: 1}, 2, {}), ("for _ in 'ab': pass\n_", {"_": 5}, "b", {"_": 5}),
], ids=range(7))
def test_names_in_any_letters_and_with_an_underscore(ask, code, g, value, after):
    """The names of the caller's variables."""
    g = copy.deepcopy(g)
    assert ask(code, g) == value and {name: g[name] for name in after} == after


@pytest.mark.parametrize("value", [Shop(), print, [print], math], ids=["object", "function", "list", "module"])
def test_what_is_no_data_has_no_name_with_an_underscore(ask, value):
    with pytest.raises(hotcell.NeedsSession, match="_it"):
        ask("_it", {"_it": value})


@pytest.mark.parametrize("code", [
    "import subprocess\nsubprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout", "from subprocess import run\nrun(['echo', 'hi'],"
    " capture_output=True, text=True).stdout", "import subprocess as sp\nsp.run(['echo', 'hi'], capture_output=True, text=True).stdout",
], ids=["import", "from", "as"])
def test_code_imports_a_module_of_which_functions_are_allowed(ask, code):
    """allow({subprocess: [...]}). Nothing else of the module can be used, and no other module be imported."""
    with pytest.raises(PermissionError, match="Import of 'subprocess' is not allowed"):
        ask(code, {})
    allow({subprocess: ["run"]})
    assert ask(code, {}) == "hi\n"
    with pytest.raises(PermissionError, match="subprocess.Popen"):
        ask("import subprocess\nsubprocess.Popen(['true'])", {})
    with pytest.raises(PermissionError, match="Import of 'socket' is not allowed"):
        ask("import subprocess, socket", {})
    with pytest.raises(PermissionError, match="Import of 'subprocess' is not allowed"):
        ask(code, {}, ban_imports=["subprocess"])


def test_code_imports_a_module_in_a_package(ask):
    allow({urllib.request: ["quote"]})
    assert ask("import urllib.request\nfrom urllib import request\nurllib.request.quote('a b'), request.quote('/ c')", {}) == ("a%20b", "/%20c")
