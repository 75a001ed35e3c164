"""Commands: programs of the tree that a job executes, what they can do, and what none of them can."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import cells
import daemons
import session_client

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
import hotcell  # noqa: E402

pytestmark = pytest.mark.usefixtures("shell_tree")

SHELL = ["sh", "-c"]


def sh(script, *options, **arguments):
    return cells.execute([*SHELL, script], *options, **arguments)


# ---- what a command is ----

def test_a_command_runs_and_its_exit_status_is_that_of_hotcell(user):
    done = sh("echo out; echo err >&2; exit 3", user=user)
    assert (done.status, done.stdout, done.stderr) == (3, "out\n", "err\n"), done
    assert done.manifest["process"] == {"exit": 3}
    assert done.manifest["code"]["command"] == ["sh", "-c", "echo out; echo err >&2; exit 3"]
    assert done.manifest["reason"] == "the command failed with exit status 3"


def test_tools_of_the_tree_work_together(user):
    script = """
        set -e
        mkdir -p repo && cd repo
        git init -q . && git config user.email a@b.c && git config user.name n
        seq 1 9 > numbers && git add numbers && git commit -qm first
        sed -i s/5/five/ numbers && git diff --stat | tail -1
        grep -rn five . --exclude-dir .git
        find . -name numbers | xargs wc -l
        tar czf ../repo.tgz numbers && tar tzf ../repo.tgz
        awk '{ s += $1 } END { print s }' numbers
        echo '{"a": [1, 2]}' | jq -c '.a'
        diff -u <(sort numbers) numbers >/dev/null 2>&1 || true
        python3 -c 'import json, sys; print(sys.version_info[0], json.dumps([1]))'
    """
    done = cells.execute(["bash", "-c", script.replace("<(sort numbers)", "numbers")], user=user)
    assert done.stdout.splitlines() == [" 1 file changed, 1 insertion(+), 1 deletion(-)", "./numbers:5:five", "9 ./numbers", "numbers", "40", "[1,2]",
                                        "3 [1]"], done
    assert "repo.tgz" in done.listed()


def test_standard_input_environment_and_directories_are_the_commands(user, tmp_path):
    work = cells.new_directory(user) / "work"
    work.mkdir()
    (work / "here.txt").write_text("kept")
    os.chown(work, user.uid, user.uid)
    done = cells.execute([*SHELL, "cat; echo $WORD; pwd; cat here.txt"], "--stdin", "-", "--env", "WORD=given", "--dir", f"{work}:/work:cow", "--workdir",
                         "/work", stdin="fed\n", user=user)
    assert done.stdout == "fed\ngiven\n/work\nkept", done


@pytest.mark.parametrize("command, status, words", [
    (["nothing-like-that"], 127, "hotcell: nothing-like-that: there is no such program in the tree"),
    (["/usr/bin/nothing"], 127, "there is no such program in the tree"),
    (["/etc/passwd"], 126, "/etc/passwd: Permission denied (commands.allow"),
    (["sh", "-c", "kill -9 $$"], 137, "error: the command failed with exit status 137 (SIGKILL)"),
])
def test_what_cannot_be_executed_ends_as_in_a_shell(command, status, words):
    done = cells.execute(command)
    assert done.status == status and words in done.stderr + f"error: {done.manifest['reason']}", done


# ---- who may ----

def test_only_a_policy_with_commands_executes_any():
    for policy in ("default", "none", "analysis", "notebook"):
        done = cells.execute(["true"], "--tree", "shell", policy=policy)
        assert done.status == 2 and "(commands): policy" in done.stderr and '"shell"' in done.stderr, done
        assert done.manifest["rejection"]["rule"] == "commands"


def test_a_list_of_commands_holds_for_what_the_kernel_executes():
    policy = {"extends": "shell", "commands": {"allow": ["sh", "ls", "/usr/bin/cat"]}}
    assert sh("ls /usr/bin/cat; cat /dev/null", policy=policy).stdout == "/usr/bin/cat\n"
    refused = sh("grep x /dev/null", policy=policy)
    assert refused.status == 126 and "ermission denied" in refused.stderr, refused
    assert cells.execute(["grep", "x", "/dev/null"], policy=policy).status == 126


@pytest.mark.parametrize("policy, words", [
    ({"commands": {"allow": ["sh"]}}, 'commands.allow needs "processes": "fork"'),
    ({"processes": "fork", "commands": {"allow": ["bin/sh"]}}, 'commands.allow: expected "*", a name, or a path below /usr, got \'bin/sh\''),
    ({"processes": "fork", "commands": {"allow": ["/usr/../tmp/x"]}}, "a path below /usr, got '/usr/../tmp/x'"),
    ({"processes": "fork", "commands": {"allow": ["/output/x"]}}, "a path below /usr, got '/output/x'"),
    ({"processes": "fork", "commands": {"allow": [".."]}}, "expected a program, got '..'"),
    ({"processes": "fork", "commands": {"allow": "sh"}}, "expected a list"),
])
def test_a_policy_that_cannot_be_is_refused(tmp_path, policy, words):
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"extends": "default", **policy}))
    done = cells.hotcell("policy", "check", path)
    assert done.returncode == 78 and words in done.stderr, done


@pytest.mark.parametrize("spec, words", [
    ({"command": []}, "command: expected the name of a program, got no argument"),
    ({"command": [""]}, "command: expected the name of a program, got an empty text"),
    ({"command": "ls"}, "command: expected a list of strings, got a string"),
    ({"command": ["ls", 1]}, "command: expected a string, got a number"),
    ({"command": ["ls"], "vars": {"x": 1}}, "'vars' is for a program in Python, and 'command' is none"),
    ({"command": ["ls"], "args": ["x"]}, "'args' is for a program in Python"),
    ({"command": ["ls"], "code": "1"}, "expected either 'code', a program, or 'command', and not both"),
])
def test_a_spec_that_is_no_command_is_refused(tmp_path, spec, words):
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec))
    done = cells.hotcell("run", "--spec", path)
    assert done.returncode == 65 and words in done.stderr, done


# ---- nothing but the tree is executed ----

# Each tries to execute something that is no file of the tree; 42 means that it did. A copy of `true`, or a script, that the caller made.
ATTACKS = {
    "a copy in a place for writing": "cp /usr/bin/true ./x && ./x && exit 42",
    "a script with an interpreter's line": "printf '#!/bin/sh\\nexit 42' > x; chmod +x x; ./x; test $? = 42 && exit 42",
    "a link to a copy": "cp /usr/bin/true x; ln -s $PWD/x y; ./y && exit 42",
    "a copy by the dynamic loader": "cp /usr/bin/true x; $LOADER $PWD/x && exit 42",
    "a library of one's own": "cp /usr/lib/*/libc.so.6 ./libc.so.6; LD_LIBRARY_PATH=$PWD python3 -c 'import os; maps = 1' && "
                              "LD_LIBRARY_PATH=$PWD ls >/dev/null && exit 42",
    "a library that is preloaded": "cp /usr/lib/*/libm.so.6 ./m.so; LD_PRELOAD=$PWD/m.so /usr/bin/true 2>err; test -s err || exit 42",
    "a file in memory": "python3 -c 'import os, shutil\nfd = os.memfd_create(\"x\", 0)\n"
                        "os.write(fd, open(\"/usr/bin/true\", \"rb\").read())\nos.execve(fd, [\"x\"], {})' && exit 42",
    "a program by its descriptor": "python3 -c 'import os\nfd = os.open(\"/usr/bin/true\", os.O_RDONLY)\nos.execve(fd, [\"x\"], {})' && exit 42",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_outside_of_the_tree_is_executed(attack, user, tmp_path):
    script = f"LOADER=$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null | head -1); {ATTACKS[attack]}; exit 1"
    outside = subprocess.run([shutil.which("bash"), "-c", script.replace("python3", "/usr/bin/python3")], cwd=tmp_path, capture_output=True, text=True,
                             check=False, timeout=cells.PATIENCE)
    assert outside.returncode == 42, f"the attack works nowhere: {outside}"
    for place in ("/output", "/tmp"):
        done = cells.execute(["bash", "-c", f"cd {place}; {script}"], user=user)
        assert done.status == 1, done


def test_a_directory_of_the_host_is_no_place_to_execute_from(user):
    work = cells.new_directory(user) / "work"
    work.mkdir()
    shutil.copy("/usr/bin/true", work / "true")
    os.chown(work, user.uid, user.uid)
    for mode in ("ro", "cow"):
        done = cells.execute(["/work/true"], "--dir", f"{work}:/work:{mode}", user=user)
        assert done.status == 126, done


def test_the_tree_has_no_program_that_changes_its_user(shell_tree):
    modes = {path: os.lstat(os.path.join(folder, path)).st_mode for folder, _, names in os.walk(shell_tree) for path in names}
    assert len(modes) > 1000
    assert not [path for path, mode in modes.items() if mode & (stat.S_ISUID | stat.S_ISGID)]


def test_a_command_has_no_descriptor_of_the_harness():
    look = "import os\nfor fd in range(64):\n try: os.fstat(fd); print(fd)\n except OSError: pass"
    assert cells.execute(["python3", "-c", look]).stdout.split() == ["0", "1", "2"]
    done = cells.run(f"import subprocess\nprint(subprocess.run(['python3', '-c', {look!r}], capture_output=True, text=True, close_fds=False).stdout)",
                     tree="shell", policy="shell")
    assert done.stdout.split() == ["0", "1", "2"], done


def test_a_command_reaches_no_network_and_no_process_of_the_host():
    reach = "import socket\ntry: socket.create_connection(('127.0.0.1', 1), 1)\nexcept OSError as error: print(error.errno)"
    assert int(cells.execute(["python3", "-c", reach]).stdout) > 0
    assert sh("kill -0 -1; ls /proc").stdout == ""


# ---- other ways in ----

def test_commands_and_programs_of_a_session_share_their_files(user):
    watched = cells.watched([], "shell", user)
    with session_client.Session(*watched, tree="shell", policy="shell", user=user) as session:
        assert session.execute("sh", "-c", "echo made > made; sleep 99 & echo $! > pid").status == "ok"
        read = session.run("x = open('made').read()\nx")
        assert read.value == "made\n", read
        # What a command left running has ended with it.
        assert session.execute("sh", "-c", "kill -0 $(cat pid) || echo gone").stdout == "gone\n"
        failed = session.execute("sh", "-c", "exit 5")
        assert (failed.status, failed.state, failed.manifest["guest"]["exit"]) == ("error", "kept", 5), failed
        assert session.execute("sleep", "9", limits={"timeout": "300ms"}).status == "timeout"
        assert session.execute("cat", stdin="fed").stdout == "fed"
        assert session.run("x").value == "made\n"


def test_a_command_of_a_session_begins_in_the_directory_that_its_run_names(user):
    watched = cells.watched([], "shell", user)
    with session_client.Session(*watched, tree="shell", policy="shell", user=user) as session:
        assert session.execute("mkdir", "/tmp/inner").status == "ok"
        assert session.execute("pwd", workdir="/tmp/inner").stdout == "/tmp/inner\n"
        # It is this run's alone: neither the next command nor the interpreter has moved.
        assert session.execute("pwd").stdout == "/output\n"
        assert session.run("import os\nos.getcwd()").value == "/output"
        missing = session.execute("pwd", workdir="/tmp/none")
        assert missing.manifest["guest"]["exit"] == 126 and missing.stdout == "", missing
        assert missing.manifest["stderr"]["text"] == "hotcell: /tmp/none: No such file or directory (workdir)\n"
        # The interpreter's own directory is where it went, and a command without one of its own begins there.
        session.run("os.chdir('/tmp')")
        assert session.execute("pwd").stdout == "/tmp\n"
        for spec, words in (({"code": "1", "workdir": "/tmp"}, "in a session only a command has it"),
                            ({"command": ["pwd"], "workdir": "tmp"}, "expected an absolute path in the cell, got 'tmp'")):
            session.ask({"run": spec})
            assert words in session.answer()["message"]
# Processes that outlive the program, each of which holds the writing end of a pipe: many that wait; some that are another process each time that one looks, and then wait.
LEFT = {
    "many": "import subprocess\nsubprocess.run(['sh', '-c', 'i=0; while [ $i -lt 300 ]; do sleep 99 & i=$((i + 1)); done'], pass_fds=[held])\nos._exit(0)",
    "restless": "for _ in range(4):\n if os.fork() == 0: break\nelse: os._exit(0)\n"
                "end = time.monotonic() + 0.4\nwhile time.monotonic() < end:\n if os.fork(): os._exit(0)\nsignal.pause()",
}
HELD = "import os, signal, time\nos.mkfifo('/tmp/held')\nreader = os.open('/tmp/held', os.O_RDONLY | os.O_NONBLOCK)\nheld = os.open('/tmp/held', os.O_WRONLY)\n"


@pytest.mark.parametrize("kind", LEFT)
def test_no_process_that_a_run_of_a_session_left_outlives_the_run(kind, user):
    watched = cells.watched([], "shell", user)
    with session_client.Session(*watched, "--pids", "400", "--memory", "1G", tree="shell", policy="shell", user=user) as session:
        assert session.run("x = 1").status == "ok"
        left = session.run(f"{HELD}if os.fork() == 0:\n " + LEFT[kind].replace("\n", "\n ") + "\nos.wait()\nos.close(held)")
        assert left.status == "ok", left
        if left.state == "lost":  # some could not be caught: the cell has ended, and they with it
            assert "they were killed with the cell" in left.manifest["warnings"][0], left
            assert session.answer()["reason"] == "lost"
            return
        assert left.state == "kept", left
        read = session.run("os.read(reader, 1) == b''")
        assert read.value is True, read  # nobody has the other end


def test_processes_without_a_parent_spend_the_time_of_their_run(user):
    watched = cells.watched([], "shell", user)
    # Each link of the chain is an orphan, and is replaced after a moment.
    chain = "import os, time\nif os.fork() == 0:\n end = time.monotonic() + {0}\n while time.monotonic() < end:\n  moment = time.monotonic() + 0.03\n" \
            "  while time.monotonic() < moment: pass\n  if os.fork(): os._exit(0)\n os._exit(0)\ntime.sleep({0})"
    with session_client.Session(*watched, "--timeout", "30s", tree="shell", policy="shell", user=user) as session:
        idle = session.run("x = 1")
        assert idle.manifest["usage"]["cpu_user"] < 0.5, idle
        busy = session.run(chain.format(3))
        assert busy.status == "ok" and busy.manifest["usage"]["cpu_user"] > 0.2, busy.manifest["usage"]
        assert session.run("x").manifest["usage"]["cpu_user"] < 0.2
        assert session.run(chain.format(20), limits={"cpu": "1s"}).status == "cpu"


def test_memory_of_processes_without_a_parent_is_in_the_peak_of_their_run(user):
    watched = cells.watched([], "shell", user)
    hold = "import os, time\nready, told = os.pipe()\nif os.fork() == 0:\n if os.fork(): os._exit(0)\n x = bytearray(b'1') * (90 << 20)\n" \
           " os.write(told, b'1')\n time.sleep(99)\nos.read(ready, 1)\ntime.sleep(1)"
    with session_client.Session(*watched, tree="shell", policy="shell", user=user) as session:
        held = session.run(hold)
        assert held.status == "ok" and held.manifest["usage"]["memory_peak"] > 80 << 20, held.manifest["usage"]


def test_a_session_that_a_command_kills_whole_says_so():
    with session_client.Session(*cells.watched([], "shell", cells.caller()), tree="shell", policy="shell") as session:
        assert session.run("x = 1").status == "ok"
        session.ask({"run": {"command": ["sh", "-c", "kill -9 -1"]}})
        killed = session.result()
        assert (killed.status, killed.state) == ("error", "lost"), killed
        assert session.answer()["reason"] == "lost"


def test_hotcelld_runs_commands_where_the_policy_allows_them(user):
    counted = {} if cells.counts_memory(user) else {"limits": {"enforcement": "rlimits"}}
    policy = json.dumps({"extends": "shell", **counted})
    folder = cells.new_directory(user)
    (folder / "commands.json").write_text(policy)
    with daemons.Daemon(user, base=False, env={"HOTCELL_POLICIES": str(folder)}) as daemon:
        for _ in range(3):  # cold, then warm
            answer = daemon.post({"command": ["sh", "-c", "echo $0; exit 7"], "policy": "commands"})
            assert answer.json["status"] == "error" and answer.json["process"] == {"exit": 7}, answer
            assert answer.json["code"]["command"] == ["sh", "-c", "echo $0; exit 7"]
        with hotcell.Daemon(daemon.socket).session(policy="commands") as session:
            assert session.run(["mkdir", "/tmp/inner"]).command_status == 0
            assert [session.run(["pwd"], workdir=place).text for place in ("/tmp/inner", None)] == ["/tmp/inner\n", "/output\n"]
            with pytest.raises(hotcell.InputError, match="only a command has it"):
                session.run("1", workdir="/tmp")
        refused = daemon.post({"command": ["true"], "policy": "default"})
        assert refused.json["rejection"]["rule"] == "commands", refused


def test_python_runs_commands():
    policy = {"extends": "shell", **({} if cells.counts_memory(cells.caller()) else {"limits": {"enforcement": "rlimits"}})}
    done = hotcell.run(["sh", "-c", "cat; exit 4"], input="fed", policy=policy, binary=cells.HOTCELL)
    assert (done.status, done.command_status, done.text) == ("error", 4, "fed"), done
    assert hotcell.run("1", policy=policy, binary=cells.HOTCELL).command_status is None
    with hotcell.Session(policy=policy, binary=cells.HOTCELL) as session:
        assert session.run(["sh", "-c", "echo x > left"]).command_status == 0
        assert session.run("open('left').read()").value == "x\n"
        assert session.run(["nothing-like-that"]).command_status == 127
    with pytest.raises(hotcell.InputError, match="code: expected str, or for a command a list of str"):
        hotcell.run(b"x", binary=cells.HOTCELL)
    with pytest.raises(hotcell.InputError, match="command: expected the name of a program"):
        hotcell.run([], binary=cells.HOTCELL)


def test_a_command_that_was_kept_is_replayed_as_one():
    options = cells.watched([], "shell", cells.caller())
    spec = cells.new_directory(cells.caller()) / "spec.json"
    for script, status in (("echo hi", 0), ("echo hi; cat /dev/urandom | head -c 8 | od", 1)):
        limits = {"limits": {"enforcement": "rlimits"}} if options else {}
        spec.write_text(json.dumps({"command": ["sh", "-c", script], "policy": "shell", "persist_code": True, "output_dir": f"out{status}", **limits}))
        assert cells.hotcell("run", "--spec", spec, cwd=spec.parent).returncode == 0
        kept, = (spec.parent / f"out{status}" / "code").glob("*.command.json")
        assert json.loads(kept.read_text()) == ["sh", "-c", script]
        older = kept.with_name(kept.name.replace(".command.json", ".py"))  # as it was called once
        older.write_bytes(kept.read_bytes())
        for file in (kept, older):
            again = cells.hotcell("replay", "-o", "again", file, cwd=spec.parent)
            assert again.returncode == status and ("stdout differs" in again.stdout) == bool(status), again
    for wrong in ("spec.json", "run_x.command.jso", ".command.json"):
        refused = cells.hotcell("replay", wrong, cwd=spec.parent)
        assert refused.returncode == 65 and "expected a file as --persist-code makes" in refused.stderr, refused


def test_inputs_of_a_command_are_files(user):
    """Whatever their names are: nothing reads them as tables, for which the tree has no library."""
    data = cells.new_directory(user) / "s.csv"
    data.write_text("a,b\n1,2\n")
    data.chmod(0o644)
    done = cells.execute([*SHELL, "cat s.csv /input/d.csv"], "--input", f"d={data}", user=user)
    assert (done.status, done.stdout) == (0, "a,b\n1,2\n" * 2), done
    with session_client.Session(*cells.watched([], "shell", user), tree="shell", policy="shell", user=user) as session:
        ran = session.execute("cat", "t.csv", inputs={"t": {"file": "t.csv", "text": "a\n1\n"}})
        assert ran.stdout == "a\n1\n", ran


def test_the_card_and_the_explanation_say_which_programs_there_are(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"extends": "shell", "commands": {"allow": ["sh", "ls"]}}))
    none = cells.hotcell("policy", "card", "-t", "base", "default").stdout
    assert "Other programs: there are none" in none
    for policy, said, listed in (("shell", "Other programs, except those in /usr/bin and of layers; there is no pip.", ["*"]), (path, "Other programs, except: sh, ls.", ["sh", "ls"])):
        card = cells.hotcell("policy", "card", policy).stdout
        assert " ".join(said.split()) in " ".join(card.split()) and "there are none, no shell" not in card, card
        assert json.loads(cells.hotcell("policy", "card", "--json", policy).stdout)["commands"] == listed
        explained = cells.hotcell("policy", "explain", policy).stdout
        assert "execve passes the filter" in explained and "start              commands.allow" in explained, explained
