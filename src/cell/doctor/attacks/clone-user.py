# Starts a process in a new user namespace by clone.
# group: namespaces
# held: seccomp
def attack(lure):
    child = call("clone", CLONE_NEWUSER | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "started a process in a new user namespace"
