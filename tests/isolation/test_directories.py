"""Directories of the host in a cell: what a program reads of them, what it cannot do there, and which a launcher refuses."""

import contextlib
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import cells
import daemons
import hostile

PROBE = "import os\n" + cells.ATTEMPT


@pytest.fixture
def data(user):
    """A directory of the launcher's own user, with a file that only this user may read."""
    path = cells.data_directory(user, {"words.txt": "words", "below/private.txt": "private"})
    (path / "below" / "hard.txt").hardlink_to(path / "words.txt")
    return path


def probe(code, *options, **arguments):
    arguments.setdefault("user", None)
    return cells.run(PROBE + code, "--guard=off", *options, **arguments).facts()


def refusal(user, *options, policy=None, code="print(1)"):
    result = cells.run(code, *options, user=user, policy=policy)
    assert result.status in (64, 65, 69, 78) and not result.stdout, result
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and len(lines[0]) < 1000, lines
    return lines[0]


# ---- what is there ----

@pytest.mark.parametrize("place", [None, "/mnt/a/b", "/tmp/deep/er", "/home/someone/project"])
def test_a_program_reads_the_directory_at_its_place(user, data, place):
    at = place or str(data)
    facts = probe(f"""
os.chdir({at!r})
report(words=open("words.txt").read(), private=open({at!r} + "/below/private.txt").read(), names=sorted(os.listdir(".")),
       root=sorted(os.listdir("/")))
""", "--dir", f"{data}:{place}:ro" if place else str(data), user=user)
    assert facts == {"words": "words", "private": "private", "names": ["below", "words.txt"], "root": facts["root"]}
    assert {"usr", "etc", "tmp", "output", "input"} <= set(facts["root"])


READ_ONLY = "This directory was given read-only (--dir): have it given with the mode cow"


@pytest.mark.parametrize("code", ["open('{}/new', 'w')", "import os\nos.remove('{}/words.txt')", "import os\nos.mkdir('{}/new')"])
@pytest.mark.parametrize("guard", ["--guard=on", "--guard=off"])
@pytest.mark.parametrize("place", ["/data", "/tmp/deep/er", "/mnt/a"])
def test_a_write_to_it_is_answered_by_what_to_do(user, data, code, guard, place):
    options = [] if guard == "--guard=on" else [guard]
    result = cells.run(code.format(place), "--dir", f"{data}:{place}", *options, user=user)
    assert result.status == 1 and READ_ONLY in result.stderr, result
    elsewhere = cells.run("open('/usr/new', 'w')", "--dir", f"{data}:{place}", *options, user=user)
    assert elsewhere.status == 1 and "read-only (" not in elsewhere.stderr, elsewhere
    if "new" in code:
        assert cells.run(code.format(place), "--dir", f"{data}:{place}:cow", *options, user=user).status == 0


def test_it_is_the_working_directory_and_results_go_to_output(user, data):
    result = cells.run('print(open("words.txt").read()); open("/output/x", "w").write("y")', "--dir", f"{data}:/work", "--workdir",
                       "/work/below/..", user=user)
    assert result.stdout == "words\n" and result.files() == ["x"]
    assert result.manifest["dirs"] == [{"host": str(data), "place": "/work", "mode": "ro"}]
    assert "dirs" not in cells.run("print(1)").manifest


def test_a_relative_directory_stands_at_its_absolute_path(user, data):
    result = cells.run("import os; print(os.listdir())", "--dir", ".", "--workdir", str(data.resolve()), user=user, cwd=data)
    assert "words.txt" in result.stdout


def test_a_spec_has_directories_and_the_guard_lets_the_program_read_them(user, data):
    spec = {"code": "print(open('/data/words.txt').read())\nopen('/data/new', 'w')", "policy": "analysis", "limits": {"timeout": 30},
            "tree": cells.tree_path("base"), "dirs": [{"host": str(data), "place": "/data"}], "workdir": "/data"}
    spec["code"] = "f = open\n" + spec["code"].replace("open(", "f(")
    result = cells.run(None, "--json", "--spec", "-", tree=None, user=user, stdin=json.dumps(spec))
    assert "words" in result.manifest["stdout"]["text"] and result.manifest["status"] == "error", result
    assert "PermissionError" in result.manifest["stderr"]["text"] + str(result.manifest["guest"])


def test_a_session_has_them_from_its_start(data):
    code = json.dumps({"run": {"code": "print(open('words.txt').read())"}}) + "\n"
    done = cells.hotcell("session", "-t", cells.tree_path("base"), "--dir", f"{data}:/work", "--workdir=/work", "-o",
                         str(data.parent / "out"), stdin=None, input=code)
    assert "words" in done.stdout, done


def test_python_gives_directories(data, monkeypatch):
    sys.path.insert(0, str(daemons.SOURCE / "python"))
    monkeypatch.chdir(data.parent)
    import hotcell
    given = {"binary": cells.HOTCELL, "tree": cells.tree_path("base"), "timeout": 30}
    assert hotcell.run("open('words.txt').read()", dirs=[{"host": data, "place": "/w"}], workdir="/w", **given).value == "words"
    assert hotcell.run(f"open('{data}/words.txt').read()", dirs=data, **given).value == "words"
    with pytest.raises(hotcell.InputError):
        hotcell.run("1", dirs=[7], **given)
    with pytest.raises(hotcell.InputError):
        hotcell.run("1", dirs=[{"host": data, "mode": "all"}], **given)


# ---- what a program cannot do ----

def test_nothing_of_it_can_be_changed(user, data):
    snapshot(data)  # reads, so that access times are new
    before = snapshot(data)
    facts = probe("""
os.chdir("/data")
report(failed=[attempt(open, "words.txt", "r+"), attempt(open, "new", "w"), attempt(os.mkdir, "d"), attempt(os.unlink, "words.txt"),
               attempt(os.rename, "words.txt", "w"), attempt(os.symlink, "a", "b"), attempt(os.link, "words.txt", "hard"),
               attempt(os.chmod, "words.txt", 0o777), attempt(os.utime, "words.txt", (1, 1)), attempt(os.truncate, "words.txt", 0),
               attempt(os.mkfifo, "fifo"), attempt(os.setxattr, "words.txt", "user.a", b"b"), attempt(os.rmdir, "below"),
               attempt(os.mknod, "whiteout", 0o020000, 0), attempt(os.rename, "/data", "/e"), attempt(os.rename, "words.txt", "/output/w"),
               attempt(os.link, "words.txt", "/output/w"), attempt(os.open, "words.txt", os.O_RDWR | os.O_TRUNC),
               attempt(os.open, f"/proc/self/fd/{os.open('words.txt', os.O_RDONLY)}", os.O_RDWR), attempt(os.open, ".", os.O_TMPFILE | os.O_RDWR)])
""", "--dir", f"{data}:/data", user=user)
    assert None not in facts["failed"], facts
    assert snapshot(data) == before


def snapshot(directory):
    return sorted((str(path), path.stat().st_mode, path.stat().st_mtime_ns, path.stat().st_ctime_ns, path.stat().st_atime_ns,
                   path.read_text() if path.is_file() else None) for path in directory.rglob("*"))


def test_links_lead_nowhere_outside(user, data):
    secret = data.parent / "secret"
    secret.write_text("secret")
    secret.chmod(0o644)
    (data / "up").symlink_to("../secret")
    (data / "absolute").symlink_to(secret)
    (data / "root").symlink_to("/")
    (data / "good").symlink_to("below/private.txt")
    assert (data / "up").read_text() == (data / "absolute").read_text() == (data / "root" / str(secret)[1:]).read_text() == "secret"
    facts = probe(f"""
os.chdir("/data")
report(failed=[attempt(open, name) for name in ("up", "absolute", "root{secret}", "../secret", "{secret}", "root/etc/shadow")],
       good=open("good").read(), root=sorted(os.listdir("root")))
""", "--dir", f"{data}:/data", user=user)
    assert None not in facts["failed"] and facts["good"] == "private" and "usr" in facts["root"]


def test_code_in_it_is_not_executed(user, data):
    shutil.copy("/bin/true", data / "true")
    facts = probe("""
import mmap
fd = os.open("/data/true", os.O_RDONLY)
report(mapped=attempt(mmap.mmap, fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC),
       executed=attempt(os.execv, "/data/true", ["true"]))
""", "--dir", f"{data}:/data", user=user)
    assert facts["mapped"] and facts["executed"]


@contextlib.contextmanager
def answering(path, reached):
    """Something on the host that notes whoever opens the FIFO or connects to the socket at `path`."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path / "socket"))
        server.listen()
        server.settimeout(0.01)
        os.chmod(path / "socket", 0o777)
        over = threading.Event()

        def answer():
            while not over.is_set():
                with contextlib.suppress(TimeoutError, OSError):
                    server.accept()[0].close()
                    reached.append("socket")

        thread = threading.Thread(target=answer)
        thread.start()
        yield
        over.set()
        thread.join()


TALK = """
import socket, stat
os.chdir({at!r})
def connect():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("socket")
def write():
    os.write(os.open("fifo", os.O_WRONLY | os.O_NONBLOCK), b"out")
def read():
    fd = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
    if os.read(fd, 10) == b"":
        raise OSError(errno.ENODATA, "")
report(connect=attempt(connect), write=attempt(write), read=attempt(read), device=attempt(open, "null", "wb"))
"""


def test_fifos_and_sockets_and_locks_do_not_reach_the_host(user, data):
    """A FIFO is no matter of the mount's being read-only: on the host, and through any bind mount, it would lead to who has it open."""
    os.mkfifo(data / "fifo")
    os.chmod(data / "fifo", 0o666)
    reached = []
    ours = os.open(data / "fifo", os.O_RDWR | os.O_NONBLOCK)
    os.write(ours, b"in")
    try:
        with answering(data, reached), open(data / "words.txt", encoding="utf-8") as words:
            outside = subprocess.run([sys.executable, "-c", PROBE + TALK.format(at=str(data))], capture_output=True, text=True, check=True)
            facts = json.loads(outside.stdout)
            assert facts["connect"] is facts["write"] is facts["read"] is None
            cells.wait_until("the socket is reached", lambda: reached == ["socket"])
            os.set_blocking(ours, False)
            with contextlib.suppress(BlockingIOError):
                os.read(ours, 100)
            os.write(ours, b"in")
            fcntl.flock(words, fcntl.LOCK_EX)
            facts = probe(TALK.format(at="/data") + """
import fcntl
with open("words.txt") as words:
    report(lock=attempt(fcntl.flock, words, fcntl.LOCK_EX | fcntl.LOCK_NB))
""", "--network=loopback", "--dir", f"{data}:/data", user=user)
            assert facts["lock"] in (None, "ENOLCK"), facts
            assert os.read(ours, 100) == b"in" and reached == ["socket"]
    finally:
        os.close(ours)


def test_devices_are_closed():
    cells.need_root()
    path = cells.new_directory(cells.caller())
    os.mknod(path / "null", 0o020666, os.makedev(1, 3))
    os.chmod(path / "null", 0o666)
    facts = probe('report(opened=[attempt(open, "/data/null", mode) for mode in ("rb", "wb")])', "--dir", f"{path}:/data")
    assert facts["opened"] == ["EACCES", "EACCES"]


def test_overlay_marks_of_the_host_say_nothing(user, data):
    """A file system of layers has marks for what is gone or elsewhere: what the host's files carry are no such marks here."""
    if cells.IS_ROOT:
        for name, value in (("trusted.overlay.opaque", b"y"), ("trusted.overlay.redirect", b"/"), ("trusted.overlay.metacopy", b"")):
            os.setxattr(data / "below", name, value)
    for name, value in (("user.overlay.opaque", b"y"), ("user.overlay.redirect", b"/../.."), ("user.overlay.whiteout", b"y")):
        for path in ("below", "words.txt"):
            os.setxattr(data / path, name, value)
    facts = probe('report(names=sorted(os.listdir("/data/below")), words=open("/data/words.txt").read())', "--dir", f"{data}:/data", user=user)
    assert facts == {"names": ["hard.txt", "private.txt"], "words": "words"}


def test_other_file_systems_in_it_stay_outside():
    cells.need_root()
    path = cells.new_directory(cells.caller())
    (path / "mounted").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", path / "mounted"], check=True)
    try:
        (path / "mounted" / "secret").write_text("secret")
        facts = probe('report(names=os.listdir("/data/mounted"))', "--dir", f"{path}:/data")
        assert facts["names"] == []
        user = cells.ordinary()
        os.chown(path, user.uid, user.uid)
        assert "other file systems are mounted in it" in refusal(user, "--dir", f"{path}:/data")
    finally:
        subprocess.run(["umount", path / "mounted"], check=True)


def test_a_directory_that_is_swapped_for_a_link_shows_the_first_or_nothing(user, data):
    """The launcher opens it once, and everything else is asked of what it has open."""
    secret = data.parent / "secret"
    secret.mkdir()
    (secret / "words.txt").write_text("secret")
    other, over = data.parent / "other", threading.Event()

    def swap():
        while not over.is_set():
            data.rename(other)
            data.symlink_to(secret)
            time.sleep(0)
            data.unlink()
            other.rename(data)

    allowed = {"dirs": {"ro": [str(data)]}}
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        seen = [cells.run("print(open('/data/words.txt').read(), end='')", "--dir", f"{data}:/data", policy=allowed, user=user)
                for _ in range(12)]
    finally:
        over.set()
        thread.join()
    for result in seen:
        assert result.stdout in ("words", ""), result
        assert result.stdout or result.status in (65, 78), result


def test_many_and_deep_and_sparse_files_take_no_time(data):
    deep = data / "deep"
    for _ in range(60):
        deep = deep / ("d" * 30)
    deep.mkdir(parents=True)
    with open(data / "sparse", "wb") as file:
        file.truncate(1 << 40)
    (data / "many").mkdir()
    for i in range(20000):
        (data / "many" / f"{i}\n").touch()
    result = cells.run("import os; print(os.path.getsize('/data/sparse'), len(os.listdir('/data/many')))", "--dir", f"{data}:/data")
    assert result.stdout == f"{1 << 40} 20000\n"
    assert result.manifest["timing"]["build"] < 2 * cells.SLOWNESS


def test_nothing_is_left_of_a_job_with_directories(data):
    before = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    assert cells.run("print(1)", "--dir", str(data)).status == 0
    assert Path("/proc/self/mountinfo").read_text(encoding="utf-8") == before


# ---- which are refused ----

def test_links_of_other_users_are_not_followed(user, data):
    """Whoever owns a link on the way decides where it leads: only the caller and root may."""
    cells.need_root()
    folder = data.parent
    program = "print(open('/data/words.txt').read())"
    for name, target in (("own", data), ("chain", "own"), ("up", "./own/../own"), ("roots", data), ("foreign", data), ("inner", "foreign")):
        (folder / name).symlink_to(target)
        os.lchown(folder / name, *((4711, 4711) if name == "foreign" else (0, 0) if name == "roots" else (user.uid, user.uid)))
    (folder / "loop").symlink_to("loop")
    for name in ("own", "chain", "up", "roots", "own/../roots/."):
        assert cells.run(program, "--dir", f"{folder}/{name}:/data", user=user).stdout == "words\n", name
    assert (folder / "foreign" / "words.txt").read_text() == "words"
    for name in ("foreign", "inner", "foreign/below", "own/../foreign/", "chain/../inner/below"):
        text = refusal(user, "--dir", f"{folder}/{name}:/data")
        assert "'foreign' is a symbolic link of another user (uid 4711)" in text, text
    assert "Too many levels" in refusal(user, "--dir", f"{folder}/loop:/data")
    assert "too long" in refusal(user, "--dir", "/" + "a" * 300) and "too long" in refusal(user, "--dir", "/a" * 3000)


@pytest.mark.parametrize("host", ["/", "/proc", "/proc/1", "/sys", "/dev", "/dev/pts", "/sys/kernel", "/etc", "/run"])
def test_what_holds_more_than_data_is_refused(user, host):
    text = refusal(user, "--dir", f"{host}:/data")
    assert host in text and ("the whole host" in text or "which no cell gets" in text), text


def test_hotcells_own_state_is_refused(user, data):
    for host in (data, data.parent, data / "below"):
        env = {"HOTCELL_STATE": str(data)}
        result = cells.run("print(1)", "--dir", f"{host}:/data", user=user, env=env)
        assert result.status == 65 and "hotcell's own state" in result.stderr, result


@pytest.mark.parametrize("place, why", [
    ("/usr/share/x", "the tree's own"), ("/etc", "the tree's own"), ("/lib/x", "the tree's own"), ("/proc/x", "hotcell's own"),
    ("/dev", "hotcell's own"), ("/output/x", "hotcell's own"), ("/input", "hotcell's own"), ("/tmp", "the program's own"),
    ("/a/../usr", "expected an absolute path"), ("/a//b", "expected an absolute path"), ("/", "expected an absolute path"),
    ("/a/", "expected an absolute path"), ("/" + "a" * 300, "too long"), ("/" + "a/" * 600 + "a", "longer than 1024 bytes")])
def test_places_that_are_taken_are_refused(data, place, why):
    assert why in refusal(None, "--dir", f"{data}:{place}:ro")


def test_wrong_directories_get_one_line(data):
    assert "No such file" in refusal(None, "--dir", f"{data}/missing")
    assert "expected a directory" in refusal(None, "--dir", f"{data}/words.txt")
    assert "expected the mode ro, cow, rw or scratch" in refusal(None, "--dir", f"{data}:/a:w")
    assert "given twice" in refusal(None, "--dir", f"{data}:/a", "--dir", f"{data}/below:/a/b")
    assert "more than 16" in refusal(None, *[word for i in range(17) for word in ("--dir", f"{data}:/a{i}")])
    assert "expected a value" in refusal(None, "--dir", "") or "empty string" in refusal(None, "--dir", "")
    assert "/nowhere" in refusal(None, "--workdir", "/nowhere")
    assert "absolute path" in refusal(None, "--workdir", "words")
    assert "working directory" in refusal(None, "--dir", f"{data}:/a", "--workdir", "/a/words.txt")
    assert "unknown member 'hots'" in spec_refusal({"hots": "/a"})
    assert "expected the mode ro" in spec_refusal({"host": "/a", "mode": "r"})
    assert "expected an object" in spec_refusal("/a")
    assert "expected an object" in spec_refusal({"place": "/a"})


def spec_refusal(entry):
    done = cells.hotcell("run", "--spec", "-", stdin=None, input=json.dumps({"code": "1", "dirs": [entry]}))
    assert done.returncode == 65 and len(done.stderr.splitlines()) == 1, done
    return done.stderr


def test_names_with_newlines_and_other_bytes_are_escaped():
    user = cells.caller()
    odd = cells.new_directory(user) / "a\nb\u202e"
    odd.mkdir()
    result = cells.run("print(1)", "--dir", f"{odd}:/data", user=user)
    assert result.status == 0 and result.manifest["dirs"][0]["escaped"]
    assert "\n" not in result.manifest["dirs"][0]["host"]
    assert "\n" not in refusal(user, "--dir", f"{odd}/missing")
    bytes_ = os.fsencode(odd.parent) + b"/\xff"
    os.mkdir(bytes_)
    assert "not UTF-8" in refusal(user, "--dir", os.fsdecode(bytes_))
    assert cells.run("print(1)", "--dir", os.fsdecode(bytes_ + b":/data"), user=user).status == 0


def test_a_policy_says_which_directories_may_be_given(user, data):
    below, link = data / "below", data.parent / "link"
    link.symlink_to(data)
    program = "import os; print(os.listdir('/data'))"
    for allowed in (data, below, "/"):
        assert cells.run(program, "--dir", f"{below}:/data", policy={"dirs": {"ro": [str(allowed)]}}, user=user).status == 0
    for allowed in ([], [str(below)], [str(data)[:-1]], [str(link)]):
        text = refusal(user, "--dir", f"{data}:/data", policy={"dirs": {"ro": allowed}})
        assert "does not give jobs" in text and str(data) in text
    assert "expected an absolute path, got 'data'" in refusal(user, policy={"dirs": {"ro": ["data"]}})


def test_a_daemon_gives_none_and_a_record_neither(data):
    cells.need_root()
    sent = cells.hotcell("run", "--warm", "--dir", str(data), "-", stdin=None, input="print(1)", env={"HOTCELL_SOCKET": "/nowhere"})
    assert sent.returncode == 64 and "--dir: not for a job that a daemon runs" in sent.stderr, sent
    run = cells.run("print(1)", "--persist-code", "--dir", f"{data}:/data")
    saved, = (run.output / "code").glob("*.py")
    done = cells.hotcell("replay", "-o", str(data / "again"), str(saved))
    assert done.returncode == 65 and "directories of the host" in done.stderr, done


def test_what_only_others_may_read_stays_unread():
    """The launcher's right is the caller's: an ordinary user gives nothing that he cannot read himself."""
    cells.need_root()
    user = cells.ordinary()
    path = cells.new_directory(cells.caller())
    (path / "roots").write_text("root's")
    (path / "roots").chmod(0o600)
    facts = probe('report(read=attempt(open, "/data/roots"))', "--dir", f"{path}:/data", user=user)
    assert facts["read"] == "EACCES"
    path.chmod(0o700)
    facts = probe('report(listed=attempt(os.listdir, "/data"))', "--dir", f"{path}:/data", user=user)
    assert facts["listed"] == "EACCES"


def test_the_guard_follows_links_below_tmp(data):
    (data / "link").symlink_to("/etc/passwd")
    policy = {"files": {"read": ["/tmp"], "read_message": "not {path}"}}
    result = cells.run("print(open('/tmp/a/words.txt').read()); open('/tmp/a/link')", "--dir", f"{data}:/tmp/a", policy=policy)
    assert result.stdout == "words\n" and "not /etc/passwd" in result.stderr, result


def test_attacks_of_the_drill_on_directories_work_outside(data):
    """`hotcell doctor --drill` tries these in cells; here on the directories themselves."""
    cells.need_root()
    user = cells.ordinary()
    with hostile.lures(user) as lure:
        (data / "words").write_text("words")
        (data / "out").symlink_to(lure["file"])
        os.mkfifo(data / "pipe")
        os.chown(data / "words", user.uid, user.uid)
        for path, mode in ((data, 0o777), (data / "pipe", 0o666)):
            path.chmod(mode)
        pipe = os.open(data / "pipe", os.O_RDWR | os.O_NONBLOCK)
        try:
            programs = [program for program in hostile.all_drill().values() if program.settings.get("cell") == "directories"]
            found = {program.name: hostile.outside(program, user, {**lure, "given": str(data), "copied": str(data)}) for program in programs}
        finally:
            os.close(pipe)
    assert len(found) == 6 and all(outcome.reached for outcome in found.values()), found
