# Asks how a process of the host is scheduled.
# group: processes
# held: pid_namespace
def attack(lure):
    return f"is scheduled as {os.sched_getscheduler(lure['pid'])}"
