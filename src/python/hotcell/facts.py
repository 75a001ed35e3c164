"""What a manifest can say, as the programs of hotcell know it.

`make generated` makes this file of the tables src/manifest/*.def: edit those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, NamedTuple, Optional


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
        "The program printed more than allowed, and the policy ends such jobs; or the runs of a session left too much, "
        "see hotcell-session(1)."),
    "collect": Status(3, True,
        "The program ended well, but left more than could be collected: it reached limits.collect_time or "
        "limits.collect_bytes. The member skipped lists what is missing."),
    "killed": Status(3, False,
        "The program was ended from outside of the cell, as far as that can be known."),
    "launch_failed": Status(70, False,
        "The cell could not be made, and nothing of the program ran; or hotcell failed later, such as when it could "
        "not keep the results, and the member process is not null."),
}


@dataclass(frozen=True)
class Usage:
    """The resources that the job used: bytes, seconds and counts. None: not known."""

    wall: Optional[float] = None
    cpu_user: Optional[float] = None
    cpu_system: Optional[float] = None
    cpu_throttled: Optional[float] = None
    memory_peak: Optional[int] = None
    memory_max_hits: Optional[int] = None
    memory_high_hits: Optional[int] = None
    major_faults: Optional[int] = None
    pids_peak: Optional[int] = None
    read_bytes: Optional[int] = None
    written_bytes: Optional[int] = None
    reads: Optional[int] = None
    writes: Optional[int] = None
    output_bytes: Optional[int] = None
    output_files: Optional[int] = None
    memory_pressure_some: Optional[float] = None
    memory_pressure_full: Optional[float] = None
    cpu_pressure_some: Optional[float] = None
    cpu_pressure_full: Optional[float] = None
    io_pressure_some: Optional[float] = None
    io_pressure_full: Optional[float] = None


class Number(NamedTuple):
    """The name, unit and description of a member of Usage."""

    unit: str  # "seconds", "bytes" or "count"
    text: str


NUMBERS: Dict[str, Number] = {
    "wall": Number("seconds",
        "Time by the clock, from the start of the cell's first process to its end"),
    "cpu_user": Number("seconds",
        "CPU time of all processes of the cell in user mode"),
    "cpu_system": Number("seconds",
        "CPU time of all processes of the cell in the kernel"),
    "cpu_throttled": Number("seconds",
        "Time for which limits.cpus held the cell back"),
    "memory_peak": Number("bytes",
        "Memory of the cell, at most"),
    "memory_max_hits": Number("count",
        "How often the cell was at limits.memory, whatever came of it"),
    "memory_high_hits": Number("count",
        "How often the cell was at limits.memory_soft, whatever came of it"),
    "major_faults": Number("count",
        "How often the cell waited for a page of a file, such as a library, that was not in memory"),
    "pids_peak": Number("count",
        "Processes and threads of the cell, at most"),
    "read_bytes": Number("bytes",
        "Data read from disks"),
    "written_bytes": Number("bytes",
        "Data written to disks"),
    "reads": Number("count",
        "How often disks were read"),
    "writes": Number("count",
        "How often disks were written"),
    "output_bytes": Number("bytes",
        "What a capped /output held at the end, in whole pages, with directories and what was not collected"),
    "output_files": Number("count",
        "Files and directories in a capped /output at the end, with those that were not collected"),
    "memory_pressure_some": Number("seconds",
        "Time for which some of the cell's processes waited for memory"),
    "memory_pressure_full": Number("seconds",
        "Time for which all of the cell's processes waited for memory"),
    "cpu_pressure_some": Number("seconds",
        "Time for which some of the cell's processes waited for a processor"),
    "cpu_pressure_full": Number("seconds",
        "Time for which all of the cell's processes waited for a processor"),
    "io_pressure_some": Number("seconds",
        "Time for which some of the cell's processes waited for disks"),
    "io_pressure_full": Number("seconds",
        "Time for which all of the cell's processes waited for disks"),
}


@dataclass(frozen=True)
class Denial:
    """An action of the program that was refused, `count` times. `attested`: it was seen from outside the program's process,
    and belongs to this program; in a session, code that an earlier run left may have caused the others."""

    layer: str
    rule: str
    what: str
    line: Optional[int]
    count: int
    hint: Optional[str]
    attested: bool


LAYERS: Dict[str, str] = {
    "user_namespace":
        "Users and groups of the cell's own; root in it is nobody outside",
    "mount_namespace":
        "Mounts of the cell's own",
    "pid_namespace":
        "Processes of the cell's own; it sees no others",
    "network_namespace":
        "Network interfaces and sockets of the cell's own",
    "ipc_namespace":
        "Message queues and shared memory of the cell's own",
    "uts_namespace":
        "A host name of the cell's own",
    "cgroup_namespace":
        "The cell does not see where its cgroup lies",
    "time_namespace":
        "Clocks that start at zero",
    "ids":
        "User and group of the cell's first process, without other groups",
    "capabilities":
        "No capabilities, and none can be had",
    "no_new_privs":
        "No program that is started has more rights",
    "read_only_tree":
        "Nothing in the tree can be changed",
    "network":
        "Nothing but loopback",
    "seccomp":
        "Filter of the cell's system calls",
    "landlock":
        "Files and directories that the cell may reach",
    "rlimits":
        "Limits of each process",
    "core_scheduling":
        "No other program shares a processor core with the cell; only if the policy asks for it",
    "cgroup":
        "Limits of all of the cell's processes together",
    "seccomp_job":
        "Filters that are added before the program is read, by their number; see hotcell-security(7)",
}
