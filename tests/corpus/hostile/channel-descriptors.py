# Sends the launcher all that it has open.
# group: channel
# held: launcher
# status: error
import array
import os
import socket
import stat

for fd in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            channel = socket.socket(fileno=os.dup(fd))
            for _ in range(50):
                channel.sendmsg([b"\xff" * 8], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2, fd]))])
    except OSError:
        pass
os._exit(0)
