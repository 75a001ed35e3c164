"""What pages of `hotcell report` are made of (src/report), given texts that want to be markup and documents that are anything: nothing of
them becomes an element or an attribute, and numbers, pictures, code and charts are bounded. Whole commands are in test_report.py."""

import hashlib
import json
import math
import random
import re
import subprocess
import sys
import time as clock
from pathlib import Path

import cells
import pytest
from test_report import KNOWN, STATUSES, Page, check_closed, result

sys.path.append(str(cells.BUILD / "hotcell-report"))
import batch  # noqa: E402
import charts  # noqa: E402
import job  # noqa: E402
import pages  # noqa: E402
import pictures  # noqa: E402
import program  # noqa: E402
import strict  # noqa: E402
import values  # noqa: E402
import words  # noqa: E402

strict.Document.judge = str(cells.HOTCELL)
OPTIONS = json.loads((cells.BUILD / "hotcell-report/build.json").read_text())
ELEMENTS = {"html", "head", "meta", "title", "style", "script", "body", "header", "nav", "main", "section", "footer", "div", "p", "h1", "h2", "h3", "span",
            "b", "br", "i", "a", "ul", "li", "code", "pre", "mark", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "img", "svg",
            "path", "rect", "details", "summary"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "type", "class", "id", "href", "title", "scope", "alt", "width", "height", "src",
              "aria-label", "aria-hidden", "role", "viewbox", "preserveaspectratio", "d", "x", "y", "data-v"}
OURS = {"class", "id", "href", "scope", "src", "width", "height", "d", "x", "y", "data-v", "role", "type"}  # of these no value is a program's
PIECES = ["<", ">", "\"", "'", "&", "/", "=", "`", " ", "\n", "\t", "\r", "\0", "\x1b[2J", "\x7f", "\u2028", "\u202e", "\u200b", "\ufeff", "\U000e0041", "e\u0301\u0301\u0301\u0301\u0301",
          "é", "漢", "🎉", "x", "0", "<script>", "</script>", "<!--", "-->", "]]>", "<![CDATA[", "</title>", "</style>", "</pre>", "</textarea>", "<plaintext>", "<img src=x ",
          "onerror=alert(1)", "javascript:", "data:text/html,", "{{", "}}", "{%", "%}", "{#", "{{ 7 * 7 }}", "{{ config }}", "%s", "%n", "\\", "&lt;", "&#x3c;", "&#60", "style=",
          "class=", "id=", "__class__", "\ufdfd", "w" * 700]


def hostile(turn):
    return "".join(turn.choice(PIECES) for _ in range(turn.randrange(1, 12)))


def check_page(text, scripts=0):
    """No element and no attribute but ours, and nothing to see that cannot be seen."""
    page = Page(text)
    check_closed(page, text)
    assert len(page.all("script")) == scripts and {tag for tag, _ in page.elements} <= ELEMENTS
    for _, attrs in page.elements:
        assert set(attrs) <= ATTRIBUTES, attrs
        for name in OURS & set(attrs):
            assert not set(attrs[name]) & set("<>\"`{}\\") and (name == "src" or len(attrs[name]) < 9000), attrs
    assert not strict.UNSEEN.search(text.replace("\n", "").replace("\t", ""))
    return page


def page_of(manifest, read=None, given=None):
    def nothing(path, most):
        raise strict.Failure("not there")
    document = strict.Document("m", json.dumps({"version": 1, "job_id": "one", "status": "ok", **manifest}).encode())
    return job.page(document, read or nothing, OPTIONS, given, "program").decode()


# ---- hostile documents ----

def anything(turn, depth=0):
    """A document that has what manifests have, in any place, and of any type."""
    what = turn.randrange(9 if depth < 5 else 5)
    if what < 3:
        return hostile(turn).replace("\0", "")
    if what == 3:
        return turn.choice([0, 1, 2, -1, 1.5, 1e300, -1e308, 10 ** 30, 2 ** 53, 1e-320])
    if what == 4:
        return turn.choice([None, True, False])
    if what < 7:
        return [anything(turn, depth + 1) for _ in range(turn.randrange(4))]
    names = sorted(KNOWN)
    return {(turn.choice(names) if turn.random() < 0.8 else hostile(turn).replace("\0", "")): anything(turn, depth + 1) for _ in range(turn.randrange(8))}


PLACES = ["guest", "usage", "limits", "layers", "labels", "figures", "files", "skipped", "denials", "rejection", "check", "tools", "runs", "inputs", "policy", "tree", "code",
          "stdout", "stderr", "warnings", "timing", "signature", "reason", "started", "finished", "tenant", "partial", "code_path"]


@pytest.mark.parametrize("seed", range(40))
def test_any_document_makes_a_page(seed):
    turn = random.Random(seed)
    manifest = {name: anything(turn) for name in PLACES if turn.random() < 0.7}
    if seed % 2:
        manifest["guest"] = {name: anything(turn) for name in ("value", "error", "results", "returned", "warnings")}
    check_page(page_of(manifest, read=lambda path, most: hostile(turn).encode()))


@pytest.mark.parametrize("seed", range(20))
def test_every_text_is_text(seed):
    """In each place of a page that has texts, and each of them can be read there."""
    turn = random.Random(1000 + seed)
    asked = []

    def text():
        asked.append(hostile(turn).replace("\0", "") + f"#{len(asked)}")
        return asked[-1]
    manifest = {
        "reason": text(), "tenant": text(), "started": text(), "labels": {text(): text() for _ in range(5)}, "warnings": [text()],
        "denials": [{"layer": text(), "rule": text(), "what": text(), "hint": text(), "line": 1, "count": 2}],
        "tools": [{"name": text(), "arguments": text(), "status": text(), "message": text(), "wall": 1}],
        "runs": [{"run": 1, "job_id": text(), "status": text(), "state": text(), "reason": text()}],
        "layers": {text(): {"on": True, "evidence": text()}}, "limits": {text(): text(), "memory": 1 << 20},
        "files": [{"path": text(), "sha256": text()}], "figures": [{"path": text(), "mime": text()}], "skipped": {"entries": [{"path": text(), "reason": text()}]},
        "inputs": [{"name": text(), "file": text(), "sha256": text()}], "policy": {"name": text(), "sha256": text(), "base_sha256": text()},
        "stdout": {"text": text(), "bytes": 1}, "code": {"bytes": 1}, "check": {"warnings": [{"rule": text(), "message": text(), "hint": text(), "line": 1}]},
        "guest": {"error": {"type": text(), "message": text(), "traceback": text() + 'File "<cell>", line 1'}, "warnings": [text()], "results": [{text(): text()}],
                  "returned": {text(): {"type": text(), "path": text(), "error": text(), "json": [{text(): text()}]}},
                  "value": {"text/plain": text(), "application/json": [{text(): text(), "n": 1}], text(): 1}}}
    page = check_page(page_of(manifest))
    seen = page.text + "".join(value or "" for _, attrs in page.elements for value in attrs.values())
    for each in asked:
        if len(each) < 225:  # of a table's cell
            assert words.shown(words.Whole(each)) in seen, each


@pytest.mark.parametrize("seed", range(20))
def test_any_program_is_text(seed):
    turn = random.Random(2000 + seed)
    code = "".join(turn.choice([*PIECES, '"""', "'''", "#", "\\\n", "f'", "def ", "import os\n", "\n"]) for _ in range(2000))
    marks = [{"rule": hostile(turn).replace("\0", ""), "message": "m", "line": turn.randrange(9), "column": turn.randrange(9), "end_column": turn.randrange(2000)} for _ in range(20)]
    data = code.encode()
    text = page_of({"code": {"sha256": hashlib.sha256(data).hexdigest()}, "rejection": {"findings": marks}}, given=data)
    lines = [attrs["id"] for tag, attrs in check_page(text).elements if tag == "div" and "id" in attrs]
    assert lines == [f"L{n + 1}" for n in range(len(code.split("\n")) - code.endswith("\n"))]
    shown = program.lines_of(code, [])["lines"]
    assert all("".join(piece for _, _, piece in line["pieces"]) == content for line, content in zip(shown, code.split("\n")) if not line["cut"])


@pytest.mark.parametrize("seed", range(20))
def test_any_lines_make_a_batch(seed):
    turn = random.Random(3000 + seed)
    found = batch.Batch()
    for line in range(1, 40):
        node = result(line, turn.choice(STATUSES), reason=hostile(turn).replace("\0", ""), job_id=turn.choice(["a", "../a", "<b>", "a\n", hostile(turn).replace("\0", "")]))
        node["output_dir"] = f"jobs/{node['job_id']}"
        if turn.random() < 0.5:
            node["manifest"] = anything(turn)
        found.add("b", line, json.dumps(turn.choice([node, node, {"begin": line}, {"end": line, "result": node}, {"batch": anything(turn)}])).encode())
    page = check_page(found.page(hostile(turn), lambda name, owns: True, "1").decode(), scripts=1)
    for attrs in page.all("a"):
        assert re.fullmatch(r"#line-[0-9]+|jobs/(?!\.)[A-Za-z0-9._-]{1,64}/report\.html", attrs["href"]), attrs


# ---- strictness ----

def judged(data):
    return subprocess.run([cells.HOTCELL, "report", "--judge", "m", "1", "", ""], input=data, capture_output=True, check=False).returncode == 0


def test_what_the_page_reads_is_what_hotcell_reads():
    """Python's parser takes more than JSON: whatever it is let read, the scanner of all other documents takes as well."""
    turn = random.Random(5)
    base = json.dumps({"a": [1, -2.5e3, "x\\u00e9\\n", {"b": None, "c": [True, False, []]}], "ü": "🎉"}, ensure_ascii=False)
    parts = ["\\u0000", "\\ud800", "\\ud83c\\udf89", "\\\\u0000", "NaN", "-Infinity", "01", "1.", ".5", "1e", "+1", "\ufeff", "\x01", "\x7f", "'", ",", "}", "]", "[", "{", ":", '"', "\\x", "//", "\x0c", "\xa0",
             '"a": 1,', "1" * 5000, "-", "[" * 70]
    taken = 0
    for _ in range(150):
        at = turn.randrange(len(base) + 1)
        text = base[:at] + turn.choice(parts) + base[at + turn.randrange(3):]
        try:
            strict.load(text)
        except (ValueError, RecursionError):
            continue
        taken += 1
        assert judged(text.encode()), text
    assert taken > 20
    for text in ('{"a": 1, "a": 1}', "[" * 65 + "]" * 65, '"\\u0000"', '"\\ud800"', "NaN", "[" + "1," * 2_000_000 + "1]"):
        with pytest.raises(strict.Failure):
            strict.Document("m", text.encode())
    for text in ("[" * 64 + "]" * 64, '"\\\\u0000"', '"\\ud83c\\udf89"', '"' + "," * 2_000_001 + '"'):
        strict.Document("m", text.encode())


# ---- text and numbers ----

@pytest.mark.parametrize("text, shown", [
    ("", ""), ("plain", "plain"), ("tab\tand\nline", "tab\tand\nline"), ("\r\x1b[31m\x7f", "␍␛[31m⟦U+007F⟧"), ("a\u202eb", "a⟦U+202E⟧b"),
    ("\U000e0041", "⟦U+E0041⟧"), ("é 漢 🎉", "é 漢 🎉"), ("a\0b", "a␀b"), ("\udcff", "\ufffd"), ("e" + "\u0301" * 6, "e" + "\u0301" * 4 + "⟦U+0301⟧" * 2)])
def test_what_cannot_be_seen_has_a_name(text, shown):
    assert words.shown(text) == shown


def test_templates_escape():
    made = pages.environment.from_string('<a b="{{ x }}">{{ x }}</a>').render(x="\"<'&\x00")
    assert made == '<a b="&#34;&lt;&#39;&amp;␀">&#34;&lt;&#39;&amp;␀</a>'
    for name in pages.environment.list_templates(extensions=["html"]):
        source = (pages.HERE / name).read_text()
        assert source.count("|safe") == (2 if name == "page.html" else 0) and "autoescape" not in source


def test_long_texts_are_cut_between_characters():
    cut = words.shown("x" + "é" * 1500)
    assert cut.endswith("é… (1000 bytes left out)") and 2000 <= len(cut.encode()) <= 2060
    text = "".join(f"{n:03}é" for n in range(1000))
    head, left_out, tail = words.bounded(text, 1000)
    assert (head[:8], tail[-4:], left_out) == ("000é001é", "999é", "4000 bytes") and words.bounded(text, 5000) == (text, "", "")


def test_long_json_is_cut_at_its_end():
    value = [["é" * 10, {"a": n}] for n in range(3000)]
    head, left_out, tail = values.of_json(value)["parts"]
    assert json.dumps(value, indent=2, ensure_ascii=False).startswith(head) and (left_out, tail) == ("the rest is", "")
    assert values.MAX_TEXT <= len(head.encode()) <= values.MAX_TEXT + 3
    assert "<span class=\"cut\">the rest is left out here</span>" in page_of({"guest": {"results": {"r": value}}})


def deep(levels, count):
    value = [0] * count
    for _ in range(levels):
        value = [value]
    return value


def test_deep_json_takes_no_longer_than_what_is_shown():
    def seconds(value):
        begun = clock.process_time()
        values.of_json(value)
        return clock.process_time() - begun
    short = min(seconds(deep(50, 20_000)) for _ in range(5))
    assert min(seconds(deep(50, 1_000_000)) for _ in range(3)) < 5 * short + 0.01


def test_numbers_are_for_people():
    assert [words.count_of(n, "file", "files") for n in range(3)] == ["no files", "1 file", "2 files"]
    assert [words.size(n) for n in (0, 1536, 64 << 20, 1e300, -1, math.nan)] == ["0 B", "1.5 KiB", "64 MiB", "8.88e+284 PiB", "–", "–"]
    assert [words.time(n) for n in (0, 1e-5, 0.0213, 1.5, 99, 600, 1e5, 1e12, math.nan, math.inf)] == [
        "0 s", "10 µs", "21 ms", "1.50 s", "99.0 s", "10 min", "27.8 h", "2.78e+08 h", "–", "–"]
    assert [job.limit_text(n, "size") for n in (1048576.0, 1572864.0, 1000.0, 0.0)] == ["1M", "1536K", "1000", "0"]
    assert [job.limit_text(n, "duration") for n in (2.0, 0.5)] == ["2s", "500ms"]


# ---- pictures, code and charts ----

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03"
JPEG = b"\xff\xd8\xff\xe0\0\x04xx\xff\xc0\0\x11\x08\0\x03\0\x02\x03"
GIF = b"GIF89a\x02\0\x03\0"


@pytest.mark.parametrize("mime, data, size", [
    ("image/png", PNG, (2, 3)), ("image/png", PNG[:16] + b"\x7f\xff\xff\xff" * 2, None), ("image/png", GIF, None), ("image/png", PNG[:10], None), ("image/png", b"", None),
    ("image/gif", GIF, (2, 3)), ("image/jpeg", JPEG, (2, 3)), ("image/jpeg", JPEG[:8], None), ("image/jpeg", b"\xff\xd8" + b"\xff" * 100, None),
    ("image/svg+xml", b"<?xml version='1.0'?><svg/>", (0, 0)), ("image/svg+xml", b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>", None),
    ("image/svg+xml", PNG, None), ("text/html", b"<svg/>", None), ("image/webp", b"<svg/>", None), ("image/gif", GIF + bytes(8 << 20), None)])
def test_pictures_are_what_they_say(mime, data, size):
    why, *found = pictures.refusal(mime, data)
    assert bool(why) == (size is None) and (why or tuple(found) == size)


def test_pictures_have_the_room_that_there_is():
    room = pictures.Room()
    room.left = 15
    assert room.picture("image/gif", "<a>", GIF)["data"] == "R0lGODlhAgADAA==" and room.left == 5
    assert "48 MiB" in room.picture("image/gif", "b", GIF)["why"]
    room.left = 100
    assert not room.picture_of_base64("image/gif", "b", "R0lGODlh\nAgADAA==")["why"]
    assert room.picture_of_base64("image/gif", "b", '"><script>')["why"] == room.picture_of_base64("image/gif", "b", "é")["why"] == "it is not base64"


def test_code_has_its_marks():
    marks = [job.mark({}, "warned", "", line=9, what="far"), job.mark({}, "refused", "", line=1, column=11, end_column=13, what="imports")]
    found = program.lines_of("import é, os\nx = '''a\n# b''' # c\n", marks)
    first, _, third = found["lines"]
    assert first["css"] == "refused" and first["pieces"] == [("k", 0, "import"), ("", 0, " é, "), ("", 8, "os")]
    assert third["pieces"] == [("s", 0, "# b'''"), ("", 0, " "), ("c", 0, "# c")] and [mark["what"] for mark in found["notes"]] == ["far"]


@pytest.mark.parametrize("code", ["", "\n", "'", "'''", "\"\\", "f'", "\ufffd", "0", "#", "rb'\\\n"])
def test_code_may_be_anything(code):
    found = program.lines_of(code, [job.mark({}, "refused", "", line=1, column=99, end_column=1_000_000)])
    assert sum(len(line["notes"]) for line in found["lines"]) + len(found["notes"]) == 1


@pytest.mark.parametrize("piece", ["\\'", "'\\'", "\"\"\"\\\"", "'''a", "((", "1e", "  ", "#'", "f'{", "\\\n", "é"])
def test_code_takes_no_longer_than_it_is_long(piece):
    start = clock.process_time()
    program.lines_of("x = '" + piece * ((2 << 20) // len(piece)), [])
    assert clock.process_time() - start < 10 * cells.SLOWNESS


def test_code_has_an_end():
    found = program.lines_of("x\n" * 20001, [])
    assert len(found["lines"]) == 20000 and found["more"] == 20001
    assert program.lines_of("x\n" * 20000, [])["more"] == 0
    line, = program.lines_of("é" * 3000, [])["lines"]
    assert line["cut"] == "2000 bytes" and line["pieces"][0][2] == "é" * 2000


def test_a_histogram_counts_each_once():
    found = charts.histogram("t", [1, 1, 1, 8, 0], words.time)
    assert found["top"] == "4 jobs" and [tip.partition(",")[0] for *_, tip in found["bins"]] == ["4 jobs", "1 job"]


def test_charts_take_any_numbers():
    values, points = [0, -1, 1e-300, 1e300, 5], [(0, 0), (1e-9, 1e300), (1e300, 1)]
    drawn = [charts.histogram("t", values[:n], words.time) for n in range(6)] + [charts.line("t", points[:n], 1e300, math.nan, words.size) for n in range(4)]
    assert not any(word in str(one) for one in drawn for word in ("nan", "inf"))
