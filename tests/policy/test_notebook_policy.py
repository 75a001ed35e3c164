"""The policy `notebook`: attributes, guarded writes, audit events.

What sees calls of native code (sys.monitoring) waits for trees with Python 3.12."""

import json
import re

import cells
import pytest

pytestmark = pytest.mark.usefixtures("base_tree")

ALLOWED_DUNDERS = "__name__ __module__ __doc__ __qualname__ __file__".split()
INSPECT = ("tb_frame tb_next co_code f_back f_builtins f_code f_globals f_locals f_trace gi_frame gi_code gi_yieldfrom cr_await "
           "cr_frame cr_code cr_origin").split()


def run(code, *options, tree="base", policy="notebook"):
    return cells.run(code, *options, policy=policy, tree=tree)


def ok(code, **options):
    result = run(code, **options)
    assert result.manifest["status"] == "ok", result
    return result.stdout


def raised(statement, setup="", policy="notebook"):
    """(type, message) of the exception that a statement raises in a cell, and the denials."""
    result = run(f"{setup}\nimport json\nfound = None\ntry:\n    {statement}\nexcept Exception as error:\n"
                 "    found = [type(error).__name__, str(error)]\nprint(json.dumps(found))", policy=policy)
    return result.facts(), result.manifest["denials"]


# ---- before it runs ----

@pytest.mark.parametrize("name", ["_private", "__class__", "__dict__", "__subclasses__", "__roles__", "x__roles__", *INSPECT])
def test_attributes_that_are_rejected(name):
    for code in (f"x.{name}", f"x.{name} = 1", f"del x.{name}", f"f'{{x.{name}}}'", f"@x.{name}\ndef f():\n    pass"):
        manifest = run("x = 1\n" + code).manifest
        assert (manifest["status"], manifest["rejection"]["rule"]) == ("rejected", "attributes"), code
        assert f"'{name}'" in manifest["rejection"]["message"]


def test_attributes_that_are_not():
    assert ok("""
        def f():
            'doc'
        class N:
            pass
        N._ = 1
        print(f.__name__, f.__module__, f.__doc__, f.__qualname__, N._)
    """) == "f __main__ doc f 1\n"


@pytest.mark.parametrize("code, rule", [
    ("import socket", "imports"), ("import importlib", "imports"), ("from importlib import util", "imports"),
    ("exec('1')", "calls"), ("eval('1')", "calls"), ("compile('1', 'f', 'eval')", "calls"), ("x = importlib", "names")])
def test_the_check_before(code, rule):
    manifest = run(code).manifest
    assert (manifest["status"], manifest["rejection"]["rule"]) == ("rejected", rule)


@pytest.mark.parametrize("statement", ["def f():\n    pass", "class A:\n    pass"])
def test_definitions_can_be_banned(statement):
    assert run(statement).manifest["status"] == "ok"
    result = run(statement, policy={"extends": "notebook", "code": {"ban": ["def", "class"]}})
    assert result.manifest["status"] == "rejected", result


# ---- attributes and writes at run time ----

def test_attributes_are_looked_at_at_run_time_too():
    """What a text hides from the check, getattr() finds; stores and deletions go the same way."""
    name = "'_hid' + 'den'"
    for statement in (f"getattr(X, {name})", f"setattr(X, {name}, 1)", f"delattr(X, {name})"):
        found, _ = raised(statement, "class X:\n    pass")
        assert found[0] == "AttributeError" and "_hidden" in found[1], statement


def test_what_else_is_allowed():
    assert ok("""
        'a constant that is an expression'
        import dataclasses
        @dataclasses.dataclass
        class Point:
            'docstring'
            x: int = 0
            y: int = 1
        p = Point()
        p.x: int = 5
        n: int = 3
        del p.x
        print(p, Point.__doc__, n)
    """) == "Point(x=0, y=1) docstring 3\n"


@pytest.mark.parametrize("statement", ["a.method = print", "a.method = lambda: 1", "namespace.f = len", "namespace.f = A",
                                       "d['x'] = 1", "del d['__builtins__']", "d.update", "a.x, d['y'] = 1, 2"])
def test_writes_that_are_refused(statement):
    setup = ("import types\nclass A:\n    pass\na = A()\nnamespace = types.SimpleNamespace()\n"
             "d = {'__builtins__': 1}")
    found, denials = raised(statement, setup)
    if statement == "d.update":
        assert found is None
        return
    assert found and found[0] in ("PermissionError", "TypeError"), statement
    assert any(denial["layer"] == "runtime" for denial in denials)


def test_writes_that_are_not():
    assert ok("""
        import types
        class A:
            pass
        a, d, l, n = A(), {}, [1, 2, 3], types.SimpleNamespace(x=1)
        a.x = 1
        a.x += 1
        d['k'] = {'inner': 1}
        d['k']['inner'] += 2
        l[0], l[1:] = 5, [6]
        del l[0]
        n.x, n.y = 3, [4]
        n.y[0] = 7
        for d['i'] in range(3):
            pass
        with open('/output/f', 'w') as a.file:
            pass
        del a.x, d['i']
        print(d, l, n.x, n.y, hasattr(a, 'x'))
    """) == "{'k': {'inner': 3}} [6] 3 [7] False\n"


def test_types_that_may_be_written():
    """By default dict, list and SimpleNamespace, and the program's own; a policy adds others by name."""
    statement = "c['a'] = 1"
    setup = "import email.message\nc = email.message.Message()"
    assert raised(statement, setup)[0][0] in ("PermissionError", "TypeError")
    allowed = {"extends": "notebook", "code": {"write_types+": ["email.message.Message"]}}
    assert raised(statement, setup, policy=allowed)[0] is None
    assert raised("json.loads = 1", "import json")[0][0] in ("PermissionError", "TypeError")


def test_ordinary_syntax():
    assert ok("""
        a = [1, 2]
        print(*a, **{'sep': '-'})
        x = 6
        for change in ('x += 1', 'x -= 1', 'x *= 2'):
            pass
        x += 1; x -= 1; x *= 2; x /= 2; x //= 1; x %= 10; x **= 2; x = int(x); x |= 1; x &= 63; x ^= 2; x <<= 2; x >>= 1
        class M:
            def __matmul__(self, other):
                return 'matmul'
        m = M()
        m @= m
        print(x, m, [i for i in a], {i: i for i in a}, {i for i in a}, sum(i for i in a))
        def f(*args, key=1, **more):
            return args, key, more
        first, *rest = f(1, 2, key=3, other=4)
        print(first, rest, (lambda y: y + 1)(1))
    """) == "1-2\n78 matmul [1, 2] {1: 1, 2: 2} {1, 2} 3\n(1, 2) [3, {'other': 4}] 2\n"


@pytest.mark.parametrize("code", ["def f():\n    return x._y", "class A:\n    y = x._y", "[i._y for i in x]", "lambda: x._y",
                                  "print(*x._y)", "x += y._z", "def f(a=x._y):\n    pass", "async def f():\n    await x._y",
                                  "match x:\n    case int(_y=1):\n        pass"])
def test_what_is_inside_is_still_caught(code):
    assert run(code).manifest["status"] == "rejected"


def test_type_and_isinstance():
    assert ok("print(type(1) is int, isinstance(int, type), isinstance(1, type), type('A', (), {'x': 1}).x, "
              "isinstance(True, (int, str)), type(type(1)) is type)") == "True True False 1 True True\n"


def test_builtins_and_imports_are_the_usual_ones():
    assert ok("import collections.abc, xml.dom, sqlite3 as s\nfrom os.path import join\n"
              "print(len([n for n in 'abs all map reversed sorted super zip vars dir id hash'.split() if callable("
              "globals()['__builtins__'][n])]), join('a', 'b'))") == "11 a/b\n"


def test_imports_of_loaded_modules_alone():
    """The other form of that row, which a policy can ask for."""
    policy = {"extends": "notebook", "imports": {"loaded_only": True, "exception": "PermissionError"},
              "prelude": {"load": ["textwrap", "json"]}}
    assert raised("import textwrap", policy=policy)[0] is None
    assert raised("import colorsys", policy=policy)[0] == ["PermissionError", "colorsys not preloaded"]


# ---- events ----

@pytest.mark.parametrize("statement", [
    "P('/etc/x').write_text('')", "P('/usr/x').write_bytes(b'')", "P('/usr/x').mkdir()", "P('/usr/x').touch()",
    "P('/etc/passwd').unlink()", "P('/usr/lib').rmdir()", "P('/etc/passwd').chmod(0o600)", "P('/etc/x').symlink_to('/tmp/a')",
    "P('/etc/x').hardlink_to('/tmp/a')", "P('/tmp/a').rename('/etc/x')", "P('/etc/passwd').rename('/tmp/x')",
    "P('/tmp/a').replace('/etc/x')", "open('/etc/x', 'w')", "open('/etc/passwd', 'r+')", "open('/etc/x', 'x')",
    "open('/etc/passwd', 'a')", "shutil.copy('/tmp/a', '/etc/x')", "shutil.copy2('/tmp/a', '/etc/x')",
    "shutil.copytree('/tmp/d', '/etc/x')", "shutil.move('/tmp/a', '/etc/x')", "shutil.rmtree('/usr/lib')",
    "open('../etc/x', 'w')", "open('/output/sub/../../etc/x', 'w')", "open('/tmp/../etc/x', 'w')",
    "os.truncate('/etc/passwd', 0)"])
def test_writes_outside_the_zones(statement):
    setup = "import os, shutil\nfrom pathlib import Path as P\nP('/tmp/a').touch()\nP('/tmp/d').mkdir()\nP('/output/sub').mkdir()"
    found, denials = raised(statement, setup)
    assert found and found[0] == "PermissionError" and "is not allowed by this policy" in found[1], found
    assert denials[0]["layer"] == "audit"


def test_writes_inside_the_zones():
    assert ok("""
        import os, shutil
        from pathlib import Path as P
        P('/tmp/a').write_text('1')
        P('/output/d').mkdir()
        P('/tmp/a').rename('/tmp/b')
        shutil.copy('/tmp/b', '/output/d/c')
        shutil.copytree('/output/d', '/tmp/e')
        shutil.move('/tmp/e/c', 'moved')
        P('/tmp/link').symlink_to('/tmp/b')
        P('~/home').expanduser().write_text('2')
        P('/tmp/b').chmod(0o600)
        P('/tmp/b').unlink()
        shutil.rmtree('/output/d')
        print(sorted(os.listdir('/output')), sorted(os.listdir('/tmp')))
    """) == "['moved'] ['e', 'home', 'link']\n"


def test_reads_are_not_gated():
    assert ok("print(len(open('/etc/passwd').read()) > 0, open('/usr/lib/python3.11/os.py').readline()[:3])") == "True r\"\"\n"


def test_destinations_that_move_with_the_working_directory():
    policy = {"extends": "notebook", "files": {"write": [".", "~/own"]}}
    setup = "import os"
    assert raised("open('here', 'w')", setup, policy)[0] is None
    assert raised("os.chdir('/usr'), open('here', 'w')", setup, policy)[0][0] in ("PermissionError", "OSError")
    assert raised("open('/tmp/x', 'w')", setup, policy)[0][0] == "PermissionError"
    assert raised("os.mkdir(os.path.expanduser('~/own'))", setup, policy)[0] is None


def test_what_a_library_does_for_itself_is_not_the_programs_doing():
    """subprocess is denied; tempfile's and random's own use of os, and pandas' of pickle, are not looked at."""
    assert ok("import copy, random, tempfile\nwith tempfile.TemporaryDirectory() as d:\n    print(d[:5], "
              "copy.deepcopy({1: [2]}), 0 <= random.random() < 1)") == "/tmp/ {1: [2]} True\n"


def test_the_hook_is_there_for_every_task_and_thread_and_cannot_be_removed():
    result = run("""
        import asyncio, os, sys
        async def attempt(n):
            await asyncio.sleep(0)
            try:
                os.system('true')
            except PermissionError:
                return n
        found = await asyncio.gather(*(attempt(n) for n in range(3)))
        found.append(await asyncio.to_thread(lambda: asyncio.run(attempt(3))))
        try:
            vars(sys)['addaudit' + 'hook'](print)
        except Exception as error:
            found.append(type(error).__name__)
        print(found)
    """)
    assert result.stdout.startswith("[0, 1, 2, 3, '"), result


@pytest.mark.parametrize("statement", [
    "os.system('true')", "os.posix_spawn('/bin/true', ['true'], {})", "os.execv('/bin/true', ['true'])",
    "os.chown('/etc/passwd', 1, 1)", "os.setxattr('/etc/passwd', 'user.x', b'')", "sqlite3.connect('/etc/x.db')",
    "tempfile.mkstemp(dir='/usr')", "shutil.make_archive('/usr/x', 'zip', '/tmp')", "os.link('/tmp/a', '/usr/a')",
    "os.symlink('/etc/passwd', '/usr/a')", "sqlite3.connect(':memory:').enable_load_extension(True)", "os.kill(os.getpid(), 9)",
    "os.fork()"])
def test_events_that_are_refused(statement):
    found, denials = raised(statement, "import os, shutil, sqlite3, tempfile\nopen('/tmp/a', 'w').close()")
    assert found and found[0] in ("PermissionError", "OSError", "RuntimeError", "FileNotFoundError", "OperationalError"), found
    assert denials


@pytest.mark.parametrize("statement", [
    "os.chdir('/tmp')", "sqlite3.connect('/tmp/x.db').execute('select 1')", "sqlite3.connect(':memory:')",
    "tempfile.mkdtemp()", "os.listdir('/usr')", "glob.glob('/usr/*')", "os.truncate('/tmp/a', 0)", "id(1)",
    "shutil.make_archive('/tmp/x', 'zip', '/output')", "os.link('/tmp/a', '/tmp/b')"])
def test_events_that_are_let_through(statement):
    found, denials = raised(statement, "import glob, os, shutil, sqlite3, tempfile\nopen('/tmp/a', 'w').close()")
    assert (found, denials) == (None, [])


def test_threads_are_those_of_asyncio_alone():
    found, denials = raised("threading.Thread(target=print).start()", "import threading")
    assert found[0] == "PermissionError" and denials[0]["what"] == "_thread.start_new_thread"
    assert ok("import asyncio\nprint(await asyncio.to_thread(lambda: 5), "
              "await asyncio.get_running_loop().run_in_executor(None, abs, -1))") == "5 1\n"


def test_environment_variables_that_stay():
    result = run("""
        import json, os
        refused = []
        for name in ("PATH LD_PRELOAD LD_X DYLD_LIBRARY_PATH VIRTUAL_ENV HOME USER SHELL TMP TMPDIR PYTHONPATH PIP_INDEX_URL "
                     "UV_CACHE OWN HOMEPAGE XPATH").split():
            before = os.environ.get(name)
            for action in (lambda: os.environ.update({name: 'x'}), lambda: os.putenv(name, 'x'), lambda: os.unsetenv(name)):
                try:
                    action()
                except PermissionError:
                    refused.append(name)
        print(json.dumps(refused))
    """)
    refused = result.facts()
    assert sorted(set(refused)) == sorted("PATH LD_PRELOAD LD_X DYLD_LIBRARY_PATH VIRTUAL_ENV HOME USER SHELL TMP TMPDIR "
                                          "PYTHONPATH PIP_INDEX_URL UV_CACHE".split())
    assert len(refused) == 3 * 13


def test_a_denial_says_what_and_through_which_calls():
    found, denials = raised("outer()", "import os\ndef inner():\n    os.system('echo hi')\ndef outer():\n    inner()")
    assert re.fullmatch(r"os\.system is not allowed by this policy \[os\.system\(b'echo hi'\): inner \(<pyrun_0>:3\) < "
                        r"outer \(<pyrun_0>:5\) < <module> \(<pyrun_0>:\d+\)\]", found[1]), found
    assert denials[0]["line"] == 3 and denials[0]["hint"]


def test_the_guard_is_no_boundary_and_the_kernel_is():
    """With the guard off the same program gets no further: what it wants does not exist in the cell."""
    result = cells.run("""
        import json, os, socket
        found = []
        for attempt in (lambda: os.system('true'), os.fork, lambda: socket.socket(), lambda: open('/usr/x', 'w'),
                        lambda: os.posix_spawn('/bin/true', ['true'], {})):
            try:
                found.append(attempt())
            except OSError as error:
                found.append(type(error).__name__)
        print(json.dumps(found))
    """, "--guard", "off", policy="notebook")
    found = result.facts()
    assert found[0] != 0 and all(isinstance(kind, str) for kind in found[1:]), found


def test_sources_are_there_for_tracebacks_and_inspect():
    result = run("import inspect\ndef f():\n    return 1/0\nprint(inspect.getsource(f))\nf()")
    assert result.stdout == "def f():\n    return 1/0\n\n", result
    assert 'File "<pyrun_0>", line 3, in f\n    return 1/0' in result.stderr
    assert result.stderr.splitlines()[1] == '  File "<pyrun_0>", line 5, in <module>', result.stderr


def test_tasks_in_the_background_are_waited_for():
    result = run("""
        import asyncio
        async def work():
            await asyncio.sleep(0.01)
            asyncio.create_task(more())
        async def more():
            await asyncio.sleep(0.01)
            print('worked')
        asyncio.create_task(work())
        cancelled = asyncio.create_task(asyncio.sleep(5))
        await asyncio.sleep(0)
        cancelled.cancel()
        print('end')
        5
    """)
    assert result.stdout == "end\nworked\n" and result.manifest["guest"]["value"]["text/plain"] == "5", result


def test_a_task_that_fails_in_the_background_fails_the_program():
    result = run("import asyncio\nasync def work():\n    await asyncio.sleep(0.01)\n    raise ValueError('of the task')\n"
                 "t = asyncio.create_task(work())\nawait asyncio.sleep(0)\nprint('end')")
    assert (result.status, result.stdout) == (1, "end\n"), result
    assert result.manifest["guest"]["error"]["message"] == "of the task"


def test_writers_of_pandas_are_gated_by_where_they_write():
    result = run("import pandas\nframe = pandas.DataFrame({'a': [1]})\nframe.to_csv('own.csv')\n"
                 "for path in ('/usr/x.csv', '/input/x.json'):\n    try:\n        frame.to_csv(path)\n"
                 "    except OSError as error:\n        print(type(error).__name__)", tree="scientific")
    assert result.stdout == "PermissionError\nPermissionError\n" and result.files() == ["own.csv"], result
    assert {denial["layer"] for denial in result.manifest["denials"]} == {"audit"}


def test_effects_of_imports_are_trusted():
    """Libraries may do at their import what the program may not: matplotlib writes its settings, numpy looks round."""
    result = run("import matplotlib.pyplot, scipy.stats, sklearn.linear_model, statsmodels.api, seaborn, plotly.express\n"
                 "print('in')", tree="scientific")
    assert (result.stdout, result.manifest["denials"]) == ("in\n", []), result


def test_savefig_is_gated_by_where_it_writes():
    result = run("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('own.png')\nplt.gca().set_title('t')\n"
                 "try:\n    plt.savefig('/usr/x.png')\nexcept PermissionError as error:\n    print('refused')",
                 tree="scientific")
    assert result.stdout == "refused\n" and "own.png" in result.files(), result
