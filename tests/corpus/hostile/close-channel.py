# Closes its control channel and ends well.
# group: channel
# held: launcher
# status: error
import os
import stat

for fd in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            os.close(fd)
    except OSError:
        pass
