# What the drill programs share: it is put before the text of each.
#
# A program defines attack(lure): it returns what it reached, or returns None or raises if it was held. `lure` is a dict
# of things on the host: file (holds secret), secret, pid, abstract, port, shm, mqueue, hostname, boottime, user; and
# memory, the bytes that a small cell ("# cell: small") has in all, and seconds, after which its attack is to give up.
import ctypes
import errno
import os
import platform
import struct
import sys

# Numbers of system calls: name, on x86-64, on arm64.
NUMBERS = """
    accept 43 202; acct 163 89; add_key 248 217; adjtimex 159 171; arch_prctl 158 -; bind 49 200; bpf 321 280;
    capget 125 90; capset 126 91; chroot 161 51; clock_adjtime 305 266; clock_settime 227 112; clone 56 220;
    clone3 435 435; close_range 436 436; connect 42 203; creat 85 -; delete_module 176 106; dup2 33 -;
    epoll_create1 291 20; execve 59 221; execveat 322 281; exit 60 93; faccessat2 439 439; fanotify_init 300 262;
    fanotify_mark 301 263; fchdir 81 50; fchmodat 268 53; fchownat 260 54; fcntl 72 25; finit_module 313 273;
    fork 57 -; fsconfig 431 431; fsmount 432 432; fsopen 430 430; fspick 433 433; futex 202 98;
    get_mempolicy 239 236; get_robust_list 274 100; getcpu 309 168; getcwd 79 17; getdents64 217 61;
    init_module 175 105; inotify_add_watch 254 27; inotify_init1 294 26; io_setup 206 0; io_uring_enter 426 426;
    io_uring_register 427 427; io_uring_setup 425 425; ioctl 16 29; ioperm 173 -; iopl 172 -; ioprio_set 251 30;
    kcmp 312 272; kexec_file_load 320 294; kexec_load 246 104; keyctl 250 219; kill 62 129;
    landlock_create_ruleset 444 444; linkat 265 37; listen 50 201; listxattr 194 11; lookup_dcookie 212 18;
    mbind 237 235; memfd_create 319 279; memfd_secret 447 447; migrate_pages 256 238; mincore 27 232;
    mknod 133 -; mknodat 259 33; mlock 149 228; mmap 9 222; modify_ldt 154 -; mount 165 40;
    mount_setattr 442 442; move_mount 429 429; move_pages 279 239; mprotect 10 226; mq_open 240 180;
    mq_unlink 241 181; msgctl 71 187; msgget 68 186; msgrcv 70 188; name_to_handle_at 303 264; nfsservctl 180 42;
    open 2 -; open_by_handle_at 304 265; open_tree 428 428; openat 257 56; openat2 437 437;
    perf_event_open 298 241; personality 135 92; pidfd_getfd 438 438; pidfd_open 434 434;
    pidfd_send_signal 424 424; pivot_root 155 41; pkey_alloc 330 289; pkey_mprotect 329 288; prctl 157 167;
    prlimit64 302 261; process_madvise 440 440; process_mrelease 448 448; process_vm_readv 310 270;
    process_vm_writev 311 271; ptrace 101 117; quotactl 179 60; quotactl_fd 443 443; read 0 63;
    readlinkat 267 78; reboot 169 142; recvmsg 47 212; remap_file_pages 216 234; renameat2 316 276;
    request_key 249 218; rseq 334 293; rt_sigqueueinfo 129 138; rt_tgsigqueueinfo 297 240;
    sched_setaffinity 203 122; sched_setattr 314 274; sched_setscheduler 144 119; seccomp 317 277; semctl 66 191;
    semget 64 190; semop 65 193; sendmsg 46 211; set_mempolicy 238 237; setdomainname 171 162; setfsgid 123 152;
    setfsuid 122 151; setgid 106 144; setgroups 116 159; sethostname 170 161; setns 308 268; setpgid 109 154;
    setpriority 141 140; setregid 114 143; setresgid 119 149; setresuid 117 147; setreuid 113 145;
    setsid 112 157; settimeofday 164 170; setuid 105 146; setxattr 188 5; shmat 30 196; shmctl 31 195;
    shmdt 67 197; shmget 29 194; signalfd4 289 74; socket 41 198; socketpair 53 199; splice 275 76;
    statx 332 291; swapoff 168 225; swapon 167 224; symlinkat 266 36; sync 162 81; syncfs 306 267; sysfs 139 -;
    sysinfo 99 179; syslog 103 116; tee 276 77; tgkill 234 131; timer_create 222 107; tkill 200 130;
    umount2 166 39; uname 63 160; unshare 272 97; uselib 134 -; userfaultfd 323 282; ustat 136 -;
    utimensat 280 88; vfork 58 -; vhangup 153 58; vmsplice 278 75; write 1 64;
"""
CLONE_NEWTIME, CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x80, 0x20000, 0x2000000, 0x4000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x8000000, 0x10000000, 0x20000000, 0x40000000
AT_FDCWD, AT_EMPTY_PATH = -100, 0x1000

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
_column = {"x86_64": 1, "aarch64": 2}.get(platform.machine())
_numbers = {row.split()[0]: row.split()[_column] for row in NUMBERS.split(";") if row.strip() and _column}


def call(name, *args):
    """A system call, without the C library's own opinion; OSError if it fails or if there is none of this name here."""
    number = _numbers.get(name, "-")
    if number == "-":
        raise OSError(errno.ENOSYS, f"there is no {name} on this machine")
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(int(number)), *[_argument(arg) for arg in args])
    if result == -1:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def _argument(value):
    """Integers fill a register; bytes, buffers and None are pointers."""
    if isinstance(value, int):
        return ctypes.c_uint64(value & (1 << 64) - 1)
    return ctypes.c_char_p(value) if isinstance(value, bytes) else value


def accepted(name, *args, beyond=("EFAULT", "EINVAL", "ENOENT", "EBADF", "ESRCH", "ENODEV")):
    """What a call with arguments that cannot succeed reached: None if it was refused before anybody looked at them."""
    try:
        call(name, *args)
    except OSError as error:
        if errno.errorcode.get(error.errno) not in beyond:
            raise
    return f"{name} looked at its arguments"


def hoard(mib):
    """Take memory, which RLIMIT_DATA then no longer counts."""
    libc.mmap.restype = ctypes.c_void_p
    at = libc.mmap(None, ctypes.c_size_t(mib << 20), 3, 0x22, -1, ctypes.c_long(0))
    if at == ctypes.c_void_p(-1).value:
        raise MemoryError
    ctypes.memset(at, 1, mib << 20)
    libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(mib << 20), 1)


def aside(what):
    """what() in a process of its own, or here where there may be no other; its answer, or its OSError."""
    mine, its = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(mine)
        os.close(its)
        return what()
    if child == 0:
        answer = "-"
        try:
            answer = f"+{what() or ''}"
        except BaseException as error:
            answer = f"-{getattr(error, 'errno', 0) or 0} {getattr(error, 'strerror', 0) or error}"
        finally:
            os.write(its, answer.encode())
            os._exit(0)
    os.close(its)
    with open(mine, encoding="utf-8", errors="replace") as answers:
        answer = answers.read()
    _, status = os.waitpid(child, 0)
    if answer.startswith("+"):
        return answer[1:] or None
    number, _, text = answer[1:].partition(" ")
    raise OSError(int(number or 0), text or f"the process ended: {os.waitstatus_to_exitcode(status)}")


# Smallest executables, which end with status 42.
_ENDS = {"x86_64": (62, "bf2a000000b83c0000000f05"), "aarch64": (183, "400580d2a80b80d2010000d4")}


def program():
    """An executable that ends with status 42."""
    machine, code = _ENDS[platform.machine()]
    code, base = bytes.fromhex(code), 0x400000
    size = 120 + len(code)
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, base + 120, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 4096) + code


def executes(start, expected=(42,)):
    """Whether start() makes a process another program. Where there are no processes, what the kernel thinks of that call."""
    try:
        child = os.fork()
    except OSError:
        return accepted("execve", b"", None, None)
    if child == 0:
        quiet = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(quiet, fd)
        try:
            start()
        finally:
            os._exit(99)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status in expected


def executes_file(folder):
    """Whether a program that is written into a folder can be run from there."""
    name = f"{folder}/hotcell-drill-{os.getpid()}"
    fd = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o700)
    os.write(fd, program())
    os.close(fd)
    try:
        return f"ran a program in {folder}" if executes(lambda: os.execv(name, [name])) else None
    finally:
        os.unlink(name)


def commands(script, *words):
    """What a shell prints for a script with these words; None: nothing, or there is no shell that may be executed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        quiet = os.open("/dev/null", os.O_RDWR)
        for fd, end in ((0, quiet), (1, writing), (2, quiet)):
            os.dup2(end, fd)
        try:
            os.execv("/bin/bash", ["bash", "-c", script, "bash", *map(str, words)])
        finally:
            os._exit(99)
    os.close(writing)
    with os.fdopen(reading) as printed:
        text = printed.read().strip()
    os.waitpid(child, 0)
    return text or None


def become_root(flags=0):
    """Makes this process root of a user namespace of its own: with all capabilities, there."""
    uid, gid = os.getuid(), os.getgid()
    call("unshare", CLONE_NEWUSER | flags)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        try:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        except OSError:
            pass  # the capabilities are there without a name for the user, too
