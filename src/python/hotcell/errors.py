"""What can go wrong before, beside and in a job.

    HotcellError
        NotInstalled        no hotcell command was found
        UsageError          an option or argument is wrong              (exit status 64)
        InputError          a file, the code or a value is wrong        (65)
        LaunchFailed        this host cannot make the cell, or hotcell failed    (69, 70)
        PolicyError         the policy, the key or another setting is wrong      (78)
        TamperedError       a file or a manifest is not what the launcher recorded
        NeedsSession        only a living session could do this
        SessionEnded        a session is over, and its state gone
        JobError            the program failed, and check=True was given
        DaemonUnavailable   no daemon listens there                     (69; a LaunchFailed)
        DaemonLost          the connection broke: what became of the job is not known    (70; a LaunchFailed)
        Problem             the daemon refused, and says what became of the job: `retry`
            InputProblem, PolicyProblem, LaunchProblem      an InputError, PolicyError, LaunchFailed too
            QuotaProblem    too much at once; `retry_after` says for how long
            NotFound        there is no such job, file or session, or it is another tenant's

A program that fails is a result and no exception, unless check=True.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Type

if TYPE_CHECKING:
    from .results import Result


def without_place(message: str) -> str:
    """What was refused, without the line and column that it has in JSON which this package has written itself."""
    return re.sub(r"^(?:standard input|request|run):[0-9]+:[0-9]+: ", "", message)


class HotcellError(Exception):
    """Base of all that this package raises."""


class NotInstalled(HotcellError):
    """No hotcell command was found, or it cannot be started."""


class CommandError(HotcellError):
    """The command refused. `exit_code` is its status; `manifest` what it wrote, if anything."""

    def __init__(self, message: str, exit_code: int, manifest: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.manifest = manifest


class UsageError(CommandError):
    """An option or an argument is wrong: exit status 64."""


class InputError(CommandError):
    """A file, the code or a value is wrong: exit status 65. Raised here too, for what no spec could hold."""

    def __init__(self, message: str, exit_code: int = 65, manifest: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(message, exit_code, manifest)


class LaunchFailed(CommandError):
    """The cell could not be made, or hotcell failed by itself: exit status 69 or 70, or it was killed."""


class PolicyError(CommandError):
    """The policy, the key file or another setting is wrong: exit status 78."""


class TamperedError(HotcellError):
    """A file or a manifest is not what the launcher recorded."""


class NeedsSession(HotcellError, NotImplementedError):
    """A fresh cell for each call cannot do this; a session that keeps its interpreter could."""


class JobError(HotcellError):
    """The program did not end well, and check=True was given. `result` has all there is to know."""

    def __init__(self, result: "Result") -> None:
        error = result.error
        super().__init__(f"{error.type}: {error.message}" if error else f"{result.status}: {result.reason}")
        self.result = result


BY_EXIT_CODE = {64: UsageError, 65: InputError, 69: LaunchFailed, 70: LaunchFailed, 78: PolicyError}


# ---- of a daemon ----

class DaemonUnavailable(LaunchFailed):
    """No daemon listens there. Nothing was sent."""

    retry = "not_started"

    def __init__(self, message: str, exit_code: int = 69) -> None:
        super().__init__(message, exit_code)


class DaemonLost(LaunchFailed):
    """The connection broke, or nobody listens any more once a job has begun, or who answers is no hotcelld.

    `job_id`, if it is known: Daemon.job(job_id) tells what became of the job, unless the daemon was killed. Of a job
    that was submitted it does even then.
    """

    retry = "started_outcome_unknown"
    job_id: Optional[str] = None

    def __init__(self, message: str, exit_code: int = 70) -> None:
        super().__init__(message, exit_code)


class Problem(CommandError):
    """What the daemon answers instead of what was asked for (RFC 9457).

    `retry` says whether the same request may be sent again: "not_started", "started_outcome_unknown" or "finished".
    `kind` is the problem's type without its prefix, `status` HTTP's, `quota` the name of the quota that is used up,
    `retry_after` how many seconds to wait; `limits` lists what is asked for beyond what may be: dicts with `limit`,
    `asked`, `maximum`, and whose that is, `of` and `name`.
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
    """The job, or the request, is not as it should be."""


class PolicyProblem(Problem, PolicyError):
    """The policy or tree is not there, or not for this tenant; or more is asked for than it may have: `limits`."""


class LaunchProblem(Problem, LaunchFailed):
    """The cell could not be made, or the daemon has failed, or is about to end."""


class QuotaProblem(Problem):
    """A quota of the tenant's is used up."""


class NotFound(Problem):
    """There is no such job, file or session, or it is another tenant's."""


_KINDS: Dict[int, Tuple[Type[Problem], int]] = {
    400: (InputProblem, 65), 413: (InputProblem, 65), 415: (InputProblem, 65), 401: (PolicyProblem, 78),
    403: (PolicyProblem, 78), 422: (PolicyProblem, 78), 404: (NotFound, 65), 410: (NotFound, 65), 409: (InputProblem, 65),
    429: (QuotaProblem, 69), 503: (LaunchProblem, 69),
}
_BY_STATUS_OF_LAUNCH = {65: InputProblem, 69: LaunchProblem, 70: LaunchProblem, 78: PolicyProblem}


def problem(status: int, content: bytes) -> Problem:
    """The exception for an answer that is a problem document, or should be one."""
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
        exit_code = manifest["exit_code"]  # of a launch that failed: the kind that it would have had without a daemon
        kind = _BY_STATUS_OF_LAUNCH[exit_code]
    detail = without_place(str(document.get("detail") or f"hotcelld answers with status {status}"))
    return kind(detail, exit_code, document)
