"""HotcellSandboxClient: sandboxes of the OpenAI Agents SDK, one session for each.

    client = HotcellSandboxClient()
    result = await Runner.run(agent, "...", run_config=RunConfig(sandbox=SandboxRunConfig(client=client)))

The interfaces are those of the SDK's BaseSandboxClient and BaseSandboxSession. The workspace is the directory that the manifest
names as its root; it is in the cell alone, and a snapshot of it is a tar archive that is made in the cell.
"""

from __future__ import annotations

import io
import uuid
from typing import Any, Dict, List, Literal, Mapping, Optional

from . import frameworks
from .sandbox import HOME, Outcome
from .sandbox_async import AsyncSandbox

SDK = "agents.sandbox"
ARCHIVE = "/tmp/.hotcell-workspace.tar"
MOST_ARCHIVE = 1 << 30  # bytes of a workspace that is kept


class _Record:
    """Named values, where the SDK is not installed: what its results, states and options are there."""

    def __init__(self, **members: Any) -> None:
        vars(self).update(members)


class _WorkspaceError(OSError):
    def __init__(self, *, path: Any, cause: Optional[BaseException] = None) -> None:
        super().__init__(f"{path}: {cause}")


class _ExecTimeoutError(TimeoutError):
    def __init__(self, *, command: Any, timeout_s: Optional[float], cause: Optional[BaseException] = None) -> None:
        super().__init__(f"{' '.join(command)}: the command took longer than {timeout_s} seconds")


ExecResult = frameworks.named(f"{SDK}.types", "ExecResult", _Record)
Manifest = frameworks.named(f"{SDK}.manifest", "Manifest", _Record)
ExecTimeoutError = frameworks.named(f"{SDK}.errors", "ExecTimeoutError", _ExecTimeoutError)
ReadNotFoundError = frameworks.named(f"{SDK}.errors", "WorkspaceReadNotFoundError", _WorkspaceError)
ReadError = frameworks.named(f"{SDK}.errors", "WorkspaceArchiveReadError", _WorkspaceError)
WriteError = frameworks.named(f"{SDK}.errors", "WorkspaceArchiveWriteError", _WorkspaceError)


class HotcellSandboxState(frameworks.named(f"{SDK}.session.sandbox_session_state", "SandboxSessionState", _Record)):  # type: ignore[misc]
    """The state of a session as the SDK keeps it; `options` are the arguments of Sandbox that it was created with."""

    type: Literal["hotcell"] = "hotcell"
    options: Dict[str, Any] = {}


class HotcellSandboxSession(frameworks.base(f"{SDK}.session.base_sandbox_session", "BaseSandboxSession")):  # type: ignore[misc]
    """A sandbox of an agent. `sandbox` is an AsyncSandbox that is open."""

    def __init__(self, *, state: Any, sandbox: AsyncSandbox) -> None:
        self.state, self.sandbox = state, sandbox

    @property
    def _root(self) -> str:
        return str(getattr(self.state.manifest, "root", HOME))

    async def _exec_internal(self, *command: Any, timeout: Optional[float] = None) -> Any:
        argv = [str(part) for part in command]
        given = getattr(self.state.manifest, "environment", None)
        env = await given.resolve() if given is not None else None
        done: Outcome = await self.sandbox.exec(argv, cwd=self._root, env=env or None, timeout=timeout)
        if done.timed_out:
            raise ExecTimeoutError(command=tuple(argv), timeout_s=timeout)
        return ExecResult(stdout=done.stdout, stderr=done.stderr, exit_code=done.status)

    async def _path(self, path: Any, user: Any, for_write: bool) -> str:
        """The path that the SDK's rules allow. PermissionError: another user than the cell's own was named."""
        if user is not None:
            raise PermissionError(f"{path}: a cell has one user, and user={getattr(user, 'name', user)!r} is refused")
        check = getattr(self, "_validate_path_access", None)
        return str(path if check is None else await check(path, for_write=for_write))

    async def read(self, path: Any, *, user: Any = None) -> io.IOBase:
        """A file's content. WorkspaceReadNotFoundError, WorkspaceArchiveReadError."""
        try:
            place = await self._path(path, user, False)
            return io.BytesIO(await self.sandbox.do(lambda sandbox: sandbox.read(place)))
        except FileNotFoundError as error:
            raise ReadNotFoundError(path=path, cause=error) from error
        except OSError as error:
            raise ReadError(path=path, cause=error) from error

    async def write(self, path: Any, data: io.IOBase, *, user: Any = None) -> None:
        """Write a file; missing directories are made. WorkspaceArchiveWriteError."""
        content = data.read()
        try:
            place = await self._path(path, user, True)
            await self.sandbox.do(lambda sandbox: sandbox.write(place, content.encode() if isinstance(content, str) else bytes(content)))
        except OSError as error:
            raise WriteError(path=path, cause=error) from error

    async def running(self) -> bool:
        """Whether the session goes on."""
        return not self.sandbox.sandbox.session.ended

    async def persist_workspace(self) -> io.IOBase:
        """The workspace as a tar archive, without the paths that the SDK leaves out. WorkspaceArchiveReadError."""
        skipped = getattr(self, "_persist_workspace_skip_relpaths", set)()
        await self._tar(["-c", *(f"--exclude=./{path}" for path in sorted(map(str, skipped))), "."], ReadError)
        content: bytes = await self.sandbox.do(lambda sandbox: sandbox.read(ARCHIVE, MOST_ARCHIVE))
        await self.sandbox.do(lambda sandbox: sandbox.remove(ARCHIVE))
        return io.BytesIO(content)

    async def hydrate_workspace(self, data: io.IOBase) -> None:
        """Unpack such an archive, in the cell. WorkspaceArchiveWriteError."""
        content = bytes(data.read())
        await self.sandbox.do(lambda sandbox: sandbox.write(ARCHIVE, content))
        await self._tar(["-x", "--no-same-owner"], WriteError)
        await self.sandbox.do(lambda sandbox: sandbox.remove(ARCHIVE))

    async def _tar(self, arguments: List[str], problem: Any) -> None:
        done = await self.sandbox.exec(["tar", "-f", ARCHIVE, "-C", self._root, *arguments], cwd="/")
        if done.status != 0:
            raise problem(path=self._root, cause=OSError(done.stderr.decode(errors="replace").strip()))

    async def _shutdown_backend(self) -> None:
        await self.sandbox.close()


class HotcellSandboxClient(frameworks.base(f"{SDK}.session.sandbox_client", "BaseSandboxClient")):  # type: ignore[misc]
    """Makes sandboxes. Takes the arguments of Sandbox for all of them; `options` of create are for one."""

    backend_id = "hotcell"
    supports_default_options = True

    def __init__(self, **options: Any) -> None:
        self._options = options

    async def create(self, *, snapshot: Any = None, manifest: Any = None, options: Optional[Mapping[str, Any]] = None) -> Any:
        """Begin a session. `manifest`: what is in the workspace, and its root; `options`: arguments of Sandbox."""
        session_id = uuid.uuid4()
        resolve = frameworks.named(f"{SDK}.snapshot", "resolve_snapshot", lambda given, name: given)
        manifest = manifest or Manifest()
        if hasattr(self, "_validate_manifest_for_create"):
            manifest = self._validate_manifest_for_create(manifest)
        kept = snapshot if hasattr(snapshot, "persist") else resolve(snapshot, str(session_id))
        given = {name: value for name, value in dict(options or {}).items() if name != "type"}
        return await self._open(HotcellSandboxState(session_id=session_id, manifest=manifest, snapshot=kept, options=given))

    async def resume(self, state: Any) -> Any:
        """A new session in the place of one that has ended: the SDK puts into it what the state's snapshot has."""
        state.workspace_root_ready = False
        return await self._open(state)

    async def _open(self, state: Any) -> Any:
        home = str(getattr(state.manifest, "root", HOME))
        sandbox = await AsyncSandbox(**{**self._options, **state.options, "home": home}).open()
        inner = HotcellSandboxSession(state=state, sandbox=sandbox)
        return self._wrap_session(inner) if hasattr(self, "_wrap_session") else inner

    async def delete(self, session: Any) -> Any:
        """End a session; its files go."""
        await getattr(session, "_inner", session).sandbox.close()
        return session

    def deserialize_session_state(self, payload: Dict[str, Any]) -> Any:
        """The state that the SDK's serialize_session_state made a document of."""
        read = getattr(self, "_deserialize_session_state_payload", None)
        if read is not None:
            return read(payload, HotcellSandboxState)
        return getattr(HotcellSandboxState, "model_validate", lambda members: HotcellSandboxState(**members))(payload)
