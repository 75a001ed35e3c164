# Lists the descriptors of a process of the host.
# group: processes
# held: pid_namespace proc
def attack(lure):
    names = os.listdir(f"/proc/{lure['pid']}/fd")
    return f"sees {len(names)} descriptors"
