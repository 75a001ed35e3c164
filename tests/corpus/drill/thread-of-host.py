# Lists the threads of a process of the host.
# group: processes
# held: pid_namespace proc
def attack(lure):
    return f"sees {len(os.listdir('/proc/%d/task' % lure['pid']))} threads"
