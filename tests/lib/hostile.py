"""Hostile programs: escapes and leaks, harmless where they succeed (src/cell/doctor/attacks and corpus/drill), and rough ones (corpus/hostile),
and scripts of a shell (corpus/commands).

    with hostile.lures(cells.ordinary()) as lure:
        hostile.outside(program, user, lure)             # in plain python3, as an ordinary user
        hostile.batch(hostile.drill().values(), user, lure, "--processes=fork")  # many in one cell

A drill program is held if its attack() returned None or raised, or if the cell ended while it ran; it is put into a
namespace that holds what src/cell/doctor/attacks/kit.py defines. What a program is for stands in its head, see corpora.py.
"""

import contextlib
import ctypes
import dataclasses
import errno
import functools
import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import cells
import corpora

# Where the report goes; in the test machine an ordinary user may not write beside the build.
OUT = cells.BUILD if os.access(cells.BUILD, os.W_OK) else Path(tempfile.gettempdir())
DRILL = Path(__file__).resolve().parents[2] / "src" / "cell" / "doctor" / "attacks"
DRILL_GROUPS = {"kernel", "namespaces", "mounts", "processes", "signals", "memory", "files", "devices", "network", "ipc",
                "leaks", "descriptors", "rights", "limits"}
CELLS = {"small", "bind", "session", "directories"}  # the kinds that a program may be for: src/cell/doctor/drill_range.h
HOSTILE_GROUPS = {"resources", "output", "channel", "stdout", "ending"}
LAYERS = {"user_namespace", "mount_namespace", "pid_namespace", "network_namespace", "ipc_namespace", "uts_namespace",
          "cgroup_namespace", "time_namespace", "ids", "capabilities", "no_new_privs", "read_only_tree", "network",
          "seccomp", "landlock", "rlimits", "cgroup", "proc", "mount_flags", "launcher", "guard"}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of one drill program: `reached` is what the program says it reached, `held` is what stopped it."""
    name: str
    reached: str = None
    held: str = None
    ended: bool = False  # the process or the cell ended while it ran


@functools.cache
def kit():
    return (DRILL / "kit.py").read_text(encoding="utf-8")


@functools.cache
def drill():
    """All drill programs, by name: those that "hotcell doctor --drill" has, and more of their kinds."""
    return {name: program for name, program in all_drill().items() if "cell" not in program.settings}


def all_drill():
    """All drill programs, by name, with those that need a kind of cell of their own, such as one with little memory:
    the drill alone tries these."""
    return {**corpora.programs(DRILL, "kit", "embed"), **corpora.programs("drill")}


def rough():
    """All programs of corpus/hostile, by name."""
    return corpora.programs("hostile")


@functools.cache
def commands():
    """All scripts of corpus/commands, by name."""
    return corpora.programs("commands", suffix=".sh")


def everything():
    return {**all_drill(), **rough(), **commands()}


# ---- running drill programs ----

# One namespace for each program: what one defines, the next does not see; nor what it left open. A program that changed
# who it is leaves no place for others: 3 is the exit status for that.
RUNNER = """
import json, os, sys
def main(kit, programs, lure):
    def say(**line):
        os.write(1, (json.dumps(line) + "\\n").encode())
    def is_open(fd):
        try:
            return os.fstat(fd) is not None
        except OSError:
            return False
    def open_ones():
        return set(filter(is_open, range(1024)))
    ids = os.getresuid(), os.getresgid()
    for name, text in programs:
        before = open_ones()
        say(begin=name)
        reached = held = None
        try:
            space = {"__name__": name}
            exec(compile(kit, "kit", "exec"), space)
            exec(compile(text, name, "exec"), space)
            reached = space["attack"](lure)
        except BaseException as error:
            held = f"{type(error).__name__}: {error}"[:300]
        say(name=name, reached=reached, held=None if reached else held or "nothing there")
        for fd in open_ones() - before:
            os.close(fd)
        if reached or (os.getresuid(), os.getresgid()) != ids:
            os._exit(3)
"""


def script(programs, lure):
    """A Python program that runs these one after the other, until one reaches something, with a line of JSON before and after each."""
    texts = [(program.name, program.text) for program in programs]
    return f"{RUNNER}\nmain(*json.loads({json.dumps([kit(), texts, lure])!r}))\n"


def parse(stdout, ending):
    """Outcomes by name, and the name of the one that was running at the end; lines that are no report are passed over."""
    found, running = {}, None
    for line in stdout.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if not isinstance(said, dict):
            continue
        if "begin" in said:
            running = said["begin"]
        elif said.get("name") == running:
            found[running] = Outcome(running, said["reached"], said["held"])
            running = None
    if running:
        found[running] = Outcome(running, held=ending, ended=True)
    return found


def outside(program, user, lure):
    """One program in plain python3, as `user`."""
    directory = cells.new_directory(user)
    try:
        done = corpora.outside(script([program], lure), user, directory)
    except subprocess.TimeoutExpired as error:
        return Outcome(program.name, held=f"it did not end: {(error.stdout or b'')[-200:]}", ended=True)
    found = parse(done.stdout, f"its process ended: {done.returncode} {done.stderr[-300:]}")
    assert program.name in found, f"{program.name} did not start: {done.returncode} {done.stdout} {done.stderr}"
    return found[program.name]


def batch(programs, user, lure, *options, run=cells.run, **arguments):
    """Many programs, in as few cells as that takes: a new one whenever one reached something or ended its cell. By name. RUN: how a cell
    runs a text in Python."""
    left, found = list(programs), {}
    defaults = {"--guard": "off", "--timeout": "60s", "--memory": "512M", "--stdout-size": "4M"}
    given = {option.partition("=")[0] for option in options}
    options = [*options, *(f"{name}={value}" for name, value in defaults.items() if name not in given)]
    while left:
        result = run(script(left, lure), *options, user=user, **arguments)
        status = result.manifest["status"] if result.manifest else f"no manifest, {result.stderr[-300:]}"
        new = parse(result.stdout, f"its cell ended: {status}, {(result.manifest or {}).get('reason')}")
        assert new, f"no program started: {result!r}"
        found.update(new)
        left = [program for program in left if program.name not in found]
        shutil.rmtree(result.output, ignore_errors=True)
    return found


# ---- lures ----

SHM_KEY, SHM_SIZE = 0x686f7463, 4096
IPC_CREAT, IPC_EXCL, IPC_RMID = 0o1000, 0o2000, 0


def _libc():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    return libc


def _checked(result, what):
    if result == -1:
        raise OSError(ctypes.get_errno(), what)
    return result


@contextlib.contextmanager
def _segment(secret):
    """A System V segment that everybody may attach; its key."""
    libc = _libc()
    key = SHM_KEY ^ os.getpid() << 8
    key &= 0x7fffffff
    segment = _checked(libc.shmget(key, SHM_SIZE, IPC_CREAT | IPC_EXCL | 0o666), "shmget")
    try:
        at = libc.shmat(segment, None, 0)
        ctypes.memmove(at, secret.encode(), len(secret))
        libc.shmdt(ctypes.c_void_p(at))
        yield key
    finally:
        libc.shmctl(segment, IPC_RMID, None)


@contextlib.contextmanager
def _queue():
    """A POSIX queue that everybody may open; its name. None where the kernel has no such thing."""
    libc, name = _libc(), f"/hotcell-{secrets.token_hex(6)}"
    old = os.umask(0)
    queue = libc.mq_open(name.encode(), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666, None)
    os.umask(old)
    if queue == -1:
        assert ctypes.get_errno() == errno.ENOSYS, os.strerror(ctypes.get_errno())
        yield None
        return
    try:
        yield name
    finally:
        os.close(queue)
        libc.mq_unlink(name.encode())


@contextlib.contextmanager
def _listener(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen(256)
        yield listener.getsockname()


@contextlib.contextmanager
def _victim(user, secret):
    """A process of the host that does nothing, with the secret in its environment and arguments."""
    process = subprocess.Popen(["/bin/sed", "-u", "", "-", f"/{secret}"], stdin=subprocess.PIPE, env={"SECRET": secret},
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, **user.popen_arguments())
    try:
        process.stdin.write(b"up\n")
        assert process.stdout.readline() == b"up\n"
        yield process.pid
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()


@contextlib.contextmanager
def lures(user):
    """Put up on this host what drill programs go for: readable by `user`, and by everybody. A dict that fits into JSON."""
    secret = secrets.token_hex(16)
    with contextlib.ExitStack() as closing:
        # Not below /tmp, of which a cell has its own.
        directory = Path(closing.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp", prefix="hotcell-lure-")))
        directory.chmod(0o755)
        file = directory / "secret.txt"
        file.write_text(f"{secret}\n")
        if cells.IS_ROOT:
            os.chown(directory, user.uid, user.uid)
            os.chown(file, user.uid, user.uid)
        abstract = closing.enter_context(_listener(socket.AF_UNIX, f"\0hotcell-lure-{secrets.token_hex(6)}"))
        yield {"file": str(file), "secret": secret, "user": user.uid, "abstract": abstract.decode()[1:],
               "port": closing.enter_context(_listener(socket.AF_INET, ("127.0.0.1", 0)))[1],
               "pid": closing.enter_context(_victim(user, secret)),
               "shm": closing.enter_context(_segment(secret)), "mqueue": closing.enter_context(_queue()),
               "hostname": socket.gethostname(), "boottime": time.clock_gettime(time.CLOCK_BOOTTIME)}


# ---- the report ----

def record(part, outcomes):
    """Adds outcomes by name to a part of the report. Several tests may do this at once."""
    folder = OUT / "hostile"
    folder.mkdir(exist_ok=True)
    with open(folder / f"{part}.jsonl", "a", encoding="utf-8") as file:
        file.write("".join(json.dumps(dataclasses.asdict(outcome)) + "\n" for outcome in outcomes.values()))


def write_report():
    """Write the last outcome of each program, of all parts that there are; each process does, and the last one has all."""
    parts = {}
    for path in sorted((OUT / "hostile").glob("*.jsonl")):
        outcomes = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        parts[path.stem] = {outcome["name"]: outcome for outcome in outcomes}
    new = OUT / f"hostile.md.{os.getpid()}"
    new.write_text("\n".join(_report(parts)) + "\n", encoding="utf-8")
    new.replace(OUT / "hostile.md")


def _report(parts):
    yield "# Hostile programs and what came of them"
    for title, programs in (("Escapes and leaks", drill()), ("Rough programs", rough()), ("Commands", commands())):
        runs = [part for part, found in parts.items() if set(found) & set(programs)]
        plain = [part for part in runs if part.startswith("outside-")]
        inside = [part for part in runs if part not in plain]
        yield f"\n## {title}\n"
        columns = ["program", "what it tries", *(["in plain python3"] if plain else []), *inside]
        yield "| " + " | ".join(columns) + " |"
        yield "| --- " * len(columns) + "|"
        for name, program in programs.items():
            row = [name, program.about]
            if plain:
                found = [parts[part][name] for part in plain if name in parts[part]]
                row.append(_shown(found[0]) if found else "")
            row += [_shown(parts[part][name]) if name in parts[part] else "" for part in inside]
            yield "| " + " | ".join(row) + " |"


def _shown(outcome):
    text = f"**{outcome['reached']}**" if outcome["reached"] else outcome["held"] or ""
    return " ".join(text.replace("|", "/").split())[:160]
