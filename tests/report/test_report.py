"""`hotcell report`: a page of what a job left. What is on it is looked at as a parser of HTML sees it; a browser looks at it in
test_report_browser.py."""

import base64
import hashlib
import html.parser
import json
import os
import re
import stat
import subprocess
from pathlib import Path

import cells
import pytest

SCHEMA = cells.generated("manifest.schema.json")
VOID = {"meta", "img", "br", "link", "input", "hr"}
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
MARKUP = "</pre></code><script>alert(1)</script><img src=x onerror=alert(2)>\"'`&lt; onload=\"alert(3)\""


class Page(html.parser.HTMLParser):
    """Elements, text, and that every element that begins also ends."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


def report(*arguments, status=0):
    done = cells.hotcell("report", *map(str, arguments))
    assert done.returncode == status, done.stderr
    if status:
        assert done.stdout == "" and done.stderr.startswith("hotcell") and done.stderr.count("\n") == 1
    return done


def page_of(where, *options):
    text = report("-o", "-", *options, where).stdout
    return Page(text), text


def check_closed(page, text):
    """Nothing is loaded, and nothing runs but what the page's hashes allow."""
    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'sha256-")
    assert "unsafe" not in policy and page.elements[2][0] == "meta" and page.elements[3] == ("meta", {"http-equiv": "Content-Security-Policy", "content": policy})
    style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    assert f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'" in policy
    assert not page.all("link") and not page.all("iframe") and not page.all("object") and not page.all("form")
    for tag, attrs in page.elements:
        assert not any(name.startswith("on") or name == "style" for name in attrs), (tag, attrs)
        assert re.match(r"data:image/(png|jpeg|gif|svg\+xml);base64,[A-Za-z0-9+/=]*$", attrs.get("src", "data:image/png;base64,"))
        assert attrs.get("href", "#").startswith("#") or re.fullmatch(r"jobs/[\w.-]+/report\.html", attrs["href"])


def write_manifest(folder, **changes):
    """One that says as little as it may."""
    (folder / "manifest.json").write_text(json.dumps({"version": 1, "job_id": "one", "status": "ok", **changes}))
    return folder


def put_file(folder, path, data):
    """An entry of the manifest for a file that is there."""
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_bytes(data)
    return {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


# ---- a whole job ----

PROGRAM = cells.FIGURE + """import time
draw_figure("figures/a.svg", b'<svg xmlns="http://www.w3.org/2000/svg"/>')
open("kept.txt", "w").write("x")
print("<b>printed</b>")
time.sleep(0.5)
[{"name": "<i>one</i>", "size": 1.5}, {"name": "two", "size": 2}]
"""


@pytest.fixture(scope="module")
def job(base_tree):
    result = cells.run(PROGRAM, "--persist-code", "--label", "team=<u>", "--timeout", f"{20 * cells.SLOWNESS:g}s")
    assert result.manifest["status"] == "ok", result
    return result


def test_a_job_is_on_one_page(job):
    done = report(job.output)
    path = job.output / "report.html"
    assert done.stdout == f"{path}\n" and stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    page = Page(text)
    check_closed(page, text)
    for wanted in (job.manifest["job_id"], "The program ended well.", 'print("<b>printed</b>")', "<b>printed</b>\n", "<i>one</i>",
                   "kept.txt", job.manifest["files"][0]["sha256"], "figures/a.svg", "user_namespace", "<u>",
                   job.manifest["policy"]["sha256"], "Said by the program's own process"):
        assert wanted in page.text, wanted
    assert {a.get("id") for a in page.all("section")} == {"code", "output", "value", "figures", "usage", "files", "layers", "limits", "origin"}
    assert {a["href"] for a in page.all("a")} >= {"#code", "#origin", "#L1"}
    assert [a["src"][:26] for a in page.all("img")] == ["data:image/svg+xml;base64,"]
    assert "rows" in page.text and {"name", "size"} <= set(page.words)
    assert sum("chart" in a.get("class", "") for a in page.all("figure")) >= 1  # half a second has samples
    assert '>stdout</td><td class="num">1M</td>' in text  # limits as people write them
    report(job.output)  # a page takes the place of a page


def test_what_was_refused_is_at_its_line(base_tree):
    result = cells.run("x = 1\nimport socket\ny = 2\nsocket", "--persist-code", policy="default")
    page, text = page_of(result.output)
    check_closed(page, text)
    lines = [a for a in page.all("div") if a.get("class", "").startswith("l ")]
    assert [(a["id"], a["class"].split()) for a in lines] == [("L1", ["l"]), ("L2", ["l", "refused"]), ("L3", ["l"]), ("L4", ["l"])]
    assert "<mark>socket</mark>" in text
    hint = result.manifest["rejection"]["hint"]
    code = page.text[page.text.index("import socket"):page.text.index("y = 2")]
    assert "Import of 'socket'" in code and hint in code


def test_where_it_raised_is_said_by_the_program(base_tree):
    page, _ = page_of(cells.run("def f():\n    raise ValueError('<no>')\nf()\n", "--persist-code").output)
    assert [a["id"] for a in page.all("div") if "raised" in a.get("class", "") and "id" in a] == ["L2"]
    assert "<no>" in page.text and "said by the program" in page.text


def test_a_program_that_was_not_kept_can_be_given(base_tree, tmp_path):
    result = cells.run("print(1 + 1)")
    assert "was not kept with this job" in page_of(result.output)[0].text
    program = tmp_path / "program.py"
    program.write_text("print(1 + 1)")
    page, _ = page_of(result.output, "--code", program)
    assert "print(1 + 1)" in page.text and "was not kept" not in page.text
    program.write_text("print(1 + 2)")
    assert "not the program of this job" in report("--code", program, "-o", "-", result.output, status=65).stderr


def test_a_kept_program_that_was_changed_is_said_to_be(job, tmp_path):
    entry = put_file(tmp_path, "code/run_a.py", b"print(1)\n")
    write_manifest(tmp_path, code={"bytes": 9, "sha256": entry["sha256"]}, code_path=entry["path"])
    assert "has changed since" not in page_of(tmp_path)[0].text
    (tmp_path / "code/run_a.py").write_text("print(2)\n")
    assert "has changed since" in page_of(tmp_path)[0].text


# ---- hostile content ----

def hostile(value):
    """The same, with every text in it replaced."""
    if isinstance(value, dict):
        return {(key if key in KNOWN else key + MARKUP): hostile(item) for key, item in value.items()}
    if isinstance(value, list):
        return [hostile(item) for item in value]
    return MARKUP if isinstance(value, str) else value


KNOWN = {"version"} | set(re.findall(r'"(\w+)"', json.dumps(SCHEMA)))


def test_markup_is_text_wherever_it_stands(job, tmp_path):
    manifest = json.loads((job.output / "manifest.json").read_text())
    manifest["guest"]["error"] = {"type": "x", "message": "y", "traceback": 'File "<cell>", line 2'}
    manifest["guest"]["results"] = {"a": "b"}
    manifest["guest"]["returned"] = {"x": {"type": "t", "json": [{"k": "v"}]}, "y": {"type": "t", "error": "e"}}
    manifest["guest"]["warnings"] = ["w"]
    manifest["denials"] = [{"layer": "ast", "rule": "r", "what": "w", "line": 1, "count": 2, "hint": "h", "attested": False}]
    manifest["tools"] = [{"name": "n", "arguments": "a", "status": "ok", "message": "m", "wall": 1}]
    manifest["runs"] = [{"run": 1, "job_id": "j", "status": "ok", "state": "kept", "reason": "r"}]
    manifest["skipped"]["entries"] = [{"path": "p", "reason": "r"}]
    manifest["inputs"] = [{"name": "n", "file": "f", "bytes": 1, "sha256": "s"}]
    manifest["rejection"] = {"findings": [{"rule": "r", "message": "m", "hint": "h", "line": 1, "column": 1, "end_column": 3}]}
    (tmp_path / "manifest.json").write_text(json.dumps(hostile(manifest)))
    page, text = page_of(tmp_path)
    check_closed(page, text)
    assert not page.all("script") and "<script" not in text and "alert(1)" in page.text
    assert page.text.count("<script>alert(1)</script>") > 30


@pytest.mark.parametrize("character, shown", [("\u202e", "⟦U+202E⟧"), ("\u2066", "⟦U+2066⟧"), ("\u200b", "⟦U+200B⟧"), ("\x1b", "␛"), ("\r", "␍"),
                                              ("\x85", "⟦U+0085⟧"), ("\U000e0041", "⟦U+E0041⟧")])
def test_what_cannot_be_seen_is_named(tmp_path, character, shown):
    page, text = page_of(write_manifest(tmp_path, reason=f"a{character}b", status="error"))
    assert character not in text and f"a{shown}b" in page.text


@pytest.mark.parametrize("name, mime, data, why", [
    ("a.png", "image/png", b"<svg onload=alert(1)>", "does not begin as its type does"),
    ("a.png", "image/png", PIXEL[:16] + b"\x7f\xff\xff\xff" * 2 + PIXEL[24:], "64 million pixels"),
    ("a.svg", "image/svg+xml", b'<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', "declares entities"),
    ("a.html", "text/html", b"<script>alert(1)</script>", "cannot show this type"),
    ("a.svg", "image/svg+xml", b"<svg>" + b" " * (8 << 20), "File too large"),
])
def test_what_is_no_picture_is_not_shown(tmp_path, name, mime, data, why):
    entry = put_file(tmp_path, f"figures/{name}", data)
    page, text = page_of(write_manifest(tmp_path, figures=[{**entry, "mime": mime}]))
    check_closed(page, text)
    assert not page.all("img") and why in page.text


def test_a_picture_that_was_changed_is_not_shown(tmp_path):
    entry = {**put_file(tmp_path, "figures/a.png", PIXEL), "mime": "image/png"}
    write_manifest(tmp_path, figures=[entry])
    assert [(a["width"], a["height"]) for a in page_of(tmp_path)[0].all("img")] == [("1", "1")]
    write_manifest(tmp_path, figures=[{**entry, "sha256": "0" * 64}])
    page, _ = page_of(tmp_path)
    assert not page.all("img") and "has changed since" in page.text


def test_nothing_outside_of_the_directory_is_read(tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(PIXEL)
    out = tmp_path / "out"
    (out / "figures").mkdir(parents=True)
    (out / "figures/link.png").symlink_to(secret)
    (out / "code.py").symlink_to(secret)
    os.mkfifo(out / "figures/pipe.png")
    sha = hashlib.sha256(PIXEL).hexdigest()
    paths = ["../secret.png", str(secret), "figures/link.png", "figures/../../secret.png", "figures/pipe.png", "figures", ""]
    write_manifest(out, code={"bytes": 1, "sha256": sha}, code_path="code.py",
                   figures=[{"path": path, "mime": "image/png", "bytes": 1, "sha256": sha} for path in paths])
    page, _ = page_of(out)
    assert not page.all("img") and page.text.count("Not shown:") == len(paths) and "was not kept" in page.text


def test_what_is_long_is_cut_and_said_to_be(tmp_path):
    rows = [{"n": n} for n in range(1000)]
    write_manifest(tmp_path, stdout={"text": "start" + "é" * 400_000 + "end", "bytes": 800_008},
                   guest={"value": {"application/json": rows}})
    page, text = page_of(tmp_path)
    assert len(text) < 600_000 and "bytes left out here" in page.text and "start" in page.text and "end" in page.text
    assert "1000 rows, 1 column, of which the first 200 rows are shown" in page.text


@pytest.mark.parametrize("pad", [0, 5 << 20])
def test_json_is_shown_as_it_was_written(tmp_path, pad):
    """In a document of any size, with all digits of its numbers."""
    write_manifest(tmp_path, labels={"pad": "x" * pad}, guest={"results": {"b": 1.5, "a": [True, None, "<i>", "DIGITS"]}})
    text = (tmp_path / "manifest.json").read_text().replace('"DIGITS"', "1.000000000000000000000000010E+2")
    (tmp_path / "manifest.json").write_text(text)
    wanted = '{\n  "b": 1.5,\n  "a": [\n    true,\n    null,\n    "<i>",\n    1.000000000000000000000000010E+2\n  ]\n}'
    assert wanted in page_of(tmp_path)[0].text


# ---- what is replaced ----

def test_only_pages_are_replaced(tmp_path):
    write_manifest(tmp_path)
    (tmp_path / "report.html").write_text("mine")
    assert "no report" in report(tmp_path, status=65).stderr
    assert (tmp_path / "report.html").read_text() == "mine"
    report("--force", tmp_path)
    report(tmp_path)
    os.mkfifo(tmp_path / "pipe")  # as with a device: root's /dev/null would be gone
    assert "no file that --force" in report("--force", "-o", tmp_path / "pipe", tmp_path, status=65).stderr
    (tmp_path / "pipe").unlink()
    (tmp_path / "folder").mkdir()
    assert "folder: there already" in report("-o", f"{tmp_path}/folder/", tmp_path, status=65).stderr
    assert {path.name for path in tmp_path.iterdir()} == {"manifest.json", "report.html", "folder"}


def test_a_file_of_the_program_is_not_taken_for_a_page(tmp_path):
    write_manifest(tmp_path)
    report(tmp_path)
    false = (tmp_path / "report.html").read_bytes() + b"<script>alert(1)</script>"
    write_manifest(tmp_path, files=[put_file(tmp_path, "report.html", false)])
    assert "a file of the program" in report(tmp_path, status=65).stderr
    assert (tmp_path / "report.html").read_bytes() == false


def test_a_link_in_the_pages_place_is_not_followed(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    write_manifest(out)
    (tmp_path / "victim").write_text("victim")
    (out / "report.html").symlink_to(tmp_path / "victim")
    report(out, status=65)
    report("--force", out)
    assert (tmp_path / "victim").read_text() == "victim" and not (out / "report.html").is_symlink()


# ---- bad input ----

@pytest.mark.parametrize("text, message", [
    ("", "manifest.json:1:1"), ("{\n  \"a\": }", "manifest.json:2:8"), ("[]", "manifest.json:1:1: expected a manifest"),
    ('{"version": 1}', "expected a manifest"), ('{"version": 2, "status": "ok", "job_id": "a"}', "version: expected 1"),
    ('{"a": "\udcff"}', "manifest.json:1:"), ("[" * 100, "manifest.json:1:"),
])
def test_what_is_no_manifest_is_refused_with_its_place(tmp_path, text, message):
    (tmp_path / "manifest.json").write_text(text, errors="surrogateescape")
    assert message in report(tmp_path, status=65).stderr
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("value", [None, 1, -1e308, "text", [], {}, [[]], [{}], [None], {"a": None}, [{"path": 1, "line": "x"}], {"text": 5, "bytes": "x"}])
def test_members_may_be_anything(tmp_path, value):
    members = set(SCHEMA["required"])
    check_closed(*page_of(write_manifest(tmp_path, **{name: value for name in members - {"version", "job_id", "status"}})))
    guest = {name: value for name in ("value", "error", "figures", "columns", "warnings", "results", "returned")}
    check_closed(*page_of(write_manifest(tmp_path, guest=guest, usage={"samples": value, "wall": value}, layers={"a": value})))


def test_what_is_not_there_is_said(tmp_path):
    assert "manifest.json: No such file" in report(tmp_path, status=65).stderr
    assert "nowhere: No such file" in report(tmp_path / "nowhere", status=65).stderr
    assert "expected one DIR, MANIFEST or JOURNAL" in report(status=64).stderr
    write_manifest(tmp_path)
    assert report("-o", tmp_path / "no/where/page.html", tmp_path, status=65).stderr.startswith("hotcell: ")


def test_a_full_disk_is_said(tmp_path):
    write_manifest(tmp_path)
    with open("/dev/full", "w") as full:
        done = cells.hotcell("report", "-o", "-", str(tmp_path), capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 70 and done.stderr.startswith("hotcell: ")


@pytest.mark.parametrize("arguments, status", [([], 69), (["--help"], 0)])
def test_without_jinja_the_package_is_named(tmp_path, arguments, status):
    """As without Debian's packages, -S, on any host."""
    write_manifest(tmp_path)
    done = subprocess.run(["/usr/bin/python3", "-I", "-S", "-B", cells.BUILD / "hotcell-report", cells.HOTCELL, *arguments, tmp_path],
                          capture_output=True, text=True, check=False)
    assert done.returncode == status and ("install the Debian package python3-jinja2" in done.stderr) == bool(status)
    assert done.stderr.count("\n") == bool(status)


def test_modules_of_the_caller_are_not_imported(tmp_path):
    write_manifest(tmp_path)
    for name in ("jinja2", "job", "json", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": str(tmp_path / "job.py"), "PYTHONHOME": str(tmp_path)}
    subprocess.run([cells.HOTCELL, "report", tmp_path], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "report.html").exists() and not (tmp_path / "imported").exists()


# ---- batches ----

STATUSES = ["ok", "error", "rejected", "timeout", "cpu", "memory", "pids", "output", "collect", "killed", "launch_failed", "invalid", "outcome_unknown"]


def result(line, status="ok", **more):
    manifest = None if status in ("invalid", "outcome_unknown") else {
        "version": 1, "job_id": f"job-{line}", "status": status, "usage": {"wall": line / 10, "cpu_user": 0.1, "cpu_system": 0.1, "memory_peak": line << 20},
        "stdout": {"text": f"output of {line}", "bytes": 3}, "denials": [], "figures": [], "files": []}
    return {"line": line, "job_id": f"job-{line}", "status": status, "exit_code": 0, "reason": f"because of {line}", "attempts": 1,
            "output_dir": None, "manifest": manifest, **more}


def write_lines(path, *lines, end="\n"):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + end)


def rows_of(text):
    """The cells of the table of jobs."""
    return [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td.*?</td>", row)]
            for row in re.findall(r"<tr><td class=\"num\" data-v=.*?</tr>", text)]


def test_a_batch_is_on_one_page(tmp_path):
    write_lines(tmp_path / "results.jsonl", *(result(n + 1, status) for n, status in enumerate(STATUSES)))
    write_lines(tmp_path / "journal.jsonl", {"batch": {"version": 1, "started": "2026-01-31T12:00:00.000Z", "shard": 2, "shards": 3}},
                *({"begin": n + 1, "job_id": f"job-{n + 1}"} for n in range(len(STATUSES))), {"end": 1, "status": "ok"},
                {"begin": 20, "job_id": "late"}, {"start": 20}, {"begin": 21, "job_id": "left"}, {"back": 21})
    report(tmp_path)
    text = (tmp_path / "report.html").read_text()
    page = Page(text)
    check_closed(page, text)
    rows = rows_of(text)
    assert [row[2] for row in rows] == [*STATUSES, "no result"] and [row[0] for row in rows] == [*map(str, range(1, 14)), "20"]
    assert "13 of 14 jobs did not end well." in page.text and "Shard 2 of 3." in page.text and "because of 8" in page.text
    assert "It runs still, or the batch was killed" in page.text
    assert {a.get("id") for a in page.all("section")} == {"outcomes", "charts", "jobs", "details"} and len(page.all("details")) == 11
    assert len(page.all("script")) == 1 and "output of 2" in page.text and page.text.count("output of 1") >= 1
    report(tmp_path / "results.jsonl")
    assert (tmp_path / "report.html").read_text() == text


def test_what_hotcell_batch_leaves_is_read(base_tree, tmp_path):
    jobs = [{"code": "open('x', 'w')", "job_id": "good", "persist_code": True}, {"code": "import socket; socket", "job_id": "net"}, {"code": "1/0"}, {"cod": 1}]
    write_lines(tmp_path / "jobs.jsonl", *jobs)
    done = cells.hotcell("batch", "-o", str(tmp_path / "out"), "-t", base_tree, "--jobs", "1", str(tmp_path / "jobs.jsonl"))
    assert done.returncode == 65, done.stderr
    report("--each", tmp_path / "out")
    text = (tmp_path / "out/report.html").read_text()
    page = Page(text)
    check_closed(page, text)
    assert [row[2] for row in rows_of(text)] == ["ok", "rejected", "error", "invalid"]
    assert "jobs/good/report.html" in text and "Import of 'socket'" in page.text and "ZeroDivisionError" in page.text and "unknown member 'cod'" in page.text
    assert "open('x', 'w')" in Page((tmp_path / "out/jobs/good/report.html").read_text()).text


def test_one_job_is_one(tmp_path):
    write_lines(tmp_path / "results.jsonl", result(1))
    page, _ = page_of(tmp_path)
    assert "The only job ended well." in page.text and "1 jobs" not in page.text and "1job" in page.text.replace("\n", "")


def test_a_journal_alone_is_a_batch_that_has_begun(tmp_path):
    write_lines(tmp_path / "journal.jsonl", {"batch": {}}, {"begin": 1, "job_id": "a"}, {"end": 2, "status": "error", "result": result(2, "error")}, '{"beg', end="")
    page, text = page_of(tmp_path)
    check_closed(page, text)
    assert [row[2] for row in rows_of(text)] == ["no result", "error"] and "is not whole" in page.text


def test_markup_in_a_batch_is_text(tmp_path):
    write_lines(tmp_path / "results.jsonl", *(
        result(n + 1, status, reason=MARKUP, job_id=MARKUP, output_dir=MARKUP, manifest={
            "usage": {"wall": MARKUP}, "stdout": {"text": MARKUP}, "stderr": {"text": MARKUP}, "guest": {"error": {"traceback": MARKUP}},
            "denials": [{"rule": MARKUP, "what": MARKUP, "hint": MARKUP, "line": 1}], "rejection": {"findings": MARKUP}})
        for n, status in enumerate(["ok", "error", "rejected"])))
    page, text = page_of(tmp_path)
    check_closed(page, text)
    assert text.count("<script") == 1 and page.text.count("alert(1)") >= 15 and len(page.all("script")) == 1


@pytest.mark.parametrize("line, message", [
    ("{", "results.jsonl:2:2:"), ("[]", "results.jsonl:2:1: expected an object, got a list"), ('{"a": 1}', "results.jsonl:2:1: expected a line of a batch"),
    ('{"line": 0, "status": "ok"}', "results.jsonl:2:10: line: expected a whole number"), ('{"line": 1e300, "status": "ok"}', "results.jsonl:2:10:"),
    ('{"line": 3, "status": "fine"}', "results.jsonl:2:23: status: expected"), ('{"begin": "x"}', "results.jsonl:2:11: begin: expected the number"),
])
def test_a_bad_line_is_named(tmp_path, line, message):
    write_lines(tmp_path / "results.jsonl", result(1), line)
    assert message in report(tmp_path, status=65).stderr and not (tmp_path / "report.html").exists()


def batch_with_a_job(tmp_path, job):
    """A batch whose only job has its directory."""
    (tmp_path / "jobs").mkdir()
    os.rename(job.output, tmp_path / "jobs/one")
    manifest = {**job.manifest, "job_id": "one"}
    write_lines(tmp_path / "results.jsonl", result(1, job_id="one", output_dir="jobs/one", manifest=manifest))
    return tmp_path


def links(folder):
    return [a["href"] for a in page_of(folder)[0].all("a") if not a["href"].startswith("#")]


def test_each_job_can_have_a_page(base_tree, tmp_path):
    batch_with_a_job(tmp_path, cells.run("open('x', 'w')\nprint(1)"))
    report(tmp_path)
    assert not re.search(r"jobs/one/report.html", (tmp_path / "report.html").read_text())
    report("--each", tmp_path)
    check_closed(*(lambda text: (Page(text), text))((tmp_path / "jobs/one/report.html").read_text()))
    assert '<a href="jobs/one/report.html">one</a>' in (tmp_path / "report.html").read_text()
    report(tmp_path)
    assert '<a href="jobs/one/report.html">one</a>' in (tmp_path / "report.html").read_text()
    assert links(tmp_path) == []  # elsewhere they would lead nowhere


def test_a_programs_own_page_is_not_linked_to(base_tree, tmp_path):
    false = "<!DOCTYPE html>\n<!-- hotcell report -->\n<script>alert(1)</script>"
    batch_with_a_job(tmp_path, cells.run(f"open('report.html', 'w').write({false!r})"))
    for options in ([], ["--each"]):
        done = report(*options, tmp_path)
        assert (tmp_path / "jobs/one/report.html").read_text() == false
        assert "jobs/one/report.html" not in (tmp_path / "report.html").read_text()
        assert ("a file of the program" in done.stderr) == bool(options)


def test_a_link_among_the_jobs_is_not_followed(base_tree, tmp_path):
    job = cells.run("open('x', 'w')")
    folder = tmp_path / "batch"
    folder.mkdir()
    batch_with_a_job(folder, job)
    os.rename(folder / "jobs/one", tmp_path / "outside")
    (folder / "jobs/one").symlink_to(tmp_path / "outside")
    assert "jobs/one" in report("--each", folder).stderr
    assert not (tmp_path / "outside/report.html").exists()


def test_a_folder_in_a_pages_place_is_no_page(tmp_path):
    (tmp_path / "jobs/one/report.html").mkdir(parents=True)
    write_manifest(tmp_path / "jobs/one")
    write_lines(tmp_path / "results.jsonl", result(1, job_id="one", output_dir="jobs/one"))
    for options in ([], ["--each"]):
        assert ("no report" in report(*options, tmp_path).stderr) == bool(options)
        assert "jobs/one/report.html" not in (tmp_path / "report.html").read_text()


def test_a_batch_may_be_long(tmp_path):
    lines = 25_000
    with (tmp_path / "results.jsonl").open("w") as file:
        for n in range(1, lines + 1):
            file.write('{"line": %d, "job_id": "j%d", "status": "%s", "reason": "", "manifest": {"usage": {"wall": %d}}}\n'
                       % (n, n, "error" if n % 1000 == 0 else "ok", n))
    page, text = page_of(tmp_path)
    assert f"25 of {lines} jobs did not end well." in page.text and "14975 more, which only the counts" in page.text
    assert [row[0] for row in rows_of(text) if row[2] == "error"] == [str(n) for n in range(1000, lines + 1, 1000)]


def test_options_are_for_what_they_fit(tmp_path):
    write_lines(tmp_path / "results.jsonl", result(1))
    report("--code", "x.py", tmp_path, status=64)
    assert "--output: expected a value" in report("-o", "", tmp_path, status=64).stderr
    assert "No such file" in report(tmp_path / "none.jsonl", status=65).stderr
    write_manifest(tmp_path)
    report("--each", tmp_path, status=64)
