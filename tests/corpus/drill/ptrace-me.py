# Asks to be traced.
# group: processes
# held: seccomp
def attack(lure):
    def ask():
        call("ptrace", 0, 0, 0, 0)
        return "is traced"
    return aside(ask)
