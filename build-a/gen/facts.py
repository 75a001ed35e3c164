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
        "The program ran longer than limits.timeout: it failed after the TimeoutError that it got then, or was killed "
        "limits.grace later."),
    "cpu": Status(3, True,
        "The program reached limits.cpu."),
    "memory": Status(3, True,
        "The program reached limits.memory and was killed, or ended by the MemoryError that it got at "
        "limits.memory_soft."),
    "pids": Status(3, True,
        "The program failed after it had reached limits.pids."),
    "output": Status(3, True,
        "The program printed more than limits.stdout or limits.stderr, and the policy's output.overflow is end; or the "
        "runs of a session left more files than the session may keep, see hotcell-session(1)."),
    "collect": Status(3, True,
        "The program ended well, but its files in /output were not all collected: limits.collect_time or "
        "limits.collect_bytes was reached; the member skipped lists the missing files."),
    "killed": Status(3, False,
        "The program was ended from outside of the cell, as far as that can be known."),
    "launch_failed": Status(70, False,
        "The cell could not be made, and nothing of the program ran; or hotcell failed later, for example because it "
        "could not keep the results, and the member process is not null."),
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
        "Wall-clock time from the start of the cell's first process to its end"),
    "cpu_user": Number("seconds",
        "CPU time of all processes of the cell in user mode"),
    "cpu_system": Number("seconds",
        "CPU time of all processes of the cell in the kernel"),
    "cpu_throttled": Number("seconds",
        "Time for which limits.cpus held the cell back"),
    "memory_peak": Number("bytes",
        "The most memory that the cell had at one time"),
    "memory_max_hits": Number("count",
        "How many times the cell reached limits.memory, whether or not a process was killed"),
    "memory_high_hits": Number("count",
        "How many times the cell reached limits.memory_soft, whether or not a MemoryError was raised"),
    "major_faults": Number("count",
        "How many times the cell waited for a page of a file, such as a library, that was not in memory"),
    "pids_peak": Number("count",
        "The most processes and threads that the cell had at one time"),
    "read_bytes": Number("bytes",
        "Bytes that the cell read from disks"),
    "written_bytes": Number("bytes",
        "Bytes that the cell wrote to disks"),
    "reads": Number("count",
        "Number of read requests to disks"),
    "writes": Number("count",
        "Number of write requests to disks"),
    "output_bytes": Number("bytes",
        "Bytes in a capped /output at the end, in whole pages, including directories and files that were not collected"),
    "output_files": Number("count",
        "Number of files and directories in a capped /output at the end, including those that were not collected"),
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
        "The cell has its own users and groups; root in the cell has no rights outside of it",
    "mount_namespace":
        "The cell has its own mounts",
    "pid_namespace":
        "The cell has its own processes, and sees no others",
    "network_namespace":
        "The cell has its own network interfaces and sockets",
    "ipc_namespace":
        "The cell has its own message queues and shared memory",
    "uts_namespace":
        "The cell has its own host name",
    "cgroup_namespace":
        "The cell does not see where its cgroup lies on the host",
    "time_namespace":
        "The cell's monotonic and boot clocks start at zero",
    "ids":
        "The cell's first process has the cell's user and group, and no supplementary groups",
    "capabilities":
        "The cell's processes have no capabilities and cannot get any",
    "no_new_privs":
        "A program that a process starts gets no more rights than the process",
    "read_only_tree":
        "The cell cannot change anything in the tree",
    "network":
        "The cell has no network interface but loopback",
    "seccomp":
        "A seccomp filter decides which system calls the cell may make",
    "landlock":
        "Landlock rules decide which files and directories the cell may reach",
    "rlimits":
        "Resource limits hold for each process",
    "core_scheduling":
        "No other program shares a processor core with the cell; only if the policy asks for it",
    "cgroup":
        "A cgroup limits all of the cell's processes together",
    "seccomp_job":
        "Further seccomp filters, counted here, are added before the program is read; see hotcell-security(7)",
}
