# Runs before everybody else.
# group: rights
# held: seccomp rlimits capabilities
# outside: needs root
def attack(lure):
    def rise():
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        return "runs in real time"
    return aside(rise)
