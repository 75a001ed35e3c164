# Becomes root.
# group: rights
# held: seccomp capabilities user_namespace
# outside: needs root
def attack(lure):
    def become():
        call("setresuid", 0, 0, 0)
        return "is root"
    return aside(become)
