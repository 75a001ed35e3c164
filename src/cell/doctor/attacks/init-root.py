# Reads a file of the host by the root of the first process.
# group: processes
# held: pid_namespace proc mount_namespace
# outside: needs root
def attack(lure):
    with open(f"/proc/1/root{lure['file']}", encoding="utf-8") as file:
        return "read the secret" if lure["secret"] in file.read() else None
