"""A client of hotcelld's /mcp that looks at every byte: raw messages over HTTP, and Server-Sent Events as they come.

    peer = mcp_http.Peer(port, token)
    peer.initialize()
    peer.tool("run_python", code="6 * 7")["structuredContent"]
"""

import contextlib
import http.client
import itertools
import json

import cells
import daemons

BOTH = "application/json, text/event-stream"


class Stream:
    """Events of an answer, one after the other: pairs of id and message (None: there is no message in it)."""

    def __init__(self, connection, response):
        self.connection, self.response = connection, response

    def __iter__(self):
        event = {}
        while line := self.response.readline():
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                event[name] = value
            elif "id" in event:
                yield event["id"], json.loads(event["data"]) if event["data"] else None
                event = {}

    def close(self):
        self.response.close()
        self.connection.close()


class Peer:
    def __init__(self, port, token, version="2025-11-25", query=""):
        self.port, self.token, self.version, self.path = port, token, version, f"/mcp{query}"
        self.session, self.ids = None, itertools.count(1)

    def send(self, method, body=None, **headers):
        """The connection, and the response, whose body was not read yet. A header that is None is left out."""
        given = {"Accept": BOTH, "Authorization": f"Bearer {self.token}", "Mcp-Session-Id": self.session}
        if body is not None:
            given["Content-Type"] = "application/json"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=cells.PATIENCE)
        connection.request(method, self.path, body, {name: value for name, value in given.items() if value is not None})
        return connection, connection.getresponse()

    def ask(self, method, body=None, **headers):
        connection, response = self.send(method, body, **headers)
        with contextlib.closing(connection):
            answer = daemons.Answer(response.status, response.headers, response.read())
        if answer.headers.get("Content-Type") != "text/event-stream":
            daemons.check_answer(method, self.path, answer)
        return answer

    def post(self, method, params=None, number=None, **headers):
        message = {"jsonrpc": "2.0", "id": number or next(self.ids), "method": method, "params": params or {}}
        return self.ask("POST", json.dumps(message), **headers)

    def notify(self, method, **params):
        assert self.ask("POST", json.dumps({"jsonrpc": "2.0", "method": method, "params": params})).status == 202

    def initialize(self):
        answer = self.post("initialize", {"protocolVersion": self.version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
        if answer.status == 200:
            self.session = answer.headers["Mcp-Session-Id"]
            self.notify("notifications/initialized")
        return answer

    def tool(self, tool, **arguments):
        """The result of a call."""
        answer = self.post("tools/call", {"name": tool, "arguments": arguments}, Accept="application/json")
        assert answer.status == 200, answer
        return answer.json["result"]

    def begin(self, tool, number=None, token=None, **arguments):
        """Call it, and read the answer as a stream."""
        params = {"name": tool, "arguments": arguments} | ({"_meta": {"progressToken": token}} if token else {})
        connection, response = self.send("POST", json.dumps({"jsonrpc": "2.0", "id": number or next(self.ids), "method": "tools/call", "params": params}))
        assert (response.status, response.headers["Content-Type"]) == (200, "text/event-stream")
        return Stream(connection, response)

    def listen(self, after=None):
        connection, response = self.send("GET", Accept="text/event-stream", Last_Event_ID=after)
        assert (response.status, response.headers["Content-Type"]) == (200, "text/event-stream")
        return Stream(connection, response)

    def end(self):
        return self.ask("DELETE").status


def text(result):
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
