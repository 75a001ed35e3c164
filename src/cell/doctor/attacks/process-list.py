# Looks for a process of the host in /proc.
# group: processes
# held: pid_namespace proc
def attack(lure):
    if str(lure["pid"]) in os.listdir("/proc"):
        return "sees a process of the host"
