# Asks where a process of the host may run.
# group: processes
# held: pid_namespace
def attack(lure):
    return f"runs on {len(os.sched_getaffinity(lure['pid']))} processors"
