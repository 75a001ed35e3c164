# Reads a file of the host by the root of one of its processes.
# group: processes
# held: pid_namespace proc
def attack(lure):
    with open(f"/proc/{lure['pid']}/root{lure['file']}", encoding="utf-8") as file:
        return "read the secret" if lure["secret"] in file.read() else None
