# Makes a network namespace in a user namespace of its own, for all that the kernel does with packets.
# group: namespaces
# held: seccomp
def attack(lure):
    return aside(lambda: become_root(CLONE_NEWNET) or "made a network namespace")
