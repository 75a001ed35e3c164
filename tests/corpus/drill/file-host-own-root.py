# Reads a file of the host by its own root in /proc.
# group: files
# held: mount_namespace proc landlock
def attack(lure):
    with open(f"/proc/self/root{lure['file']}", encoding="utf-8") as file:
        return "read the secret" if lure["secret"] in file.read() else None
