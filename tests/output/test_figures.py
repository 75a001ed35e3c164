"""Figures as a policy wants them: formats, which, what show() does, where, how large, in which letters."""

import json
import re

import cells
import pytest
import session_client

SCIENTIFIC = ["--memory", "1G", "--timeout", "60s"]
PNG = b"\x89PNG\r\n\x1a\n"
TWO_LINES = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.figure()\nplt.plot([2, 1])\n"


def draw(code, tree, *options, figures=None, **policy):
    return cells.run(code, *SCIENTIFIC, *options, tree=tree, policy={"figures": figures or {}, **policy})


def figures(result):
    """{path: MIME type} as the manifest lists them; each is there."""
    listed = {figure["path"]: figure["mime"] for figure in result.manifest["figures"]}
    assert result.manifest and set(listed) <= set(result.files()), result
    return listed


def stems(paths):
    return sorted({path.rpartition(".")[0] for path in paths})


def test_several_formats_at_once(scientific):
    result = draw(TWO_LINES, scientific, figures={"formats": ["png", "svg", "pdf"]})
    kept = figures(result)
    assert sorted(kept.values()) == ["application/pdf"] * 2 + ["image/png"] * 2 + ["image/svg+xml"] * 2, result
    assert len(stems(kept)) == 2
    begins = {"image/png": PNG, "application/pdf": b"%PDF-", "image/svg+xml": b"<?xml"}
    for path, mime in kept.items():
        assert re.fullmatch(r"figures/fig_[0-9a-f]{12}\.\w+", path)
        assert (result.output / path).read_bytes().startswith(begins[mime])
    told = result.manifest["guest"]["figures"]
    assert {(row["path"], row["mime"], row["kind"]) for row in told} == {(*item, "matplotlib") for item in kept.items()}


def test_figures_have_a_resolution_and_no_margin(scientific):
    """150 dots an inch, cut to what is drawn."""
    result = draw("import matplotlib.pyplot as plt\nplt.figure(figsize=(4, 2)).add_axes([0, 0, 1, 1]).set_axis_off()", scientific)
    data = (result.output / next(iter(figures(result)))).read_bytes()
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    assert abs(width - 630) < 10 and abs(height - 330) < 10  # 4 by 2 inches and a tenth around them


@pytest.mark.parametrize("end", ["", "1 / 0\n", "raise SystemExit(3)\n"])
def test_first_figure_alone(scientific, end):
    """Also after an error; the others are closed and not missed."""
    result = draw(TWO_LINES + end, scientific, figures={"which": "first"})
    assert len(figures(result)) == 1 and result.manifest["guest"]["warnings"] == [], result


def test_show_does_nothing(scientific):
    result = draw("import matplotlib.pyplot as plt\nplt.plot([1])\nprint(plt.show(), plt.show(block=True), plt.get_fignums())",
                  scientific, figures={"show": "ignore"})
    assert result.stdout == "None None [1]\n" and len(figures(result)) == 1, result


def test_show_saves_the_current_figure_and_closes_it(scientific):
    result = draw("""\
        import matplotlib.pyplot as plt
        plt.show()
        plt.figure()
        plt.show()
        plt.plot([1, 2])
        plt.show()
        plt.plot([2, 1])
        plt.show()
        print(plt.get_fignums(), results["plots"])
        """, scientific, figures={"show": "current", "directory": "plots"}, prelude={"results": True})
    assert result.stdout == "[] ['plot_1.png', 'plot_2.png']\n" and result.stderr == "", result
    assert figures(result) == {"plots/plot_1.png": "image/png", "plots/plot_2.png": "image/png"}
    assert result.files() == ["plots/plot_1.png", "plots/plot_2.png"]
    assert result.manifest["guest"]["results"]["plots"] == ["plot_1.png", "plot_2.png"]
    assert [row["path"] for row in result.manifest["guest"]["figures"]] == ["plots/plot_1.png", "plots/plot_2.png"]


def test_show_says_what_it_could_not_save(scientific):
    result = draw("""\
        import matplotlib.pyplot as plt
        plt.plot([1]); plt.title("$\\\\broken$"); plt.show()
        plt.plot([1, 2]); plt.show()
        print(plt.get_fignums())
        """, scientific, figures={"show": "current"})
    assert result.stdout.startswith("Warning: Could not save plot: ") and result.stdout.endswith("[]\n"), result
    assert list(figures(result)) == ["figures/plot_2.png"]


def test_what_show_saves_counts_and_is_capped(scientific):
    code = "import matplotlib.pyplot as plt\nfor i in range(5):\n    plt.plot([i])\n    plt.show()\nplt.plot([1])\n"
    result = draw(code, scientific, "--max-figures", "2", figures={"show": "current"})
    assert list(figures(result)) == ["figures/plot_1.png", "figures/plot_2.png"], result
    assert any("4 of 6 matplotlib" in line for line in result.manifest["guest"]["warnings"])
    result = draw(code, scientific, "--figure-size", "4K", figures={"show": "current"})
    assert figures(result) == {} and result.stdout.count("Warning: Could not save plot: ") == 5, result


def test_results_that_the_program_replaced_are_let_be(scientific):
    result = draw("import matplotlib.pyplot as plt\nresults = {'plots': 5}\nplt.plot([1]); plt.show()\nresults = 1\n"
                  "plt.plot([1]); plt.show()", scientific, figures={"show": "current"}, prelude={"results": True})
    assert len(figures(result)) == 2 and result.stdout == "", result


def test_plotly_as_json_and_as_a_page_of_its_own(scientific):
    """The cap is for each kind."""
    result = draw("""\
        import plotly.graph_objects as go, matplotlib.pyplot as plt
        for n in range(3):
            go.Figure(data=[go.Scatter(y=[n, 1])]).show()
            plt.figure()
        """, scientific, "--max-figures", "2", figures={"plotly": ["json", "html"]})
    kept = figures(result)
    assert sorted(kept.values()) == ["application/vnd.plotly.v1+json"] * 2 + ["image/png"] * 2 + ["text/html"] * 2, result
    pages = [result.output / path for path, mime in kept.items() if mime == "text/html"]
    for page in pages:
        text = page.read_text()
        assert "Plotly.newPlot" in text and len(text) > 1_000_000
        assert not re.search(r"<script[^>]* src=|<link ", text)
    warnings = " ".join(result.manifest["guest"]["warnings"])
    assert "1 of 3 matplotlib" in warnings and "1 of 3 plotly" in warnings


def test_plotly_figures_that_a_policy_names(scientific):
    """The list of the older runner."""
    result = draw("import plotly.graph_objects as go\nfigure = go.Figure()\nfigure.show()\nprint(figs[0] is figure)\n"
                  "figs.append(go.Figure())", scientific, prelude={"code": "figs = hotcell.shown"})
    assert result.stdout == "True\n" and len(figures(result)) == 2, result
    assert all(json.loads((result.output / path).read_text())["data"] == [] for path in figures(result))


def test_a_failing_capture_is_no_failure(scientific):
    result = draw("import matplotlib.pyplot as plt\nplt.plot([1])\ndef broken(*a, **k):\n    raise SystemExit('no')\n"
                  "plt.gcf().draw = broken\nplt.figure()\nprint('done')", scientific)
    assert result.manifest["status"] == "ok" and result.stdout == "done\n", result
    assert result.stderr == "Matplotlib figure capture skipped: SystemExit: no\n"
    assert len(figures(result)) == 1


def test_policies_choose_matplotlibs_backend_and_directory(scientific):
    result = draw("import os, stat, matplotlib\nimport matplotlib.pyplot as plt\nplt.plot([1])\n"
                  "directory = os.environ['MPLCONFIGDIR']\n"
                  "print(directory, oct(stat.S_IMODE(os.stat(directory).st_mode)), matplotlib.get_configdir() == directory,"
                  " matplotlib.get_backend())", scientific,
                  env={"MPLCONFIGDIR": "/output/.matplotlib", "MPLBACKEND": "svg"})
    assert result.stdout == "/output/.matplotlib 0o700 True svg\n" and result.stderr == "", result
    assert result.files() == list(figures(result)), result


@pytest.mark.parametrize("path", ["/etc", "/output", "/output/../etc", "/tmp//x", "/tmp/", "relative", "/output/.."])
def test_matplotlibs_directory_is_one_that_programs_can_write(base_tree, path):
    result = cells.run("print(1)", policy={"env": {"MPLCONFIGDIR": path}})
    assert result.status == 78 and "env.MPLCONFIGDIR: expected a directory below /output or /tmp" in result.stderr


@pytest.mark.parametrize("rule, said", [
    ({"formats": ["gif"]}, "figures.formats: expected png, svg or pdf, got 'gif'"),
    ({"plotly": ["png"]}, "figures.plotly: expected json or html, got 'png'"),
    ({"directory": "../x"}, "figures.directory: expected letters"), ({"directory": ""}, "figures.directory: expected letters"),
    ({"directory": 5}, "figures.directory: expected the name of a directory, got a number"),
])
def test_rules_that_are_wrong(base_tree, rule, said):
    result = cells.run("print(1)", policy={"figures": rule})
    assert result.status == 78 and said in result.stderr, result


# ---- letters ----

WORDS = "漢字 日本語 한국어 中文"
STRICT = "import warnings, matplotlib.pyplot as plt\nwarnings.filterwarnings('error', 'Glyph')\n"


@pytest.mark.parametrize("style", ["", "import seaborn; seaborn.set_theme()\n", "plt.style.use('ggplot')\n"])
def test_fonts_for_every_letter(scientific, style):
    """No box instead of a character, whatever a style says of fonts."""
    code = STRICT + style + f"plt.title({WORDS!r})\nplt.savefig('a.png'), plt.savefig('a.svg'), plt.savefig('a.pdf')\n"
    result = draw(code, scientific)
    assert result.manifest["status"] == "ok" and result.stderr == "", result
    plain = draw(code, scientific, figures={"fallback": []})
    assert plain.manifest["status"] == "error" and "Glyph" in plain.stderr  # DejaVu alone has none of these


def test_fonts_that_a_policy_prefers(scientific):
    """Families in their order, those that are not there left out."""
    chosen = {"fonts": ["No Such Font", "DejaVu Sans", "Droid Sans Fallback"], "fallback": []}
    result = draw(STRICT + f"plt.title({WORDS!r})\nplt.savefig('a.png')\nprint(plt.rcParams['font.family'])\n"
                  "plt.style.use('default')\nprint(plt.rcParams['font.family'])", scientific, figures=chosen)
    assert result.stdout == "['DejaVu Sans', 'Droid Sans Fallback', 'sans-serif']\n" * 2 and result.stderr == "", result


def test_minus_signs_by_policy(scientific):
    """axes.unicode_minus"""
    code = "import matplotlib.pyplot as plt\nprint(plt.rcParams['axes.unicode_minus'], plt.rcParams['font.family'])"
    assert draw(code, scientific).stdout == "True ['sans-serif']\n"
    chosen = draw(code, scientific, figures={"unicode_minus": False, "fonts": ["DejaVu Sans Mono"]})
    assert chosen.stdout == "False ['DejaVu Sans Mono', 'sans-serif']\n", chosen


def test_fonts_that_the_program_chose_stay(scientific):
    result = draw("import matplotlib\nmatplotlib.rcParams['font.family'] = ['monospace']\nimport matplotlib.pyplot as plt\n"
                  "print(plt.rcParams['font.family'])", scientific, figures={"fonts": ["Droid Sans Fallback"]})
    assert result.stdout == "['monospace']\n", result


# ---- what show() does at once ----

def test_there_is_never_half_a_figure(scientific):
    """Not while it is made anew, nor when there is no room for it."""
    result = draw("""\
        import os, matplotlib.pyplot as plt
        from matplotlib.figure import Figure
        whole = []
        class Slow(Figure):
            def draw(self, renderer):  # some times for each file
                whole.append([os.path.getsize(f"figures/{name}") > 1000 for name in os.listdir("figures")] if os.path.exists("figures") else [])
                super().draw(renderer)
        plt.figure(FigureClass=Slow); plt.plot([1]); plt.show()
        plt.title("again"); plt.show()
        print(whole[0], whole[-1], len(set(map(str, whole))))
        """, scientific, figures={"show": "keep"})
    assert result.stdout == "[] [True] 2\n" and len(result.files()) == 1, result
    full = draw("import matplotlib.pyplot as plt\nopen('big', 'wb').write(bytes((1 << 20) - 8192))\nplt.plot([1])\n"
                "plt.figure(figsize=(20, 20)); plt.plot(range(999))", scientific, "--output-size", "1M")
    assert "No space left" in full.stderr and [p for p in full.files() if "part" in p] == [], full


def test_figures_that_are_shown_outlive_their_closing(scientific):
    result = draw("""\
        import os, matplotlib.pyplot as plt
        plt.plot([1, 2]); plt.show()
        print(os.listdir("figures"))
        plt.close()
        plt.plot([2, 1])
        """, scientific)
    (first,) = eval(result.stdout)
    assert len(figures(result)) == 2 and f"figures/{first}" in figures(result), result
    assert sorted(row["path"] for row in result.manifest["guest"]["figures"]) == sorted(figures(result))


def test_figures_are_drawn_again_only_if_they_have_changed(scientific):
    """Counted by the program: drawing is what takes time."""
    result = draw("""\
        import matplotlib.pyplot as plt
        from matplotlib.figure import Figure
        class Counting(Figure):
            def draw(self, renderer):  # some times for each file
                print(self.number)
                super().draw(renderer)
        for number in (1, 2):
            plt.figure(number, FigureClass=Counting)
            plt.plot([number, 2]); plt.show(); plt.show()
        plt.title("later")
        """, scientific, figures={"show": "keep"})
    drawn = result.stdout.split()
    assert drawn.count("2") == 2 * drawn.count("1") > 0, result
    assert len(figures(result)) == 2


def test_shown_figures_count_like_others(scientific):
    code = "import matplotlib.pyplot as plt\nfor i in range(5):\n    plt.figure(); plt.plot([i]); plt.show()\n"
    result = draw(code, scientific, "--max-figures", "2")
    assert len(figures(result)) == 2 and "3 of 5 matplotlib" in " ".join(result.manifest["guest"]["warnings"]), result


def test_plotly_figures_are_as_they_are_at_the_end(scientific):
    result = draw("""\
        import os, json, plotly.graph_objects as go
        for end in ("a", "b"):
            figure = go.Figure(layout={"title": {"text": "first"}})
            figure.show()
            print(len(os.listdir("figures")))
        figure.update_layout(title_text="last")
        """, scientific)
    titles = [json.loads((result.output / path).read_text())["layout"]["title"]["text"] for path in figures(result)]
    assert result.stdout.split() == ["1", "2"] and sorted(titles) == ["first", "last"], result


# ---- each figure once, and in order ----

def widths(result):
    """Of the PNG figures, in the manifest's order: the programs below tell figures apart by their width in inches."""
    return [int.from_bytes((result.output / row["path"]).read_bytes()[16:20], "big") // 150 for row in result.manifest["figures"]]


FIGURE = "import matplotlib.pyplot as plt\ndef figure(width):\n    plt.figure(figsize=(width, 1)).add_axes([0, 0, 1, 1]).plot([1, 2])\n"


@pytest.mark.parametrize("policy", ["default", "analysis", "notebook", "statistics"])
def test_two_plots_with_two_shows_are_two_figures(scientific, policy):
    code = "import matplotlib.pyplot as plt\nfor n in range(2):\n    plt.plot([n, 1])\n    plt.show()\nprint(plt.get_fignums())"
    result = cells.run(code, *SCIENTIFIC, "--policy", policy, tree=scientific)
    assert result.stdout == "[]\n" and result.stderr == "" and len(figures(result)) == 2, result
    assert [row["path"] for row in result.manifest["guest"]["figures"]] == [row["path"] for row in result.manifest["figures"]]


@pytest.mark.parametrize("policy, said", [
    ("default", "each show() ends its figures"), ("analysis", "each show() ends its figures"), ("charts", "plt.show() does nothing"),
    ("statistics", "plt.show() saves and closes the current one")])
def test_the_card_says_what_show_does(policy, said):
    assert said in " ".join(cells.hotcell("policy", "card", policy).stdout.split())


def test_show_ends_all_open_figures_but_empty_ones(scientific):
    result = draw(FIGURE + "figure(2); figure(3); plt.figure(); plt.show(); figure(4)", scientific)
    assert widths(result) == [2, 3, 4] and result.manifest["guest"]["warnings"] == [], result


@pytest.mark.parametrize("show", ["save", "keep", "current"])
def test_figures_are_listed_in_the_order_in_which_they_were_saved(scientific, show):
    code = FIGURE + "".join(f"figure({width})\nplt.show()\n" for width in (4, 2, 5, 3)) + \
        "figure(7)\nplt.savefig('figures/a.png', dpi=150)\nfigure(6)\n"
    result = draw(code, scientific, figures={"show": show})
    assert widths(result) == [4, 2, 5, 3, 7, 6], result
    assert [row["path"] for row in result.manifest["guest"]["figures"]] == [row["path"] for row in result.manifest["figures"]]


@pytest.mark.parametrize("code, saved", [
    ("plt.savefig('figures/mine.png')", ["figures/mine.png"]),
    ("plt.savefig('figures/mine.png'); plt.show()", ["figures/mine.png"]),
    ("plt.savefig('figures/mine.svg'); plt.savefig('figures/mine.png'); plt.show()", ["figures/mine.svg", "figures/mine.png"]),
    ("plt.savefig('figures/mine.pdf')", ["figures/mine.pdf", None]),  # the policy wants PNG
    ("plt.savefig('figures/mine.png'); plt.title('changed')", ["figures/mine.png", None]),
    ("plt.savefig('figures/mine.png'); import os; os.remove('figures/mine.png')", [None]),
    ("plt.savefig('mine.png')", [None]),  # a file elsewhere is a file
])
def test_a_figure_is_listed_once_however_it_was_saved(scientific, code, saved):
    result = draw(f"import matplotlib.pyplot as plt\nplt.plot([1, 2])\n{code}\n", scientific)
    paths = list(figures(result))
    assert [path if path.startswith("figures/mine") else None for path in paths] == saved, result
    assert [row["path"] for row in result.manifest["guest"]["figures"]] == paths


def test_a_plot_that_the_program_saved_and_showed_is_one(scientific):
    result = draw("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('plots/own.png')\nplt.show()\nprint(results['plots'])",
                  scientific, figures={"show": "current", "directory": "plots"}, prelude={"results": True})
    assert result.stdout == "['own.png']\n" and list(figures(result)) == ["plots/own.png"], result


def test_a_plotly_figure_that_is_shown_twice_is_two(scientific):
    result = draw("""\
        import plotly.graph_objects as go
        f = go.Figure(layout={"title": {"text": "one"}})
        f.show()
        f.update_layout(title_text="two")
        f.show()
        """, scientific)
    titles = [json.loads((result.output / row["path"]).read_text())["layout"]["title"]["text"] for row in result.manifest["figures"]]
    assert titles == ["one", "two"], result


def test_each_run_of_a_session_has_its_own_figures(scientific):
    with session_client.Session("--memory", "1G", "--max-figures", "2", tree=scientific) as session:
        for _ in range(3):
            session.ask({"run": {"code": FIGURE + "for width in (3, 2):\n    figure(width)\n    plt.show()\n"}})
            manifest = session.result().manifest
            assert len(manifest["figures"]) == 2 and manifest["guest"]["warnings"] == [], manifest
            assert [row["path"] for row in manifest["guest"]["figures"]] == [row["path"] for row in manifest["figures"]]


# ---- what is a figure, and what is a file ----

@pytest.mark.parametrize("code", [
    "open('figures/zzz.png', 'w').write('not a png')",
    "open('figures/zzz.png', 'wb').write(bytes([137]) + b'PNG\\r\\n' + bytes([26]) + b'\\n....')",
    "open('figures/zzz.svg', 'w').write('<svg/>')",
    "open('figures/zzz.json', 'w').write('{}')",
])
def test_what_a_program_writes_is_a_file(base_tree, code):
    result = cells.run(code)
    assert result.manifest["figures"] == [] and [row["path"][:11] for row in result.manifest["files"]] == ["figures/zzz"], result


def test_what_a_program_writes_over_a_figure_is_a_file(scientific):
    over = "import os\n(name,) = os.listdir('figures')\ndata = open('figures/' + name, 'rb').read()\nopen('figures/' + name, 'wb').write(data + b'x')\n"
    for save in ("plt.show()", "plt.savefig('figures/a.png'); plt.close()"):
        result = draw(f"import matplotlib.pyplot as plt\nplt.plot([1])\n{save}\n{over}", scientific)
        assert result.manifest["figures"] == [] and len(result.manifest["files"]) == 1, result
    kept = draw(f"import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('figures/a.png')\n{over}", scientific)
    assert [row["path"] for row in kept.manifest["files"]] == ["figures/a.png"]  # it is open still, and saved at the end
    assert len(kept.manifest["figures"]) == 1 and re.fullmatch(r"figures/fig_[0-9a-f]{12}\.png", kept.manifest["figures"][0]["path"])


def test_figures_of_a_killed_program_are_figures(scientific):
    result = draw(FIGURE + "figure(2); plt.show(); figure(3); plt.show()\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
                  scientific, guard="off")
    assert result.manifest["guest"] is None and widths(result) == [2, 3], result


# ---- the directory for figures ----

@pytest.mark.parametrize("guard", ["on", "off"])
def test_the_directory_for_figures_is_there_for_who_saves_into_it(base_tree, guard):
    result = cells.run("import os\nprint(os.path.exists('figures'))\nopen('/output/figures/a.png', 'w').write('a')\n"
                       "open(b'./figures/b.png', 'wb').write(b'b')\nopen('figures/c.txt', 'x').write('c')\n"
                       "os.close(os.open('figures/d', os.O_CREAT | os.O_WRONLY))", "--guard", guard)
    assert result.stdout == "False\n", result
    assert result.listed() == ["figures/a.png", "figures/b.png", "figures/c.txt", "figures/d"]


@pytest.mark.parametrize("code", [
    "open('figures/sub/a.png', 'w')", "open('other/a.png', 'w')", "open('/tmp/figures/a.png', 'w')", "open('figures/a.png')",
    "os.chdir('/tmp'); open('figures/a.png', 'w')",
])
def test_no_other_directory_is_made(base_tree, code):
    result = cells.run(f"import os\ntry:\n    {code}\nexcept FileNotFoundError:\n    print(os.path.exists('/output/figures'))")
    assert result.stdout == "False\n", result


def test_pictures_are_saved_where_a_policy_has_figures(scientific):
    result = draw("""\
        import matplotlib.pyplot as plt
        from PIL import Image
        Image.new("RGB", (2, 2)).save("plots/small.png")
        plt.plot([1])
        plt.savefig("plots/large.svg")
        plt.close()
        """, scientific, figures={"directory": "plots"})
    assert result.listed() == ["plots/large.svg", "plots/small.png"], result


# ---- whose rights ----

REACHED = """
import functools, gc, importlib, os
import matplotlib.pyplot as plt
figure = plt.figure()
figure.{method} = functools.partial({call})
plt.show()
"""


@pytest.mark.parametrize("call, refusal", [
    ("os.open, '/output/mine', os.O_WRONLY | os.O_CREAT", "Writing /output/mine"),
    ("open, '/output/mine', 'w'", "Writing /output/mine"),
    ("os.mkdir, '/output/mine'", "Writing /output/mine"),
    ("open, '/usr/share/hotcell/matplotlib/x'", "Reading /usr/share/hotcell/matplotlib/x"),
    ("gc.get_objects", "gc.get_objects"),
    ("importlib.import_module, 'wave'", "Import of 'wave'"),
    ("plt.switch_backend, 'svg'", "matplotlib.pyplot.switch_backend"),
])
def test_what_the_program_puts_into_a_figure_has_the_programs_rights(scientific, call, refusal):
    """A function of the interpreter's has no frame, and acted with the rights of the harness, which called it."""
    for show, method in (("current", "get_axes"), ("save", "get_children")):
        result = draw(REACHED.format(call=call, method=method), scientific, files={"write": ["/tmp"], "read": ["/tmp"]},
                      figures={"show": show}, imports={"deny": ["wave"]},
                      modules={"replace": [{"module": "matplotlib.pyplot", "name": "switch_backend", "with": "refuse"}]})
        assert f": {refusal} is not allowed by this policy" in (result.stdout if show == "current" else result.stderr), result
        assert result.listed() == []


def test_what_is_called_for_a_figure_at_the_end_has_the_programs_rights(scientific):
    """With nothing of the program's running any more."""
    result = draw("""\
        import functools, os
        import matplotlib.pyplot as plt
        plt.figure()
        plt.get_fignums = functools.partial(os.mkdir, "/output/mine")
        """, scientific, files={"write": ["/tmp"]})
    assert "Writing /output/mine is not allowed by this policy" in result.stderr and result.listed() == [], result


def test_figures_are_kept_where_the_program_may_not_write(scientific):
    result = draw("import matplotlib.pyplot as plt\nplt.plot([1]); plt.show()\nplt.plot([2])", scientific,
                  files={"write": ["/tmp"]})
    assert len(figures(result)) == 2 and result.stderr == "", result


def test_tracebacks_are_of_the_programs_and_the_libraries_frames(scientific):
    result = draw("""\
        import matplotlib.pyplot as plt
        plt.savefig("missing/x.png")
        """, scientific)
    assert "hotcell>" not in result.stderr and "FileNotFoundError" in result.stderr, result
    whole = result.manifest["guest"]["error"]["traceback"]  # standard error folds the libraries' frames
    assert "hotcell>" not in whole and "in savefig" in whole and "<cell>" in result.stderr
