"""Who listens where a daemon should and is none: it says what a test wants said, to any client.

LIES are answers that no client may fall for, each with a word of what "hotcell run" says of it.
"""

import contextlib
import hashlib
import json
import socket
import threading

import cells


@contextlib.contextmanager
def impostor(answers):
    """Gives each connection the next of `answers`, the last one again and again."""
    directory = cells.new_directory(cells.caller())
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(directory / "socket"))
        server.listen()

        def serve():
            rest = list(answers)
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    connection.recv(65536)
                    connection.sendall(rest.pop(0) if len(rest) > 1 else rest[0])
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield directory
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def respond(body, kind="application/x-ndjson", status="200 OK", more=""):
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {len(body)}\r\n\r\n".encode() + body


STREAM = {"text": "", "bytes": 0, "truncated": False, "redactions": 0}


def manifest_event(**members):
    manifest = {"status": "ok", "exit_code": 0, "reason": None, "figures": [], "files": [], "stdout": STREAM, "stderr": STREAM, "warnings": [], "code_path": None, "partial": False, "job_id": "one", "denials": [], "usage": {}, "rejection": None,
                "guest": None, **members}
    return respond(json.dumps({"event": "manifest", "manifest": manifest}).encode() + b"\n", more="Location: /v1/jobs/one\r\n")


def listed(path, content=b"x", **more):
    return {"path": path, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), **more}


LIES = {
    "up": ([manifest_event(files=[listed("../outside")])], "cannot be kept"),
    "up within": ([manifest_event(files=[listed("a/../../outside")])], "cannot be kept"),
    "absolute": ([manifest_event(files=[listed("/tmp/outside")])], "cannot be kept"),
    "escaped": ([manifest_event(files=[listed("\\x2e\\x2e/outside", escaped=True)])], "cannot be kept"),
    "program": ([manifest_event(code_path="../x.py")], "cannot be kept"),
    "through a link": ([manifest_event(files=[listed("link/outside")]), respond(b"x", "application/octet-stream")], "link"),
    "other content": ([manifest_event(files=[listed("f")]), respond(b"y", "application/octet-stream")], "not what the manifest says"),
    "longer": ([manifest_event(files=[listed("f")]), respond(b"xx", "application/octet-stream")], "not what the manifest says"),
    "gone": ([manifest_event(files=[listed("f")]), respond(b"{}", "application/json", "404 Not Found")], "status 404"),
    "no job": ([respond(b'{"event": "manifest", "manifest": {}}\n')], "which job"),
    "other job": ([manifest_event().replace(b"/v1/jobs/one", b"/v1/jobs/../x")], "which job"),
    "no manifest": ([manifest_event(files={"path": "x"})], "lists a file without"),
    "no JSON": ([respond(b"nonsense\n")], "event:1:1"),
    "no event": ([respond(b'{"event": "stdout"}\n')], "expected output"),
    "no HTTP": ([b"220 mail.example.org ESMTP\r\n\r\n"], "not HTTP"),
    "half": ([respond(b"x" * 100)[:-50]], "middle of the answer"),
    "silence": ([b""], "middle of the answer"),
    "no reason": ([respond(b"<html>", "text/html", "500 Oops")], "status 500"),
}
