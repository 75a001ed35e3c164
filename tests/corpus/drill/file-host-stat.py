# Asks whether a file of the host is there.
# group: files
# held: mount_namespace
def attack(lure):
    return f"a file of {os.stat(lure['file']).st_size} bytes"
