"""What the runs of an open session have changed in copies of directories: asked for while the session goes on."""

import asyncio
import os
import sys
from pathlib import Path

import cells
import session_client
import weak

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
import hotcell  # noqa: E402

PROGRAM = """
import os
open("words.txt", "w").write("WORDS"); os.unlink("gone")
os.chmod("mode", 0o640); os.mkdir("made"); open("made/new", "w").write("new")
"""


def data_of(user):
    return cells.data_directory(user, {"words.txt": "words", "gone": "gone", "mode": "mode", "below/private.txt": "private"})


def session_of(data, user, *options, more=()):
    return session_client.Session("--guard=off", "--dir", f"{data}:/work:cow", "--workdir=/work", *more, *options, user=user)


def changes(session):
    session.ask({"list_changes": True})
    answer = session.answer()
    assert answer["event"] == "done" and answer["request"] == "list_changes", answer
    return answer["dirs"]


def listed(session, number=0):
    return {(entry["change"], entry["path"]) for entry in changes(session)[number]["changes"]["entries"]}


def test_each_kind_of_change_is_listed_while_the_session_goes_on(user):
    data = data_of(user)
    with session_of(data, user) as session:
        assert listed(session) == set()
        assert session.run(PROGRAM).status == "ok"
        expected = {("changed", "words.txt"), ("removed", "gone"), ("mode", "mode"), ("added", "made"), ("added", "made/new")}
        assert listed(session) == expected == listed(session)
        only, = changes(session)
        assert only["host"] == str(data) and only["place"] == "/work" and only["changes"]["complete"]
        assert only["changes"]["added"] == 2 and "directory" not in only["changes"]
        assert session.run("import shutil; shutil.rmtree('made'); open('words.txt', 'w').write('words')").status == "ok"
        assert listed(session) == {("removed", "gone"), ("mode", "mode")}
    assert (data / "words.txt").read_text() == "words" and (data / "gone").exists()
    closed = [path for path in session.output.rglob("*") if path.name == "0.json"]
    assert len(closed) == 1, "the changes come out once, when the session ends"


def test_a_listing_leaves_the_copy_as_it_is(user):
    """The program has taken its own right to read; the listing, which reads nevertheless, leaves that so."""
    with session_of(data_of(user), user) as session:
        assert session.run(PROGRAM + "os.chmod('made/new', 0); os.chmod('made', 0o100); os.chmod('.', 0o300)").status == "ok"
        assert ("added", "made/new") in listed(session)
        assert session.run("[oct(os.stat(n).st_mode & 0o777) for n in ('made/new', 'made', '.')]").value == ["0o0", "0o100", "0o300"]


def test_links_that_a_command_puts_in_the_place_of_files_are_not_followed(shell_tree):  # pylint: disable=unused-argument
    """A command exchanges a file that cannot be read for a link, again and again, while the launcher lists the copy. Landlock refuses
    links to programs of other cells."""
    weak.need_build()
    data = data_of(cells.caller())
    aim = data.parent / "aim"
    aim.write_text("of the host")
    aim.chmod(0o604)
    swaps = f"""
import os
while True:
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, 0o300)); os.rename("file", "swapped")
    os.symlink({str(aim)!r}, "link"); os.rename("link", "swapped")
"""
    options = ("--dir", f"{data}:/work:cow", "--workdir=/work")
    options = (*cells.watched(options, "shell", cells.caller()), *options)
    with session_client.Session(*options, tree="shell", policy="shell", hotcell=weak.HOTCELL, env=weak.without("landlock")) as session:
        session.ask({"start": {"command": ["python3", "-c", swaps], "workdir": "/work"}})
        assert session.answer()["event"] == "started"
        def is_seen():
            copy = changes(session)[0]["changes"]
            return "swapped" in {entry["path"] for entry in (*copy["entries"], *copy["skipped"]["entries"])}

        cells.wait_until("the command's first exchange", is_seen)
        seen = sum(is_seen() for _ in range(400))
        assert seen > 0 and oct(aim.stat().st_mode & 0o7777) == "0o604"


def test_what_cannot_be_kept_is_listed_with_its_reason(user):
    with session_of(data_of(user), user) as session:
        run = session.run("import os\ntry:\n    os.mkfifo('pipe')\nexcept OSError as e:\n    print('refused', e.errno)")
        skipped = changes(session)[0]["changes"]["skipped"]["entries"]
        assert "refused" in run.stdout or skipped == [{"path": "pipe", "reason": "named pipe, socket or device"}]


def test_a_session_without_copies_has_no_changes_and_bad_requests_are_refused(user):
    with session_client.Session(user=user) as session:
        assert changes(session) == []
        session.ask({"list_changes": 7})
        assert session.answer()["message"] == "list_changes: expected true or {}"
        assert session.run("1 + 1").value == 2


def test_changes_of_two_copies_come_in_the_order_of_the_directories(user):
    one, two = data_of(user), data_of(user)
    with session_of(one, user, more=("--dir", f"{two}:/second:cow")) as session:
        session.run("open('/second/mode', 'a').write('y'); open('new', 'w').write('n')")
        assert [entry["place"] for entry in changes(session)] == ["/work", "/second"]
        assert listed(session) == {("added", "new")} and listed(session, 1) == {("changed", "mode")}


def test_ten_thousand_changes_are_listed_and_the_others_counted():
    with session_of(data_of(cells.caller()), cells.caller(), "--output-files=20000") as session:
        assert session.run("for i in range(10010):\n    open(f'{i}', 'w').close()").status == "ok"
        found = changes(session)[0]["changes"]
        assert len(found["entries"]) == 10000 and found["more"] == 10 and found["added"] == 10010


def test_both_python_sessions_have_changes():
    data = data_of(cells.caller())
    options = {"dirs": [{"host": data, "place": "/work", "mode": "cow"}], "workdir": "/work", "tree": cells.tree_path("base"), "binary": cells.HOTCELL}
    code = "import os; os.unlink('gone')"

    async def later():
        async with hotcell.AsyncSession(**options) as session:
            await session.run(code)
            return await session.changes()
    with hotcell.Session(**options) as session:
        session.run(code)
        found = session.changes()
    assert found == asyncio.run(later())
    assert [(entry["change"], entry["path"]) for entry in found[0]["changes"]["entries"]] == [("removed", "gone")] and os.path.exists(data / "gone")
