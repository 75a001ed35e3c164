# Looks for processes that are not its own in /proc.
# group: processes
# held: pid_namespace proc
def attack(lure):
    others = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]
    if others:
        return f"sees {len(others)} other processes"
