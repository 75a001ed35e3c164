# Reads its control channel, so that nobody else can.
# group: channel
# held: launcher
# status: ok error timeout
# options: --timeout=2
import os
import socket
import stat

for fd in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            socket.socket(fileno=os.dup(fd)).recv(65536, socket.MSG_DONTWAIT)
    except OSError:
        pass
