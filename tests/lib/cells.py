"""Whole cells for tests: programs go in through `hotcell run`, as a user would start it; tests look at what came out.

    result = cells.run("print(1)", "--timeout", "10s")
    result.manifest["status"], result.stdout, result.files()

Every job runs with the tree base, in a directory of its own, and is bounded: 10 seconds, 256 MiB, unless the test says
otherwise. `user` is whom hotcell is started as, see the fixture of that name.
"""

import contextlib
import dataclasses
import functools
import importlib.util
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("HOTCELL_BUILD") or Path(__file__).resolve().parents[2] / "build").resolve()
HOTCELL = BUILD / "hotcell"
STDLIB = f"/usr/lib/python{sys.version_info[0]}.{sys.version_info[1]}"  # in cells: of the version that the tests run in, and that the trees have
IS_ROOT = os.geteuid() == 0
SLOWNESS = float(os.environ.get("HOTCELL_TEST_SLOWNESS") or 1)  # factor for time limits: more than 1 on an emulated machine
PATIENCE = 120 * SLOWNESS  # seconds until a launcher that should have ended counts as hanging
BOUNDS = {"--timeout": f"{10 * SLOWNESS:g}s", "--memory": os.environ.get("HOTCELL_TEST_MEMORY") or "256M"}


def generated(name):
    """A file that the build has made of the tables, parsed if it is JSON. Builds for tests (warm, weak, sanitized) lie in a folder of the usual
    build, which has the file."""
    text = next(path for path in (BUILD / name, BUILD.parent / name) if path.exists()).read_text()
    return json.loads(text) if name.endswith(".json") else text


# What is refused where no cgroup counts memory, unless the policy or the command says that it shall be watched.
UNWATCHED = ({"--processes": "fork", "--network": "loopback"}, {"processes": "fork", "network": "loopback"})


@functools.cache
def counts_memory(user):
    """Does a cgroup count the memory of this user's cells?"""
    return run("print(1)", user=user).enforced_by_cgroup


def watched(options, policy, user):
    """The option with which a job that has these starts, with cgroups or without."""
    given = {name: value for name, _, value in (option.partition("=") for option in options)}
    given.update({name: value for name, value in zip(options, options[1:]) if name in UNWATCHED[0]})
    wants = [given.get(name) == value for name, value in UNWATCHED[0].items()]
    if isinstance(policy, dict):
        wants += [policy.get(name) == value for name, value in UNWATCHED[1].items()] + [policy.get("extends") == "shell"]
    wants += [policy == "shell"]
    needed = any(wants) and "--enforcement" not in given and not counts_memory(user)
    return ["--enforcement=rlimits"] if needed else []


def watched_policy(policy, user):
    """The policy, a dict that becomes a file, with the enforcement that watched() would ask for on the command line."""
    return {**policy, "limits": {"enforcement": "rlimits", **policy.get("limits", {})}} if watched([], policy, user) else policy


def is_warm():
    """Do the launchers that tests start run their jobs in warm cells (tests/warm)?"""
    return HOTCELL.parent.name == "warm"


# For programs in cells that try things and say how these went.
ATTEMPT = '''
import errno, json

def attempt(what, *arguments, **more):
    """The name of the errno that it fails with; None if it works."""
    try:
        what(*arguments, **more)
    except OSError as error:
        return errno.errorcode.get(error.errno, error.errno)

def report(**facts):
    print(json.dumps(facts), flush=True)
'''

_scratch = None


@dataclasses.dataclass(frozen=True)
class User:
    """Whom a launcher is started as."""
    uid: int
    home: Path

    @property
    def is_root(self):
        return self.uid == 0

    def popen_arguments(self):
        """Without groups; without capabilities too, since all of root's go with its uid."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.uid, "extra_groups": []}

    def environment(self):
        names = ["PATH", "HOTCELL_CGROUP", "HOTCELL_WITHOUT"]
        if self.uid == os.geteuid():
            names += ["HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "HOTCELL_STATE"]
        env = {name: os.environ[name] for name in names if name in os.environ}
        if self.uid != os.geteuid():
            env.update(HOME=str(self.home), XDG_DATA_HOME=str(self.home / "data"),
                       XDG_CONFIG_HOME=str(self.home / "config"))
        return env


@dataclasses.dataclass
class Result:
    manifest: dict  # None if there is none
    stdout: str
    stderr: str
    status: int  # negative: the signal that ended the launcher, as subprocess has it
    output: Path  # the output directory, which may not exist
    command: list

    def files(self):
        """Relative paths of the files in the output directory, without the manifest."""
        found = {os.path.relpath(os.path.join(folder, name), self.output)
                 for folder, folders, names in os.walk(self.output)
                 for name in names + [name for name in folders if os.path.islink(os.path.join(folder, name))]}
        return sorted(found - {"manifest.json"})

    def listed(self):
        """Paths of the files that the manifest lists."""
        return sorted(entry["path"] for entry in self.manifest["files"] + self.manifest["figures"])

    def skipped(self):
        return {entry["path"]: entry["reason"] for entry in self.manifest["skipped"]["entries"]}

    def facts(self):
        """The JSON that a probe printed as its last line."""
        assert self.manifest["status"] == "ok", self
        return json.loads(self.stdout.splitlines()[-1])

    @property
    def enforced_by_cgroup(self):
        return self.manifest["limits"]["enforced_by"]["memory"] == "cgroup"

    def __repr__(self):
        m = self.manifest or {}
        return (f"<{self.status}: {m.get('status')}, {m.get('reason')}, stdout {self.stdout[-400:]!r}, "
                f"stderr {self.stderr[-800:]!r}, warnings {m.get('warnings')}, {' '.join(map(str, self.command))}>")


class Job:
    """A launcher that runs. End it with finish()."""

    def __init__(self, code, *options, tree="base", policy=None, user=None, stdin=None, env=None, cwd=None,
                 pipes=False, popen=None, wrapper=(), arguments=()):
        self.user = user or caller()
        self.directory = Path(cwd) if cwd else new_directory(self.user)
        self.options = [_scaled(str(option)) for option in options]
        self.arguments = ["--", *arguments] if arguments else []
        self.output = self._output()
        self.command = [*wrapper, *self._command(code, tree, policy)]
        self._files = [] if pipes else [open(self.directory / ".out", "w+b"), open(self.directory / ".err", "w+b")]
        stdout, stderr = self._files if self._files else [subprocess.PIPE] * 2
        given = dict(stdout=stdout, stderr=stderr, cwd=self.directory,
                         stdin=subprocess.PIPE if isinstance(stdin, (str, bytes)) else stdin or subprocess.DEVNULL,
                         env={**self.user.environment(), **(env or {})}, **self.user.popen_arguments())
        given.update(popen or {})
        for path in (self.directory / ".out", self.directory / ".err"):
            path.unlink(missing_ok=True)  # open, and nothing of ours in the directory
        self.process = subprocess.Popen(self.command, **given)
        self.pid = self.process.pid
        self.pidfd = os.pidfd_open(self.pid)
        if self.process.stdin and isinstance(stdin, (str, bytes)):
            with self.process.stdin as pipe, contextlib.suppress(BrokenPipeError):
                pipe.write(stdin.encode() if isinstance(stdin, str) else stdin)

    def _output(self):
        for i, option in enumerate(self.options):
            if option in ("-o", "--output"):
                return self.directory / self.options[i + 1]
            if option.startswith("--output="):
                return self.directory / option.partition("=")[2]
        self.options += ["-o", "out"]
        return self.directory / "out"

    def _command(self, code, tree, policy):
        given = {option.partition("=")[0] for option in self.options}
        bounds = [f"{name}={value}" for name, value in BOUNDS.items() if name not in given]
        command = [HOTCELL, "exec" if isinstance(code, list) else "run", *bounds, *watched(self.options, policy, self.user), *self.options]
        if tree:
            command += ["-t", tree_path(tree) if tree == "base" else tree]
        if isinstance(policy, dict):
            policy_path = self.directory.parent / f"{self.directory.name}.policy.json"
            policy_path.write_text(json.dumps({"extends": "default", **policy}))
            policy = policy_path
        if policy:
            command += ["-p", policy]
        if code is None:
            return [*command, *self.arguments]
        if isinstance(code, list):
            return [*command, "--", *code]
        program = self.directory.parent / f"{self.directory.name}.py"
        program.write_bytes(code if isinstance(code, bytes) else textwrap.dedent(code).encode())
        return [*command, program, *self.arguments]

    def read_line(self, stream=None):
        """The next line of a piped stream: an event to wait for."""
        line = (stream or self.process.stdout).readline()
        assert line, f"{self.command} ended: {self.process.stderr.read()}"
        return line.decode().rstrip("\n")

    def descendants(self):
        return descendants(self.pid)

    def signal(self, number):
        signal.pidfd_send_signal(self.pidfd, number)

    def ended(self):
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def wait(self):
        if not select.select([self.pidfd], [], [], PATIENCE)[0]:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the launcher hangs: {self.command}")
        return self.process.wait()

    def finish(self):
        if self._files:
            status = self.wait()
            for file in self._files:
                file.seek(0)
            stdout, stderr = [file.read() for file in self._files]
        else:
            stdout, stderr = self.process.communicate(timeout=PATIENCE)
            status = self.process.returncode
        self.close()
        stdout, stderr = [(text or b"").decode(errors="replace") for text in (stdout, stderr)]
        return Result(self._manifest(stdout), stdout, stderr, status, self.output, self.command)

    def _manifest(self, stdout):
        if "--json" in self.options:
            return json.loads(stdout) if stdout else None
        path = self.output / "manifest.json"
        return json.loads(path.read_text()) if path.exists() else None

    def close(self):
        for file in [*self._files, self.process.stdin, self.process.stdout, self.process.stderr]:
            if file:
                file.close()
        if self.pidfd >= 0:
            os.close(self.pidfd)
        self.pidfd = -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pidfd >= 0 and not self.ended():
            self.process.kill()
        self.process.wait()
        self.close()


def descendants(launcher):
    """The processes of the launcher's cell, as the host numbers them. Those of a zygote, between, belong to no cell."""
    found, queue = [], [launcher]
    while queue:
        for task in _listdir(f"/proc/{(pid := queue.pop())}/task"):
            children = _read(f"/proc/{pid}/task/{task}/children")
            queue += (new := [int(child) for child in children.split()])
            found += new
            if is_warm() and any(_read(f"/proc/{child}/comm") == "hotcell-zygote\n" for child in new):
                found.clear()
    return found


def _scaled(option):
    """A time limit that means the same on a slow machine."""
    name, equals, value = option.partition("=")
    return f"{name}={float(value.rstrip('s')) * SLOWNESS:g}s" if name == "--timeout" and equals else option


def run(code, *options, **arguments):
    """One job, to its end. Without -o its output directory is a new one."""
    return Job(code, *options, **arguments).finish()


# For programs without matplotlib: writes a file and announces it as the harness announces a figure that it has drawn.
FIGURE = """
def draw_figure(path, content):
    import hashlib, json, os, struct
    with open(path, "wb") as file:
        file.write(content)
    body = json.dumps({"path": path, "sha256": hashlib.sha256(content).hexdigest()}).encode()
    os.write(3, struct.pack("<BBHI", 14, 1, 0, len(body)) + body)
"""


def execute(command, *options, policy="shell", **arguments):
    """One command, a list of arguments, to its end; in the tree of its policy."""
    return Job(command, *options, tree=None, policy=policy, **arguments).finish()


def start(code, *options, **arguments):
    """A job in the middle of which something is to happen; its output comes through pipes."""
    return Job(code, *options, pipes=True, **arguments)


def hotcell(*arguments, user=None, env=None, **more):
    """Any other command."""
    user = user or caller()
    return subprocess.run([HOTCELL, *arguments], **{
        "capture_output": True, "text": True, "check": False, "stdin": subprocess.DEVNULL, "timeout": PATIENCE,
        "cwd": scratch(), "env": {**user.environment(), **(env or {})}, **user.popen_arguments(), **more})


# ---- users and places ----

def caller():
    return User(os.geteuid(), Path.home())


def ordinary():
    """The caller, or if that is root, a uid that nobody else is likely to use."""
    if not IS_ROOT:
        return caller()
    uid = 60000 + os.getpid() % 5000
    home = scratch() / f"home-{uid}"
    own_directory(home, uid)
    lend_trees(home / "data" / "hotcell", uid)
    return User(uid, home)


def own_directory(path, uid):
    path.mkdir(exist_ok=True)
    os.chown(path, uid, uid)


# As they are before a test has changed anything.
_HOTCELL, _ENVIRONMENT = HOTCELL, dict(os.environ)


def lend_trees(state, uid):
    """Links to the caller's trees in the state directory of another user, who then knows them by their names, too."""
    for folder in (state.parent, state, state / "trees", state / "names"):
        own_directory(folder, uid)
    for name in ("base", "scientific", "shell"):
        if (state / "names" / name).is_symlink():
            continue
        found = subprocess.run([_HOTCELL, "tree", "path", name], env=_ENVIRONMENT, capture_output=True, text=True, check=False)
        if found.returncode == 0:
            tree = Path(found.stdout.strip())
            with contextlib.suppress(FileExistsError):  # another thread was faster
                (state / "trees" / tree.name).symlink_to(tree)
                (state / "names" / name).symlink_to(f"../trees/{tree.name}")


def scratch():
    """A directory that every user can reach, unlike pytest's own."""
    global _scratch
    if _scratch is None:
        _scratch = Path(tempfile.mkdtemp(prefix="hotcell-test-"))
        _scratch.chmod(0o755)
    return _scratch


def remove_scratch():
    global _scratch
    if _scratch is not None:
        shutil.rmtree(_scratch)
        _scratch = None


def new_directory(user):
    path = Path(tempfile.mkdtemp(dir=scratch()))
    if IS_ROOT:
        os.chown(path, user.uid, user.uid)
    path.chmod(0o755)
    return path


def data_directory(user, files, links=None):
    """A new directory "data" of the user's with these files, {path: text}, and links, {path: target}. Others may read all of them but
    below/private.txt."""
    path = new_directory(user) / "data"
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    (path / "below" / "private.txt").chmod(0o600)
    for name, target in (links or {}).items():
        (path / name).symlink_to(target)
    for entry in (path, *path.rglob("*")):
        os.lchown(entry, user.uid, user.uid)
    return path


_trees = {}


def tree_path(name):
    """The path of a tree that the caller has: other users are given this path, wherever the caller keeps trees."""
    if name not in _trees:
        found = hotcell("tree", "path", name)
        assert found.returncode == 0, found.stderr
        _trees[name] = found.stdout.strip()
    return _trees[name]


def build_tree(name):
    if hotcell("tree", "path", name).returncode != 0:
        built = hotcell("tree", "build", name, timeout=600)
        assert built.returncode == 0, built.stderr


# ---- skips ----

def skip(reason):
    """Skip the test, as this host lacks what the reason names; with CI set the test fails."""
    if os.environ.get("CI") and not os.environ.get("HOTCELL_NO_SKIP"):  # with that conftest.py decides
        pytest.fail(f"not skipped, as CI is set: {reason}")
    pytest.skip(reason)


def need_module(name):
    """A module of this interpreter's own."""
    if not importlib.util.find_spec(name):
        skip(f"there is no module {name} (scripts/deps)")
    return importlib.import_module(name)


def machines(reason):
    """Skip a test that is for the test machine alone, which has a run of its own."""
    pytest.skip(reason)


def need_root():
    if not IS_ROOT:
        skip("needs root")


def need_program(name):
    if not shutil.which(name):
        skip(f"{name} is not installed")


def need_cells(user):
    """That `user` can make user namespaces and reach what is tested."""
    for path in (HOTCELL, BUILD / "hotcell-shim", tree_path("base")):
        if subprocess.run(["/bin/sh", "-c", 'test -r "$0" && test -x "$0"', path], check=False,
                          **user.popen_arguments()).returncode:
            skip(f"{path} cannot be read by uid {user.uid}")
    tried = subprocess.run(["unshare", "--user", "true"], capture_output=True, text=True, check=False,
                           **user.popen_arguments())
    if tried.returncode:
        skip(f"uid {user.uid} cannot make user namespaces here: {tried.stderr.strip()}")


# ---- waiting ----

def wait_until(what, condition, seconds=30 * SLOWNESS):
    """For states of the host that no descriptor tells of."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"still not after {seconds} s: {what}"
        time.sleep(0.002)


def _listdir(path):
    try:
        return os.listdir(path)
    except OSError:  # the process has ended
        return []


def _read(path):
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def _readlink(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""
