# Asks for access to one of the machine's ports.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    def ask():
        call("ioperm", 0x80, 1, 1)
        return "got access to a port of the machine"
    return aside(ask)
