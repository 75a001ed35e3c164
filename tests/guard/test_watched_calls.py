"""Calls of the program, which sys.monitoring tells of from Python 3.12 on: audit.natives of a policy, and on_call of RunPython."""

import asyncio
import contextlib
import json
import os
import sys

import cells
import pytest
from runners import fresh, run  # noqa: F401
from trees import Store, other_pythons

from hotcell.adapters import RunPython
from hotcell.adapters.allow import allow
from hotcell.adapters.notebook import DISABLE
from hotcell.errors import PolicyError

# A native function of no module of Python's own, as a library has them.
QUICK = "import zlib\nzlib.crc32.__module__ = 'quick.inner'\ndel zlib\n"


@pytest.fixture(scope="module", name="state")
def state_with_a_newer_python(base_tree):
    """A store whose tree "base" has Python 3.12 or later."""
    if sys.version_info >= (3, 12):
        return os.environ.get("HOTCELL_STATE", "")
    newer = {version: path for version, path in other_pythons().items() if version not in ("3.9", "3.10", "3.11")}
    if not newer:
        pytest.skip("no shim for Python 3.12 or later is built (make shims)")
    store = Store(cells.new_directory(cells.caller()) / "state")
    store.build("base", "--python", newer[max(newer, key=lambda version: int(version[2:]))])
    return str(store.path)


@pytest.fixture(name="newer")
def in_the_newer_tree(state, monkeypatch):
    monkeypatch.setenv("HOTCELL_STATE", state)


def judged(code, natives, **more):
    here = cells.new_directory(cells.caller())
    (here / "p.json").write_text(json.dumps({"name": "watched", "extends": "default", "audit": {"natives": natives}, "prelude": {"code": QUICK}, **more}))
    (here / "program.py").write_text(code)
    done = cells.hotcell("run", "-t", "base", "-p", "./p.json", "-o", "out", "program.py", cwd=here)
    manifest = here / "out" / "manifest.json"
    return done, json.loads(manifest.read_text()) if manifest.exists() else None


CALL = "import zlib\nprint(zlib.crc32(b'x'))"


def test_a_native_function_that_is_not_declared_is_refused(newer):
    """S3.32"""
    for declared in (["quick"], ["quick.inner.crc32"], ["qui*"], ["other", "quick.inner"]):
        assert judged(CALL, declared)[0].stdout == "2363233923\n", declared
    for declared in ([], ["quick.inn"], ["quick.inner.crc"]):
        done, manifest = judged(CALL, declared)
        assert done.returncode == 1 and "PermissionError: Calling the native function quick.inner.crc32 is not allowed by this policy" in done.stderr
        (denial,) = manifest["denials"]
        assert (denial["rule"], denial["what"], denial["line"]) == ("audit", "quick.inner.crc32", 2) and "written in Python" in denial["hint"]
    assert judged("import functools, zlib\nprint(functools.reduce(zlib.crc32, [b'x', 1]))", [])[0].stdout == "4225443349\n"  # functools calls it


def test_what_is_pythons_own_needs_no_declaration(newer):
    code = """
import collections, csv, dataclasses, datetime, decimal, functools, hashlib, io, itertools, json, math, operator, os, random, re, sqlite3, struct, threading
collections.OrderedDict(a=1).popitem(); collections.deque([1]).append(2); functools.partial(int)(3); list(itertools.chain([1]))
open("x", "w").write("1"); getattr(3, "real"); json.dumps(1); re.compile("a").match("a"); math.sqrt(2); datetime.datetime.now().isoformat()
sqlite3.connect(":memory:").execute("select 1").fetchall(); decimal.Decimal(1).sqrt(); hashlib.sha256(b"").hexdigest(); random.random(); struct.pack("i", 1)
csv.writer(io.StringIO()).writerow([1]); operator.itemgetter(0)([1]); type("X", (), {})(); vars(); dir(); isinstance(1, int); os.listdir("."); (1).__add__(2)
thread = threading.Thread(target=print); thread.start(); thread.join()
@dataclasses.dataclass
class D: a: int = 1
print(D().__eq__(D()), sorted([2, 1]))"""
    assert judged(code, [])[0].stdout == "\nTrue [1, 2]\n"


def test_the_program_does_not_find_what_watches_it(newer):
    for code in ("import sys\nsys.monitoring", "import sys\nsys.modules['sys.monitoring']", "from sys import monitoring"):
        done, _ = judged(f"{code}.free_tool_id(3)" if not code.startswith("from") else code, [])
        assert done.returncode == 1 and "Error: " in done.stderr


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the tree's Python has sys.monitoring")
def test_an_older_python_cannot_watch_calls(base_tree):
    done, _ = judged("1", [])
    assert (done.returncode, done.stderr) == (69, f"hotcell: policy 'watched': audit.natives needs Python 3.12 or later, and the tree has Python 3.{sys.version_info[1]}\n")
    with pytest.raises(PolicyError, match=r"^on_call: calls can be watched from Python 3.12 on, and the tree has Python 3\.\d+$"):
        run("1", on_call=print)


@pytest.mark.parametrize("session", [False, True])
def test_the_caller_is_told_of_each_call(newer, session):
    """S3.22: of the code's own calls, and not of those that libraries make; fn is the caller's own object."""
    told = []

    @allow
    def mine(x):
        return 2 * x

    def on_call(caller, callee, fn, code, off, data):
        told.append((caller, callee, fn, code.co_name, code.co_firstlineno, data["url"]))
    with contextlib.closing(RunPython(g={"mine": mine}, tree="base", session=session, on_call=on_call)) as runner:
        code = "import json\n\ndef f(a):\n    return len(a)\nclass C:\n    def m(self): return json.dumps([1])\n[mine(3), f('ab'), C().m(), 'a'.upper()]"
        assert asyncio.run(runner(code, data={"url": "x"})) == [6, 2, "[1]", "A"]
    assert told == [
        ("__main__", "builtins.__build_class__", None, "<module>", 1, "x"), ("__main__", "__main__.mine", mine, "<module>", 1, "x"),
        ("__main__", "__main__.f", None, "<module>", 1, "x"), ("__main__.f", "builtins.len", None, "f", 3, "x"),
        ("__main__", "__main__.C", None, "<module>", 1, "x"), ("__main__", "__main__.C.m", None, "<module>", 1, "x"),
        ("__main__.C.m", "json.dumps", None, "m", 6, "x"), ("__main__", "builtins.str.upper", None, "<module>", 1, "x")]


@pytest.mark.parametrize("session", [False, True])
def test_the_caller_can_refuse_a_call_and_stop_listening(newer, session):
    told = []

    def on_call(caller, callee, *_):
        told.append(callee)
        if callee == "json.dumps":
            raise PermissionError("no dumps today")
        return DISABLE if callee == "builtins.abs" else None
    with contextlib.closing(RunPython(g={}, tree="base", session=session, on_call=on_call)) as runner:
        assert asyncio.run(runner("for i in range(5): abs(i)\nabs(i)")) == 4
        assert told == ["builtins.range", "builtins.abs", "builtins.abs"]  # of two places
        with pytest.raises(PermissionError, match="no dumps today"):
            asyncio.run(runner("import json\njson.dumps(1)"))
        assert asyncio.run(runner("import json\ntry: json.dumps(1)\nexcept PermissionError as error: said = str(error)\nsaid")) == "no dumps today"


def test_calls_that_are_told_of_are_bounded(newer):
    calls = []
    with pytest.raises(PermissionError, match="the code makes more than 8000 calls, of which on_call is told: let it return DISABLE"):
        run("for i in range(9000): abs(i)", on_call=lambda *told: calls.append(told))
    assert len(calls) == 8000
