# Becomes the one to whom orphans are given.
# group: processes
# held: seccomp
def attack(lure):
    def become():
        call("prctl", 36, 1, 0, 0, 0)
        return "is given orphans"
    return aside(become)
