"""What is found in a program before any of it runs: by `hotcell check`, and by `hotcell run`, which refuses it."""

import ast
import itertools
import json
import re
import subprocess
import sys
import textwrap

import cells
import pytest

LIKE_ANALYSIS = {  # what the policy `analysis` refuses before a program runs
    "imports": {"unused": "refuse", "allow": ["pandas", "scipy", "scipy.stats", "matplotlib.pyplot", "math", "json"], "deny": None,
                "exact": True, "from_top_level": True, "message": "Import not allowed: {name}"},
    "calls": {"deny": ["open", "eval", "exec", "compile", "__import__", "breakpoint", "exit", "quit", "input",
                       "globals"], "message": "`{name}()` is not allowed in the sandbox."},
    "attributes": {"deny": ["__subclasses__", "__bases__", "__mro__", "__class__", "__globals__", "__code__",
                            "__closure__", "__builtins__", "__loader__", "__spec__", "__import__", "__qualname__"],
                   "message": "Access to `{name}` is not allowed in the sandbox."},
}
LIKE_STATISTICS = {  # what the policy `statistics` looks for in a program's text
    "imports": {"unused": "refuse", "deny": ["os", "sys", "subprocess"], "deny_message": "Dangerous import/function detected: {name}"},
    "calls": {"deny": ["eval", "exec", "compile", "__import__", "vars"],
              "message": "Dangerous import/function detected: {name}"},
    "code": {"max_chars": 10000, "max_chars_message": "Script too long", "warn": ["file_calls", "infinite_loop"],
             "columns_of": ["df"]},
    "prelude": {"aliases": {"data": "df"}},
}
LIKE_NOTEBOOK = {  # what the policy `notebook` looks for
    "imports": {"unused": "refuse", "deny": ["socket", "importlib", "safepyrun", "fastaudit"]},
    "calls": {"deny": ["exec", "eval", "compile"]},
    "names": {"deny": ["importlib"]},
    "attributes": {"deny": ["tb_frame", "gi_frame", "f_back"], "private": True, "suffixes": ["__roles__"],
                   "allow": ["_", "__name__", "__module__", "__doc__", "__qualname__", "__file__"]},
    "code": {"ban": ["def", "class"]},
}
UNUSED = {"imports": {"unused": "refuse"}}  # as most policies: imports that the program does not use are refused, too
MARK = {"attributes": {"deny": ["marked"]}, "names": {"deny": ["marked"]}}


@pytest.fixture(autouse=True)
def tree(base_tree):
    return base_tree


def policy_file(policy):
    path = cells.new_directory(cells.caller()) / "policy.json"
    path.write_text(json.dumps({"extends": "default", **policy}))
    return path


def hotcell_check(code, *options, policy=None):
    options = [*options, *(["-p", policy_file(policy)] if policy else [])]
    # The parser of Python 3.13 takes 540 MB for the longest of the texts below, that of 3.11 480 MB.
    return cells.hotcell("check", "-t", cells.tree_path("base"), "--timeout=30s", "--memory=640M", *options, "-",
                         input=textwrap.dedent(code), stdin=None)


def check(code, *options, policy=None):
    done = hotcell_check(code, "--json", *options, policy=policy)
    assert done.returncode in (0, 2) and not done.stderr, done
    found = json.loads(done.stdout)
    assert found["safe"] == (done.returncode == 0) == (not found["findings"])
    assert found["reason"] == (None if found["safe"] else found["findings"][0]["message"])
    return found


def messages(code, *options, policy=None):
    return [finding["message"] for finding in check(code, *options, policy=policy)["findings"]]


def places(code, policy):
    """Of each finding: line, and the text that its columns mark."""
    lines = textwrap.dedent(code).split("\n")
    return [(f["line"], lines[f["line"] - 1][f["column"] - 1:f["end_column"] and f["end_column"] - 1])
            for f in check(code, policy=policy)["findings"]]


# ---- imports ----

@pytest.mark.parametrize("statement, refused", [
    ("import pandas", None), ("import scipy.stats as s", None), ("import math, json", None),
    ("import scipy.optimize", "scipy.optimize"), ("import os", "os"), ("import math, os.path", "os.path"),
    ("import matplotlib.pyplot", None), ("import matplotlib", "matplotlib"),
])
def test_an_import_must_be_in_the_list_exactly(statement, refused):
    assert messages(statement, policy=LIKE_ANALYSIS) == ([f"Import not allowed: {refused}"] if refused else [])


@pytest.mark.parametrize("statement, refused", [
    ("from pandas.io import json", None), ("from scipy import optimize", None),
    ("from scipy.optimize import minimize", None),
    ("from matplotlib.pyplot import plot", None), ("from matplotlib.figure import Figure", "matplotlib.figure"),
    ("from os import path", "os"), ("from json import *", None),
    ("from . import secrets", "."), ("from .a import b", ".a"), ("from ... import c", "..."),
])
def test_from_imports_need_the_package_or_the_module(statement, refused):
    assert messages(statement, policy=LIKE_ANALYSIS) == ([f"Import not allowed: {refused}"] if refused else [])


@pytest.mark.parametrize("code", [
    "import socket", "import os, socket as s", "from socket import socket", "from socket import *",
    "def f():\n import socket",
    "import http.client", "from http import client", "from http import client as c", "import urllib.request",
    "__import__('socket')", "import importlib\nimportlib.import_module('socket')",
    "from importlib import import_module\nimport_module('http.client')", "lambda: __import__('socket')",
    "try:\n import socket\nexcept ValueError: pass", "try:\n pass\nexcept ImportError:\n import socket",
    "try:\n def f():\n  import socket\nexcept ImportError: pass", "ｉｍｐｏｒｔ = 1\nimport ｓｏｃｋｅｔ",
])
def test_imports_are_found_in_every_form(code):
    assert len(found := check(code, policy=UNUSED)["findings"]) == 1
    assert (found[0]["rule"], found[0]["what"].split(".")[0]) in (("imports", m) for m in ("socket", "http", "urllib"))
    assert found[0]["hint"] == "Network is off in this policy; pass data with --input."


@pytest.mark.parametrize("handler", ["except ImportError:", "except ModuleNotFoundError as e:", "except:",
                                     "except (ValueError, ImportError):", "except Exception:", "except* ImportError:"])
def test_an_import_that_may_fail_is_left_to_run_time(handler):
    code = f"try:\n    if 1:\n        import socket\n{handler}\n    pass\n"
    assert check(code)["safe"]
    assert messages(code, policy=LIKE_ANALYSIS) == ["Import not allowed: socket"]
    assert not check(code, policy={"imports": {"deny": ["socket"], "when": "check"}})["safe"]


def test_an_import_whose_failure_is_suppressed_is_left_to_run_time():
    assert check("import contextlib\nwith contextlib.suppress(ValueError, ImportError):\n    import socket")["safe"]
    assert not check("with contextlib.suppress(ValueError):\n    import socket", policy=UNUSED)["safe"]
    assert not check("with open(ImportError):\n    import socket", policy=UNUSED)["safe"]


def test_imports_may_be_left_to_run_time_altogether():
    assert check("import socket", policy={"imports": {"when": "run"}})["safe"]


# ---- calls, attributes, names, statements ----

@pytest.mark.parametrize("name", LIKE_ANALYSIS["calls"]["deny"])
def test_calls_of_blocked_builtins(name):
    assert messages(f"x = [{name}('math')]", policy=LIKE_ANALYSIS) == [f"`{name}()` is not allowed in the sandbox."]
    if name != "__import__":  # an attribute that is refused, too
        assert check(f"f = {name}\nobject().{name}('1')", policy=LIKE_ANALYSIS)["safe"]  # only a call of the name is refused


@pytest.mark.parametrize("name", LIKE_ANALYSIS["attributes"]["deny"])
def test_blocked_attributes(name):
    message = [f"Access to `{name}` is not allowed in the sandbox."]
    for code in (f"(1).{name}", f"x.{name} = 1", f"x.{name} += 1", f"del x.{name}", f"f'{{x.{name}}}'",
                 f"f'{{1:{{x.{name}}}}}'",
                 f"match 1:\n case int({name}=y): pass", f"'{{0.{name}}}'.format(1)", f"'{{0[a].{name}!r:>{{1}}}}'",
                 f"getattr(x, '{name}', None)", f"setattr(x, '{name}', 1)", f"hasattr(x, '{name}')",
                 f"delattr(x, '{name}')",
                 f"operator.attrgetter('a.{name}.b')", f"methodcaller('{name}')",
                 f"object.__getattribute__(x, '{name}')",
                 f"@x.{name}\ndef f(): pass"):
        assert messages(code, policy=LIKE_ANALYSIS) == message, code
    assert check(f"{name} = '{name} {{{name}}} {{{{0.{name}}}}}'", policy=LIKE_ANALYSIS)["safe"]


def test_private_attributes_and_names_that_are_closed():
    def refused(code):
        return [finding["what"] for finding in check(code, policy=LIKE_NOTEBOOK)["findings"]]
    assert refused("x._a; x.__b; x.__class__") == ["_a", "__b", "__class__"]
    assert refused("x._; x.__name__; x.__doc__; x.a_; x.__qualname__") == []
    assert refused("a__roles__ = 1") == ["a__roles__"]
    assert refused("x.a__roles__; lambda a__roles__: 1") == ["a__roles__", "a__roles__"]
    assert refused("from sys import _getframe") == ["_getframe"]
    assert refused("x.f_back; x.tb_frame") == ["f_back", "tb_frame"]
    assert refused("_a = 1; __b__ = 2") == []


def test_imports_calls_names_and_definitions_that_are_banned():
    code = """\
        import socket, importlib.util, fastaudit.x
        eval('1'); exec('2'); compile('3', '', 'exec')
        print(importlib)
        def f(): pass
        class C: pass
        async def g(): pass
        """
    found = [(f["line"], f["rule"], f["what"]) for f in check(code, policy=LIKE_NOTEBOOK)["findings"]]
    assert found == [(1, "imports", "socket"), (1, "imports", "importlib.util"), (1, "imports", "fastaudit.x"),
                     (2, "calls", "eval"), (2, "calls", "exec"), (2, "calls", "compile"), (3, "names", "importlib"),
                     (4, "statements", "def"),
                     (5, "statements", "class"), (6, "statements", "def")]


@pytest.mark.parametrize("word, code", [
    ("lambda", "f = lambda: 1"), ("global", "def f():\n global x"),
    ("nonlocal", "def f():\n x = 1\n def g():\n  nonlocal x"),
    ("async", "async def f(): pass"), ("async", "await f()"), ("async", "async with a: pass"),
    ("async", "async for a in b: pass"), ("async", "[a async for a in b]"), ("class", "@d\nclass A: pass"),
])
def test_statements_can_be_banned(word, code):
    found = check(code, policy={"code": {"ban": [word]}})["findings"]
    assert [(f["rule"], f["message"]) for f in found] == [("statements", f"'{word}' is not allowed by this policy")]
    assert check(code)["safe"]


# ---- every kind of node ----

PROGRAMS = """\
@d
def f(a: b, /, c: d = e, *g: h, i: j = k, l: m, **n: o) -> p: return q
@d
async def f(a=b, *, c=d) -> e: return f
@d
class C(a, b=c): d
del a, b[c], d.e
a = b = c
a += b
a: b = c
a: b
for a in b: c
else: d
async for a in b: c
while a: b
else: c
if a: b
elif c: d
else: e
with a as b, c: d
async with a as b: c
raise a from b
try: a
except b as c: d
else: e
finally: f
try: a
except* b as c: d
assert a, b
a; a and b; (a := b); a + b; -a
lambda a=b, *c, d=e, **f: g
a if b else c
{a: b, **c}; {a, b}
[a for b in c if d]; {a for b in c if d}; {a: b for c in d if e}; (a for b in c if d)
[a async for b in c if d]
await a
def f(): yield a
def f(): yield from a
a < b < c
a(b, *c, d=e, **f)
f'{a!r:{b}} {c}'
a.b; a[b]; a[b:c:d]; a[b:c, d]; [*a, b]; (a, b); print(*a)
""".split("\n")
if sys.version_info >= (3, 13):
    PROGRAMS += ["type A[T: a = b, *S = c, **P = d] = e", "class C[T: a = b](c): d", "def f[T: a = b](c): d"]
elif sys.version_info >= (3, 12):
    PROGRAMS += ["type A[T: a, *S, **P] = b", "class C[T: a](b): c", "def f[T: a](b): c"]
MATCH = """\
match a:
    case b.c if d: e
    case [b.c, *_]: e
    case {b.c: d.e, 1: f, **g}: h
    case b.c(d.e, f=g.h): i
    case b.c | d.e: f
    case (b.c | d.e) as f: g
    case None: h
"""


def snippets():
    """PROGRAMS, with statements that belong together in one."""
    whole = ""
    for line in PROGRAMS:
        starts = not re.match(r"else|elif|except|finally", line)
        if whole and starts and not whole.startswith("@") or whole.count("\n") == 2 and whole.startswith("@"):
            yield whole
            whole = ""
        whole += line + "\n"
    yield MATCH


def expression_fields(cls):
    """As Python.asdl has them, which is what the classes' docstrings say."""
    fields = re.findall(r"(\w+)[*?]? (\w+)", (cls.__doc__ or "").partition("(")[2])
    return [field for type_, field in fields if type_ == "expr"]


def marked_programs():
    """Each program with each of its expressions in turn, marked: (class, field), text."""
    for snippet in snippets():
        for count in itertools.count():
            tree, seen = ast.parse(snippet), 0
            for node in ast.walk(tree):
                for field in expression_fields(type(node)):
                    value = getattr(node, field)
                    for i, item in enumerate(value if isinstance(value, list) else [value]):
                        if not isinstance(item, ast.expr):
                            continue
                        if seen == count:
                            context = getattr(item, "ctx", ast.Load())
                            mark = ast.Attribute(ast.Name("x", ast.Load()), "marked", context)
                            if isinstance(value, list):
                                value[i] = mark
                            else:
                                setattr(node, field, mark)
                            yield (type(node).__name__, field), tree
                        seen += 1
            if count >= seen:
                break


def test_every_expression_of_every_kind_of_node_is_looked_at():
    covered, programs = set(), []
    for place, tree in marked_programs():
        try:
            text = ast.unparse(tree)
            compile(text, "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except (SyntaxError, TypeError, ValueError):
            continue  # nothing but a name may stand there
        if text.count("x.marked") == 1:
            covered.add(place)
            programs.append(text)
    classes = [cls for cls in vars(ast).values()
               if isinstance(cls, type) and issubclass(cls, ast.AST) and not cls.__subclasses__()]
    wanted = {(cls.__name__, field) for cls in classes for field in expression_fields(cls)}
    # Only names, or only strings, may stand in the last three, and in the one that came with Python 3.12.
    no_program = {("Expression", "body"), ("FunctionType", "argtypes"), ("FunctionType", "returns"),
                  ("NamedExpr", "target"), ("JoinedStr", "values"), ("FormattedValue", "format_spec")}
    if sys.version_info >= (3, 12):
        no_program.add(("TypeAlias", "name"))
    assert wanted - covered == no_program
    for start in range(0, len(programs), 100):
        text = "\n".join(programs[start:start + 100])
        wanted = [node.end_lineno for node in ast.walk(ast.parse(text))
                  if isinstance(node, ast.Attribute) and node.attr == "marked"]
        assert [f["line"] for f in check(text, policy=MARK)["findings"]] == sorted(wanted)


@pytest.mark.parametrize("code", [
    "marked", "marked = 1", "del marked", "for marked in x: pass", "with x as marked: pass", "[1 for marked in x]",
    "(marked := 1)",
    "def marked(): pass", "async def marked(): pass", "class marked: pass", "def f(marked): pass",
    "def f(marked, /): pass",
    "def f(*marked): pass", "def f(*, marked): pass", "def f(**marked): pass", "lambda marked: 1", "lambda *marked: 1",
    "import marked", "import marked.x", "import x as marked", "from x import marked", "from x import y as marked",
    "def f():\n global marked", "def g():\n def f():\n  nonlocal x\n x = 1\nmarked", "try: x\nexcept E as marked: pass",
    "match x:\n case marked: pass", "match x:\n case [*marked]: pass", "match x:\n case {**marked}: pass",
    "match x:\n case 1 as marked: pass", "match x:\n case C(a=marked): pass", "f'{marked}'", "x: marked", "marked: int",
    "@marked\ndef f(): pass", "def f(x=marked): pass", "ｍarked", "ᵐarked = 1",
])
def test_every_place_of_a_name_is_looked_at(code):
    found = check(code, policy=MARK)["findings"]
    assert {f["what"] for f in found} == {"marked"}
    assert {f["rule"] for f in found} <= {"names", "attributes"}


# ---- places, and what is said ----

def test_places_are_counted_in_characters():
    code = ("é = '🙂'; x.marked\nif 1:\n\ty = 'ü', x . marked, f'{x.marked}'\n\rz.marked\r\ny = \\\n x.marked\n"
            "(x\n .marked)\n")
    done = hotcell_check(code, "--json", policy=MARK)
    found = [(f["line"], f["column"], f["end_column"]) for f in json.loads(done.stdout)["findings"]]
    assert found == [(1, 12, 18), (3, 15, 21), (3, 28, 34), (5, 3, 9), (7, 4, 10), (9, 3, 9)]


def test_places_mark_the_words():
    assert places("""\
        import socket, os, http.client as c
        from http import client
        x = f(y.f_back, "{0.f_back}", getattr(z, 'f_code'))
        match x:
            case object(f_back=q): pass
        """, {}) == [(1, "socket"), (1, "http.client"), (2, "client"), (3, "f_back"), (3, '"{0.f_back}"'),
                     (3, "'f_code'"), (5, "f_back")]


def test_all_is_found_in_order_and_the_text_says_where():
    done = hotcell_check("x = 1\nimport socket; x.f_back\nbreakpoint()\n")
    assert done.stdout == textwrap.dedent("""\
        standard input:2:8: imports: Import of 'socket' is not allowed by this policy
            import socket; x.f_back
                   ^^^^^^
            hint: Network is off in this policy; pass data with --input.
        standard input:2:18: attributes: Access to 'f_back' is not allowed by this policy
            import socket; x.f_back
                             ^^^^^^
            hint: The interpreter's internals are closed; use the object's public methods and attributes.
        standard input:3:1: calls: Call of 'breakpoint' is not allowed by this policy
            breakpoint()
            ^^^^^^^^^^
            hint: There is no debugger in a cell; print what you want to see.
        """)
    assert (done.returncode, done.stderr) == (2, "")


def test_run_refuses_with_the_same_words(user):
    code = "print('ran')\nimport socket\nx.f_back\n"
    result = cells.run(code, user=user)
    wanted = check(code)
    assert (result.status, result.manifest["status"], result.stdout) == (2, "rejected", "")
    rejection = result.manifest["rejection"]
    assert rejection["findings"] == wanted["findings"] and rejection["more"] == 0
    assert {key: rejection[key] for key in ("rule", "message", "line", "column", "hint")} == {
        key: wanted["findings"][0][key] for key in ("rule", "message", "line", "column", "hint")}
    assert result.manifest["reason"] == wanted["reason"]
    assert result.stderr.startswith('  File "<cell>", line 2\n    import socket\n           ^^^^^^\nimports: Import of')
    members = ("layer", "rule", "what", "line", "count", "attested")
    assert [tuple(denial[key] for key in members) for denial in result.manifest["denials"]] == [
        ("ast", "imports", "socket", 2, 1, True), ("ast", "attributes", "f_back", 3, 1, True)]


def test_a_syntax_error_is_a_rejection():
    result = cells.run("x = (1\n", policy=LIKE_ANALYSIS)
    assert (result.status, result.manifest["exit_code"], result.manifest["rejection"]["rule"]) == (2, 2, "syntax")
    assert result.manifest["rejection"]["findings"][0]["message"] == "'(' was never closed" in result.stderr
    assert result.manifest["denials"] == []
    assert messages("return 1") == ["'return' outside function"]  # the compiler's, not the parser's


def test_what_is_found_is_bounded():
    found = check("\n".join(["import socket"] * 5000), policy=UNUSED)["findings"]
    assert [f["line"] for f in found] == list(range(1, 201))
    result = cells.run("import socket;" * 5000, policy=UNUSED)
    assert len(result.manifest["rejection"]["findings"]) == 200 and result.manifest["rejection"]["more"] == 4800
    assert len(result.manifest["denials"]) == 1 and result.manifest["denials"][0]["count"] == 200
    assert len(result.stderr) < 20000 and "and 4980 more" in result.stderr
    assert len(hotcell_check(f"x.{'f_back.' * 3000}y").stdout) < 100000


def test_warnings_cannot_hide_a_refusal():
    found = check("while 1: pass\n" * 3000 + "import socket", policy={"code": {"warn": ["infinite_loop"]}, **UNUSED})
    assert [f["line"] for f in found["findings"]] == [3001] and len(found["warnings"]) == 200


def test_the_terminal_is_not_driven_by_a_program():
    done = hotcell_check("x = '\x1b]0;title\x07\x9b31m\u202e'; import socket # \x1b[2J", policy=UNUSED)
    assert done.returncode == 2 and "import socket" in done.stdout
    assert not set(done.stdout) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_with_the_guard_off_only_syntax_is_looked_at():
    assert check("import socket; x.f_back; breakpoint()", "-p", "none")["safe"]
    assert not check("x = (", "-p", "none")["safe"]


def test_nothing_runs_and_nothing_is_kept(tmp_path):
    (tmp_path / "data.jsonl").write_text('{"a": 1}\nno JSON\n')
    (tmp_path / "program.py").write_text("print('ran'); open('/output/x', 'w').write('x')")
    done = cells.hotcell("check", "-t", cells.tree_path("base"), f"--input=df={tmp_path}/data.jsonl",
                         tmp_path / "program.py", cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.jsonl", "program.py"]


@pytest.mark.parametrize("arguments, status, text", [
    (["nowhere.py"], 65, "nowhere.py"), ([], 64, "expected one FILE"), (["-o", "x", "y"], 64, "-o"),
    (["--var", "a=1", "y"], 64, "--var"),
    (["-p", "nowhere", "-"], 78, "nowhere"), (["--timeout", "never", "-"], 64, "--timeout"),
    (["-", "surplus"], 64, "expected one FILE"),
])
def test_bad_calls_have_their_statuses(arguments, status, text):
    done = cells.hotcell("check", *arguments, input="x = 1", stdin=None)
    assert (done.returncode, done.stdout) == (status, "") and text in done.stderr and done.stderr.count("\n") == 1


# ---- a separate step, its patterns, warnings and columns ----

def test_validation_is_a_step_of_its_own():
    found = check("import os\nwhile True: pass", policy=LIKE_STATISTICS)
    assert (found["safe"], found["reason"]) == (False, "Dangerous import/function detected: os")
    assert [w["message"] for w in found["warnings"]] == ["Potential infinite loop detected"]
    assert check("import math", policy=LIKE_STATISTICS) == {"safe": True, "reason": None, "findings": [], "warnings": [],
                                                   "columns": {}}


@pytest.mark.parametrize("code, name", [
    ("import os", "os"), ("import sys", "sys"), ("import subprocess", "subprocess"), ("from os import path", "os"),
    ("import os.path", "os.path"), ("eval('1')", "eval"), ("exec('1')", "exec"),
    ("compile('1', '', 'eval')", "compile"),
    ("__import__('math')", "__import__"), ("vars(x)", "vars"),
])
def test_dangerous_imports_and_functions(code, name):
    assert messages(code, policy=LIKE_STATISTICS) == [f"Dangerous import/function detected: {name}"]


def test_a_script_has_a_length():
    assert check("é" * 9999 + "\n", policy=LIKE_STATISTICS)["safe"]
    found = check("é" * 10000 + "\nimport os", policy=LIKE_STATISTICS)["findings"]
    assert [(f["rule"], f["message"], f["line"]) for f in found] == [("code_size", "Script too long", None)]
    result = cells.run("#" * 10001, policy=LIKE_STATISTICS)
    assert result.status == 2 and "code_size: Script too long" in result.stderr


@pytest.mark.parametrize("code, wanted", [
    ("open('x')", ["File operation detected: open("]), ("x.read()", ["File operation detected: read("]),
    ("a.b.write(1)", ["File operation detected: write("]), ("file('x')", ["File operation detected: file("]),
    ("while True:\n break", ["Potential infinite loop detected"]),
    ("while 1: pass", ["Potential infinite loop detected"]),
    ("open('x')\nplt.savefig('y')", []), ("while x: pass", []), ("while 0: pass", []), ("reopen('x')", []),
])
def test_warnings_are_said_and_refuse_nothing(code, wanted):
    found = check(code, policy=LIKE_STATISTICS)
    assert found["safe"] and [w["message"] for w in found["warnings"]] == wanted


def test_warnings_reach_the_result():
    result = cells.run("import io\nprint(io.StringIO('x').read())", policy=LIKE_STATISTICS)
    assert result.stdout == "x\n"
    assert [(w["rule"], w["line"]) for w in result.manifest["check"]["warnings"]] == [("file_calls", 2)]
    assert cells.run("print(1)").manifest["check"] is None


@pytest.mark.parametrize("code, wanted", [
    ("df['a'] + df[\"b\"] + df.c", {"df": ["a", "b", "c"]}), ("data['a']", {"data": ["a"]}),
    ("df[['a', 'b']].mean()", {"df": ["a", "b"]}), ("df.mean(); df.shape; df.columns; df.iloc[0]", {}),
    ("df['new'] = df['a']\ndf['new'].sum()", {"df": ["a"]}), ("df['a'] += 1", {"df": ["a"]}),
    ("df.groupby('a').b.sum()", {}),
    ("other['a']; x.df['b']", {}), ("def f(): return [df['a'] for _ in x]", {"df": ["a"]}),
    ("df['a']; df['a']", {"df": ["a"]}),
    ("df[0]; df[x]; df['é']", {"df": ["é"]}), ("f'{df[\"a\"]}'", {"df": ["a"]}), ("df.a.b.c = 1", {"df": ["a"]}),
])
def test_columns_that_a_program_uses(code, wanted):
    assert check(code, policy=LIKE_STATISTICS)["columns"] == wanted


def test_inputs_are_frames(tmp_path):
    (tmp_path / "sales.jsonl").write_text('{"region": "x"}\n')
    given = f"--input=sales={tmp_path}/sales.jsonl"
    assert check("sales['region']; sales.price; df['a']", given)["columns"] == {"sales": ["region", "price"]}


# ---- what is meant to break the parser ----

HOSTILE = {
    "an integer of a million digits": "x = " + "9" * 10 ** 6,
    "a hundred thousand brackets": "(" * 10 ** 5 + ")" * 10 ** 5,
    "nested lists": "[" * 150 + "]" * 150,
    "nested calls": "f(" * 5000 + ")" * 5000,
    "a chain of operators": "x = 1" + "+1" * 10 ** 5,
    "a chain of attributes": "x" + ".a" * 10 ** 5,
    "a chain of calls": "x" + "()" * 10 ** 5,
    "a chain of unary operators": "x = " + "-" * 10 ** 5 + "1",
    "a chain of nots": "x = " + "not " * 10 ** 5 + "1",
    "a chain of powers": "x = 1" + "**1" * 10 ** 5,
    "a chain of lambdas": "x = " + "lambda:" * 10 ** 5 + "1",
    "a chain of comparisons": "x = 1" + "<1" * 10 ** 5,
    "a chain of else-ifs": "if 0: pass\n" + "elif 0: pass\n" * 20000,
    "deep blocks": "\n".join(" " * i + "if 1:" for i in range(1000)),
    "nested f-strings": "x = " + "f'{" * 2 + "1" + "}'" * 2,
    "a large f-string": "x = f'" + "{1}" * 20000 + "'",
    "an f-string of brackets": "x = f'{" + "(" * 10 ** 5 + "}'",
    "an f-string of format specs": "x = f'" + "{1:" * 5000 + "}" * 5000 + "'",
    "a chain of strings": "x = " + "'a' " * 10 ** 5,
    "subscripts": "x" + "[0" * 10 ** 4 + "]" * 10 ** 4,
    "nested patterns": "match 1:\n case " + "[" * 5000 + "]" * 5000 + ": pass",
    "decorators": "@a\n" * 50000 + "def f(): pass",
    "assignments": "a = " * 50000 + "1",
    "annotations": "x: " + "a[" * 5000 + "]" * 5000,
    "starred": "print(" + "*" * 10 ** 5 + "a)",
    "awaits": "await " * 10 ** 4 + "x",
    "walruses": "(a:=" * 5000 + "1" + ")" * 5000,
    "conditions": "x = " + "1 if 1 else " * 50000 + "1",
    "a long name": "a" * 10 ** 6,
    "a long line of dots": "." * 10 ** 5,
    "global of many": "def f():\n global " + ",".join(f"a{i}" for i in range(10 ** 5)),
    "a pattern of many": "match x:\n case C(" + ",".join(f"a{i}=_" for i in range(5000)) + "): pass",
    "many names in a line": "x = [" + "a," * 400000 + "]",
    "many refusals in a line": "x = [" + "a.f_back," * 100000 + "]",
    "many arguments": "def f(" + ",".join(f"a{i}" for i in range(10 ** 5)) + "): pass",
    "a string of surrogate escapes": "x = '" + "\\ud800" * 10 ** 5 + "{0.__globals__}'",
    "a name that changes when it is normalised": "x = " + "ﷺ" * 1000,
    "a lone backslash": "\\",
    "form feeds": "\f" * 10 ** 5 + "x = (",
    "a non-character": "x\ufdd0 = 1",
    "tabs and blanks": "if 1:\n\tx\n        y",
    "mixed line ends": "x = 1\r\r\n\n\ry = (",
    "a name of a character": "x = '\\N{" + "A" * 10 ** 5 + "}'",
    "unicode escapes": "x = '\\U99999999'",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_no_program_breaks_the_look_at_it(what):
    code = HOSTILE[what]
    found = check(code)
    assert all(f["rule"] in ("syntax", "parser", "attributes") for f in found["findings"]), found
    for f in found["findings"]:
        assert f["message"] and (f["line"] is None or 1 <= f["line"] <= len(re.split("\r\n|\r|\n", code)) + 1)


def test_a_parser_that_crashes_rejects_the_program():
    """With the stack that small, brackets that the parser accepts are too much for it."""
    code = "x = " + "-(" * 190 + "1" + ")" * 190
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    result = cells.run("print('ran')\n" + code, "--stack-size=256K")
    if result.status not in (0, 1, 2):
        cells.skip("the interpreter does not start with so small a stack")
    assert (result.status, result.manifest["status"], result.stdout) == (2, "rejected", ""), result
    assert result.manifest["rejection"]["rule"] == "parser" and "SIGSEGV" in result.manifest["reason"]


# ---- guarded writes ----

GUARDED = {"code": {"writes": "guarded", "write_types": ["dict", "list", "types.SimpleNamespace"]}}

def test_ordinary_writes_work():
    code = textwrap.dedent("""\
        import contextlib, types
        class Box:
            total = {}
            total['in class'] = 1
            def __init__(self): self.a = 0; self.__b = [0]; self.__b[0] += 1
            def b(self): return self.__b
        class Matrix:
            def __imatmul__(self, other): return other
        @contextlib.contextmanager
        def given(x): yield x
        b, d, l, n = Box(), {}, [1, 2, 3, 4], types.SimpleNamespace(x=[1])
        b.a = d['k'] = 1
        b.c, d['u'], *l[1:2] = 2, 3, 4, 5
        (b.d, [d['v']]) = 6, [7]
        b.a += 1; b.a -= 4; b.a *= 3; b.a //= 2; b.a **= 2; b.a %= 7; b.a <<= 2; b.a >>= 1
        b.a |= 9; b.a &= 13; b.a ^= 1; b.a /= 2
        n.m = Matrix(); n.m @= 8
        n.x[0]: int = 9
        b.e: int = 10
        for d['i'] in range(3): pass
        for b.f, l[0] in [(1, 2)]: pass
        with given(11) as d['w'], given(12) as b.g: pass
        [0 for d['c'] in (1, 2)]
        d['gone'] = 1
        del d['gone'], b.f
        n.x.append(d.setdefault('k', 0))
        def change(): b.h = (lambda: d)()['z'] = 13
        change()
        print(vars(b), d, l, n, b.b(), Box.total)
        """)
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert cells.run(code, policy=GUARDED).stdout == plain


@pytest.mark.parametrize("statement", [
    "{}.x = f", "{}.x, y = f, 1", "[{}.x] = [f]", "for {}.x in [f]: pass", "with given(f) as {}.x: pass",
    "[0 for {}.x in [f]]",
    "{}.x: int = f", "def g():\n    {}.x = f\ng()", "class C:\n    {}.x = f", "(*[], {}.x) = [f]",
    "async def g():\n    async for {}.x in h(): pass\nawait g()", "*a, {}.x = [f]",
])
def test_nothing_callable_is_set_in_any_way(statement):
    code = """\
        import contextlib, math
        class Box: pass
        box, f = Box(), print
        @contextlib.contextmanager
        def given(x): yield x
        async def h(): yield f
        """
    code = textwrap.dedent(code) + statement.format("box") + "\nprint('set', box.x)"
    assert cells.run(code).stdout.startswith("set")
    result = cells.run(code, policy=GUARDED)
    assert result.manifest["guest"]["error"]["type"] == "PermissionError" and result.stdout == "", result
    assert "Attribute 'x' may not be set to something callable" in result.manifest["guest"]["error"]["message"]


@pytest.mark.parametrize("statement, what", [
    ("math.pi = 3", "module"), ("del math.pi", "module"), ("math.pi += 1", "module"),
    ("globals()['y'] = 1", "namespace"),
    ("int.x = 1", "type"),
])
def test_only_listed_types_are_changed(statement, what):
    result = cells.run(f"import math\n{statement}", policy=GUARDED)
    assert result.manifest["guest"]["error"]["type"] == "PermissionError", result
    assert what in result.manifest["guest"]["error"]["message"]


def test_the_guard_of_writes_cannot_be_replaced():
    """Bound anew by a way that the guard does not see."""
    assert not check("_write_ = lambda x: x", policy=GUARDED)["safe"]
    assert not check("def f(_write_): pass", policy=GUARDED)["safe"]
    result = cells.run("import math\nglobals().update({'_wri' + 'te_': lambda x: x})\nmath.pi = 3\nprint('set')",
                       policy=GUARDED)
    assert result.stdout == "" and result.manifest["guest"]["error"]["type"] == "PermissionError", result
