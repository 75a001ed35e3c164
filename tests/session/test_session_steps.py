"""Steps of a session: where their results go, one at a time, and how old ones are removed."""

import fcntl
import os
from pathlib import Path

import pytest

import cells

LOCK = ".hotcell-session"


@pytest.fixture(name="here")
def fixture_here(base_tree):  # pylint: disable=unused-argument
    return cells.new_directory(cells.caller())


def step(here, name, code="print(1)", session="s1"):
    (here / "program.py").write_text(code)
    return cells.hotcell("run", "-t", cells.tree_path("base"), "-o", "out", "--session", session, "--step", name,
                         "program.py", cwd=here)


def clean(here, keep, path="out/s1"):
    return cells.hotcell("clean", "--keep", str(keep), path, cwd=here)


def steps(here):
    return sorted(name for name in os.listdir(here / "out/s1") if name != LOCK)


def make_steps(here, names):
    for at, name in enumerate(names):
        assert step(here, name, "open('/output/f', 'w').write('x')").returncode == 0
        os.utime(here / "out/s1" / name, (1000 + at, 1000 + at))


def test_results_go_to_session_and_step(here):
    done = step(here, "a", "import os; os.makedirs('/output/plots'); open('/output/plots/p.txt', 'w').write('x')")
    assert done.returncode == 0, done
    assert (here / "out/s1/a/plots/p.txt").read_text() == "x"
    assert (here / "out/s1/a/manifest.json").is_file()
    assert step(here, "b").returncode == 0
    assert steps(here) == ["a", "b"]


def test_a_session_that_is_in_use_is_refused_at_once(here):
    assert step(here, "a").returncode == 0
    with open(here / "out/s1" / LOCK, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = step(here, "b")
        assert done.returncode == 65
        assert done.stderr == "hotcell: session s1 is in use: one step runs at a time (--wait waits for it)\n"
        assert step(here, "b", "1", "s2").returncode == 0
        assert clean(here, 0).returncode == 65
    assert step(here, "b").returncode == 0


def test_a_running_step_holds_its_session(here):
    program = "import time\nprint('up', flush=True)\ntime.sleep(60)"
    with cells.start(program, "--session", "s1", "--step", "a", "-o", str(here / "out")) as first:
        assert first.read_line() == "up"
        assert step(here, "b").returncode == 65
    assert step(here, "b").returncode == 0


def test_waiting_for_a_session(here):
    assert step(here, "a").returncode == 0
    with open(here / "out/s1" / LOCK, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        job = cells.start("print('ran')", "--session", "s1", "--step", "b", "--wait", "-o", str(here / "out"))
        file = f":{os.fstat(held.fileno()).st_ino} "
        cells.wait_until("the job waits", lambda: any(
            "->" in line and file in line for line in Path("/proc/locks").read_text().splitlines()))
        fcntl.flock(held, fcntl.LOCK_UN)
        result = job.finish()
    assert result.stdout == "ran\n" and (here / "out/s1/b/manifest.json").is_file()


@pytest.mark.parametrize("options, says", [
    (["--session", "s"], "need each other"),
    (["--step", "s"], "need each other"),
    (["--session", "s", "--step", "t"], "need each other"),
    (["--wait"], "need each other"),
    (["--session", "..", "--step", "t", "-o", "out"], "does not begin with a dot"),
    (["--session", "a/b", "--step", "t", "-o", "out"], "expected"),
    (["--session", "a", "--step", ".hotcell-session", "-o", "out"], "does not begin with a dot"),
])
def test_bad_calls(here, options, says):
    (here / "program.py").write_text("print(1)")
    done = cells.hotcell("run", *options, "program.py", cwd=here)
    assert done.returncode == 64 and says in done.stderr and os.listdir(here) == ["program.py"]


def test_a_link_is_no_session(here):
    (here / "out").mkdir()
    (here / "elsewhere").mkdir()
    (here / "out/s1").symlink_to(here / "elsewhere")
    assert step(here, "a").returncode == 65
    assert os.listdir(here / "elsewhere") == []


def test_the_newest_steps_are_kept(here):
    make_steps(here, ["c", "a", "d", "b"])
    done = clean(here, 2)
    assert done.returncode == 0
    assert done.stdout == "removed out/s1/a\nremoved out/s1/c\n2 steps removed from out/s1\n"
    assert steps(here) == ["b", "d"]
    assert clean(here, 5).stdout == "0 steps removed from out/s1\n"
    assert clean(here, 0).returncode == 0 and steps(here) == []


def test_only_steps_are_removed(here):
    make_steps(here, ["a"])
    session, outside = here / "out/s1", here / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (session / "mine").mkdir()
    (session / "mine/notes").write_text("kept")
    (session / "file").write_text("kept")
    (session / "link").symlink_to(outside)
    (session / "forged").mkdir()
    (session / "forged/manifest.json").symlink_to(session / "a/manifest.json")
    (session / "empty").mkdir()
    (session / "a/to-outside").symlink_to(outside)
    assert clean(here, 0).returncode == 0
    assert steps(here) == ["file", "forged", "link", "mine"]
    assert (outside / "kept").read_text() == "kept"


def test_deep_and_odd_directories_go_too(here):
    make_steps(here, ["a"])
    path = here / "out/s1/a"
    at = os.open(path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 100, dir_fd=at)
        inner = os.open("d" * 100, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    (path / b"bad\xff\nname".decode(errors="surrogateescape")).write_text("x")
    assert clean(here, 0).returncode == 0, clean(here, 0)
    assert steps(here) == []


def test_what_is_no_session_is_left_alone(here):
    (here / "other").mkdir()
    (here / "other/empty").mkdir()
    done = clean(here, 0, "other")
    assert done.returncode == 65 and "no session's directory" in done.stderr
    assert os.listdir(here / "other") == ["empty"]
    assert clean(here, 0, "missing").returncode == 65
    assert clean(here, "x").returncode == 64 and clean(here, -1).returncode == 64
