# Reads the arguments of a process of the host.
# group: processes
# held: pid_namespace proc
def attack(lure):
    with open(f"/proc/{lure['pid']}/cmdline", encoding="utf-8") as file:
        return "read the secret in its arguments" if lure["secret"] in file.read() else None
