# Calls itself without end.
# group: resources
# held: launcher cgroup
# status: error memory
# options: --memory=128M
import sys

sys.setrecursionlimit(1 << 30)


def deeper():
    deeper()


deeper()
