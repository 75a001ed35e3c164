# Makes a process of the host the one who is told of a pipe.
# group: signals
# held: seccomp pid_namespace
import fcntl
def attack(lure):
    mine, its = os.pipe()
    try:
        fcntl.fcntl(mine, fcntl.F_SETOWN, lure["pid"])
        return "has the kernel send signals to a process of the host"
    finally:
        os.close(mine)
        os.close(its)
