# Follows a link in a directory that it was given, which leads to another file of the host.
# group: files
# held: mount_namespace landlock
# cell: directories
def attack(lure):
    with open(lure["given"] + "/out", encoding="utf-8") as file:
        return "read the secret" if lure["secret"] in file.read() else None
