"""Language-level escapes, one file each in corpus/escapes: every one works in plain python3 and none in a cell.

An escape aims at an effect that the host can see: it reads a secret file of the host, starts a program, connects to a
listener, writes where a file must not appear, forks, reads the launcher's environment, sees or ends a process of the
host. With the guard on and with the guard off (the kernel alone) the effect must not come about. What refused it is
written to build/escapes.md and build/escapes.json, as a report and not as an assertion.
"""

import contextlib
import dataclasses
import json
import os
import re
import secrets
import select
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

import cells
import corpora

ESCAPES = corpora.programs("escapes")
EFFECTS = ("read", "run", "connect", "write", "fork", "env", "see", "kill")
MODES = {"guard on": ["--guard", "on"], "guard off": ["--guard", "off"]}
GUARD_LAYERS = {"ast", "runtime", "audit"}


class Prey:
    """What one run of an escape aims at, and whether it got it."""

    def __init__(self, user, effect):
        self.token = secrets.token_hex(12)
        self.effect = effect
        self.user = user
        self._closing = contextlib.ExitStack()
        # Not below /tmp: that is one of a cell's own places, where a guard has nothing to refuse.
        self.directory = Path(self._closing.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp", prefix="hotcell-prey-")))
        self.directory.chmod(0o755)
        self.secret = self.directory / "secret.txt"
        self.secret.write_text(f"{self.token}\n")
        if cells.IS_ROOT:
            os.chown(self.directory, user.uid, user.uid)
            os.chown(self.secret, user.uid, user.uid)
        self.written = self.directory / "written.txt"

    def __enter__(self):
        self.tcp = self._listen(socket.AF_INET, ("127.0.0.1", 0))
        self.abstract = self._listen(socket.AF_UNIX, f"\0hotcell-escape-{secrets.token_hex(6)}")
        self.udp = self._closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(self.tcp.getsockname())
        if self.effect in ("see", "kill"):
            self.victim = subprocess.Popen(["/bin/sed", "-u", "", "-", f"/{self.token}"], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
                                           **self.user.popen_arguments())
            self._closing.callback(self._end_victim)
        return self

    def _listen(self, family, address):
        listener = self._closing.enter_context(socket.socket(family, socket.SOCK_STREAM))
        listener.bind(address)
        listener.listen()
        return listener

    def _victim_is_dead(self):
        """One that has been killed answers no more, even if it has not been taken down yet."""
        with contextlib.suppress(BrokenPipeError):
            self.victim.stdin.write(b"alive?\n")
        return not self.victim.stdout.readline()

    def _end_victim(self):
        self.victim.stdin.close()
        self.victim.stdout.close()
        self.victim.wait()

    def __exit__(self, *_):
        self._closing.close()

    def fill(self, text):
        """The program's text with its aims put in."""
        aims = {"SECRET": self.secret, "WRITE": self.written, "PORT": self.tcp.getsockname()[1],
                "ABSTRACT": self.abstract.getsockname().decode()[1:] if self.effect == "connect" else "",
                "VICTIM": self.victim.pid if self.effect in ("see", "kill") else 0, "TOKEN": self.token}
        return re.sub("@([A-Z]+)@", lambda name: str(aims[name[1]]), text)

    def environment(self):
        return {"ESCAPE_SECRET": self.token} if self.effect == "env" else {}

    def achieved(self, stdout, stderr, output):
        if self.effect == "connect":
            return bool(select.select([self.tcp, self.abstract, self.udp], [], [], 0)[0])
        if self.effect == "write":
            return self.written.exists()
        if self.effect == "kill":
            return self._victim_is_dead()
        if self.effect == "fork":
            return self.token in stdout.split()
        files = [path.read_bytes() for path in output.rglob("*") if path.is_file() and path.name != "manifest.json"]
        return self.token in stdout + stderr or any(self.token.encode() in content for content in files)


@dataclasses.dataclass
class Attempt:
    achieved: bool
    status: str
    denials: list  # (layer, rule), sorted
    shown: str

    @property
    def named_by_guard(self):
        return self.status == "rejected" or any(layer in GUARD_LAYERS for layer, _ in self.denials)

    @property
    def named_by_kernel(self):
        return any(layer == "seccomp" for layer, _ in self.denials)


def plainly(escape, user):
    with Prey(user, escape.settings["effect"]) as prey:
        directory = cells.new_directory(user)
        done = corpora.outside(prey.fill(escape.text), user, directory, prey.environment())
        achieved = prey.achieved(done.stdout, done.stderr, directory)
        return Attempt(achieved, str(done.returncode), [], f"{done.stdout[-300:]} {done.stderr[-500:]}")


def in_a_cell(escape, user, options):
    with Prey(user, escape.settings["effect"]) as prey:
        result = cells.run(prey.fill(escape.text), "--memory", "1G", *options, user=cells.caller(), policy="default",
                           tree=escape.tree, env=prey.environment())
        assert result.manifest, result
        denials = {(denial["layer"], denial["rule"]) for denial in result.manifest.get("denials", [])}
        return Attempt(prey.achieved(result.stdout, result.stderr, result.output), result.manifest["status"],
                       sorted(denials), repr(result))


def attempts(name):
    """Every way of running one escape."""
    escape, user = ESCAPES[name], cells.ordinary()
    found = {"plain": plainly(escape, user)}
    return found | {mode: in_a_cell(escape, user, options) for mode, options in MODES.items()}


@pytest.fixture(scope="module")
def outcomes(request, base_tree):
    cells.build_tree("scientific")
    cells.build_tree("scientific-more")
    names = corpora.selected(request, "name")
    found = corpora.side_by_side(attempts, names)
    write_report({name: tried for name, tried in found.items() if not isinstance(tried, Exception)})
    return found


@pytest.mark.parametrize("name", ESCAPES)
def test_an_escape_works_outside_and_fails_in_a_cell(name, outcomes):
    tried = outcomes[name]
    if isinstance(tried, Exception):
        raise tried
    assert tried["plain"].achieved, f"does not work in plain python3: {tried['plain'].shown}"
    for mode in MODES:
        assert not tried[mode].achieved, f"{mode}: {tried[mode].shown}"
        assert tried[mode].status in ("ok", "error", "rejected"), f"{mode}: {tried[mode].shown}"


def test_the_corpus_is_large_and_every_escape_has_an_effect():
    assert len(ESCAPES) >= 160
    assert {escape.settings["effect"] for escape in ESCAPES.values()} == set(EFFECTS)
    bodies = [escape.text.split("\n", 1)[1] for escape in ESCAPES.values()]
    assert len(set(bodies)) == len(bodies)


# ---- the report ----

def holder(attempt):
    """Who refused, as far as the manifest says."""
    if attempt.named_by_guard:
        return "guard"
    return "kernel" if attempt.named_by_kernel else "nothing there"


def write_report(tried):
    (cells.BUILD / "escapes.json").write_text(json.dumps(
        {name: {mode: dataclasses.asdict(attempt) for mode, attempt in modes.items()} for name, modes in tried.items()},
        indent=1))
    lines = ["# Escapes and what refused them", ""]
    on = [holder(modes["guard on"]) for modes in tried.values()]
    off = [holder(modes["guard off"]) for modes in tried.values()]
    lines += [f"{len(tried)} escapes, each works in plain python3.", "",
              f"Guard on: {on.count('guard')} are named by the guard, {on.count('kernel')} only by the kernel; "
              f"{on.count('nothing there')} are not refused but find nothing of the host in the cell.", "",
              f"Guard off: {off.count('kernel')} are named by the kernel, {off.count('nothing there')} find nothing.", "",
              "| escape | effect | guard on | refused by | guard off | refused by |",
              "| --- | --- | --- | --- | --- | --- |"]
    for name, modes in tried.items():
        cols = [name, ESCAPES[name].settings["effect"]]
        for mode in MODES:
            named = ", ".join(f"{layer}: {rule}" for layer, rule in modes[mode].denials)
            cols += [modes[mode].status, named or holder(modes[mode])]
        lines.append("| " + " | ".join(cols) + " |")
    (cells.BUILD / "escapes.md").write_text("\n".join(lines) + "\n")
