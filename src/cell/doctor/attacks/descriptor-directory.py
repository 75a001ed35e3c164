# Goes up from every directory that it has open or can open, to a file of the host.
# group: descriptors
# held: mount_namespace landlock
def attack(lure):
    opened = os.open(".", os.O_RDONLY)
    try:
        for fd in range(256):
            try:
                found = os.open("../" * 60 + lure["file"], os.O_RDONLY, dir_fd=fd)
            except OSError:
                continue
            with open(found, encoding="utf-8") as file:
                if lure["secret"] in file.read():
                    return f"read the secret from descriptor {fd}"
    finally:
        os.close(opened)
