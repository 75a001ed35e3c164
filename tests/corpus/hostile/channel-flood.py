# Fills its control channel as fast as it can.
# group: channel
# held: launcher
# status: error timeout
# options: --timeout=2
import os
import stat

sockets = []
for fd in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            sockets.append(fd)
    except OSError:
        pass
while sockets:
    for fd in list(sockets):
        try:
            os.write(fd, bytes(1000))
        except OSError:
            sockets.remove(fd)
os._exit(0)
