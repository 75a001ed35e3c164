# Starts a process in new namespaces of every kind by clone.
# group: namespaces
# held: seccomp
def attack(lure):
    every = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
    child = call("clone", every | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "started a process in new namespaces"
