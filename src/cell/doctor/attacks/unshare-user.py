# Makes a user namespace, in which it would have every capability.
# group: namespaces
# held: seccomp
def attack(lure):
    def unshare():
        call("unshare", CLONE_NEWUSER)
        return "made a user namespace"
    return aside(unshare)
