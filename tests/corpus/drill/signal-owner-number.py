# Chooses the signal that the kernel sends when a pipe can be read.
# group: signals
# held: seccomp
import fcntl
import signal
def attack(lure):
    mine, its = os.pipe()
    try:
        fcntl.fcntl(mine, fcntl.F_SETSIG, signal.SIGURG)
        return "chose a signal"
    finally:
        os.close(mine)
        os.close(its)
