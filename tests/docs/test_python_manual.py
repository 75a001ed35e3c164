"""hotcell-python(3) and the package agree: what one names the other has, and whatever can be called says what it does."""

import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
sys.path.insert(0, str(SOURCE / "python"))
import hotcell  # noqa: E402
from hotcell import adapters, config  # noqa: E402
from hotcell.adapters import RunPython, allow, notebook, skills  # noqa: E402

MANUAL = (SOURCE / "man" / "hotcell-python.3.in").read_text()
MODULES = [hotcell] + [importlib.import_module(module.name) for module in pkgutil.walk_packages(hotcell.__path__, "hotcell.")]
CLASSES = [hotcell.Command, hotcell.Result, hotcell.Session, hotcell.SessionFiles, hotcell.Context, hotcell.Daemon, hotcell.Admin, hotcell.Job, hotcell.File, hotcell.Returned, RunPython]
PROBLEM = hotcell.Problem("", 1, {})


def marked(macro):
    """What stands behind this macro, in its own line or within another's."""
    found = []
    for line in MANUAL.splitlines():
        words, on = line.lstrip(".").split() if line.startswith(".") else [], False
        for word in words:
            if word in ("Fn", "Vt", "Va", "Fa", "It", "Op", "Ar", "No", "Ns", "Pq", "Po", "Pc", "Ic", "Ql", "Pa", "Ev", "Sy", "Xr", "Dv", "Fl"):
                on = word == macro
            elif on and re.fullmatch(r"(hotcell\.)?[A-Za-z_]+(=.*)?", word):
                found.append(word.removeprefix("hotcell.").partition("=")[0])
                on = macro != "Fn"  # the rest are its arguments
    return sorted(set(found))


def parameters():
    called = [hotcell.run, hotcell.Tool, hotcell.Daemon, hotcell.Daemon.run, hotcell.Admin.hold, hotcell.Session, hotcell.Session.run, hotcell.Session.context, RunPython]
    return {name for fn in called for name in inspect.signature(fn).parameters}


@pytest.mark.parametrize("name", marked("Fn"))
def test_functions_of_the_manual_are_there(name):
    assert any(callable(getattr(where, name, None)) for where in (hotcell, *CLASSES, notebook, skills, allow)), name


@pytest.mark.parametrize("name", marked("Vt"))
def test_classes_of_the_manual_are_there(name):
    assert any(inspect.isclass(getattr(where, name, None)) for where in (hotcell, adapters, notebook)), name


@pytest.mark.parametrize("name", marked("Fa"))
def test_parameters_of_the_manual_are_there(name):
    assert name in parameters() or name in ("code", "manifest")


@pytest.mark.parametrize("name", [name for name in marked("Va") if not name.startswith("_")])
def test_members_of_the_manual_are_there(name):
    fields = {field for kind in (hotcell.Run, hotcell.Check, hotcell.SessionFile, hotcell.results.Error) for field in kind.__dataclass_fields__}
    assert name in fields or hasattr(hotcell.Result, name) or hasattr(hotcell.Daemon, name) or hasattr(hotcell.Job, name) or hasattr(PROBLEM, name) or \
        name in {**vars(hotcell.Command(None, "c1", [])), **vars(hotcell.Context(None, {"name": "b", "workdir": "/output"}))}, name


def test_the_manual_names_all_that_there_is():
    words = set(re.findall(r"[A-Za-z_]+", MANUAL))
    public = {*hotcell.__all__, *adapters.__all__, *notebook.__all__, *config.MEMBERS}
    inner = {"UNSET", "DEFAULT_EXEC_TIMEOUT", "ScriptConfig", "default_ok_dests", "load_ipython_extension"}
    assert not public - words - inner
    for kind in (hotcell.Session, hotcell.Daemon, hotcell.Admin, hotcell.Job, hotcell.DaemonSession):
        public = {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}
        assert not public - words, kind


def test_the_manual_lists_each_argument_of_the_in_process_runner():
    text = MANUAL.partition("Its arguments are\n")[2].partition("\n.El")[0]
    assert sorted(re.findall(r"[a-z_]+", " ".join(re.findall(r"^\.It Fa (.*)$", text, re.M)))) == sorted(inspect.signature(RunPython).parameters)


def test_both_kinds_of_clients_have_the_same_methods():
    for one, other in ((hotcell.Daemon, hotcell.AsyncDaemon), (hotcell.Admin, hotcell.AsyncAdmin), (hotcell.Job, hotcell.AsyncJob), (hotcell.DaemonSession, hotcell.AsyncDaemonSession)):
        for name in {name for name in (*vars(one), *vars(other)) if not name.startswith("_")}:
            if callable(getattr(one, name)):
                assert inspect.signature(getattr(one, name)).parameters == inspect.signature(getattr(other, name)).parameters, (one, name)
    assert inspect.signature(hotcell.run).parameters == inspect.signature(hotcell.arun).parameters
    of_session = {name for name, _ in inspect.getmembers(hotcell.Session, callable) if not name.startswith("_")}
    for kind in hotcell.AsyncSession, hotcell.DaemonSession, hotcell.AsyncDaemonSession:
        assert of_session <= set(dir(kind)), kind


def functions_of(module):
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(thing) or inspect.isclass(thing):
            yield f"{module.__name__}.{name}", thing
        if inspect.isclass(thing):
            yield from ((f"{module.__name__}.{name}.{member}", value) for member, value in vars(thing).items()
                        if not member.startswith("_") and (inspect.isroutine(value) or isinstance(value, (property, classmethod))))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_everything_public_says_what_it_does(module):
    assert module.__doc__
    silent = [name for name, thing in functions_of(module) if (inspect.getdoc(thing) or "(").startswith(("(", f"{name.rpartition('.')[2]}("))]
    assert not silent
