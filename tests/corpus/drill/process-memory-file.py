# Opens the memory of a process of the host.
# group: processes
# held: pid_namespace proc
def attack(lure):
    with open(f"/proc/{lure['pid']}/mem", "rb"):
        return "opened the memory of a process of the host"
