"""The sandbox of the OpenAI Agents SDK: commands, files and snapshots in real cells, against its interface as a stub."""

import abc
import asyncio
import io
import tarfile
from pathlib import Path

import frameworks
import pytest

pytestmark = pytest.mark.usefixtures("shell_tree")
SDK = "agents.sandbox"


class ExecResult:
    def __init__(self, *, stdout, stderr, exit_code):
        self.stdout, self.stderr, self.exit_code = stdout, stderr, exit_code


class Environment:
    async def resolve(self):
        return {"FROM": "manifest"}


class Manifest:
    def __init__(self, root="/workspace"):
        self.root, self.environment = root, Environment()


class State:
    def __init__(self, **members):
        vars(self).update({"workspace_root_ready": False, **members})


class Problem(Exception):
    def __init__(self, *, path, cause=None):
        super().__init__(f"{path}: {cause}")


class NotFound(Problem):
    pass


class Unreadable(Problem):
    pass


class Unwritable(Problem):
    pass


class TimedOut(Exception):
    def __init__(self, *, command, timeout_s, cause=None):
        super().__init__(command, timeout_s)


class BaseSandboxSession(abc.ABC):
    """The parts that the adapter relies on; the SDK's own exec puts a command into a login shell."""

    async def exec(self, *command, timeout=None, shell=True):
        argv = ["sh", "-lc", command[0]] if shell else list(command)
        return await self._exec_internal(*argv, timeout=timeout)

    async def _validate_path_access(self, path, *, for_write=False):
        whole = Path(self.state.manifest.root) / path
        if not str(whole).startswith(("/workspace", "/tmp")):
            raise ValueError(f"{path} leaves the workspace")
        return whole

    def _persist_workspace_skip_relpaths(self):
        return {Path("left/out")}

    async def aclose(self):
        await self._shutdown_backend()

    @abc.abstractmethod
    async def _exec_internal(self, *command, timeout=None): ...

    @abc.abstractmethod
    async def read(self, path, *, user=None): ...

    @abc.abstractmethod
    async def write(self, path, data, *, user=None): ...

    @abc.abstractmethod
    async def running(self): ...

    @abc.abstractmethod
    async def persist_workspace(self): ...

    @abc.abstractmethod
    async def hydrate_workspace(self, data): ...


class BaseSandboxClient(abc.ABC):
    def _wrap_session(self, inner):
        wrapper = State(_inner=inner, **{name: getattr(inner, name) for name in ("exec", "read", "write", "running", "aclose", "state",
                                                                              "persist_workspace", "hydrate_workspace")})
        return wrapper

    @abc.abstractmethod
    async def create(self, *, snapshot=None, manifest=None, options): ...

    @abc.abstractmethod
    async def delete(self, session): ...

    @abc.abstractmethod
    async def resume(self, state): ...

    @abc.abstractmethod
    def deserialize_session_state(self, payload): ...


def stubs():
    module = frameworks.module
    return (module(f"{SDK}.types", ExecResult=ExecResult), module(f"{SDK}.manifest", Manifest=Manifest),
            module(f"{SDK}.errors", ExecTimeoutError=TimedOut, WorkspaceReadNotFoundError=NotFound, WorkspaceArchiveReadError=Unreadable,
                   WorkspaceArchiveWriteError=Unwritable),
            module(f"{SDK}.snapshot", resolve_snapshot=lambda spec, name: ("snapshot", spec, name)),
            module(f"{SDK}.session.sandbox_session_state", SandboxSessionState=State),
            module(f"{SDK}.session.base_sandbox_session", BaseSandboxSession=BaseSandboxSession),
            module(f"{SDK}.session.sandbox_client", BaseSandboxClient=BaseSandboxClient))


@pytest.fixture(scope="module")
def client(shell_tree):
    with pytest.MonkeyPatch.context() as monkeypatch:
        module = frameworks.load(monkeypatch, "openai_agents", *stubs())
        yield module.HotcellSandboxClient(**frameworks.OPTIONS)


@pytest.fixture(scope="module")
def session(client):
    session = asyncio.run(client.create(options=None))
    yield session
    asyncio.run(client.delete(session))
    assert not asyncio.run(session.running())


def run(session, *command, **options):
    return asyncio.run(session.exec(*command, **options))


def test_it_is_a_session_of_the_sdk_with_its_workspace(session):
    assert isinstance(session._inner, BaseSandboxSession) and asyncio.run(session.running())
    assert session.state.type == "hotcell" and session.state.snapshot == ("snapshot", None, str(session.state.session_id))
    assert run(session, "pwd; echo $FROM").stdout == b"/workspace\nmanifest\n"


def test_a_command_has_bytes_and_a_status(session):
    done = run(session, "printf", "\\377\\000", shell=False)
    assert (done.exit_code, done.stdout, done.stderr) == (0, b"\xff\0", b"")
    failed = run(session, "echo no >&2; exit 5")
    assert (failed.exit_code, failed.stderr) == (5, b"no\n")
    with pytest.raises(TimedOut) as raised:
        run(session, "sleep 60", timeout=0.5)
    assert raised.value.args == (("sh", "-lc", "sleep 60"), 0.5)


def test_files_go_in_and_out(session):
    content = bytes(range(256))
    asyncio.run(session.write(Path("a/b.bin"), io.BytesIO(content)))
    assert run(session, "wc -c < a/b.bin").stdout == b"256\n"
    assert asyncio.run(session.read(Path("/workspace/a/b.bin"))).read() == content
    for path, problem in (("none", NotFound), ("a", Unreadable)):
        with pytest.raises(problem, match=path):
            asyncio.run(session.read(Path(path)))
    with pytest.raises(Unwritable, match="Is a directory"):
        asyncio.run(session.write(Path("a"), io.BytesIO(b"")))
    with pytest.raises(ValueError, match="leaves the workspace"):
        asyncio.run(session.read(Path("/etc/passwd")))
    with pytest.raises(Unreadable, match="user='root' is refused"):
        asyncio.run(session.read(Path("a/b.bin"), user="root"))


def test_a_workspace_is_kept_and_comes_back_in_another_session(client, session):
    run(session, "mkdir -p kept left/out; echo one > kept/file; chmod 751 kept/file; ln -s file kept/link; echo x > left/out/gone")
    archive = asyncio.run(session.persist_workspace())
    names = set(tarfile.open(fileobj=io.BytesIO(archive.getvalue())).getnames())
    assert {"./kept/file", "./kept/link", "./left"} <= names and not any("left/out" in name for name in names)
    assert run(session, "ls -A /tmp | grep -c workspace.tar").stdout == b"0\n"
    resumed = asyncio.run(client.resume(session.state))
    assert resumed._inner.sandbox is not session._inner.sandbox
    asyncio.run(resumed.hydrate_workspace(archive))
    assert run(resumed, "stat -c %a kept/file; cat kept/link").stdout == b"751\none\n"
    asyncio.run(resumed.aclose())
    assert not asyncio.run(resumed.running()) and asyncio.run(session.running())


def test_an_archive_that_is_none_is_refused(session):
    with pytest.raises(Unwritable, match="/workspace"):
        asyncio.run(session.hydrate_workspace(io.BytesIO(b"no archive" * 100)))


def test_without_the_sdk_it_works_by_itself(monkeypatch):
    module = frameworks.load(monkeypatch, "openai_agents", without=[stub.__name__ for stub in stubs()])
    client = module.HotcellSandboxClient(**frameworks.OPTIONS)
    session = asyncio.run(client.create(options={"timeout": 1}))
    asyncio.run(session.write("x", io.StringIO("text")))
    assert asyncio.run(session._exec_internal("cat", "x")).stdout == b"text"
    with pytest.raises(TimeoutError, match="sleep 60"):
        asyncio.run(session._exec_internal("sleep", "60"))
    with pytest.raises(OSError, match="none"):
        asyncio.run(session.read("none"))
    assert client.deserialize_session_state({"options": {}}).options == {}
    asyncio.run(client.delete(session))
