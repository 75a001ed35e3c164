"""A server that encrypts in front of a daemon, as an administrator would put one there, whose routes begin with a prefix.

    with encrypting.Server(port, "/cells") as server:
        hotcell.Daemon(server.url, ca_file=server.ca_file, token=...)
"""

import contextlib
import select
import socket
import ssl
import subprocess
import threading

import cells
import daemons

TOKEN = "a-token-of-the-team"


def certificate(directory, names="DNS:localhost,IP:127.0.0.1"):
    """A certificate that vouches for itself, and its key, in one file."""
    cells.need_program("openssl")
    path = directory / "server.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=test",
                    "-addext", f"subjectAltName={names}", "-keyout", path, "-out", directory / "ca.pem"], check=True, capture_output=True, timeout=60)
    path.write_text(path.read_text() + (directory / "ca.pem").read_text())
    return path


@contextlib.contextmanager
def daemon():
    """A daemon that takes TOKEN; the port that a server stands in front of."""
    port, config = daemons.config_with_token(TOKEN)
    with daemons.Daemon(config={**config, "workers": 1}) as d:
        yield port
        assert d.end() == 0, d.log


class Server:
    def __init__(self, port, prefix="", names="DNS:localhost,IP:127.0.0.1"):
        self.port, self.prefix, self.heads = port, prefix, []
        directory = cells.new_directory(cells.caller())
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate(directory, names))
        self.ca_file = directory / "ca.pem"
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}{prefix}"
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.answer, args=(self.listener.accept()[0],), daemon=True).start()

    def answer(self, raw):
        with contextlib.suppress(OSError), raw, self.context.wrap_socket(raw, server_side=True) as client:
            head = b""
            while b"\r\n\r\n" not in head:
                more = client.recv(65536)
                if not more:
                    return
                head += more
            self.heads.append(head.partition(b"\r\n\r\n")[0].decode())
            method, path, rest = head.split(b" ", 2)
            assert path.startswith(self.prefix.encode() + b"/"), path
            with socket.create_connection(("127.0.0.1", self.port)) as daemon:
                daemon.sendall(b" ".join((method, path[len(self.prefix):], rest)))
                self.relay(client, daemon)

    @staticmethod
    def relay(client, daemon):
        """The rest of the request and the answer, in one thread: two must not use the encrypted connection at once."""
        sides = [client, daemon]
        while True:
            ready = [client] if client in sides and client.pending() else select.select(sides, [], [])[0]
            if daemon in ready:
                more = daemon.recv(65536)
                if not more:
                    return
                client.sendall(more)
            if client in ready:
                more = client.recv(65536)
                if more:
                    daemon.sendall(more)
                else:
                    daemon.shutdown(socket.SHUT_WR)
                    sides.remove(client)
