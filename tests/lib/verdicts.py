"""A crowd of clients of SandboxFusion's /run_code, each with one program at a time, whose verdict it knows.

    with serve() as d:
        told = Crowd(d.socket, 64).run(seconds=20)
        told.right, told.later, told.wrong  # per kind of program: right answers and those that say "later" (504); and all that are wrong
"""

import base64
import collections
import contextlib
import http.client
import json
import random
import threading
import time
import traceback

import cells
import daemons

MEMORY_MB, STDOUT = 128, 4096
SHORT = 1  # seconds of programs that run out of time
OWN_TIME = 3 * cells.SLOWNESS  # of those that wait for their turn for longer
AMPLE = 30 * cells.SLOWNESS  # seconds of the others
WAITING = 48  # jobs that the daemon lets wait: fewer than there are clients


def _ended(run, *, code=0):
    return run["status"] == "Finished" and run["return_code"] == code


def _late(said, run):
    return said["status"] == "Failed" and run["status"] == "TimeLimitExceeded" and run["return_code"] is None and "limits.timeout" in said["message"]


def _file(word):
    return {"data/in.txt": base64.b64encode(word.encode()).decode()}


def _kinds():
    """Name -> what makes a request of a word that is this request's own, and what says whether an answer is right."""
    return {
        "ok": (lambda w: {"code": f"print('{w}')"}, lambda w, s, r: s["status"] == "Success" and _ended(r) and r["stdout"] == w + "\n" and s["message"] == ""),
        "stdin, args, files": (
            lambda w: {"code": "import sys\nopen('out.txt', 'w').write(sys.argv[1] + input() + open('data/in.txt').read())", "stdin": w + "\n", "args": [w],
                       "files": _file(w), "fetch_files": ["out.txt", "missing"]},
            lambda w, s, r: s["status"] == "Success" and _ended(r) and s["files"] == {"out.txt": base64.b64encode(3 * w.encode()).decode()}),
        # It takes a part of its time: what it waits for its turn, which is longer, may not count.
        "waits for its turn": (lambda w: {"code": f"import time; time.sleep(0.3); print('{w}')", "run_timeout": OWN_TIME},
                               lambda w, s, r: s["status"] == "Success" and _ended(r) and r["stdout"] == w + "\n"),
        "exit": (lambda w: {"code": f"import sys; print('{w}'); sys.exit(3)"},
                 lambda w, s, r: s["status"] == "Failed" and _ended(r, code=3) and r["stdout"] == w + "\n"),
        "exception": (lambda w: {"code": f"print('{w}', flush=True)\nraise KeyError('{w}')"},
                      lambda w, s, r: s["status"] == "Failed" and _ended(r, code=1) and r["stdout"] == w + "\n" and f"KeyError: '{w}'" in r["stderr"]),
        "crash": (lambda w: {"code": f"import os; print('{w}', flush=True); os.abort()"},
                  lambda w, s, r: s["status"] == "Failed" and _ended(r, code=-6) and r["stdout"] == w + "\n"),
        "syntax": (lambda w: {"code": f"print('{w}'\n"},
                   lambda w, s, r: s["status"] == "Failed" and _ended(r, code=1) and "SyntaxError" in r["stderr"] and not r["stdout"]),
        "timeout, busy": (lambda w: {"code": f"print('{w}', flush=True)\nwhile True: pass", "run_timeout": SHORT},
                          lambda w, s, r: _late(s, r) and r["execution_time"] >= SHORT and r["stdout"] == w + "\n"),
        "timeout, asleep": (lambda w: {"code": f"import time; print('{w}', flush=True); time.sleep(1000)", "run_timeout": SHORT},
                            lambda w, s, r: _late(s, r) and r["execution_time"] >= SHORT and r["stdout"] == w + "\n"),
        "memory": (lambda w: {"code": f"print('{w}', flush=True)\nx = bytearray(1 << 29)\nx[::4096] = x[::4096]", "memory_limit_MB": MEMORY_MB},
                   lambda w, s, r: s["status"] == "Failed" and _ended(r, code=1) and r["stdout"] == w + "\n" and
                   ("limits.memory" in s["message"] or "MemoryError" in r["stderr"])),
        "output cut": (lambda w: {"code": f"print('{w}' * {STDOUT})"},
                       lambda w, s, r: s["status"] == "Success" and _ended(r) and r["stdout"].startswith(w) and len(r["stdout"]) <= STDOUT and
                       "limits.stdout" in s["message"]),
    }


KINDS = _kinds()


@contextlib.contextmanager
def serve(user=None):
    """A daemon that takes fewer jobs than a crowd sends."""
    folder = cells.new_directory(user or cells.caller())
    limits = {"timeout": f"{AMPLE:g}s", "memory": f"{MEMORY_MB}M", "stdout": STDOUT, "max": {"timeout": f"{2 * AMPLE:g}s"}}
    (folder / "judge.json").write_text(json.dumps({"extends": "default", "tree": "base", "limits": limits}))
    config = {"sandboxfusion": {"policy": "judge"}, "queue": WAITING, "workers": 4, "http": {"tenant_connections": 200}}
    with daemons.Daemon(user, env={"HOTCELL_POLICIES": str(folder)}, config=config) as d:
        yield d
        assert d.end() == 0, d.log


class Crowd:
    def __init__(self, path, clients, kinds=None):
        self.path, self.clients = path, clients
        self.kinds = kinds or list(KINDS)
        self.right, self.later, self.wrong, self.broken = collections.Counter(), collections.Counter(), [], []
        self.waited = 0.0  # most seconds that a program waited for its turn and was right all the same
        self.lock, self.end = threading.Lock(), 0.0

    def run(self, seconds):
        self.end = time.monotonic() + seconds
        threads = [threading.Thread(target=self.client, args=(number,)) for number in range(self.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not self.broken, self.broken[0]
        return self

    def client(self, number):
        chosen = random.Random(number)
        connection = daemons.Connection(self.path)
        try:
            for count in range(1 << 30):
                if time.monotonic() > self.end:
                    break
                self.ask(connection, chosen.choice(self.kinds), f"w{number}-{count}", chosen)
        except Exception:  # pylint: disable=broad-exception-caught  # in a thread: told by run()
            self.broken.append(traceback.format_exc())
        finally:
            connection.close()

    def ask(self, connection, kind, word, chosen):
        make, is_right = KINDS[kind]
        body = {"compile_timeout": 10, "run_timeout": AMPLE, "memory_limit_MB": -1, "language": "python", "files": {}, "fetch_files": [], **make(word)}
        while True:
            begun = time.monotonic()
            connection.request("POST", "/run_code", json.dumps(body).encode(), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 504:
                break
            self.note_later(kind, text)
            time.sleep(0.2 + chosen.random())  # as SandboxFusion's clients do, who wait for longer
        said = json.loads(text)
        run = said.get("run_result") or {}
        with self.lock:
            if answer.status == 200 and run and is_right(word, said, run):
                self.right[kind] += 1
                self.waited = max(self.waited, time.monotonic() - begun - run["execution_time"])
            else:
                self.wrong.append((kind, word, answer.status, text[:300] + text[-300:]))

    def note_later(self, kind, text):
        with self.lock:
            if "queue" in json.loads(text)["detail"]:
                self.later[kind] += 1
            else:
                self.wrong.append((kind, "", 504, text[:300] + text[-300:]))

    def __str__(self):
        lines = [f"{sum(self.right.values())} right, {len(self.wrong)} wrong, {sum(self.later.values())} times later; "
                 f"a turn came after {self.waited:.1f} s at the latest"]
        return "\n".join([*lines, *(f"{kind:20} {self.right[kind]:7} right {self.later[kind]:7} later" for kind in self.kinds), *map(str, self.wrong[:5])])
