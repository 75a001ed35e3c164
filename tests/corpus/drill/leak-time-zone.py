# Reads in which place the host is.
# group: leaks
# held: mount_namespace
# outside: needs a host that says so
def attack(lure):
    place = os.readlink("/etc/localtime")
    return f"is in {place}" if not place.endswith(("/UTC", "/Etc/UTC")) else None
