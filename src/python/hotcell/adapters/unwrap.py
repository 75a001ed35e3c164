"""Finds the refusal in an exception that a library, or the code itself, has raised from it."""

from __future__ import annotations

import re
from typing import Optional

from ..results import Result

CAUSE = "\n\nThe above exception was the direct cause of the following exception:\n\n"
CONTEXT = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
REFUSED = re.compile(r"^PermissionError: (.*)", re.MULTILINE)


def refusal_in(result: Result) -> Optional[str]:
    """The message of the PermissionError that the run's exception was raised from (`raise ... from error`), if something was
    refused in this run; None otherwise. The traceback comes from the cell: the answer decides how a failure is shown, nothing else."""
    error = result.error
    if error is None or error.type == "PermissionError" or not result.denials:
        return None
    for told in reversed(error.traceback.rpartition(CONTEXT)[2].split(CAUSE)[:-1]):
        found = REFUSED.findall(told)
        if found:
            return str(found[-1])
    return None
