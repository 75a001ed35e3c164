"""Hostile commands: what a shell in a cell adds, under the policy shell. Each attack that can be shown outside works there first.

A script of corpus/commands prints REACHED where it reached something; its head says what must come out of the cell, as in
corpus/hostile, and how the attack shows itself outside. The programs of the drill are tried as a command, too.
"""

import os
import signal
import subprocess

import pytest

import cells
import corpora
import hostile
import leftovers
from test_hostile_programs import CHECKS, EXIT, REFUSALS, no_secret, one_manifest, wanted

pytestmark = pytest.mark.usefixtures("shell_tree")

SCRIPTS = hostile.commands()
MARK = "REACHED"
# With a terminal of its own, which it can open as /dev/tty.
TERMINAL = ("/usr/bin/python3", "-c", "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))")
# Reached under the policy shell by a program of the drill, and why that is no escape.
ALLOWED = {
    "execute-tree": "it executes a program of the tree, which the policy allows",
    "execute-loader-alone": "the dynamic loader is in the tree, too",
    "signal-everybody": "the interpreter that started it is in its cell, and there is no other process that it may send signals to",
    "descriptor-times": "its standard input is a pipe of its cell alone, where the cell runs as its caller",
    "file-tree-lock-record": "several processes lock records among themselves, by the kernel",
}


@pytest.fixture(scope="module", name="lure")
def lure_():
    with hostile.lures(cells.ordinary()) as found:
        yield found
    hostile.write_report()


def test_every_script_says_what_it_is_and_what_must_come_out():
    for name, script in SCRIPTS.items():
        settings = script.settings
        assert set(settings) <= {"group", "held", "status", "options", "manifest", "outside", "alone", "terminal"}, name
        assert settings["group"] in hostile.HOSTILE_GROUPS | hostile.DRILL_GROUPS and script.about.endswith("."), name
        assert set(settings["held"].split()) <= hostile.LAYERS and set(settings["status"].split()) <= set(EXIT), name
        assert {check for check, _ in wanted(script)} <= set(CHECKS), name
        assert settings.get("outside") in (MARK, "process", None) and ("outside" in settings) != ("alone" in settings), name


def filled(script, lure):
    return script.text.replace("@FILE@", lure["file"]).replace("@PORT@", str(lure["port"]))


def end_process(pid, user):
    """Ends a process that a script has left outside, which is to be there."""
    status = dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status", encoding="utf-8") if ":\t" in line)
    assert int(status["Uid"].split()[0]) == user.uid and not status["State"].startswith("Z"), status
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("name", [name for name, script in SCRIPTS.items() if "outside" in script.settings])
def test_a_script_reaches_something_outside(name, lure):
    script, user = SCRIPTS[name], cells.ordinary()
    folder = cells.new_directory(user)
    command = [*(TERMINAL if "terminal" in script.settings else ()), "/bin/bash", "-c", filled(script, lure)]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
                          timeout=cells.PATIENCE, env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}, **user.popen_arguments())
    if script.settings["outside"] == "process":
        end_process(int(done.stdout.split()[-1]), user)
    else:
        assert MARK in done.stdout, done


@pytest.mark.long
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_ends_as_it_must_and_leaves_nothing(user, name, lure):
    script, host = SCRIPTS[name], leftovers.Host(user)
    wrapper = TERMINAL if "terminal" in script.settings else ()
    with host.start(["bash", "-c", filled(script, lure)], *script.settings.get("options", "").split(), tree=None, policy="shell", wrapper=wrapper) as job:
        result = job.finish()
        assert result.manifest and result.manifest["status"] in script.settings["status"].split(), result
        assert MARK not in result.manifest["stdout"]["text"], result
        for check, argument in wanted(script):
            CHECKS[check](result, argument)
        one_manifest(result, host.job_id)
        no_secret(result, lure["secret"])
        host.check(job)
    hostile.record("root" if user.is_root else "ordinary",
                   {name: hostile.Outcome(name, held=f"{result.manifest['status']}: {result.manifest['reason']}")})


def as_command(text, *options, user, **arguments):
    """The text in python3 as a command, which no guard and no harness stands over."""
    kept = [option for option in options if not option.startswith("--guard")]
    return cells.execute(["python3", "-"], "--stdin", "-", *kept, user=user, stdin=text, **arguments)


def test_a_drill_program_reaches_nothing_as_a_command(user, lure):
    """They are shown to work outside by test_hostile_programs."""
    programs = hostile.drill()
    found = hostile.batch(programs.values(), user, lure, run=as_command)
    hostile.record(f"{'root' if user.is_root else 'ordinary'}-command", found)
    assert set(found) == set(programs)
    assert {name: outcome.reached for name, outcome in found.items() if outcome.reached and name not in ALLOWED} == {}
    assert [outcome for outcome in found.values() if outcome.held and not outcome.ended and not outcome.held.startswith(REFUSALS)] == []
