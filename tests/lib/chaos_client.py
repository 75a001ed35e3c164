"""One client of tests/lib/chaos.py: sends jobs for so many seconds and then prints what it was told, a JSON object for each.

    chaos_client.py SOCKET SECONDS NAME jobs|sessions

What was promised to it (202, or an Idempotency-Key that was answered) has a job_id; if the daemon is away, such a request is
sent again with its key until there is an answer. Of runs of a session, `wrong` says what is not as it was told to be: each adds its
number to a list, which has to be what the states that were told before make of it.
"""

import http.client
import json
import os
import random
import socket
import sys
import time

CODE = "tools.mark(number=number)\nimport time\ntime.sleep(pause)\nopen('a', 'w').write('x')\nprint('done')"
RUN = """
try:
    seen
except NameError:
    seen = []
tools.mark(number=number)
seen.append(number)
import time
time.sleep(pause)
seen
"""
JSON = {"Content-Type": "application/json"}
PATIENCE = 60


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(sys.argv[1])


def ask(method, path, body=None, headers=None):
    """(status, headers, body); an OSError or HTTPException if the other side has gone."""
    connection = Connection("localhost")
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


GONE = OSError, http.client.HTTPException, ValueError  # the last: half a body


def insist(*request):
    """As ask(), repeated until a daemon answers: for requests that may be sent again."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return ask(*request)
        except GONE:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def said(answer):
    """How a job has ended, by a direct answer."""
    status, _, body = answer
    content = json.loads(body)
    return content["status"] if status == 200 else content.get("retry", f"{status}")


def wait_for(job_id, note):
    """Read the job's events to their end, if the daemon lives so long."""
    try:
        status, _, body = ask("GET", f"/v1/jobs/{job_id}/events")
        lines = [json.loads(line) for line in body.splitlines()]
        ends = [line["manifest"]["status"] for line in lines if line["event"] == "manifest"]
        if status == 200 and ends:
            note["ended"] = ends[-1]
    except GONE:
        pass


def one(kind, number, dice):
    spec = {"code": CODE, "policy": "chaos", "vars": {"number": int(number), "pause": dice.choice([0, 0, 0.05, 0.2])}}
    if dice.random() < 0.3:
        spec["inputs"] = {"a": {"text": "x"}}
    headers = dict(JSON)
    note = {"number": number, "kind": kind, "uid": os.getuid(), "promised": False, "ended": None}
    if kind != "sync":
        headers["Prefer"] = "respond-async"
    if kind.startswith("key"):
        headers["Idempotency-Key"] = number
    if kind == "key sync":
        del headers["Prefer"]
    try:
        answer = (insist if kind.startswith("key") else ask)("POST", "/v1/jobs", json.dumps(spec), headers)
    except GONE:
        note["ended"] = "nobody answered"
        return note
    status, given, body = answer
    if status in (200, 202) and given["Location"] and kind != "sync":
        note.update(promised=True, job_id=given["Location"].rpartition("/")[2])
    if status != 202:
        note["ended"] = said(answer)
        if kind.startswith("key") and status in (502, 503) and "job_id" in (problem := json.loads(body)):
            note.update(promised=True, job_id=problem["job_id"], ended=None)
        return note
    if kind == "cancel":
        time.sleep(dice.uniform(0, 0.1))
        try:
            ask("POST", f"/v1/jobs/{note['job_id']}/cancel")
        except GONE:
            pass
    elif kind == "events":
        wait_for(note["job_id"], note)
    return note


# ---- sessions ----

class Session:
    """One of the daemon's; what each of its runs left, as far as that is known."""

    def __init__(self):
        status, headers, body = ask("POST", "/v1/sessions", json.dumps({"policy": "chaos"}), JSON)
        self.path, self.told, self.states, self.now = headers["Location"], [], {0: []}, 0
        self.over = status != 201
        self.began = "no session: " + said((status, headers, body)) if self.over else "began"

    def run(self, number, pause):
        """(how it ended, what is wrong with that)"""
        spec = {"code": RUN, "vars": {"number": number, "pause": pause}}
        status, _, body = ask("POST", f"{self.path}/runs", json.dumps(spec), JSON)
        answer = json.loads(body)
        if status != 200:
            self.over = True
            return f"{status} {answer['retry']}", None
        state, manifest = answer["state"], answer["manifest"]
        self.told.append(state)
        if state == "lost":
            self.over = True
        if state != "kept":
            self.now = int(state.rpartition("run ")[2]) if " run " in state else 0
            return f"{manifest['status']}, {state.rpartition(' to ')[0] or state}", None
        before, self.now = self.states[self.now], answer["run"]
        found = manifest["guest"]["value"]["application/json"] if manifest["status"] == "ok" else None
        self.states[self.now] = found
        known = found is not None and before is not None
        return f"{manifest['status']}, kept", f"{found} after {before}" if known and found != [*before, number] else None

    def end(self):
        """Ends the session. Returns what is wrong with the session's own account of its runs; None: nothing."""
        status, _, body = ask("DELETE", self.path)
        manifest = json.loads(body).get("manifest") if status == 200 else None  # none is left if its process was killed
        states = [run["state"] for run in manifest["runs"]] if manifest else self.told
        return None if states == self.told else f"{states}, and was {self.told}"


def run_sessions(name, end, dice):
    count, session, left = 0, None, 0
    while time.monotonic() < end or session:
        note = {"kind": "session", "uid": os.getuid(), "promised": False, "number": f"1{name}{count:06d}", "ended": None, "wrong": None}
        try:
            if not session:
                session, left = Session(), dice.randint(1, 12)
                note["ended"] = session.began
            elif left and not session.over:
                count, left = count + 1, left - 1
                note["ended"], note["wrong"] = session.run(int(note["number"]), dice.choice([0, 0.02, 0.1]))
            else:
                session, ending = None, session
                note["ended"], note["wrong"] = "ended", None if ending.over else ending.end()
        except GONE:
            session, note["ended"] = None, "nobody answered"
            time.sleep(0.02)
        yield note


def run_jobs(name, end, dice):
    count = 0
    while time.monotonic() < end:
        count += 1
        kind = dice.choice(["sync", "sync", "async", "events", "cancel", "key async", "key sync"])
        try:
            yield one(kind, f"1{name}{count:06d}", dice)
        except GONE:
            time.sleep(0.02)


def main():
    name, what = sys.argv[3:]
    run = {"jobs": run_jobs, "sessions": run_sessions}[what]
    for note in list(run(name, time.monotonic() + float(sys.argv[2]), random.Random(name))):
        print(json.dumps(note))


if __name__ == "__main__":
    main()
