"""Options have one name each: an abbreviation is refused, and the message names what is near, or where the thing is."""

import os
import subprocess
import threading

import cells
import daemons
import pytest


def refused(*command):
    done = cells.hotcell(*command)
    assert done.returncode == 64, done
    return done.stderr


@pytest.mark.parametrize("command, option, near", [
    (("run", "--time=3", "x.py"), "--time", "--timeout"), (("run", "--memry", "1G", "x.py"), "--memry", "--memory"),
    (("run", "--time", "3", "x.py"), "--time", "--timeout"), (("session", "--outpu", "x"), "--outpu", "--output"),
    (("check", "--polic", "default", "x.py"), "--polic", "--policy"), (("verify", "--sig", "x", "m"), "--sig", "--sign"),
    (("batch", "--label", "a=b", "--rsume", "x"), "--rsume", "--resume"), (("doctor", "--dril"), "--dril", "--drill"),
    (("replay", "--stdi", "x", "r"), "--stdi", "--stdin"), (("mcp", "--stor", "1G"), "--stor", "--store"),
])
def test_an_abbreviation_is_refused_with_the_name(command, option, near):
    assert f"unknown option {option}; did you mean {near}?" in refused(*command)


@pytest.mark.parametrize("command, where", [("session", "run"), ("batch", "job"), ("mcp", "call")])
@pytest.mark.parametrize("option", [["--stdin", "5"], ["--stdin=5"]])
def test_standard_input_of_several_programs_is_in_their_requests(command, where, option):
    said = refused(command, *option)
    assert "there is no option --stdin" in said and where in said and '"stdin"' in said


def test_the_daemon_and_the_ledger_take_exact_names():
    done = subprocess.run([daemons.HOTCELLD, "--conf", "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 64 and "unknown option --conf" in done.stderr
    assert "--js" in refused("jobs", "--js")


def test_a_value_may_look_like_an_option(base_tree, tmp_path):  # pylint: disable=unused-argument
    (tmp_path / "p.py").write_text("print(1)")
    assert cells.hotcell("run", "-t", cells.tree_path("base"), "--label", "name=--mem=x", "--timeout", "9s", str(tmp_path / "p.py")).stdout == "1\n"


def test_a_hint_in_a_session_names_the_member(base_tree):  # pylint: disable=unused-argument
    import session_client
    with session_client.Session() as session:
        said = session.run("input()").manifest["stderr"]["text"]
        assert "EOFError" in said and '"stdin"' in said and "--stdin" not in said


def test_return_without_a_place_says_where_the_values_are(base_tree, tmp_path):  # pylint: disable=unused-argument
    (tmp_path / "p.py").write_text("x = 1")
    command = ["run", "-t", cells.tree_path("base"), "--return", "x", str(tmp_path / "p.py")]
    assert "--return: the values are members of the manifest" in cells.hotcell(*command).stderr
    assert cells.hotcell(*command, "-o", str(tmp_path / "out")).stderr == cells.hotcell(*command, "--json").stderr == ""


@pytest.mark.parametrize("writer", [False, True])
def test_a_fifo_without_a_writer_is_waited_for_under_the_time_limit(base_tree, tmp_path, writer):  # pylint: disable=unused-argument
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "p.py").write_text("print('read', repr(input()))")
    if writer:
        threading.Thread(target=lambda: fifo.write_text("came later\n")).start()
    done = cells.hotcell("run", "-t", cells.tree_path("base"), "--timeout", "2s" if not writer else "30s", "--stdin", str(fifo), str(tmp_path / "p.py"))
    assert (done.returncode, done.stdout) == ((0, "read 'came later'\n") if writer else (3, "")), done
