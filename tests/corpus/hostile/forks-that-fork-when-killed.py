# Keeps as many processes as it may have by replacing each that ends.
# group: resources
# held: cgroup launcher
# status: timeout pids
# options: --pids=24 --processes=fork --timeout=1
import os
import signal

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0 and os.fork() == 0:
            os.setsid()
    except OSError:
        pass
