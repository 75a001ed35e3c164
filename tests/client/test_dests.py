"""ok_dests: directories of the caller's, in which code that runs in a cell changes files as it would outside of one."""

import asyncio
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import cells
import pytest
from runners import PACKAGE, fresh, run  # noqa: F401

from hotcell import JobError
from hotcell.adapters import allow as registry
from hotcell.adapters import RunPython, changes, dests, notebook
from hotcell.adapters.dests import DestsError

FILES = 1000


def tree_of(root):
    """All that is in a directory: kinds, modes, contents, targets, and which paths are one file."""
    found, first = {}, {}
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            path = os.path.join(folder, name)
            state = os.lstat(path)
            what = {"mode": oct(state.st_mode)}
            if stat.S_ISREG(state.st_mode):
                what["content"] = Path(path).read_bytes()
            if stat.S_ISLNK(state.st_mode):
                what["target"] = os.readlink(path)
            elif not stat.S_ISDIR(state.st_mode):
                what["same as"] = first.setdefault(state.st_ino, os.path.relpath(path, root))
            found[os.path.relpath(path, root)] = what
    for path, what in found.items():  # by the least path, whatever the order of the walk
        if "same as" in what:
            what["same as"] = min(other for other in found if found[other].get("same as") == what["same as"])
    return found


def fill(root, count=FILES):
    for number in range(count):
        path = root / f"d{number % 10}" / f"{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{number}\n" * (number % 7))
        if number % 50 == 0:
            os.link(path, root / f"other{number}")
        if number % 70 == 0:
            (root / f"link{number}").symlink_to(path.relative_to(root))
        path.chmod([0o644, 0o600, 0o755][number % 3])


OPERATIONS = {
    "append": "open(a, 'a').write('more')",
    "exclusive": "open(a, 'x').write('new')",
    "write": "open(a, 'w').write('instead')",
    "inside": "with open(a, 'r+') as f:\n    f.seek(3)\n    f.write('###')",
    "rename": "os.rename(a, b)",
    "replace": "Path(a).replace(b)",
    "unlink": "os.unlink(a)",
    "link": "os.link(a, b)",
    "symlink": "os.symlink(os.path.basename(a), b)",
    "truncate": "os.truncate(a, 2)",
    "longer": "os.truncate(a, 100000)",
    "mkdir": "os.mkdir(d)",
    "rmdir": "os.rmdir(d)",
    "move": "shutil.move(a, d)",
    "rename directory": "os.rename(d, e)",
    "remove directory": "shutil.rmtree(d)",
    "copy": "shutil.copy(a, b)",
    "chmod": "os.chmod(a, 0o640)",
    "touch": "Path(a).touch()",
}


OF_PANDAS = {
    "to_csv": "pd.DataFrame({'n': [1, 2], 't': ['ä', None]}).to_csv(a, index=False)",
    "to_csv at the end": "pd.DataFrame({'n': [3]}).to_csv(a, mode='a', header=False)",
    "to_csv anew": "pd.Series([1.5]).to_csv(a, mode='x')",
    "to_json": "pd.DataFrame({'n': [1, 2]}).to_json(a, orient='records', lines=True)",
    "open file": "with open(a, 'a') as f:\n    pd.DataFrame({'n': [4]}).to_csv(f)",
    "read and write": "pd.read_csv(a, header=None, names=['n']).to_csv(b)",
}


def sequence(chance, count, stop, operations=OPERATIONS, end="1 / 0"):
    """The source of a program that does `count` things to files, and ends after `stop` of them by the statement `end`."""
    names = [f"d{n % 10}/{n}.txt" for n in range(0, FILES, 9)] + [f"new{n}" for n in range(5)] + [f"d{n}/new" for n in range(3)]
    names += [f"other{n}" for n in range(0, FILES, 50)] + [f"link{n}" for n in range(0, FILES, 70)]
    folders = [f"d{n}" for n in range(10)] + ["e0", "e1", "d1/in", "e0/in"]
    lines = ["import os, shutil", "from pathlib import Path", "said = []"]
    errors = "(OSError, shutil.Error)"
    if operations is not OPERATIONS:
        lines.append("import pandas as pd")
        errors = "(OSError, shutil.Error, ValueError)"  # pandas cannot read what it is given
    for number in range(count):
        what = chance.choice(list(operations))
        a, b, d, e = chance.choice(names), chance.choice(names), chance.choice(folders), chance.choice(folders)
        lines.append(f"a, b, d, e = {a!r}, {b!r}, {d!r}, {e!r}")
        lines += ["try:", textwrap.indent(operations[what], "    "), f"except {errors} as error:",
                  f"    said.append(({number}, type(error).__name__, getattr(error, 'errno', None)))"]
        if number == stop:
            lines.append(end)
    return "\n".join([*lines, "said"])


def outside(code, root):
    """Run a program in a plain Python, in a directory. Returns its last value, None if an exception ended it."""
    body, last = code.rsplit("\n", 1)
    done = subprocess.run([sys.executable, "-c", f"{body}\nprint(repr({last}))"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "ZeroDivisionError" in done.stderr, done.stderr
    return eval(done.stdout) if done.returncode == 0 else None


def both(tmp_path):
    """Two directories with the same files: one for code in a cell, one for code outside."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    fill(here)
    shutil.copytree(here, there, symlinks=True)
    for number in range(0, FILES, 50):  # copytree makes two files of one
        (there / f"other{number}").unlink()
        os.link(there / f"d{number % 10}" / f"{number}.txt", there / f"other{number}")
    assert tree_of(here) == tree_of(there)
    return here, there


@pytest.mark.parametrize("seed", range(6))
def test_any_sequence_leaves_what_it_leaves_outside(seed, tmp_path, monkeypatch):
    chance = random.Random(seed)
    here, there = both(tmp_path)
    monkeypatch.chdir(here)
    for _ in range(2):  # the second one finds what the first has left
        stop = chance.choice([None, None, chance.randrange(200)])
        code = sequence(chance, 200, stop)
        expected = outside(code, there)
        if stop is None:
            assert run(code, ok_dests=["."]) == expected
        else:
            with pytest.raises(ZeroDivisionError):
                run(code, ok_dests=["."])
        assert tree_of(here) == tree_of(there)


@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_with_writes_by_pandas_does_too(seed, tmp_path, monkeypatch, scientific):
    cells.need_module("pandas")
    chance = random.Random(100 + seed)
    here, there = both(tmp_path)
    monkeypatch.chdir(here)
    stop = chance.choice([None, chance.randrange(150)])
    code = sequence(chance, 150, stop, {**OPERATIONS, **OF_PANDAS, **{f"{name} again": what for name, what in OF_PANDAS.items()}})
    expected = outside(code, there)
    limits = {"tree": "scientific", "timeout": 60 * cells.SLOWNESS, "memory": "1G"}
    if stop is None:
        assert run(code, ok_dests=["."], **limits) == expected
    else:
        with pytest.raises(ZeroDivisionError):
            run(code, ok_dests=["."], **limits)
    assert tree_of(here) == tree_of(there)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("way", ["killed", "cancelled", "timeout"])
def test_a_sequence_that_is_interrupted_at_any_point_leaves_all_or_nothing(way, seed, tmp_path, monkeypatch):
    """Killed or cancelled, nothing was applied; at the end of its time, what the code has done until then is."""
    chance = random.Random(200 + seed)
    here, there = both(tmp_path)
    monkeypatch.chdir(here)
    before, stop, place = tree_of(here), chance.randrange(200), random.Random(300 + seed)
    wait = "open('waits', 'w').close()\nwhile True: pass"
    code = sequence(place, 200, stop, end="import signal; os.kill(os.getpid(), signal.SIGKILL)" if way == "killed" else wait)
    if way == "killed":
        with pytest.raises(JobError), pytest.warns(UserWarning, match="they stay as they were"):
            run(code, ok_dests=["."], policy="none")
    elif way == "cancelled":
        async def cancelled():
            await asyncio.wait_for(RunPython(g={}, tree="base", ok_dests=["."])(code), 2 * cells.SLOWNESS)
        with pytest.raises(asyncio.TimeoutError):
            asyncio.run(cancelled())
    else:
        with pytest.raises(TimeoutError):
            run(code, ok_dests=["."], timeout=3 * cells.SLOWNESS)
        assert outside(code.replace("while True: pass", "1 / 0"), there) is None
        assert before != tree_of(here) == tree_of(there)
        return
    assert tree_of(here) == before


def test_appending_and_making_anew_keep_what_was_there(tmp_path):
    (tmp_path / "notes").write_text("old\n")
    run("open('notes', 'a').write('new\\n')", ok_dests=["."])
    assert (tmp_path / "notes").read_text() == "old\nnew\n"
    with pytest.raises(FileExistsError):
        run("open('notes', 'x').write('other')", ok_dests=["."])
    assert (tmp_path / "notes").read_text() == "old\nnew\n"


def test_directories_are_seen_at_their_own_path(tmp_path, monkeypatch):
    for name in ("one", "two", "elsewhere/below"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x").write_text(name)
    monkeypatch.chdir(tmp_path / "elsewhere/below")
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    code = f"""
import os, shutil
from pathlib import Path
shutil.copy(Path({one!r}) / "x", {two!r} + "/y")
Path({one!r}, "x").unlink()
[os.getcwd(), Path("x").read_text(), os.listdir({one!r}), sorted(os.listdir({two!r})), str(Path({two!r}).resolve())]
"""
    assert run(code, ok_dests=[one, two, "../../elsewhere"]) == [os.getcwd(), "elsewhere/below", [], ["x", "y"], two]
    assert not (tmp_path / "one/x").exists() and (tmp_path / "two/y").read_text() == "one"


def test_paths_are_relative_to_the_callers_directory_if_that_holds_one(tmp_path, monkeypatch):
    """Of the current directory itself the code sees nothing else, and writes nowhere else in it."""
    (tmp_path / "out/deep").mkdir(parents=True)
    (tmp_path / "out/log").write_text("1")
    (tmp_path / "secret").write_text("secret")
    monkeypatch.chdir(tmp_path)
    code = "import os\nopen('out/log', 'a').write('2')\nopen('out/deep/x', 'w').write('x')\n[os.getcwd(), os.listdir('.'), open('./out/log').read()]"
    assert run(code, ok_dests=["out"]) == [str(tmp_path), ["out"], "12"]
    assert (tmp_path / "out/log").read_text() == "12" and (tmp_path / "out/deep/x").read_text() == "x"
    for path in ("other", "out/../other", str(tmp_path / "other")):
        with pytest.raises(PermissionError, match="not allowed; permitted: \\['out'\\]"):
            run(f"open({path!r}, 'w')", ok_dests=["out"])
    with pytest.raises(FileNotFoundError):
        run("open('secret')", ok_dests=["out"])
    assert sorted(os.listdir(tmp_path)) == ["out", "secret"]


def test_a_directory_that_is_not_there_yet_is_made(tmp_path):
    with pytest.warns(UserWarning, match="there is no directory .*/new/one"):  # it may be misspelt
        run("1", ok_dests=["new/one"])
    assert not (tmp_path / "new").exists()
    run(f"open({str(tmp_path / 'new/one/x')!r}, 'w').write('1')", ok_dests=["new/one"])
    assert (tmp_path / "new/one/x").read_text() == "1"


def test_new_files_get_the_callers_umask(tmp_path):
    before = os.umask(0o027)
    try:
        run("open('x', 'w')\nimport os\nos.mkdir('d')", ok_dests=["."])
    finally:
        os.umask(before)
    assert oct((tmp_path / "x").stat().st_mode) == "0o100640" and oct((tmp_path / "d").stat().st_mode) == "0o40750"


def test_writes_through_a_mapping_come_out(tmp_path, scientific):
    import numpy
    numpy.save(tmp_path / "x.npy", numpy.arange(1000))
    run("import numpy\na = numpy.load('x.npy', mmap_mode='r+')\nnumpy.put(a, [5], 77)\na.flush()", ok_dests=["."], tree="scientific")
    assert numpy.load(tmp_path / "x.npy")[5] == 77


def test_libraries_write_where_they_would(tmp_path, scientific):
    code = """
import pandas as pd
import matplotlib.pyplot as plt
for n in range(3):
    pd.DataFrame({'n': [n]}).to_csv('out/all.csv', mode='a', header=n == 0, index=False)
pd.DataFrame({'n': [1]}).to_json('out/x.json')
plt.plot([1, 2])
plt.savefig('out/figure.png')
try:
    pd.DataFrame({'n': [1]}).to_csv('../elsewhere.csv')
except PermissionError as error:
    print(error)
pd.read_csv('out/all.csv').n.tolist()
"""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/all.csv").write_text("n\n7\n")
    assert run(code.replace("header=n == 0", "header=False"), ok_dests=["."], tree="scientific") == [7, 0, 1, 2]
    assert sorted(os.listdir(tmp_path / "out")) == ["all.csv", "figure.png", "x.json"] and not (tmp_path.parent / "elsewhere.csv").exists()
    assert (tmp_path / "out/all.csv").read_text() == "n\n7\n0\n1\n2\n" and (tmp_path / "out/figure.png").read_bytes().startswith(b"\x89PNG")


def test_files_in_tmp_come_out_and_are_seen_again():
    name = f"/tmp/of-a-test-{os.getpid()}"
    try:
        for expected in ("ab", "abab"):
            assert run(f"f = open({name!r}, 'a')\nf.write('ab')\nf.close()\nopen({name!r}).read()", ok_dests=["/tmp"]) == expected
        assert Path(name).read_text() == "abab"
        run(f"import os\nos.unlink({name!r})", ok_dests=None)
        assert not Path(name).exists()
    finally:
        Path(name).unlink(missing_ok=True)


def test_large_files_can_be_read_and_renamed_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(dests, "MOST_COPIED", 1000)
    (tmp_path / "large").write_bytes(b"x" * 2000)
    (tmp_path / "small").write_bytes(b"y" * 900)
    inode = (tmp_path / "large").stat().st_ino
    code = "import os\nos.rename('large', 'moved')\nopen('small', 'a').write('z')\nlen(open('moved').read())"
    assert run(code, ok_dests=["."]) == 2000
    assert (tmp_path / "moved").stat().st_ino == inode and (tmp_path / "small").stat().st_size == 901
    with pytest.raises((PermissionError, OSError)):
        run("open('moved', 'a')", ok_dests=["."])
    assert (tmp_path / "moved").read_bytes() == b"x" * 2000


def test_a_file_that_is_changed_outside_meanwhile_is_not_lost(tmp_path):
    (tmp_path / "log").write_text("old")

    def note(): (tmp_path / "log").write_text("changed by the caller")
    registry.allow(note)
    with pytest.raises(DestsError, match="changed outside"):
        run("note()\nopen('log', 'a').write('x')\nopen('more', 'w').write('y')", {"note": note}, ok_dests=["."])
    assert (tmp_path / "log").read_text() == "changed by the caller" and not (tmp_path / "more").exists()
    run("note()\nopen('more', 'w').write('y')", {"note": note}, ok_dests=["."])
    assert (tmp_path / "more").read_text() == "y"


def test_a_run_that_is_killed_changes_nothing_and_one_that_times_out_what_it_did_until_then(tmp_path):
    fill(tmp_path, 50)
    before = tree_of(tmp_path)
    with pytest.raises(JobError), pytest.warns(UserWarning, match="they stay as they were"):
        run("import os, shutil, signal\nshutil.rmtree('d1')\nos.kill(os.getpid(), signal.SIGKILL)", ok_dests=["."], policy="none")
    assert tree_of(tmp_path) == before
    with pytest.raises(TimeoutError):
        run("import shutil\nshutil.rmtree('d1')\nwhile True: pass\nshutil.rmtree('d2')", ok_dests=["."], timeout="1s")
    assert tree_of(tmp_path) == {path: what for path, what in before.items() if not path.startswith("d1")}


# ---- a client that is killed ----

CHANGING = ("mkdir", "rename", "unlink", "rmdir", "link", "symlink", "chmod", "fchmod", "utime", "pwrite", "fsync", "ftruncate", "open")


class Killed:
    """Counts the calls that change files, and kills the process before the one with the given number."""

    def __init__(self, at, monkeypatch):
        self.left = at
        for name in CHANGING:
            monkeypatch.setattr(os, name, self.counted(getattr(os, name)))

    def counted(self, call):
        def wrapper(*args, **kwargs):
            self.left -= 1
            if self.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **kwargs)
        return wrapper


def changes_for_test(root):
    """Renamed, replaced, removed and new files and directories, one become the other; as a cell would tell them."""
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    (root / "gone").mkdir()
    (root / "gone/x").write_text("x")
    (root / "turns").mkdir()
    (root / "turns/x").write_text("x")
    (root / "file").write_text("becomes a directory")
    rows = [{"path": "a", "kind": "moved", "old": "b", "mode": 0o644, "mtime": 0}, {"path": "b", "kind": "moved", "old": "a", "mode": 0o600, "mtime": 0},
            {"path": "file", "kind": "dir", "mode": 0o750, "mtime": 0},
            {"path": "file/y", "kind": "file", "size": 5, "parts": [[0, 5, 0]], "mode": 0o640, "mtime": 10**18},
            {"path": "link", "kind": "symlink", "target": "file/y", "mode": 0o777, "mtime": 0},
            {"path": "other", "kind": "link", "to": "file/y", "mode": 0o640, "mtime": 0},
            {"path": "turns", "kind": "moved", "old": "turns/x", "mode": 0o644, "mtime": 0}]
    return rows


def apply(root, rows, content=b"hello", monkeypatch=None, at=None):
    output = root.parent / "output"
    output.mkdir(exist_ok=True)
    given = dests.Dests([str(root)])
    (output / dests.FILES[0]).write_text(json.dumps({"places": [rows]}))
    (output / dests.FILES[1]).write_bytes(content)
    with given:
        if at is not None:
            Killed(at, monkeypatch)
        given.apply(output, 1 << 28)


def test_a_client_that_is_killed_has_not_begun_or_is_finished_by_the_next(tmp_path, monkeypatch):
    root = tmp_path / "root"
    root.mkdir()
    rows = changes_for_test(root)
    (tmp_path / "staging").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "staging"))  # where killed clients leave theirs
    before, old = tree_of(root), tmp_path / "old"
    shutil.copytree(root, old, symlinks=True)
    apply(root, rows)
    after = tree_of(root)
    assert after["turns"]["content"] == b"x" and after["a"]["content"] == b"b" and after["file/y"]["content"] == b"hello"
    outcomes = []
    for at in range(1000):
        shutil.rmtree(root)
        shutil.copytree(old, root, symlinks=True)
        child = os.fork()
        if child == 0:
            with monkeypatch.context() as patch:
                apply(root, rows, monkeypatch=patch, at=at)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        with dests.Dests([str(root)]):
            pass
        found = tree_of(root)
        assert found in (before, after), at
        outcomes.append(found == after)
        if status == 0:
            break
        assert os.WIFSIGNALED(status)
    assert 30 < len(outcomes) < 999 and outcomes == sorted(outcomes) and outcomes.count(True) > 15


# ---- hostile cells ----

FORGE = """
import json, os
rows = {rows!r}
with open("/output/hotcell-dests.json", "w") as file:
    json.dump({{"places": [rows]}}, file)
with open("/output/hotcell-dests.bin", "w") as file:
    file.write("hello")
os._exit(0)
"""


def told(path, **row):
    return [{"path": path, "kind": "file", "size": 5, "parts": [[0, 5, 0]], "mode": 0o644, "mtime": 0, **row}]


def forge(rows):
    return run(FORGE.format(rows=rows), ok_dests=["."], policy="none")


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A directory to work in, beside a file that is none of the code's business, with links that lead there."""
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/file").write_text("of the caller")
    (work / "out").symlink_to(tmp_path / "secret")
    (work / "kept").write_text("kept")
    monkeypatch.chdir(work)
    return work


KEPT = [{"path": "kept", "kind": "kept", "mode": 0o644, "mtime": 0}, {"path": "out", "kind": "kept", "mode": 0o777, "mtime": 0}]


def test_a_report_can_be_forged_and_does_no_more_than_the_code_could(work):
    with pytest.raises(JobError, match="early"):
        forge([*KEPT, *told("x", mode=0o4777)])
    assert (work / "x").read_text() == "hello" and oct((work / "x").stat().st_mode) == "0o100777"


@pytest.mark.parametrize("rows", [
    told("../secret/file"), told("/etc/x"), told("out/file"), told("a/../../x"), told("a\0b"), told(""), told("."), told("x/y"), told(None),
    told("x" * 300), told(".hotcell-changes/journal"), told(".hotcell-changes"), told("x", kind="other"), told("x", kind=[]), told("x", kind=None),
    told("x", size=-1), told("x", size=1 << 60), told("x", parts=[[0, 6, 0]]), told("x", parts=[[0, 5, 3]]), told("x", parts=[[4, 2, 0]]),
    told("x", parts=None), told("x", mode="0"), told("x", mode=1 << 20), told("x") + told("x"), told("x", kind="moved", old="../secret/file"),
    told("x", kind="moved", old="out/file"), told("x", kind="link", to="out/file"), told("x", kind="link", to="x"), told("x", kind="link", to="nowhere"),
    told("x", kind="symlink", target="/etc/passwd"), told("x", kind="symlink", target="../secret"), told("x", kind="symlink", target="out/../../secret"),
    told("x", kind="symlink", target=""), told("x", kind="symlink"), told("x", mtime=-1), "rows", [None], [[]], told("\u4e00"),
    told("x", kind="kept"), told("x") + told("y"), told("x", size=6000, parts=[[0, 4, 0], [4096, 1, 4]]), told("x", size=(1 << 28) + 1, parts=[]),
    told("x", parts=[[1, 4, 0]]), told("x", size=5000, parts=[[0, 5, 0]]),
], ids=lambda rows: json.dumps(rows)[:60])
def test_forged_reports_change_nothing(rows, work):
    before = tree_of(work.parent)
    with pytest.raises(DestsError):
        forge(rows if not isinstance(rows, list) or rows == [None] else [*KEPT, *rows])
    assert tree_of(work.parent) == before


def test_a_directory_in_place_of_a_link_does_not_lead_where_the_link_led(work):
    with pytest.raises(JobError, match="early"):
        forge([KEPT[0], {"path": "out", "kind": "dir", "mode": 0o755, "mtime": 0}, *told("out/file")])
    assert (work / "out/file").read_text() == "hello" and not (work / "out").is_symlink()
    assert (work.parent / "secret/file").read_text() == "of the caller"


def test_code_does_not_get_out_through_links(work):
    (work.parent / "secret/file").chmod(0o666)
    with pytest.raises(OSError):
        run("open('out/file', 'w').write('x')", ok_dests=["."])
    with pytest.raises(OSError):
        run("import os\nos.symlink('../secret', 'mine')", ok_dests=["."])
    with pytest.raises(DestsError, match="leads out"):
        run("import os\nos.symlink('../secret', 'mine')", ok_dests=["."], policy="none")
    with pytest.raises(DestsError, match="only files"):
        run("import os\nos.mkfifo('pipe')", ok_dests=["."], policy="none")
    assert sorted(os.listdir(work)) == ["kept", "out"] and (work.parent / "secret/file").read_text() == "of the caller"


@pytest.mark.parametrize("code", ["os.symlink('out/file', 'mine')", "os.symlink('out', 'mine')", "os.symlink(os.getcwd() + '/out/file', 'mine')",
                                  "os.symlink('mine', 'first')\nos.symlink('out', 'mine')", "os.symlink('sub', 'mine')\nos.symlink('mine/deep/file', 'last')",
                                  "os.symlink('mine/deep/file', 'last')\nos.symlink('sub', 'mine')", "os.mkdir('a')\nos.symlink('../sub/deep', 'a/last')"])
def test_a_new_link_does_not_lead_out_by_way_of_the_callers_own(work, code):
    (work / "sub").mkdir()
    (work / "sub/deep").symlink_to("../../secret")
    before = tree_of(work)
    with pytest.raises(DestsError, match="leads out of the directories"):
        run(f"import os\n{code}", ok_dests=["."], policy="none")
    assert tree_of(work) == before
    run("import os\nos.symlink('last', 'first')\nos.symlink('sub/x', 'last')\nos.symlink('sub', 'all')\nos.symlink('loop', 'loop')", ok_dests=["."])
    assert os.readlink(work / "first") == "last"


@pytest.mark.parametrize("policy", ["notebook", "none"])
@pytest.mark.parametrize("move", ["rename", "link"])
def test_a_link_does_not_lead_out_from_another_place(work, move, policy):
    """`secret/file` is in the directory as well: the link leads there from below, and out from above."""
    run("import os\nos.makedirs('a/b')\nos.symlink('../../secret/file', 'a/b/l')", ok_dests=["."])
    before = tree_of(work.parent)
    with pytest.raises(DestsError, match="leads out"):
        run(f"import os\nos.{move}('a/b/l', 'l'{', follow_symlinks=False' if move == 'link' else ''})", ok_dests=["."], policy=policy)
    assert tree_of(work.parent) == before
    run("import os\nos.makedirs('c/d')\nos.rename('a/b/l', 'c/d/l')", ok_dests=["."], policy=policy)
    assert os.readlink(work / "c/d/l") == "../../secret/file"


@pytest.mark.parametrize("rows", [
    [{"path": "l", "kind": "moved", "old": "a/l", "mode": 0o777, "mtime": 0}],
    [{"path": "a", "kind": "dir", "mode": 0o755, "mtime": 0}, {"path": "a/l", "kind": "kept", "mode": 0o777, "mtime": 0},
     {"path": "l", "kind": "link", "to": "a/l", "mode": 0o777, "mtime": 0}],
    [{"path": "a", "kind": "dir", "mode": 0o755, "mtime": 0}, {"path": "a/l", "kind": "symlink", "target": "../x", "mode": 0o777, "mtime": 0},
     {"path": "l", "kind": "link", "to": "a/l", "mode": 0o777, "mtime": 0}],
], ids=["moved", "link to kept", "link to new"])
def test_a_forged_link_does_not_lead_out_from_another_place(rows, work):
    (work / "a").mkdir(mode=0o755)
    (work / "a/l").symlink_to("../secret/file")
    before = tree_of(work.parent)
    with pytest.raises(DestsError, match="leads out"):
        apply(work, [*KEPT, *rows])
    shutil.rmtree(work.parent / "output")
    assert tree_of(work.parent) == before


def test_a_forged_report_does_not_write_the_same_bytes_again(work):
    """15 times what the cell has written, in one file or in many, and a byte in each page of a large file."""
    mega = 1 << 20
    forms = [[{"path": "x", "kind": "file", "size": 15 * mega, "parts": [[n * mega, mega, 0] for n in range(15)], "mode": 0o644, "mtime": 0}],
             [{"path": f"x{n:02}", "kind": "file", "size": mega, "parts": [[0, mega, 0]], "mode": 0o644, "mtime": 0} for n in range(15)],
             [{"path": "x", "kind": "file", "size": 15 * mega, "parts": [[n * 4096, 1, n] for n in range(15 * 256)], "mode": 0o644, "mtime": 0}],
             [{"path": "x", "kind": "file", "size": 1 << 40, "parts": [], "mode": 0o644, "mtime": 0}]]
    for rows in forms:
        with pytest.raises(DestsError, match="malformed"):
            apply(work, [*KEPT, *rows], bytes(mega))
    assert sorted(os.listdir(work)) == ["kept", "out"]


def test_a_file_that_can_have_no_other_name_is_copied_once(work, monkeypatch):
    (work / "kept").chmod(0o644)
    link = os.link

    def refuse(source, *args, **kwargs):
        if source == b"kept":
            raise PermissionError(1, "as of a file of another user's")
        link(source, *args, **kwargs)
    monkeypatch.setattr(os, "link", refuse)
    apply(work, [*KEPT, *({"path": f"x{n:02}", "kind": "link", "to": "kept", "mode": 0o644, "mtime": 0} for n in range(15))])
    assert len({(work / f"x{n:02}").stat().st_ino for n in range(15)}) == 1 and (work / "x00").read_text() == "kept"


def test_sparse_files_stay_sparse(work):
    run("import os\nf = open('large', 'wb')\nf.truncate(1 << 27)\nf.seek(1 << 26)\nf.write(b'x')\nf.close()\nos.chmod('large', 0o755)", ok_dests=["."])
    state = (work / "large").stat()
    assert state.st_size == 1 << 27 and state.st_blocks < 1000 and oct(state.st_mode) == "0o100755"


def test_what_is_no_file_stays_and_can_be_renamed(work):
    os.mkfifo(work / "pipe")
    run("import os\nos.rename('pipe', 'pipe2')", ok_dests=["."])
    assert stat.S_ISFIFO((work / "pipe2").lstat().st_mode) and not (work / "pipe").exists()


def plant(folder, name):
    """What an earlier form of this module believed: a hidden directory, with a file that is to be put beside the directory."""
    state = folder.stat()
    (folder / name).mkdir(mode=0o700)
    (folder / name / "0").write_text("planted")
    (folder / name / "journal").write_text(json.dumps({
        "root": [state.st_dev, state.st_ino], "hidden": [(folder / name).stat().st_dev, (folder / name).stat().st_ino],
        "before": {"../escaped": None, "in": None}, "away": [], "directories": [], "place": [[0, "../escaped", 0], [0, "in", 0]], "modes": [], "opened": []}))


@pytest.mark.parametrize("name", [".hotcell-changes", ".hotcell-changes-" + "0" * 32])
def test_a_hidden_directory_that_is_not_this_users_doing_is_passed_over(name, work):
    for folder in (work, work / "sub"):
        folder.mkdir(exist_ok=True)
        plant(folder, name)
    before = tree_of(work.parent)
    assert run("import os\nsorted(os.listdir('.') + os.listdir('sub'))", ok_dests=["."]) == ["kept", "out", "sub"]
    run(f"open({str(work / 'sub/new')!r}, 'w').close()", ok_dests=["sub"])
    (work / "sub/new").unlink()
    assert tree_of(work.parent) == before


@pytest.mark.parametrize("place", ["", "sub/"])
@pytest.mark.parametrize("name", [".hotcell-changes", ".hotcell-changes-" + "0" * 32])
def test_code_cannot_make_a_hidden_directory(place, name, work):
    (work / "sub").mkdir()
    before = tree_of(work.parent)
    with pytest.raises(DestsError, match="name is taken"):
        run(f"import os\nos.mkdir('{place}{name}')", ok_dests=["."])
    assert tree_of(work.parent) == before


def leave_record(work, monkeypatch, edit):
    """The record and the hidden directory of a client that was killed when its changes were decided; `edit` changes the record."""
    with monkeypatch.context() as patch:
        patch.setattr(changes, "finish", lambda root: None)
        apply(work, [*KEPT, *told("x")])
    [record] = [path for path in Path(os.environ["XDG_STATE_HOME"], "hotcell").iterdir() if path.name.startswith(changes.RECORD)]
    content = json.loads(record.read_text())
    edit(content)
    record.write_text(json.dumps(content))
    [hidden] = work.glob(".hotcell-changes-*")
    return hidden


def test_a_record_is_finished_and_its_paths_are_checked_again(work, monkeypatch):
    leave_record(work, monkeypatch, lambda record: None)
    with dests.Dests([str(work)]):
        assert (work / "x").read_text() == "hello"
    (work / "x").unlink()
    before = tree_of(work.parent)
    leave_record(work, monkeypatch, lambda record: record["place"][0].__setitem__(1, "../escaped"))
    with pytest.warns(UserWarning, match="no path below"), dests.Dests([str(work)]):
        pass
    shutil.rmtree(work.parent / "output")
    assert {path: what for path, what in tree_of(work.parent).items()} == {path: what for path, what in before.items() if not path.startswith("output")}


def test_another_directory_in_the_place_of_a_hidden_one_is_left_alone(work, monkeypatch):
    hidden = leave_record(work, monkeypatch, lambda record: None)
    hidden.rename(work / "moved")
    (work / "of the caller").mkdir(mode=0o700)
    (work / "of the caller/0").write_text("kept")
    (work / "of the caller").rename(hidden)  # as another user can who may write to the directory
    with dests.Dests([str(work)]):
        pass
    assert (hidden / "0").read_text() == "kept" and not (work / "x").exists()


def test_the_users_own_state_is_not_the_codes(work, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(work / "state"))
    code = "import os\nopen('x', 'w').close()\ntry:\n    os.chmod('state/hotcell', 0o700)\nexcept OSError:\n    pass\n"
    assert run(code + "os.listdir('state/hotcell')", ok_dests=["."]) == []
    before = tree_of(work)
    with pytest.raises((OSError, DestsError)):
        run(code + "open('state/hotcell/changes-1-1-0', 'w').close()\nos.rename('state', 'other')", ok_dests=["."])
    assert tree_of(work) == before


def hold(path):
    """Start a process that has a lock of a directory's descriptor, as every user can who may open it, until its stdin ends."""
    code = "import fcntl, os, sys\nfd = os.open(sys.argv[1], os.O_RDONLY)\nfcntl.flock(fd, fcntl.LOCK_EX)\nprint(flush=True)\nsys.stdin.read()"
    other = subprocess.Popen([sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    return other


def test_a_lock_of_another_users_stops_nobody(work):
    with hold(work) as other:
        run("open('x', 'w').close()", ok_dests=["."])
        other.stdin.close()
    assert (work / "x").exists()


def test_a_process_of_the_users_own_is_waited_for_and_named(work, monkeypatch):
    monkeypatch.setattr(changes, "LOCK_SECONDS", 0)
    fd = changes.open_root(work)
    try:
        with changes.locked(fd):
            with pytest.raises(DestsError, match="another process of this user has been changing the directory"):
                run("1", ok_dests=["."])
            assert run("2", ok_dests=[str(work.parent / "secret")]) == 2
        assert run("3", ok_dests=["."]) == 3
    finally:
        os.close(fd)


# ---- rules beside ok_dests ----

def test_the_working_directory_is_one_that_code_may_write_to(work):
    (work / "in").mkdir()
    assert run("import os\nos.chdir('in')\nopen('x', 'w').close()\nos.getcwd()", ok_dests=["."]) == str(work / "in")
    for code in ("os.chdir('/etc')", "os.chdir('..')", "os.fchdir(os.open('/etc', os.O_RDONLY))", "os.chdir('out')"):
        with pytest.raises(OSError, match="not allowed|No such file"):
            run(f"import os\n{code}", ok_dests=["."])
    assert (work / "in/x").exists()


def test_a_refusal_that_is_wrapped_is_raised_as_itself():
    wrapped = "try:\n    open('/etc/x', 'w')\nexcept PermissionError as error:\n    raise RuntimeError('wrapped') from error"
    with pytest.raises(PermissionError, match="Dest '/etc/x' not allowed") as caught:
        run(wrapped, ok_dests=["."])
    assert "RuntimeError: wrapped" in caught.value.cell_traceback
    with pytest.raises(RuntimeError, match="other"):  # an error of its own, in the handling of a refusal
        run(wrapped.replace("RuntimeError('wrapped') from error", "RuntimeError('other')"), ok_dests=["."])
    with pytest.raises(RuntimeError, match="wrapped"):  # nothing was refused
        run("try:\n    raise PermissionError('mine')\nexcept PermissionError as error:\n    raise RuntimeError('wrapped') from error")


def test_writers_of_the_callers_frames_go_below_the_destinations(work):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": [1, 2]})
    g = {"save": frame.to_csv, "query": frame.query}
    notebook.allow_pandas()
    run("save('x.csv', index=False)", g, ok_dests=["."])
    assert (work / "x.csv").read_text() == "n\n1\n2\n" and run("save(index=False)", g) == "n\n1\n2\n"
    for dest in ("/etc/x.csv", "../x.csv", "out/x.csv", f"file://{work.parent}/x.csv", "s3://x/y", f"local://{work.parent}/x.csv"):
        with pytest.raises(PermissionError, match="not allowed"):
            run(f"save({dest!r})", g, ok_dests=["."])
        with pytest.raises(PermissionError, match="not allowed"):
            run(f"save(path_or_buf={dest!r})", g, ok_dests=["."])
    with pytest.raises(Exception, match="cannot be sent|query"):
        run("query('n > 1')", g, ok_dests=["."])
    assert sorted(os.listdir(work.parent)) == ["secret", "work"] and os.listdir(work.parent / "secret") == ["file"]


def test_what_the_caller_allows_of_files_is_done_where_the_code_sees_it(work):
    """Path's methods and shutil's functions ask their policies, and work on what the code has made in this run."""
    class Texts(registry.AllowPolicy):
        def __call__(self, obj, args, kwargs, ok_dests):
            notebook.chk_dest(obj, ok_dests)
            if obj.suffix == ".sh":
                raise PermissionError(f"{obj} is no text")
    registry.allow({Path: [("write_text", Texts()), "rename", "read_text"], shutil: [("copy", registry.PosAllowPolicy(1, "dst"))]})
    g = {"Path": Path, "shutil": shutil}
    code = """
import os
open('made', 'w').write('a')
shutil.copy('made', 'copied')
Path('copied').write_text('bc')
os.mkdir('in')
os.chdir('in')
Path('x').write_text('def')
Path('x').rename('y')
[Path('y').read_text(), open('../copied').read(), os.listdir('.')]
"""
    assert run(code, g, ok_dests=["."]) == ["def", "bc", ["y"]]
    assert (work / "copied").read_text() == "bc" and (work / "in/y").read_text() == "def" and (work / "made").read_text() == "a"
    before = tree_of(work.parent)
    for refused in ("Path('x.sh').write_text('x')", "Path('../x').write_text('x')", "Path('out/file').write_text('x')",
                    "shutil.copy('made', '../x')", "shutil.copy('made', 'out/x')"):
        with pytest.raises(PermissionError, match="not allowed|no text"):
            run(refused, g, ok_dests=["."])
    assert tree_of(work.parent) == before


# ---- as an ordinary user ----

OF_A_USER = """
import asyncio, json, os, sys
from hotcell.adapters import RunPython
for name, mode in (("ro", 0o444), ("none", 0)):
    open(name, "w").write("old")
    os.chmod(name, mode)
os.mkdir("rodir")
open("rodir/x", "w").write("x")
os.chmod("rodir", 0o555)
said = []
for code in json.loads(sys.argv[2]):
    try:
        asyncio.run(RunPython(g={}, tree=sys.argv[1], ok_dests=["."])("import os\\n" + code))
        said.append(None)
    except OSError as error:
        said.append(str(error))
print(json.dumps(said))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make links of another user's")
@pytest.mark.parametrize("rest", ["", "/below"])
def test_a_link_of_another_user_on_the_way_is_refused(work, rest):
    (work.parent / "secret/below").mkdir()
    link = work / "foreign"
    link.symlink_to(work.parent / "secret")
    assert run("1", ok_dests=[f"{link}{rest}"]) == 1  # root's own
    os.lchown(link, 65534, 65534)
    before = tree_of(work.parent)
    with pytest.raises(DestsError, match="symbolic link of another user .uid 65534"):
        run(f"open({str(work.parent / 'secret/below/x')!r}, 'w').close()", ok_dests=[f"{link}{rest}"])
    assert tree_of(work.parent) == before


@pytest.mark.parametrize("path", [".", "..", "/tmp/../etc", "a/../b", "out", "out/..", "out/x/y", "kept", "no/such/../x", "//etc//", "loop"])
def test_paths_without_links_are_those_of_realpath(path, work):
    (work / "a").mkdir()
    if path == "loop":
        (work / "loop").symlink_to("loop")
        with pytest.raises(DestsError, match="Too many levels"):
            dests._real_path(path)
    else:
        assert dests._real_path(path) == os.path.realpath(path)


def test_a_directory_that_is_exchanged_for_a_link_is_not_followed(work):
    (work / "in/dir").mkdir(parents=True)
    (work / "in").rename(work / "moved")
    (work / "in").symlink_to("moved")
    for make in (False, True):
        with pytest.raises(NotADirectoryError):
            changes.open_root(work / "in/dir", make)


def test_the_users_own_state_is_no_destination(work, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(work / "state"))
    for path in ("state/hotcell", "state/hotcell/in"):
        (work / path).mkdir(parents=True, mode=0o700, exist_ok=True)
        with pytest.raises(DestsError, match="safe from code"):
            run("1", ok_dests=[path])


def test_rights_count_as_outside(user):
    work = cells.new_directory(user) / "work"
    work.mkdir()
    os.chown(work, user.uid, user.uid)
    codes = ["open('ro', 'a')", "open('none')", "open('rodir/new', 'w')",
             "os.chmod('ro', 0o600); open('ro', 'a').write('new'); os.chmod('ro', 0o444)",
             "open('rodir/x', 'a').write('y')", "os.chmod('rodir', 0o755); os.unlink('rodir/x'); os.chmod('rodir', 0o500)",
             "os.rename('ro', 'ro2'); os.unlink('none')"]
    env = {"HOTCELL": str(cells.HOTCELL), "PYTHONPATH": str(PACKAGE), **user.environment()}
    done = subprocess.run([sys.executable, "-c", OF_A_USER, cells.tree_path("base"), json.dumps(codes)], cwd=work, env=env, capture_output=True,
                          text=True, check=False, **({} if user.uid == os.getuid() else {"user": user.uid, "group": user.uid, "extra_groups": []}))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said[3:] == [None] * 4 and all("Permission denied" in text for text in said[:3]), (said, done.stderr)
    assert (work / "ro2").read_text() == "oldnew" and oct((work / "ro2").stat().st_mode) == "0o100444"
    assert oct((work / "rodir").stat().st_mode) == "0o40500" and sorted(os.listdir(work)) == ["ro2", "rodir"] and os.listdir(work / "rodir") == []


def test_the_home_of_the_caller_is_that_of_the_code(tmp_path, monkeypatch):
    """S3.19: ~ leads code where it leads the caller, if that is below ok_dests."""
    home = tmp_path / "home"
    (home / "proj").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    code = ("import os\nfrom pathlib import Path\nopen(os.path.expanduser('~/proj/one'), 'w').write('1')\n"
            "(Path.home() / 'proj' / 'two').write_text('2')")
    run(code, ok_dests=["~/proj"])
    assert sorted(path.name for path in (home / "proj").iterdir()) == ["one", "two"]
    assert run("import os\nos.path.expanduser('~')", ok_dests=[str(tmp_path / "other")]) != str(home)
    with pytest.raises(PermissionError, match="not allowed; permitted"):
        run("open(__import__('os').path.expanduser('~/x'), 'w')", ok_dests=["~/proj"])
