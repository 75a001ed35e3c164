# Forks in every process that it has forked.
# group: resources
# held: cgroup rlimits launcher
# status: pids timeout
# options: --pids=24 --processes=fork --timeout=2
import os

while True:
    try:
        os.fork()
    except OSError:
        pass
