# Becomes root of a user namespace.
# group: rights
# held: seccomp
def attack(lure):
    def become():
        become_root()
        call("setresuid", 0, 0, 0)
        return "is root of a user namespace"
    return aside(become)
