"""The usage examples of the runner that RunPython replaces, in a real IPython: nothing is changed but the import lines."""

import contextlib
import json
import sys
from pathlib import Path

import cells
import pytest
from runners import fresh  # noqa: F401

from hotcell.adapters import allow as registry

IMPORTS = "from hotcell.adapters.notebook import *\nfrom hotcell.adapters.skills import *"
# What the page's own imports bring, and the tests' helpers that it uses.
PAGE = "import inspect, os, re, string, subprocess, traceback, warnings\nfrom pathlib import Path\nfrom types import SimpleNamespace"


@contextlib.contextmanager
def expect_fail(kind=Exception):
    with pytest.raises(kind):
        yield


@pytest.fixture(name="show")
def ipython(monkeypatch, tmp_path, scientific):
    """Runs a cell, and gives its value and what it prints."""
    try:
        from IPython.core.interactiveshell import InteractiveShell
        from IPython.utils.capture import capture_output
    except ImportError:
        cells.skip("IPython is not installed")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    config = tmp_path / "config" / "hotcell" / "python.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"tree": "scientific", "limits": {"timeout": f"{30 * cells.SLOWNESS}s", "memory": "1G"}}))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()

    def show(cell):
        with capture_output() as shown:
            result = shell.run_cell(cell)
        assert result.success, (cell, result, shown.stdout)
        seen["err"], seen["displays"] = shown.stderr, [one.data for one in shown.outputs]
        # IPython prints the value, too
        return result.result, shown.stdout.rpartition("Out[")[0].rstrip() if result.result is not None else shown.stdout.rstrip()
    seen = {}
    show.seen = seen
    show(IMPORTS)
    show(PAGE)
    shell.user_ns["expect_fail"] = expect_fail
    show("pyrun = RunPython()")
    yield show
    InteractiveShell.clear_instance()


def test_running(show):
    assert show("await pyrun('1+1')") == (2, "")
    assert show("await pyrun('print(\"hello\"); 1+1')") == (2, "hello")
    assert show("await pyrun('''\nimport warnings\nwarnings.warn('a warning')\n\"ok\"\n''')") == ("ok", "")
    assert ":3: UserWarning: a warning" in show.seen["err"]
    assert show("await pyrun('import re; re.findall(r\"\\\\d+\", \"there are 3 cats and 10 dogs\")')") == (["3", "10"], "")
    assert show("await pyrun('[]')") == ([], "")
    assert show("await pyrun('''\nimport asyncio\nasync def fetch(n): return n * 10\nawait asyncio.gather(fetch(1), fetch(2), fetch(3))\n''')") == \
        ([10, 20, 30], "")


def test_allowing(show):
    show("def greet(name): return f\"Hello, {name}!\"")
    assert show("allow(greet) # Or use @allow decorator\nawait pyrun('greet(\"World\")')") == ("Hello, World!", "")
    assert show("@allow\ndef double(x): return x * 2\nawait pyrun('double(21)')") == (42, "")
    show("import numpy as np")
    assert show("allow(np.array, np.ndarray.sum)\nawait pyrun('np.array([1,2,3]).sum()')") == (6, "")
    assert show("allow({np.ndarray: ['mean', 'reshape', 'tolist']})\nawait pyrun('np.array([1,2,3,4]).reshape(2,2).mean()')") == (2.5, "")
    show("allow('my_func', {np.linalg: ['norm', 'det']})")
    assert "numpy.linalg.norm" in show("pyrun.__doc__")[0]


def test_older_forms_of_allowing(show):
    show("def greet(name): return f\"Hello, {name}!\"")
    assert show("allow('greet')\nawait pyrun('greet(\"World\")')") == ("Hello, World!", "")
    show("import numpy as np")
    assert show("allow('numpy.array', 'numpy.ndarray.sum')\nawait pyrun('np.array([1,2,3]).sum()')") == (6, "")
    show("pp = PosWritePolicy(1, 'dst')\npp.check(None, ['src', '/tmp/ok'], {}, ['/tmp'])")
    show("with expect_fail(PermissionError): pp.check(None, ['src', '/root/bad'], {}, ['/tmp'])")


def test_exporting(show):
    show("await pyrun('result_ = [x**2 for x in range(5)]')")
    assert show("result_") == ([0, 1, 4, 9, 16], "")
    assert show("await pyrun('counts_ = {\"a\": 1, \"b\": 2}')\ncounts_") == ({"a": 1, "b": 2}, "")
    assert show("await pyrun('a_=3')\na_") == (3, "")
    assert show("await pyrun('''aa_='33' ''')\nawait pyrun('''len(aa_) ''')") == (2, "")


def test_writing(show, tmp_path):
    show("pyrun2 = RunPython(ok_dests=['/tmp'])")
    assert show("await pyrun2(\"Path('/tmp/test_write.txt').write_text('hello')\")") == (5, "")
    blocked = "try: await pyrun2(\"{}\")\nexcept PermissionError as e: print(f'Blocked: {{e}}')"
    why = "Blocked: Dest '{}' not allowed; permitted: ['/tmp']"
    assert why.format("/etc/evil.txt") in show(blocked.format("Path('/etc/evil.txt').write_text('bad')"))[1]
    assert show("await pyrun2(\"open('/tmp/test_open.txt', 'w').write('hi')\")") == (2, "")
    assert why.format("/root/bad.txt") in show(blocked.format("open('/root/bad.txt', 'w')"))[1]
    assert len(show("await pyrun2(\"open('/etc/passwd', 'r').read(10)\")")[0]) == 10  # of the cell's file
    both = "import shutil; Path('/tmp/test_write.txt').write_text('hello'); shutil.copy('/tmp/test_write.txt', '/tmp/test_copy.txt')"
    assert show(f"await pyrun2(\"{both}\")") == ("/tmp/test_copy.txt", "")
    assert why.format("/root/bad.txt") in show(blocked.format(both.replace("/tmp/test_copy", "/root/bad")))[1]
    assert "not allowed" in show("try: await pyrun(\"Path('/tmp/test.txt').write_text('nope')\")\n"
                                 "except (AttributeError, PermissionError) as e: print(f'No ok_dests: {e}')")[1]
    assert show("pyrun_cwd = RunPython(ok_dests=['.'])\n\n# Writing to cwd should work\n"
                "await pyrun_cwd(\"Path('test_cwd_ok.txt').write_text('hello')\")") == (5, "")
    assert (tmp_path / "test_cwd_ok.txt").read_text() == "hello"
    show("Path('test_cwd_ok.txt').unlink(missing_ok=True)")
    for code in ("Path('/tmp/nope.txt').write_text('bad')", "Path('../escape.txt').write_text('bad')", "open('../bad_open.txt', 'w')"):
        assert show(f"try: await pyrun_cwd(\"{code}\")\nexcept PermissionError: print(\"Blocked as expected\")")[1] == "Blocked as expected"
    # Over a directory that does not exist: the kernel finds none before any rule is asked.
    assert show("try: await pyrun_cwd(\"Path('subdir/../../escape.txt').write_text('bad')\")\n"
                "except (PermissionError, FileNotFoundError): print(\"Blocked as expected\")")[1] == "Blocked as expected"
    assert not (tmp_path.parent / "escape.txt").exists() and not (tmp_path / "subdir").exists()


POLICY = '''class ExtWritePolicy(AllowPolicy):
    "Only allow writes to paths with specified extensions"
    def __init__(self, exts): self.exts = set(exts)
    def __call__(self, obj, args, kwargs, ok_dests):
        chk_dest(obj, ok_dests)
        if Path(str(obj)).suffix not in self.exts: raise PermissionError(f"{Path(str(obj)).suffix!r} not allowed")
'''


def test_policies(show):
    show("pp = PosAllowPolicy(1, 'dst')\npp(None, ['src', '/tmp/ok'], {}, ['/tmp'])")
    assert show("try: pp(None, ['src', '/root/bad'], {}, ['/tmp'])\nexcept PermissionError: print('blocked')")[1] == "blocked"
    show(POLICY)
    show("ep = ExtWritePolicy(['.csv', '.json'])\nep(Path('/tmp/data.csv'), [], {}, ['/tmp'])")
    assert show("try: ep(Path('/tmp/script.sh'), [], {}, ['/tmp'])\nexcept PermissionError: print('blocked')")[1] == "blocked"
    show("wc = AllowChecked(Path('/tmp').exists, ['/tmp'])\nassert callable(wc)")
    show("allow({Path: [('write_text', ExtWritePolicy(['.csv', '.json', '.txt']))]})")
    show("own = str(Path.cwd())\npyrun3 = RunPython(ok_dests=[own])")
    assert show("await pyrun3(\"(Path(own) / 'a.csv').write_text('x')\")") == (1, "") and Path("a.csv").read_text() == "x"
    assert show("try: await pyrun3(\"(Path(own) / 'a.sh').write_text('x')\")\nexcept PermissionError as e: print(e)")[1] == "'.sh' not allowed"


def test_the_magic(show):
    show("create_pyrun_magic()")
    assert show("%py -o")[0] is not None
    assert show("%%py\nprint('tt')") == (None, "tt")
    assert show("%%py\ntype('t')")[0] is str
    assert show("%%py\na = 1\na+=2\na") == (3, "") and show("a") == (3, "")
    assert show("%%py\na = [1,2,3]\nprint(*a)") == (None, "1 2 3")
    show("@allow\ndef f(): warnings.warn('a warning')")
    with pytest.warns(UserWarning, match="a warning"):
        assert show("%%py\nprint(\"asdf\")\nf()\n1+1") == (2, "asdf")
    assert show("await pyrun('''\nclass A:\n    def __init__(self): print('safe')\n_ = A()''')") == (None, "safe")
    show("await pyrun('class a: b:int')")
    assert show("await pyrun('''\ndef f(): print('safe')\nf()''')") == (None, "safe")
    assert show("%%py\nprint(os.unlink)\nprint(os.unlink.__qualname__)") == (None, "<built-in function unlink>\nunlink")
    show("class C: ...\nc = C()")
    assert show("%%py\nisinstance(C, type)") == (True, "") and show("%%py\nisinstance(c, type)") == (False, "")
    assert show("o = SimpleNamespace(x=1)\n\nawait pyrun('''\nd = {}\nd[\"x\"] = 1\no.x = 2\nd[\"x\"],o.x''')") == ((1, 2), "")
    show("class A:\n    def echo(self,x):print(x)\necho=A().echo\n\nallow(echo)")
    assert show("await pyrun(\"echo('tst')\")") == (None, "tst")
    show("%load_ext hotcell.adapters.notebook")
    assert show("%%py\n6 * 7") == (42, "")


def test_the_page_of_examples(show):
    show("create_pyrun_magic()")
    assert show("%%py\na = {\"b\":1}\nlist(a.items())") == ([("b", 1)], "")
    assert show("%%py\nPath().exists()") == (True, "")
    assert show("%%py\nos.path.join('/foo', 'bar', 'baz.py')") == ("/foo/bar/baz.py", "")
    show("def g(): ...")
    assert show("%%py\ninspect.getsource(g)")[0] == "def g(): ...\n"
    assert show("try: await pyrun('g()')\nexcept PermissionError: print(\"Correct exception raised\")\nelse: raise Exception(\"No exception\")")[1] == \
        "Correct exception raised"
    for code in ("os.system(\"ls\")", "os.unlink('/foo/bar')", "import subprocess; subprocess.run(['echo', 'hi'])"):
        show(f"with expect_fail(PermissionError): await pyrun({code!r})")
    for code in ("class A:\n    def __init__(self): os.unlink('/unsafe')\nA()", "def f(): os.unlink('/unsafe')\nf()"):
        show(f"with expect_fail(PermissionError):\n    await pyrun('''\n{code}''')")
    assert show("%%py\nre.compile(\"a\")")[0].pattern == "a"
    show("from re import compile")
    assert show("await pyrun('compile(\"a\")')")[0].pattern == "a"
    assert show("%%py\nasync def agen():\n    for x in [1,2]: yield x\nres = []\nasync for x in agen(): res.append(x)\nres") == ([1, 2], "")
    assert show("%%py\nimport asyncio\nasync def fetch(n): return n * 10\nprint(string.ascii_letters)\n"
                "await asyncio.gather(fetch(1), fetch(2), fetch(3))") == ([10, 20, 30], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    show("import numpy as np\nallow({np: ['array'], np.ndarray: ['sum']})")
    assert show("%%py\nimport numpy as np; np.array([1,2,3]).sum()")[0] == 6
    show("_test_sentinel = True")
    assert show("find_var('_test_sentinel')")[0] is True
    assert show("srcfn(''),srcfn('')")[0][0].startswith("<pyrun_")


def test_what_is_trusted(show):
    show("def trusted_echo(): return subprocess.run(['echo', 'hi'], capture_output=True, text=True)")
    show("with expect_fail(PermissionError): await pyrun(\"trusted_echo().stdout\")")
    show("allow(trusted_echo)")
    assert show("await pyrun(\"trusted_echo().stdout\")") == ("hi\n", "")
    show("with expect_fail(PermissionError): await pyrun(\"import subprocess; subprocess.run(['echo', 'hi'])\")")
    show("def run(text): return subprocess.run(text.split(), capture_output=True, text=True).stdout.strip()")
    show("class _MethT:\n    def echo (self): return run('echo hi')\n    def echo2(self): return run('echo hi')\n\nt = _MethT()")
    show("with expect_fail(PermissionError): await pyrun(\"t.echo()\")")
    show("with expect_fail(PermissionError): await pyrun(\"t.echo2()\")")
    assert show("allow(_MethT.echo)\nawait pyrun(\"t.echo()\")") == ("hi", "")
    assert show("allow({_MethT:['echo2']})\nawait pyrun(\"t.echo2()\")") == ("hi", "")
    show("def echo3(self): return run('echo hi')\n_MethT.echo3 = echo3")
    show("with expect_fail(PermissionError): await pyrun(\"t.echo3()\")")
    assert show("allow({_MethT:['echo3']})\nawait pyrun(\"t.echo3()\")") == ("hi", "")


def test_the_magic_shows_the_lines_of_the_cell(show):
    """An exception is shown with the code's own lines, not with those of the package, and with nothing that controls a terminal."""
    show("create_pyrun_magic()")
    with pytest.raises(AssertionError) as failed:
        show("%%py\nfirst = 1\nfirst / 0")
    shown = str(failed.value)
    assert "    first / 0" in shown and "line 2" in shown and "ZeroDivisionError: division" in shown and "notebook.py" not in shown
    with pytest.raises(AssertionError) as failed:
        show("%%py\nraise ValueError(chr(27) + '[2J')")
    assert "ValueError: \\\\x1b[2J" in str(failed.value)


PLOT = """%%py
fig, ax = plt.subplots(figsize=(3,2), dpi=100)
ax.plot([1,2,1], label='Triangle')
ax.plot([1,1.5,2], label='Rising')
ax.tick_params(labelsize=10)
ax.set_xlabel('X', fontsize=10)
ax.set_ylabel('Y', fontsize=10)
ax.spines[['top','right']].set_visible(False)
ax.yaxis.set_major_formatter('{x:.0f}')
ax.legend(fontsize=12);"""


def test_plots(show, tmp_path):
    cells.need_module("matplotlib")
    show("create_pyrun_magic()\nimport matplotlib; matplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nallow_matplotlib()")
    show("%%py\nplt.figure(figsize=(2,2))\nplt.plot([1,2,1]);")
    assert [set(data) for data in show.seen["displays"]] == [{"image/png", "text/plain"}]
    show(PLOT)
    assert [set(data) for data in show.seen["displays"]] == [{"image/png", "text/plain"}]
    show("fig, ax = plt.subplots()\nown = str(Path.cwd())\npyrun_tmp = RunPython(ok_dests=[own])")  # of the caller's
    show("await pyrun_tmp(\"ax.plot([1, 2])\\nax.set_title('mine')\")")
    show("with expect_fail(PermissionError): await pyrun_tmp(\"fig.savefig(os.path.expanduser('~/plot.png'))\")")
    show("await pyrun_tmp(\"fig.savefig(own + '/plot.png')\")")
    assert (tmp_path / "plot.png").read_bytes()[:4] == b"\x89PNG" and show("ax.get_title()")[0] == "mine"


def test_the_registry_is_the_callers(show):
    show("allow({str: [('test_method', AllowPolicy())]})")
    assert any(isinstance(entry, tuple) and entry[0] == "test_method" for entry in registry.__pytools__[str])
    assert "hotcell" in sys.modules
