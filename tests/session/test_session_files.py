"""Files of an open session: put in, read, listed and removed between its runs, whatever its programs have left in /output."""

import base64
import hashlib
import json
import os

import pytest

import cells
import session_client
import weak


@pytest.fixture(name="hostile")
def fixture_hostile(base_tree):  # pylint: disable=unused-argument
    """A session whose programs can make links and pipes, which Landlock refuses to those of others."""
    weak.need_build()
    with session_client.Session("--guard=off", "--file-size=1T", hotcell=weak.HOTCELL, env=weak.without("landlock")) as session:
        yield session


def ask(session, **request):
    session.ask(request)
    return session.answer()


def write(session, path, data, **more):
    return ask(session, write_file={"path": path, "data": base64.b64encode(data).decode(), **more})


def read(session, path, **more):
    answer = ask(session, read_file={"path": path, **more})
    return base64.b64decode(answer["data"]) if answer["event"] == "done" else answer["message"]


@pytest.fixture(name="session")
def fixture_session(base_tree):  # pylint: disable=unused-argument
    with session_client.Session() as session:
        yield session


def test_a_program_finds_what_was_put_in_and_its_files_come_back(session):
    data = bytes(range(256)) * 1000
    answer = write(session, "data/raw.bin", data)
    assert answer["event"] == "done" and answer["request"] == "write_file", answer
    assert {name: answer["file"][name] for name in ("path", "kind", "bytes")} == {"path": "data/raw.bin", "kind": "file", "bytes": len(data)}
    run = session.run("import hashlib\nd = open('data/raw.bin', 'rb').read()\nopen('back.bin', 'wb').write(d[::-1])\nhashlib.sha256(d).hexdigest()")
    assert run.value == hashlib.sha256(data).hexdigest(), run
    assert [file["path"] for file in run.manifest["files"]] == ["back.bin"]  # what was put in is no result
    assert read(session, "back.bin") == data[::-1]
    assert read(session, "/output/back.bin", offset=256000 - 2) == data[1::-1]


def test_a_file_that_a_program_changes_is_a_result(session):
    write(session, "notes.txt", b"one\n")
    assert session.run("print(open('notes.txt').read())").manifest["files"] == []
    run = session.run("open('notes.txt', 'a').write('two\\n')")
    assert [file["path"] for file in run.manifest["files"]] == ["notes.txt"]
    assert read(session, "notes.txt") == b"one\ntwo\n"
    session.close()
    assert (session.output / "notes.txt").read_text() == "one\ntwo\n"


def test_a_file_comes_in_parts_and_a_wrong_offset_changes_nothing(session):
    whole = os.urandom(100_000)
    for at in range(0, len(whole), 30_000):
        assert write(session, "big", whole[at:at + 30_000], offset=at)["file"]["bytes"] == min(at + 30_000, len(whole))
    refused = write(session, "big", b"x", offset=3)
    assert refused["event"] == "error" and "the file has 100000 bytes" in refused["message"]
    assert read(session, "big") == whole
    parts = [read(session, "big", offset=at, bytes=40_000) for at in (0, 40_000, 80_000)]
    assert b"".join(parts) == whole


def names(session):
    return [file["name"] for file in ask(session, list_files={})["files"]]


def test_a_file_in_parts_has_its_name_with_the_last_part(session):
    """Before that the older file stays, and no program finds anything of the new one."""
    write(session, "d/big", b"old")
    for at in range(0, 300, 100):
        answer = write(session, "d/big", b"x" * 100, offset=at, more=True, total=301)
        assert answer["event"] == "done" and answer["file"]["bytes"] == at + 100, answer
        assert session.run("import os\nprint(open('d/big').read(), os.listdir('.'), os.listdir('d'))").stdout == "old ['d'] ['big']\n"
    assert write(session, "d/big", b"y", offset=300)["file"]["bytes"] == 301
    assert read(session, "d/big") == b"x" * 300 + b"y"
    assert session.run("len(open('d/big').read())").manifest["files"] == []  # what was put in is no result
    assert names(session) == ["d"]


def test_a_write_that_fails_leaves_the_older_file(session):
    write(session, "big", b"old")
    for end in ({"offset": 3, "total": 2}, {"offset": 3}, {"abandon": True}):
        assert write(session, "big", b"new", more=True, total=10)["event"] == "done"
        write(session, "big", b"" if end == {"offset": 3} else b"!", **end)
        assert "no part of it has come before" in write(session, "big", b"x", offset=4, more=True)["message"]
        assert (read(session, "big"), names(session)) == (b"old", ["big"])
    assert write(session, "new/file", b"1", more=True)["event"] == "done"
    wrong = write(session, "new/file", b"2", offset=5, more=True)["message"]
    assert "the file has 1 bytes" in wrong, wrong  # a client that has lost an answer can go on
    assert write(session, "new/file", b"2", offset=1)["file"]["bytes"] == 2
    assert read(session, "new/file") == b"12"


def test_the_whole_of_a_file_in_parts_is_checked_before_the_first(base_tree):  # pylint: disable=unused-argument
    with session_client.Session("--output-size=1M", "--file-size=2M") as session:
        write(session, "big", b"old")
        assert "no room left" in write(session, "big", b"x", more=True, total=(1 << 20) + 1)["message"]
        assert "limits.file" in write(session, "big", b"x", more=True, total=(2 << 20) + 1)["message"]
        assert session.run("import os\nos.mkdir('d')").status == "ok"
        assert "is a directory" in write(session, "d", b"x", more=True)["message"]
        half = b"x" * (600 << 10)
        for _ in range(3):  # each takes the room of the one before, which has come to no end
            assert write(session, "big", half, more=True)["event"] == "done"
        assert "no room left" in write(session, "big", half, offset=len(half))["message"]
        assert read(session, "big") == b"old"
        assert write(session, "whole", half)["event"] == "done"


def test_so_many_files_come_in_parts_at_the_same_time(session):
    for i in range(8):
        assert write(session, f"f{i}", b"x", more=True)["event"] == "done"
    assert "at the same time" in write(session, "f8", b"x", more=True)["message"]
    assert write(session, "f0", b"x", abandon=True)["event"] == "done"
    assert write(session, "f8", b"x", more=True)["event"] == "done"
    session.close()
    assert not list(session.output.glob("f*"))


def test_list_stat_and_remove(hostile):
    session = hostile
    assert session.run("import os\nos.makedirs('d/e'); open('d/a', 'w').write('abc'); os.symlink('/etc/passwd', 'd/link'); os.mkfifo('d/pipe')").status == "ok"
    answer = ask(session, list_files={"path": "d"})
    assert [(file["name"], file["kind"], file["bytes"]) for file in answer["files"]] == [
        ("a", "file", 3), ("e", "directory", 0), ("link", "link", 0), ("pipe", "other", 0)]
    assert (answer["path"], answer["next"], answer["more"], answer["omitted"]) == ("d", None, 0, 0)
    after = ask(session, list_files={"path": "/output/d", "after": "e"})
    assert (after["path"], [file["name"] for file in after["files"]]) == ("d", ["link", "pipe"])
    top = ask(session, list_files={})
    assert (top["path"], [file["name"] for file in top["files"]]) == (".", ["d"])
    assert ask(session, stat_file={"path": "d/link"})["file"]["kind"] == "link"
    assert "not empty" in ask(session, remove_file={"path": "d"})["message"]
    for path in ("d/link", "d/pipe", "d/a", "d/e", "d"):
        assert ask(session, remove_file={"path": path})["event"] == "done"
    assert ask(session, list_files={"path": "."})["files"] == []
    assert "no such file" in ask(session, stat_file={"path": "d"})["message"]


def test_directories_are_made_files_moved_and_directories_removed_with_what_is_in_them(hostile):
    session = hostile
    made = ask(session, make_directory={"path": "a/b"})
    assert (made["event"], made["file"]["kind"], made["file"]["path"]) == ("done", "directory", "a/b"), made
    assert ask(session, make_directory={"path": "/output/a/b"})["errno"] == "EEXIST"
    assert write(session, "x", b"1")["event"] == write(session, "old", b"2")["event"] == "done"
    moved = ask(session, move_file={"path": "x", "to": "new/dir/y"})
    assert (moved["file"]["path"], moved["file"]["bytes"], read(session, "new/dir/y")) == ("new/dir/y", 1, b"1"), moved
    assert ask(session, move_file={"path": "new/dir/y", "to": "old"})["event"] == "done" and read(session, "old") == b"1"
    assert ask(session, move_file={"path": "x", "to": "z"})["errno"] == ask(session, stat_file={"path": "x"})["errno"] == "ENOENT"
    assert session.run("import os\nos.rename('a', 'own'); open('new/dir/theirs', 'w').write('3')").status == "ok"  # all of it is the guest's
    assert ask(session, move_file={"path": "own", "to": "own/inside"})["event"] == "error"
    for request in ({"path": "old"}, {"path": "old", "to": "../x"}, {"path": "old", "to": "/etc/x"}, {"path": "..", "to": "x"}, {"path": "old", "to": 7}):
        assert ask(session, move_file=request)["event"] == "error", request
    secret = session.directory / "secret"
    secret.mkdir()
    (secret / "kept").write_text("kept")
    assert session.run(f"os.symlink({str(secret)!r}, 'new/link'); os.symlink({str(secret)!r}, 'link')").status == "ok"
    assert ask(session, move_file={"path": "old", "to": "link/x"})["event"] == "error"
    assert ask(session, make_directory={"path": "link/x"})["event"] == "error"
    assert ask(session, remove_file={"path": "link/kept", "all": True})["event"] == "error"
    assert ask(session, remove_file={"path": "new", "all": True})["event"] == "done"
    assert ask(session, remove_file={"path": "link", "all": True})["event"] == "done"
    assert [file["name"] for file in ask(session, list_files={})["files"]] == ["old", "own"]
    assert os.listdir(secret) == ["kept"]
    assert session.run("here = os.getcwd()\nfor _ in range(100):\n    os.mkdir('d'); os.chdir('d')\nos.chdir(here)").status == "ok"
    assert ask(session, remove_file={"path": "d", "all": True})["event"] == "error"  # too deep: it ends, and says so


# Each program tries to have the launcher read or write something else than a plain file of /output.
TRAPS = {
    "a link to a file of the host": "import os; os.symlink('{secret}', 'x')",
    "a link to a directory of the host": "import os; os.symlink('{folder}', 'd')",
    "a pipe": "import os; os.mkfifo('x')",
    "a pipe whose both ends are open": "import os; os.mkfifo('x'); kept = os.open('x', os.O_RDWR)",
    "a directory": "import os; os.makedirs('x')",
    "a link to itself": "import os; os.symlink('x', 'x')",
    "a link to a descriptor of the launcher": "import os; os.symlink('/proc/self/fd/3', 'x')",
    "a file of holes": "open('x', 'wb').truncate(1 << 40)",
}


@pytest.mark.parametrize("trap", TRAPS)
def test_no_trap_of_a_program_reaches_anything_else(hostile, trap):
    session = hostile
    folder = session.directory / "folder"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    secret = folder / "x"
    secret.write_text("secret")
    secret.chmod(0o666)
    assert session.run(TRAPS[trap].format(secret=secret, folder=folder)).status == "ok"
    path = "d/x" if "link to a directory" in trap else "x"
    assert isinstance(read(session, path), str)
    assert write(session, path, b"more", offset=6)["event"] == "error"
    if path == "x" and trap != "a directory":  # a new file takes the name, and nothing is followed
        assert write(session, "x", b"new")["event"] == "done"
        assert read(session, "x") == b"new"
    elif path == "d/x":
        assert "symbolic link" in write(session, path, b"new", more=True)["message"]
    else:
        assert write(session, path, b"new")["event"] == "error"
    assert secret.read_text() == "secret" and os.listdir(folder) == ["x"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", "a//b", ".", "./x", "x" * 5000, "a/" + "x" * 256])
def test_paths_outside_are_refused(session, path):
    assert write(session, path, b"x")["event"] == "error"
    assert isinstance(read(session, path), str)
    assert ask(session, remove_file={"path": path})["event"] == ask(session, remove_file={"path": path, "all": True})["event"] == "error"
    assert ask(session, make_directory={"path": path})["event"] == ask(session, move_file={"path": "x", "to": path})["event"] == "error"


def test_an_escape_by_a_link_works_outside(tmp_path):
    """The traps are real: what follows links gets there."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "x").symlink_to(tmp_path / "secret")
    assert (tmp_path / "x").read_text() == "secret"


def test_a_write_is_held_by_the_limits_of_the_session(base_tree):  # pylint: disable=unused-argument
    with session_client.Session("--output-size=1M", "--file-size=2M") as session:
        assert "no room left" in write(session, "big", b"x" * (1 << 20) + b"y")["message"]
        assert ask(session, list_files={})["files"] == []
        assert write(session, "small", b"x" * 1000)["event"] == "done"
        assert "no room left" in write(session, "small", b"x" * (1 << 20), offset=1000)["message"]
        assert read(session, "small") == b"x" * 1000
    with session_client.Session("--file-size=64K") as session:
        assert "limits.file" in write(session, "big", b"x" * 65537)["message"]
    with session_client.Session("--memory=64M", "--output-size=1G") as session:
        part = b"x" * (16 << 20)
        assert write(session, "big", part)["event"] == "done"
        assert "limits.memory" in write(session, "big", part + b"x", offset=len(part))["message"]


def test_a_request_during_a_run_is_served_after_it(session):
    session.ask({"run": {"code": "open('made', 'w').write('x' * 10)\nwhile True: pass", "limits": {"timeout": "1s", "grace": "0"}}})
    session.ask({"stat_file": {"path": "made"}})
    assert session.result().status == "timeout"
    assert session.answer()["file"]["bytes"] == 10


DEEP = """
import os
name = "\\x01" * 250
for _ in range(10): os.mkdir(name); os.chdir(name)
for i in range(2000): os.close(os.open("\\x01" * 240 + f"{i:04}", os.O_CREAT | os.O_WRONLY))
os.close(os.open(b"\\xff", os.O_CREAT | os.O_WRONLY))
os.chdir("/output")
"""


def test_a_directory_is_listed_in_pages_whatever_its_names_are(session):
    """An answer is small: it does not repeat the path for each entry, and has no more than 1 MiB of them."""
    run = session.run(DEEP, limits={"timeout": "60s"})
    assert run.status == "ok", run
    path, names, more, pages, page = "/".join(["\x01" * 250] * 10), [], None, 0, {}
    while page is not None:
        answer = ask(session, list_files={"path": path, **page})
        assert answer["path"] == path and answer["omitted"] == 1 and len(json.dumps(answer)) < (1 << 20) + 50_000
        assert more is None or answer["more"] + len(answer["files"]) == more
        names += [file["name"] for file in answer["files"]]
        more, pages = answer["more"], pages + 1
        page = {"after": answer["next"]} if answer["next"] else None
        assert (page is None) == (more == 0) and (page is None or answer["next"] == names[-1])
    assert names == ["\x01" * 240 + f"{i:04}" for i in range(2000)] and pages >= 3
    for wrong in (5, None):
        assert "after: expected a string" in ask(session, list_files={"after": wrong})["message"]


def test_a_session_of_another_user_owns_its_files(user, base_tree):  # pylint: disable=unused-argument
    with session_client.Session(user=user) as session:
        assert write(session, "d/f", b"1")["event"] == "done"
        run = session.run("import os\nos.chmod('d/f', 0o400); os.rename('d/f', 'g'); os.rmdir('d'); os.stat('g').st_uid")
        assert run.value == 1000, run
        assert read(session, "g") == b"1"


def test_what_is_no_request_is_refused(session):
    for request, why in [({"path": "x"}, "text"), ({"path": "x", "data": "%"}, "base64"), ({"path": "x", "text": "a", "mode": 7}, "unknown member 'mode'"),
                         ({"path": 7, "text": "a"}, "a string"), ({"text": "a"}, "path"), ({"path": "x", "text": "a", "offset": -1}, "offset"), ([], "object"),
                         ({"path": "x", "text": "a", "more": 1}, "true or false"), ({"path": "x", "text": "a", "total": "1"}, "whole number")]:
        answer = ask(session, write_file=request)
        assert answer["event"] == "error" and why in answer["message"], answer


def given(session, code, **inputs):
    return session.run(code, inputs={name.replace("_raw", ":raw"): file for name, file in inputs.items()})


def test_an_input_of_a_run_is_a_file_of_its_own_name(session):
    run = given(session, "print(open('s.json').read(), j, open('t.txt').read())", j_raw={"file": "s.json", "text": "[1]"}, t={"file": "t.txt", "text": "é"})
    assert run.stdout == "[1] /output/s.json é\n" and run.manifest["files"] == [], run
    again = given(session, "open('t.txt', 'a').write('!')\nopen(t).read()", t={"file": "t.txt", "data": base64.b64encode(b"new").decode()})
    assert again.value == "new!" and [file["path"] for file in again.manifest["files"]] == ["t.txt"], again
    refused = given(session, "1", m_raw={"file": "manifest.json", "text": "{}"})
    assert refused.status == "rejected" and "working directory" in refused.manifest["rejection"]["message"], refused
    assert session.run("print(j)").stdout == "/output/s.json\n"


def test_an_input_of_a_run_may_be_a_file_that_is_there(session):
    write(session, "d/s.txt", b"one")
    for path in ("d/s.txt", "/output/d/s.txt"):
        run = given(session, "print(a, open(a).read())", a={"path": path})
        assert run.stdout == "/output/d/s.txt one\n" and run.manifest["files"] == [], run
    for path in ("../x", "/etc/passwd", "d/../x", ""):
        session.ask({"run": {"code": "1", "inputs": {"a": {"path": path}}}})
        answer = session.answer()
        assert answer["event"] == "error" and "below the session's working directory" in answer["message"], answer
    missing = given(session, "print(open(a).read())", a={"path": "none.txt"})
    assert missing.status == "error" and "FileNotFoundError" in json.dumps(missing.manifest), missing


def test_a_table_of_a_run_that_pandas_cannot_read_is_a_path_with_a_warning(scientific):  # pylint: disable=unused-argument
    with session_client.Session("--memory=512M", tree="scientific") as session:
        for _ in range(2):  # the second program is checked by another process
            run = given(session, "print(d)\nopen(d).read(4)", d={"file": "d.csv", "text": "a,b\n1,2\n1,2,3,4\n"})
            assert run.status == "ok" and run.stdout == "/output/d.csv\n" and run.value == "a,b\n", run
            assert any("pd.read_csv(d, on_bad_lines" in str(warning) for warning in run.manifest["warnings"]), run
        assert given(session, "list(e.columns)", e={"file": "e.csv", "text": "a,b\n1,2\n"}).value == ["a", "b"]


def test_bind_mode_names_the_directory_of_the_host(base_tree):  # pylint: disable=unused-argument
    with session_client.Session("--output-mode=bind") as session:
        assert "output.mode" in write(session, "x", b"1")["message"]
    assert cells.BOUNDS
