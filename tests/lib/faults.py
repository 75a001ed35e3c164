"""Faults: one job, in which one system call of the launcher or of the cell's own processes fails, or ends in a kill.

    found = faults.calls(host, process)             what the process calls, in order: names
    outcome = faults.inject(host, process, fault)   the job with that fault; outcome.complaints says what was wrong

The job asks for everything that a launcher can do on the way: an input, a value, files, the program itself. Whatever
fails, its end must be one of those that hotcell(1) promises.
"""

import collections
import dataclasses
import errno
import json
import os
import subprocess
from pathlib import Path

import jsonschema

import cells

SCHEMA = cells.generated("manifest.schema.json")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
# "deep": every call each time that it is made; "full": with every error, too
LONG = "" if os.environ.get("HOTCELL_LONG", "") not in ("deep", "full") else os.environ["HOTCELL_LONG"]

PROGRAM = "print('ready')\nwith open('kept', 'w') as kept: kept.write('x' * 5000)\nanswer = int(open(data).read()) + more\n"
LAUNCHER, FIRST, INTERPRETER = range(3)  # processes, in the order in which they start

# What the man page of each call gives as reasons to fail, as far as a host in trouble can be one.
ERRORS = {
    "access": [errno.EACCES, errno.EIO],
    "capget": [errno.EPERM],
    "capset": [errno.EPERM],
    "clone": [errno.EAGAIN, errno.ENOMEM],
    "clone3": [errno.EAGAIN, errno.EPERM, errno.ENOSYS, errno.ENOSPC, errno.ENOMEM, errno.EUSERS],
    "close_range": [errno.EMFILE, errno.ENOSYS],
    "dup": [errno.EMFILE],
    "dup2": [errno.EBUSY],
    "dup3": [errno.EBUSY, errno.EMFILE],
    "epoll_create1": [errno.EMFILE, errno.ENFILE, errno.ENOMEM],
    "epoll_ctl": [errno.ENOMEM, errno.ENOSPC],
    "epoll_wait": [errno.EINTR],
    "execve": [errno.ENOMEM, errno.EACCES],
    "execveat": [errno.ENOMEM, errno.EACCES, errno.ENOENT, errno.ENOEXEC, errno.ENOSYS],
    "faccessat2": [errno.EACCES, errno.EIO],
    "fchdir": [errno.EACCES],
    "fcntl": [errno.EMFILE, errno.ENOLCK, errno.EPERM],
    "fsconfig": [errno.EPERM, errno.EINVAL, errno.ENOMEM],
    "fsmount": [errno.EPERM, errno.EMFILE, errno.ENOSPC],
    "fsopen": [errno.EPERM, errno.ENOSYS, errno.ENODEV, errno.EMFILE],
    "fstat": [errno.EIO],
    "fstatfs": [errno.EIO, errno.EINTR],
    "getdents64": [errno.EIO],
    "getrandom": [errno.ENOSYS, errno.EAGAIN],
    "landlock_add_rule": [errno.EINVAL, errno.ENOMEM],
    "landlock_create_ruleset": [errno.EINVAL, errno.EMFILE],
    "landlock_restrict_self": [errno.EPERM, errno.E2BIG],
    "linkat": [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT, errno.EROFS],
    "lseek": [errno.EIO],
    "memfd_create": [errno.EMFILE, errno.ENOMEM],
    "mkdir": [errno.ENOSPC, errno.EACCES, errno.EROFS],
    "mkdirat": [errno.ENOSPC, errno.EACCES, errno.EROFS],
    "mmap": [errno.ENOMEM],
    "mount": [errno.EPERM, errno.ENOMEM],
    "mount_setattr": [errno.EPERM, errno.ENOSYS, errno.EINVAL],
    "move_mount": [errno.EPERM, errno.ENOENT],
    "mprotect": [errno.ENOMEM],
    "newfstatat": [errno.EIO, errno.ENOMEM],
    "open": [errno.EMFILE],
    "open_tree": [errno.EPERM, errno.ENOSYS, errno.EMFILE, errno.ENOSPC],
    "openat": [errno.EMFILE, errno.ENFILE, errno.EACCES, errno.ENOMEM, errno.EIO, errno.ENOSPC],
    "openat2": [errno.EMFILE, errno.ENOSYS, errno.EAGAIN],
    "pidfd_open": [errno.EMFILE, errno.ENOSYS],
    "pidfd_send_signal": [errno.EPERM],
    "pipe2": [errno.EMFILE, errno.ENFILE],
    "pivot_root": [errno.EPERM, errno.EINVAL],
    "poll": [errno.EINTR, errno.ENOMEM],
    "prctl": [errno.EPERM, errno.EINVAL],
    "prlimit64": [errno.EPERM],
    "pread64": [errno.EIO, errno.EINTR],
    "read": [errno.EIO, errno.EINTR],
    "readlink": [errno.EACCES, errno.EIO],
    "recvfrom": [errno.EINTR, errno.ENOMEM],
    "recvmsg": [errno.EINTR, errno.ENOMEM, errno.EMFILE],
    "renameat": [errno.ENOSPC, errno.EIO, errno.EACCES],
    "renameat2": [errno.ENOSPC, errno.EIO, errno.EACCES],
    "seccomp": [errno.EINVAL, errno.EACCES, errno.ENOMEM],
    "sendmsg": [errno.ENOBUFS, errno.ENOMEM, errno.ETOOMANYREFS],
    "sendto": [errno.ENOBUFS, errno.ENOMEM, errno.EINTR],
    "setgroups": [errno.EPERM],
    "sethostname": [errno.EPERM],
    "setdomainname": [errno.EPERM],
    "setresgid": [errno.EPERM],
    "setresuid": [errno.EPERM, errno.EAGAIN],
    "setsid": [errno.EPERM],
    "setsockopt": [errno.ENOMEM],
    "signalfd4": [errno.EMFILE, errno.ENOMEM],
    "socket": [errno.EMFILE, errno.EPERM],
    "socketpair": [errno.EMFILE, errno.ENFILE],
    "symlinkat": [errno.ENOSPC],
    "timerfd_create": [errno.EMFILE, errno.ENOMEM],
    "timerfd_settime": [errno.ENOMEM],
    "umount2": [errno.EBUSY, errno.EPERM],
    "unlinkat": [errno.EIO, errno.EACCES],
    "wait4": [errno.EINTR],
    "waitid": [errno.EINTR],
    "write": [errno.ENOSPC, errno.EIO, errno.EINTR],
}
# These do not fail, or if they say so they have done what they were to do, which no injection can imitate.
NEVER = {"brk", "close", "exit", "exit_group", "getegid", "geteuid", "getgid", "getpid", "getppid", "gettid", "getuid", "munmap",
         "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "umask", "set_tid_address", "arch_prctl", "set_robust_list", "rseq",
         "madvise", "sched_yield", "clock_nanosleep", "clock_gettime", "futex", "getresuid", "getresgid", "getgroups",
         "sigaltstack", "restart_syscall", "sched_getaffinity", "sysinfo"}


@dataclasses.dataclass(frozen=True)
class Fault:
    call: str
    nth: int
    error: int = 0  # 0: killed there

    def __str__(self):
        return f"{self.call} {self.nth} {errno.errorcode[self.error] if self.error else 'KILL'}"

    def options(self):
        return ["-c", self.call, "-n", str(self.nth), *(["-e", str(self.error)] if self.error else ["-k"])]


def compiled(name, *options):
    """A C program of the folder faults, compiled once."""
    path = cells.scratch() / name
    if not path.exists():
        cells.need_program("cc")
        source = Path(__file__).resolve().parents[1] / "faults" / f"{name}.c"
        subprocess.run(["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-o", path, source, *options], check=True)
        path.chmod(0o755)
    return path


def job(host, **arguments):
    data = cells.new_directory(host.user) / "data.txt"
    data.write_text("41")
    return host.run(PROGRAM, "--input", f"data={data}", "--var", "more=1", "--return", "answer", "--persist-code", **arguments)


def traced(host, process, options):
    return job(host, wrapper=[compiled("inject", "-lseccomp"), "-p", str(process), *options])


def out_of_memory(host, at=0):
    """The job with a launcher in which one allocation fails; how many there are without that, and how it ends."""
    log = cells.new_directory(host.user) / "count"
    library = compiled("nomem", "-shared", "-fPIC")
    result = job(host, env={"LD_PRELOAD": str(library), "NOMEM_AT": str(at), "NOMEM_COUNT": str(log)})
    return int(log.read_text()), result


def calls(host, process):
    """Names of what the process calls, in order, and how the job ends without a fault."""
    log = cells.new_directory(host.user) / "calls"
    result = traced(host, process, ["-l", log])
    assert result.status == 0, result
    return log.read_text().split(), result


def errors(process, names):
    """Errors of every call that can fail: one in the middle, or all, each with the next of the errors that it can have."""
    found = []
    for at, (name, count) in enumerate(collections.Counter(names).items()):
        # Python takes a stream whose descriptor it cannot examine for one that is closed.
        if name in NEVER or (process == INTERPRETER and name == "fcntl"):
            continue
        known = ERRORS.get(name, [errno.ENOMEM, errno.EPERM])
        for nth in range(1, count + 1) if LONG else [(count + 1) // 2]:
            by_turns = [known[(at + nth) % len(known)]]
            found += [Fault(name, nth, error) for error in (known if LONG == "full" else by_turns)]
    return found


def kills(_, names):
    found = []
    for name, count in collections.Counter(names).items():
        step = {"": count, "full": 1}.get(LONG, 9)
        found += [Fault(name, nth) for nth in range((min(step, count) + 1) // 2, count + 1, step)]
    return found


# ---- how it may end ----

def layers_on(manifest):
    layers = manifest["layers"]
    return {name for name, layer in layers.items() if layer["on"]}


def said(result):
    """Yields what is wrong with the one line on standard error that says what failed."""
    lines = result.stderr.splitlines()
    if len(lines) != 1 or not lines[0].startswith("hotcell"):
        yield f"standard error is {result.stderr!r}"


def whole(result, sound):
    """Yields what is missing of a job that is said to have gone well."""
    m = result.manifest
    if m is None:
        yield "ok, and no manifest"
        return
    if m["status"] != "ok":
        yield f"exit status 0, and the manifest says {m['status']}"
        return
    if result.stdout != sound.stdout:
        yield f"ok, and standard output is {result.stdout!r}"
    if layers_on(m) != layers_on(sound.manifest):
        yield f"ok, with other layers: {sorted(layers_on(m) ^ layers_on(sound.manifest))}"
    if m["limits"]["enforced_by"] != sound.manifest["limits"]["enforced_by"]:
        yield f"ok, with other limits: {m['limits']['enforced_by']}"
    kept = [file for file in result.listed() if not file.startswith("code/")]
    if not kept and result.skipped() == {"kept": "the output directory does not take it"}:
        pass  # as if another user owned the output directory: the manifest says so
    elif kept != ["kept"] or (result.output / "kept").read_bytes() != b"x" * 5000:
        yield f"ok, with files {result.listed()}, skipped {result.skipped()}, and warnings {m['warnings']}"
    if m["guest"] != sound.manifest["guest"]:
        yield f"ok, and the guest part is {m['guest']}"
    lost = len([file for file in result.files() if file.startswith("code/")]) != 2
    if lost != result.stderr.startswith("hotcell: the program was not kept: "):
        yield f"ok, and the program is not there: {m['warnings']}"
    if result.stderr and not lost:
        yield f"ok, and standard error is {result.stderr!r}"


def failed(result):
    """Yields what is wrong with a job that is said to have failed."""
    m = result.manifest
    yield from said(result)
    if m is None:
        return
    if result.status == 70 and m["status"] == "ok":
        return  # the job went well, but its output could not be passed on
    if m["status"] != "launch_failed" or m["exit_code"] != result.status:
        yield f"exit status {result.status}, and the manifest says {m['status']} and {m['exit_code']}"


def guests_own(process, result):
    """What happens to the interpreter once the program runs is the program's to handle, and Python's. A fault of the
    first process before that kills it, see inject.c."""
    status = result.manifest and result.manifest["status"]
    return (process == INTERPRETER and result.status == 1 and status == "error" or
            process == FIRST and result.status == 3 and status == "killed" or
            # On a slow host the watch looks at the cell before its program has ended, and ends what it cannot see.
            process == LAUNCHER and result.status == 3 and status == "memory" and "could not be read" in result.manifest["reason"])


def complaints(process, result, sound):
    if result.manifest is not None:
        for error in VALIDATOR.iter_errors(result.manifest):
            yield f"the manifest is not valid: {error.message[:200]}"
    if result.status == 0:
        yield from whole(result, sound)
    elif result.status in (65, 69, 70, 78):
        yield from failed(result)
    elif not guests_own(process, result):
        yield f"exit status {result.status}: {result}"


def inject(host, process, fault, sound):
    """Everything that is wrong with how the job ends, in words."""
    try:
        result = traced(host, process, fault.options())
    except AssertionError as hang:
        return [f"{fault}: {hang}"]
    except json.JSONDecodeError as broken:
        return [f"{fault}: half a manifest: {broken}"]
    if fault.error:
        wrong = list(complaints(process, result, sound))
    elif process == LAUNCHER:
        wrong = [] if result.status in (0, -9) else [f"exit status {result.status}: {result}"]
    else:  # who killed it cannot be known; that it did not end well, must be
        wrong = [] if result.status in (0, 1, 3, 69, 70) and result.stderr or result.status == 0 else [f"{result}"]
        if result.status == 0:
            wrong += whole(result, sound)
    return [f"{fault}: {what}" for what in wrong]
