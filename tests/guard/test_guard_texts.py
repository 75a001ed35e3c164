"""Libraries that do what a text says: templates, expressions, documents. What the policy denies to a program is denied to
its texts, too, and ordinary texts work.

Each attack prints REACHED under the policy `none`, which shows that the library does it.
"""

import json

import cells
import pytest

SECRET = """
class Thing:
    def method(self):
        return 1
thing = Thing()
import warnings
warnings.simplefilter("ignore")
def tell(value):
    print("REACHED", type(value).__name__)
"""

# name: (tree, program, what a denial names; None: no denial is recorded, as for all that looks into a denied module by itself)
ATTACKS = {
    "pandas: eval": ("scientific", """
import pandas
f = thing.method
tell(pandas.DataFrame({"a": [1]}).eval("@f.__globals__", engine="python"))
""", "__globals__"),
    "pandas: eval of a frame's own method": ("scientific", """
import pandas
f = pandas.DataFrame({"a": [1]})
tell(pandas.eval("f.sum.__globals__", engine="python"))
""", "__globals__"),
    "jinja2: attribute": ("scientific", """
import jinja2
jinja2.Template("{{ f(x.method.__globals__) }}").render(x=thing, f=lambda v: tell(v) or "")
""", "__globals__"),
    "jinja2: item": ("scientific", """
import jinja2
jinja2.Template("{{ f(x.method['__glo' ~ 'bals__']) }}").render(x=thing, f=lambda v: tell(v) or "")
""", "__globals__"),
    "jinja2: filter attr": ("scientific", """
import jinja2
jinja2.Template("{{ f(x.method|attr('__glo' ~ 'bals__')) }}").render(x=thing, f=lambda v: tell(v) or "")
""", "__globals__"),
    "jinja2: filter map": ("scientific", """
import jinja2
jinja2.Template("{{ f([x.method]|map(attribute='__glo' ~ 'bals__')|first) }}").render(x=thing, f=lambda v: tell(v) or "")
""", "__globals__"),
    "jinja2: filter groupby": ("scientific", """
import jinja2
jinja2.Template("{{ f(([x.method]|groupby('__co' ~ 'de__')|first).grouper) }}").render(x=thing, f=lambda v: tell(v) or "")
""", "__code__"),
    "jinja2: a function of its own": ("scientific", """
import jinja2
jinja2.Template("{{ f(lipsum.__globals__) }}").render(f=lambda v: tell(v) or "")
""", "__globals__"),
    "jinja2: a constant": ("scientific", """
import jinja2
jinja2.Template("{{ f(().__class__.__base__.__subclasses__()) }}").render(f=lambda v: tell(v) or "")
""", "__base__"),
    "jinja2: the method itself": ("scientific", """
import jinja2
tell(jinja2.Environment().getattr(thing.method, "__glo" + "bals__"))
""", "__globals__"),
    "jinja2: compiled expression": ("scientific", """
import jinja2
tell(jinja2.Environment().compile_expression("x.method['__globals__']")(x=thing))
""", "__globals__"),
    "jinja2: sandbox": ("scientific", """
import jinja2.sandbox
class Open(jinja2.sandbox.SandboxedEnvironment):
    def is_safe_attribute(self, *_):
        return True
Open().from_string("{{ f(x.method['__glo' ~ 'bals__']) }}").render(x=thing, f=lambda v: tell(v) or "")
""", "__globals__"),
    "jinja2: format in a template": ("scientific", """
import jinja2
text = jinja2.Template("{{ '{0.method.__globals__}'.format(x) }}").render(x=thing)
tell(text) if "warnings" in text else print(text)
""", "__globals__"),
    "jinja2: format of Markup": ("scientific", """
import jinja2, markupsafe
text = str(markupsafe.Markup("{0.method.__globals__}").format(thing))
tell(text) if "warnings" in text else print(text)
""", "__globals__"),
    "jinja2: a generator of code": ("scientific", """
import jinja2.compiler
class Mine(jinja2.compiler.CodeGenerator):
    def visit_Template(self, node, frame=None):
        self.write("name = 'x'\\nblocks = {}\\ndebug_info = ''\\n"
                   "def root(context, environment=environment):\\n    yield str(type(context['x'].method.__globals__))\\n")
class Environment(jinja2.Environment):
    code_generator_class = Mine
text = Environment().from_string("x").render(x=thing)
tell(text) if "dict" in text else print(text)
""", "__globals__"),
    "jinja2: getattr in generated code": ("scientific", """
import jinja2.compiler
class Mine(jinja2.compiler.CodeGenerator):
    def visit_Template(self, node, frame=None):
        self.write("name = 'x'\\nblocks = {}\\ndebug_info = ''\\n"
                   "def root(context, environment=environment):\\n    yield str(type(getattr(context['x'].method, '__glo' + 'bals__')))\\n")
class Environment(jinja2.Environment):
    code_generator_class = Mine
text = Environment().from_string("x").render(x=thing)
tell(text) if "dict" in text else print(text)
""", "__globals__"),
    "jinja2: a cache of bytecode": ("scientific", """
import io, jinja2, jinja2.bccache, marshal
real = jinja2.Environment().compile("plain", "x")
store = io.BytesIO(marshal.dumps(real))
class Cache(jinja2.BytecodeCache):
    def load_bytecode(self, bucket):
        bucket.load_bytecode(io.BytesIO(jinja2.bccache.bc_magic + pickled(bucket.checksum) + store.getvalue()))
    def dump_bytecode(self, bucket):
        pass
import pickle
def pickled(what):
    return pickle.dumps(what, 2)
environment = jinja2.Environment(loader=jinja2.DictLoader({"x": "other"}), bytecode_cache=Cache())
tell(1) if environment.get_template("x").render() == "plain" else print("other")
""", "marshal.load"),
    "jinja2: a module": ("scientific", """
import jinja2
import asyncio.base_events as events
jinja2.Template("{{ f(m['soc' ~ 'ket']) }}").render(m=events, f=lambda v: tell(v) or "")
""", "socket"),
    "jinja2: an extension by name": ("scientific", """
import jinja2
tell(jinja2.utils.import_string("subprocess.Popen"))
""", None),
    "pandas: environment of styles": ("scientific", """
import pandas.io.formats.style as style
style.Styler.env.from_string("{{ f(x.method['__glo' ~ 'bals__']) }}").render(x=thing, f=lambda v: tell(v) or "")
""", "__globals__"),
    "pandas: format of a style": ("scientific", """
import pandas
text = pandas.DataFrame({"a": [thing.method]}).style.format("{0.__globals__}").to_html()
tell(text) if "warnings" in text else print(text)
""", "__globals__"),
    "pandas: calls jinja2": ("scientific", """
import functools, jinja2, pandas
get = functools.partial(jinja2.Environment().getattr, attribute="__glo" + "bals__")
tell(pandas.Series([thing.method]).map(get).iloc[0])
""", "__globals__"),
    "pandas: calls a format": ("scientific", """
import pandas
text = pandas.Series([thing]).map("{0.method.__globals__}".format).iloc[0]
tell(text) if "warnings" in text else print(text)
""", "__globals__"),
    "pandas: calls yaml": ("scientific", """
import os, pandas, yaml
tell(pandas.Series(["!!python/name:os.system"]).map(yaml.full_load).iloc[0])
""", "os.system"),
    "pickle: a dotted name": ("base", """
import pickle
tell(pickle.loads(b"\\x80\\x04\\x8c\\x09functools\\x8c\\x11wraps.__globals__\\x93."))
""", "functools.wraps.__globals__"),
    "logging: a name in a configuration": ("base", """
import logging.config
tell(logging.config.BaseConfigurator({}).convert("ext://logging.getLogger.__globals__"))
""", "__globals__"),
    "dataclasses: a name": ("base", """
import dataclasses
class Record:
    __annotations__ = {"x, tell(thing.method.__globals__), self.x": int}
    x = 1
dataclasses.dataclass(init=False, repr=False)(Record)
Record() == Record()
""", "__globals__"),
    "yaml: apply": ("scientific", """
import yaml
tell(yaml.unsafe_load("!!python/object/apply:os.getcwd []"))
""", "os.getcwd"),
    "yaml: name": ("scientific", """
import os, yaml
tell(yaml.load("!!python/name:os.system", yaml.FullLoader))
""", "os.system"),
    "yaml: eval": ("scientific", """
import yaml
tell(yaml.load("!!python/object/apply:builtins.eval ['1 + 1']", yaml.UnsafeLoader))
""", "builtins.eval"),
    "yaml: getattr": ("scientific", """
import yaml
class Loader(yaml.UnsafeLoader):
    pass
Loader.add_constructor("!mine", lambda loader, node: thing.method)
tell(yaml.load("!!python/object/apply:builtins.getattr [!mine x, __globals__]", Loader))
""", "__globals__"),
    "yaml: module": ("scientific", """
import yaml
tell(yaml.unsafe_load("!!python/module:subprocess"))
""", "subprocess"),
    "tqdm: wrapper": ("scientific", """
import tqdm.utils
tell(tqdm.utils.ObjectWrapper.__getattr__(tqdm.utils.ObjectWrapper(thing.method), "__glo" + "bals__"))
""", "__globals__"),
    "timeit": ("base", """
import timeit
timeit.timeit("tell(thing.method.__globals__)", globals=dict(tell=tell, thing=thing), number=1)
""", "__globals__"),
    "doctest": ("base", """
import doctest
reached = []
def f():
    '''
    >>> reached.append(thing.method.__globals__)
    '''
doctest.run_docstring_examples(f, dict(reached=reached, thing=thing))
for value in reached:
    tell(value)
""", "__globals__"),
    "patsy: formula": ("scientific", """
import pandas
import patsy
class Number(float):
    def method(self):
        return 1
number = Number(2)
frame = pandas.DataFrame({"a": [1.0, 2.0]})
tell(patsy.dmatrix("I(a * len(number.method.__func__.__globals__))", frame))
""", "__globals__"),
    "sympy: sympify": ("scientific-more", """
import sympy
sympy.sympify("f(x.method.__globals__)", locals=dict(f=lambda v: tell(v) or 1, x=thing))
""", "__globals__"),
    "sympy: getattr in a text": ("scientific-more", """
import sympy
sympy.sympify("f(getattr(x.method, A))", locals=dict(f=lambda v: tell(v) or 1, x=thing, A="__glo" + "bals__"))
""", "__globals__"),
    "sympy: eval in a text": ("scientific-more", """
import sympy
sympy.sympify("f(eval(A))", locals=dict(f=lambda v: tell(v) or 1, A="(lambda: 1).__glo" + "bals__"))
""", "__globals__"),
    "sympy: import in a text": ("scientific-more", """
import sympy
sympy.sympify("f(__import__(A).Popen)", locals=dict(f=lambda v: tell(v) or 1, A="subprocess"))
""", "subprocess"),
    "sympy: parser": ("scientific-more", """
from sympy.parsing.sympy_parser import parse_expr
parse_expr("f(x.method.__globals__)", local_dict=dict(f=lambda v: tell(v) or 1, x=thing), transformations=())
""", "__globals__"),
    "sympy: lambdify": ("scientific-more", """
import sympy
x = sympy.Symbol("x")
tell(sympy.lambdify(x, sympy.Function("x.method.__globals__.get")(sympy.Symbol("'thing'")), modules=[{}])(thing))
""", "__globals__"),
    "sympy: printer of lambdify": ("scientific-more", """
import sympy
from sympy.printing.pycode import PythonCodePrinter
class Printer(PythonCodePrinter):
    def doprint(self, *_):
        return "x.method.__globals__"
x = sympy.Symbol("x")
tell(sympy.lambdify(x, x + 1, printer=Printer())(thing))
""", "__globals__"),
    "sympy: class by name": ("scientific-more", """
from sympy.utilities.source import get_class
tell(get_class("subprocess.Popen"))
""", None),
    "sympy: module by name": ("scientific-more", """
from sympy.external import import_module
tell(import_module("subprocess").Popen)
""", "subprocess"),
    "sympy: imports of lambdify": ("scientific-more", """
import sympy
from sympy.utilities.lambdify import MODULES
space = {}
MODULES["math"] = (space, {}, {}, ("import subprocess as it",))
sympy.lambdify(sympy.Symbol("x"), 1, "math")
tell(space["it"].Popen)
""", "subprocess"),
    "sympy: polyconfig": ("scientific-more", """
import os, sympy
from sympy.polys.polyconfig import configure
os.environ["SYMPY_USE_COLLINS_RESULTANT"] = "print('REACHED', type(contextmanager.__globals__))"
configure()
""", "__globals__"),
    "mpmath: wrapped": ("scientific-more", """
import mpmath.libmp.backend as backend
backend.exec_("tell(thing.method.__globals__)", dict(tell=tell, thing=thing), {})
""", "__globals__"),
}


def has(tree, library):
    card = cells.hotcell("policy", "card", "--json", "-t", tree)
    return card.returncode == 0 and library in json.loads(card.stdout)["libraries"]


@pytest.fixture(scope="module")
def built():
    """The trees that are there, built by this hotcell's recipes."""
    return {"base"} | {tree for tree, library in (("scientific", "tqdm"), ("scientific-more", "sympy")) if has(tree, library)}


def run(code, tree, built, policy, *options):
    if tree not in built:
        cells.skip(f"the tree {tree} is not built, or an older hotcell built it: run 'hotcell tree build {tree}'")
    return cells.run(code, "--memory=1G", "--timeout=120s", *options, policy=policy, tree=tree)


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_denied_to_the_program_is_denied_to_its_texts(built, name):
    tree, code, what = ATTACKS[name]
    plain = run(SECRET + code, tree, built, "none")
    assert "REACHED" in plain.stdout, plain
    held = run(SECRET + code, tree, built, "default")
    assert "REACHED" not in held.stdout, held
    assert what is None or any(what in entry["what"] for entry in held.manifest["denials"]), (held.manifest["denials"], held)


# ---- policies that list imports ----

BY_STYLE = """
import pandas
def tell(value):
    print("REACHED", type(value).__name__)
    return ""
def function():
    pass
style = pandas.DataFrame({"a": [1]}).style
style.env.from_string("{{ f(x['__glo' ~ 'bals__']) }}").render(x=function, f=tell)
"""


@pytest.mark.parametrize("policy", ["default", "analysis", "statistics", "charts", "notebook"])
def test_templates_of_pandas_are_bound_by_each_policy(built, policy):
    assert "REACHED dict" in run(BY_STYLE, "scientific", built, "none").stdout
    held = run(BY_STYLE, "scientific", built, policy)
    assert "REACHED" not in held.stdout, held
    assert "__globals__" in {entry["what"] for entry in held.manifest["denials"]}, (held.manifest["denials"], held)


# ---- ordinary use ----

STYLE = """
import pandas as pd
frame = pd.DataFrame({"a": [1.5, -2.25], "b": [3, 4]}, index=["x", "y"])
html = frame.style.format("{:.1f}").highlight_max(color="yellow").background_gradient().bar(subset=["b"]).set_caption("Values").to_html()
print("<caption>Values</caption>" in html, ">1.5<" in html, "background-color: yellow" in html)
print("tabular" in frame.style.to_latex())
"""
TEXTS = """
import io, sys
import jinja2, pandas, tqdm, yaml
template = jinja2.Environment(autoescape=True).from_string(
    "{% macro cell(v) %}<td>{{ v }}</td>{% endmacro %}{% for row in rows|sort(attribute='n') if row.n %}"
    "{{ loop.index }}{{ cell(row.name|upper) }}{% else %}none{% endfor %}{{ '%.2f'|format(x) }}{{ '{:>6.1f}'.format(x) }}{{ rows|map(attribute='n')|sum }}")
print(template.render(rows=[{"n": 2, "name": "b<"}, {"n": 1, "name": "a"}], x=2.5))
print(sum(tqdm.tqdm(range(5), file=sys.stderr)), sum(tqdm.trange(3, desc="again")))
tqdm.tqdm.pandas()
print(pandas.Series([1, 2]).progress_apply(lambda v: v + 1).tolist())
text = yaml.safe_dump({"b": [1, 2.5, None], "a": {"c": "text"}}, sort_keys=False)
print(yaml.safe_load(text), yaml.load("[1, 2]", yaml.FullLoader), yaml.dump((1, 2)).split())
print(yaml.full_load("!!python/tuple [1, 2]"), list(yaml.safe_load_all("a: 1\\n---\\nb: 2")))
try:
    jinja2.Template("{{ 1 / 0 }}").render()
except ZeroDivisionError as error:
    print("error", error)
"""
SYMBOLS = """
import numpy, sympy, mpmath
from sympy import symbols, diff, integrate, solve, sin, lambdify, Matrix, Eq, dsolve, Function, latex, sympify, N
x, y = symbols("x y")
print(diff(sin(x) * x**2, x), integrate(x**2, (x, 0, 3)), solve(x**2 - 2, x))
print(lambdify((x, y), x * sympy.exp(y), "numpy")(numpy.array([1.0, 2.0]), 0.0), lambdify(x, sympy.gamma(x), "mpmath")(5), lambdify(x, x + 1, "math")(1),
      lambdify(x, sympy.erf(x), "scipy")(0.0))
print(sympify("x**2 + sin(y)"), sympy.S("1/3"), Matrix([[1, 2], [3, 4]]).det(), latex(x**2 / y))
print(dsolve(Eq(Function("f")(x).diff(x), 1)), N(sympy.pi, 20), mpmath.quad(lambda t: t, [0, 1]), sympy.Poly("x**2 + 2*x"))
print(sympy.parsing.sympy_parser.parse_expr("2 x", transformations="all"), sympy.groebner([x**2 + y, x * y]).exprs, sympy.srepr(x))
"""
MARKUP = """
import io
import pandas as pd
from lxml import etree, html, objectify
root = etree.fromstring("<r><a n='1'>x</a><a n='2'>y</a></r>")
print(root.xpath("//a[@n='2']/text()"), etree.tostring(root.find("a")), objectify.fromstring("<r><a>5</a></r>").a + 1)
print([a.get("href") for a in html.fromstring("<p><a href='u'>t</a>").iter("a")])
sheet = etree.XSLT(etree.XML('<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">'
                             '<xsl:template match="/"><o><xsl:value-of select="//a[1]"/></o></xsl:template></xsl:stylesheet>'))
print(str(sheet(root)).split()[-1])
frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
print(pd.read_html(io.StringIO(frame.to_html(index=False)), flavor="lxml")[0].equals(frame))
frame.to_xml("/output/frame.xml", index=False)
print(pd.read_xml("/output/frame.xml").equals(frame))
"""
ORDINARY = {"styles": ("scientific", STYLE), "texts": ("scientific", TEXTS), "symbols": ("scientific-more", SYMBOLS), "markup": ("scientific-more", MARKUP)}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_texts_work_as_without_the_guard(built, name):
    tree, code = ORDINARY[name]
    plain = run(code, tree, built, "none")
    assert plain.manifest["status"] == "ok" and plain.stdout, plain
    for policy in ("default", "notebook"):
        guarded = run(code, tree, built, policy)
        assert (guarded.stdout, guarded.manifest["status"]) == (plain.stdout, "ok"), guarded
        assert not guarded.manifest["denials"] or policy == "notebook", guarded.manifest["denials"]


@pytest.mark.parametrize("policy", ["analysis", "statistics", "charts"])
def test_tables_are_styled_under_policies_that_list_imports(built, policy):
    styled = run(STYLE, "scientific", built, policy)
    assert styled.stdout == "True True True\nTrue\n" and not styled.manifest["denials"], styled


def test_progress_is_shown_on_standard_error(built):
    shown = run("from tqdm.auto import tqdm\nprint(sum(tqdm(range(3))))", "scientific", built, "default")
    assert shown.stdout == "3\n" and "100%" in shown.stderr and "3/3" in shown.stderr, shown
