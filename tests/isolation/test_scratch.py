"""Scratch directories: what a program may do in an empty directory that stands in the place of one of the host's."""

import os

import cells
import pytest

PROBE = "import os\n" + cells.ATTEMPT


@pytest.fixture
def data(user):
    """A directory of the launcher's own user, with a file."""
    path = cells.new_directory(user) / "data"
    path.mkdir()
    (path / "words.txt").write_text("words")
    os.chown(path, user.uid, user.uid)
    return path


def facts(user, code, *options, **arguments):
    return cells.run(PROBE + code, "--guard=off", *options, user=user, **arguments).facts()


def test_it_is_empty_and_anything_can_be_made_and_moved_in_it(user, data):
    found = facts(user, f"""
at = {str(data)!r}
os.chdir(at)
before = os.listdir(at)
os.mkdir("d")
with open("d/x", "w") as file:
    file.write("x")
os.rename("d", "e")
os.link("e/x", "hard")
os.symlink("e/x", "soft")
os.mkfifo("pipe")
report(before=before, after=sorted(os.listdir(at)), soft=open("soft").read(), links=os.stat("hard").st_nlink, at=os.path.realpath("e"))
""", "--dir", f"{data}:scratch")
    assert found == {"before": [], "after": ["e", "hard", "pipe", "soft"], "soft": "x", "links": 2, "at": f"{data}/e"}
    assert os.listdir(data) == ["words.txt"]


@pytest.mark.parametrize("place", ["/work", "/tmp/a/b"])
def test_it_has_the_limits_of_tmp(user, data, place):
    code = f"""
def fill(path, size):
    with open(path, "wb", 0) as file:
        for _ in range(size >> 16):
            file.write(b"x" * 65536)
report(half=attempt(lambda: fill({place!r} + "/a", 3 << 20)), other=attempt(lambda: fill("/tmp/b", 3 << 20)))
"""
    found = facts(user, code, "--dir", f"{data}:{place}:scratch", "--tmp-size", "4M")
    assert found == {"half": None, "other": "ENOSPC"}


def test_links_lead_only_to_what_the_cell_has(user, data):
    (data.parent / "secret").write_text("secret")
    (data.parent / "secret").chmod(0o644)
    assert (data / "../secret").read_text() == "secret"
    found = facts(user, f"""
os.symlink({str(data.parent / "secret")!r}, "/work/out")
os.symlink("/etc/passwd", "/work/users")
report(out=os.path.exists("/work/out"), users="guest" in open("/work/users").read(), program=attempt(lambda: os.execv("/work/p", ["p"])))
""", "--dir", f"{data}:/work:scratch")
    assert found["out"] is False and found["users"] is True


def test_set_user_id_bits_and_devices_cannot_be_made(user, data):
    found = facts(user, """
import stat
open("/work/x", "w").close()
report(suid=attempt(lambda: os.chmod("/work/x", 0o4755)), device=attempt(lambda: os.mknod("/work/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))),
       mode=oct(os.stat("/work/x").st_mode), names=os.listdir("/work"))
""", "--dir", f"{data}:/work:scratch")
    assert found == {"suid": "EPERM", "device": "EPERM", "mode": "0o100644", "names": ["x"]}


def test_the_launchers_working_directory_may_be_closed_to_the_cells_user(user, data, tmp_path):
    tmp_path.chmod(0o700)
    if user.uid == os.getuid():
        assert cells.run("print(1)", "--dir", f"{data}:/work:scratch", user=user, cwd=tmp_path).stdout == "1\n"
        assert cells.run("print(1)", "--dir", f"{data}:/work", user=user, cwd=tmp_path).stdout == "1\n"
