"""What a manifest can say, as the programs of hotcell know it.

`make generated` makes this file of the tables src/manifest/*.def: edit those.
"""

from __future__ import annotations

from typing import Dict, NamedTuple


class Status(NamedTuple):
    """A way in which a job can end."""

    exit_code: int  # of hotcell run
    limit: bool  # did a limit end it?
    text: str


STATUSES: Dict[str, Status] = {
    "ok": Status(0, False,
        "The program ended well."),
    "error": Status(1, False,
        "The program raised an exception, exited with a status other than 0, died of a signal, or ended before it "
        "could report."),
    "rejected": Status(2, False,
        "The program was refused before any of it ran; the member rejection says why."),
    "timeout": Status(3, True,
        "The program reached limits.timeout, or failed after it had been told that this was near."),
    "cpu": Status(3, True,
        "The program reached limits.cpu."),
    "memory": Status(3, True,
        "The program reached limits.memory and was killed, or ended by the MemoryError that it got at "
        "limits.memory_soft."),
    "pids": Status(3, True,
        "The program failed after it had reached limits.pids."),
    "output": Status(3, True,
        "The program printed more than allowed, and the policy ends such jobs; or it left more than could be "
        "collected, see limits.collect_time and limits.collect_bytes."),
    "killed": Status(3, False,
        "The program was ended from outside of the cell, as far as that can be known."),
    "launch_failed": Status(70, False,
        "The cell could not be made, and nothing of the program ran; or hotcell failed later, such as when it could "
        "not keep the results, and the member process is not null."),
}
