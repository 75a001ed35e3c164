"""hotcell over an encrypting server in front of a daemon, with a prefix before the daemon's routes."""

import json
import os
import shutil
import signal
import ssl
import subprocess
import warnings

import cells
import daemons
import encrypting
import pytest

BIG = 9 << 20  # bytes of a file that is sent in parts


@pytest.fixture(name="port", scope="module")
def module_daemon(base_tree):
    with encrypting.daemon() as port:
        yield port


@pytest.fixture(name="server", params=["", "/cells/of-ours"])
def with_and_without_prefix(request, port):
    with encrypting.Server(port, request.param) as server:
        yield server


def environment(server, **more):
    return {"HOTCELL_SOCKET": server.url, "HOTCELL_TOKEN": encrypting.TOKEN, "SSL_CERT_FILE": str(server.ca_file), **more}


def run(code, *options, env, **more):
    return cells.run(code, "-t", "base", *options, tree=None, env=env, **more)


def test_a_job_with_a_large_input_and_files(server):
    data = cells.new_directory(cells.caller()) / "data.bin"
    data.write_bytes(os.urandom(BIG))
    env = environment(server, HOTCELL_SOCKET=server.url + "/")
    result = run("import os\nprint(os.path.getsize(d))\nopen('back', 'wb').write(open(d, 'rb').read())", "--input", f"d={data}", env=env)
    assert (result.status, result.stdout, result.stderr) == (0, f"{BIG}\n", ""), result
    assert (result.output / "back").read_bytes() == data.read_bytes() and result.manifest["tenant"] == "team"
    assert all(f"\r\nHost: {server.url[len('https://'):].split('/')[0]}\r\n" in head + "\r\n" for head in server.heads)
    listed = cells.hotcell("jobs", "--json", env=env)
    assert result.manifest["job_id"] in listed.stdout and listed.stderr == "", listed
    assert f"GET {server.prefix}/v1/jobs" in server.heads[-1]


def test_tools_and_standard_input(server):
    result = run("print(input(), tools.eight())", "--stdin", "-", "--tool", "eight=/bin/echo 8", env=environment(server), stdin="line\n")
    assert (result.status, result.stdout) == (0, "line 8\n"), result


def test_ctrl_c_cancels_the_job(server):
    """The signal goes to all of the terminal's processes, also to the one that carries the connection."""
    command = cells.Job("print('up', flush=True)\nimport time\ntime.sleep(600)", "-t", "base", tree=None, env=environment(server), pipes=True,
                        popen={"start_new_session": True})
    assert command.process.stdout.readline() == b"up\n"
    os.killpg(command.pid, signal.SIGINT)
    status = command.wait()
    assert status == 130 or json.loads((command.output / "manifest.json").read_text())["status"] == "killed", (status, command.process.stderr.read())
    assert json.loads((command.output / "manifest.json").read_text())["reason"] == "cancelled from outside"


def test_a_server_for_which_nobody_vouches_gets_no_token(server, port):
    for file in ("", "/etc/passwd", "/nothing"):
        result = run("1", env=environment(server, SSL_CERT_FILE=file))
        assert result.status == 78 and f"connect to hotcelld at {server.url}: SSL_CERT_FILE" in result.stderr and result.stderr.count("\n") == 1, result
    with encrypting.Server(port, names="DNS:another.example") as other:
        result = run("1", env=environment(other))
        assert result.status == 78 and "The name in the certificate does not match the expected" in result.stderr, result
        assert other.heads == [] and server.heads == []


def test_a_server_of_old_versions_only_gets_no_token(port):
    with encrypting.Server(port) as old, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old.context.set_ciphers("ALL:@SECLEVEL=0")
        old.context.minimum_version, old.context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        result = run("1", env=environment(old))
        assert result.status == 69 and "it does not speak TLS as it should" in result.stderr and old.heads == [], result


def test_what_fails_is_named(server, port):
    for place, message in ((f"https://127.0.0.1:{port}", "does not speak TLS"),
                           ("https://127.0.0.1:1/cells", "connect to hotcelld at https://127.0.0.1:1/cells: Connection refused: start hotcelld(8)")):
        result = run("1", env=environment(server, HOTCELL_SOCKET=place))
        assert result.status == 69 and message in result.stderr and result.stderr.count("\n") == 1, result
    result = run("1", env=environment(server, HOTCELL_TOKEN="wrong"))
    assert result.status == 78 and "a valid token is needed" in result.stderr, result
    for place in ("https://", "https://h:0", "https://h:70000", "https://u:p@h", "https://h/a?b", "https://h/a b", "https://h/../x", "http://h", "https://h/a//b",
                  "https://h#x", "https:///cells", "https://[::1", "https://[::1]x", "https://h:1x/"):
        result = run("1", "--warm", env=environment(server, HOTCELL_SOCKET=place))
        assert result.status == 64 and f"https://HOST:PORT, with /PREFIX behind it or without, got '{place}'" in result.stderr, result


def test_https_has_a_port_of_its_own(server):
    for place in "https://127.0.0.1/cells/", "https://127.0.0.1:443/cells":
        result = run("1", env=environment(server, HOTCELL_SOCKET=place))
        assert result.status in (69, 78) and "connect to hotcelld at https://127.0.0.1:443/cells: " in result.stderr, result


def test_the_program_that_encrypts_is_not_for_users():
    done = subprocess.run([cells.BUILD / "hotcell-tls"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout, done.stderr) == (64, "", "hotcell-tls: is what hotcell starts for https://\n")


def test_without_the_program_that_encrypts(server, monkeypatch):
    place = cells.new_directory(cells.caller())
    (place / "bin").mkdir()
    shutil.copy(cells.HOTCELL, place / "bin" / "hotcell")
    shutil.copytree(daemons.SOURCE.parent / "policies", place / "share/hotcell/policies")
    monkeypatch.setattr(cells, "HOTCELL", place / "bin" / "hotcell")
    result = run("1", env=environment(server))
    assert result.status == 69 and "hotcell-tls is not where hotcell is installed" in result.stderr and result.stderr.count("\n") == 1, result
