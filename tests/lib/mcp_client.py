"""A client of `hotcell mcp` that speaks in raw lines.

    with mcp_client.Server() as server:
        server.initialize()
        server.tool("run_python", code="1 + 1")

Answers to requests that were sent with `send` come from `receive`, in any order.
"""

import json
import select

import cells


class Server(cells.Job):
    """A server with the tree base, in a directory of its own. It keeps its files in `out` there unless told otherwise."""

    def __init__(self, *options, **arguments):
        self.requests = 0
        self.notifications = []
        super().__init__(None, *options, pipes=True, popen={"stdin": -1, "bufsize": 0}, **arguments)

    def _command(self, code, tree, policy):
        command = super()._command(code, tree, policy)
        return [command[0], "mcp", *command[2:]]

    def write(self, data):
        view = memoryview(data if isinstance(data, bytes) else data.encode())
        while view:
            view = view[self.process.stdin.write(view):]

    def send(self, method, **params):
        """A request; its ID."""
        self.requests += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}) + "\n")
        return self.requests

    def notify(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}) + "\n")

    def message(self):
        """The next line, whatever it is."""
        if not select.select([self.process.stdout], [], [], cells.PATIENCE)[0]:
            raise AssertionError("the server says nothing")
        line = b""
        while not line.endswith(b"\n"):
            part = self.process.stdout.readline()
            assert part, f"the server has ended: {self.process.stderr.read()}"
            line += part
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def receive(self, request=None):
        """The next answer, which has to be that one's. Notifications on the way are kept."""
        while "id" not in (message := self.message()):
            self.notifications.append(message)
        assert request is None or message["id"] == request, message
        return message

    def request(self, method, **params):
        return self.receive(self.send(method, **params))

    def result(self, method, **params):
        answer = self.request(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def error(self, line, request=None):
        """The error that a raw line has for an answer."""
        self.write(line if line.endswith(b"\n") else line + b"\n")
        answer = self.receive()
        assert answer.get("id") == request and "result" not in answer, answer
        return answer["error"]["code"], answer["error"]["message"]

    def initialize(self, version="2025-06-18"):
        result = self.result("initialize", protocolVersion=version, capabilities={},
                             clientInfo={"name": "test", "version": "1"})
        self.notify("notifications/initialized")
        return result

    def call(self, name, /, **arguments):
        """A request for a tool that is not waited for."""
        return self.send("tools/call", name=name, arguments=arguments)

    def tool(self, name, /, **arguments):
        return self.result("tools/call", name=name, arguments=arguments)

    def refusal(self, name, /, **arguments):
        """The text of a tool that refuses the call."""
        result = self.tool(name, **arguments)
        assert result["isError"] and len(result["content"]) == 1, result
        return text(result)

    def run(self, code, **arguments):
        """The structured part of a program that ended well."""
        result = self.tool("run_python", code=code, **arguments)
        assert not result["isError"], result
        return result["structuredContent"]

    def end(self):
        """End the server's standard input, and wait for the server; returns its exit status and standard error."""
        self.process.stdin.close()
        status = self.wait()
        return status, self.process.stderr.read().decode()


def text(result):
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
