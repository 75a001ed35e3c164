"""RunPython: the tools that code may call in the caller's process, and what it may write there."""

import asyncio
import contextlib
import functools
import inspect
import json
import math
import os
import subprocess
import sys
import types
import warnings
from pathlib import Path

import cells
import pytest
from runners import Says, fresh, run  # noqa: F401

from hotcell.adapters import RunPython, notebook
from hotcell.adapters import allow as registry
from hotcell.adapters.allow import AllowChecked, AllowPolicy, OpenWritePolicy, PathWritePolicy, PosAllowPolicy, allow, chk_dest


# ---- tools ----

@pytest.mark.parametrize("session", [False, True])
def test_own_modules_of_the_caller_can_be_imported_as_far_as_they_are_allowed(tmp_path, monkeypatch, session):
    """S3.14: a module that the caller has imported is there for the code; its functions run in the caller's process."""
    (tmp_path / "own_of_caller.py").write_text("import os\nVALUE = 42\ndef fn(x): return [x, os.getpid()]\ndef other(): return 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="No module named 'own_of_caller'") as caught:
        run("import own_of_caller", session=session)
    assert caught.value.__notes__ == ["hint: own_of_caller is a module of the caller's, of which the cell has none: import it there, and allow "
                                      'what the code may call, as in allow({own_of_caller: ["NAME"]}).']
    import own_of_caller
    allow({own_of_caller: ["fn"]})
    for code in "import own_of_caller\nown_of_caller.fn(2)", "from own_of_caller import fn\nfn(2)", "import own_of_caller as o\no.fn(2)":
        assert run(code, session=session) == [2, os.getpid()]
    for name in "other()", "os", "VALUE":
        with pytest.raises(PermissionError, match="is not allowed"):
            run(f"import own_of_caller\nown_of_caller.{name}", session=session)
    del sys.modules["own_of_caller"]


def test_a_tool_is_called_in_the_callers_process(tmp_path):
    def greet(name, *more, loud=False):
        """Say hello."""
        (tmp_path / "seen").write_text(str(os.getpid()))
        return {"text": f"hello {name}" + "!" * loud, "more": list(more)}

    async def later(n):
        await asyncio.sleep(0)
        return n * 2
    allow(greet, later)
    g = {"greet": greet, "later": later}
    code = "first = greet('you', 1, [2], loud=True)\n[first['text'], first['more'], greet.__name__, greet.__doc__, await later(4)]"
    assert run(code, g) == ["hello you!", [1, [2]], "greet", "Say hello.", 8]
    assert (tmp_path / "seen").read_text() == str(os.getpid()) and g["greet"] is greet and g["first"]["more"] == [1, [2]]
    assert run("'greet'", {"greet": greet}) == "greet"
    with pytest.raises(NameError, match="tools"):
        run("greet('you')\ntools", g)
    thing = object()
    assert run("thing", {"thing": thing}) is thing


def test_what_a_tool_raises_and_what_its_policy_denies_keep_their_type(tmp_path):
    written = []

    def save(text, path): written.append(path)

    def fail(kind): raise {"key": KeyError, "own": type("Own", (Exception,), {})}[kind]("text")

    def odd(): return object()
    allow(fail, odd)
    allow(save, allow_policy=PosAllowPolicy(1, "path"))
    g = {"save": save, "fail": fail, "odd": odd}
    code = "try: fail('key')\nexcept KeyError as error: print(repr(error))\nsave('x', path='in/file')\nfail('own')"
    with pytest.raises(RuntimeError, match="text"):
        run(code, g, ok_dests=["in"])
    assert written == ["in/file"]
    for call in ("save('x', '/etc/passwd')", "save('x', path='in/../../x')", "save('x')"):
        with pytest.raises(PermissionError, match="permitted"):
            run(call, g, ok_dests=["in"])
    assert isinstance(run("odd()", g), object) and run("type(odd()).__name__", g) == "object"
    assert written == ["in/file"]


def test_a_tool_may_do_what_the_code_may_not():
    def trusted_echo(text): return subprocess.run(["echo", text], capture_output=True, text=True, check=True).stdout
    allow(trusted_echo)
    g = {"trusted_echo": trusted_echo}
    assert run("trusted_echo('hello')", g) == "hello\n"
    with pytest.raises(PermissionError):
        run("import subprocess\nsubprocess.run(['echo', 'hello'])", g)


class Shape:
    def area(self): return 1
    @classmethod
    def make(cls): return cls()


class Square(Shape):
    pass


def double(x):
    return x * 2


def logged(fn):
    def wrapper(*args): return fn(*args)
    return wrapper


def test_registration():
    assert allow(double) is double and double(2) == 4
    allow(Shape.area, Shape().area, Shape.make, math.floor, str.upper, "abc".lower, {math: ["sqrt"], Shape: [...]})
    tools = registry.__pytools__
    assert "double" in tools[sys.modules[__name__]] and {"floor", "sqrt"} <= tools[math]
    assert {"upper", "lower"} <= tools[str] and {"area", "make", ...} <= tools[Shape]
    assert double in registry.__llmtools__
    assert registry.is_tool(Square().area) and registry.policies_for(Square, "anything") == []
    assert registry.policies_for(math, "sin") is None and not registry.is_tool(len)
    with pytest.raises(TypeError):
        allow(3)
    with pytest.raises(TypeError):
        allow({math: [3]})
    with pytest.raises(TypeError, match=r"^allow: <module 'math'.*: expected a list of names, or \.\.\. for all, got int$"):
        allow({math: 3})


class Kept:
    """Has attributes that no class says it has."""

    declared: int

    def __init__(self, **others):
        self.log = others

    @property
    def counted(self):
        raise AssertionError("ran")


@pytest.mark.parametrize(("entry", "close"), [
    ({Path: ["exsits"]}, "'exists' is perhaps meant"), ({Path: ["exists", ("unlnk", PathWritePolicy())]}, "'unlink'"), ({os: "getpidd"}, "'getpid'"),
    ({"os.path": ["joinn"]}, "os.path has no attribute 'joinn': 'join'"), ("pathlib.Path.exsits", "'exists'"), ("os.zzz", "os has no attribute 'zzz'$"),
    ({Kept: ["logs"]}, "Kept has no attribute 'logs'"), ({Kept(): ["others_"]}, "Kept has no attribute 'others_'"),
])
def test_a_name_that_an_owner_does_not_have_is_refused_at_once(entry, close):
    """S3.16: nothing of that call of allow() is registered."""
    with pytest.raises(AttributeError, match=close):
        allow(print, {math: ["floor"]}, entry)
    assert not registry.__pytools__ and not registry.__llmtools__


def test_names_that_may_be_there_are_taken():
    """S3.16: attributes that objects get when they are made, and owners that are not known yet."""
    one = Kept()
    one.extra = 1
    allow({Kept: ["log", "declared", "counted"], one: ["extra", "counted", "log"], types.SimpleNamespace: ["any"], "Shop": ["price"], "no_such.module": ["f"],
           "numpy.*": ["any"], sys.modules[__name__]: ["defined_later"]}, "greet", "no_such.module.f")


def test_policies_are_asked_before_the_call(tmp_path):
    calls = []

    def save(text, target): calls.append(target)
    allow({sys.modules[__name__]: [("save", PosAllowPolicy(1, "target"))]})
    save.__qualname__ = "save"
    checked = AllowChecked(save, [str(tmp_path)])
    checked("x", tmp_path / "a")
    checked("x", target=tmp_path / "b")
    with pytest.raises(PermissionError, match="not allowed; permitted"):
        checked("x", "/etc/passwd")
    assert calls == [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(PermissionError):
        AllowChecked(print, None)("not registered")


def test_a_policy_of_ones_own():
    class Suffix(AllowPolicy):
        def __call__(self, obj, args, kwargs, ok_dests):
            if not str(args[0]).endswith(".csv"):
                raise PermissionError("only .csv")
    seen = []

    def keep(path): seen.append(path)
    keep.__qualname__ = "keep"
    allow(keep, allow_policy=Suffix())
    AllowChecked(keep, None)("x.csv")
    with pytest.raises(PermissionError, match="only .csv"):
        AllowChecked(keep, None)("x.sh")
    assert seen == ["x.csv"]


def test_destinations(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "link").symlink_to("/etc")
    monkeypatch.setenv("HOME", str(tmp_path / "in"))
    inside = [str(tmp_path / "in")]
    for good in (tmp_path / "in", tmp_path / "in" / "x", "in/x", "in/sub/../x", "~/x"):
        chk_dest(good, inside)
        chk_dest(good, None)
    for bad in ("/etc/x", tmp_path / "inside", "in/../x", "in/sub/../../x", "link/x", "~/../x"):
        with pytest.raises(PermissionError, match="not allowed; permitted"):
            chk_dest(bad, inside)
        with pytest.raises(PermissionError):
            chk_dest(bad, ())
    chk_dest("x", ["."])
    monkeypatch.chdir("in")
    chk_dest("x", ["."])  # the directory of this moment
    with pytest.raises(PermissionError):
        chk_dest(tmp_path / "x", ["."])


def test_policies_find_their_destinations():
    ok = ["/tmp"]
    good = [(PathWritePolicy(), Path("/tmp/x"), [], {}), (PathWritePolicy(0, "target"), Path("/tmp/x"), ["/tmp/y"], {}),
            (OpenWritePolicy(), None, ["/etc/x"], {}), (OpenWritePolicy(), None, ["/etc/x", "rb"], {}),
            (OpenWritePolicy(), None, ["/tmp/x", "w"], {}), (OpenWritePolicy(), Path("/tmp/x"), ["a"], {})]
    bad = [(PathWritePolicy(), Path("/etc/x"), [], {}), (PathWritePolicy(0, "target"), Path("/tmp/x"), ["/etc/y"], {}),
           (PathWritePolicy(0, "target"), Path("/etc/x"), [], {"target": "/tmp/y"}),
           (OpenWritePolicy(), None, ["/etc/x", "w"], {}), (OpenWritePolicy(), None, ["/etc/x"], {"mode": "r+"}),
           (OpenWritePolicy(), Path("/etc/x"), [], {"mode": "x"}), (PosAllowPolicy(1, "dst"), None, ["/tmp/x"], {})]
    for policy, obj, args, kwargs in good:
        policy(obj, args, kwargs, ok)
    for policy, obj, args, kwargs in bad:
        with pytest.raises(PermissionError):
            policy(obj, args, kwargs, ok)
    names = {name for _, name in registry.WRITE_POLICIES}
    assert {"write_text", "write_bytes", "mkdir", "touch", "unlink", "rmdir", "chmod", "symlink_to", "hardlink_to", "rename",
            "replace", "open", "copy", "copy2", "copytree", "move", "rmtree"} <= names


def test_write_types():
    class Own:
        pass
    assert [registry.type_name(kind) for kind in registry.default_write_types()] == ["dict", "list", "types.SimpleNamespace"]
    registry.allow_write_types(Own, set)
    assert registry.default_write_types()[-2:] == [Own, set] and registry.type_name(set) == "set"


def test_matplotlib():
    plt = cells.need_module("matplotlib.pyplot")
    notebook.allow_matplotlib()
    for owner in (plt, plt.Figure):
        policy, = registry.policies_for(owner, "savefig")
        policy(None, ["/tmp/x.png"], {}, ["/tmp"])
        policy(None, [Path("/tmp/x")], {"format": "svg"}, ["/tmp"])
        for args, kwargs in (([], {"fname": "/etc/x.png"}), (["/tmp/x"], {}), (["/tmp/x.pgf"], {}), (["/tmp/x.png"], {"format": "pgf"}), ([], {}),
                             (["/tmp/x.png"], {"backend": "module://x"}), (["/tmp/x.png"], {"metadata": {"a": print}}), ([5], {"format": "png"})):
            with pytest.raises(PermissionError):
                policy(None, args, kwargs, ["/tmp"])
    draw, = registry.policies_for(plt, "plot")
    draw(None, [[1, 2]], {"label": "a"}, ())
    for args, kwargs in (([len], {}), ([[len]], {}), ([], {"a": {"usetex": True}}), ([], {"FigureClass": "x"}), ([math], {}), ([], {"prop": "a"})):
        with pytest.raises(PermissionError):
            draw(None, args, kwargs, ())


WRITES = """
import collections, numpy as np, pandas as pd
x = np.arange(3)
x[0] = 9
d = pd.DataFrame({'a': [1]})
d['b'] = 2
d.loc[0, 'a'] = 5
copy = df.copy()
copy['z'] = 1
twice = arr * 2
twice[:2][0] = 7
queue = collections.deque([1])
queue[0] = 2
[x.tolist(), d.values.tolist(), list(copy.columns), twice.tolist(), list(queue)]
"""


@pytest.mark.parametrize("session", [False, True])
def test_what_the_code_has_made_can_be_changed_and_what_it_was_given_cannot(session, scientific):
    pd, np = cells.need_module("pandas"), cells.need_module("numpy")
    g = {"df": pd.DataFrame({"a": [1, 2]}), "arr": np.arange(3), "pd": pd, "np": np}
    with contextlib.closing(RunPython(g=g, session=session, tree="scientific", timeout=60 * cells.SLOWNESS)) as runner:
        assert asyncio.run(runner(WRITES)) == [[9, 1, 2], [[5, 2]], ["a", "z"], [7, 2, 4], [2]]
        for code in ("df['a'] = 1", "arr[0] = 1", "arr[:2][0] = 1", "df.loc[0, 'a'] = 3", "df.a[0] = 1", "df.iloc[0, 0] = 3", "df.values[0] = 1",
                     "other = df\nother['x'] = 1", "del df['a']", "view = df.a.to_numpy()\nview[0] = 1", "np.x = 1", "str.x = 1", "import math\nmath.pi = 3",
                     "import os\nos.environ['A'] = 'b'"):
            with pytest.raises(PermissionError, match="may not be changed in place"):
                asyncio.run(runner(code))
        assert list(g["df"].a) == [1, 2] and list(g["arr"]) == [0, 1, 2]
        for code, hint in (("df['a'] = 1", "df.assign()"), ("arr[0] = 1", "x.copy()"), ("import os\nos.environ['A'] = 'b'", 'os.environ.update(NAME="value")')):
            with pytest.raises(PermissionError) as caught:
                asyncio.run(runner(code))
            assert hint in caught.value.__notes__[0]
        assert asyncio.run(runner("import os\nos.environ.update(A='b')\nos.environ['A']")) == "b"  # as the hint says


CELLS = ["df.loc[0, 'a'] = 9", "df.iloc[0, 0] = 9", "df.at[0, 'a'] = 9", "df.iat[0, 0] = 9", "df.loc[df.a < 2, 'a'] += 8"]


@pytest.mark.parametrize("session", [False, True])
def test_cells_of_a_frame_that_may_be_written_may_be_written(session, scientific):
    """S3.11: loc, iloc, at and iat change the frame, and are judged as the frame is."""
    pd = cells.need_module("pandas")
    g = {}
    with contextlib.closing(RunPython(g=g, session=session, tree="scientific", timeout=60 * cells.SLOWNESS)) as runner:
        for code in CELLS:
            g["df"] = pd.DataFrame({"a": [1, 2]})
            with pytest.raises(PermissionError, match="type DataFrame may not"):
                asyncio.run(runner(code))
        registry.allow_write_types(pd.DataFrame)
        for code in CELLS:
            g["df"] = pd.DataFrame({"a": [1, 2]})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the session begins anew with these rules
                asyncio.run(runner(code))
            assert list(g["df"].a) == [9, 2], code
        with pytest.raises(PermissionError, match="type Series may not"):
            asyncio.run(runner("df.a.loc[0] = 1"))


def later_policies():
    async def refuse(*info): raise PermissionError("no")

    class Refuses(registry.AllowPolicy):
        async def __call__(self, obj, args, kwargs, ok_dests): raise PermissionError("no")

    def steps(*info): yield False
    return [refuse, Refuses(), steps, functools.partial(refuse), lambda *info: refuse(*info), lambda *info: steps()]


@pytest.mark.parametrize("number", range(6))
def test_a_policy_or_hook_that_only_begins_to_decide_allows_nothing(number):
    """S3.18, S3.36: what a coroutine function answers is a coroutine, which would pass for no objection."""
    judge, ran = later_policies()[number], []

    def tool(): ran.append(1)
    if number < 4:
        for register in (lambda: allow(tool, allow_policy=judge), lambda: allow({"shop": [("sell", judge)]}),
                         lambda: registry.allow_write({"Shop.sell": judge}), lambda: RunPython(g={}, pre_deny=judge)):
            with pytest.raises(TypeError, match="coroutine function"):
                register()
        assert not registry.policies_for("shop", "sell")
        return
    for options in ({"pre_deny": judge}, {}):
        if not options:
            allow(tool, allow_policy=judge)
        with pytest.raises(PermissionError, match="which nobody awaits"):
            run("tool()", {"tool": tool}, **options)
    assert not ran


def test_the_docstring_tells_of_functions_of_owners():
    allow({json: ["dumps"], Shape: ["area", "make"], "shop": ["open"]})
    text = RunPython.__doc__
    assert "- json.dumps(obj, *, skipkeys=False" in text and "- Shape.area(self)" in text and "- Shape.make()" in text and "- shop.open" in text
    allow({Square: [...]}, {math: [name for name in dir(math) if not name.startswith("_")]})
    assert "- Square.*: all of its names" in RunPython.__doc__ and "- math: acos, acosh," in RunPython.__doc__


def test_the_docstring_tells_of_the_tools():
    assert "in a cell" in RunPython.__doc__ and "Tools" not in RunPython.__doc__

    def lookup(city: str, year=2020):
        """How many live there.

        More."""
    allow(lookup)
    assert "lookup(city: str, year=2020): How many live there." in RunPython.__doc__ and "More." not in RunPython.__doc__
    assert RunPython(g={}).__doc__ == RunPython.__doc__ == inspect.getdoc(RunPython)


# ---- writing ----

@pytest.mark.parametrize("code", ["open('x.txt', 'w')", "from pathlib import Path\nPath('/tmp/x').write_text('x')",
                                  "import os\nos.mkdir('/output/sub')"])
def test_without_destinations_nothing_is_written(code, tmp_path):
    with pytest.raises(PermissionError, match=r"not allowed; permitted: \[\]"):
        run(code)
    assert not (tmp_path / "x.txt").exists()


def test_files_go_to_the_current_directory(tmp_path):
    for dests in (["."], None, [str(tmp_path)]):
        assert run("import os\nos.makedirs('sub', exist_ok=True)\nopen('sub/x.txt', 'w').write('hello')", ok_dests=dests) == 5
        assert (tmp_path / "sub/x.txt").read_text() == "hello"
        (tmp_path / "sub/x.txt").unlink()
    with pytest.raises(PermissionError, match="permitted: \\['.'\\]"):
        run("open('/tmp/x', 'w')", ok_dests=["."])
    with pytest.raises(PermissionError):
        run("open('../x', 'w')", ok_dests=["."])
    assert run("open('/tmp/x', 'w').write('hi')", ok_dests=["/tmp"]) == 2


def test_a_link_of_the_callers_is_not_followed_out(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "sub").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "work")
    with pytest.raises(FileExistsError):
        run("import os\nos.mkdir('sub')", ok_dests=["."])
    with pytest.raises(OSError):
        run("open('sub/x.txt', 'w').write('hello')", ok_dests=["."])
    assert not (tmp_path / "x.txt").exists()


def test_code_cannot_reach_the_registry():
    """What the code defines under the names of the registry stays in the cell."""
    before = json.dumps(sorted(map(str, registry.__pytools__)))
    run("def allow(*c): pass\nallow(1)", {"registry": types.SimpleNamespace()})
    assert json.dumps(sorted(map(str, registry.__pytools__))) == before


def test_owners_are_packages_and_instances_too():
    import xml.dom.minidom
    import xml.sax
    one, other = Square(), Square()
    allow({"xml.*": ["parseString"], "json": ["dumps"], one: ["area"]})
    assert registry.is_tool(xml.sax.parseString) and registry.is_tool(xml.dom.minidom.parseString) and registry.is_tool(json.dumps)
    assert not registry.is_tool(xml.sax.make_parser) and not registry.is_tool(json.loads)
    assert registry.is_tool(one.area) and not registry.is_tool(other.area)
    allow({Shape: [("area", Says("shapes do not"))], one: [("area", Says("nor does this"))]})
    with pytest.raises(PermissionError, match="nor does this; shapes do not"):
        AllowChecked(one.area, None)()
    allow("abc".join)
    assert run("up('xy')", {"up": "abc".join}) == "xabcy"


def test_callables_of_one_name_are_allowed_one_by_one(monkeypatch):
    """A decorator without functools.wraps calls all that it makes by one name, and so does the language with lambdas."""
    add, drop = logged(lambda a, b: a + b), logged(lambda: "dropped")
    kinds = [(add, drop), (lambda: 1, lambda: 2), (functools.partial(int, "1"), functools.partial(int, "2")), (local_class(), local_class())]
    for one, other in kinds:
        assert allow(one) is one
        assert registry.is_tool(one) and not registry.is_tool(other), one
    with pytest.raises(PermissionError, match="wrapper is not allowed"):
        AllowChecked(drop, None)()
    assert run("add(1, 2)", {"add": add, "drop": drop}) == 3
    with pytest.raises(PermissionError, match="drop is not allowed"):
        run("drop()", {"add": add, "drop": drop})
    monkeypatch.setitem(registry.__pytools__, sys.modules[__name__], {...})  # all of a module's names are theirs, too
    assert registry.is_tool(drop) and registry.is_tool(kinds[1][1])


def local_class():
    class Local:
        pass
    return Local
