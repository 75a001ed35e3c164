"""hotcell doctor --drill: attacks on cells of the user's own policy, on the user's own host."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

import cells

TOP = Path(__file__).resolve().parents[2]
FILTERS = 4 + int(re.search(r"^Seccomp_filters:\t(\d+)$", Path("/proc/self/status").read_text(encoding="ascii"), re.M)[1])
PROGRAMS = {path.stem for path in (TOP / "src" / "cell" / "doctor" / "attacks").glob("*.py")} - {"kit", "embed"}


class Drill:
    """A drill that runs, with what it puts up on the host in places that nobody else uses."""

    def __init__(self, *options, user):
        tree = [] if "-t" in options else ["-t", cells.tree_path("base")]
        self.temp = cells.new_directory(user)
        self.process = subprocess.Popen(
            [cells.HOTCELL, "doctor", "--drill", *tree, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, text=True, cwd=self.temp, env={**user.environment(), "TMPDIR": str(self.temp)},
            **user.popen_arguments())

    def finish(self):
        """What came out. Nothing of it is left: no file, no segment."""
        stdout, stderr = self.process.communicate(timeout=cells.PATIENCE)
        rows = Path("/proc/sysvipc/shm").read_text(encoding="ascii").splitlines()[1:]
        assert str(self.process.pid) not in [row.split()[4] for row in rows]  # cpid: proc(5)
        assert os.listdir(self.temp) == []
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, stdout, stderr)


def drill(*options, user):
    return Drill(*options, user=user).finish()


def write_policy(user, policy):
    path = cells.new_directory(user) / "policy.json"
    path.write_text(json.dumps(policy))
    return path


@pytest.mark.parametrize("policy", [{"output": {"mode": "bind"}},
                                    {"prelude": {"code": "open('/output/file', 'w').close()"}}])
def test_a_policy_may_use_its_output_directory(user, policy):
    done = drill("-p", write_policy(user, {"extends": "none", **policy}), "--attack", "file-shadow", user=user)
    assert done.returncode == 0 and "1 held, 0 reached something" in done.stdout, done.stdout + done.stderr


def test_all_attacks_are_held_and_the_drill_says_by_which_layer(user):
    """The only drill with all attacks: the others are about what else there is."""
    done = drill("--json", user=user)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["ok"] and answer["policy"] == "default"
    held = {attack["name"]: attack for attack in answer["attacks"]}
    assert set(held) == PROGRAMS and len(held) > 100
    tried = [attempt for attack in answer["attacks"] for attempt in (attack["policy"], attack["unguarded"])
             if attempt["verdict"] != "not tried"]
    assert answer["held"] == answer["tried"] == len(tried) > 200
    assert all(attack["ok"] and attack["layers"] for attack in held.values())
    assert "guard" in {attack["policy"]["by"] for attack in held.values()}
    assert {"seccomp", "kernel"} <= {attack["unguarded"]["by"] for attack in held.values()}
    assert {"seccomp", "landlock", "user_namespace", "guard"} <= {layer["name"] for layer in answer["layers"]}
    for layer in answer["layers"]:
        assert layer["attacks"] == sum(layer["name"] in attack["layers"] for attack in answer["attacks"]
                                       if attack["policy"]["verdict"] != "not tried")


@pytest.mark.long
def test_attacks_on_warm_cells_are_held_alike(base_tree):
    """All of them from two zygotes, of an ordinary user; test_warm_cells.py has more of this."""
    done = drill("--warm", "--json", user=cells.ordinary())
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["ok"] and answer["held"] == answer["tried"] > 200
    assert {attack["name"] for attack in answer["attacks"]} == PROGRAMS
    evidence, = [layer["evidence"] for layer in answer["layers"] if layer["name"] == "seccomp_job"]
    assert f"Seccomp_filters {FILTERS}," in evidence  # the zygote's is one of them


def test_one_attack_on_warm_cells(user):
    done = drill("--warm", "--attack", "mount-bind", user=user)
    assert done.returncode == 0 and done.stdout.endswith("2 attempts under policy default: 2 held, 0 reached something, 0 unclear\n")


def test_a_policy_without_warm_cells_cannot_have_them_attacked(user):
    done = drill("-p", write_policy(user, {"extends": "none", "output": {"mode": "bind"}}), "--warm", user=user)
    assert done.returncode == 69 and 'output.mode "bind" has no warm cells' in done.stderr and done.stdout == ""


def test_the_readme_shows_as_many_attempts_as_there_are():
    shown = re.search(r"^(\d+) attempts under policy default: (\d+) held, 0 reached something, 0 unclear$",
                      (TOP / "README.md").read_text(encoding="utf-8"), re.M)
    assert shown and int(shown[1]) == int(shown[2]) == 2 * len(PROGRAMS)


def test_as_text_it_has_a_line_for_the_attack_and_counts(user):
    done = drill("--attack", "mount-bind", user=user)
    assert done.returncode == 0, done.stdout + done.stderr
    attacks = re.findall(r"^(pass|FAIL|-) +([a-z0-9-]+) +\w", done.stdout.partition(" layer ")[0], re.M)
    assert attacks == [("pass", "mount-bind")]
    assert done.stdout.splitlines()[-1] == "2 attempts under policy default: 2 held, 0 reached something, 0 unclear"


def test_an_attack_that_needs_more_open_files_than_may_be_is_not_tried(base_tree, user):
    """Else it would fail for want of them, and seem held."""
    def try_with(files):
        done = subprocess.run(
            ["prlimit", f"--nofile={files}:{files}", cells.HOTCELL, "doctor", "--drill", "-t", cells.tree_path("base"),
             "--attack", "memory-names"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=cells.PATIENCE,
            cwd=cells.new_directory(user), env=user.environment(), **user.popen_arguments())
        assert done.returncode == 0, done.stdout + done.stderr
        return re.search("^(pass|-) +memory-names ", done.stdout, re.M)[1]
    assert [try_with(16384), try_with(16383)] == ["pass", "-"]


@pytest.mark.parametrize("policy", ["none", "analysis", "notebook"])
def test_a_drill_attacks_cells_of_the_policy_that_is_asked_for(user, policy):
    done = drill("-p", policy, "--attack", "process-list", "--json", user=user)
    answer = json.loads(done.stdout)
    assert done.returncode == 0 and answer["ok"] and answer["policy"] == policy
    assert [attack["name"] for attack in answer["attacks"]] == ["process-list"]
    unguarded = {attack["unguarded"]["verdict"] for attack in answer["attacks"]}
    assert ("held" in unguarded) == (policy != "none")


@pytest.mark.parametrize("attack", ["network-host-port", "signal-host"])
def test_a_policy_that_opens_more_is_still_held(user, attack):
    policy = write_policy(user, cells.watched_policy({"extends": "none", "network": "loopback", "processes": "fork"}, user))
    done = drill("-p", policy, "--attack", attack, user=user)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("      attack") and f"\npass  {attack} " in done.stdout


@pytest.mark.parametrize("options, status, said", [
    (["--attack", "nonesuch"], 64, "there is no attack 'nonesuch'"),
    (["--attack"], 64, "--attack needs a value"),
    (["--drilll"], 64, "unknown option --drilll"),
    (["surplus"], 64, "expected options only, got 'surplus'"),
    (["-p", "nonesuch"], 78, "nonesuch"),
    (["-t", "/nonesuch"], 69, "tree /nonesuch: No such file"),
])
def test_bad_calls_are_one_line(user, options, status, said):
    done = drill(*options, user=user)
    assert done.returncode == status and said in done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""


def test_options_of_a_drill_need_a_drill(user):
    done = cells.hotcell("doctor", "-p", "none", user=user)
    assert done.returncode == 64 and "need --drill" in done.stderr


def test_a_policy_under_which_nothing_can_be_seen_is_said_to_be_one(user):
    """Else every attack would pass for held."""
    policy = write_policy(user, {"extends": "default", "names": {"deny": ["lure"]}})
    done = drill("-p", policy, user=user)
    assert done.returncode == 78 and "attacks cannot be tried under this policy" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_leaves_nothing(user, number):
    job = Drill(user=user)
    while not job.process.stdout.readline().startswith("pass"):
        pass
    job.process.send_signal(number)
    assert job.finish().returncode == -number


@pytest.mark.parametrize("attack", ["signal-host", "signal-search", "process-list"])
def test_first_process_of_a_container_does_not_take_a_cells_for_its_own(attack):
    """Its own number, 1, is that of a process in each cell, so attacks get the number of another process of the host."""
    command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0 or subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        cells.skip("unshare(1) makes no namespaces of processes here")
    temp = cells.new_directory(cells.caller())
    done = subprocess.run([*command, cells.HOTCELL, "doctor", "--drill", "-t", cells.tree_path("base"), "--attack", attack], capture_output=True,
                          text=True, check=False, timeout=cells.PATIENCE, env={**os.environ, "TMPDIR": str(temp)})
    assert done.returncode == 0 and "2 held, 0 reached something" in done.stdout, done.stdout + done.stderr
    assert os.listdir(temp) == []


@pytest.mark.parametrize("attack", sorted(name for name in PROGRAMS if name.startswith("command-")))
def test_attacks_by_commands_are_held_where_there_are_commands(attack, shell_tree):
    user = cells.caller()
    policy = write_policy(user, cells.watched_policy({"extends": "shell"}, user))
    done = drill("-p", policy, "-t", shell_tree, "--attack", attack, user=user)
    assert done.returncode == 0 and "1 held, 0 reached something" in done.stdout, done.stdout + done.stderr


def test_a_shell_of_an_attack_runs_in_such_a_cell(shell_tree):  # pylint: disable=unused-argument
    kit = (TOP / "src/cell/doctor/attacks/kit.py").read_text(encoding="utf-8")
    done = cells.run(f"{kit}\nprint(commands('echo $1 by a shell', 'printed'))", tree="shell", policy="shell")
    assert done.stdout == "printed by a shell\n", done
