"""RunPython: code of a model, run as if in the caller's namespace, with what only a session could do said so."""

import asyncio
import contextlib
import decimal
import json
import math
import os
import signal
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import cells
import pytest
from runners import PACKAGE, fresh, run  # noqa: F401

import hotcell
from hotcell.adapters import RunPython, frames, notebook, raised_as
from hotcell.adapters import allow as registry
from hotcell.adapters.allow import allow


module_level = "of this test module"


# ---- running ----

@pytest.mark.parametrize(("code", "value"), [
    ("1 + 1", 2), ("x = 2\nx * 3", 6), ("x = 1", None), ("[1, 'a', None]", [1, "a", None]), ("(1, {2})", (1, {2})),
    ("b'x'", b"x"), ("print", "<built-in function print>"), ("'text'", "text"), ("if True:\n    1", None),
])
def test_the_last_expression_is_the_value(code, value):
    assert run(code) == value


@pytest.mark.parametrize("session", [False, True])
def test_hints_are_in_the_words_of_the_caller(session):
    with pytest.raises(MemoryError) as caught:
        run("x = [0] * 10**11", session=session)
    assert '"limits": {"memory": ...} in a policy' in caught.value.__notes__[0]


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize(("code", "hint"), [
    ("open('x', 'w')", "Write files in a directory of RunPython's ok_dests."),
    ("open('/etc/x', 'w')", "Write files in a directory of RunPython's ok_dests."),
    ("import os; os.mkdir('/etc/x')", "Write files in a directory of RunPython's ok_dests."),
    ("import sqlite3; sqlite3.connect('/etc/x')", "Write files in a directory of RunPython's ok_dests."),
    ("open('/nosuch')", "Of the host's files a program sees those in a directory of RunPython's ok_dests. The working directory is empty."),
    ("x = []\nx._private", "Names that begin with an underscore are closed; use the public ones."),
    ("import threading\nthreading.Thread(target=print).start()", "Do the work in one thread; numpy and pandas are fast enough for most of it."),
    ("import tempfile\ntempfile.mkdtemp()", "Nothing can be written to /tmp here: write files in a directory of RunPython's ok_dests, and have them made there with "
     "tempfile's argument dir."),
    ("getattr([], '_' + 'private')", "Names that begin with an underscore are closed; use the public ones."),
])
def test_a_refusal_says_what_to_do(session, code, hint):
    """Of files, in terms of what the caller can change; of private names too (S3.8)."""
    with pytest.raises(Exception) as caught:
        run(code, session=session)
    assert caught.value.__notes__ == [f"hint: {hint}"]


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize("code", ["", " \n\t\n", "\ufeff", "# nothing", "x = 1;"])
def test_a_text_without_code_is_a_program(session, code):
    assert run(code, session=session) is None


def test_code_with_a_null_byte_is_a_syntax_error():
    with pytest.raises(SyntaxError, match="null bytes"):
        run("x\0 = 1")


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


@pytest.mark.parametrize(("argument", "value", "expected"), [
    ("g", 5, "a dict, got int"), ("g", [], "a dict, got list"), ("ok_dests", 5, "a list of directories, or None, got 5"), ("ban_imports", 5, "a list of str, got int"),
    ("pre_deny", "x", "a function, got str"), ("on_call", 3, "a function, got int"),
])
def test_a_wrong_argument_is_named(argument, value, expected):
    """S3.1: when it is given."""
    with pytest.raises(TypeError, match=f"^{argument}: expected {expected}$"):
        RunPython(**{"g": {}, argument: value})
    with pytest.raises(TypeError, match="^code: expected a str, got bytes$"):
        run(b"1")


@pytest.mark.parametrize("session", [False, True])
def test_a_wrong_policy_is_named_as_the_argument(session):
    with pytest.raises(hotcell.PolicyError, match="^policy: there is no policy 'nope'"):
        run("1", policy="nope", session=session)


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


CODE = "def f(x):\n    return 1 / x\n\nprint('é'); f(0)"


@pytest.mark.parametrize("session", [False, True])
def test_the_raised_exception_has_frames_of_the_code(session):
    """S3.7: what the caller prints, and a debugger walks, ends in the lines of the code."""
    with contextlib.closing(RunPython(g={}, tree="base", session=session)) as runner:
        for _ in range(2):
            with pytest.raises(ZeroDivisionError) as caught:
                asyncio.run(runner(CODE))
            *_, outer, inner = traceback.extract_tb(caught.value.__traceback__)
            assert (outer.name, outer.lineno, outer.line, inner.name, inner.lineno, inner.line) == \
                ("<module>", 4, "print('é'); f(0)", "f", 2, "return 1 / x")
            assert outer.filename == inner.filename and outer.filename.startswith("<pyrun_")
            told = "".join(traceback.format_exception(type(caught.value), caught.value, caught.value.__traceback__))
            if sys.version_info[:2] == (3, 11):
                assert told.endswith(caught.value.cell_traceback.partition("\n")[2])  # with the same carets
        for code, line in (("x = 1\nimport socket", "import socket"), ("import sqlite3\nsqlite3.connect('/etc/x.db')", "sqlite3.connect('/etc/x.db')")):
            with pytest.raises(PermissionError) as caught:  # S3.30: sqlite3's audit event is refused with this exception
                asyncio.run(runner(code))
            assert traceback.extract_tb(caught.value.__traceback__)[-1].line == line
        with pytest.raises(SyntaxError, match="never closed") as caught:
            asyncio.run(runner("x = 1\ny = ("))
        assert (caught.value.lineno, caught.value.offset, caught.value.text) == (2, 5, "y = (\n") and caught.value.filename.startswith("<pyrun_")


def test_claims_about_frames_do_no_harm():
    """The traceback comes from the cell, where a hostile program has written it."""
    assert frames.traceback_of("") is None and frames.traceback_of("  File \"/etc/passwd\", line 1, in f\n    root\n") is None
    for line, name in ((0, "f"), (999999, "f"), (1, "a b\x00"), (1, "__import__('os')"), (1, "\ud800")):
        text = f'  File "<pyrun_7>", line {line}, in {name}\n    x\n    ' + "^" * 500 + "\n"
        found = frames.traceback_of(text * 2000)
        count = 0
        while found is not None:
            count, found = count + 1, found.tb_next
        assert count == frames.MOST_FRAMES, (line, name)


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
    with pytest.raises(hotcell.JobError, match="exit status 3"):
        run("raise SystemExit(3)")
    with pytest.raises(TimeoutError):
        run("while True: pass", timeout=1)
    with pytest.raises(hotcell.PolicyError):
        run("1", policy="no-such")


RAISED = [
    ("import json\njson.loads('[')", json.JSONDecodeError, "Expecting value: line 1 column 2 (char 1)", "json.decoder.JSONDecodeError"),
    ("import decimal\ndecimal.Decimal('1') / 0", decimal.DivisionByZero, "[<class 'decimal.DivisionByZero'>]", "decimal.DivisionByZero"),
    ("b'\\xff'.decode()", UnicodeDecodeError, "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte", "UnicodeDecodeError"),
    ("class Own(ValueError): pass\nraise Own('text')", ValueError, "text", "Own"),
    ("class Own(KeyError): pass\nclass Other(Own): pass\nraise Other('text')", KeyError, "'text'", "Other"),
    ("class TimeoutError(Exception): pass\nraise TimeoutError('mine')", Exception, "mine", "TimeoutError"),
    ("import unittest\nraise unittest.SkipTest('text')", Exception, "text", "unittest.case.SkipTest"),
    ("raise StopIteration('text')", Exception, "text", "StopIteration"),
    ("raise ExceptionGroup('text', [ValueError(1)])" if sys.version_info >= (3, 11) else "raise Exception('text (1 sub-exception)')",
     Exception, "text (1 sub-exception)", "ExceptionGroup" if sys.version_info >= (3, 11) else "Exception"),
]


@pytest.mark.parametrize("session", [False, True])
def test_exceptions_of_libraries_and_of_the_code_keep_their_type_or_that_of_a_base(session):
    """S3.7: the nearest class that the caller has, the text, and the code's own frames; the name in the cell is a member."""
    with contextlib.closing(RunPython(g={}, tree="base", session=session)) as runner:
        for code, kind, text, name in RAISED:
            with pytest.raises(kind) as caught:
                asyncio.run(runner(code))
            error = caught.value
            assert (type(error), str(error), error.cell_type) == (kind, text, name)
            assert traceback.extract_tb(error.__traceback__)[-1].filename.startswith("<pyrun_")
            named = [f"its class in the cell: {name}"] if name not in (kind.__name__, f"{kind.__module__}.{kind.__name__}") else []
            assert getattr(error, "__notes__", []) == named
    assert RAISED[0][1]("Expecting value", "[", 1).args[0] == RAISED[0][2]
    with pytest.raises(json.JSONDecodeError) as caught:
        run(RAISED[0][0])
    assert (caught.value.msg, caught.value.pos, caught.value.lineno, caught.value.colno) == ("Expecting value", 1, 1, 2)


def test_exceptions_of_data_libraries_keep_their_type(scientific):
    """S3.7: as the caller has loaded pandas."""
    pd = cells.need_module("pandas")
    with pytest.raises(pd.errors.UndefinedVariableError, match="name 'b' is not defined") as caught:
        run("import pandas as pd\npd.DataFrame({'a': [1]}).query('b > 1')", tree="scientific", timeout=60 * cells.SLOWNESS)
    assert isinstance(caught.value, NameError)


class Loud(ValueError):
    """Runs code when it is made."""

    def __new__(cls, *args):
        raise AssertionError("ran")


class Teller(ValueError):
    """Runs code when it is shown."""

    def __str__(self):
        raise AssertionError("ran")


class Plain(ValueError):
    """Has no code of its own but a constructor's."""

    def __init__(self):
        raise AssertionError("ran")


class Lazy(type(sys)):
    """A module that imports when it is asked for what it does not have."""

    def __getattr__(self, name):
        raise AssertionError("ran")


def test_a_cell_chooses_among_harmless_exceptions_alone(monkeypatch):
    """S3.7: the names come from a hostile process. Nothing is imported, nothing but a constructor of Python's runs, and only exceptions of
    the table are made."""
    numpy = Lazy("numpy_of_test")
    numpy.__file__ = "/usr/lib/python3/dist-packages/numpy_of_test.py"
    monkeypatch.setattr(raised_as, "LIBRARIES", {"numpy_of_test"})
    monkeypatch.setitem(sys.modules, "numpy_of_test", numpy)
    for kind in (Loud, Teller, Plain):
        monkeypatch.setattr(kind, "__module__", "numpy_of_test")
        setattr(numpy, kind.__name__, kind)
    numpy.exit, numpy.run, numpy.Quit = sys.exit, subprocess.run, KeyboardInterrupt

    def made(*names):
        return raised_as.exception(hotcell.results.Error("X", "text", "", classes=names))
    assert type(made("numpy_of_test.Plain", "ValueError")) is Plain and made("numpy_of_test.Plain").args == ("text",)
    for name in ("numpy_of_test.Loud", "numpy_of_test.Teller", "numpy_of_test.missing", "numpy_of_test.exit", "numpy_of_test.run", "numpy_of_test.Quit",
                 "numpy_of_test.Plain.__init__", "hotcell.errors.JobError", "hotcell.UsageError", f"{__name__}.Lazy", "os.system", "no_such.Error",
                 "builtins.ValueError.__init__", "", ".", "..", "json.", ".decoder", "print", "exec", "type", "SystemExit"):
        error = made(name, "ValueError")
        assert type(error) is ValueError and error.cell_type == name, name
        assert made(name) is None, name
    assert made(*["a.b"] * 100, "ValueError") is None  # of too many names


# ---- what comes back ----

TARGETS = """
for i, j, k in [(1, 2, 3)]: pass
for a, (b, [c, *d]) in [(4, (5, [6, 7]))]: pass
match [1, {'k': 5}, (6, 7)]:
    case [m1, {'k': m2, **rest}, (m3, *m4)] if m1 in (1, 2): e = 8
import contextlib
with contextlib.nullcontext((9, 10)) as (f, g), contextlib.nullcontext(11) as h: pass
(n := 12)
"""


def test_what_is_changed_in_place_stays_the_callers_object():
    """S3.10, S3.12: also by += and beside arguments with names; a name that gets another object has that one."""
    g = {"items": [3, 1], "more": [1], "table": {"a": 1}, "found": {1}, "fresh": [1], "n": 1, "text": "x"}
    before = dict(g)
    run("shown = sorted(items, key=abs); items.append(2)\nmore += [2]\ntable |= {'b': 2}\nfound |= {2}\nwith open('/dev/null') as f: more += [3]\n"
        "fresh = fresh + [2]\nn += 1\ntext += 'y'", g)
    assert all(g[name] is before[name] for name in ("items", "more", "table", "found")) and before["fresh"] == [1]
    assert g == {"items": [3, 1, 2], "more": [1, 2, 3], "table": {"a": 1, "b": 2}, "found": {1, 2}, "fresh": [1, 2], "n": 2, "text": "xy", "shown": [1, 3]}


def test_an_object_that_can_be_called_stays_without_a_word():
    """S3.15: it is the caller's already; only under another name it is warned of."""
    class Caller:
        def __call__(self): raise AssertionError("ran")
    g = {"caller": Caller()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run("n = len(sorted([caller], key=id))", g)
    with pytest.warns(UserWarning, match="other did not come back"):
        run("other = caller", g)
    assert set(g) == {"caller", "n"}


@pytest.mark.skipif(sys.version_info < (3, 10), reason="no match statement")
def test_every_form_of_an_assignment_comes_back():
    """S3.15: names are found in the text before it runs."""
    g = {}
    run(TARGETS, g)
    assert g == {"i": 1, "j": 2, "k": 3, "a": 4, "b": 5, "c": 6, "d": [7], "m1": 1, "m2": 5, "rest": {}, "m3": 6, "m4": [7], "e": 8, "f": 9, "g": 10,
                 "h": 11, "n": 12}


def test_more_names_than_a_run_gives_back_are_warned_of():
    """S3.15: a job returns 64 variables."""
    g = {}
    with pytest.warns(UserWarning, match="v63, v64, v65, v66, v67, ... did not come back: a run gives back 64 names, and the code has 7 more"):
        run("\n".join(f"v{n} = {n}" for n in range(70)) + "\nlast_ = 1", g)
    assert len(g) == 64 and g["last_"] == 1


def test_a_value_that_is_equal_and_another_comes_back():
    """S3.15: 1, 1.0 and True are equal, and so are dicts of another order."""
    order = {"a": 1, "b": 2}
    g = {"n": 1, "flag": 1, "order": order, "same": [1]}
    same = g["same"]
    run("n, flag = 1.0, True\norder['a'] = order.pop('a')\nsame = [1]", g)
    assert [repr(value) for value in g.values()] == ["1.0", "True", "{'b': 2, 'a': 1}", "[1]"] and g["order"] is order and g["same"] is same


@pytest.mark.parametrize("session", [False, True])
def test_one_value_with_several_names_stays_one(session):
    """S3.10: what is changed in place under one name is seen under the other."""
    several, other = [1], {"a": 1}
    g = {"one": several, "two": several, "three": several, "left": other, "right": other, "apart": [1]}
    before = dict(g)
    with contextlib.closing(RunPython(g=g, tree="base", session=session)) as runner:
        assert asyncio.run(runner("one.append(2)\ntwo.append(3)\nleft['b'] = 2\n[one is two, one is apart, right, apart]")) == \
            [True, False, {"a": 1, "b": 2}, [1]]
        assert asyncio.run(runner("three.append(4)\n[one, two, three]")) == [[1, 2, 3, 4]] * 3
        asyncio.run(runner("one = 5\ntwo.append(6)"))
    assert several == [1, 2, 3, 4, 6] and g == {**before, "one": 5} and other == {"a": 1, "b": 2}
    assert all(g[name] is before[name] for name in before if name != "one")


@pytest.mark.parametrize("session", [False, True])
def test_large_values_come_back_as_themselves(session):
    """S3.4: up to limits.value, 16 MiB under this policy."""
    with contextlib.closing(RunPython(g={}, tree="base", session=session)) as runner, warnings.catch_warnings():
        warnings.simplefilter("error")
        for code in ("list(range(200_000))", "'x' * 10**6", "b'x' * 10**6", "{i: str(i) for i in range(50_000)}", "-10**3000"):
            value = asyncio.run(runner(code))
            assert value == eval(code) and type(value) is type(eval(code)), code


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize("code", ["list(range(3000))", "'x' * 20000", "10**3000", "[1, 'a'] * 400", "b'x' * 3000"])
def test_a_value_beyond_the_limit_is_seen_to_be_cut(session, code, tmp_path):
    """S3.4: a Repr, with a warning; in a variable it comes back whole."""
    policy = tmp_path / "small.json"
    policy.write_text(json.dumps({"name": "small", "extends": "notebook", "limits": {"value": "4K"}}))
    g = {}
    with contextlib.closing(RunPython(g=g, tree="base", session=session, policy=str(policy))) as runner:
        with pytest.warns(UserWarning, match="the value is here as .*text alone: it does not fit into the policy's limits.value, 4096 bytes"):
            value = asyncio.run(runner(code))
        assert type(value) is hotcell.Repr and repr(eval(code)).startswith(value[:100])
        asyncio.run(runner(f"x = {code}"))
    assert g["x"] == eval(code)


@pytest.mark.parametrize("session", [False, True])
def test_warnings_are_of_the_callers_line(session):
    """S3.4, S3.15: Python shows one only once for each line, and of a line of the package for all callers."""
    with contextlib.closing(RunPython(g={}, tree="base", session=session)) as runner:
        for code in ("x = [1]\nx.append(x)\nx", "\n".join(f"v{n} = {n}" for n in range(70)), "\n".join(f"v{n} = {n}" for n in range(70)) + "\n1 / 0"):
            with pytest.warns(UserWarning) as caught, contextlib.suppress(ZeroDivisionError):
                asyncio.run(awaited(runner, code))
            assert {each.filename for each in caught} == {__file__}


async def awaited(runner, code):
    return await runner(code)


def test_a_value_of_a_class_that_is_not_carried_is_a_repr():
    """S3.4: a str that the program returned is never one."""
    for code in ("object()", "[object(), 1]", "lambda: 1", "print"):
        assert type(run(code)) is hotcell.Repr
    assert type(run("repr(print)")) is str
    with pytest.warns(UserWarning, match="the value is here as text alone: .*contains itself"):
        assert type(run("x = [1]\nx.append(x)\nx")) is hotcell.Repr


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize(("end", "error"), [("1 / 0", ZeroDivisionError), ("while True: pass", TimeoutError), ("y = [0] * 10**11", MemoryError)])
def test_what_was_assigned_before_an_exception_comes_back(session, end, error):
    """S3.10, S3.15: as with code that runs in the caller's process."""
    items, before = [1], {"n": 1, "keep": print}
    g = {**before, "items": items}
    with contextlib.closing(RunPython(g=g, tree="base", session=session, timeout=cells.SLOWNESS)) as runner:
        with pytest.raises(error):
            asyncio.run(runner(f"n = 2\nitems.append(5)\nm_ = (1, n)\n_own = 3\nkeep = 4\n{end}\nlate = 1"))
        assert g == {"n": 2, "keep": print, "items": [1, 5], "m_": (1, 2)} and g["items"] is items
        assert asyncio.run(runner("[n, items, m_]")) == [2, [1, 5], (1, 2)]
        with pytest.raises(PermissionError):
            asyncio.run(runner("n = 3\nx.__class__"))  # is refused before any of it runs
        assert g["n"] == 2


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
    with pytest.warns(UserWarning, match="config.py:2: ZeroDivisionError: division by zero$") as caught:
        assert RunPython(g={}).ok_dests == ()
    assert [each.filename for each in caught if each.category is UserWarning] == [__file__]  # others may be of what earlier tests left
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RunPython(g={})  # it is read once


@pytest.mark.parametrize(("content", "said"), [
    (b"x = (\n", "config.py:1: SyntaxError: '(' was never closed"), (b"\nimport json\njson.loads('{')", "config.py:3: JSONDecodeError: Expecting"),
    (b"def f():\n    raise ValueError(1)\nf()", "config.py:2: ValueError: 1"), (b"raise SystemExit(3)", "config.py:1: SystemExit: 3"),
    (b"default_ok_dests = 3", "config.py: TypeError: ok_dests: expected a list of directories, or None, got 3"),
])
def test_the_place_of_an_error_in_the_configuration_is_named(tmp_path, content, said):
    """S3.25"""
    path = tmp_path / "config" / "safepyrun" / "config.py"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.warns(UserWarning) as caught:
        assert RunPython(g={}).ok_dests == ()
    assert str(caught[0].message).startswith(f"Failed to load {path.parent}/{said}")


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize(("text", "place", "said"), [
    ('{"limits":\n  {"timeout": "abc"}}', "2:15", "limits.timeout: expected a duration"), ('{"limits": {"memory": -1}}', "1:23", "limits.memory: expected 32M"),
    ('{"limits": {"tiemout": 3}}', "1:24", "unknown member 'tiemout' in limits; did you mean 'timeout'?"),
    ('{\n"policy": "nosuch"}', "2:11", "policy: there is no policy 'nosuch'"), ('{\n"tree": "nosuch"}', "2:9", "tree 'nosuch' is not built"),
])
def test_what_the_command_refuses_has_its_place_in_the_configuration(tmp_path, session, text, place, said):
    path = tmp_path / "config" / "hotcell" / "python.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    runner = RunPython(g={}, session=session)
    with contextlib.closing(runner), pytest.raises(hotcell.HotcellError) as caught:
        asyncio.run(runner("1"))
    assert str(caught.value).startswith(f"{path}:{place}: {said}")


def test_an_argument_is_not_blamed_on_the_configuration(tmp_path):
    path = tmp_path / "config" / "hotcell" / "python.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"limits": {"timeout": 5}}')
    with pytest.raises(hotcell.HotcellError, match="^limits.timeout: expected"):
        asyncio.run(RunPython(g={}, tree="base", timeout="abc")("1"))


def pyrun(*arguments, stdin=""):
    return subprocess.run([sys.executable, "-m", "hotcell.pyrun", *arguments], input=stdin, text=isinstance(stdin, str),
                          capture_output=True, check=False, timeout=cells.PATIENCE, env={**os.environ, "PYTHONPATH": str(PACKAGE)})


@pytest.mark.parametrize(("content", "line"), [
    (b"a\nx = '\xff'", "line 2: not UTF-8 (byte 0xff)"), (b"a\n\nb\0c", "line 3: contains a NUL byte"),
])
def test_command_line_and_texts_that_are_no_code(tmp_path, content, line):
    """S3.27"""
    assert (pyrun(stdin=content).returncode, pyrun(stdin=content).stderr.decode()) == (1, f"hotcell-pyrun: standard input: {line}\n")
    (tmp_path / "x.py").write_bytes(content)
    assert pyrun("x.py").stderr == f"hotcell-pyrun: x.py: {line}\n"


def test_command_line_without_code():
    done = pyrun(stdin="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_command_line_and_a_configuration_with_faults(tmp_path):
    path = tmp_path / "config" / "hotcell" / "python.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"tree": 1}')
    assert pyrun(stdin="1").stderr == f"hotcell-pyrun: Failed to load {path}:1:10: tree: expected a tree's name or path\n"
    path.write_text('{"limits": {"pids": 1}}')
    assert pyrun(stdin="1").stderr == f"hotcell-pyrun: {path}:1:21: limits.pids: expected 2 to 4096, got 1\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_line_ends_quietly_at_a_signal(tmp_path, number):
    """Ctrl-C shows no traceback of this package."""
    (tmp_path / "x.py").write_text("import time\ntime.sleep(3600)\n")
    command = subprocess.Popen([sys.executable, "-m", "hotcell.pyrun", "x.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    with command:
        children = Path(f"/proc/{command.pid}/task/{command.pid}/children")
        cells.wait_until("the command runs", children.read_text)
        command.send_signal(number)
        assert (command.communicate(timeout=cells.PATIENCE), command.returncode) == ((b"", b""), 128 + number)


def test_command_line(tmp_path):
    python = pyrun
    (tmp_path / "x.py").write_text("print('hello')\n1 + 1\n")
    done = python("x.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n2\n", "")
    done = python("-", stdin="x = 1")
    assert (done.returncode, done.stdout) == (0, "")
    done = python(stdin="1/0")
    assert (done.returncode, done.stdout) == (1, "") and 'File "<pyrun_0>", line 1, in <module>' in done.stderr
    assert done.stderr.startswith("Traceback") and done.stderr.endswith("\nZeroDivisionError: division by zero\n")
    for code, place, last in (("x = 1\nimport socket", "line 2\n    import socket", "PermissionError: Import of 'socket' is not allowed"),
                              ("x = (", "line 1\n    x = (", "SyntaxError: '(' was never closed"),
                              ("class Own(Exception): pass\nraise Own('why')", "line 2, in <module>", "Own: why")):
        done = python(stdin=code)
        assert (done.returncode, done.stdout) == (1, "") and place in done.stderr and f"\n{last}" in done.stderr
        assert done.stderr.count(last) == 1 and "in the cell" not in done.stderr, done.stderr
    done = python("missing.py")
    assert (done.returncode, done.stderr) == (1, "hotcell-pyrun: missing.py: No such file or directory\n")
    done = python("--help")
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("usage: hotcell-pyrun [PATH|-]\n\nRuns the code")
    for wrong in ["--unknown"], ["a", "b"]:
        assert (python(*wrong).returncode, python(*wrong).stderr) == (64, "usage: hotcell-pyrun [PATH|-]\n")


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
