"""Copies of directories of the host: what a program finds and changes in them, and what comes out as changes."""

import hashlib
import json
import os
import socket
import sys
import threading
from pathlib import Path

import pytest

import cells
import daemons

PROBE = "import os, shutil\n" + cells.ATTEMPT


@pytest.fixture
def data(user):
    """A directory of the launcher's own user."""
    return cells.data_directory(user, {"words.txt": "words", "below/private.txt": "private", "below/deep/x": "x"}, {"link": "words.txt"})


def probe(data, code, *options, **arguments):
    return cells.run(PROBE + code, "--guard=off", "--dir", f"{data}:/work:cow", "--workdir=/work", *options, **arguments)


def refusal(data, user, *options):
    result = probe(data, "print(1)", *options, user=user)
    assert result.status == 65 and not result.stdout, result
    line, = result.stderr.splitlines()
    assert len(line) < 1000
    return line


def changes(result, number=0):
    return result.manifest["dirs"][number]["changes"]


def listed(result):
    return {(entry["change"], entry["path"]) for entry in changes(result)["entries"]}


def content(result, path):
    return (result.output / changes(result)["directory"] / path).read_text()


def snapshot(directory):
    return sorted((str(path), path.lstat().st_mode, path.lstat().st_mtime_ns, path.lstat().st_ctime_ns, path.lstat().st_atime_ns,
                   path.read_bytes() if path.is_file() else None) for path in directory.rglob("*"))


# ---- what comes out ----

def test_a_program_changes_a_copy_and_the_changes_come_out(user, data):
    snapshot(data)
    before = snapshot(data)
    result = probe(data, """
report(names=sorted(os.listdir(".")), words=open("link").read(), private=open("below/private.txt").read(), mode=os.stat("below/private.txt").st_mode & 0o777,
       modified=os.stat("words.txt").st_mtime_ns)
with open("words.txt", "a") as f: f.write(" and more")
open("below/new.txt", "w").write("new")
os.mkdir("made"); open("made/y", "w").write("y")
shutil.rmtree("below/deep")
os.chmod("below/private.txt", 0o640)
open("/output/z", "w").write("z")
""", user=user)
    facts = result.facts()
    assert facts == {"names": ["below", "link", "words.txt"], "words": "words", "private": "private", "mode": 0o600,
                     "modified": (data / "words.txt").stat().st_mtime_ns}
    assert snapshot(data) == before
    assert listed(result) == {("changed", "words.txt"), ("added", "below/new.txt"), ("added", "made"), ("added", "made/y"),
                              ("removed", "below/deep/x"), ("removed", "below/deep"), ("mode", "below/private.txt")}
    found = changes(result)
    assert [found[kind] for kind in ("added", "changed", "removed", "mode", "more")] == [3, 1, 2, 1, 0] and found["complete"]
    assert content(result, "words.txt") == "words and more" and content(result, "made/y") == "y" and content(result, "below/new.txt") == "new"
    whole = (result.output / (found["directory"] + ".json")).read_bytes()
    assert hashlib.sha256(whole).hexdigest() == found["list_sha256"] and json.loads(whole)["entries"] == found["entries"]
    changed, = [entry for entry in found["entries"] if entry["change"] == "changed"]
    assert changed["was"]["sha256"] == hashlib.sha256(b"words").hexdigest() and changed["now"]["bytes"] == 14
    assert [file["path"] for file in result.manifest["files"]] == ["z"]


def test_without_changes_nothing_comes_out(user, data):
    result = probe(data, "open('words.txt').read(); open('words.txt', 'w').write('words')", user=user)
    assert result.status == 0 and changes(result)["entries"] == [] and "directory" not in changes(result)
    assert [path.name for path in result.output.iterdir()] == ["manifest.json"]


def test_changes_that_leave_no_time_are_found(user, data):
    """A mapping of a file in memory changes neither its times nor its size."""
    result = probe(data, """
import mmap
with open("words.txt", "r+") as f:
    m = mmap.mmap(f.fileno(), 5); m[0:5] = b"WORDS"; m.close()
os.utime("words.txt", ns=(1, 1))
""", user=user)
    assert listed(result) == {("changed", "words.txt")} and content(result, "words.txt") == "WORDS"


def test_a_file_takes_a_directorys_place_and_back(user, data):
    result = probe(data, """
shutil.rmtree("below"); open("below", "w").write("file")
os.unlink("words.txt"); os.mkdir("words.txt"); open("words.txt/in", "w").write("in")
""", user=user)
    assert {("removed", "below"), ("added", "below"), ("removed", "words.txt"), ("added", "words.txt"), ("added", "words.txt/in"),
            ("removed", "below/private.txt")} <= listed(result)


def test_a_killed_programs_changes_come_out_too(user, data):
    result = probe(data, "open('new', 'w').write('1')\nwhile True: pass", "--timeout=0.5", "--grace=0", user=user)
    assert result.manifest["status"] == "timeout" and listed(result) == {("added", "new")}


def test_a_files_mode_hides_nothing(user, data):
    result = probe(data, """
open("secret", "w").write("s"); os.chmod("secret", 0)
os.mkdir("closed"); open("closed/in", "w").write("c"); os.chmod("closed", 0); os.chmod("below", 0); os.chmod(".", 0)
""", user=user)
    assert {("added", "secret"), ("added", "closed"), ("added", "closed/in"), ("mode", "below")} == listed(result), result
    assert changes(result)["complete"] and content(result, "closed/in") == "c"


def test_the_guard_lets_a_program_write_in_its_copy(user, data):
    result = cells.run("open('/work/new', 'w').write('1')\nopen('/usr/x', 'w')", "--dir", f"{data}:/work:cow", policy="analysis", user=user)
    assert listed(result) == {("added", "new")} and "PermissionError" in result.stderr, result


def test_several_copies_and_a_spec_and_python(user, data, monkeypatch):
    spec = {"code": "open('/a/x', 'w').write('1'); open('/b/y', 'w').write('2')", "tree": cells.tree_path("base"),
            "dirs": [{"host": str(data), "place": "/a", "mode": "cow"}, {"host": str(data), "place": "/r"},
                     {"host": str(data), "place": "/b", "mode": "cow"}]}
    result = cells.run(None, "--spec", "-", tree=None, user=user, stdin=json.dumps(spec))
    assert changes(result, 0)["entries"][0]["path"] == "x" and changes(result, 2)["entries"][0]["path"] == "y", result
    assert "changes" not in result.manifest["dirs"][1]
    sys.path.insert(0, str(daemons.SOURCE / "python"))
    monkeypatch.chdir(data.parent)
    import hotcell
    given = {"binary": cells.HOTCELL, "tree": cells.tree_path("base"), "timeout": 30}
    done = hotcell.run("open('new', 'w').write('n')", dirs=[{"host": data, "place": "/w", "mode": "cow"}], workdir="/w", **given)
    assert done.manifest["dirs"][0]["changes"]["added"] == 1 and not (data / "new").exists()


def test_a_program_cannot_put_its_own_files_among_the_changes(user, data):
    result = cells.run("import os\nos.makedirs('/output/changes-j1/0.json/x'); open('/output/changes-j1/words.txt', 'w').write('planted')\n"
                       "open('/work/words.txt', 'w').write('changed')", "--guard=off", "--job-id=j1", "--dir", f"{data}:/work:cow", user=user)
    assert result.skipped() == {"changes-j1": "the name is hotcell's own"} and content(result, "words.txt") == "changed", result
    assert sorted(path.name for path in (result.output / "changes-j1").iterdir()) == ["0", "0.json"]
    assert (result.output / "changes-j1" / "0.json").is_file()


# ---- what is no plain file ----

def test_what_cannot_be_copied_is_left_out_by_name(user, data):
    os.mkfifo(data / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(data / "socket"))
    (data / "below" / "deep" / "other").symlink_to("/etc/passwd")
    result = probe(data, "report(names=sorted(os.listdir('.')), leads=os.readlink('below/deep/other'))", user=user)
    assert result.facts() == {"names": ["below", "link", "words.txt"], "leads": "/etc/passwd"}
    assert {(e["path"], e["reason"]) for e in changes(result)["left_out"]["entries"]} == {("fifo", "named pipe"), ("socket", "socket")}
    assert changes(result)["entries"] == []


def test_what_the_caller_may_not_read_is_left_out(data):
    cells.need_root()
    user = cells.ordinary()
    for name in ("mine", "closed"):
        (data / name).mkdir()
        (data / name / "x").write_text("x")
    (data / "mine" / "roots").write_text("secret")
    (data / "mine" / "roots").chmod(0o600)
    (data / "closed").chmod(0o700)
    result = probe(data, "report(names=sorted(os.listdir('mine')), top=sorted(os.listdir('.')))", user=user)
    assert result.facts()["names"] == ["x"] and "closed" not in result.facts()["top"]
    assert {("mine/roots", "not readable"), ("closed", "not readable")} <= {(e["path"], e["reason"]) for e in changes(result)["left_out"]["entries"]}


def test_names_of_any_bytes_and_sparse_and_hard_linked_files(user, data):
    odd = os.fsencode(data) + b"/\xff\n\\x"
    Path(os.fsdecode(odd)).write_text("odd")
    os.chown(odd, user.uid, user.uid)
    (data / "hard").hardlink_to(data / "words.txt")
    with open(data / "sparse", "wb") as file:
        file.truncate(100 << 20)
        file.seek(50 << 20)
        file.write(b"in the middle")
    os.chown(data / "sparse", user.uid, user.uid)
    result = probe(data, r"""
blocks = os.stat("sparse").st_blocks
open(b"\xff\n\\x", "w").write("changed"); open(b"\xfe", "w").write("new"); open("hard", "w").write("alone")
report(blocks=blocks, words=open("words.txt").read())
""", user=user)
    assert result.facts()["blocks"] < 1000 and result.facts()["words"] == "words"
    found = {entry["path"]: entry for entry in changes(result)["entries"]}
    assert set(found) == {"\\xff\\x0a\\\\x", "\\xfe", "hard"} and found["\\xfe"]["escaped"], found
    kept = os.fsencode(result.output / changes(result)["directory"])
    assert Path(os.fsdecode(kept + b"/\xff\n\\x")).read_text() == "changed"


def test_100000_files_and_more_than_the_limit(data):
    many = data / "many"
    many.mkdir()
    for i in range(100):
        (many / str(i)).mkdir()
        for j in range(1000):
            os.close(os.open(many / str(i) / str(j), os.O_CREAT | os.O_WRONLY, 0o644))
    assert "more than 4096 files to copy (limits.output_files, --output-files)" in refusal(data, None)
    result = probe(data, "shutil.rmtree('many/7'); open('many/8/999', 'w').write('x'); report(count=sum(len(f) for _, _, f in os.walk('many')))",
                   "--output-files=110000", "--collect-time=300", "--timeout=300")
    assert result.facts()["count"] == 99000, result
    assert [changes(result)[kind] for kind in ("added", "changed", "removed", "more")] == [0, 1, 1001, 802]


def test_bounds_refuse_by_name(user, data):
    with open(data / "large", "wb") as file:
        file.truncate(1 << 40)
    text = refusal(data, user)
    assert "'large': more than 256M to copy (limits.output, --output-size)" in text, text
    os.truncate(data / "large", 1 << 20)
    assert "'large'" in refusal(data, user, "--output-size=512K")
    (data / "large").unlink()
    deep = data
    for _ in range(70):
        deep = deep / "dd"
    deep.mkdir(parents=True)
    assert "too long or too deep" in refusal(data, user)


@pytest.mark.machine
def test_the_limit_holds_in_the_copy(user, data):
    result = probe(data, """
def fill():
    with open("big", "wb") as f:
        for _ in range(100): f.write(bytes(1 << 20))
def many():
    for i in range(10000): open(f"f{i}", "w").close()
report(bytes=attempt(fill), files=attempt(many), sparse=attempt(os.truncate, "words.txt", 200 << 20))
""", "--output-size=8M", "--output-files=100", user=user)
    assert result.facts() == {"bytes": "ENOSPC", "files": "ENOSPC", "sparse": None}, result
    assert ("words.txt", "more bytes in all than the limit") in {(e["path"], e["reason"]) for e in changes(result)["skipped"]["entries"]}


# ---- what a program cannot do ----

@pytest.mark.machine
def test_no_links_devices_or_rights_come_to_be(user, data):
    result = probe(data, """
report(failed=[attempt(os.symlink, "/etc/passwd", "s"), attempt(os.mkfifo, "f"), attempt(os.mknod, "d", 0o020666, os.makedev(1, 3)),
               attempt(os.chmod, "words.txt", 0o4755), attempt(os.chmod, "words.txt", 0o2755), attempt(os.chown, "words.txt", 0, 0),
               attempt(os.rename, "words.txt", "/output/w"), attempt(os.rename, "/work", "/tmp/w"), attempt(os.link, "words.txt", "/output/w")],
       hard=attempt(os.link, "words.txt", "second"))
""", user=user)
    assert None not in result.facts()["failed"], result.facts()
    assert {e["path"] for e in changes(result)["skipped"]["entries"]} == ({"words.txt", "second"} if result.facts()["hard"] is None else set())


def test_links_in_the_copy_lead_nowhere_outside(user, data):
    secret = data.parent / "secret"
    secret.write_text("secret")
    secret.chmod(0o644)
    (data / "out").symlink_to(secret)
    (data / "up").symlink_to("../secret")
    assert (data / "out").read_text() == (data / "up").read_text() == "secret"
    result = probe(data, f"report(failed=[attempt(open, name) for name in ('out', 'up', '../secret', '{secret}')])", user=user)
    assert None not in result.facts()["failed"]


def test_mounts_below_are_left_out():
    cells.need_root()
    path = cells.new_directory(cells.caller())
    (path / "mounted").mkdir()
    cells.subprocess.run(["mount", "-t", "tmpfs", "none", path / "mounted"], check=True)
    try:
        (path / "mounted" / "secret").write_text("secret")
        (path / "mounted").chmod(0o777)
        path.chmod(0o755)
        for user in (None, cells.ordinary()):
            result = probe(path, "report(names=sorted(os.listdir('.')), seen=attempt(open, 'mounted/secret'))", user=user)
            assert result.facts()["seen"] == "ENOENT", result.facts()
    finally:
        cells.subprocess.run(["umount", path / "mounted"], check=True)


@pytest.mark.parametrize("what", ["file", "directory"])
def test_what_is_exchanged_for_a_link_while_it_is_copied_shows_no_secret(user, data, what):
    secret = data.parent / "secret"
    secret.mkdir()
    (secret / "x").write_text("secret")
    target = data / "below" / "deep" if what == "directory" else data / "below" / "deep" / "x"
    aside, over = data.parent / "aside", threading.Event()

    def swap():
        while not over.is_set():
            target.rename(aside)
            target.symlink_to(secret if what == "directory" else secret / "x")
            target.unlink()
            aside.rename(target)

    for i in range(300):
        (data / f"f{i}").write_text("filler")
        os.chown(data / f"f{i}", user.uid, user.uid)
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        seen = [probe(data, """
try: print(open("below/deep/x").read())
except OSError as e: print("none")
""", user=user) for _ in range(10)]
    finally:
        over.set()
        thread.join()
    for result in seen:
        assert result.stdout in ("x\n", "none\n") or (result.status == 65 and "changed while it was copied" in result.stderr), result


def test_a_session_has_a_copy_for_all_of_its_runs(user, data):
    """Its changes are listed when it has ended; nothing in the directory changes before they are committed."""
    (data / "kept").write_text("old")
    (data / "gone").write_text("gone")
    os.chown(data / "kept", user.uid, user.uid)
    before = {path: path.lstat().st_mtime_ns for path in data.iterdir()}
    out = data.parent / "of the session"
    runs = ["import os; os.chdir('/work'); open('kept', 'a').write(' new'); os.remove('gone')", "print(open('kept').read(), os.path.exists('gone'))",
            "open('undone', 'w').write('x'); os._exit(3)", "import os; print(sorted(os.listdir('/work')) == sorted({*os.listdir('/work')} | {'undone'}))"]
    done = cells.hotcell("session", "-t", cells.tree_path("base"), "--dir", f"{data}:/work:cow", "-o", str(out), user=user,
                         stdin=None, input="".join(json.dumps({"run": {"code": code}}) + "\n" for code in runs))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    texts = [answer["manifest"]["stdout"]["text"] for answer in answers if answer["event"] == "result"]
    assert texts == ["", "old new False\n", "", "True\n"], done
    assert {path: path.lstat().st_mtime_ns for path in data.iterdir()} == before
    row, = json.loads((out / "manifest.json").read_text())["dirs"]
    changed = {entry["path"]: entry["change"] for entry in row["changes"]["entries"]}
    assert changed == {"kept": "changed", "gone": "removed", "undone": "added"}, row
    committed = cells.hotcell("workspace", "commit", str(out), user=user)
    assert committed.returncode == 0, committed
    assert (data / "kept").read_text() == "old new" and not (data / "gone").exists() and (data / "undone").read_text() == "x"


def test_nothing_is_left(user, data):
    before = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    assert probe(data, "1", user=user).status == 0
    assert Path("/proc/self/mountinfo").read_text(encoding="utf-8") == before


def test_a_policy_bounds_copies_too(user, data):
    program = "print(1)"
    for dirs, status in (({"ro": []}, 78), ({"ro": [str(data)]}, 0), ({"cow": [str(data)], "ro": []}, 0), ({"cow": [], "ro": [str(data)]}, 78)):
        result = cells.run(program, "--dir", f"{data}:/work:cow", policy={"dirs": dirs}, user=user)
        assert result.status == status, (dirs, result)
