"""One client of tests/chaos.py: sends jobs for so many seconds and then prints what it was told, a JSON object for each.

    chaos_client.py SOCKET SECONDS NAME

What was promised to it (202, or an Idempotency-Key that was answered) has a job_id; if the daemon is away, such a request is
sent again with its key until there is an answer.
"""

import http.client
import json
import os
import random
import socket
import sys
import time

CODE = "tools.mark(number=number)\nimport time\ntime.sleep(pause)\nopen('a', 'w').write('x')\nprint('done')"
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
    """The same until somebody answers: for what may be sent again."""
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
    """Its events to their end, if the daemon lives so long."""
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
    headers = {"Content-Type": "application/json"}
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


def main():
    name = sys.argv[3]
    dice = random.Random(name)
    end, count, notes = time.monotonic() + float(sys.argv[2]), 0, []
    while time.monotonic() < end:
        count += 1
        kind = dice.choice(["sync", "sync", "async", "events", "cancel", "key async", "key sync"])
        try:
            notes.append(one(kind, f"1{name}{count:06d}", dice))
        except GONE:
            time.sleep(0.02)
    for note in notes:
        print(json.dumps(note))


if __name__ == "__main__":
    main()
