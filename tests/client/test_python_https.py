"""The Python package over an encrypting server in front of a daemon, with a prefix before the daemon's routes."""

import asyncio
import sys
from pathlib import Path

import cells
import encrypting
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402
from hotcell import wire  # noqa: E402

BOUNDS = {"tree": "base", "timeout": 10 * cells.SLOWNESS, "memory": "256M"}


@pytest.fixture(name="port", scope="module")
def module_daemon(base_tree):
    with encrypting.daemon() as port:
        yield port


@pytest.fixture(name="server", params=["", "/cells/of-ours"])
def with_and_without_prefix(request, port, monkeypatch):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    monkeypatch.delenv("HOTCELL_SOCKET", raising=False)
    with encrypting.Server(port, request.param) as server:
        yield server


def test_jobs_sessions_files_and_events(server):
    client, heard = hotcell.Daemon(server.url, ca_file=server.ca_file, token=encrypting.TOKEN), []
    program = "open('/output/f', 'w').write('x' * 300_000)\nprint('up')\ntools.double(n=21)"

    def double(n: int) -> int:
        return 2 * n
    result = client.run(program, on_event=heard.append, tools=[double], **BOUNDS)
    assert result.value == 42 and len(result.files[0].read()) == 300_000 and "up\n" == "".join(event.get("text", "") for event in heard)
    job = client.submit("6 * 7", **BOUNDS)
    assert job.result().value == 42
    with client.session(vars={"x": 1}, **BOUNDS) as session:
        assert session.run("x").value == 1

    async def main():
        other = hotcell.AsyncDaemon(server.url, ca_file=server.ca_file, token=encrypting.TOKEN)
        results = await asyncio.gather(*(other.run(f"{n}", **BOUNDS) for n in range(3)))
        async with await other.session(**BOUNDS) as session:
            return [*(each.value for each in results), (await session.run("7")).value]
    assert asyncio.run(main()) == [0, 1, 2, 7]
    assert all(f"\r\nHost: {server.url[len('https://'):].split('/')[0]}\r\n" in head + "\r\n" for head in server.heads)


def test_the_variables_of_the_environment_name_all_of_it(server, monkeypatch):
    monkeypatch.setenv("HOTCELL_SOCKET", server.url + "/")
    monkeypatch.setenv("HOTCELL_TOKEN", encrypting.TOKEN)
    monkeypatch.setenv("SSL_CERT_FILE", str(server.ca_file))
    wire._context.cache_clear()
    try:
        assert hotcell.run("6 * 7", **BOUNDS).value == 42 and server.heads
    finally:
        wire._context.cache_clear()


@pytest.mark.parametrize("use", [lambda *a, **k: hotcell.Daemon(*a, **k).health(), lambda *a, **k: asyncio.run(hotcell.AsyncDaemon(*a, **k).health())])
def test_a_server_for_which_nobody_vouches_gets_no_token(server, port, use):
    with pytest.raises(hotcell.DaemonUnavailable, match="ca_file, or SSL_CERT_FILE, has to name who vouches"):
        use(server.url, token=encrypting.TOKEN)
    with encrypting.Server(port, names="DNS:another.example") as other:
        with pytest.raises(hotcell.DaemonUnavailable, match="ca_file, or SSL_CERT_FILE"):
            use(other.url, ca_file=other.ca_file, token=encrypting.TOKEN)
        assert other.heads == []
    with pytest.raises(hotcell.DaemonUnavailable):
        use(f"https://127.0.0.1:{port}", ca_file=server.ca_file, token=encrypting.TOKEN)  # it does not encrypt
    assert server.heads == []


@pytest.mark.parametrize("use", [lambda *a, **k: hotcell.Daemon(*a, **k).run("1"), lambda *a, **k: asyncio.run(hotcell.AsyncDaemon(*a, **k).run("1"))])
def test_a_failed_connection_names_address_reason_and_option(server, port, use, monkeypatch):
    monkeypatch.delenv("HOTCELL_TOKEN", raising=False)
    plain, encrypted = f"http://127.0.0.1:{port}", f"https://127.0.0.1:{port}"

    def says(kind, url, **options):
        with pytest.raises(kind) as caught:
            use(url, **options)
        return str(caught.value)
    assert says(hotcell.DaemonUnavailable, server.url, token=encrypting.TOKEN).startswith(f"connect to hotcelld at {server.url}: its certificate is not trusted: ")
    assert says(hotcell.DaemonUnavailable, server.url, token=encrypting.TOKEN).endswith("; no ca_file was given")
    said = says(hotcell.DaemonUnavailable, encrypted, ca_file=server.ca_file, token=encrypting.TOKEN)
    assert said.startswith(f"connect to hotcelld at {encrypted}: it does not ") and said.endswith(f"without encryption its address is {plain}")
    said = says(hotcell.DaemonLost, server.url.replace("https", "http"), token=encrypting.TOKEN)
    assert said.startswith(server.url.replace("https", "http") + ": ") and said.endswith(f": if that server encrypts, its address is {server.url}")
    assert says(hotcell.AuthProblem, plain) == f"{plain} wants a valid token, and none was sent: give token=..., or set HOTCELL_TOKEN"
    assert says(hotcell.AuthProblem, plain, token="x" * 20) == f"{plain} wants a valid token, and that of token=... is none"
    monkeypatch.setenv("HOTCELL_TOKEN", "y" * 20)
    assert says(hotcell.AuthProblem, server.url, ca_file=server.ca_file) == f"{server.url} wants a valid token, and that of $HOTCELL_TOKEN is none"


@pytest.mark.parametrize("url", ["https://", "https://h:0", "https://h:70000", "https://u:p@h", "https://h/a?b", "https://h/a b", "https://h/../x", "ftp://h:1",
                                 "http://h", "https://h/a//b", "https://h#x"])
def test_what_is_no_address(url):
    with pytest.raises(hotcell.UsageError, match="expected a path, http://HOST:PORT or https://HOST:PORT"):
        hotcell.Daemon(url)


def test_a_file_that_vouches_for_nobody(tmp_path):
    (tmp_path / "ca").write_text("none")
    for file in tmp_path / "ca", tmp_path / "nothing":
        with pytest.raises(hotcell.UsageError, match="ca_file: .*: "):
            hotcell.Daemon("https://localhost:1", ca_file=file).health()
    assert hotcell.wire.find_place("https://host/p").name == "https://host:443/p" and hotcell.wire.find_place("http://[::1]:80/").name == "http://[::1]:80"
