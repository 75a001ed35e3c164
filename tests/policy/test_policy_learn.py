"""hotcell policy learn: what it proposes is enough for the program, and little more."""

import json
import os
import re
from pathlib import Path

import pytest

import cells

PROGRAMS = Path(__file__).parents[1] / "corpus" / "programs"
CORPUS = [path.stem for path in sorted(PROGRAMS.glob("*.py"))][:14]


def learn(program, *options, status=0, tree="base", raw=False):
    """The proposal, as its text if `raw`, and what was said about it."""
    home = cells.new_directory(cells.caller())
    path = home / "program.py"
    path.write_text(program)
    done = cells.hotcell("policy", "learn", "-t", cells.tree_path(tree), "-o", home / "out", "--timeout", "30s",
                         *options, path)
    assert done.returncode == status, done
    assert "programs that you trust alone" in done.stderr
    return done.stdout if raw else json.loads(done.stdout), done.stderr


def run(program, policy, **more):
    return cells.run(program, "--timeout=30s", "--memory=512M", "--pids=64", policy=policy, **more)


def shown(text):
    """Output without what no two runs have in common."""
    return re.sub(r"0x[0-9a-f]+|\d+\.\d+ ?m?s", "", text)


def assert_enough(program):
    """Under the proposal the program says what it says under no guard at all."""
    proposal, said = learn(program)
    path = cells.new_directory(cells.caller()) / "learned.json"
    to_run = cells.watched_policy(proposal, cells.caller())
    assert to_run == proposal or "starts only with limits.enforcement" in said
    path.write_text(json.dumps(to_run))
    path.parent.chmod(0o755)
    assert cells.hotcell("policy", "check", path).returncode == 0
    result = cells.run(program, "-p", path)
    assert result.manifest["status"] == "ok", (result, proposal)
    assert result.manifest["denials"] == [] or "cannot be granted" in said, (result.manifest["denials"], said)
    return proposal, said, result


@pytest.mark.parametrize("name", CORPUS)
def test_a_program_does_the_same_under_what_was_learnt(base_tree, name):
    program = (PROGRAMS / f"{name}.py").read_text()
    before = cells.run(program, "--timeout=30s")
    proposal, _, after = assert_enough(program)
    assert shown(after.stdout) == shown(before.stdout)
    assert after.files() == before.files()
    assert proposal["extends"] == "default" and "network" not in proposal


def test_imports_are_exactly_those_of_the_program(base_tree):
    proposal, _, _ = assert_enough("import json\nfrom collections import abc\nimport importlib\n"
                                   "importlib.import_module('decimal')\n__import__('csv')\nprint(1)")
    assert set(proposal["imports"]["allow"]) == {"collections", "csv", "decimal", "importlib", "json"}
    refused = run("import sqlite3", proposal)
    assert refused.manifest["status"] == "rejected"


def test_files_are_those_that_were_used(base_tree):
    proposal, _, _ = assert_enough("open('/output/a', 'w').write('x')\nprint(open('/output/a').read())")
    assert proposal["files"] == {"read": ["/output"], "write": ["/output"]}
    refused = run("open('/tmp/a', 'w')", proposal)
    assert refused.manifest["status"] == "error" and "Writing /tmp/a" in refused.stderr


def test_files_below_an_open_directory_have_their_whole_path(base_tree):
    """Nothing in a cell says which path a descriptor has."""
    proposal, _, _ = assert_enough("import os\nat = os.open('/tmp', os.O_RDONLY)\nos.mkdir('a', dir_fd=at)\n"
                                   "at = os.open('a', os.O_RDONLY, dir_fd=at)\nos.mkdir('b', dir_fd=at)\nprint(os.listdir('/tmp/a'))")
    assert proposal["files"]["write"] == ["/tmp"]


def test_limits_have_a_margin_and_are_smaller_than_before(base_tree):
    proposal, _, result = assert_enough("print('x' * 1000)")
    assert proposal["limits"]["memory"] in ("96M", "128M") and proposal["limits"]["stdout"] == "64K"
    assert result.manifest["limits"]["timeout"] < 30


def test_calls_that_were_not_used_are_denied(base_tree):
    proposal, _, _ = assert_enough("print(1)")
    assert {"links", "socketpair", "clone", "file_changes"} <= set(proposal["syscalls"]["deny"])
    assert proposal["syscalls"]["allow"] == [] and proposal["syscalls"]["executable_memory"] == "files"
    other, _, _ = assert_enough("import os, threading\nos.mkdir('/tmp/d')\nt = threading.Thread(target=print)\n"
                                "t.start()\nt.join()")
    assert not {"clone", "file_changes"} & set(other["syscalls"]["deny"])


def test_an_optional_call_is_asked_for(base_tree):
    proposal, _, result = assert_enough("import os\nprint(os.nice(3))")
    assert proposal["syscalls"]["allow"] == ["setpriority"] and result.stdout == f"{min(os.nice(0) + 3, 19)}\n"


def test_sockets_on_loopback(base_tree):
    proposal, _, result = assert_enough("""if True:
        import socket, threading
        server = socket.create_server(("127.0.0.1", 0))
        def answer():
            peer, _ = server.accept()
            peer.sendall(b"hello")
            peer.close()
        thread = threading.Thread(target=answer)
        thread.start()
        print(socket.create_connection(server.getsockname()).recv(9))
        thread.join()
    """)
    assert proposal["network"] == "loopback" and "processes" not in proposal
    assert result.stdout == "b'hello'\n"


def test_processes_that_are_forked(base_tree):
    proposal, _, result = assert_enough("import os\npid = os.fork()\nif pid == 0:\n    os._exit(7)\n"
                                        "print(os.waitpid(pid, 0)[1] >> 8)")
    assert proposal["processes"] == "fork" and "network" not in proposal
    assert result.stdout == "7\n"


def test_foreign_code(base_tree):
    proposal, _, result = assert_enough("import ctypes\nlibc = ctypes.CDLL(None)\nprint(libc.abs(-5))")
    assert "ctypes" in proposal["imports"]["allow"] and "ctypes" not in proposal["imports"]["deny"]
    assert "subprocess" in proposal["imports"]["deny"]
    assert result.stdout == "5\n"


def test_code_that_is_made_at_run_time(base_tree):
    proposal, _, result = assert_enough("import ctypes\nf = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 7)\nprint(f())")
    assert "executable_memory" not in proposal["syscalls"]
    assert result.stdout == "7\n"


def test_other_programs_cannot_be_granted(base_tree):
    program = "import subprocess\ntry:\n    subprocess.run(['/bin/true'])\nexcept OSError as e:\n    print(e.errno)"
    proposal, said, result = assert_enough(program)
    assert "hotcell: cannot be granted: execve: the cell has one program\n" in said
    assert result.stdout in ("1\n", "2\n")


def test_what_no_policy_allows_stays_refused_while_learning(base_tree):
    program = """if True:
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for call, arguments in (("unshare", (0x10000000,)), ("mount", (0, 0, 0, 0, 0)), ("ptrace", (0, 0, 0, 0)),
                                ("keyctl", (0, 0, 0)), ("flock", (0, 2))):
            numbers = {"unshare": 272, "mount": 165, "ptrace": 101, "keyctl": 250, "flock": 73}
            print(call, libc.syscall(numbers[call], *arguments), ctypes.get_errno())
    """
    proposal, said, result = assert_enough(program)
    for name, reason in (("unshare", "no namespaces"), ("mount", "the mounts are fixed"), ("ptrace", "no debugging"),
                         ("keyctl", "keyrings are shared"), ("flock", "would see each other's locks")):
        assert f"cannot be granted: {name}: " in said and reason in said
    assert [line.split()[1:] for line in result.stdout.splitlines()] == [["-1", "1"]] * 4 + [["-1", "37"]]


def test_attributes_and_calls_that_the_default_denies(base_tree):
    proposal, _, result = assert_enough("print(len(object.__subclasses__()) > 9)")
    assert "__subclasses__" not in proposal["attributes"]["deny"] and "__globals__" in proposal["attributes"]["deny"]
    assert result.stdout == "True\n"


def test_a_program_that_fails_is_said_to_have_failed(base_tree):
    proposal, said = learn("import json\nraise ValueError('x')", status=1)
    assert "there may be more to learn: error" in said and proposal["imports"]["allow"] == ["json"]


def test_what_the_run_was_given_and_is_not_measured_is_proposed_as_it_was(base_tree):
    """Limits of /tmp and of a file: nobody counts how much of them was used."""
    program = "with open('/tmp/big', 'wb') as big:\n    big.write(bytes(24 << 20))\nprint('written')"
    proposal, _ = learn(program, "--tmp-size=32M", "--file-size=300M", "--output-mode=bind", "--network=loopback")
    assert proposal["limits"]["tmp"] == "32M" and proposal["limits"]["file"] == "300M"
    assert proposal["output"] == {"mode": "bind"} and "network" not in proposal and "guard" not in proposal
    assert not {"output_files", "open_files"} & set(proposal["limits"])


def test_what_a_program_says_of_itself_commands_no_terminal(base_tree):
    """It may not be worth the trust: what it sends in the guard's name goes into the proposal."""
    text = "\u009b2J\x7f\x1b[2J"
    proposal, said = learn(f"""
import ctypes, json, struct
for rule in ("imports", "files.write", "builtins"):
    body = json.dumps({{"layer": "runtime", "rule": rule, "what": {text!r}, "line": None, "count": 1, "hint": None}}).encode()
    packet = struct.pack("<BBHI", 7, 1, 0, len(body)) + body
    assert ctypes.CDLL(None).send(3, packet, len(packet), 0) > 0
""", raw=True)
    assert text in json.loads(proposal)["imports"]["allow"] and said.count("cannot be granted: ") == 2
    assert not set(map(ord, proposal + said)) & {0x1b, 0x7f, *range(0x80, 0xa0)}


def test_names_below_a_directory_that_is_open_are_in_its_place(base_tree):
    """So shutil.rmtree() removes what is in a directory."""
    proposal, said, _ = assert_enough("import os, shutil, tempfile\nplace = tempfile.mkdtemp()\n"
                                      "open(place + '/x', 'w').close()\nshutil.rmtree(place)")
    assert proposal["files"]["write"] == ["/tmp"] and "cannot be granted" not in said


def test_learn_takes_no_policy():
    done = cells.hotcell("policy", "learn", "-p", "charts", __file__)
    assert done.returncode == 64 and "takes no policy" in done.stderr


def test_learn_has_one_thing_to_print():
    done = cells.hotcell("policy", "learn", "--json", __file__)
    assert done.returncode == 64 and "takes no --json" in done.stderr and done.stdout == ""


def test_as_an_ordinary_user(base_tree, user):
    path = cells.new_directory(user) / "program.py"
    path.write_text("print(1)")
    path.chmod(0o644)
    done = cells.hotcell("policy", "learn", "-t", cells.tree_path("base"), "-o", path.parent / "out", path, user=user)
    assert done.returncode == 0, done
    assert json.loads(done.stdout)["imports"]["allow"] == []
