# Reads a file of the host by going up from its directory.
# group: files
# held: mount_namespace landlock
def attack(lure):
    with open("../" * 60 + lure["file"], encoding="utf-8") as file:
        return "read the secret" if lure["secret"] in file.read() else None
