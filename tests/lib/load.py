"""Many jobs for a hotcelld, from one process that costs little: so many connections, each with one job at a time.

    with Crowd(d.socket, request(spec), 8) as crowd:
        latencies = crowd.run(1000)  # seconds, in the order of the answers

`watch(d)` says what the daemon's processes hold, `settled` waits until that is no more than before.
"""

import collections
import contextlib
import json
import os
import selectors
import socket
import time

import cells
import daemons

PERCENTILES = 50, 95, 99


def request(spec, **headers):
    body = json.dumps(spec).encode()
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(["POST /v1/jobs HTTP/1.1", "Host: localhost", "Content-Type: application/json",
                        f"Content-Length: {len(body)}", *lines, "", ""]).encode() + body


class Crowd:
    def __init__(self, path, payload, connections, uid=None, uids=None):
        """With `uids`, one connection for each of these users, as they are told to the daemon."""
        self.path, self.payload = str(path), payload
        self.selector = selectors.DefaultSelector()
        for user in uids or [uid] * connections:
            self.selector.register(self.connect(user), selectors.EVENT_READ, {"got": b"", "sent": 0.0})

    def connect(self, uid):
        s = socket.socket(socket.AF_UNIX)
        if uid is None:
            s.connect(self.path)
            return s
        os.setresuid(-1, uid, -1)
        try:
            s.connect(self.path)
        finally:
            os.setresuid(-1, 0, -1)
        return s

    def send(self, key):
        key.data["sent"] = time.perf_counter()
        key.fileobj.sendall(self.payload)

    def run(self, jobs, statuses=None, answers=None, seconds=None):
        """Latencies of so many jobs; their answers must be 200. `statuses` counts what their manifests say, `answers` takes all.
        After so many seconds no more are sent."""
        left, took, begun = jobs, [], time.perf_counter()
        for key in list(self.selector.get_map().values())[:jobs]:
            self.send(key)
            left -= 1
        while len(took) < jobs:
            ready = self.selector.select(cells.PATIENCE)
            assert ready, f"no answer to {jobs - left - len(took)} jobs"
            for key, _ in ready:
                answer = self.receive(key)
                if answer is None:
                    continue
                took.append(time.perf_counter() - key.data["sent"])
                if statuses is not None:
                    statuses[json.loads(answer)["status"]] += 1
                if answers is not None:
                    answers.append(answer)
                if seconds and time.perf_counter() - begun > seconds:
                    jobs, left = jobs - left, 0
                if left:
                    self.send(key)
                    left -= 1
        return took

    @staticmethod
    def receive(key):
        """The body of an answer that is complete, or None."""
        more = key.fileobj.recv(1 << 18)
        assert more, "the daemon has hung up"
        key.data["got"] += more
        head, end, body = key.data["got"].partition(b"\r\n\r\n")
        if not end:
            return None
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if len(body) < int(fields[b"content-length"]):
            return None
        assert head.startswith(b"HTTP/1.1 200 "), key.data["got"][:1000]
        key.data["got"] = b""
        return body

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, len(values) * part // 100)]


# ---- what the daemon holds ----

def own_kib(pid):
    """Pages that are no file's, whether a child has them as well at this moment or not; counted one by one."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))


def watch(d, tenant=None):
    """Numbers that must not grow: of the processes that stay, by kind, the most descriptors and memory of their own (KiB);
    mounts and processes of all;
    with the name of a tenant that no other daemon has its cgroups."""
    held = collections.defaultdict(int)
    for pid in [d.pid, *d.children(), *d.zygotes()]:
        name = "manager" if pid == d.pid else daemons.name_of(pid).partition("-")[2]
        with contextlib.suppress(OSError):  # a zygote has been replaced
            for what, count in (("descriptors", len(os.listdir(f"/proc/{pid}/fd"))), ("memory", own_kib(pid))):
                held[f"{name} {what}"] = max(held[f"{name} {what}"], count)
    held["processes"] = len(d.descendants())
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        held["mounts"] = sum(1 for line in file if " /sys/kernel/" not in line)  # the kernel mounts those when a process looks there
    if tenant:
        held["cgroups"] = sum(1 for folder, _, _ in os.walk("/sys/fs/cgroup") if f"/hotcell-tenant-{tenant}/" in f"{folder}/")
    return dict(held)


def metric(d, name, uid=None):
    with contextlib.closing(d.connect(uid)) as connection:
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
    return float(next(line for line in lines if line.startswith(f"hotcell_{name} ")).rpartition(" ")[2])
