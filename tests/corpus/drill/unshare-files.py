# Takes a table of descriptors of its own, with a limit of its own.
# group: namespaces
# held: seccomp
def attack(lure):
    def unshare():
        call("unshare", 0x400)
        return "has a table of descriptors of its own"
    return aside(unshare)
