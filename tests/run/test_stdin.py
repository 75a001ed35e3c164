"""Standard input, arguments and environment of a program: what it gets, what bounds it, and that no sender can hold the cell up."""

import base64
import json
import os
import pty
import socket
import subprocess
from pathlib import Path

import cells
import pytest


def spec_of(**members):
    return json.dumps({"tree": cells.tree_path("base"), "code": "pass", **members})


def run_spec(**members):
    done = cells.hotcell("run", "--json", "--spec", "-", stdin=None, input=spec_of(**members))
    return done, json.loads(done.stdout) if done.stdout else None


@pytest.fixture
def feed(base_tree):
    """A file with this content."""
    def make(content):
        path = cells.new_directory(cells.caller()) / "input"
        path.write_bytes(content)
        return path
    return make


# ---- what a program reads ----

@pytest.mark.parametrize("code, said", [
    ("print(input(), input('name? '))", "name? first second\n"),
    ("import sys\nprint([line for line in sys.stdin])", "['first\\n', 'second\\n', 'thírd']\n"),
    ("import sys\nprint(sys.stdin.buffer.read())", "b'first\\nsecond\\nth\\xc3\\xadrd'\n"),
    ("import os\nprint(os.read(0, 5))", "b'first'\n"),
    ("print(open(0).readline(), end='')", "first\n"),
    ("import sys\nprint(sys.stdin.name, sys.stdin.mode, sys.stdin.encoding, sys.stdin.seekable(), sys.stdin.isatty(), sys.stdin is sys.__stdin__)",
     "<stdin> r utf-8 False False True\n"),
    ("import sys\nfor _ in range(3): sys.stdin.readline()\nprint(repr(sys.stdin.read()))\ninput()", "''\n"),
    ("import fileinput\nprint(len(list(fileinput.input())))", "3\n"),
    ("import csv, sys\nprint(list(csv.reader(sys.stdin)))", "[['first'], ['second'], ['thírd']]\n"),
])
def test_program_reads_standard_input(feed, user, code, said):
    path = feed("first\nsecond\nthírd".encode())
    path.chmod(0o644)
    for result in (cells.run(code, "--stdin", path, user=user), cells.run(code, "--stdin", "-", stdin=path.read_bytes(), user=user)):
        assert result.stdout == said, result
        assert ("EOFError: EOF when reading a line\n" in result.stderr) == code.endswith("\ninput()"), result
        assert "--stdin" not in result.stderr, "the job has standard input"


def test_bytes_that_are_no_text(feed):
    content = bytes(range(256))
    assert cells.run("import sys; print(sys.stdin.buffer.read() == bytes(range(256)))", "--stdin", feed(content)).stdout == "True\n"
    assert cells.run("print(len(input()))", "--stdin", feed(b"\xff\xfe\n")).stdout == "2\n"


@pytest.mark.parametrize("policy", [None, "notebook"])
def test_without_standard_input_there_is_only_its_end(base_tree, policy):
    code = """
        import sys
        print(repr(sys.stdin.read()), repr(sys.stdin.readline()))
        try:
            input("? ")
        except EOFError as error:
            print(error)
        input()
    """
    result = cells.run(code, policy=policy, stdin="not for the program")
    assert result.manifest["status"] == "error"
    assert result.stdout == "'' ''\n? EOF when reading a line\n"
    assert result.stderr.endswith('EOFError: EOF when reading a line\nhint: The job has no standard input; give it some with --stdin FILE.\n')


@pytest.mark.parametrize("policy", ["analysis", "charts", "statistics"])
def test_policies_that_refuse_input_go_on_refusing_it(base_tree, feed, policy):
    result = cells.run("input()", "--stdin", feed(b"text\n"), policy=policy)
    assert result.manifest["status"] in ("rejected", "error"), result


@pytest.mark.parametrize("stdin, code, said", [
    ("a\nb\n", "print(input() + input())", "ab\n"),
    ("", "import sys; print(repr(sys.stdin.read()))", "''\n"),
    ({"data": base64.b64encode(b"\0\xff").decode()}, "import sys; print(sys.stdin.buffer.read())", "b'\\x00\\xff'\n"),
    ("x" * 1000000, "import sys; print(len(sys.stdin.read()))", "1000000\n"),
    ("x" * 1000000, "print('read nothing')", "read nothing\n"),
])
def test_standard_input_in_a_spec(base_tree, stdin, code, said):
    _, manifest = run_spec(code=code, stdin=stdin)
    assert (manifest["status"], manifest["stdout"]["text"]) == ("ok", said), manifest


@pytest.mark.parametrize("members, message", [
    ({"stdin": 1}, 'stdin: expected a string, or an object with "data", got a number'),
    ({"stdin": {}}, 'stdin: expected a string, or an object with one member "data", in base64'),
    ({"stdin": {"data": "%"}}, "stdin.data: expected base64"),
    ({"stdin": {"data": "", "text": ""}}, 'stdin: expected a string, or an object with one member "data", in base64'),
    ({"args": "x"}, "args: expected a list of strings, got a string"),
    ({"args": [1]}, "args: expected a string, got a number"),
    ({"args": ["x"] * 257}, "args: more than 256 arguments"),
    ({"args": ["x" * 65536]}, "args: the arguments have more than 65536 bytes"),
    ({"env": []}, "env: expected an object of strings, got a list"),
    ({"env": {"A": 1}}, "env.A: expected a string, got a number"),
    ({"env": {"A-B": ""}}, "env: 'A-B': expected a name of 1 to 64 letters, digits and '_', not beginning with a digit"),
    ({"env": {"A": "x" * 4097}}, "env: 'A': the value is longer than 4096 bytes"),
    ({"env": {f"A{i}": "" for i in range(65)}}, "env: 'A64': more than 64 variables"),
    *[({"env": {name: "x"}}, f"env: '{name}': ") for name in (
        "LD_PRELOAD", "PYTHONPATH", "PYTHONSTARTUP", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE",
        "OMP_NUM_THREADS", "HOME", "PATH", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "MPLBACKEND", "MPLCONFIGDIR", "HOTCELL_STATE",
        "GCONV_PATH", "OPENSSL_CONF", "JOBLIB_MULTIPROCESSING")],
])
def test_bad_members_are_refused_with_their_place(base_tree, members, message):
    done, _ = run_spec(**members)
    assert done.returncode == 65 and f": {message}" in done.stderr and "standard input:1:" in done.stderr, done.stderr


def test_policy_bounds_what_a_spec_brings(base_tree):
    for members, rule, message in [
            ({"stdin": "12345", "limits": {"stdin": 4}}, "stdin_size", "standard input has 5 bytes, more than 4 (limits.stdin)"),
            ({"env": {"A": "", "B": ""}, "limits": {"env": 1}}, "env_count", "the job sets 2 environment variables, more than 1 (limits.env)")]:
        done, manifest = run_spec(**members)
        assert (done.returncode, manifest["status"], manifest["rejection"]["rule"], manifest["rejection"]["message"]) == (
            2, "rejected", rule, message)
    result = cells.run("import os; print(os.environ['TZ'])", "--env", "TZ=UTC", policy={"env": {"TZ": "Europe/Berlin"}})
    assert result.manifest["rejection"]["message"] == "the job sets the environment variable TZ, which the policy sets"
    result = cells.run("pass", "--env", "A=1", policy={"limits": {"env": 0}})
    assert result.manifest["rejection"]["rule"] == "env_count"


# ---- arguments, environment ----

def test_arguments(base_tree, user):
    code = """
        import argparse, sys
        print(sys.argv)
        parser = argparse.ArgumentParser()
        parser.add_argument("--count", type=int)
        parser.add_argument("names", nargs="*")
        print(parser.parse_args())
    """
    arguments = ["--count", "3", "-", "--", "ä b", "--json", ""]
    result = cells.run(code, arguments=arguments, user=user)
    assert result.stdout == (f"{['<cell>', *arguments]}\nNamespace(count=3, names=['-', 'ä b', '--json', ''])\n")
    assert cells.run("import sys; print(sys.argv)").stdout == "['<cell>']\n"
    assert cells.run(code, arguments=["--count=x"]).stderr.endswith("<cell>: error: argument --count: invalid int value: 'x'\n")


def test_arguments_override_those_of_a_spec(base_tree):
    spec = spec_of(code="import sys; print(sys.argv[1:])", args=["a", "b"])
    assert cells.hotcell("run", "--spec", "-", stdin=None, input=spec).stdout == "['a', 'b']\n"
    assert cells.hotcell("run", "--spec", "-", "--", "c", stdin=None, input=spec).stdout == "['c']\n"


@pytest.mark.parametrize("command, message", [
    (["run", "x.py", "a"], "expected one FILE, or - for standard input"),
    (["run", "--spec", "x.json", "a"], "expected nothing after --spec's options"),
    (["check", "x.py", "--", "a"], "expected one FILE, or - for standard input"),
    (["run", "--env", "A", "x.py"], "--env: expected NAME=VALUE, got 'A'"),
    (["run", "--env", "LD_PRELOAD=x", "x.py"], "--env: 'LD_PRELOAD': it changes how programs are loaded"),
    (["run", "--stdin", "-", "-"], "--stdin -: the program itself comes on standard input"),
    (["run", "-", "--", b"\xff"], "argument 1 of the program: not UTF-8"),
])
def test_wrong_command_lines(base_tree, command, message):
    done = cells.hotcell(*command)
    assert done.returncode == 64 and message in done.stderr, done


@pytest.mark.parametrize("path, message", [("/", "expected a file, got a directory"), ("/nowhere", "No such file")])
def test_standard_input_that_cannot_be_read(base_tree, path, message):
    done = cells.hotcell("run", "--stdin", path, "-", input="pass", stdin=None)
    assert done.returncode == 65 and f"--stdin {path}: " in done.stderr and message in done.stderr


def test_environment(base_tree, user):
    code = """
        import os, time
        print(os.environ["COLOUR"], os.getenv("EMPTY"), os.environ["OWN"], time.tzname[0])
    """
    options = ["--env", "COLOUR=blüe = red", "--env", "EMPTY=", "--env", "TZ=Asia/Tokyo"]
    result = cells.run(code, *options, policy={"env": {"OWN": "policy"}}, user=user)
    assert result.stdout == "blüe = red  policy JST\n", result


# ---- what a sender can do ----

def holds_the_cell_up(sender, code="print('done')", *options):
    """Runs the program with this end of a pipe or socket, whose other end stays open, as standard input."""
    with cells.Job(code, "--stdin", "-", *options, stdin=sender) as job:
        return job.finish()


def test_sender_that_never_closes(base_tree, user):
    reader, writer = os.pipe()
    try:
        os.write(writer, b"one line\n")
        assert holds_the_cell_up(reader, "print(input())").stdout == "one line\n"
        result = holds_the_cell_up(reader, "input()", "--timeout=1s")
        assert result.manifest["status"] == "timeout"
    finally:
        os.close(writer)
        os.close(reader)


@pytest.mark.parametrize("code, said", [("print('done')", "done\n"), ("import sys; print(len(sys.stdin.buffer.read(10)))", "10\n")])
def test_sender_without_end(base_tree, code, said):
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as sender:
        assert holds_the_cell_up(sender.stdout, code).stdout == said
        sender.kill()


def test_stream_larger_than_the_cells_memory(base_tree):
    code = "import sys\nn = 0\nwhile part := sys.stdin.buffer.read(1 << 16): n += len(part)\nprint(n)"
    with subprocess.Popen(["head", "-c", "200M", "/dev/zero"], stdout=subprocess.PIPE) as sender:
        result = holds_the_cell_up(sender.stdout, code, "--memory", "64M")
    assert (result.manifest["status"], result.stdout) == ("ok", f"{200 << 20}\n")


def test_sender_that_dies_is_the_end_of_input(base_tree):
    with subprocess.Popen(["sh", "-c", "echo begun; kill -9 $$"], stdout=subprocess.PIPE) as sender:
        assert holds_the_cell_up(sender.stdout, "import sys; print(sys.stdin.read())").stdout == "begun\n\n"


def test_failed_read_is_said(base_tree):
    with open("/proc/self/mem", "rb") as sender:  # address 0 cannot be read
        result = holds_the_cell_up(sender, "import sys; print(repr(sys.stdin.read()))")
    assert result.stdout == "''\n" and "standard input could not be read to its end: Input/output error" in result.manifest["warnings"]


@pytest.mark.parametrize("kind", ["socket", "terminal", "non-blocking"])
def test_caller_keeps_its_open_file_as_it_was(base_tree, kind):
    """The program has a pipe in its place: it cannot push input into a terminal, nor change flags that the caller shares."""
    ends = socket.socketpair() if kind == "socket" else pty.openpty() if kind == "terminal" else os.pipe()
    theirs, ours = [end.fileno() if kind == "socket" else end for end in (ends if kind != "terminal" else ends[::-1])]
    os.set_blocking(theirs, kind != "non-blocking")
    code = """
        import fcntl, os, stat, sys, termios
        print(input(), stat.S_ISFIFO(os.fstat(0).st_mode), os.isatty(0))
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) ^ os.O_NONBLOCK)
        try:
            fcntl.ioctl(0, termios.TIOCSTI, b"x")
        except OSError as error:
            print("refused")
        try:
            os.write(0, b"x")
        except OSError as error:
            print("refused")
    """
    try:
        os.write(ours, b"text\n")
        result = holds_the_cell_up(theirs, code)
        assert result.stdout == "text True False\nrefused\nrefused\n", result
        assert os.get_blocking(theirs) == (kind != "non-blocking")
    finally:
        for end in ends:
            end.close() if kind == "socket" else os.close(end)


def test_file_stays_the_callers(base_tree, feed):
    path = feed(b"text")
    code = "import os\ntry:\n    os.lseek(0, 0, 0)\nexcept OSError as error:\n    print(error.strerror)"
    assert cells.run(code, "--stdin", path).stdout == "Illegal seek\n"


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_killed_launcher_leaves_no_process(base_tree):
    reader, writer = os.pipe()
    try:
        with cells.start("print('begun', flush=True)\ninput()", "--stdin", "-", stdin=reader) as job:
            job.read_line()
            left = [*children(job.pid), *job.descendants()]
            assert "hotcell-stdin\n" in [Path(f"/proc/{pid}/comm").read_text() for pid in left]
            job.process.kill()
            cells.wait_until("a process is left", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in left))
    finally:
        os.close(writer)
        os.close(reader)
