"""An input is also a file of its own name in the working directory: programs open the file that their writer was told of."""

import os

import cells
import daemons
import pytest

TABLE = "a,b\n1,2\n"
RECORDS = '[{"a": 1}]'
MB = 1 << 20


@pytest.fixture
def here(base_tree, user):
    return cells.new_directory(user)


def put(user, path, text):
    path.write_text(text)
    if cells.IS_ROOT:
        os.chown(path, user.uid, user.uid)
    return path


def run(code, user, *options, **more):
    return cells.run(code, *options, user=user, **more)


def test_a_program_reads_its_input_by_the_name_that_the_file_has(here, user):
    table = put(user, here / "März 2026.txt", TABLE)
    result = run("""
        import os
        with open("März 2026.txt") as mine, open(d) as given:
            print(mine.read() == given.read(), os.listdir("."), os.getcwd(), d)
    """, user, "--input", f"d={table}")
    assert result.manifest["stdout"]["text"] == "True ['März 2026.txt'] /output /input/d.txt\n"
    assert result.manifest["files"] == [] and result.manifest["skipped"]["entries"] == []  # it is no result


def test_a_file_that_the_program_has_changed_is_a_result(here, user):
    files = [put(user, here / f"{name}.txt", TABLE) for name in ("same", "longer", "other", "gone", "moved", "read", "hidden")]
    result = run("""
        import os
        open("longer.txt", "a").write("3,4\\n")
        open("other.txt", "w").write("a,b\\n9,9\\n")  # as many bytes
        os.remove("gone.txt")
        os.rename("moved.txt", "there.txt")
        os.chmod("read.txt", 0o400)
        before = os.stat("hidden.txt")
        open("hidden.txt", "r+").write("b,a")  # as many bytes, and then the same time as before
        os.utime("hidden.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    """, user, *[word for path in files for word in ("--input", f"{path.stem}={path}")])
    changed = {file["path"]: (result.output / file["path"]).read_text() for file in result.manifest["files"]}
    assert changed == {"longer.txt": TABLE + "3,4\n", "other.txt": "a,b\n9,9\n", "there.txt": TABLE, "read.txt": TABLE, "hidden.txt": "b,a\n1,2\n"}
    assert [path.read_text() for path in files] == [TABLE] * len(files)


@pytest.mark.parametrize("name", [".hidden", "code", "figures", "new\nline", ".hotcell-1", "manifest.json", "_sandbox_result.json"])
def test_names_that_are_hotcells_or_hidden_are_below_input_alone(scientific, here, user, name):
    path = put(user, here / name, RECORDS)
    result = run("import glob, os; print(os.listdir('.'), [open(path).read() for path in glob.glob('/input/*')])", user,
                 "--guard", "off", "--input", f"d={path}", tree=scientific if name.endswith(".json") else "base")
    assert result.manifest["stdout"]["text"] == f"[] {[RECORDS]}\n", result


def test_of_two_files_of_one_name_the_first_is_there(here, user):
    (here / "x").mkdir()
    if cells.IS_ROOT:
        os.chown(here / "x", user.uid, user.uid)
    first, second = put(user, here / "t.txt", "first"), put(user, here / "x" / "t.txt", "second")
    result = run("print(open('t.txt').read(), open(b).read())", user, "--input", f"a={first}", "--input", f"b={second}")
    assert result.manifest["stdout"]["text"] == "first second\n"


@pytest.mark.parametrize("limits", [("--output-size", "64K"), ("--memory", "64M")])
def test_a_file_that_would_fill_the_cell_is_below_input_alone(here, user, limits):
    large = put(user, here / "large.txt", "x" * 10 * MB)
    result = run("import os; print(os.listdir('.'), len(open(d).read()))", user, "--input", f"d={large}", *limits)
    assert result.manifest["stdout"]["text"] == f"[] {10 * MB}\n"


def test_a_directory_of_the_users_gets_no_copies(here, user):
    table = put(user, here / "t.txt", TABLE)
    out = cells.new_directory(user)
    result = run("import os; print(os.listdir('.'))", user, "--input", f"d={table}", "-o", out, "--output-mode", "bind")
    assert result.manifest["stdout"]["text"] == "[]\n"
    assert [path.name for path in out.iterdir()] == ["manifest.json"]


def test_jobs_of_hotcelld_and_sessions_have_them_too(user):
    with daemons.Daemon(user) as d:
        spec = {"code": "print(open('t.txt').read())", "inputs": {"d": {"file": "t.txt", "text": TABLE}}}
        for _ in range(4):  # the later ones in warm cells
            answer = d.post(spec).json
            assert answer.get("status") == "ok", answer
            assert (answer["status"], answer["stdout"]["text"], answer["files"]) == ("ok", TABLE + "\n", []), answer
        spec["code"] = "open('t.txt', 'w').write('a,b\\n9,9\\n')"
        for _ in range(2):
            assert [file["path"] for file in d.post(spec).json["files"]] == ["t.txt"]
        assert d.warm_counts()["jobs_warm_total"] > 0
        session = d.session({"inputs": spec["inputs"]})
        assert d.run(session, "open('t.txt').read()")["manifest"]["guest"]["value"]["application/json"] == TABLE
        changed = d.run(session, "open('t.txt', 'a').write('5,6')")
        assert [file["path"] for file in changed["manifest"]["files"]] == ["t.txt"]
