# Reaches a process of the host by a name below its own directory in /proc.
# group: processes
# held: pid_namespace proc
def attack(lure):
    with open(f"/proc/self/task/../../{lure['pid']}/status", encoding="utf-8") as file:
        return file.readline().strip()
