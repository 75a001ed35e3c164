"""RunPython: skills, which are tools of modules and installed distributions."""

import asyncio
import contextlib
import sys
import types

import pytest
from runners import fresh, run  # noqa: F401

from hotcell.adapters import RunPython, notebook
from hotcell.adapters import allow as registry
from hotcell.adapters.allow import AllowChecked, allow


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
    with pytest.raises(TypeError, match="^module: expected a module or its name, got int$"):
        skills.register(5)
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


DOCUMENTED = """
def mine(a, b=[1], *rest, c: int = 3) -> str:
    'Adds.'
class Box:
    'A box.'
    def put(self, thing): 'Puts it there.'
def slow(): raise RuntimeError
"""


@pytest.mark.parametrize("session", [False, True])
def test_doc_tells_of_anything(monkeypatch, session):
    """S3.41: a function of the caller's, allowed or not, one of a skill, a builtin, a method, and what is the cell's own."""
    skill = types.ModuleType("wares", "What there is.")
    monkeypatch.setitem(sys.modules, "wares", skill)
    exec("def price(thing: str) -> int:\n    'In cents.'", vars(skill))
    space = {"wares": skill}
    exec(DOCUMENTED, space)
    allow({space["Box"]: ["put"]})
    space["box"] = space["Box"]()
    notebook.skills.register(skill)
    notebook.skills.enable("wares")
    runner = RunPython(g=space, tree="base", session=session)
    try:
        with contextlib.closing(runner):
            for code, text in (
                    ("doc(mine)", "mine(a, b=[1], *rest, c: int = 3) -> str\nAdds."), ("doc(price)", "price(thing: str) -> int\nIn cents."),
                    ("doc(wares)", "What there is.\n\nprice(thing: str) -> int: In cents."), ("doc(box.put)", "put(thing)\nPuts it there."),
                    ("doc(Box)", "class Box of the caller's\nA box."), ("doc(box)", "class Box of the caller's\nA box."),
                    ("doc(len)", "len(obj, /)\nReturn the number of items in a container."), ("doc([].append)", "append(object, /)\nAppend object to the end of the list."),
                    ("def own(x):\n    'of the cell'\ndoc(own)", "own(x)\nof the cell"), ("d = doc\nd(slow)", "slow()")):
                assert asyncio.run(runner(code)) == text, code
            assert "FUNCTIONS" in asyncio.run(runner("import math\ndoc(math)"))
            told = asyncio.run(runner("doc(int)"))
            assert told.startswith("class int(object)") and told.endswith(" characters more") and len(told) < 4100
            asyncio.run(runner("import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as out: help(mine)\nshown = out.getvalue()"))
            assert "mine(a, b=[1], *rest, c: int = 3) -> str\n    Adds." in space["shown"]
    finally:
        notebook.skills.disable("wares")


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
