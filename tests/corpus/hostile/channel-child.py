# Leaves a child that goes on to use the control channel after the end.
# group: channel
# held: launcher
# status: ok error
# options: --processes=fork
import os
import stat

if os.fork() == 0:
    os.setsid()
    while True:
        for fd in range(3, 64):
            try:
                if stat.S_ISSOCK(os.fstat(fd).st_mode):
                    os.write(fd, b"\xff" * 100)
            except OSError:
                pass
