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

A program that fails is a result and no exception, unless check=True.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

if TYPE_CHECKING:
    from .results import Result


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
