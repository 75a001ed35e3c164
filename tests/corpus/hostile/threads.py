# Starts threads until there can be no more.
# group: resources
# held: cgroup rlimits launcher
# status: pids error
# options: --pids=24
import threading
import time

try:
    while True:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
except RuntimeError:
    time.sleep(0.5)
    raise
