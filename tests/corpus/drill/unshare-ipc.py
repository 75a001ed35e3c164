# Makes an IPC namespace in a user namespace of its own.
# group: namespaces
# held: seccomp
def attack(lure):
    return aside(lambda: become_root(CLONE_NEWIPC) or "made an IPC namespace")
