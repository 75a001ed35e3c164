# Reads the host's name from files.
# group: leaks
# held: mount_namespace proc
def attack(lure):
    for path in ("/etc/hostname", "/proc/sys/kernel/hostname", "/etc/hosts"):
        try:
            with open(path, encoding="utf-8") as file:
                if lure["hostname"] in file.read():
                    return f"the host's name in {path}"
        except OSError:
            pass
