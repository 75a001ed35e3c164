# Changes a file of the host through a descriptor that is only a name.
# group: descriptors
# held: mount_namespace proc
def attack(lure):
    fd = os.open(lure["file"], os.O_PATH)
    try:
        with open(f"/proc/self/fd/{fd}", encoding="utf-8") as file:
            return "read the secret" if lure["secret"] in file.read() else None
    finally:
        os.close(fd)
