"""RunPython: code of a model, run as if in the caller's namespace, with what only a session could do said so."""

import asyncio
import contextlib
import functools
import inspect
import json
import math
import os
import shutil
import subprocess
import sys
import types
import warnings
from pathlib import Path

import cells
import pytest
from runners import PACKAGE, fresh, run  # noqa: F401

import hotcell
from hotcell.adapters import RunPython, notebook
from hotcell.adapters import allow as registry
from hotcell.adapters.allow import (AllowChecked, AllowPolicy, OpenWritePolicy, PathWritePolicy, PosAllowPolicy, allow,
                                    chk_dest)

module_level = "of this test module"


# ---- running ----

@pytest.mark.parametrize(("code", "value"), [
    ("1 + 1", 2), ("x = 2\nx * 3", 6), ("x = 1", None), ("[1, 'a', None]", [1, "a", None]), ("(1, {2})", (1, {2})),
    ("b'x'", b"x"), ("print", "<built-in function print>"), ("'text'", "text"), ("if True:\n    1", None),
])
def test_the_last_expression_is_the_value(code, value):
    assert run(code) == value


def test_values_of_the_namespace_go_in():
    g = {"n": 3, "items": [1, {"a": None}], "m": math, "unused": object()}
    assert run("[n, items, m.floor(2.5), 'un' + 'used' in globals()]", g) == [3, [1, {"a": None}], 2, False]


def test_names_in_strings_count():
    assert run("f'{n:{width}} {{other}}'", {"n": 3, "width": 2, "other": object()}) == " 3 {other}"


def test_the_namespace_is_the_callers():
    assert asyncio.run(RunPython(tree="base")("module_level")) == module_level
    assert RunPython().g is globals()
    other = {"__builtins__": __builtins__, "RunPython": RunPython, "only_here": 1}
    exec("found = RunPython(sentinel='only_here')", other)
    assert other["found"].g is other
    assert notebook.find_var("module_level") == module_level
    with pytest.raises(KeyError):
        notebook.find_var("nowhere at all")


def test_an_empty_namespace_is_clean():
    g = {}
    assert RunPython(g=g).g is g
    with pytest.raises(NameError, match="module_level"):
        run("module_level", g)


def test_top_level_await():
    code = ("import asyncio\nasync def fetch(n): return n * 10\n"
            "async def some():\n    for i in range(2): yield i\n"
            "seen = []\nasync for i in some(): seen.append(i)\n"
            "[seen, await asyncio.gather(fetch(1), fetch(2))]")
    assert run(code) == [[0, 1], [10, 20]]


def test_calls_side_by_side_keep_their_namespaces():
    async def both():
        spaces = [{"n": 1}, {"n": 2}]
        values = await asyncio.gather(*(RunPython(g=g, tree="base")("m = n * 10\nm") for g in spaces))
        return values, [g["m"] for g in spaces]
    assert asyncio.run(both()) == ([10, 20], [10, 20])


TASK = """
import asyncio
async def later():
    await asyncio.sleep(0.01)
    done.append(1 / divisor)
done = []
task = asyncio.create_task(later())
await asyncio.sleep(0)
"""


def test_tasks_in_the_background_are_awaited():
    g = {"divisor": 2}
    run(TASK, g)
    assert g["done"] == [0.5]
    with pytest.raises(ZeroDivisionError):
        run(TASK, {"divisor": 0})


@pytest.mark.parametrize("session", [False, True])
def test_tasks_run_where_nothing_is_awaited_at_the_top(session, capsys):
    with contextlib.closing(RunPython(g={}, tree="base", session=session)) as runner:
        assert asyncio.run(runner("import asyncio\nasync def later(): print('done')\nasyncio.create_task(later())\n1")) == 1
        assert capsys.readouterr().out == "done\n"
        with pytest.raises(ZeroDivisionError):
            asyncio.run(runner("import asyncio\nasync def fails(): 1/0\ntask = asyncio.ensure_future(fails())"))
        own = "import asyncio\nasync def main():\n    return await asyncio.create_task(asyncio.sleep(0, 3))\nasyncio.run(main())"
        assert asyncio.run(runner(own)) == 3  # a program may still run a loop of its own


@pytest.mark.parametrize("session", [False, True])
def test_syntax_warnings_are_not_shown(session, capsys):
    with contextlib.closing(RunPython(g={}, tree="base", session=session)) as runner:
        for n in range(2):
            asyncio.run(runner(f"x = 1\nx is 1\nimport warnings\nwarnings.warn('careful {n}')"))
            assert "SyntaxWarning" not in (err := capsys.readouterr().err) and f"careful {n}" in err


def test_print_and_warnings_come_through(capsys):
    assert run("print('hello')\nimport warnings\nwarnings.warn('careful')\n1") == 1
    out, err = capsys.readouterr()
    assert out == "hello\n" and "careful" in err and "warnings.warn('careful')" in err


def test_sources_are_kept_for_tracebacks():
    with pytest.raises(ZeroDivisionError, match="division by zero") as caught:
        run("def f():\n    return 1/0\nf()")
    assert caught.value.__cause__ is None and "return 1/0" in caught.value.cell_traceback
    assert 'File "<pyrun_' in caught.value.cell_traceback
    import linecache
    names = {notebook.srcfn(f"x = {n}") for n in range(25)}
    assert names == {f"<pyrun_{n}>" for n in range(10)}
    assert all(linecache.getline(name, 1).startswith("x = ") for name in names)


@pytest.mark.parametrize("session", [False, True])
def test_tracebacks_are_of_the_code_alone(session):
    with contextlib.closing(RunPython(g={}, tree="base", session=session)) as runner:
        for _ in range(2):
            with pytest.raises(ValueError, match="second") as caught:
                asyncio.run(runner("def f():\n    try: 1/0\n    except ZeroDivisionError as e: raise ValueError('second') from e\nf()"))
            text = caught.value.cell_traceback
            assert text.startswith("Traceback") and "division by zero" not in text and text.count("Traceback") == 1
            name = text.split('File "', 1)[1].split('"')[0]
            import linecache
            assert name.startswith("<pyrun_") and linecache.getline(name, 1) == "def f():\n"
            assert caught.value.__cause__ is None and caught.value.__suppress_context__


@pytest.mark.parametrize(("code", "args"), [
    ("{}['k']", ("k",)), ("{}[1, 'a']", ((1, "a"),)), ("open('/nowhere/x')", (2, "No such file or directory")), ("raise ValueError('a: b')", ("a: b",)),
    ("raise KeyError('two words')", ("two words",)), ("raise OSError('text')", ("text",)),
])
def test_exceptions_have_their_arguments(code, args):
    with pytest.raises(Exception) as caught:
        run(code)
    assert caught.value.args == args and getattr(caught.value, "filename", None) in (None, "/nowhere/x")


@pytest.mark.parametrize(("code", "value"), [("type(1)", int), ("type('t')", str), ("float('inf')", math.inf), ("(1.5, None)", (1.5, None))])
def test_values_of_the_last_expression_are_themselves(code, value):
    assert run(code) == value


def test_a_pattern_is_a_value():
    import re
    assert run("import re\nre.compile('a', re.I | re.M)") == re.compile("a", re.I | re.M)
    assert run("import re\nre.compile('a')") == re.compile("a")


@pytest.mark.parametrize("code", ["().__class__", "x = []\nx._private", "exec('1')", "eval('1')", "import importlib",
                                  "import socket"])
def test_refused_before_it_runs(code, capsys):
    with pytest.raises(PermissionError):
        run(f"print('ran')\n{code}")
    assert capsys.readouterr().out == ""


def test_ordinary_code():
    assert run("class A:\n    def f(self, *a, **k): return [*a, k]\n"
               "x = 1\nx += 2\nfirst, *rest = [1, 2, 3]\n[A().f(1, y=2), x, rest, [i for i in range(2)]]") == \
        [[1, {"y": 2}], 3, [2, 3], [0, 1]]


def test_types():
    assert run("[isinstance(1, int), type(1).__name__, type(1) is int]") == [True, "int", True]


def test_exceptions_keep_their_type():
    with pytest.raises(KeyError):
        run("{}['x']")
    with pytest.raises(SyntaxError, match="line 1"):
        run("x = = 1")
    with pytest.raises(hotcell.JobError, match="Own: text"):
        run("class Own(Exception): pass\nraise Own('text')")
    with pytest.raises(TimeoutError):
        run("while True: pass", timeout=1)
    with pytest.raises(hotcell.PolicyError):
        run("1", policy="no-such")


# ---- what comes back ----

@pytest.mark.parametrize(("name", "value", "g", "exported"), [
    ("x", 1, {}, True), ("x", 1, {"x": 0}, True), ("_x", 1, {}, False), ("_x_", 1, {}, False),
    ("python", 1, {}, False), ("allow", 1, {}, False), ("x_", 1, {"x_": print}, True), ("x", 1, {"x": print}, False), ("x", 1, {"x": math}, False),
])
def test_should_export(name, value, g, exported):
    assert notebook.should_export(name, value, g) is exported


def test_new_values_come_back():
    g = {"print": print, "kept_": print, "n": 1, "same": [1]}
    same = g["same"]
    run("a, (b, *c) = 1, (2, 3, 4)\nfor i in range(3): pass\nprint = 5\nkept_ = 6\nn += 1\n_hidden = 7\n"
        "if (w := 8): pass\nsame[0]\ndef function(): pass\nimport json as j", g)
    assert {name: g.get(name) for name in "abciwn"} == {"a": 1, "b": 2, "c": [3, 4], "i": 2, "w": 8, "n": 2}
    assert g["print"] is print and g["kept_"] == 6 and g["same"] is same
    assert not {"_hidden", "function", "j"} & g.keys()


def test_values_that_were_changed_in_place_come_back():
    g = {"items": [1]}
    run("items.append(2)", g)
    assert g["items"] == [1, 2]


def test_frames_and_arrays_go_both_ways():
    pd, np = cells.need_module("pandas"), cells.need_module("numpy")
    g = {"df": pd.DataFrame({"a": [1, 2]}), "arr": np.arange(3), "np": np}
    before = g["df"]
    assert run("twice = df * 2\nmore = np.append(arr, 9)\nint(df.a.sum())", g, tree=None) == 3
    assert g["df"] is before and list(g["twice"].a) == [2, 4] and list(g["more"]) == [0, 1, 2, 9]


def test_a_frame_that_was_changed_comes_back_with_its_types():
    pd = cells.need_module("pandas")
    g = {"df": pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2021-01-01"]), "code": ["007", "x"]}, index=["a", "b"])}
    expected = g["df"].assign(year=[2020, 2021])
    with pytest.raises(PermissionError, match="DataFrame"):
        run("df['year'] = df.day.dt.year", g, tree=None)
    registry.allow_write_types(pd.DataFrame)
    run("df['year'] = df.day.dt.year", g, tree=None)
    pd.testing.assert_frame_equal(g["df"], expected, check_dtype=False)
    assert str(g["df"].day.dtype) == "datetime64[ns]"


# ---- tools ----

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


# ---- around it ----

class Shell:
    def __init__(self):
        self.user_ns, self.magics = {"n": 20}, {}

    def register_magic_function(self, function, kind, name):
        self.magics[name] = (kind, function)


def test_magic():
    shell = Shell()
    notebook.load_ipython_extension(shell)
    kind, py = shell.magics["py"]
    assert kind == "line_cell" and shell.user_ns["allow"] is allow
    assert py("-o") is shell.user_ns["pyrun"] and py("") is None
    py("-o")._options["tree"] = "base"
    assert py("", "m_ = n + 1\nm_") == 21 and shell.user_ns["m_"] == 21


def test_configuration(tmp_path):
    path = tmp_path / "config" / "safepyrun" / "config.py"
    path.parent.mkdir(parents=True)
    path.write_text("assert allow and RunPython\ndefault_ok_dests = ['.']\nother = 1\n")
    assert RunPython(g={}).ok_dests == (".",) and not hasattr(notebook, "other")


def test_the_older_configuration_needs_no_imports(tmp_path):
    """The file's own examples."""
    pandas = cells.need_module("pandas")
    path = tmp_path / "config" / "safepyrun" / "config.py"
    path.parent.mkdir(parents=True)
    path.write_text("allow({pandas.DataFrame: ['head', 'describe', 'info', 'shape']})\n"
                    "allow_write({'DataFrame.to_csv': PosWritePolicy(0, 'path_or_buf')})\n"
                    "allow({Path: [('write_text', PathWritePolicy())]})\ndef helper(): return allow\nassert helper() is allow\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RunPython(g={})
    assert registry.policies_for(pandas.DataFrame, "head") == [] and registry.policies_for(Path, "write_text") is not None
    policy, = registry.policies_for(pandas.DataFrame, "to_csv")
    with pytest.raises(PermissionError):
        policy.check(None, ["/etc/x"], {}, ["/tmp"])


def test_a_broken_configuration_is_a_warning(tmp_path):
    path = tmp_path / "config" / "safepyrun" / "config.py"
    path.parent.mkdir(parents=True)
    path.write_text("default_ok_dests = ['/']\n1/0\n")
    with pytest.warns(UserWarning, match="division by zero"):
        assert RunPython(g={}).ok_dests == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RunPython(g={})  # it is read once


def test_command_line(tmp_path):
    def python(*arguments, stdin=""):
        return subprocess.run([sys.executable, "-m", "hotcell.pyrun", *arguments], input=stdin, text=True,
                              capture_output=True, check=False, timeout=cells.PATIENCE,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    (tmp_path / "x.py").write_text("print('hello')\n1 + 1\n")
    done = python("x.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n2\n", "")
    done = python("-", stdin="x = 1")
    assert (done.returncode, done.stdout) == (0, "")
    done = python(stdin="1/0")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "Error: division by zero\n")
    assert python("missing.py").returncode == 1


def test_code_cannot_reach_the_registry():
    """What the code defines under the names of the registry stays in the cell."""
    before = json.dumps(sorted(map(str, registry.__pytools__)))
    run("def allow(*c): pass\nallow(1)", {"registry": types.SimpleNamespace()})
    assert json.dumps(sorted(map(str, registry.__pytools__))) == before


# ---- who is asked, and with what ----

def test_who_denies_can_be_overruled_by_the_caller():
    """The hook is in the caller's process; what the cell refuses by itself is not for it to allow."""
    asked, fetched = [], []

    def fetch(url, timeout=1): return fetched.append(url) or url
    allow(fetch, allow_policy=notebook.UrlPolicy())

    def pre_deny(info):
        asked.append(info)
        return info.call.kwargs.get("timeout") == 5
    registry.set_data(ok_urls=["example.org"])
    try:
        g = {"fetch": fetch}
        runner = RunPython(g=g, tree="base", pre_deny=pre_deny)
        asyncio.run(runner("fetch('https://example.org/a')"))
        asyncio.run(runner("fetch('https://other.org/', timeout=5)"))
        assert fetched == ["https://example.org/a", "https://other.org/"]
        with pytest.raises(PermissionError, match=r"URL 'https://other.org/' not allowed; permitted: \['example.org'\]"):
            asyncio.run(runner("fetch('https://other.org/')"))
        with pytest.raises(PermissionError, match=r"its scheme is 'http'; permitted: \['https'\]"):
            asyncio.run(runner("fetch('http://example.org/')"))
        del asked[-1]
        info = asked[-1]
        assert (info.event, info.call.name, info.call.args, dict(info.data)) == ("tool", "fetch", ("https://other.org/",), {"ok_urls": ["example.org"]})
        asyncio.run(runner("fetch('https://other.org/')", data={"ok_urls": [".org"]}))  # data of this run
        assert len(fetched) == 3
        with pytest.raises(PermissionError):
            asyncio.run(runner("import os\nos.system('true')"))
        assert len(asked) == 2
    finally:
        registry.set_data()


@pytest.mark.parametrize("session", [False, True])
def test_what_runs_now_can_be_seen(session):
    seen, asked = [], []

    def look(): seen.append(registry.audit_state())

    async def later():
        await asyncio.sleep(0)
        look()
    allow(look, later)

    def hook(info): asked.append(info.origin)
    with contextlib.closing(RunPython(g={"look": look, "later": later, "print_": print}, tree="base", session=session, pre_deny=hook)) as runner:
        async def main():
            asyncio.current_task().set_name("the first")
            await runner("look()\nawait later()")
            with pytest.raises(PermissionError, match="print_ is not allowed"):
                await runner("print_(1)")
        asyncio.run(main())
    assert [[call["name"] for call in state["calls"]] for state in seen] == [["look"], ["later"]]
    assert all(f"the first at {__file__}:" in text for text in (asked[0], seen[0]["calls"][0]["origin"]))
    assert seen[0]["tools"] and seen[0]["write_types"][0] == "dict" and registry.audit_state()["calls"] == []


def test_modules_that_code_may_not_import_and_definitions():
    for code, options in (("import safepyrun", {}), ("import fastaudit", {}), ("def f(): pass", {"ban_defs": True}),
                          ("class A: pass", {"ban_defs": True}), ("import json", {"ban_imports": ["json"]}), ("from json import dumps", {"ban_imports": ["json"]})):
        with pytest.raises(PermissionError, match="is not allowed by this policy"):
            run(code, **options)
    assert run("import json\njson.dumps(1)", ban_imports=["csv"], ban_defs=True) == "1"


def test_a_name_of_the_callers_is_not_the_builtin_one():
    import re
    assert run("compile('a')", {"compile": re.compile}) == re.compile("a")
    for g in ({}, {"compile": compile}):
        with pytest.raises(PermissionError, match="compile"):
            run("compile('a', 'b', 'exec')", g)
    with pytest.raises(PermissionError, match="eval"):
        run("compile('a')\neval('1')", {"compile": re.compile})


@pytest.mark.parametrize("url, good", [
    ("https://example.org", True), ("https://EXAMPLE.org./x?y#z", True), ("https://example.org:8443/", True),
    ("https://sub.all.net/", True), ("https://all.net/", True), ("http://example.org/", False), ("https://example.org.evil.net/", False),
    ("https://evil.net/?example.org", False), ("https://example.org@evil.net/", False), ("https://evil.net\\@example.org/", False),
    ("https://notall.net/", False), ("https://example.org\x00.evil.net/", False), ("https://ex\u00e4mple.org/", False), ("https://[::1", False),
    ("example.org", False), ("", False), (5, False), ("https://example.org:x/", False), ("https://example.org /", False),
])
def test_urls_are_read_strictly(url, good):
    registry.begin_run({"ok_urls": ["example.org", ".all.net"]}, None)
    try:
        if good:
            notebook.UrlPolicy()(None, [url], {}, None)
        else:
            with pytest.raises(PermissionError):
                notebook.UrlPolicy()(None, [url], {}, None)
    finally:
        registry.begin_run(None, None)


class Says(AllowPolicy):
    """A policy with this answer; text is an objection."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, obj, args, kwargs, ok_dests):
        if isinstance(self.answer, str):
            raise PermissionError(self.answer)
        return self.answer


@pytest.mark.parametrize("answers, message", [
    ([None], None), ([...], None), ([None, "no"], "no"), ([..., "no", "never"], "no; never"), (["no", True], None), ([True, "no"], None),
    (["no", "no"], "no"), ([False], None),
])
def test_policies_add_up(answers, message):
    def decide():
        registry.decide([Says(answer) for answer in answers], registry.CallInfo("m", "f", (), {}), None, None)
    if message is None:
        decide()
    else:
        with pytest.raises(PermissionError) as caught:
            decide()
        assert str(caught.value) == message


@pytest.mark.parametrize("answer, message", [(True, None), (False, "no; never"), (None, "no; never"), (..., None), ("only", "never")])
def test_the_hook_has_three_answers(answer, message):
    def hook(info):
        return (... if info.message == "no" else None) if answer == "only" else answer
    registry.begin_run(None, hook)
    try:
        if message is None:
            registry.decide([Says("no"), Says("never")], registry.CallInfo("m", "f", (), {}), None, None)
        else:
            with pytest.raises(PermissionError, match=message):
                registry.decide([Says("no"), Says("never")], registry.CallInfo("m", "f", (), {}), None, None)
    finally:
        registry.begin_run(None, None)


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


@pytest.mark.parametrize("call", [("move", "outside", "here"), ("move", "here", "outside"), ("hardlink_to", "here", "outside"), ("hardlink_to", "outside", "here")])
def test_no_file_outside_is_moved_away_or_written_to_by_another_name(tmp_path, call):
    name, *ends = call
    (tmp_path / "inside").mkdir()
    places = {"here": tmp_path / "inside" / "here", "outside": tmp_path / "outside"}
    places[ends[0 if name == "move" else 1]].write_text("kept")
    owner, key = (shutil, "shutil") if name == "move" else (Path, "Path")
    allow({owner: [(name, registry.WRITE_POLICIES[key, name])]})
    one, other = (places[end] for end in ends)
    fn, args = (shutil.move, (str(one), str(other))) if name == "move" else (one.hardlink_to, (str(other),))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(PermissionError, match="not allowed; permitted"):
        AllowChecked(fn, [str(tmp_path / "inside")])(*args)
    assert sorted(tmp_path.rglob("*")) == before
    AllowChecked(fn, [str(tmp_path)])(*args)
    assert sorted(tmp_path.rglob("*")) != before


LINKED = {  # what is done below ok/, where `out` leads out of it, and `deep/er/l` does not where it is
    "link": lambda ok: (ok / "new").symlink_to("../outside"),
    "link by an absolute path": lambda ok: (ok / "new").symlink_to(ok.parent / "outside"),
    "copy into a directory": lambda ok: shutil.copy(ok / "src/out", ok),
    "copy2 into a directory": lambda ok: shutil.copy2(ok / "src/out", dst=str(ok)),
    "move into a directory": lambda ok: shutil.move(str(ok / "src/out"), str(ok)),
    "copytree": lambda ok: shutil.copytree(ok / "src", ok, dirs_exist_ok=True),
    "copytree with links": lambda ok: shutil.copytree(ok / "deep/er", ok / "new", symlinks=True),
    "copy of a link": lambda ok: shutil.copy(ok / "deep/er/l", ok / "new", follow_symlinks=False),
    "rename a link": lambda ok: (ok / "deep/er/l").rename(ok / "new"),
    "replace a link": lambda ok: (ok / "deep/er/l").replace(ok / "new"),
    "rename what a link is in": lambda ok: (ok / "deep/er").rename(ok / "new"),
    "hard link of a link": lambda ok: (ok / "new").hardlink_to(ok / "deep/er/l"),
    "move a link": lambda ok: shutil.move(str(ok / "deep/er/l"), str(ok / "new")),
}


@pytest.mark.parametrize("do", list(LINKED.values()), ids=list(LINKED))
def test_nothing_is_written_through_links_that_code_has_made(tmp_path, do):
    ok = tmp_path / "ok"
    for folder in ("src", "deep/er", "outside"):
        (ok / folder).mkdir(parents=True)
    (tmp_path / "outside").write_text("kept")
    (ok / "src/out").write_text("owned")
    (ok / "out").symlink_to("../outside")
    (ok / "deep/er/l").symlink_to("../../outside")
    done, patch = [], pytest.MonkeyPatch()

    def checked(owner, key, name):
        real = getattr(owner, name)

        def call(*args, **kwargs):
            obj, rest = (args[0], args[1:]) if key == "Path" else (None, args)
            patch.undo()  # the functions call each other
            registry.WRITE_POLICIES[key, name](obj, rest, kwargs, [str(ok)])
            done.append(name)
            return real(*args, **kwargs)
        patch.setattr(owner, name, call)
    for key, name in registry.WRITE_POLICIES:
        if key != "builtins" and name in ("symlink_to", "hardlink_to", "rename", "replace", "copy", "copy2", "copytree", "move"):
            checked(Path if key == "Path" else shutil, key, name)
    with pytest.raises(PermissionError, match="not allowed"):
        do(ok)
    assert done == [] and (tmp_path / "outside").read_text() == "kept" and not (ok / "new").is_symlink() and not (ok / "new").exists()


def test_links_that_stay_inside_are_made_and_moved(tmp_path):
    ok = tmp_path / "ok"
    (ok / "a/b").mkdir(parents=True)
    (ok / "file").write_text("x")
    policies = registry.WRITE_POLICIES
    policies["Path", "symlink_to"](ok / "a/l", ["../file"], {}, [str(ok)])
    (ok / "a/l").symlink_to("../file")
    policies["Path", "rename"](ok / "a", [ok / "c"], {}, [str(ok)])
    policies["shutil", "move"](None, [str(ok / "a/l"), str(ok / "a/b")], {}, [str(ok)])
    policies["shutil", "copy"](None, [ok / "a/l", ok / "a/b"], {}, [str(ok)])
    policies["shutil", "copytree"](None, [ok / "a", ok / "new"], {"symlinks": True}, [str(ok)])


def local_class():
    class Local:
        pass
    return Local


def test_skills_are_looked_up_and_called(monkeypatch):
    skill = types.ModuleType("shop.prices", "What things cost.\n\nMore.")
    monkeypatch.setitem(sys.modules, "shop.prices", skill)
    exec("def price(thing: str) -> int:\n    '''The price of a thing, in cents.'''\n    return {'tea': 250}[thing]\n"
         "def _hidden(): pass\nfrom json import dumps", vars(skill))
    runner = RunPython(g={}, tree="base")
    skills = notebook.skills

    def ask(code):
        return asyncio.run(runner(code))
    assert skills.register(skill) == "prices" and "prices" in skills.known()
    with pytest.raises(NameError):
        ask("list_pyskills()")
    with pytest.raises(KeyError, match="there is no skill 'nothing'"):
        skills.enable("nothing")
    skills.enable("prices")
    try:
        assert ask("[list_pyskills(), xdir('prices'), docfind('CENTS'), price('tea') * 2]") == \
            [{"prices": "What things cost."}, ["price"], {"prices.price": "The price of a thing, in cents."}, 500]
        assert ask("doc('prices')").endswith("price(thing: str) -> int: The price of a thing, in cents.")
        assert ask("doc('prices.price')") == "price(thing: str) -> int\nThe price of a thing, in cents."
        with pytest.raises(KeyError, match="prices"):
            ask("doc('other')")
        with pytest.raises(KeyError):
            ask("price('gold')")
        again = types.ModuleType("more.prices2")
        exec("def price(): pass", vars(again))
        skills.register(again)
        with pytest.raises(ValueError, match="another has price"):
            skills.enable("prices2")
    finally:
        skills.disable("prices")
    with pytest.raises(NameError):
        ask("price('tea')")
    assert not registry.is_tool(skill.price)


class Shop:
    """Equal to all others, so that none of them can be a key of a dict."""

    def __eq__(self, other):
        return isinstance(other, Shop)

    def price(self, thing):
        return {"tea": 250}[thing]


@pytest.fixture(name="skill")
def maker_of_skills():
    skills, made = notebook.skills, []

    def make(name, **members):
        module = types.ModuleType(name)
        module.__all__ = list(members)
        vars(module).update(members)
        made.append(skills.register(module))
        skills.enable(name)
    yield make
    for name in made:
        with contextlib.suppress(KeyError):
            skills.disable(name)


def test_a_skill_of_methods(skill):
    ours, theirs = Shop(), Shop()
    skill("shop", price=ours.price)
    assert run("price('tea')") == 250 and registry.is_tool(ours.price) and not registry.is_tool(theirs.price)
    notebook.skills.disable("shop")
    assert not registry.is_tool(ours.price) and not registry.__pytools__


def test_a_skill_that_is_disabled_takes_only_its_own_with_it(skill):
    def before(): pass
    def after(): pass
    def shared(): pass
    def denied(): pass

    class Never(notebook.AllowPolicy):
        def __call__(self, obj, args, kwargs, ok_dests):
            raise PermissionError("never")
    names = {"before": before, "after": after, "denied": denied, "chk_dest": registry.chk_dest}
    allow(before)
    allow(denied, allow_policy=Never())
    was = {owner: set(entries) for owner, entries in registry.__pytools__.items()}
    skill("one", **names, shared=shared)
    skill("two", again=shared)
    with pytest.raises(PermissionError, match="never"):
        AllowChecked(denied, None)()
    allow(after, registry.chk_dest)
    notebook.skills.disable("one")
    assert [registry.is_tool(fn) for fn in (*names.values(), shared)] == [True] * 5 and "again" in notebook.skills.namespace()
    notebook.skills.disable("two")
    assert not registry.is_tool(shared) and not registry.is_tool(notebook.skills.doc)
    assert was.keys() <= registry.__pytools__.keys() and len(registry.__pytools__) == len(was) + 2


def test_skills_of_installed_distributions(tmp_path, monkeypatch):
    (tmp_path / "weather_skill.py").write_text('"""The weather."""\ndef today():\n    """How it is."""\n    return "rain"\n')
    info = tmp_path / "weather_skill-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: weather_skill\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[hotcell.skills]\nweather = weather_skill\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    skills = notebook.skills
    assert "weather" in skills.known() and "weather" not in skills.list_pyskills()
    skills.enable("weather")
    try:
        assert run("today()") == "rain"
    finally:
        skills.disable("weather")


# ---- the user's file ----

def test_the_file_in_json(tmp_path):
    path = tmp_path / "config" / "hotcell" / "python.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"ok_dests": ["."], "tree": "base", "limits": {"timeout": 9}}))
    runner = RunPython(g={})
    assert runner.ok_dests == (".",) and asyncio.run(runner("1 + 1")) == 2
    assert RunPython(g={}, ok_dests=["/tmp"]).ok_dests == ("/tmp",)
    path.write_text('{"ok_dests": null,\n "tre": "base"}')
    with pytest.warns(UserWarning, match=r"python.json:2:2: unknown member 'tre'"):
        assert RunPython(g={}).ok_dests == ()
