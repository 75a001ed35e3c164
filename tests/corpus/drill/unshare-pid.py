# Makes a pid namespace in a user namespace of its own.
# group: namespaces
# held: seccomp
def attack(lure):
    return aside(lambda: become_root(CLONE_NEWPID) or "made a pid namespace")
