# Looks for places that a host has and a cell has not.
# group: files
# held: mount_namespace
def attack(lure):
    found = [path for path in ("/home", "/root", "/var", "/run", "/boot", "/srv", "/mnt", "/opt") if os.path.exists(path)]
    return f"found {' '.join(found)}" if found else None
