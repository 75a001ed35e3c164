# Leaves a byte of each of many pages unread in sockets, which then have the pages.
# group: limits
# held: seccomp cgroup launcher
# cell: small
import os
import socket
import time
def attack(lure):
    file = os.open("/tmp/pages", os.O_RDWR | os.O_CREAT, 0o600)
    os.unlink("/tmp/pages")
    kept, pages, idle, end = [], 0, 0, time.monotonic() + lure["seconds"]
    while pages << 12 < lure["memory"] + (64 << 20):
        kept.extend(socket.socketpair())
        before = pages
        for one in kept[-2:]:
            one.setblocking(False)
            os.truncate(file, 0)
            os.pwrite(file, bytes(1 << 20), 0)
            try:
                for page in range(256):
                    os.sendfile(one.fileno(), file, 4096 * page, 1)
                    pages += 1
            except BlockingIOError:
                pass
        idle = 0 if pages > before else idle + 1
        if idle == 16 or time.monotonic() > end:
            raise TimeoutError(f"no more than {pages} pages")
    return f"{pages} pages wait in sockets"
