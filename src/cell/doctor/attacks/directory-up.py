# Goes up from a directory of the host that it has open.
# group: files
# held: mount_namespace landlock
# cell: directories
def attack(lure):
    given = os.open(lure["given"], os.O_RDONLY | os.O_DIRECTORY)
    with open(os.open("../" * 60 + lure["file"], os.O_RDONLY, dir_fd=given), encoding="utf-8") as file:
        return "read the secret" if lure["secret"] in file.read() else None
