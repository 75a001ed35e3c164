"""System calls as a policy's data: what it allows and denies is what a program has, and what cannot be is said.

Each probe tries calls through libc with arguments that cannot succeed, so that a call that is refused and one that came
through give different errors."""

import json

import pytest

import cells

CALL = """
import ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) for a in args))
    return "ok" if result >= 0 else errno.errorcode[ctypes.get_errno()]
"""


def written(**members):
    path = cells.new_directory(cells.caller()) / "own.json"
    path.write_text(json.dumps({"extends": "default", **members}))
    path.parent.chmod(0o755)
    return path


def refused(status=78, **syscalls):
    """What is said of a policy that is refused."""
    done = cells.hotcell("policy", "check", written(syscalls=syscalls))
    assert done.returncode == status and done.stdout == "", done
    return done.stderr


def test_an_optional_set_is_there_where_a_policy_allows_it(base_tree):
    probe = CALL + "import os\nprint(json.dumps([call(424, -1, 0, 0, 0), call(141, 0, 0, 19), call(434, os.getpid(), 0)]))"
    without = cells.run(probe, policy={"guard": "off"}).facts()
    assert without == ["ENOSYS", "EACCES", "ENOSYS"]
    both = {"guard": "off", "syscalls": {"allow": ["priorities", "pidfd_send_signal"]}}
    assert cells.run(probe, policy=both).facts() == ["EBADF", "ok", "ENOSYS"]


def test_priority_can_be_lowered_and_not_raised(base_tree):
    probe = "import os, json\nhere = os.nice(0)\nos.nice(5)\ntry:\n    os.nice(-3)\nexcept OSError as e:\n    print(json.dumps([os.nice(0) - here, e.errno]))"
    facts = cells.run(probe, policy={"syscalls": {"allow": ["priorities"]}}).facts()
    assert facts in ([5, 1], [5, 13])


def test_what_is_denied_fails_as_if_there_was_none(base_tree):
    probe = """
        import json, os, errno
        def code(f, *args):
            try:
                f(*args)
                return "ok"
            except OSError as e:
                return errno.errorcode[e.errno]
        open("/tmp/a", "w").close()
        print(json.dumps([code(os.link, "/tmp/a", "/tmp/b"), code(os.symlink, "x", "/tmp/c"), code(os.mkdir, "/tmp/d"),
                          code(os.chmod, "/tmp/a", 0o600), code(os.rename, "/tmp/a", "/tmp/e")]))
    """
    assert cells.run(probe).facts() == ["ok"] * 5
    result = cells.run(probe, policy={"syscalls": {"deny": ["links", "chmod", "fchmodat", "rename"]}})
    assert result.facts() == ["ENOSYS", "ENOSYS", "ok", "ENOSYS", "ENOSYS"]
    assert result.manifest["denials"] == []


def test_deny_goes_before_allow_and_before_the_network(base_tree):
    policy = {"guard": "off", "network": "loopback",
              "syscalls": {"allow": ["memory_keys"], "deny": ["pkey_alloc", "socket"]}}
    probe = CALL + "print(json.dumps([call(330, 0, 0), call(331, -1), call(41, 2, 1, 0)]))"
    assert cells.run(probe, policy=policy).facts() == ["ENOSYS", "EINVAL", "EAFNOSUPPORT"]


def test_servers_and_clients_on_loopback_have_the_options_that_they_set(base_tree):
    probe = """
        import asyncio, http.server, json, socket, socketserver, threading, urllib.request
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/")
        except urllib.error.HTTPError as e:
            status = e.code
        async def echo(reader, writer):
            writer.write(await reader.readline())
            writer.close()
        async def talk():
            server = await asyncio.start_server(echo, "127.0.0.1", 0, reuse_address=True, reuse_port=True)
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            alive = writer.get_extra_info("socket")
            alive.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            alive.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60)
            writer.write(b"hello\\n")
            transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
                asyncio.DatagramProtocol, local_addr=("127.0.0.1", 0), allow_broadcast=True)
            transport.close()
            return (await reader.readline()).decode()
        said = asyncio.run(talk())
        class Datagrams(socketserver.ThreadingUDPServer):
            allow_reuse_address = True
        Datagrams(("127.0.0.1", 0), socketserver.BaseRequestHandler).server_close()
        socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True).close()
        print(json.dumps([status, said]))
    """
    assert cells.run(probe, policy={"guard": "off", "network": "loopback"}).facts() == [501, "hello\n"]


def test_threads_can_be_denied(base_tree):
    probe = "import threading\ntry:\n    threading.Thread(target=print).start()\nexcept RuntimeError as e:\n    print(e)"
    result = cells.run(probe, policy={"syscalls": {"deny": ["clone"]}})
    assert (result.manifest["status"], result.stdout) == ("ok", "can't start new thread\n")


@pytest.mark.parametrize("mode, expected", [("any", ["ok", "ok", "ok", "ok", 7]),
                                            ("files", ["EACCES", "EACCES", "ok", "EACCES", None])])
def test_executable_memory(base_tree, mode, expected):
    """Anonymous and executable; and writable; neither; made executable later; a callback of ctypes."""
    probe = CALL + """
callback = ctypes.CFUNCTYPE(ctypes.c_int)
libc.mmap.restype = ctypes.c_void_p
page = libc.mmap(None, 4096, 3, 0x22, -1, 0)
try:
    seven = callback(lambda: 7)()
except MemoryError:
    seven = None
print(json.dumps([call(9, 0, 4096, 5, 0x22, -1, 0), call(9, 0, 4096, 7, 0x22, -1, 0), call(9, 0, 4096, 3, 0x22, -1, 0),
                  call(10, page, 4096, 5), seven]))
"""
    result = cells.run(probe, policy={"guard": "off", "syscalls": {"executable_memory": mode}})
    assert result.facts() == expected
    told = {d["what"] for d in result.manifest["denials"] if d["rule"] in ("mmap", "mprotect")}
    assert told == (set() if mode == "any" else {"mmap(PROT_EXEC)", "mprotect(PROT_EXEC)"})


def test_libraries_load_where_memory_is_executable_only_in_files(base_tree):
    result = cells.run("import sqlite3, zlib, decimal, json, ssl, lzma, bz2\nprint(sqlite3.connect(':memory:'))",
                       policy={"guard": "off", "syscalls": {"executable_memory": "files"}})
    assert result.manifest["status"] == "ok", result
    assert [d for d in result.manifest["denials"] if d["rule"] in ("mmap", "mprotect")] == []


@pytest.mark.parametrize("name, reason", [
    ("mount", "the mounts are fixed"), ("unshare", "no namespaces"), ("ptrace", "no debugging"),
    ("keyctl", "keyrings are shared"), ("bpf", "kernel surface"), ("io_uring_setup", "the filter does not see"),
    ("execve", "the cell has one program"), ("clone3", "memory that a filter cannot read"),
    ("memfd_create", "outside of every counted place"), ("swapon", "the host's administration")])
def test_what_is_never_allowed_is_refused_in_a_policy_with_its_reason(name, reason):
    said = refused(allow=["numa", name])
    assert f"syscalls.allow: no policy can allow '{name}': " in said and reason in said
    assert ":1:" in said and said.count("\n") == 1


def test_what_a_policy_says_wrongly_is_explained():
    assert "'sockets' comes with \"network\": \"loopback\"" in refused(allow=["sockets"])
    assert "'fork' comes with \"processes\": \"fork\"" in refused(allow=["fork"])
    assert "'read' is allowed already" in refused(allow=["read"])
    assert "did you mean 'numa'" in refused(allow=["nume"])
    assert "'futex' cannot be denied: the interpreter's threads" in refused(deny=["futex"])
    assert "'io' cannot be denied: read: " in refused(deny=["io"])
    assert "'mount' is refused already" in refused(deny=["mount"])
    assert "expected any or files, got 'none'" in refused(executable_memory="none")
    assert "expected a list of strings" in refused(deny="links")


def test_explain_says_what_the_policy_changed():
    own = written(syscalls={"allow": ["pidfd_open"], "deny": ["links", "ioctl"], "executable_memory": "files"})
    done = cells.hotcell("policy", "explain", own)
    assert done.returncode == 0, done
    assert "    process_handles: signals to processes of the same cell, by descriptor (allowed by the policy)\n" \
           "        pidfd_open\n" in done.stdout
    assert "(denied by the policy: link linkat symlink symlinkat)" in done.stdout
    assert "    ioctl: isatty (denied by the policy)" in done.stdout
    assert "    mprotect EACCES: syscalls.executable_memory is \"files\"\n        PROT_EXEC\n" in done.stdout
    plain = cells.hotcell("policy", "explain", "default").stdout
    assert "by the policy)" not in plain.split("System calls")[1]


def test_card_and_diff_know_the_section():
    own = written(syscalls={"deny": ["links"], "executable_memory": "files"})
    card = json.loads(cells.hotcell("policy", "card", "--json", own).stdout)
    assert card["code_from_memory"] is False
    assert "Machine code that is made at run time" in cells.hotcell("policy", "card", own).stdout
    lines = cells.hotcell("policy", "diff", "default", own).stdout.splitlines()
    assert 'syscalls.executable_memory: not set -> "files"' in lines
    assert any(line.startswith("syscalls.deny: ") for line in lines)


def deniable():
    """Sets and calls of the program's own that a policy may deny, as policy explain lists them."""
    text = cells.hotcell("policy", "explain", "default").stdout
    names, block = [], text.split("System calls that are allowed, by sets\n")[1].split("\nAllowed for some")[0]
    for line in block.splitlines():
        names += line.split() if line.startswith("        ") else [line.strip().partition(":")[0]] if line else []
    return [name for name in names if cells.hotcell("policy", "check", written(syscalls={"deny": [name]})).returncode == 0]


@pytest.mark.long
def test_the_interpreter_does_without_all_that_can_be_denied(base_tree):
    names = deniable()
    assert {"links", "timers", "clock_nanosleep", "ppoll"} <= set(names) and not {"read", "futex", "io"} & set(names)
    program = "import json, decimal, collections\nopen('/output/a', 'w').write('x')\nprint(json.dumps([1]))\n40 + 2"
    for name in names:
        result = cells.run(program, policy={"syscalls": {"deny": [name]}})
        assert (result.manifest["status"], result.stdout, result.files()) == ("ok", "[1]\n", ["a"]), (name, result)
    result = cells.run(program, policy={"syscalls": {"deny": names}})
    assert (result.manifest["status"], result.stdout, result.files()) == ("ok", "[1]\n", ["a"]), result
