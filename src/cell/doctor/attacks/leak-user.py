# Looks for its id on the host in who owns its files.
# group: leaks
# held: user_namespace
def attack(lure):
    if os.stat("/dev/null").st_uid:  # ids are translated: root is not 0, and a number that is the user's too tells nothing
        return None
    owners = {os.stat(path).st_uid for path in ("/tmp", ".", 0, 1)}
    return "its own id on the host" if lure["user"] in owners else None
