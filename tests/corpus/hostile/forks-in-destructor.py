# Forks whenever an object goes.
# group: resources
# held: cgroup rlimits launcher
# status: pids timeout error ok
# options: --pids=24 --processes=fork --timeout=2
import os


class Again:
    def __del__(self):
        try:
            os.fork()
        except OSError:
            pass
        global kept
        kept = Again()


kept = Again()
for _ in range(2000):
    kept = None
