"""Sessions: an interpreter in a cell that keeps its state from run to run, see hotcell-session(1)."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .errors import HotcellError, InputError, JobError, LaunchFailed, NotInstalled, without_place
from .jobs import DEFAULT_OUTPUT, Amount, Policy, failure, policy_argument
from .launcher import PATIENCE, Completed, PathLike, find_binary
from .results import Result, result_from_manifest
from .staging import Staging, contents, limits_of, list_of, mapping_of, stdin_of, to_json
from .tools import Server, Tool, Tools, tools_by_name


MAX_REQUEST = 64 << 20  # bytes of a request, as for a daemon; the command would end the session at somewhat more


@dataclass(frozen=True)
class Run(Result):
    """The result of one run. `run` is its number; `state` says which state the next run finds: "kept", or "rolled back to
    run 3" and the like; `branch` is the number of its branch, or None."""

    run: int = 0
    state: str = ""
    branch: Optional[int] = None

    @property
    def kept(self) -> bool:
        """Whether the next run finds this run's changes."""
        return self.state == "kept"


def run_of(answer: Mapping[str, Any], output_dir: Path) -> Run:
    """A Run from the answer to a run."""
    plain = result_from_manifest(answer["manifest"], output_dir)
    members = {member.name: getattr(plain, member.name) for member in fields(Result)}
    return Run(**members, run=answer["run"], state=answer["state"], branch=answer.get("branch"))


class SessionEnded(HotcellError):
    """The session has ended. `reason` is the reason of the event "end" in hotcell-session(1); `manifest` is the manifest of
    the whole session, or None."""

    def __init__(self, reason: str, manifest: Optional[Dict[str, Any]]) -> None:
        super().__init__(f"the session is over: {(manifest or {}).get('reason') or reason}")
        self.reason = reason
        self.manifest = manifest


class Session:
    """An interpreter that keeps its state from run to run. A run that is killed is undone, as `Run.state` says.

        with hotcell.Session(timeout=10) as session:
            session.run("x = 1")
            session.run("x + n", vars={"n": 41}).value

    policy      name, path, or a policy as a dict; None: the policy "default"
    tree        name or path of the root file system; None: the policy's
    inputs      name: path of a file, pandas DataFrame or numpy array; a variable of that name
    output_dir  directory for files, figures and manifest.json; None: hotcell-output/SESSION below the current directory
    limits      members of a policy's "limits"; limits of time and output apply to each run
    timeout, memory  short for limits["timeout"] and limits["memory"]
    seed        makes random numbers and hashes repeatable
    guard       False: turn off the policy's rules for Python code; the kernel's layers stay on
    tenant, job_id, labels  are written into the manifests
    sign        key file to sign the manifests with
    tools       callables that runs may call as tools.NAME(...): a list, or name: callable; a Tool has limits
    env         environment variables of the programs, beside the policy's
    binary      the hotcell command, see launcher.find_binary

    Raises as hotcell.run does. Once the session has ended, every method but close() raises SessionEnded, or LaunchFailed if
    hotcell itself has failed. Only one thread at a time may call methods, except interrupt().
    """

    def __init__(self, *, policy: Optional[Policy] = None, tree: Optional[PathLike] = None,
                 inputs: Optional[Mapping[str, Any]] = None, output_dir: Optional[PathLike] = None,
                 limits: Optional[Mapping[str, Amount]] = None, timeout: Optional[Amount] = None,
                 memory: Optional[Amount] = None, seed: Optional[int] = None, guard: Optional[bool] = None,
                 tenant: Optional[str] = None, job_id: Optional[str] = None,
                 labels: Optional[Mapping[str, str]] = None, sign: Optional[PathLike] = None,
                 tools: Optional[Tools] = None, env: Optional[Mapping[str, str]] = None, binary: Optional[PathLike] = None) -> None:
        self.manifest: Optional[Dict[str, Any]] = None  # of the whole session, once it has ended
        self._reason = "closed"
        self._writing = threading.Lock()
        self._staging = Staging()
        self._server: Optional[Server] = None
        callables = tools_by_name(tools)
        every = limits_of(limits, timeout=timeout, memory=memory)
        plain = {"--tree": tree, "--seed": seed, "--tenant": tenant, "--job-id": job_id, "--sign": sign,
                 "--output": output_dir, "--guard": None if guard is None else "on" if guard else "off"}
        with contextlib.ExitStack() as undo:
            undo.enter_context(self._staging)
            command = [find_binary(binary), "session", *self._policy(policy, every, callables)]
            for name, value in plain.items():
                command += [] if value is None else [name, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
            for name, path in self._staging.inputs(inputs).items():
                command += ["--input", f"{name}={path}"]
            for name, text in mapping_of(labels, "labels").items():
                command += ["--label", f"{name}={text}"]
            for name, text in mapping_of(env, "env").items():
                command += ["--env", f"{name}={text}"]
            if callables:
                self._server = Server(callables)
                self._server.start()
                undo.callback(self._server.close)
                command += ["--tool-fd", str(self._server.theirs)]
            self._start(command)
            undo.pop_all()
        self.output_dir = Path(output_dir if output_dir is not None else Path(DEFAULT_OUTPUT, self.id)).absolute()

    def _policy(self, policy: Optional[Policy], limits: Dict[str, Amount], tools: Mapping[str, Tool]) -> List[str]:
        """Options for the policy; limits and tools of the caller become a policy that extends it."""
        over: Dict[str, Any] = {"limits": limits} if limits else {}
        if tools:
            over["tools"] = {name: tool.described() for name, tool in tools.items()}
        if over and isinstance(policy, Mapping):
            policy = {**policy, **{name: {**policy.get(name, {}), **value} for name, value in over.items()}}
        elif over:
            base = policy_argument(policy, self._staging) or "default"
            policy = {"extends": os.path.abspath(base) if "/" in base else base, **over}
        named = policy_argument(policy, self._staging)
        return [] if named is None else ["--policy", named]

    def _start(self, command: List[str]) -> None:
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=subprocess.PIPE,
                                             pass_fds=() if self._server is None else (self._server.theirs,))
        except OSError as error:
            raise NotInstalled(f"{command[0]}: {error.strerror}") from error
        self.id: str = self._answer()["session"]

    @property
    def ended(self) -> bool:
        """Whether the session is known to have ended."""
        return bool(self._process.stdout and self._process.stdout.closed)

    def run(self, code: str, *, vars: Optional[Mapping[str, Any]] = None, returns: Optional[Sequence[str]] = None,
            limits: Optional[Mapping[str, Amount]] = None, timeout: Optional[Amount] = None,
            persist_code: bool = False, inputs: Optional[Mapping[str, Any]] = None, input: Union[None, str, bytes] = None,
            args: Optional[Sequence[str]] = None, check: bool = False) -> Run:
        """Run `code` in the state that earlier runs left. Parameters as of hotcell.run; `limits` of time and output only.

        A program that fails, is refused or is killed is a Run too: `Run.state` says which state the next run finds. Raises
        InputError for a request that is not valid, SessionEnded, LaunchFailed if hotcell itself has failed, and JobError
        with check=True.
        """
        self._ask({"run": run_spec(code, vars, returns, limits, timeout, persist_code, inputs, input, args)})
        result = self._result(self._answer())
        if check and not result.ok:
            raise JobError(result)
        return result

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the running program; without one nothing happens."""
        self._ask({"interrupt": True})

    def checkpoint(self, name: str) -> None:
        """Save the present state under a name, replacing an earlier checkpoint of that name. InputError: the name is not
        valid, or there are too many checkpoints."""
        self._ask({"checkpoint": name})
        self._answer()

    def rollback(self, name: str) -> None:
        """Go back to the state of a checkpoint, which is kept. InputError: there is no checkpoint of this name."""
        self._ask({"rollback": name})
        self._answer()

    def branch(self, codes: Sequence[Union[str, Mapping[str, Any]]]) -> List[Run]:
        """Run several programs (or dicts of arguments of run), each from the present state. Afterwards keep() has to choose
        one of the resulting states. InputError: a request was not valid."""
        self._ask({"branch": run_specs(codes)})
        results, wrong = [], None
        for answer in iter(self._read, None):
            if answer["event"] == "done":
                break
            if answer["event"] == "error" and "branch" not in answer:
                raise InputError(without_place(answer["message"]))  # the whole request is wrong: nothing has run
            if answer["event"] == "error":
                wrong = wrong or InputError(without_place(answer["message"]))
            else:
                results.append(self._result(answer))
        if wrong:
            raise wrong
        return results

    def keep(self, branch: int) -> None:
        """Go on with the state of the branch of this number, from 1; 0: with the state before. InputError: there is no such
        branch."""
        self._ask({"keep": branch})
        self._answer()

    def close(self) -> None:
        """End the session. Afterwards `manifest` is the manifest of the whole session."""
        with contextlib.suppress(HotcellError):
            self._ask({"close": True})
            while True:
                self._answer()
        self._end()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *why: Any) -> None:
        self.close()

    def _ask(self, request: Dict[str, Any]) -> None:
        line = to_json(request, "request").encode("utf-8", "surrogatepass") + b"\n"
        if len(line) > MAX_REQUEST:
            raise InputError(f"a request of {len(line)} bytes, and at most {MAX_REQUEST} are taken")
        assert self._process.stdin is not None
        with self._writing, contextlib.suppress(BrokenPipeError, ValueError):  # it has ended: its last answers tell why
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _answer(self) -> Dict[str, Any]:
        """The next answer that is neither an error nor the end."""
        answer = self._read()
        if answer["event"] == "error":
            raise InputError(without_place(answer["message"]))
        return answer

    def _read(self) -> Dict[str, Any]:
        assert self._process.stdout is not None
        if self.ended:
            raise SessionEnded(self._reason, self.manifest)
        try:
            line = self._process.stdout.readline()
        except BaseException:  # answers could no longer be told apart
            self._end()
            raise
        if not line:
            raise self._failure()
        answer: Dict[str, Any] = json.loads(line)
        if answer["event"] == "end":
            self._reason, self.manifest = answer["reason"], answer["manifest"]
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE)  # it removes its temporary files
            self._end()
            raise SessionEnded(self._reason, self.manifest)
        return answer

    def _failure(self) -> HotcellError:
        assert self._process.stderr is not None
        stderr = self._process.stderr.read()
        self._end()
        if self._process.returncode == 0:
            return LaunchFailed("the session ended without a word", 70)
        return failure(Completed(self._process.returncode, b"", stderr), None)

    def _result(self, answer: Dict[str, Any]) -> Run:
        return run_of(answer, self.output_dir)

    def _end(self) -> None:
        process = self._process
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()
        if self._server is not None:
            self._server.close()
        self._staging.__exit__(None, None, None)


def run_spec(code: str, vars: Optional[Mapping[str, Any]] = None, returns: Optional[Sequence[str]] = None,
             limits: Optional[Mapping[str, Amount]] = None, timeout: Optional[Amount] = None,
             persist_code: bool = False, inputs: Optional[Mapping[str, Any]] = None, input: Union[None, str, bytes] = None,
             args: Optional[Sequence[str]] = None) -> Dict[str, Any]:
    """The request for a run, see hotcell-session(1). InputError for inputs that are not valid."""
    rest = {"vars": vars, "return": list_of(returns, "returns"), "limits": limits_of(limits, timeout=timeout),
            "persist_code": persist_code, "inputs": contents(inputs), "args": list_of(args, "args")}
    given = {} if input is None else {"stdin": stdin_of(input)}
    return {"code": code, **given, **{name: value for name, value in rest.items() if value}}


def run_specs(codes: Sequence[Union[str, Mapping[str, Any]]]) -> List[Dict[str, Any]]:
    """The requests for branches, from programs or dicts of arguments of run_spec."""
    specs = []
    for code in list_of(codes, "branch"):
        named = {"code": code} if isinstance(code, str) else mapping_of(code, "branch")
        if "code" not in named:
            raise InputError("branch: expected 'code', the program of each run")
        specs.append(run_spec(**named))
    return specs
