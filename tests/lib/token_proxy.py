"""A proxy on a port of 127.0.0.1 that adds a token to each request, for clients of hotcelld that can send none. The rest of a
request, and every byte of an answer, passes through as it comes."""

import contextlib
import http.client
import http.server
import threading

import cells


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection("127.0.0.1", self.server.target, timeout=cells.PATIENCE)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() != "connection":
                connection.putheader(name, value)
        connection.putheader("Authorization", f"Bearer {self.server.token}")
        connection.endheaders(body or None)
        with contextlib.closing(connection), contextlib.suppress(OSError):
            self.answer(connection.getresponse())

    def answer(self, response):
        self.close_connection = True  # the end of the answer is that of the connection
        self.send_response_only(response.status)
        for name, value in response.headers.items():
            if name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while part := response.read1():
            self.wfile.write(part)
            self.wfile.flush()

    do_GET = do_POST = do_DELETE = pass_on

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def to(port, token):
    """The proxy's own port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.target, server.token = True, port, token
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
