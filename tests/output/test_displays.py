"""What a program shows with display() and IPython.display: several rich results, in order, as it was when it was shown."""

import base64
import json
import sys
from pathlib import Path

import cells
import jsonschema
import mcp_client
import pytest
import session_client

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
import hotcell  # noqa: E402  pylint: disable=wrong-import-position

SCIENTIFIC = ["--memory", "1G", "--timeout", "60s"]
SCHEMA = cells.generated("manifest.schema.json")
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")


def guest(result):
    assert result.manifest and result.manifest["guest"], result
    jsonschema.validate(result.manifest, SCHEMA)
    assert result.manifest["guest"]["complete"] is True
    return result.manifest["guest"]


def displays(code, *options, **more):
    result = cells.run(code, *options, **more)
    assert result.manifest["status"] == "ok" and result.stderr == "", result
    return guest(result).get("displays", [])


def test_objects_are_shown_in_order_as_they_are_then(base_tree):
    shown = displays("""\
        row = [1]
        display(row, "text")
        row.append(2)
        display(row)
        display({"a": 1})
        "value"
        """)
    assert shown == [{"text/plain": "[1]", "application/json": [1]}, {"text/plain": "'text'", "application/json": "text"},
                     {"text/plain": "[1, 2]", "application/json": [1, 2]}, {"text/plain": "{'a': 1}", "application/json": {"a": 1}}]


def test_a_program_that_shows_nothing_has_no_displays(base_tree):
    assert "displays" not in guest(cells.run("print(display)")) and guest(cells.run("display()")).get("displays", []) == []


def test_objects_show_themselves_in_their_forms(base_tree):
    (shown,) = displays("""\
        class V:
            def _repr_html_(self): return "<b>é</b>"
            def _repr_markdown_(self): return "**b**"
            def _repr_latex_(self): return "$x$"
            def _repr_svg_(self): return "<svg/>"
            def _repr_png_(self): return b"\\x89PNG"
            def _repr_json_(self): return {"a": [1, None]}
            def _repr_mimebundle_(self, include=None, exclude=None): return {"text/x-own": "own"}
            def __repr__(self): return "V!"
        display(V())
        """)
    assert shown == {"text/plain": "V!", "text/html": "<b>é</b>", "text/markdown": "**b**", "text/latex": "$x$", "image/svg+xml": "<svg/>",
                     "image/png": base64.b64encode(b"\x89PNG").decode(), "application/json": {"a": [1, None]}, "text/x-own": "own"}


@pytest.mark.parametrize("code, shown", [
    ("HTML('<b>x</b>')", {"text/plain": "<b>x</b>", "text/html": "<b>x</b>"}),
    ("Markdown('# x')", {"text/plain": "# x", "text/markdown": "# x"}),
    ("Latex('$x$')", {"text/plain": "$x$", "text/latex": "$x$"}),
    ("Math('x')", {"text/plain": "x", "text/latex": "$\\displaystyle x$"}),
    ("SVG('<svg/>')", {"text/plain": "<IPython.core.display.SVG object>", "image/svg+xml": "<svg/>"}),
    ("JSON({'a': [1]})", {"text/plain": "<IPython.core.display.JSON object>", "application/json": {"a": [1]}}),
    ("JSON('[1]')", {"text/plain": "<IPython.core.display.JSON object>", "application/json": [1]}),
    ("Javascript('alert(1)')", {"text/plain": "<IPython.core.display.Javascript object>", "application/javascript": "alert(1)"}),
    ("Image(data=pixel)", {"text/plain": "<IPython.core.display.Image object>", "image/png": base64.b64encode(PIXEL).decode()}),
    ("Image('pixel.png')", {"text/plain": "<IPython.core.display.Image object>", "image/png": base64.b64encode(PIXEL).decode()}),
    ("Image('https://x/\"y.png')", {"text/plain": "<IPython.core.display.Image object>", "text/html": '<img src="https://x/&quot;y.png"/>'}),
    ("{'text/plain': 'p', 'text/html': '<p>'}, raw=True", {"text/plain": "p", "text/html": "<p>"}),
])
def test_ipython_display_is_there_without_ipython(base_tree, code, shown):
    assert displays(f"from IPython.display import display, HTML, Markdown, Latex, Math, SVG, JSON, Javascript, Image, clear_output\n"
                    f"pixel = {PIXEL!r}\nopen('pixel.png', 'wb').write(pixel)\nclear_output(wait=True)\ndisplay({code})") == [shown]


def test_ipython_is_found_by_each_of_its_names(base_tree):
    shown = displays("""\
        import IPython
        import IPython.core.display
        from IPython import get_ipython
        from IPython.core.display import HTML
        IPython.display.display(HTML("a"))
        print(get_ipython(), IPython.display.HTML is HTML)
        """, "--guard", "off")
    assert [each["text/html"] for each in shown] == ["a"]
    refused = cells.run("import IPython.lib", "--guard", "off")
    assert "ModuleNotFoundError" in refused.stderr, refused


def test_a_display_can_be_shown_anew(base_tree):
    shown = displays("""\
        from IPython.display import update_display
        handle = display("a", display_id=True)
        display("b", display_id="own")
        handle.update("c")
        update_display("d", display_id="own")
        handle.display("e")
        """)
    assert [each["text/plain"] for each in shown] == ["'c'", "'d'", "'e'"]


def test_the_name_is_the_programs(base_tree):
    assert displays("def display(x):\n    print(x)\ndisplay(1)") == []
    listed = cells.run("display(1)", policy={"builtins": {"allow": ["print"]}})
    assert "NameError" in listed.stderr, listed


def test_displays_of_a_program_that_fails_are_kept(base_tree):
    result = cells.run("display(1)\n1 / 0")
    assert result.manifest["status"] == "error" and [each["text/plain"] for each in guest(result)["displays"]] == ["1"]


@pytest.mark.parametrize("body", [
    "def _repr_html_(self): 1 / 0", "def _repr_html_(self): raise SystemExit(3)", "def _repr_html_(self): return self._repr_html_()",
    "def _repr_png_(self): return object()", "_repr_html_ = property(lambda self: 1 / 0)",
    "def _repr_mimebundle_(self, **_): return {5: 'x', 'no mime': 'x', '../x': 'x'}",
])
def test_forms_that_fail_are_not_there(base_tree, body):
    assert displays(f"class V:\n    {body}\n    def __repr__(self): return 'V!'\ndisplay(V())\ndisplay(1)") == [
        {"text/plain": "V!"}, {"text/plain": "1", "application/json": 1}]


def test_objects_without_a_text(base_tree):
    (shown,) = displays("class V:\n    def __repr__(self): return 1 / 0\ndisplay(V())")
    assert shown == {"text/plain": "<unprintable V object: ZeroDivisionError>"}


def test_objects_that_never_answer_cost_the_programs_own_time(base_tree):
    result = cells.run("class V:\n    def _repr_html_(self):\n        while True: pass\ndisplay(1)\ndisplay(V())", "--timeout=4s")
    assert result.manifest["status"] == "timeout", result
    assert [each["text/plain"] for each in guest(result)["displays"]] == ["1"]  # the soft deadline leaves time to report


def test_displays_are_bounded_in_number_and_bytes(base_tree):
    result = cells.run("for n in range(150): display(n)")
    assert len(guest(result)["displays"]) == 100 and guest(result)["warnings"] == ["50 displays were left out: there was no room for them."]
    result = cells.run("for n in range(30): display('x' * 20000)\n'value'", "--value-size", "256K")
    assert 2 <= len(guest(result)["displays"]) < 10 and guest(result)["value"]["text/plain"] == "'value'"
    assert any("displays were left out" in line for line in guest(result)["warnings"])
    assert len(json.dumps(guest(result))) < 256 << 10


def test_forms_that_are_too_large_are_left_out_with_a_warning(base_tree):
    result = cells.run("class V:\n    def _repr_html_(self): return 'x' * 10**7\n    def __repr__(self): return 'V!'\ndisplay(V())\ndisplay('y')")
    assert [each["text/plain"] for each in guest(result)["displays"]] == ["V!", "'y'"]
    assert guest(result)["warnings"] == ["A display as text/html was left out: it is too large."]


def test_displays_with_too_many_values_are_left_out(base_tree):
    """The launcher would take no report with all of them."""
    result = cells.run("for _ in range(20): display([0] * 50000)\nprint('on')", "--value-size", "16M")
    assert result.manifest["status"] == "ok" and result.stdout == "on\n" and 1 <= len(guest(result)["displays"]) <= 4, result
    assert any("displays were left out" in line for line in guest(result)["warnings"])


def test_a_run_of_a_session_has_its_own_displays(base_tree):
    with session_client.Session() as session:
        assert session.run("display(1)").manifest["guest"]["displays"] == [{"text/plain": "1", "application/json": 1}]
        assert "displays" not in session.run("x = 1").manifest["guest"]
        assert [each["text/plain"] for each in session.run("display(x, 2)").manifest["guest"]["displays"]] == ["1", "2"]


def test_frames_and_figures(scientific):
    result = cells.run("""\
        import pandas as pd, matplotlib.pyplot as plt, plotly.graph_objects as go
        display(pd.DataFrame({"a": [1, 2]}))
        figure, axes = plt.subplots()
        axes.plot([1, 2])
        display(figure)
        display(go.Figure(layout={"title": {"text": "t"}}))
        """, *SCIENTIFIC, tree=scientific)
    frame, drawn, plotly = guest(result)["displays"]
    assert "<table" in frame["text/html"] and frame["application/vnd.dataresource+json"]["rows"] == 2
    assert plotly["application/vnd.plotly.v1+json"]["layout"]["title"]["text"] == "t"
    first, second = result.manifest["figures"]  # each is a figure once, and not saved again at the end
    assert base64.b64decode(drawn["image/png"]) == (result.output / first["path"]).read_bytes()
    assert [first["mime"], second["mime"]] == ["image/png", "application/vnd.plotly.v1+json"]


# ---- readers ----

SHOWS = f"from IPython.display import HTML, Image\ndisplay(HTML('<script>alert(1)</script>'))\ndisplay(Image(data={PIXEL!r}))\n"


def test_python_has_them(base_tree, tmp_path):
    result = hotcell.run(SHOWS, tree="base", binary=cells.HOTCELL, output_dir=tmp_path / "out")
    html, image = result.displays
    assert html["text/html"] == "<script>alert(1)</script>" and base64.b64decode(image["image/png"]) == PIXEL
    assert hotcell.run("1", tree="base", binary=cells.HOTCELL).displays == ()


def test_models_get_texts_and_pictures(base_tree):
    with mcp_client.Server() as server:
        server.initialize()
        result = server.tool("run_python", code=SHOWS + "print('done')")
    assert {"type": "image", "mimeType": "image/png", "data": base64.b64encode(PIXEL).decode()} in result["content"]
    assert any(block.get("text", "").startswith("displayed:\n<script>alert(1)</script>\n") for block in result["content"]), result
    assert result["structuredContent"]["displays"][0]["text/html"] == "<script>alert(1)</script>"


def test_a_page_shows_their_text_and_pictures_and_never_their_markup(base_tree):
    result = cells.run(SHOWS + "open('kept', 'w').close()")
    done = cells.hotcell("report", result.output)
    assert done.returncode == 0, done
    page = (result.output / "report.html").read_text()
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert base64.b64encode(PIXEL).decode() in page and "text/html" in page
