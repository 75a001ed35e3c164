# Asks for the priority of a process of the host.
# group: processes
# held: pid_namespace
def attack(lure):
    return f"has priority {os.getpriority(os.PRIO_PROCESS, lure['pid'])}"
