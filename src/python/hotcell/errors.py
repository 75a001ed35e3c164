"""The exceptions of this package.

    HotcellError
        NotInstalled        no hotcell command was found
        UsageError          an option or argument is wrong              (exit status 64)
        InputError          a file, the code or a value is wrong        (65)
        LaunchFailed        this host cannot make the cell, or hotcell failed    (69, 70)
        PolicyError         the policy, the key or another setting is wrong      (78)
        TamperedError       a file or a manifest is not what the launcher recorded
        NeedsSession        only a session that keeps its interpreter could do this
        SessionEnded        a session has ended, and its state is lost
        JobError            the program failed, and check=True was given
        DaemonUnavailable   no daemon listens at the address            (69; a LaunchFailed)
        DaemonLost          the connection broke: how the job ended is not known         (70; a LaunchFailed)
        Problem             the daemon refused a request; `retry` says whether the job was started
            InputProblem, PolicyProblem, LaunchProblem      an InputError, PolicyError, LaunchFailed too
            AuthProblem     no valid token was sent; a PolicyProblem
            QuotaProblem    a quota is used up; `retry_after` says how many seconds to wait
            NotFound        there is no such job, file or session, or it is another tenant's

A program that fails is a result and no exception, unless check=True.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import re
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Tuple, Type, TypeVar, cast

if TYPE_CHECKING:
    from .results import Result

F = TypeVar("F", bound=Callable[..., Any])


def unexpected(method: str, name: str, known: Iterable[str], advice: str = "") -> TypeError:
    """The exception for an argument that `method` does not take, with advice, or with the nearest one that it takes."""
    near = difflib.get_close_matches(name, list(known), 1, 0.7)
    advice = advice or (f"did you mean {near[0]!r}?" if near else "")
    return TypeError(f"{method}() got an unexpected argument {name!r}{advice and ': '}{advice}")


def named(function: F) -> F:
    """A decorator: the exception for an argument that the function does not take names the nearest one that it takes."""
    known = tuple(name for name in inspect.signature(function).parameters if name != "self")
    elsewhere = {"volumes": "volumes are of the tenants of hotcelld: give it to Daemon.run or Daemon.session; a cell on this host has directories "
                            "of the host, with dirs=[...]"}

    def check(names: Iterable[str]) -> None:
        for name in names:
            if name not in known:
                raise unexpected(function.__qualname__.replace(".__init__", ""), name, known, elsewhere.get(name, ""))

    @functools.wraps(function)
    def call(*values: Any, **arguments: Any) -> Any:
        check(arguments)
        return function(*values, **arguments)

    @functools.wraps(function)
    async def acall(*values: Any, **arguments: Any) -> Any:
        check(arguments)
        return await function(*values, **arguments)
    return cast(F, acall if inspect.iscoroutinefunction(function) else call)


def without_place(message: str) -> str:
    """The message without what this package itself has written: a line and column in its JSON, a temporary file of a policy, an option
    of the command line; with the argument's name instead."""
    message = re.sub(r"^(?:standard input|request|run):[0-9]+:[0-9]+: ", "", message)
    policy = re.match(r"/[^\n]*/hotcell-[^/\n]+/policy\.json:[0-9]+:[0-9]+: ", message)
    if policy:
        rest = re.sub(r"^extends '([^'\n]*)': (?=there is no policy '\1')", "", message[policy.end():])
        message = rest if rest.startswith("limits.") else f"policy: {rest}"
    return re.sub(r"^--(env|label|dir)\b(?=: )", lambda found: {"label": "labels", "dir": "dirs"}.get(found[1], found[1]), message)


class HotcellError(Exception):
    """Base of all exceptions of this package."""


class NotInstalled(HotcellError):
    """No hotcell command was found, or it cannot be started."""


class CommandError(HotcellError):
    """The hotcell command failed. `exit_code` is its exit status; `manifest` the manifest that it printed, or None."""

    def __init__(self, message: str, exit_code: int, manifest: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.manifest = manifest


class UsageError(CommandError):
    """An option or an argument is wrong: exit status 64."""


class InputError(CommandError):
    """A file, the code or a value is wrong: exit status 65. Also raised before the command starts, for a value that no
    spec can hold."""

    def __init__(self, message: str, exit_code: int = 65, manifest: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(message, exit_code, manifest)


class LaunchFailed(CommandError):
    """The cell could not be made, or hotcell itself failed or was killed: exit status 69 or 70, or minus the signal."""


class PolicyError(CommandError):
    """The policy, the key file or another setting is wrong: exit status 78."""


class TamperedError(HotcellError):
    """A file or a manifest is not what the launcher recorded."""


class NeedsSession(HotcellError, NotImplementedError):
    """A fresh cell for each call cannot do this; a session that keeps its interpreter could."""


class JobError(HotcellError):
    """The program did not end well, and check=True was given. `result` is its Result."""

    def __init__(self, result: "Result") -> None:
        error = result.error
        super().__init__(f"{error.type}: {error.message}" if error else f"{result.status}: {result.reason}")
        self.result = result


BY_EXIT_CODE = {64: UsageError, 65: InputError, 69: LaunchFailed, 70: LaunchFailed, 78: PolicyError}


# ---- exceptions of a daemon ----

class DaemonUnavailable(LaunchFailed):
    """No daemon listens at the address. Nothing was sent."""

    retry = "not_started"

    def __init__(self, message: str, exit_code: int = 69) -> None:
        super().__init__(message, exit_code)


class DaemonLost(LaunchFailed):
    """The connection broke, or the daemon stopped listening after a job had begun, or the server is no hotcelld.

    `job_id`: the job's id, or None if it is not known. Daemon.job(job_id) tells how the job ended, unless the daemon was
    killed; for a job from submit() it does so even then.
    """

    retry = "started_outcome_unknown"
    job_id: Optional[str] = None

    def __init__(self, message: str, exit_code: int = 70) -> None:
        super().__init__(message, exit_code)


class Problem(CommandError):
    """The daemon refused a request, and sent a problem document (RFC 9457), which is `document`.

    `retry` says whether the same request may be sent again: "not_started", "started_outcome_unknown" or "finished".
    `kind` is the problem's type without its prefix, `status` the HTTP status, `quota` the name of the quota that is used
    up, `retry_after` the seconds to wait. `limits` lists limits that the job exceeds: dicts with the limit's name
    (`limit`), the amount asked for (`asked`), the highest allowed (`maximum`), and who sets that (`of`, `name`).
    """

    def __init__(self, message: str, exit_code: int, document: Dict[str, Any]) -> None:
        super().__init__(message, exit_code, document.get("manifest"))
        self.document = document
        self.status: int = document.get("status", 0)
        self.kind: str = str(document.get("type", "")).rpartition(":")[2]
        self.retry: str = document.get("retry", "started_outcome_unknown")
        self.retry_after: Optional[float] = document.get("retry_after")
        self.quota: Optional[str] = document.get("quota")
        self.limits: List[Dict[str, Any]] = document.get("limits") or []
        self.job_id: Optional[str] = document.get("job_id")


class InputProblem(Problem, InputError):
    """The job or the request is not valid."""


class PolicyProblem(Problem, PolicyError):
    """The policy or tree does not exist, or is not for this tenant; or the job asks for more than `limits` allow."""


class AuthProblem(PolicyProblem):
    """The daemon wants a valid token, and got none: status 401. See `token` of Daemon, and HOTCELL_TOKEN."""


class LaunchProblem(Problem, LaunchFailed):
    """The cell could not be made, or the daemon has failed or is about to stop."""


class QuotaProblem(Problem):
    """A quota of the tenant is used up."""


class NotFound(Problem):
    """There is no such job, file or session, or it is another tenant's."""


_KINDS: Dict[int, Tuple[Type[Problem], int]] = {
    400: (InputProblem, 65), 413: (InputProblem, 65), 415: (InputProblem, 65), 401: (AuthProblem, 78),
    403: (PolicyProblem, 78), 422: (PolicyProblem, 78), 404: (NotFound, 65), 410: (NotFound, 65), 409: (InputProblem, 65),
    429: (QuotaProblem, 69), 503: (LaunchProblem, 69),
}
_BY_STATUS_OF_LAUNCH = {65: InputProblem, 69: LaunchProblem, 70: LaunchProblem, 78: PolicyProblem}


def problem(status: int, content: bytes) -> Problem:
    """The exception for an answer with an error status; `content` should be a problem document."""
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    return problem_of(document if isinstance(document, dict) else {}, status)


def problem_of(document: Dict[str, Any], status: int = 0) -> Problem:
    """The exception for a problem document."""
    status = document.setdefault("status", status)
    kind, exit_code = _KINDS.get(status, (LaunchProblem, 70))
    manifest = document.get("manifest")
    if isinstance(manifest, dict) and manifest.get("exit_code") in _BY_STATUS_OF_LAUNCH:
        exit_code = manifest["exit_code"]  # the launch failed: raise the exception that a launch without a daemon raises
        kind = _BY_STATUS_OF_LAUNCH[exit_code]
    detail = without_place(str(document.get("detail") or f"hotcelld answers with status {status}"))
    return kind(detail, exit_code, document)
