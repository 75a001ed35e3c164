"""The Python that programs find: a script's own, with its source lines, and nothing that they did not import."""

import sys
import textwrap

import cells
import pytest

pytestmark = pytest.mark.usefixtures("base_tree")


def err(code, *options, **more):
    """Standard error of a program that fails."""
    result = cells.run(code, *options, **more)
    assert result.manifest["status"] == "error", result
    assert result.status == 1
    return result.stderr


def assert_prints(code, expected, *options, **more):
    result = cells.run(code, *options, **more)
    assert result.manifest["status"] == "ok", result
    assert result.stderr == ""
    assert result.stdout == expected


# ---- tracebacks ----

def test_traceback_starts_at_the_program_and_shows_its_lines():
    stderr = err("""\
        def inner(x):
            return 1 / x  # the line

        def outer():
            return inner(0)

        print("before")
        outer()
        """)
    expected = textwrap.dedent("""\
        Traceback (most recent call last):
          File "<cell>", line 8, in <module>
            outer()
          File "<cell>", line 5, in outer
            return inner(0)
                   ^^^^^^^^
          File "<cell>", line 2, in inner
            return 1 / x  # the line
                   ~~^~~
        ZeroDivisionError: division by zero
        """)
    if sys.version_info >= (3, 13):  # it marks other parts
        expected = expected.replace("    outer()\n", "    outer()\n    ~~~~~^^\n").replace("           ^^^^^^^^\n", "")
    assert stderr == expected


def test_manifest_has_the_same_error():
    result = cells.run("raise ValueError('no such colour: é')")
    error = result.manifest["guest"]["error"]
    assert error["type"] == "ValueError"
    assert error["message"] == "no such colour: é"
    assert error["traceback"] == result.stderr
    assert result.manifest["stderr"]["text"] == result.stderr


def test_traceback_goes_on_into_the_library():
    stderr = err("import json\njson.loads('{')\n")
    assert '  File "<cell>", line 2, in <module>\n    json.loads(\'{\')\n' in stderr
    assert "  ... 3 frames of json ...\njson.decoder.JSONDecodeError" in stderr
    trace = cells.run("import json\njson.loads('{')").manifest["guest"]["error"]["traceback"]
    assert 'json/decoder.py", line' in trace
    assert "json.decoder.JSONDecodeError: Expecting property name" in stderr
    assert "hotcell" not in stderr


@pytest.mark.parametrize("code, lines", [
    ("try:\n    1 / 0\nexcept Exception:\n    raise KeyError('k')",
     ["During handling of the above exception, another exception occurred:", "    1 / 0", "KeyError: 'k'"]),
    ("raise RuntimeError('a') from OSError('b')",
     ["The above exception was the direct cause", "OSError: b", "RuntimeError: a"]),
    ("raise ExceptionGroup('many', [ValueError(1), TypeError(2)])",
     ["| ExceptionGroup: many (2 sub-exceptions)", "| ValueError: 1"]),
    ("e = ValueError('v')\ne.add_note('a note')\nraise e", ["ValueError: v", "a note"]),
    ("valeu = 1\nprint(value)", ["NameError: name 'value' is not defined. Did you mean: 'valeu'?"]),
    ("''.uper()", ["AttributeError: 'str' object has no attribute 'uper'. Did you mean: 'upper'?"]),
    ("import nowhere", ["ModuleNotFoundError: No module named 'nowhere'"]),
    ("class E(Exception):\n    def __str__(self):\n        raise ValueError\nraise E", ["E: <exception str() failed>"]),
    ("class E(BaseException): pass\nraise E('x')", ["E: x"]),
    ("raise KeyboardInterrupt", ["KeyboardInterrupt"]),
    ("exec('1 +')", ['  File "<string>", line 1', "    1 +", "SyntaxError: invalid syntax"]),
    ("exec(compile('1/0', 'mine.py', 'exec'))", ['  File "mine.py", line 1, in <module>', "ZeroDivisionError"]),
    ("def f(n):\n    return f(n + 1)\nf(0)",
     ["RecursionError: maximum recursion depth exceeded", "[Previous line repeated "]),
    ("x = 'a\u2028b'\n\n1 / 0", ["line 3, in <module>", "    1 / 0"]),
    ("assert 1 == 2, 'not equal'", ["AssertionError: not equal"]),
    ("import sys\nsys.stderr = None\nraise ValueError('still seen')", ["ValueError: still seen"]),
    ("import sys\nsys.exit('sorry')", ["sorry"]),
])
def test_uncaught_exceptions(code, lines):
    stderr = err(code)
    for line in lines:
        assert line in stderr, stderr
    assert "hotcell-shim" not in stderr and "<hotcell>" not in stderr


@pytest.mark.parametrize("code, line, column, message, shown", [
    ("x = 1\nif x\n    pass\n", 2, 5, "expected ':'", "    if x\n        ^\n"),
    ("print(1)\nx = (1,\n", 2, 5, "'(' was never closed", "    x = (1,\n        ^\n"),
    ("x = 1\n\n    y = 2\n", 3, None, "unexpected indent", "y = 2"),
    ("def f():\nreturn 1\n", 2, 1, "expected an indented block", "return 1"),
    ("if 1:\n\tx = 1\n        y = 2\n", 3, None, "inconsistent use of tabs", "y = 2"),
    ("é = 'abc\n", 1, 5, "unterminated string literal", "    é = 'abc\n        ^\n"),
    ("print 1\n", 1, 1, "Missing parentheses in call to 'print'", "    print 1\n    ^^^^^^^\n"),
    ("return 1\n", 1, 1, "'return' outside function", "return 1"),
    ("def f():\n    nonlocal x\n", 2, 5, "no binding for nonlocal 'x' found", "nonlocal x"),
    ("x = 1\nimport os; os.system('touch /output/ran'); 1 = x\n", 2, None, "cannot assign to literal", "1 = x"),
])
def test_program_that_is_not_python_is_rejected(code, line, column, message, shown):
    result = cells.run(code)
    assert result.status == 2 and result.stdout == ""
    assert result.manifest["status"] == "rejected"
    rejection = result.manifest["rejection"]
    assert rejection["rule"] == "syntax"
    assert message in rejection["message"]
    if line:
        assert rejection["line"] == line
        assert f'File "<cell>", line {line}' in result.stderr
    if column:
        assert rejection["column"] == column
    assert message in result.stderr and shown in result.stderr
    assert result.manifest["guest"] is None or result.manifest["guest"]["value"] is None
    assert result.files() == []


# ---- a fresh start ----

def test_nothing_is_imported_that_nobody_asked_for():
    result = cells.run("import sys; print(*sorted(sys.modules))")
    loaded = set(result.stdout.split())
    assert "__main__" in loaded and "sys" in loaded
    assert not loaded & {"site", "re", "json", "traceback", "linecache", "os", "collections", "enum", "types", "functools",
                         "warnings", "threading", "asyncio", "numpy", "sitecustomize", "usercustomize"}


def test_main_is_the_program_and_nothing_else():
    assert_prints("""\
        print(sorted(name for name in globals()))
        print(__name__, __doc__, __builtins__ is not None)
        import sys, __main__
        print(__main__.__dict__ is globals(), sys.argv, sys.flags.isolated, sys.flags.no_site)
        """, "['__annotations__', '__builtins__', '__doc__', '__file__', '__loader__', '__name__', '__package__', '__spec__']\n"
             "__main__ None True\nTrue ['<cell>'] 1 1\n")


def test_main_block_runs_and_docstring_is_kept():
    assert_prints('"""What it does."""\ndef main():\n    print(__doc__)\nif __name__ == "__main__":\n    main()\n',
                  "What it does.\n")


def test_standard_input_is_empty():
    stderr = err("print(input('name? '))", "--guard=off")
    assert "EOFError: EOF when reading a line\n" in stderr
    assert_prints("import sys; print(repr(sys.stdin.read()))", "''\n", stdin="the caller's\n")


def test_future_annotations_and_line_ends():
    assert_prints(b"from __future__ import annotations\r\ndef f(x: undefined): ...\r\nprint(f.__annotations__)\r\n",
                  "{'x': 'undefined'}\n")
    assert_prints(b"\xef\xbb\xbfprint('marked')", "marked\n")


@pytest.mark.parametrize("cookie", ["latin-1", "utf-16", "nonsense"])
def test_programs_are_utf_8_whatever_they_say(cookie):
    assert_prints(f"# -*- coding: {cookie} -*-\nprint(len('café'))\n", "4\n")


# ---- source lines of the program ----

def test_source_can_be_inspected():
    assert_prints("""\
        import inspect, linecache
        def f(x):
            return x + 1
        print(inspect.getsource(f), end="")
        print(linecache.getline("<cell>", 1), end="")
        """, "def f(x):\n    return x + 1\nimport inspect, linecache\n")


def test_source_of_a_class_can_be_inspected():
    assert_prints("import inspect\nclass C:\n    def m(self): pass\nprint(inspect.getsource(C), end='')\n",
                  "class C:\n    def m(self): pass\n")


def test_traceback_module_finds_the_lines():
    assert_prints("""\
        import traceback
        try:
            1 / 0
        except ZeroDivisionError:
            print(traceback.format_exc(), end="")
        """, 'Traceback (most recent call last):\n  File "<cell>", line 3, in <module>\n    1 / 0\n    ~~^~~\n'
             "ZeroDivisionError: division by zero\n")


def test_warnings_have_their_line():
    result = cells.run("import warnings\nwarnings.warn('old')\nprint('on')")
    assert result.manifest["status"] == "ok" and result.stdout == "on\n"
    assert result.stderr == "<cell>:2: UserWarning: old\n  warnings.warn('old')\n"
    result = cells.run("x = 1\nprint(x is 1)")
    assert result.stderr.startswith('<cell>:2: SyntaxWarning: "is" with ')


def test_doctests_of_the_program_run():
    result = cells.run('def f():\n    """\n    >>> f()\n    1\n    """\n    return 1\n'
                       "import doctest\nprint(doctest.testmod())\n")
    assert result.stdout == "TestResults(failed=0, attempted=1)\n", result


# ---- how it runs ----

def test_top_level_await():
    result = cells.run("""\
        import asyncio
        async def numbers():
            for i in range(3):
                await asyncio.sleep(0)
                yield i
        class Manager:
            async def __aenter__(self):
                return "in"
            async def __aexit__(self, *_):
                print("out")
        async for i in numbers():
            print(i)
        async with Manager() as m:
            print(m)
        print(await asyncio.gather(*(asyncio.sleep(0, n) for n in range(2))))
        task = asyncio.create_task(asyncio.sleep(0, "task"))
        [x async for x in numbers()], await task
        """)
    assert result.manifest["status"] == "ok", result
    assert result.stdout == "0\n1\n2\nin\nout\n[0, 1]\n"
    assert result.manifest["guest"]["value"]["text/plain"] == "([0, 1, 2], 'task')"


def test_error_in_top_level_await():
    stderr = err("import asyncio\nasync def f():\n    raise ValueError('async')\nawait f()\n")
    assert stderr == ('Traceback (most recent call last):\n  File "<cell>", line 4, in <module>\n    await f()\n'
                      '  File "<cell>", line 3, in f\n    raise ValueError(\'async\')\nValueError: async\n')


def test_asyncio_run_works_too():
    assert_prints("""\
        import asyncio
        async def main():
            queue = asyncio.Queue()
            async def put():
                await queue.put(await asyncio.to_thread(lambda: 42))
            async with asyncio.TaskGroup() as group:
                group.create_task(put())
            return await asyncio.wait_for(queue.get(), 5)
        print(asyncio.run(main()))
        """, "42\n")


def test_threads_are_waited_for_and_daemons_are_not():
    assert_prints("""\
        import threading, sys
        started = threading.Event()
        main_is_done = threading.Event()
        def late():
            started.wait()
            threading.main_thread().join()
            print("late", flush=True)
        threading.Thread(target=late).start()
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(4) as pool:
            print(sum(pool.map(lambda x: x * x, range(10))))
        started.set()
        """, "285\nlate\n")


def test_exception_in_a_thread_is_shown():
    result = cells.run("import threading\ndef f():\n    raise ValueError('in thread')\n"
                       "t = threading.Thread(target=f)\nt.start()\nt.join()\n")
    assert result.manifest["status"] == "ok"
    assert "Exception in thread Thread-1 (f):" in result.stderr
    assert '  File "<cell>", line 3, in f\n' in result.stderr
    assert result.stderr.endswith("ValueError: in thread\n")


def test_exception_in_a_thread_is_shown_with_its_line():
    result = cells.run("import threading\ndef f():\n    1 / 0\nt = threading.Thread(target=f)\nt.start()\nt.join()\n")
    assert "    1 / 0\n" in result.stderr


def test_functions_that_a_program_registers_run_at_its_end():
    result = cells.run("""\
        import atexit, sys
        atexit.register(print, "atexit")
        class C:
            def __del__(self):
                raise ValueError("in del")
        C()
        sys.stdout.write("no newline ")
        """)
    assert result.manifest["status"] == "ok", result
    assert result.stdout == "no newline atexit\n"
    assert "Exception ignored in: <function C.__del__" in result.stderr and "ValueError: in del" in result.stderr


@pytest.mark.parametrize("code, status, said", [
    ("import sys; sys.exit()", "ok", ""), ("import sys; sys.exit(0)", "ok", ""), ("raise SystemExit", "ok", ""),
    ("import sys; sys.exit(3)", "error", ""), ("import sys; sys.exit('why')", "error", "why\n"),
    ("exit()", "ok", ""), ("quit(2)", "error", ""),
])
def test_exits(code, status, said):
    result = cells.run("print('before')\n" + code + "\nprint('after')")
    assert result.manifest["status"] == status, result
    assert result.stdout == "before\n"
    assert said in result.stderr


def test_excepthook_and_displayhook_of_the_program():
    result = cells.run("import sys\nsys.excepthook = lambda *e: print('hook', e[0].__name__)\n1 / 0")
    assert result.manifest["status"] == "error"
    assert (result.stdout, result.stderr) == ("hook ZeroDivisionError\n", "")


def test_faulthandler():
    result = cells.run("import faulthandler, ctypes\nfaulthandler.enable()\ndef f():\n    ctypes.string_at(0)\nf()\n",
                       "--guard=off")
    assert result.manifest["status"] == "error", result
    assert result.manifest["process"]["name"] == "SIGSEGV"
    assert "Fatal Python error: Segmentation fault" in result.stderr and 'File "<cell>", line 4 in f' in result.stderr


def test_deep_recursion_fits_the_stack():
    assert_prints("""\
        import sys
        sys.setrecursionlimit(20000)
        def depth(n):
            return 0 if n == 0 else 1 + depth(n - 1)
        print(depth(15000))
        """, "15000\n")


def test_other_processes_are_refused():
    for code in ("import os; os.fork()", "import subprocess; subprocess.run(['ls'])",
                 "import multiprocessing as m; p = m.Process(target=print); p.start(); p.join()",
                 "import os; os.execv('/bin/sh', ['sh'])", "import os; os.posix_spawn('/bin/sh', ['sh'], {})"):
        stderr = err(code, "--guard=off")
        last = [line for line in stderr.splitlines() if not line.startswith("hint: ")][-1]
        assert "Error" in last, stderr


# ---- the standard library that programs use ----

def test_everyday_library():
    """One cell for all: each line must hold."""
    result = cells.run("""\
        import array, ast, base64, binascii, bisect, calendar, cmath, codecs, collections, configparser, contextlib, copy, csv
        import dataclasses, datetime, decimal, difflib, doctest, enum, fractions, functools, glob, gzip, hashlib, heapq, inspect
        import io, ipaddress, itertools, json, logging, lzma, math, operator, os, pathlib, pickle, queue, random, re, secrets
        import shutil, sqlite3, statistics, string, struct, tempfile, textwrap, threading, time, timeit, types, typing, unittest
        import uuid, warnings, zipfile, zlib, zoneinfo, bz2, locale, platform, pprint, getpass, traceback, urllib.parse, html

        @dataclasses.dataclass(order=True)
        class Point:
            x: int
            y: int = 0
            def __enter__(self): return self
            def __exit__(self, *_): return True

        class Colour(enum.Enum):
            RED = 1

        def countdown(n):
            while n:
                got = yield n
                n = n - 1 if got is None else got

        with Point(1) as p:
            raise ValueError("swallowed")
        assert pickle.loads(pickle.dumps([p, Colour.RED, {1: (2,)}])) == [Point(1), Colour.RED, {1: (2,)}]
        assert copy.deepcopy(p) == p and list(countdown(3)) == [3, 2, 1]
        db = sqlite3.connect("/tmp/a.db")
        db.execute("create table t(a, b)")
        db.executemany("insert into t values (?, ?)", [(1, "x"), (2, "y")])
        db.commit()
        assert sqlite3.connect("/tmp/a.db").execute("select sum(a) from t").fetchone() == (3,)
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
            pathlib.Path(folder, "a.txt").write_text("é")
            shutil.make_archive("/tmp/archive", "zip", folder)
            assert zipfile.ZipFile("/tmp/archive.zip").read("a.txt") == "é".encode()
            assert folder.startswith("/tmp") and os.path.exists(file.name)
        assert not os.path.exists(folder)
        with gzip.open("data.gz", "wt") as f:
            csv.writer(f).writerows([[1, "a,b"], [2, "c"]])
        assert list(csv.reader(gzip.open("data.gz", "rt"))) == [["1", "a,b"], ["2", "c"]]
        assert lzma.decompress(lzma.compress(b"x")) == bz2.decompress(bz2.compress(b"x")) == b"x"
        assert zoneinfo.ZoneInfo("Europe/Berlin").utcoffset(datetime.datetime(2026, 7, 1)) == datetime.timedelta(hours=2)
        assert time.tzname == ("UTC", "UTC") and len(secrets.token_hex()) == 64 and uuid.uuid4() != uuid.uuid4()
        assert decimal.Decimal("0.1") * 3 == decimal.Decimal("0.3") and eval("{'a': [1]}") == {"a": [1]}
        assert pathlib.Path.cwd() == pathlib.Path("/output") and pathlib.Path.home() == pathlib.Path("/tmp")
        assert getpass.getuser() == "guest" and os.path.expanduser("~") == "/tmp"
        assert sorted(os.listdir(".")) == glob.glob("*") == ["data.gz"]
        assert os.cpu_count() and platform.system() == "Linux" and locale.getpreferredencoding().lower() == "utf-8"
        assert "{0.x:>4}|{1!r}".format(p, "q") == "   1|'q'" and f"{math.pi:.2f}" == "3.14"
        logging.basicConfig(format="%(levelname)s %(message)s")
        logging.warning("logged")
        class Tests(unittest.TestCase):
            def test(self): self.assertEqual(1, 1)
        outcome = unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(Tests))
        assert outcome.wasSuccessful()
        print("all hold")
        """)
    assert result.manifest["status"] == "ok", result
    assert result.stdout == "all hold\n"
    assert result.stderr == "WARNING logged\n"
    assert result.listed() == ["data.gz"]


def test_network_modules_import_and_reach_nothing():
    result = cells.run("""\
        import socket, urllib.request
        for attempt in (lambda: socket.socket(), lambda: socket.create_connection(("127.0.0.1", 80)),
                        lambda: socket.getaddrinfo("localhost.example", 80),
                        lambda: urllib.request.urlopen("http://127.0.0.1/")):
            try:
                print("reached", attempt())
            except OSError as error:
                print(type(error).__name__)
        a, b = socket.socketpair()
        a.send(b"x")
        print(b.recv(1))
        """, "--guard=off")
    assert result.manifest["status"] == "ok", result
    assert "reached" not in result.stdout and result.stdout.endswith("b'x'\n")


# ---- the last expression ----

@pytest.mark.parametrize("code, text, json", [
    ("1 + 1", "2", 2),
    ("x = 5\nx", "5", 5),
    ("'text é'", "'text é'", "text é"),
    ("{'a': [1, 2.5, None, True], 'b': {}}", "{'a': [1, 2.5, None, True], 'b': {}}", {"a": [1, 2.5, None, True], "b": {}}),
    ("2 ** 53 - 1", str(2 ** 53 - 1), 2 ** 53 - 1),
    ("2 ** 100", str(2 ** 100), ...),  # not every reader of JSON would read that number
    ("(1, 2)", "(1, 2)", ...),
    ("float('nan')", "nan", ...), ("float('inf')", "inf", ...),
    ("{1, 2}", "{1, 2}", ...),
    ("{(1, 2): 3}", "{(1, 2): 3}", ...),
    ("object", "<class 'object'>", ...),
    ("lambda: 1", "<function <lambda> at 0x", ...),
    ("b'bytes'", "b'bytes'", ...),
    ("1;", None, None), ("x = 1", None, None), ("None", None, None), ("print()", None, None), ("def f(): 1", None, None),
    ("if True:\n    3", None, None),
])
def test_value_of_the_last_expression(code, text, json):
    result = cells.run(code)
    assert result.manifest["status"] == "ok", result
    value = result.manifest["guest"]["value"]
    if text is None and code != "1;":
        assert value is None
        return
    if text is None:
        assert value is None or value["text/plain"] == "1"
        return
    assert value["text/plain"].startswith(text)
    assert value.get("application/json", ...) == json
    assert "text/html" not in value
    assert result.stdout == ""


def test_value_with_reprs_of_its_own():
    result = cells.run("""\
        class Table:
            def _repr_html_(self): return "<b>é</b>"
            def __repr__(self): return "a table"
        Table()
        """)
    assert result.manifest["guest"]["value"] == {"text/plain": "a table", "text/html": "<b>é</b>"}


@pytest.mark.parametrize("code", [
    "class C:\n    def __repr__(self): raise ValueError('no')\nC()",
    "class C:\n    def __repr__(self): return 1\nC()",
    "class C:\n    def _repr_html_(self): raise ValueError('no')\nC()",
    "a = []\na.append(a)\na",
    "d = {}\nd['d'] = d\nd",
    "class C(dict):\n    def items(self): raise OSError\nC(a=1)",
    "class C(str):\n    def __repr__(self): return self\n    def __len__(self): return -1\nC('x')",
    "'\\ud800'",
    "class M(type):\n    def __getattribute__(c, n): raise SystemExit(9)\nclass C(metaclass=M): pass\nC",
    "l = []\nfor _ in range(100000): l = [l]\nl",
])
def test_values_that_resist_do_not_spoil_the_job(code):
    result = cells.run("print('fine')\n" + code)
    assert result.manifest["status"] == "ok", result
    assert result.stdout == "fine\n"


def test_value_that_is_too_large_is_left_out_with_a_warning():
    result = cells.run("'x' * 5_000_000", "--value-size", "64K")
    assert result.manifest["status"] == "ok", result
    value = result.manifest["guest"]["value"]
    assert value is None or len(value["text/plain"]) <= 64 << 10
    assert result.manifest["guest"]["warnings"]


LOG = """
import os, resource
def keep(path):
    class Log:
        def __init__(self):
            self.own, self.file = self, open(path, "w")
            self.file.write("begun\\n")
        def __del__(self):
            self.file.write("ended\\n")
            self.file.close()
    Log()
"""


@pytest.mark.parametrize("code", [
    "keep('kept.txt')",
    "os.close(0)\nkeep('kept.txt')",
    "os.close(1)\nkeep('kept.txt')",
    "copies = [os.dup(1) for _ in range(9)]\nkeep('kept.txt')\nresource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))",
    "keep(os.dup(1))",
])
def test_what_an_object_in_a_cycle_writes_at_its_end_is_kept(code):
    """As at the interpreter's own end, objects that only refer to each other end, too, while a file is open for writing."""
    result = cells.run(LOG + code, policy={"guard": "off"})
    text = result.stdout if "dup(1))" in code else (result.output / "kept.txt").read_text(encoding="ascii")
    assert text == "begun\nended\n", result


def test_what_an_object_in_a_cycle_writes_into_a_file_at_its_end_is_kept():
    """Also if no file is open then."""
    result = cells.run("""\
        class Late:
            def __init__(self):
                self.own = self
            def __del__(self):
                with open("late.txt", "w") as file:
                    file.write("late")
        with open("early.txt", "w") as file:
            file.write("early")
        Late()
        """)
    assert (result.output / "late.txt").read_text(encoding="ascii") == "late", result


@pytest.mark.parametrize("first", ["", "threads"])
def test_every_module_of_the_interpreter_itself_can_be_imported(first):
    """Also by several threads at once."""
    result = cells.run(f"""\
        import _imp, importlib, os.path, threading
        names = [name for name in _imp._frozen_module_names() if not name.startswith(("__hello", "__phello", "_frozen", "site"))]
        def load():
            for name in names:
                importlib.import_module(name)
        threads = [threading.Thread(target=load) for _ in range(4)] if {first!r} else []
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        load()
        import ntpath, runpy, stat
        print(len(names) > 8, ntpath.join("a", "b"), os.path.join("a", "b"), stat.filemode(0o100644), callable(runpy.run_path))
        """, policy={"guard": "off"})
    assert result.stdout == "True a\\b a/b -rw-r--r-- True\n", result
