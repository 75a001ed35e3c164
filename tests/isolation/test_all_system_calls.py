"""Every system call there is, tried in a cell by tests/probe, and compared with what the policy's table says.

With arguments that no call can do anything with: a call that the filters let pass fails in the kernel (or asks a question), with
another errno than the filters have for it. Under the first filter alone, as the shim starts, and under all three, with the launcher
answering what is told to it.
"""

import ctypes
import errno
import functools
import os
import platform
import re
import signal

import pytest

import cells
import probes
from probes import ENDED, READY, RUN, RUNNING

GUARD = "off"  # there is no interpreter

LAST = 1023  # of the numbers that are tried; the kernel's own end about 470
NEVER_RETURN = {"exit", "exit_group", "rt_sigreturn"}
# The kernel keeps these from all filters: they only serve its own trampolines, and end or refuse whoever else calls them.
UNFILTERED = {335, 336} if platform.machine() == "x86_64" else set()  # uretprobe, uprobe
ONLY_FIRST = {"execveat", "seccomp", "sendmsg", "fork", "vfork", "clone"}  # what the shim needs to start
# Outside of a cell these would do something even so.
NOT_OUTSIDE = {"sync", "msgget", "vhangup", "reboot", "munlockall"}

COUNTED = {"sendfile"}  # allowed where a cgroup counts memory
POLICIES = {"default": [], "loopback": ["--network=loopback"], "fork": ["--processes=fork"],
            "both": ["--network=loopback", "--processes=fork"]}
ANYTHING = object()
LONG_WORD = 1 << 32  # added to an int, it is the same int to the kernel


@functools.cache
def library():
    found = ctypes.CDLL("libseccomp.so.2")
    found.seccomp_syscall_resolve_num_arch.restype = ctypes.c_void_p
    return found


@functools.cache
def names():
    """Of all calls that this machine has, by number."""
    found = {}
    for number in range(LAST + 1):
        at = library().seccomp_syscall_resolve_num_arch(0, number)
        if at:
            found[number] = ctypes.string_at(at).decode()
    return found


def number_of(name):
    found = library().seccomp_syscall_resolve_name(name.encode())
    if found < 0:
        pytest.skip(f"{platform.machine()} has no {name}")
    return found


@functools.cache
def table(policy):
    """What `hotcell policy explain` says: (allowed names, names that depend on arguments, name: errno)."""
    folder = cells.new_directory(cells.caller())
    path = folder / "policy.json"
    network = "loopback" if policy in ("loopback", "both") else "none"
    processes = "fork" if policy in ("fork", "both") else "none"
    path.write_text(f'{{"extends": "default", "network": "{network}", "processes": "{processes}"}}')
    text = cells.hotcell("policy", "explain", path).stdout
    _, allowed, partly, refused = re.split(r"^(?:System calls that are allowed|Allowed for some arguments|Refused, under)[^\n]*$",
                                           text.partition("\nAlways: ")[0], flags=re.MULTILINE)
    allowed = set(re.findall(r"[a-z0-9_]+", "\n".join(re.findall(r"^ {8}(.*)$", allowed, re.MULTILINE))))
    partly = set(re.findall(r"^ {4}([a-z0-9_]+): ", partly, re.MULTILINE))
    # "ERRNO: why" and the calls, or "call ERRNO: why" and the arguments.
    rows = re.findall(r"^ {4}([a-z0-9_]+ )?(E[A-Z]+): [^\n]*\n((?: {8}[^\n]*\n?)*)", refused, re.MULTILINE)
    partly |= {name.strip() for name, _, _ in rows if name}
    refused = {call: getattr(errno, error) for name, error, calls in rows if not name for call in calls.split()}
    assert len(allowed) > 150 and len(refused) > 50 and "clone" in partly | set(refused), (allowed, refused)
    return allowed - partly, partly, {name: error for name, error in refused.items() if name not in partly}


@functools.cache
def kernel_lacks(number):
    """Whether the kernel itself has no such call, asked outside of a cell with the same arguments."""
    said = probes.outside([f"calls {number} {number}"], cells.ordinary(), cells.new_directory(cells.ordinary()))
    return said[0]["calls"].get(str(number)) == -errno.ENOSYS


def sweep(lines, user, policy, *options):
    result = cells.run(probes.script([*lines, f"calls 0 {LAST}", *ENDED]), *POLICIES[policy], *options, user=user)
    answers, = probes.answers(result, "calls") or [None]
    assert answers, result
    return result, {int(number): answer for number, answer in answers.items()}


def wrong(answers, expected):
    """The calls whose answer is not what the table says; `expected` says for a name: errnos, or None for "not the filter's"."""
    found = []
    for number, answer in answers.items():
        name = names().get(number)
        if number in UNFILTERED or name in NEVER_RETURN:
            continue
        errnos = expected(name)
        if errnos is ANYTHING:
            continue
        if errnos is None:
            right = answer != -errno.ENOSYS or kernel_lacks(number)
        else:
            right = -answer in errnos
        if not right:
            found.append(f"{number} {name}: {errno.errorcode.get(-answer, answer)}, not {errnos or 'let through'}")
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_each_number_is_answered_as_the_table_says(probe, user, policy):
    allowed, partly, refused = table(policy)
    result, answers = sweep(RUNNING, user, policy)
    assert result.manifest["status"] == "ok", result
    assert set(answers) >= set(range(LAST + 1)) - {number_of(name) for name in NEVER_RETURN} - UNFILTERED

    def expected(name):
        if name in COUNTED and not result.enforced_by_cgroup:
            return {errno.ENOSYS}
        if name in allowed:
            return None
        if name in partly:
            return ANYTHING
        return {refused.get(name, errno.ENOSYS)}

    assert wrong(answers, expected) == []
    # Nothing was done that could be done: what is left of the calls is their account.
    denied = {denial["rule"] for denial in result.manifest["denials"]}
    assert denied <= set(refused) | partly and {"mount", "ptrace", "bpf", "keyctl"} <= denied, denied
    assert all(denial["attested"] and denial["layer"] == "seccomp" for denial in result.manifest["denials"])


@pytest.mark.parametrize("policy", ["default", "both"])
def test_each_number_under_the_first_filter_alone(probe, user, policy):
    """What a shim could do that was taken over before it locked itself: not more than it needs to start."""
    allowed, partly, refused = table(policy)
    result, answers = sweep(["shim"], user, policy)

    def expected(name):
        if name in COUNTED and not result.enforced_by_cgroup:
            return {errno.ENOSYS}
        if name in allowed or name in ONLY_FIRST:
            return None
        if name in partly:
            return ANYTHING
        return {refused.get(name, errno.ENOSYS), errno.ENOSYS}  # what is told to the launcher, nobody hears yet

    assert wrong({number: answer for number, answer in answers.items() if names().get(number) not in {"clone", "execveat"}},
                 expected) == [], result


def test_outside_of_a_cell_the_same_calls_are_answered_otherwise(probe, user):
    """Else the sweep would show nothing. As an ordinary user: of what the filter refuses, most gets further there."""
    allowed, partly, _ = table("default")
    _, inside = sweep(RUNNING, user, "default")
    tried = [number for number, name in names().items()
             if name not in allowed | partly | NEVER_RETURN | NOT_OUTSIDE and number not in UNFILTERED and number in inside]
    lines = [f"calls {number} {number}" for number in tried]
    someone = cells.ordinary()
    said = probes.outside(lines, someone, cells.new_directory(someone))
    outside = {int(number): answer for entry in said for number, answer in entry.get("calls", {}).items()}
    same = {names()[number] for number in tried if outside[number] == inside[number]}
    # Those that are the same are ones the kernel has not, or allows nobody without rights.
    assert len(same) < len(tried) / 2, sorted(same)
    shown = {"unshare", "setns", "ptrace", "bpf", "keyctl", "add_key", "perf_event_open", "socket", "process_vm_readv", "flock",
             "mount", "memfd_create", "shmget", "mq_open", "inotify_init1", "splice", "open_by_handle_at"}
    assert not shown & same, shown & same


@pytest.mark.parametrize("number", [0x40000027, 0x40000200, 0x7fffff27, 0x80000027, 0xfffffffe, 0xffffffff],
                         ids=["x32", "x32's own", "huge", "negative", "-2", "-1"])
def test_numbers_of_other_calling_conventions(probe, user, number):
    """Nothing is let through as what it is not: ended by SIGSYS, or refused."""
    result = cells.run(probes.script([*RUNNING, "base 0 0 0 0 0 0", f"call {number}", *ENDED]), user=user)
    answers = probes.answers(result, "call")
    if answers:
        assert answers == [-errno.ENOSYS], result
    else:
        assert result.manifest["process"] == {"signal": int(signal.SIGSYS), "name": "SIGSYS"}, result


@pytest.mark.skipif(platform.machine() != "x86_64", reason="x86 has two ways to call the kernel")
@pytest.mark.parametrize("stage", [["shim"], RUNNING], ids=["first", "job"])
def test_calls_as_32_bit_programs_make_them(probe, user, stage):
    result = cells.run(probes.script([*stage, "int80 20", "exit 0"]), user=user)
    answers = probes.answers(result, "int80")
    # A kernel without 32-bit emulation answers with a fault of its own.
    assert not answers and result.manifest["status"] in ("error", "launch_failed"), result
    if stage is RUNNING:
        assert result.manifest["process"]["name"] in ("SIGSYS", "SIGSEGV"), result


# ---- arguments ----

THREAD = 0x10000 | 0x400 | 0x200  # CLONE_THREAD, CLONE_FILES, CLONE_FS; without CLONE_VM the kernel refuses it
SIGHAND = 0x800  # neither does it make a process of this, without CLONE_VM
NAMESPACES = {0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000}
BITS = [1 << bit for bit in range(32)]
PRCTL = {1, 3, 15, 16, 21, 23, 27, 39, 0x53564d41}
IOCTL = {0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451}
FCNTL, RECORD_LOCKS = {0, 1, 2, 3, 4, 1030, 1032}, {5, 6, 7}
CREATE, TMPFILE, SET_ID = 0o100, 0o20000000, {0o4000, 0o2000, 0o6000}
INET = {2, 10}
PROTOCOLS = [*range(64), 108, 132, 136, 143, 255, 256, 262]

# name: (policy, call, arguments, which of them varies, values, those that are let through)
ARGUMENTS = {
    "prctl": ("default", "prctl", [-1] * 6, 0, [*range(84), 0x53564d41, 0x59616d61, 0x41555856], PRCTL),
    "ioctl": ("default", "ioctl", [-1] * 6, 1, [*range(0x5400, 0x5470), *range(0x8900, 0x8990), 0x400454ca, 0xae80, 0xc0502100, 0x1267],
              IOCTL),
    "fcntl": ("default", "fcntl", [-1] * 6, 1, [*range(44), *range(1024, 1048)], FCNTL),
    "fcntl, where processes are allowed": ("fork", "fcntl", [-1] * 6, 1, [*range(44), *range(1024, 1048)], FCNTL | RECORD_LOCKS),
    "threads, with each other flag": ("default", "clone", [0] * 6, 0, [THREAD | bit for bit in BITS],
                                      {THREAD | bit for bit in BITS} - {THREAD | bit for bit in NAMESPACES}),
    "processes, with each flag": ("default", "clone", [0] * 6, 0, [SIGHAND | bit for bit in BITS if bit != 0x100], set()),
    "threads with tables of their own": ("default", "clone", [0] * 6, 0, [0x10000, 0x10400, 0x10200], set()),
    "processes, where they are allowed": ("fork", "clone", [0] * 6, 0, [SIGHAND | bit for bit in BITS if bit != 0x100],
                                          {SIGHAND | bit for bit in BITS if bit != 0x100} - {SIGHAND | bit for bit in NAMESPACES}),
    "flags of open without a mode": ("default", "openat", [-1, 0, 0, 0o6777, 0, 0], 2, [*BITS[:23], 0], {*BITS[:23], 0} - {CREATE, 0o20000000}),
    "modes of new files": ("default", "openat", [-1, 0, CREATE, 0, 0, 0], 3, [1 << bit for bit in range(12)],
                           {1 << bit for bit in range(12)} - SET_ID),
    "modes of open's new files": ("default", "open", [0, CREATE, 0, 0, 0, 0], 2, [1 << bit for bit in range(12)],
                                  {1 << bit for bit in range(12)} - SET_ID),
    "modes": ("default", "fchmod", [-1, 0, 0, 0, 0, 0], 1, [1 << bit for bit in range(12)], {1 << bit for bit in range(12)} - SET_ID),
    "kinds of nodes": ("default", "mknodat", [-1, 0, 0, 0, 0, 0], 2, [kind << 12 for kind in range(16)], {1 << 12}),
    "limits of others": ("default", "prlimit64", [0, -1, 0, 0, 0, 0], 0, [0, 1, 2, 3, 0xffffffff], {0}),
    "families of pairs": ("default", "socketpair", [0, 1, 0, 0, 0, 0], 0, range(50), {1}),
    "families": ("default", "socket", [0, 1, -1, 0, 0, 0], 0, range(50), set()),
    "families on loopback": ("loopback", "socket", [0, 1, 0, 0, 0, 0], 0, range(50), {1} | INET),
    "raw sockets on loopback": ("loopback", "socket", [0, 3, 0, 0, 0, 0], 0, [*INET, 16, 17, 40], set()),
    "IPv4's kinds on loopback": ("loopback", "socket", [2, 0, 0, 0, 0, 0], 1, range(16), {1, 2}),
    "IPv6's kinds on loopback": ("loopback", "socket", [10, 0, 0, 0, 0, 0], 1, range(16), {1, 2}),
    "IPv4's streams on loopback": ("loopback", "socket", [2, 1, 0, 0, 0, 0], 2, PROTOCOLS, {0, 6}),
    "IPv4's datagrams on loopback": ("loopback", "socket", [2, 2, 0, 0, 0, 0], 2, PROTOCOLS, {0, 17}),
    "IPv6's streams on loopback": ("loopback", "socket", [10, 1, 0, 0, 0, 0], 2, PROTOCOLS, {0, 6}),
    "IPv6's datagrams on loopback": ("loopback", "socket", [10, 2, 0, 0, 0, 0], 2, PROTOCOLS, {0, 17}),
    "levels of options on loopback": ("loopback", "setsockopt", [-1, 0, 1, 0, 0, 0], 1, [*range(64), 255, 263, 270, 278, 284], {0, 6}),
    "options of sockets on loopback": ("loopback", "setsockopt", [-1, 1, 0, 0, 0, 0], 2, range(80), {2, 6, 9, 10, 15, 16, 18, 20, 21}),
    "options of IPv4 on loopback": ("loopback", "setsockopt", [-1, 0, 0, 0, 0, 0], 2, range(80), {1, 2}),
    "options of IPv6 on loopback": ("loopback", "setsockopt", [-1, 41, 0, 0, 0, 0], 2, range(80), {16, 26, 67}),
    "options of TCP on loopback": ("loopback", "setsockopt", [-1, 6, 0, 0, 0, 0], 2, range(80), {1, 3, 4, 5, 6, 12, 18}),
}
REFUSED = {errno.ENOSYS, errno.EPERM, errno.EACCES, errno.EAFNOSUPPORT, errno.ENOLCK}
# What the kernel itself answers, where it is one of these: allowed then shows by the table's other rows.
KERNELS_OWN = {"families on loopback": {errno.EAFNOSUPPORT}}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_decide_as_the_table_says(probe, user, name):
    """Each value, and the same with bits above the 32 that the kernel looks at."""
    policy, call, base, index, values, allowed = ARGUMENTS[name]
    number, values = number_of(call), list(values)
    wide = [value + LONG_WORD for value in values]
    lines = ["base " + " ".join(map(str, base)), f"vary {number} {index} " + " ".join(map(str, values)),
             f"vary {number} {index} " + " ".join(map(str, wide))]
    result = cells.run(probes.script([*RUNNING, *lines, *ENDED]), *POLICIES[policy], user=user)
    narrow, wider = [{int(value): answer for value, answer in answers.items()} for answers in probes.answers(result, "vary")]
    assert set(narrow) == set(values), result
    refused = REFUSED - KERNELS_OWN.get(name, set())
    let_through = {value for value, answer in narrow.items() if -answer not in refused}
    if name in KERNELS_OWN:
        let_through -= {value for value, answer in narrow.items() if -answer in KERNELS_OWN[name]}
    assert let_through == set(allowed), {value: narrow[value] for value in let_through ^ set(allowed)}
    different = {value: (narrow[value], wider[value + LONG_WORD]) for value in values if narrow[value] != wider[value + LONG_WORD]
                 and (-narrow[value] in refused) != (-wider[value + LONG_WORD] in refused)}
    assert not different, different


# ---- real attempts, with no filter but the first ----

def flag(*bits):
    return hex(sum(bits))


# What a taken-over shim may try before any filter of its own is on: (call, arguments). None succeeds. It may execute itself, and the
# loader that the shim needs, with the shim's own rights: that gives it nothing that it has not.
ATTEMPTS = [
    ("unshare", "0x10000000"), ("unshare", "0x20000"), ("unshare", "0"), ("setns", "4 0"),
    ("clone", "0x10000011 0 0 0 0"), ("clone", "0x20011 0 0 0 0"), ("clone", "0x40000011 0 0 0 0"),
    ("clone3", f"x:{(0x10000000).to_bytes(8, 'little').hex()} 88"),
    ("mount", "s:none s:/tmp s:tmpfs 0 0"), ("umount2", "s:/proc 2"), ("pivot_root", "s:/tmp s:/tmp"), ("chroot", "s:/tmp"),
    ("open_tree", "-100 s:/ 1"), ("fsopen", "s:proc 0"), ("move_mount", "-1 s:/ -100 s:/tmp 0"), ("mount_setattr", "-100 s:/ 0 buf 32"),
    ("ptrace", "16 1 0 0"), ("ptrace", "0 0 0 0"), ("process_vm_readv", "1 buf 1 buf 1 0"), ("pidfd_getfd", "3 3 0"), ("pidfd_open", "1 0"),
    ("kcmp", "1 1 0 0 0"), ("bpf", "0 buf 72"), ("perf_event_open", "buf 0 -1 -1 0"), ("userfaultfd", "1"), ("io_uring_setup", "8 buf"),
    ("keyctl", "0 -3 1"), ("add_key", "s:user s:x s:y 1 -3"), ("request_key", "s:user s:x 0 -3"),
    ("socket", "16 3 0"), ("socket", "17 3 0"), ("socket", "40 1 0"), ("socket", "38 5 0"), ("socket", "2 1 0"), ("socket", "1 1 0"),
    ("personality", "0x0040000"), ("setuid", "0"), ("setresuid", "0 0 0"), ("setgroups", "0 0"), ("capset", "buf buf"),
    ("mknodat", "-100 s:/tmp/mem 0x21b6 0x101"), ("fchmodat", "-100 s:/tmp 0xdff"), ("ioctl", "1 0x5412 buf"), ("ioctl", "1 0x541c buf"),
    ("ioctl", "4 0xc0502100 buf"), ("inotify_add_watch", "-1 s:/usr 1"), ("inotify_init1", "0"), ("fanotify_init", "0 0"),
    ("flock", "4 2"), ("name_to_handle_at", "-100 s:/usr buf buf 0"), ("open_by_handle_at", "4 buf 0"),
    ("sethostname", "s:x 1"), ("setdomainname", "s:x 1"), ("syslog", "3 buf 100"), ("reboot", "0xfee1dead 672274793 0"),
    ("init_module", "buf 1 s:"), ("finit_module", "4 s: 0"), ("delete_module", "s:x 0"), ("kexec_load", "0 0 0 0"),
    ("swapon", "s:/tmp/x 0"), ("acct", "s:/tmp/x"), ("quotactl", "0x800007 s:/ 0 buf"), ("clock_settime", "0 buf"), ("settimeofday", "buf 0"),
    ("adjtimex", "buf"), ("setpriority", "0 0 -20"), ("sched_setscheduler", "0 1 buf"), ("sched_setattr", "0 buf 0"), ("ioprio_set", "1 0 0"),
    ("memfd_create", "s:x 0"), ("memfd_secret", "0"), ("shmget", "0 4096 950"), ("msgget", "0 950"), ("semget", "0 1 950"),
    ("mq_open", "s:x 66 0x1b6 0"), ("vmsplice", "1 buf 1 0"), ("splice", "4 0 1 0 1 0"), ("tee", "1 1 1 0"), ("landlock_create_ruleset", "0 0 1"),
    ("process_madvise", "3 buf 1 4 0"), ("move_pages", "1 0 0 0 0 0"), ("migrate_pages", "1 1 buf buf"), ("openat2", "-100 s:/etc/passwd buf 24"),
    ("execve", "s:/proc/self/exe 0 0"), ("execveat", "-100 s:/usr/lib/x86_64-linux-gnu/libc.so.6 0 0 0"), ("execveat", "-100 s:/tmp/x 0 0 0"), ("prctl", "35 1 0 0 0"), ("prctl", "24 0 0 0 0"), ("prctl", "28 0 0 0 0"),
    ("prctl", "47 2 0 0 0"), ("prctl", "62 1 1 0 0"), ("prctl", "22 1 0 0 0"), ("prctl", "41 0 0 0 0"), ("prlimit64", "1 7 buf 0"),
    ("setxattr", "s:/tmp s:user.x s:y 1 0"), ("fchownat", "-100 s:/tmp 0 0 0"), ("arch_prctl", "0x2002 0"), ("iopl", "3"),
    ("ioperm", "0 1 1"), ("modify_ldt", "1 buf 16"), ("setsockopt", "3 1 8 buf 4"), ("bind", "3 buf 16"), ("connect", "3 buf 16"),
]
OPENS = [("/proc/sys/kernel/hostname", 1), ("/proc/sysrq-trigger", 1), ("/proc/kcore", 0), ("/proc/kmsg", 0), ("/proc/keys", 0),
         ("/proc/1/mem", 2), ("/proc/self/exe", 2), ("/sys/fs/cgroup", 0), ("/dev/mem", 0), ("/dev/kmsg", 0), ("/dev/tty", 2),
         ("/dev/ptmx", 2), ("/dev/shm", 0), ("/etc/shadow", 0), ("/root", 0), ("/home", 0), ("/usr/x", 0o101), ("/x", 0o101),
         ("/proc/self/root/../../etc/shadow", 0), ("/proc/1/cwd/../../etc/shadow", 0), ("/dev/sda", 0), ("/proc/net/tcp", 0)]


def test_a_shim_without_filters_of_its_own_reaches_nothing(probe, user):
    """What holds is the first filter, the mounts and namespaces, and Landlock; each attempt fails, each for itself."""
    calls = [(name, arguments, library().seccomp_syscall_resolve_name(name.encode())) for name, arguments in ATTEMPTS]
    calls = [entry for entry in calls if entry[2] >= 0]
    result = cells.run(probes.script(["shim", *(f"call {number} {arguments}" for _, arguments, number in calls),
                                      *(f"open {path} {flags}" for path, flags in OPENS), "sleep 100000"]), "--timeout=1.5", user=user)
    answers = probes.answers(result, "call")
    assert len(answers) == len(calls), result
    reached = {f"{name}({arguments})": answer for (name, arguments, _), answer in zip(calls, answers) if answer >= 0}
    assert reached == {}
    opened = {path: answer for (path, _), answer in zip(OPENS, probes.answers(result, "open")) if answer >= 0}
    # Its own memory is a process's own affair, and is the probe's here: pid 1 is the shim's other process.
    assert opened == {} and result.manifest["status"] == "timeout", (opened, result)
