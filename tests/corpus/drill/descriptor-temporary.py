# Gives a file without a name the name of a file in a directory of the host.
# group: descriptors
# held: mount_namespace proc landlock
def attack(lure):
    folder = os.path.dirname(lure["file"])
    fd = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    try:
        name = f"{folder}/hotcell-drill-{os.getpid()}"
        call("linkat", AT_FDCWD, f"/proc/self/fd/{fd}".encode(), AT_FDCWD, name.encode(), 0x400)
        os.unlink(name)
        return "made a file in a directory of the host"
    finally:
        os.close(fd)
