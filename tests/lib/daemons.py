"""A hotcelld for tests: started as a user would start it, spoken to over its socket; every answer is held against the OpenAPI
document that it serves itself.

    with daemons.Daemon(user) as d:
        answer = d.post({"code": "print(1)"})
        answer.status, answer.json["status"]
"""

import contextlib
import functools
import hashlib
import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
from pathlib import Path

import jsonschema

import cells

HOTCELLD = cells.BUILD / "hotcelld"
SOURCE = Path(__file__).resolve().parents[2] / "src"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def messages(self):
        """The Server-Sent Events in the body: pairs of id (None: it has none) and event."""
        messages = [dict(line.split(": ", 1) for line in text.split("\n")) for text in self.body.decode().split("\n\n")[:-1] if text != ":"]
        return [(message.get("id"), json.loads(message["data"])) for message in messages]

    def __repr__(self):
        return f"<{self.status} {dict(self.headers)} {self.body[-800:]!r}>"


class Connection(http.client.HTTPConnection):
    """Over a Unix socket; as another user, if this process may become one for a moment."""

    def __init__(self, path, uid=None):
        super().__init__("localhost", timeout=cells.PATIENCE)
        self.path, self.uid = str(path), uid

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        if self.uid is None:
            self.sock.connect(self.path)
            return
        os.setresuid(-1, self.uid, -1)  # whom the other side is told: the effective ids at this moment
        try:
            self.sock.connect(self.path)
        finally:
            os.setresuid(-1, 0, -1)


def start(command, user, directory, env=None, passed=None):
    """With `passed`, a socket, as systemd starts who is to serve it: as descriptor 3."""
    env = {**user.environment(), **(env or {})}
    more = {}
    if passed:
        command = ["/bin/bash", "-c", 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@" 3<&"$0"', str(passed.fileno()), *command]
        more = {"pass_fds": [passed.fileno()]}
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=directory, env=env, **more,
                            **user.popen_arguments())


def config_with_token(token):
    """A port of 127.0.0.1 that is free, and the configuration of a daemon that listens there for the tenant "team" with this token."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    tokens = cells.new_directory(cells.caller()) / "tokens"
    tokens.write_text(f"{hashlib.sha256(token.encode()).hexdigest()} team\n")
    tokens.chmod(0o600)
    return port, {"listen": [{"address": "127.0.0.1", "port": port}], "tokens": str(tokens), "tenants": {"team": {}}}


def name_of(pid):
    """The name of a process; empty if the process has just ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(encoding="ascii").strip()
    return ""


# What tests ask for is more than the shipped policies allow requests, in a slow machine all the more.
WIDE = {"timeout": "24h", "value": "64M", "memory": "64G", "pids": 4096, "stdout": "1G", "stderr": "1G", "output": "16G", "tmp": "16G", "file": "16G",
        "figure": "1G", "figures": 1000, "session_idle": "24h", "session_life": "168h"}


def widen(user, given=None):
    """The shipped policies, each with maxima for what tests ask for, and those of a directory as they are."""
    directory = cells.new_directory(user)
    for shipped in (SOURCE.parent / "policies").glob("*.json"):
        policy = {"name": shipped.stem, "extends": str(shipped), "limits": {"max": WIDE}}
        (directory / shipped.name).write_text(json.dumps(policy))
    for own in Path(given).glob("*.json") if given else ():
        (directory / own.name).write_bytes(own.read_bytes())
    return directory


class Daemon:
    def __init__(self, user=None, *options, config=None, env=None, base=True, passed=None, state=None, wide=True, wrapper=()):
        self.user = user or cells.caller()
        self.directory = cells.new_directory(self.user)
        self.socket = self.directory / "socket"
        self.state = state or self.directory / "state"
        self.base = base
        self.command = [*wrapper, HOTCELLD, "--socket", self.socket, "--state", self.state, *options]
        path = self.directory / "hotcelld.conf"
        path.write_text(json.dumps(config or {}))
        self.command += ["--config", path]
        self.env = env or {}
        if wide:
            self.env = {**self.env, "HOTCELL_POLICIES": str(widen(self.user, self.env.get("HOTCELL_POLICIES")))}
        self.process = self.begin(None, passed)
        self.pid = self.process.pid
        self.log = ""
        try:
            self.wait_for_line("ready: ")
        except BaseException:  # also a signal's: nobody has it yet who would end it
            self.__exit__()
            raise

    # ---- its process ----

    def begin(self, env=None, passed=None):
        return start(self.command, self.user, self.directory, {**self.env, **(env or {})}, passed)

    def wait_for_line(self, text):
        while text not in self.log:
            assert select.select([self.process.stderr], [], [], cells.PATIENCE)[0], f"no {text!r} in {self.log}"
            more = os.read(self.process.stderr.fileno(), 65536).decode()
            assert more, f"hotcelld has ended: {self.log}"
            self.log += more

    def children(self, of=None):
        """None of a process that has ended: a zygote's and a session's live for moments only."""
        try:
            with open(f"/proc/{of or self.pid}/task/{of or self.pid}/children", encoding="ascii") as file:
                return [int(pid) for pid in file.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            return []

    def named(self, name):
        """Children of this kind: front, worker, ledger."""
        return [pid for pid in self.children() if name_of(pid) == f"hotcelld-{name}"]

    def descendants(self, of=None):
        found, queue = [], [of or self.pid]
        while queue:
            new = self.children(queue.pop())
            found += new
            queue += new
        return found

    def descendants_named(self, name):
        return [pid for pid in self.descendants() if name_of(pid) == name]

    def zygotes(self):
        return self.descendants_named("hotcell-zygote")

    def warm_counts(self):
        """Every number in /metrics that is about warm cells."""
        text = self.get("/metrics", uid=self.user.uid if cells.IS_ROOT else None).body.decode()
        return {name: int(value) for name, value in re.findall(r"^hotcell_(warm_\S+|jobs_cold_\S+|jobs_warm_total) (\d+)$", text, re.M)}

    def busy_worker(self):
        """A child that has children: a cell is being run by it."""
        busy = [pid for pid in self.children() if self.children(pid)]
        return busy[0] if busy else None

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        status = self.process.wait(cells.PATIENCE)
        self.log += self.process.stderr.read().decode()
        self.process.stderr.close()
        return status

    def start_again(self):
        """In the same place, after its end."""
        self.process.stderr.close()
        self.process = self.begin()
        self.pid, self.log = self.process.pid, ""
        self.wait_for_line("ready: ")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if not self.process.stderr.closed:
            self.process.stderr.close()

    # ---- requests ----

    def connect(self, uid=None):
        return Connection(self.socket, uid)

    def request(self, method, path, body=None, headers=None, uid=None):
        connection = self.connect(uid)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            answer = Answer(response.status, response.headers, response.read())
        finally:
            connection.close()
        check_answer(method, path, answer)
        return answer

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def spec(self, spec):
        """Bounded, and with the tree that tests have."""
        if isinstance(spec, str):
            spec = {"code": spec}
        if self.base:
            spec = {"tree": "base", **spec}
        bounds = {name.lstrip("-"): value for name, value in cells.BOUNDS.items() if name in ("--timeout", "--memory")}
        return {**spec, "limits": {**bounds, **spec.get("limits", {})}}

    def post(self, spec, headers=None, **more):
        body = spec if isinstance(spec, bytes) else json.dumps(self.spec(spec)).encode()
        return self.request("POST", "/v1/jobs", body, {"Content-Type": "application/json", **(headers or {})}, **more)

    def send(self, path, body=None, headers=None, **more):
        """POST a value as JSON, or no body."""
        body = None if body is None else json.dumps(body).encode()
        return self.request("POST", path, body, {"Content-Type": "application/json", **(headers or {})}, **more)

    def session(self, spec=None, **more):
        """Begin a session; returns its path."""
        spec = self.spec(spec or {})
        answer = self.send("/v1/sessions", spec, **more)
        assert answer.status == 201, answer
        assert answer.headers["Location"] == f"/v1/sessions/{answer.json['session_id']}"
        return answer.headers["Location"]

    def run(self, session, code, **more):
        """Run code in a session; returns the answer's JSON."""
        answer = self.send(f"{session}/runs", {"code": code, **more})
        assert answer.status == 200, answer
        return answer.json

    def post_async(self, spec, headers=None, **more):
        answer = self.post(spec, {"Prefer": "respond-async", **(headers or {})}, **more)
        assert answer.status == 202, answer
        return answer.json["job_id"]

    def events(self, job_id, **more):
        return self.get(f"/v1/jobs/{job_id}/events", **more).lines

    def result(self, job_id):
        """The answer for a job, once the job has ended: a stream of events ends with its job."""
        self.events(job_id)
        return self.get(f"/v1/jobs/{job_id}").json


# ---- the document ----

@functools.cache
def openapi():
    return cells.generated("gen/openapi.json")


@functools.cache
def manifest_schema():
    return cells.generated("manifest.schema.json")


def resolved(node):
    """The node of the document that a reference refers to; any other node as it is."""
    while "$ref" in node:
        found = openapi()
        for key in node["$ref"].removeprefix("#/").split("/"):
            found = found[key]
        node = found
    return node


def path_item(path):
    for template, item in openapi()["paths"].items():
        pattern = re.escape(template).replace(re.escape("{id}"), "[^/]+").replace(re.escape("{path}"), ".+")
        pattern = re.sub(r"\\\{(call|name|command|context)\\\}", "[^/]+", pattern)
        if re.fullmatch(pattern, path):
            return item
    return None


def validate(schema, value):
    jsonschema.Draft202012Validator({**schema, "components": openapi()["components"]}).validate(value)


def check_answer(method, path, answer):
    """Assert that the document lists this answer for the operation, and that the answer has the form given there."""
    if method == "HEAD":
        return
    if answer.status == 400 and answer.body.startswith(b"<html>"):
        return  # libmicrohttpd's own, since version 1.0, to a head that it does not understand
    item = path_item(path.partition("?")[0])
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    if kind == "application/problem+json":
        validate({"$ref": "#/components/schemas/Problem"}, answer.json)
        assert answer.json["status"] == answer.status
    operation = item.get(method.lower()) if item else None
    if not operation:
        assert answer.status in (404, 405), answer
        return
    listed = operation["responses"].get(str(answer.status))
    assert listed, f"{method} {path}: {answer} is not in the document"
    content = resolved(listed).get("content", {})
    assert kind in content or not answer.body, answer
    schema = content.get(kind, {}).get("schema")
    if schema and kind.endswith("json") and kind != "application/x-ndjson":
        validate(schema, answer.json)
    elif kind == "application/x-ndjson":
        for line in answer.lines:
            validate(resolved(schema)["contentSchema"], line)
    elif kind == "text/event-stream":
        for _, event in answer.messages:
            validate(resolved(schema)["contentSchema"], event)
