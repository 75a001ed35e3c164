"""Whatever a program does, its host has no less memory for it than limits.memory and 64 MB: of what processes have, and of what the
kernel has for them.

Each program would take 400 MB and more. That it would, its first lines show outside of a cell, where they take little."""

import os
import platform
import subprocess
import sys

import pytest

import cells
import living
import meter
import siblings

GUARD = "off"  # the kernel, and the launcher, hold without it
MB = 1 << 20

# Its main thread ends; another takes memory, and makes pages read-only, which RLIMIT_DATA then no longer counts.
LEADER_ENDS = """
import ctypes, platform, threading, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
EXIT = {"x86_64": 60, "aarch64": 93}[platform.machine()]

def take(mb):
    for _ in range(mb):
        at = libc.mmap(None, 1 << 20, 3, 0x22, -1, 0)
        if at is None or at == ctypes.c_void_p(-1).value:
            return
        libc.memset(at, 1, 1 << 20)
        libc.mprotect(at, 1 << 20, 1)
"""

# What the others do meanwhile: memory belongs to all of them, whatever state they are in.
ENDINGS = {
    "one lives": """
def main():
    take(MB)
    time.sleep(LINGER)
threading.Thread(target=main).start()
libc.syscall(EXIT, 0)
""",
    "many sleep": """
def main():
    for _ in range(8):
        threading.Thread(target=time.sleep, args=(LINGER,)).start()
    take(MB)
    libc.syscall(EXIT, 0)
threading.Thread(target=main).start()
libc.syscall(EXIT, 0)
""",
    "stopped": """
import os, signal
def main():
    for _ in range(MB // 64):
        take(64)
    os.kill(os.getpid(), signal.SIGSTOP)
threading.Thread(target=main).start()
libc.syscall(EXIT, 0)
""",
    "from thread to thread": """
import _thread
END = time.monotonic() + LINGER
def hop(left):
    if left:
        take(1)
    if time.monotonic() < END:
        _thread.start_new_thread(hop, (max(left - 1, 0),))
threading.Thread(target=hop, args=(MB,)).start()
libc.syscall(EXIT, 0)
""",
}


# Each thread lives for one page and for as long as the kernel takes to make the next: hardly ever can one be looked at.
FLIGHT = r"""
import ctypes, struct, threading
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
SIZE, STACK, THREAD = 400 << 20, 1 << 15, 0x50f00  # CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
big, stacks, code = (libc.mmap(None, size, protection, 0x22, -1, 0) for size, protection in ((SIZE, 3), (2 * STACK, 3), (4096, 7)))
start = b"".join(name + struct.pack("<Q", value) for name, value in (
    (b"\x49\xbc", stacks + STACK - 64), (b"\x49\xbd", stacks + 2 * STACK - 64), (b"\x49\xbe", big), (b"\x49\xbf", big + SIZE)))
touch = b"\x41\xc6\x06\x01" + b"\x49\x81\xc6\x00\x10\x00\x00"                    # mov [r14], 1; add r14, 4096
loop = b"\x4d\x39\xfe\x73" + bytes([len(touch)]) + touch                          # cmp r14, r15; jae
loop += b"\xb8\x38\0\0\0\xbf" + struct.pack("<I", THREAD) + b"\x4c\x89\xee"        # clone on r13
loop += b"\x31\xd2\x4d\x31\xd2\x4d\x31\xc0\x0f\x05\x85\xc0"
leave = b"\xb8\x3c\0\0\0\x31\xff\x0f\x05"                                         # exit
loop += b"\x74" + bytes([2 + len(leave)])
loop += b"\x78" + struct.pack("b", -len(loop) - 2) + leave + b"\x4d\x87\xec"          # in the child: xchg r12, r13
loop += b"\xe9" + struct.pack("<i", -len(loop) - 5)
ctypes.memmove(code, start + loop, len(start + loop))
threading.Thread(target=ctypes.CFUNCTYPE(None)(code)).start()
libc.syscall(60, 0)
"""


def leader_ends(how, mb=600, linger=3):
    return f"{LEADER_ENDS}\nMB, LINGER = {mb}, {linger * cells.SLOWNESS:g}\n{ENDINGS[how]}"


def is_over_memory(manifest, limit_mb):
    assert manifest["status"] == "memory", [manifest["stderr"]["text"], *(manifest[key] for key in ("status", "reason", "usage", "denials", "warnings"))]
    assert "limits.memory" in manifest["reason"]
    assert manifest["usage"]["memory_peak"] >= limit_mb * MB * 3 // 4, manifest["usage"]


def test_the_process_of_a_main_thread_that_ended_shows_no_memory():
    program = leader_ends("one lives", 40, 60)
    with subprocess.Popen([sys.executable, "-c", program]) as process:

        def of_thread():
            for task in os.listdir(f"/proc/{process.pid}/task"):
                with open(f"/proc/{process.pid}/task/{task}/status", encoding="ascii") as file:
                    rows = dict(line.split(":", 1) for line in file.read().splitlines())
                if "RssAnon" in rows and int(rows["RssAnon"].split()[0]) >= 40 << 10:
                    return True
            return False
        try:
            cells.wait_until("a thread has it", of_thread)
            with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                assert "RssAnon" not in file.read()
        finally:
            process.kill()


@pytest.mark.parametrize("how", ENDINGS)
def test_memory_is_seen_when_the_main_thread_has_ended(user, how):
    result, taken = meter.measure(lambda: cells.run(leader_ends(how), "--memory=128M", user=user), 128)
    is_over_memory(result.manifest, 128)
    assert taken <= meter.most(128)


def test_who_is_never_there_when_looked_at_is_ended():
    if platform.machine() != "x86_64":
        cells.machines("the program is for x86-64")
    result, taken = meter.measure(lambda: cells.run(FLIGHT, "--memory=128M"), 128)
    assert result.manifest["status"] == "memory" and "limits.memory" in result.manifest["reason"], result
    assert taken <= meter.most(128)


def test_a_process_whose_threads_end_is_no_secret():
    """What ends by itself, and takes its time for it, is not called hidden."""
    program = f"{LEADER_ENDS}\ntake(150)\nfor _ in range(20):\n threading.Thread(target=time.sleep, args=(9,), daemon=True).start()"
    for _ in range(5):
        result = cells.run(program, "--memory=256M")
        assert result.manifest["status"] == "ok", result


@pytest.mark.parametrize("how", ["one lives", "from thread to thread"])
def test_memory_is_seen_when_the_main_thread_of_a_warm_cell_has_ended(how):
    def job():
        with siblings.Siblings(leader_ends(how), 1, policy={"guard": "off"}, limits={"memory": "128M"}) as cell:
            return cell.manifests()[0]
    manifest, taken = meter.measure(job, 128)
    is_over_memory(manifest, 128)
    assert taken <= meter.most(128)


@pytest.mark.parametrize("how", ENDINGS)
def test_memory_is_seen_when_the_main_thread_of_a_run_has_ended(how):
    def job():
        with living.Session("--memory=128M", "--enforcement=rlimits", "--guard=off") as session:
            return session.run(leader_ends(how)).manifest
    manifest, taken = meter.measure(job, 128)
    is_over_memory(manifest, 128)
    assert taken <= meter.most(128)
