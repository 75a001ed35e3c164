"""Directories of the host that a policy lets programs write to (`--dir HOST:PLACE:rw`)."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

import cells

PROBE = "import os, shutil\n" + cells.ATTEMPT


@pytest.fixture
def data(user):
    return cells.data_directory(user, {"words.txt": "words", "below/private.txt": "private"})


def allowing(*paths):
    return {"dirs": {"rw": [str(path) for path in paths]}, "guard": "off"}


def probe(data, code, *options, **arguments):
    return cells.run(PROBE + code, "--dir", f"{data}:/work:rw", "--workdir=/work", *options, policy=allowing(data), **arguments)


def refusal(data, user, **arguments):
    result = cells.run("print(1)", "--dir", f"{data}:/work:rw", user=user, **arguments)
    assert result.status in (65, 78) and not result.stdout, result
    line, = result.stderr.splitlines()
    return line


@pytest.mark.machine
def test_what_a_program_writes_is_on_the_host_and_the_callers(user, data):
    result = probe(data, """
open("words.txt", "a").write(" and more"); open("below/new", "w").write("new"); os.makedirs("made/deep"); os.unlink("below/private.txt")
os.rename("below/new", "made/deep/moved")
report(names=sorted(os.listdir(".")))
""", user=user)
    assert result.facts()["names"] == ["below", "made", "words.txt"], result
    assert (data / "words.txt").read_text() == "words and more" and (data / "made" / "deep" / "moved").read_text() == "new"
    assert not (data / "below" / "private.txt").exists()
    assert {path.lstat().st_uid for path in (data, *data.rglob("*"))} == {user.uid}
    assert result.manifest["dirs"] == [{"host": str(data), "place": "/work", "mode": "rw"}]


def test_without_a_policy_there_is_none(user, data):
    text = refusal(data, user)
    assert "lets jobs write to no directory of the host" in text and "dirs.rw" in text and "give the mode cow" in text
    assert "does not give jobs" in refusal(data, user, policy=allowing(data / "below"))
    assert "does not give jobs" in refusal(data, user, policy={"dirs": {"rw": [], "ro": ["/"], "cow": ["/"]}})
    assert cells.run("open('/work/x', 'w')", "--dir", f"{data}/below:/work:rw", policy=allowing(data), user=user).status == 0
    assert (data / "below" / "x").exists()


def test_the_guard_lets_a_program_write_there_and_nowhere_else(user, data):
    policy = {"files": {"read": ["."], "write": ["/output"]}, "dirs": {"rw": [str(data)]}}
    result = cells.run("f = open\nf('/work/new', 'w').write('1')\nf('/tmp/x', 'w')", "--dir", f"{data}:/work:rw", policy=policy, user=user)
    assert (data / "new").read_text() == "1" and "PermissionError" in result.stderr, result


@pytest.mark.machine
def test_no_links_devices_or_rights_come_to_be_there(user, data):
    (data / "tool").write_text("#!/bin/sh\n")
    os.chown(data / "tool", user.uid, user.uid)
    (data / "tool").chmod(0o4755)
    result = probe(data, """
report(failed=[attempt(os.symlink, "/etc/passwd", "s"), attempt(os.mkfifo, "f"), attempt(os.mknod, "d", 0o020666, os.makedev(1, 3)),
               attempt(os.chmod, "words.txt", 0o4755), attempt(os.chmod, "words.txt", 0o2755), attempt(os.chown, "words.txt", 0, 0),
               attempt(os.open, "suid", os.O_CREAT | os.O_WRONLY, 0o4755), attempt(os.setxattr, "words.txt", "user.a", b"b"),
               attempt(os.rename, "/work", "/tmp/w"), attempt(os.execv, "/work/tool", ["tool"])],
       wrote=attempt(open("tool", "a").write, "echo evil\\n"))
""", user=user)
    assert None not in result.facts()["failed"], result.facts()
    assert result.facts()["wrote"] is None
    modes = {path.name: path.lstat().st_mode for path in data.rglob("*")}
    assert set(modes) == {"below", "private.txt", "words.txt", "tool"}
    assert not any(mode & 0o6000 for mode in modes.values()), modes


def test_it_cannot_stand_where_programs_may_make_links(user, data):
    """What Landlock allows in /tmp, it allows in all that is mounted below it."""
    result = cells.run(PROBE + "report(made=attempt(os.symlink, '/etc/passwd', '/tmp/c/s'))", "--dir", f"{data}:/tmp/c:cow", policy={"guard": "off"}, user=user)
    assert result.facts()["made"] is None
    assert [e["path"] for e in result.manifest["dirs"][0]["changes"]["skipped"]["entries"]] == ["s"]
    result = cells.run(PROBE + "os.symlink('/etc/passwd', '/tmp/c/s')", "--dir", f"{data}:/tmp/c:rw", policy=allowing(data), user=user)
    assert result.status == 65 and "cannot stand below /tmp" in result.stderr, result
    assert not (data / "s").is_symlink()


def test_links_in_it_lead_nowhere_outside(user, data):
    secret = data.parent / "secret"
    secret.write_text("secret")
    secret.chmod(0o666)
    (data / "up").symlink_to("../secret")
    (data / "absolute").symlink_to(secret)
    (data / "root").symlink_to("/")
    assert (data / "up").read_text() == (data / "absolute").read_text() == "secret"
    result = probe(data, f"""
report(failed=[attempt(open, name, mode) for name in ("up", "absolute", "../secret", "{secret}", "root{secret}", "../../etc/shadow") for mode in ("r", "r+")])
""", user=user)
    assert None not in result.facts()["failed"]
    assert secret.read_text() == "secret"


@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_a_directory_with_ways_to_the_host_is_refused(user, data, kind):
    """The mount itself is in the cell, so these would lead to whoever has them open on the host."""
    path = data / "below" / kind
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    else:
        cells.need_root()
        os.mknod(path, 0o020666, os.makedev(1, 3))
    text = refusal(data, user, policy=allowing(data))
    assert f"'below/{kind}' is a" in text and "would lead the program to the host" in text, text


def test_limits_hold_there(user, data):
    result = probe(data, """
def write():
    with open("big", "wb") as f:
        for _ in range(64): f.write(bytes(1 << 16)); f.flush()
report(large=attempt(write))
""", "--file-size=1M", user=user)
    assert result.facts()["large"] == "EFBIG" and (data / "big").stat().st_size <= 1 << 20


def test_mounts_below_it_stay_outside():
    cells.need_root()
    path = cells.new_directory(cells.caller())
    (path / "mounted").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", path / "mounted"], check=True)
    try:
        (path / "mounted" / "secret").write_text("secret")
        result = probe(path, "report(names=os.listdir('mounted'), wrote=attempt(open, 'mounted/secret', 'r+'))")
        assert result.facts() == {"names": [], "wrote": "ENOENT"}
        assert (path / "mounted" / "secret").read_text() == "secret"
    finally:
        subprocess.run(["umount", path / "mounted"], check=True)


def test_files_of_other_users_stay_as_they_are(data):
    cells.need_root()
    (data / "roots").write_text("root's")
    os.chown(data / "roots", 4711, 4711)
    (data / "roots").chmod(0o644)
    result = probe(data, "report(write=attempt(open, 'roots', 'r+'), chmod=attempt(os.chmod, 'roots', 0o666))")
    assert None not in result.facts().values(), result
    assert (data / "roots").read_text() == "root's" and (data / "roots").stat().st_uid == 4711


def test_sessions_daemons_and_specs(data):
    code = json.dumps({"run": {"code": "1"}}) + "\n"
    policy = data.parent / "policy.json"
    policy.write_text(json.dumps(allowing(data)))
    done = cells.hotcell("session", "-t", cells.tree_path("base"), "-p", str(policy), "--dir", f"{data}:/work:rw", "-o", str(data.parent / "o"),
                         stdin=None, input=code)
    assert "a session writes to no directory of the host" in done.stdout + done.stderr
    spec = {"code": "open('/work/s', 'w').write('s')", "policy": str(policy), "tree": cells.tree_path("base"),
            "dirs": [{"host": str(data), "place": "/work", "mode": "rw"}]}
    assert cells.run(None, "--spec", "-", tree=None, stdin=json.dumps(spec)).status == 0
    assert Path(data / "s").read_text() == "s"
