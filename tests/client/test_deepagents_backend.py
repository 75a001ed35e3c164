"""The backend of deepagents: commands, files, and the kinds of commands that the framework itself builds, in real cells."""

import abc
import base64
import json
import shlex
from dataclasses import dataclass

import frameworks
import pytest

pytestmark = pytest.mark.usefixtures("shell_tree")
SANDBOX, PROTOCOL = "deepagents.backends.sandbox", "deepagents.backends.protocol"


@dataclass
class ExecuteResponse:
    output: str
    exit_code: int | None = None
    truncated: bool = False


@dataclass
class FileUploadResponse:
    path: str
    error: str | None = None


@dataclass
class FileDownloadResponse:
    path: str
    content: bytes | None = None
    error: str | None = None


class BaseSandbox(abc.ABC):
    @abc.abstractmethod
    def execute(self, command, *, timeout=None): ...

    @property
    @abc.abstractmethod
    def id(self): ...

    @abc.abstractmethod
    def upload_files(self, files): ...

    @abc.abstractmethod
    def download_files(self, paths): ...


@pytest.fixture(scope="module")
def backend(shell_tree):
    with pytest.MonkeyPatch.context() as monkeypatch:
        protocol = frameworks.module(PROTOCOL, **{kind.__name__: kind for kind in (ExecuteResponse, FileUploadResponse, FileDownloadResponse)})
        module = frameworks.load(monkeypatch, "deepagents", protocol, frameworks.module(SANDBOX, BaseSandbox=BaseSandbox))
        backend = module.HotcellBackend(**frameworks.OPTIONS, output_bytes=100_000)
        yield backend
        backend.close()


def test_it_is_a_sandbox_of_the_framework(backend):
    assert isinstance(backend, BaseSandbox) and backend.id
    assert isinstance(backend.execute("true"), ExecuteResponse)


def test_both_streams_are_the_output_in_their_order(backend):
    done = backend.execute("echo one; echo two >&2; echo three; exit 7")
    assert done == ExecuteResponse("one\ntwo\nthree\n", 7, False)


def test_output_is_cut_and_says_so(backend):
    done = backend.execute("yes | head -c 100001")
    assert done.truncated and len(done.output) == 100_000


def test_a_command_whose_time_is_up_says_so(backend):
    done = backend.execute("echo began; sleep 60", timeout=1)
    assert done.exit_code == 143 and done.output.startswith("began\n") and "ran longer than 1s (limits.timeout)" in done.output
    assert backend.execute("echo again").output == "again\n"


def test_files_go_in_and_out_and_each_error_is_that_files_own(backend):
    data = bytes(range(256)) * 20
    up = backend.upload_files([("/output/deep/a.bin", data), ("relative", b""), ("/etc/x", b""), ("/tmp/b", b"b"), ("/tmp", b"")])
    assert [response.error for response in up] == [None, "invalid_path", "permission_denied", None, "is_directory"]
    down = backend.download_files(["/output/deep/a.bin", "/output/none", "/output/deep", "/tmp/b", "a\0b"])
    assert [(response.content, response.error) for response in down] == [
        (data, None), (None, "file_not_found"), (None, "is_directory"), (b"b", None), (None, "invalid_path")]


def test_a_file_that_is_huge_is_not_read(backend):
    assert backend.execute("truncate -s 200M /output/huge").exit_code == 0
    assert backend.download_files(["/output/huge"])[0].error == "permission_denied"
    assert backend.execute("rm /output/huge").exit_code == 0


def test_commands_as_the_framework_builds_them(backend):
    """It reads and writes by python3 with a document on standard input, and searches by grep."""
    payload = base64.b64encode(json.dumps({"path": "/output/src/app.py", "content": "x = 'a:b'\n$HOME `no`\n"}).encode()).decode()
    write = f"""python3 -c "
import sys, base64, json, os
data = json.loads(base64.b64decode(sys.stdin.read().strip()))
os.makedirs(os.path.dirname(data['path']), exist_ok=True)
with open(data['path'], 'w') as f:
    f.write(data['content'])
" <<'__END__'
{payload}
__END__"""
    assert backend.execute(write) == ExecuteResponse("", 0, False)
    found = backend.execute(f"grep -rHnF --include='*.py' -e {shlex.quote('$HOME')} /output/src 2>/dev/null || true")
    assert found.output == "/output/src/app.py:2:$HOME `no`\n"
    listed = backend.execute("""python3 -c "
import glob, json, os
os.chdir('/output')
print(json.dumps(sorted(glob.glob('**/*.py', recursive=True))))
" 2>/dev/null""")
    assert json.loads(listed.output) == ["src/app.py"]


def test_without_the_framework_it_works_by_itself(monkeypatch):
    module = frameworks.load(monkeypatch, "deepagents", without=("deepagents", SANDBOX, PROTOCOL))
    backend = module.HotcellBackend(**frameworks.OPTIONS)
    assert backend.execute("echo x").output == "x\n"
    assert backend.download_files(["/none"])[0].error == "file_not_found"
    backend.close()
