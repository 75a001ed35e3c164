# Opens every device that it finds, but for the five that programs need.
# group: devices
# held: mount_namespace landlock
def attack(lure):
    known = {"null", "zero", "full", "random", "urandom"}
    for folder, folders, names in os.walk("/dev"):
        for name in sorted(set(names) - known):
            try:
                os.close(os.open(f"{folder}/{name}", os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
            except OSError:
                continue
            return f"opened {folder}/{name}"
