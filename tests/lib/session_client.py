"""Sessions that live, for tests: `hotcell session` as a program talks to it.

    with session_client.Session() as session:
        session.run("x = 1")
        assert session.run("x + 1").value == 2
"""

import dataclasses
import json
import platform
import subprocess
from pathlib import Path

import cells


@dataclasses.dataclass
class Run:
    number: int
    state: str
    manifest: dict

    @property
    def status(self):
        return self.manifest["status"]

    @property
    def value(self):
        return self.manifest["guest"]["value"]["application/json"]

    @property
    def stdout(self):
        return self.manifest["stdout"]["text"]

    def __repr__(self):
        m = self.manifest
        return (f"<run {self.number}, {self.state}: {m['status']}, {m['reason']}, stdout {m['stdout']['text'][-400:]!r}, "
                f"stderr {m['stderr']['text'][-800:]!r}, warnings {m['warnings']}>")


class Session:
    def __init__(self, *options, policy=None, user=None, tree="base", env=None, hotcell=None):
        self.user = user or cells.caller()
        self.directory = cells.new_directory(self.user)
        self.output = self.directory / "out"
        given = {str(option).partition("=")[0] for option in options}
        bounds = [f"{name}={value}" for name, value in cells.BOUNDS.items() if name not in given]
        command = [hotcell or cells.HOTCELL, "session", *bounds, "-t", cells.tree_path(tree), "-o", self.output, *options]
        if policy:
            command += ["-p", policy]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, cwd=self.directory, env={**self.user.environment(), **(env or {})},
                                        **self.user.popen_arguments())
        self.ready = self.answer()
        assert self.ready["event"] == "ready", self.ready

    def answer(self):
        line = self.process.stdout.readline()
        assert line, f"the session ended: {self.process.wait()}, {self.process.stderr.read()}"
        return json.loads(line)

    def ask(self, request):
        self.process.stdin.write(request if isinstance(request, str) else json.dumps(request))
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def result(self):
        answer = self.answer()
        assert answer["event"] == "result", answer
        return Run(answer["run"], answer["state"], answer["manifest"])

    def run(self, code, **spec):
        self.ask({"run": {"code": code, **spec}})
        return self.result()

    def execute(self, *command, **spec):
        self.ask({"run": {"command": command, **spec}})
        return self.result()

    def close(self):
        if self.process.stdin:
            self.process.stdin.close()
        if not self.process.stdout.closed:
            self.process.stdout.read()  # the process's last line may be longer than a pipe holds
        status = self.process.wait(cells.PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def one_with_threads(session, count):
    """Of the session's processes, the one that has so many and is stopped."""
    def is_that(pid):
        try:
            text = Path(f"/proc/{pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):  # one that is not needed any more has just ended
            return False
        return f"\nThreads:\t{count}\n" in text and "\nState:\tT" in text

    pid, = filter(is_that, cells.descendants(session.process.pid))
    return pid


# A thread that runs no Python, and so goes on while the interpreter waits: a chain of contexts, each of which calls one function of
# the C library and leads to the next. It begins when the launcher hands
# the next run over, or one after that if the interpreter is there first, and sleeps between its packets.
FORGER = """
import ctypes, struct
libc = ctypes.CDLL(None)
STEPS, STACK, CONTEXT = 6000, 2048, 1024
def forge(kind, body):
    kept = ctypes.create_string_buffer(STEPS * (STACK + CONTEXT) + 16)
    base = ctypes.addressof(kept) + 15 & ~15
    packet = ctypes.create_string_buffer(struct.pack("<BBHI", kind, 1, 0, len(body)) + body)
    moment, readable = (ctypes.create_string_buffer(struct.pack(*what)) for what in (("<qq", 0, 100000), ("<ihh", 3, 1, 0)))
    globals().setdefault("alive", []).append((kept, packet, moment, readable))
    for i in range(STEPS):
        here = ctypes.c_void_p(base + i * CONTEXT)
        libc.getcontext(here)
        following = base + (i + 1) * CONTEXT if i < STEPS - 1 else 0
        struct.pack_into("<QQQQ", kept, here.value + 8 - ctypes.addressof(kept), following,
                         base + STEPS * CONTEXT + i * STACK, 0, STACK)
        name, *arguments = (("pause",) if not following else ("poll", readable, ctypes.c_long(1), ctypes.c_long(-1)) if i == 0 else
                            ("nanosleep", moment, None) if i % 2 == 0 else
                            ("send", ctypes.c_long(3), packet, ctypes.c_long(8 + len(body)), ctypes.c_long(64)))
        libc.makecontext(here, ctypes.cast(libc[name], ctypes.c_void_p), len(arguments), *arguments)
    libc.pthread_create(ctypes.byref(ctypes.c_ulong()), None, libc.setcontext, ctypes.c_void_p(base))
"""
# Threads that run no Python and never end: a ring of such contexts. What a function leaves on its stack when it
# returns is mended by two steps at the ring's end, each of which mends the other's.
RING = """
import ctypes, struct
libc = ctypes.CDLL(None)
STACK, CONTEXT, alive = 4096, 1024, []
class Ring:
    def __init__(self, *calls, first=("getpid",)):
        count = len(calls) + 3
        stacks = count * CONTEXT
        kept, pristine = (ctypes.create_string_buffer(size) for size in (count * (CONTEXT + STACK) + 16, count * STACK))
        base = ctypes.addressof(kept) + 15 & ~15
        # The contexts: first, the calls, then what mends all stacks but its own, and what mends that one, which is the last.
        steps = [first, *calls, ("memcpy", ctypes.c_void_p(base + stacks), pristine, ctypes.c_size_t((count - 1) * STACK)),
                 ("memcpy", ctypes.c_void_p(base + stacks + (count - 1) * STACK), ctypes.byref(pristine, (count - 1) * STACK), ctypes.c_size_t(STACK))]
        places = [*range(count - 2), count - 1, count - 2]
        mask = ctypes.create_string_buffer(b"\\xff" * 128), ctypes.create_string_buffer(128)
        libc.pthread_sigmask(2, *mask)
        for i, (name, *arguments) in enumerate(steps):
            here = ctypes.c_void_p(base + i * CONTEXT)
            libc.getcontext(here)
            struct.pack_into("<QQQQ", kept, here.value + 8 - ctypes.addressof(kept), base + (i + 1 if i < count - 1 else 1) * CONTEXT,
                             base + stacks + places[i] * STACK, 0, STACK)
            libc.makecontext(here, ctypes.cast(libc[name], ctypes.c_void_p), len(arguments), *arguments)
        libc.pthread_sigmask(2, mask[1], None)
        ctypes.memmove(pristine, base + stacks, count * STACK)
        self.base, self.held = ctypes.c_void_p(base), (kept, pristine, steps)
        alive.append(self)
    def start(self):
        return libc.pthread_create(ctypes.byref(ctypes.c_ulong()), None, libc.setcontext, self.base)
def packet(kind, body=b""):
    return ctypes.create_string_buffer(struct.pack("<BBHI", kind, 1, 0, len(body)) + body, 8 + len(body))
moment = ctypes.create_string_buffer(struct.pack("<qq", 0, 500000))
PAUSE = "nanosleep", moment, None
"""
FINDING = {"rule": "imports", "message": "FORGED", "what": "subprocess", "line": 1, "column": 1, "end_column": None, "hint": "FORGED"}
FORGED_FRAMES = {
    "a rejection": (3, {"findings": [FINDING], "more": 0}),
    "what a check found": (6, {"warnings": [FINDING], "columns": {"FORGED": ["x"]}}),
    "a check that was passed": (15, None),
    "a copy that was not made": (17, None),
    "another interpreter": (1, None),
    "a copy of itself": (12, None),
    "that it has taken over": (13, None),
}


def need_contexts():
    if platform.libc_ver()[0] != "glibc" or platform.machine() != "x86_64":
        cells.skip("the forging thread is made of contexts as glibc has them on x86_64")


def forger(frame):
    """A program that leaves a thread which sends that frame again and again, from the next run on."""
    kind, body = FORGED_FRAMES[frame]
    return FORGER + f"forge({kind}, {b'' if body is None else json.dumps(body).encode()!r})"


def says_nothing_forged(run):
    """Assert that the manifests of runs after the forger's, run(code) -> manifest, tell nothing but what the launcher knows."""
    for _ in range(50):
        manifest = run("print('innocent')")
        outside = {name: value for name, value in manifest.items() if name not in ("guest", "stdout", "stderr")}
        assert "FORGED" not in json.dumps(outside), manifest
        assert manifest["status"] in ("ok", "error") and manifest["rejection"] is None, manifest
        assert not any(d["layer"] == "ast" for d in manifest["denials"]), manifest
        if manifest["status"] == "error":
            assert "broke the protocol" in manifest["reason"] or "made no copy" in manifest["reason"], manifest
            return
    assert False, "the thread was never heard"
