"""What Chromium makes of the pages of `hotcell report`: hostile content stays text in every field, in light and dark, narrow and wide,
with and without scripts. Pictures of what was seen are in HOTCELL_TEST_OUTPUT, or else in the folder of the build."""

import json
import os
from pathlib import Path

import browser
import cells
import pytest
import test_report
from test_report import MARKUP, PIXEL, put_file, report, write_manifest

OUTPUT = Path(os.environ.get("HOTCELL_TEST_OUTPUT") or cells.BUILD / "screenshots")
SIZES = {"narrow": (390, 844), "wide": (1400, 900)}

# Runs if any of it is taken for markup, and is told by a dialog or by the title.
ATTACKS = [
    "<script>document.title = 'broken'</script>", "</title><script>document.title = 'broken'</script>", "</style><script>alert(1)</script>",
    "\" onmouseover=\"alert(1)\" autofocus onfocus=\"alert(1)\" x=\"", "' onload='alert(1)", "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>", "<iframe srcdoc='<script>top.alert(1)</script>'></iframe>", "<base href=//127.0.0.1:9/>", "<meta http-equiv=refresh content='0;url=//127.0.0.1:9/'>",
    "--><script>alert(1)</script>", "]]><script>alert(1)</script>", "<link rel=stylesheet href=//127.0.0.1:9/a.css>", "<a href='javascript:alert(1)'>x</a>",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "{{constructor.constructor('alert(1)')()}}", "<style>body{display:none}</style>", "<!--", "<plaintext>", "<textarea>",
    "\u202egnp.exe", "\x1b]0;title\x07", "e" + "\u0301" * 200, "\ufdfd" * 50, "w" * 3000,
]
SVG = ("<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20' onload='alert(1)'><script>alert(1)</script>"
       "<image href='http://127.0.0.1:9/a.png' width='9' height='9'/><foreignObject><body xmlns='http://www.w3.org/1999/xhtml'>"
       "<script>alert(1)</script></body></foreignObject><rect width='40' height='20' fill='red'/></svg>")


@pytest.fixture(scope="module")
def page():
    with browser.start() as found:
        yield found


def attacked(value, turn):
    """The same with another attack in every text."""
    if isinstance(value, dict):
        return {(key if key in test_report.KNOWN else key + next(turn)): attacked(item, turn) for key, item in value.items()}
    if isinstance(value, list):
        return [attacked(item, turn) for item in value]
    return value + next(turn) if isinstance(value, str) else value


def turns():
    while True:
        yield from ATTACKS


def hostile_manifest(folder, whole):
    """A manifest with something in each of its members, and an attack in each text of it."""
    manifest = json.loads((whole.output / "manifest.json").read_text())
    text = "".join(ATTACKS)
    manifest["guest"] = {
        "error": {"type": "E", "message": text, "traceback": text + 'File "<cell>", line 3'},
        "results": {a: a for a in ATTACKS}, "returned": {a: {"type": a, "json": a} for a in ATTACKS}, "warnings": ATTACKS}
    manifest["denials"] = [{"layer": "ast", "rule": a, "what": a, "line": n + 1, "count": 2, "hint": a, "attested": bool(n % 2)}
                           for n, a in enumerate(ATTACKS)]
    manifest["tools"] = [{"name": a, "arguments": a, "status": a, "message": a, "wall": 1} for a in ATTACKS]
    manifest["runs"] = [{"run": 1, "job_id": a, "status": a, "state": a, "reason": a} for a in ATTACKS]
    manifest["inputs"] = [{"name": a, "file": a, "bytes": 1, "sha256": a} for a in ATTACKS]
    manifest["labels"] = {a: a for a in ATTACKS}
    manifest["skipped"] = {"entries": [{"path": a, "reason": a} for a in ATTACKS], "more": 1}
    manifest["layers"] = {a: {"on": True, "evidence": a} for a in ATTACKS}
    for name in ("stdout", "stderr"):
        manifest[name] = {"text": text * 3, "bytes": 5}
    manifest = attacked(manifest, turns())
    manifest["guest"]["value"] = {
        "text/plain": text, "text/html": text, "image/svg+xml": SVG,
        "application/vnd.dataresource+json": {"schema": {"fields": [{"name": a} for a in ATTACKS[:12]]}, "rows": 2,
                                              "data": [{a: a for a in ATTACKS[:12]}, {a: 1.5 for a in ATTACKS[:12]}]}}
    manifest.update(status="error", reason=text, usage=manifest["usage"])
    manifest["figures"] = [{**put_file(folder, "figures/a.svg", SVG.encode()), "mime": "image/svg+xml"},
                           {**put_file(folder, "figures/b.png", PIXEL), "mime": "image/png"}]
    entry = put_file(folder, "code/run.py", ("\n".join(ATTACKS[:20]) + "\n").encode())
    write_manifest(folder, **{**manifest, "version": 1, "job_id": "hostile" + ATTACKS[0], "code_path": entry["path"],
                              "code": {"bytes": entry["bytes"], "sha256": entry["sha256"]}})
    return folder


@pytest.fixture(scope="module")
def whole(base_tree):
    result = cells.run("import time\nprint('hello')\ntime.sleep(0.6)\n[{'a': 1}]", "--persist-code")
    assert result.manifest["status"] == "ok", result
    return result


@pytest.fixture(scope="module")
def hostile(whole, tmp_path_factory):
    folder = hostile_manifest(tmp_path_factory.mktemp("hostile"), whole)
    report(folder)
    return folder / "report.html"


def looks_right(page, background):
    """Nothing ran, nothing was asked for, nothing lies beside the page, and colours are those of the scheme."""
    assert page.dialogs() == [] and page.requests() == {}
    assert "broken" != page.evaluate("document.title")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
    # Only elements of ours: what came with a job has added none.
    names = set(page.evaluate("[...new Set([...document.querySelectorAll('*')].map(e => e.localName))]"))
    assert names <= {"html", "head", "meta", "title", "style", "body", "header", "nav", "main", "section", "footer", "div", "p", "h1", "h2", "h3",
                     "span", "b", "br", "i", "a", "ul", "li", "code", "pre", "mark", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption",
                     "img", "svg", "path", "rect", "title", "script", "button", "details", "summary", "small"}, names
    assert not page.evaluate("[...document.querySelectorAll('*')].some(e => [...e.attributes].some(a => /^on/.test(a.name)))")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_hostile_content_is_text_in_every_field(page, hostile, size, dark):
    width, height = SIZES[size]
    page.show(hostile, width, height, dark)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    page.picture(OUTPUT / f"hostile-{size}-{'dark' if dark else 'light'}.png")
    looks_right(page, "rgb(18, 19, 22)" if dark else "rgb(246, 246, 243)")
    text = page.evaluate("document.body.textContent")
    for attack in ATTACKS[:20]:
        assert text.count(attack) >= 5, attack
    assert "\u202e" not in text and "⟦U+202E⟧gnp.exe" in text
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)") and page.evaluate("document.images.length") == 3


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_job_is_to_be_read(page, whole, size, dark):
    report(whole.output)
    page.show(whole.output / "report.html", *SIZES[size], dark, script=False)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    page.picture(OUTPUT / f"job-{size}-{'dark' if dark else 'light'}.png")
    looks_right(page, "rgb(18, 19, 22)" if dark else "rgb(246, 246, 243)")
    assert page.complaints() == []
    # The style is in force, so its hash is right; text is to be told from what is behind it.
    assert page.evaluate("getComputedStyle(document.querySelector('section')).borderTopWidth") == "1px"
    assert page.evaluate(CONTRAST) >= 4.5
    assert page.evaluate("document.querySelectorAll('.chart').length") >= 1
    assert page.evaluate("document.querySelector('#L2').textContent").endswith("print('hello')")


# The least contrast, as WCAG defines it, of any text with the first background behind it that is not transparent.
CONTRAST = """(() => {
  const rgb = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = rgb(c).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return getComputedStyle(e).backgroundColor; } };
  let least = 21;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    if (!node.data.trim() || node.parentElement.closest('svg, script, style')) continue;
    const a = light(getComputedStyle(node.parentElement).color), b = light(behind(node.parentElement));
    least = Math.min(least, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
  }
  return least;
})()"""


def test_the_policy_stops_what_would_be_markup(page, hostile, tmp_path):
    """The second wall alone: markup is put into a page by hand, as if nothing had been escaped."""
    broken = tmp_path / "broken.html"
    text = hostile.read_text()
    broken.write_text(text.replace("</h1>", "</h1>" + "".join(a for a in ATTACKS[:14] if "refresh" not in a) + SVG, 1))
    page.show(broken)
    assert page.dialogs() == [] and page.evaluate("document.title") != "broken"
    assert not any(page.requests().values()), page.requests()
    assert any("Content Security Policy" in complaint for complaint in page.complaints())


# ---- batches ----

@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    folder = tmp_path_factory.mktemp("batch")
    statuses = test_report.STATUSES + ["ok"] * 20
    test_report.write_lines(folder / "results.jsonl", *(
        test_report.result(n + 1, status, reason=ATTACKS[n % 20] if status != "ok" else "") for n, status in enumerate(statuses)))
    report(folder)
    return folder / "report.html"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_batch_is_to_be_read(page, batch, size, dark):
    page.show(batch, *SIZES[size], dark, script=False)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    page.picture(OUTPUT / f"batch-{size}-{'dark' if dark else 'light'}.png")
    looks_right(page, "rgb(18, 19, 22)" if dark else "rgb(246, 246, 243)")
    assert page.complaints() == [] and page.evaluate(CONTRAST) >= 4.5
    assert page.evaluate("[...document.querySelectorAll('.sort tbody tr')].map(r => r.cells[0].textContent).join()") == ",".join(map(str, range(1, len(test_report.STATUSES) + 21)))
    assert page.evaluate("document.querySelectorAll('.sort button').length") == 0


COLUMN = "[...document.querySelectorAll('.sort tbody tr')].map(r => r.cells[%d].textContent)"


def test_a_click_on_a_head_sorts(page, batch):
    page.show(batch)
    assert page.complaints() == []
    heads = page.evaluate("[...document.querySelectorAll('.sort th')].map(h => h.textContent)")
    click = "document.querySelectorAll('.sort th button')[%d].click()"
    for name in ("Clock", "Memory", "Line"):  # by their numbers, not by how these are written
        column = heads.index(name)
        page.evaluate(click % column)
        numbers = page.evaluate(f"[...document.querySelectorAll('.sort tbody tr')].map(r => +r.cells[{column}].dataset.v)")
        assert numbers == sorted(numbers) and len(set(numbers)) > 5
        page.evaluate(click % column)
        assert page.evaluate(f"[...document.querySelectorAll('.sort tbody tr')].map(r => +r.cells[{column}].dataset.v)") == numbers[::-1]
    page.evaluate(click % heads.index("Status"))
    found = page.evaluate(COLUMN % heads.index("Status"))
    assert found == sorted(found) and page.evaluate("document.querySelectorAll('th[aria-sort]').length") == 1
    looks_right(page, "rgb(246, 246, 243)")
