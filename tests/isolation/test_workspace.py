"""`hotcell workspace`: changes in copies of directories are shown, applied to the directories, or dropped."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import threading
import time

import pytest

import cells

PROGRAM = """
import os, shutil
open("words.txt", "w").write("WORDS")
open("below/new.txt", "w").write("new")
os.mkdir("made"); open("made/y", "w").write("y")
shutil.rmtree("gone")
os.chmod("below/private.txt", 0o640)
os.rename("from", "to")
"""


@pytest.fixture
def data(user):
    return cells.data_directory(user, {"words.txt": "words", "below/private.txt": "private", "gone/deep/x": "x", "from": "moved", "kept": "kept"})


def job(data, user, code=PROGRAM, *options):
    result = cells.run(code, "--guard=off", "--dir", f"{data}:/work:cow", "--workdir=/work", *options, user=user)
    assert result.status == 0, result
    return result


def workspace(result, verb, *options, user=None):
    return cells.hotcell("workspace", verb, *options, str(result.output), user=user)


def tree(directory):
    return {os.path.relpath(path, directory): (path.read_bytes() if path.is_file() else None, path.lstat().st_mode)
            for path in directory.rglob("*")}


def give(directory, uid):
    for path in (directory, *directory.rglob("*")):
        os.lchown(path, uid, uid)


def clash(done, *words):
    assert done.returncode == 1, done
    lines = done.stderr.splitlines()
    assert lines[-1].endswith("nothing was applied"), lines
    for word in words:
        assert any(word in line for line in lines), (word, lines)
    return lines


def test_a_copy_that_was_not_changed_is_no_error_to_any_command(user, data):
    result = job(data, user, "print(open('kept').read())")
    assert result.manifest["dirs"][0]["changes"]["entries"] == []
    verified = cells.hotcell("verify", str(result.output / "manifest.json"), user=user)
    assert verified.returncode == 0 and "0 files as recorded" in verified.stdout, verified
    for verb, shown in (("diff", f"{data} (in the cell /work): unchanged\n"), ("commit", ""), ("discard", "")):
        done = workspace(result, verb, user=user)
        assert done.returncode == 0 and done.stdout == shown, done


def test_diff_shows_commit_applies_and_discard_drops(user, data):
    result = job(data, user)
    assert "1 file as recorded" in cells.hotcell("verify", str(result.output / "manifest.json"), user=user).stdout
    before = tree(data)
    shown = workspace(result, "diff", user=user)
    assert shown.returncode == 0 and str(data) in shown.stdout, shown
    assert set(shown.stdout.splitlines()[1:]) == {
        "D gone/deep/x", "D gone/deep/", "D gone/", "D from", "A to", "A below/new.txt", "A made/", "A made/y",
        "T below/private.txt (mode 0600 -> 0640)", "M words.txt (5 -> 5 bytes)"}
    assert workspace(result, "commit", "--dry-run", user=user).stdout == "no conflicts\n" and tree(data) == before
    done = workspace(result, "commit", user=user)
    assert done.returncode == 0 and done.stdout == f"{data}: 10 changes applied\n", done
    assert (data / "words.txt").read_text() == "WORDS" and (data / "to").read_text() == "moved" and (data / "made" / "y").read_text() == "y"
    assert not (data / "gone").exists() and not (data / "from").exists() and (data / "kept").read_text() == "kept"
    assert (data / "below" / "private.txt").stat().st_mode & 0o777 == 0o640
    assert {path.lstat().st_uid for path in data.rglob("*")} == {user.uid}
    assert set(os.listdir(data)) == {"below", "kept", "made", "to", "words.txt"}
    assert "0 changes applied, 10 were there already" in workspace(result, "commit", user=user).stdout
    for _ in range(2):
        assert workspace(result, "discard", user=user).returncode == 0
    assert [path.name for path in result.output.iterdir()] == ["manifest.json"]
    assert "not among the results any more" in workspace(result, "diff", user=user).stderr


def test_a_patch_shows_contents_and_no_control_characters(user, data):
    (data / "binary").write_bytes(bytes(range(256)))
    os.chown(data / "binary", user.uid, user.uid)
    result = job(data, user, r'''
import os
open("words.txt", "w").write("words\n\x1b]0;title\x07\tmore\n"); open("new", "w").write("one\n"); os.unlink("kept"); open("binary", "wb").write(b"\0" * 99)
open("long", "w").write("line\n" * 1000000)
''')
    shown = workspace(result, "diff", "--patch", user=user)
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    for expected in ("M words.txt (5 -> 22 bytes)", "--- a/words.txt", "+++ b/words.txt", "-words", "+words", "+?]0;title?\tmore", "--- /dev/null",
                     "+++ b/new", "+one", "+++ /dev/null", "-kept", "(the rest is left out)"):
        assert expected in lines, (expected, lines[:40])
    assert any("differ" in line for line in lines) and "\x1b" not in shown.stdout and len(shown.stdout) < 2 << 20


@pytest.mark.parametrize("change, why", [
    (lambda d: (d / "words.txt").write_text("other"), "words.txt: it has changed since it was copied"),
    (lambda d: (d / "words.txt").unlink(), "words.txt: it is gone"),
    (lambda d: (d / "below" / "new.txt").write_text("theirs"), "below/new.txt: something else has that name"),
    (lambda d: (d / "gone" / "deep" / "more").write_text("more"), "gone/deep: there is something in it that the copy did not have"),
    (lambda d: (d / "from").write_text("newer"), "from: it has changed"),
    (lambda d: (d / "below" / "private.txt").chmod(0o644), "below/private.txt: it has changed"),
    (lambda d: ((d / "words.txt").unlink(), (d / "words.txt").symlink_to("kept")), "words.txt: it has changed"),
    (lambda d: ((d / "words.txt").unlink(), os.mkfifo(d / "words.txt")), "words.txt: it cannot be read, or is no file any more"),
    (lambda d: (shutil.move(d / "below", d / "aside"), (d / "below").symlink_to("aside")), "below/new.txt: its directory is none any more"),
])
def test_a_conflict_is_one_line_and_nothing_is_applied(user, data, change, why):
    result = job(data, user)
    change(data)
    before = tree(data)
    clash(workspace(result, "commit", user=user), f"{data}/{why}")
    assert tree(data) == before


def test_links_lead_a_commit_nowhere(user, data):
    """Where a directory of the copy is a link now, the file behind the link stays as it is."""
    result = job(data, user, "open('below/private.txt', 'w').write('overwritten'); open('below/planted', 'w').write('p')")
    victim = data.parent / "victim"
    shutil.move(data / "below", victim)
    (data / "below").symlink_to(victim)
    assert (data / "below" / "private.txt").read_text() == "private"
    clash(workspace(result, "commit", user=user), "below/private.txt: its directory is none any more", "below/planted: its directory is none")
    assert (victim / "private.txt").read_text() == "private" and not (victim / "planted").exists()
    shutil.move(data, data.parent / "elsewhere")
    data.symlink_to(data.parent / "elsewhere")
    done = workspace(result, "commit", user=user)
    assert done.returncode == 65 and "a symbolic link is in the path now" in done.stderr, done


def test_results_that_were_changed_are_refused(user, data):
    result = job(data, user)
    changes = result.manifest["dirs"][0]["changes"]
    kept = result.output / changes["directory"] / "words.txt"
    kept.write_text("forged")
    clash(workspace(result, "commit", user=user), "not what the program left")
    kept.unlink()
    kept.symlink_to("/etc/passwd")
    clash(workspace(result, "commit", user=user), "not what the program left")
    listed = result.output / (changes["directory"] + ".json")
    text = listed.read_text()
    listed.write_text(text.replace("words.txt", "../w.txt!"))
    assert "it has changed" in workspace(result, "commit", user=user).stderr
    verified = cells.hotcell("verify", str(result.output / "manifest.json"), user=user)
    assert verified.returncode == 1 and "the content has changed" in verified.stderr, verified
    manifest = json.loads((result.output / "manifest.json").read_text())
    manifest["dirs"][0]["changes"]["list_sha256"] = hashlib.sha256(listed.read_bytes()).hexdigest()
    (result.output / "manifest.json").write_text(json.dumps(manifest))
    assert "not a list of changes" in workspace(result, "commit", user=user).stderr
    for place in ("/etc", "..", "changes-../../x"):
        manifest["dirs"][0]["changes"]["directory"] = place
        (result.output / "manifest.json").write_text(json.dumps(manifest))
        assert workspace(result, "diff", user=user).returncode == 65
        workspace(result, "discard", user=user)
    assert (data / "words.txt").read_text() == "words" and data.parent.exists()


FORGE = """
import hashlib, json, os
os.makedirs("changes-x/0")
content = b"planted"
open("changes-x/0/planted", "wb").write(content)
state = {"kind": "file", "mode": "0644", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
none = {"entries": [], "more": 0}
changes = {"added": 1, "changed": 0, "removed": 0, "mode": 0, "entries": [{"path": "planted", "change": "added", "now": state}], "more": 0,
           "skipped": none, "left_out": none, "complete": True, "directory": "changes-x/0"}
text = json.dumps(changes)
open("changes-x/0.json", "w").write(text)
changes["list_sha256"] = hashlib.sha256(text.encode()).hexdigest()
json.dump({"dirs": [{"host": HOST, "place": "/work", "mode": "cow", "changes": changes}]}, open("manifest.json", "w"))
"""


def test_a_manifest_that_a_program_wrote_is_not_committed(user, data):
    """In the output mode bind the program's files stand among the results at once, also if the launcher is killed."""
    code = f"HOST = {str(data)!r}\n{FORGE}\nimport time\nprint('planted', flush=True)\ntime.sleep(60)"
    with cells.start(code, "--guard=off", "--output-mode=bind", user=user) as one:
        assert one.read_line() == "planted"
        one.process.kill()
        one.process.wait()
        assert "A planted" in cells.hotcell("workspace", "diff", str(one.output), user=user).stdout.splitlines()
        for options in ((), ("--dry-run",), ("--partial",)):
            done = cells.hotcell("workspace", "commit", *options, str(one.output), user=user)
            assert done.returncode == 65 and "has no seal of yours" in done.stderr and "hotcell did not write it" in done.stderr, done
        shown = cells.hotcell("workspace", "diff", "--patch", str(one.output), user=user)
        assert "has no seal of yours" in shown.stderr, shown
    assert not (data / "planted").exists()


def test_results_of_another_user_are_not_committed(data):
    cells.need_root()
    user = cells.ordinary()
    victim = cells.new_directory(cells.caller())
    results = cells.new_directory(user)
    subprocess.run(["/usr/bin/python3", "-c", f"HOST = {str(victim)!r}\n{FORGE}"], cwd=results, check=True, **user.popen_arguments())
    for verb in ("diff", "commit", "discard"):
        done = cells.hotcell("workspace", verb, str(results))
        assert done.returncode == 65 and f"{results} belongs to another user (uid {user.uid})" in done.stderr, done
    os.chown(results, 0, 0)
    done = cells.hotcell("workspace", "commit", str(results))
    assert done.returncode == 65 and "manifest.json belongs to another user" in done.stderr, done
    give(results, 0)
    done = cells.hotcell("workspace", "commit", str(results))
    assert done.returncode == 65 and "has no seal of yours" in done.stderr, done
    assert not list(victim.iterdir()) and (results / "changes-x" / "0.json").exists()
    give(data, user.uid)
    result = job(data, user)
    give(result.output, 0)
    done = cells.hotcell("workspace", "commit", str(result.output))
    assert done.returncode == 65 and "another user ran the job" in done.stderr and (data / "words.txt").read_text() == "words", done


def test_results_that_others_may_write_to_are_refused(user, data):
    result = job(data, user)
    before = tree(data)
    listed = result.output / (result.manifest["dirs"][0]["changes"]["directory"] + ".json")
    for path in (result.output, result.output / "manifest.json", listed):
        mode = path.stat().st_mode & 0o777
        for more in (0o020, 0o002):
            path.chmod(mode | more)
            done = workspace(result, "commit", user=user)
            assert done.returncode == 65 and f"{path}: other users may write to it" in done.stderr and "chmod go-w" in done.stderr, done
        path.chmod(mode)
    assert tree(data) == before
    assert workspace(result, "commit", user=user).returncode == 0


def test_a_seal_is_for_one_list_and_one_directory(user, data):
    result = job(data, user)
    text = (result.output / "manifest.json").read_text()
    other = data.parent / "other"
    shutil.copytree(data, other)
    give(other, user.uid)
    before = tree(other)
    (result.output / "manifest.json").write_text(text.replace(f'"{data}"', f'"{other}"'))
    done = workspace(result, "commit", user=user)
    assert done.returncode == 65 and "the manifest is forged" in done.stderr, done
    (result.output / "manifest.json").write_text(text.replace(f'"{data}"', '"/proc"'))
    done = workspace(result, "commit", user=user)
    assert done.returncode == 65 and "/proc is, holds or lies in /proc, the kernel's own" in done.stderr, done
    (result.output / "manifest.json").write_text(text)
    data.rename(data.parent / "aside")
    other.rename(data)
    done = workspace(result, "commit", user=user)
    assert done.returncode == 65 and "the directory is another one now" in done.stderr and tree(data) == before, done
    shutil.rmtree(data)
    (data.parent / "aside").rename(data)
    assert workspace(result, "commit", user=user).returncode == 0


def test_the_key_of_seals_is_for_its_user_alone_and_no_cell_gets_it(data):
    user = cells.ordinary()
    shared = cells.new_directory(cells.caller())
    if cells.IS_ROOT:
        give(data, user.uid)
    for env, place in (({}, user.home / "data" / "hotcell"), ({"HOTCELL_STATE": str(shared)}, user.home / "data" / "hotcell")):
        result = cells.run("open('new', 'w').write('new')", "--guard=off", "--dir", f"{data}:/work:cow", "--workdir=/work", user=user, env=env)
        assert result.status == 0 and not result.manifest["warnings"], result
        key = place / "changes.key"
        assert (key.stat().st_uid, key.stat().st_mode & 0o777, key.stat().st_size) == (user.uid, 0o600, 32)
        refused = cells.run("print(1)", "--dir", f"{place}:/work", user=user, env=env)
        assert refused.status == 65 and "hotcell's own state" in refused.stderr, refused
        if not cells.IS_ROOT:
            break
    key.chmod(0o644)
    done = workspace(result, "commit", user=user)
    assert done.returncode == 65 and "has no seal of yours" in done.stderr and not (data / "new").exists(), done
    key.chmod(0o600)
    assert workspace(result, "commit", user=user).returncode == 0 and (data / "new").read_text() == "new"


def test_unkept_changes_stop_a_commit_unless_asked(user, data):
    result = job(data, user, "import os\nopen('a', 'w').write('a'); open('words.txt', 'a').write('!')\nos.truncate('kept', 60 << 20); os.truncate('from', 60 << 20)",
                 "--output-size=64M")
    skipped = result.manifest["dirs"][0]["changes"]["skipped"]["entries"]
    assert len(skipped) == 1, skipped
    done = workspace(result, "commit", user=user)
    assert done.returncode == 65 and "could not be kept" in done.stderr and not (data / "a").exists(), done
    assert workspace(result, "commit", "--partial", user=user).returncode == 0
    assert (data / "a").read_text() == "a" and (data / "words.txt").read_text() == "words!"
    assert (data / skipped[0]["path"]).stat().st_size < 10


def test_long_names_do_not_fill_the_launchers_memory(user, data):
    """Paths of 3500 bytes that are not text, of which a list would take 74 MB if all were listed."""
    result = job(data, user, r"""
import os
name = b"\xff" * 250
for _ in range(13):
    os.mkdir(name)
    os.chdir(name)
for i in range(1500):
    os.close(os.open(b"\xfe" * 200 + b"%07d" % i, os.O_CREAT | os.O_WRONLY))
""", "--output-files=3000")
    changes = result.manifest["dirs"][0]["changes"]
    listed = result.output / (changes["directory"] + ".json")
    skipped = changes["skipped"]
    assert 100 < changes["added"] < 1500 and changes["added"] + len(skipped["entries"]) + skipped["more"] == 1513
    assert listed.stat().st_size < 12 << 20 and skipped["entries"][0]["reason"] == "the paths of all changes are longer than 8 MiB"
    done = workspace(result, "commit", user=user)
    assert done.returncode == 65 and "could not be kept" in done.stderr, done.stderr[:500]


def test_set_user_id_is_not_kept_and_foreign_files_keep_their_owner(data):
    cells.need_root()
    os.chown(data / "words.txt", 4711, 4711)
    (data / "kept").chmod(0o4755)
    for entry in (data, data / "below", data / "kept"):
        os.chown(entry, 4711, 4711)
    (data / "kept").chmod(0o4755)
    result = job(data, None, "open('words.txt', 'w').write('W'); open('kept', 'w').write('evil'); open('below/n', 'w').write('n')")
    done = workspace(result, "commit")
    assert done.returncode == 0, done
    assert (data / "words.txt").stat().st_uid == 4711 and (data / "kept").stat().st_mode & 0o7777 == 0o755
    assert (data / "below" / "n").stat().st_uid == os.getuid()
    user = cells.ordinary()
    (data / "words.txt").chmod(0o666)
    data.chmod(0o777)
    result = job(data, user, "open('words.txt', 'w').write('W2')")
    clash(workspace(result, "commit", user=user), "it belongs to another user")


def many(data, user, count):
    for i in range(count):
        (data / f"f{i}").write_text("old")
        os.chown(data / f"f{i}", user.uid, user.uid)
    return job(data, user, f"for i in range({count}):\n    open(f'f{{i}}', 'w').write('new!')\nfor i in range({count}):\n    open(f'n{{i}}', 'w').write('new!')",
               "--output-files=10000")


def test_a_killed_commit_leaves_each_file_old_or_new(user, data):
    count = 400
    result = many(data, user, count)
    started = time.monotonic()
    assert workspace(result, "commit", "--dry-run", user=user).returncode == 0
    whole = time.monotonic() - started
    for step in range(14):
        commit = subprocess.Popen([cells.HOTCELL, "workspace", "commit", str(result.output)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, env=user.environment(), **user.popen_arguments())
        with contextlib.suppress(subprocess.TimeoutExpired):
            commit.wait(whole * (0.5 + step / 4))
        commit.kill()
        commit.communicate()
        for i in range(count):
            assert (data / f"f{i}").read_text() in ("old", "new!")
            if (data / f"n{i}").exists():
                assert (data / f"n{i}").read_text() == "new!"
    assert workspace(result, "commit", user=user).returncode == 0
    assert {(data / f"{letter}{i}").read_text() for letter in "fn" for i in range(count)} == {"new!"}
    assert not [name for name in os.listdir(data) if name.startswith(".hotcell")]


def test_a_file_that_is_changed_during_a_commit_is_not_lost(user, data):
    """Somebody writes into the directory all the time: what is there in the end is what the writer or the program wrote last."""
    result = many(data, user, 200)
    over = threading.Event()
    written = {}

    def write():
        while not over.is_set():
            for i in range(0, 200, 7):
                (data / "aside").write_text(f"theirs {i}")
                os.rename(data / "aside", data / f"f{i}")
                written[i] = True

    thread = threading.Thread(target=write)
    before = workspace(result, "commit", "--dry-run", user=user)
    assert before.returncode == 0
    thread.start()
    try:
        done = [workspace(result, "commit", user=user) for _ in range(5)]
    finally:
        over.set()
        thread.join()
    assert all(one.returncode == 1 for one in done), done
    for i in written:
        assert (data / f"f{i}").read_text() == f"theirs {i}"


def test_one_commit_at_a_time(user, data):
    result = job(data, user)
    fd = os.open(data, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    done = workspace(result, "commit", user=user)
    os.close(fd)
    assert done.returncode == 65 and "somebody else holds a lock" in done.stderr


def test_odd_names_and_kinds_are_applied(user, data):
    odd = os.fsencode(data) + b"/\xff\n"
    with open(odd, "w", encoding="utf-8") as file:
        file.write("odd")
    os.chown(odd, user.uid, user.uid)
    result = job(data, user, r"""
import os, shutil
open(b"\xff\n", "w").write("changed"); open(b"\xfe\x1b[31m", "w").write("new")
shutil.rmtree("gone"); open("gone", "w").write("a file now")
os.unlink("kept"); os.mkdir("kept"); open("kept/in", "w").write("in")
os.mkdir("shut"); open("shut/in", "w").write("s"); os.chmod("shut", 0o500)
""")
    shown = workspace(result, "diff", user=user).stdout
    assert "\x1b" not in shown and "\\xff\\x0a" in shown, shown
    done = workspace(result, "commit", user=user)
    assert done.returncode == 0, done
    with open(odd, encoding="utf-8") as file:
        assert file.read() == "changed"
    assert (data / "gone").read_text() == "a file now" and (data / "kept" / "in").read_text() == "in"
    assert (data / "shut" / "in").read_text() == "s" and (data / "shut").stat().st_mode & 0o777 == 0o500
    (data / "shut").chmod(0o700)


def test_wrong_use_gets_one_line(user, data):
    for arguments, status, text in (((), 64, "expected diff, commit or discard"), (("apply", "x"), 64, "got 'apply'"), (("diff",), 64, "expected one"),
                                    (("diff", "--dry-run", "x"), 64, "unknown option"), (("commit", "--force", "x"), 64, "unknown option"),
                                    (("diff", "/nowhere"), 65, "No such file"), (("diff", str(data)), 65, "manifest.json")):
        done = cells.hotcell("workspace", *arguments, user=user)
        assert done.returncode == status and text in done.stderr.splitlines()[0], done
    plain = cells.run("print(1)", user=user)
    assert "had no copy" in workspace(plain, "diff", user=user).stderr
    assert "usage: hotcell workspace" in cells.hotcell("workspace", "--help", user=user).stdout
