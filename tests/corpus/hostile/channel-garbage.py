# Sends bytes that mean nothing through its control channel.
# group: channel
# held: launcher
# status: error
import os
import stat

for fd in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            for length in (1, 3, 4, 8, 100, 4096, 60000):
                os.write(fd, b"\xff" * length)
    except OSError:
        pass
os._exit(0)
