# Asks for access to the machine's ports.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    def ask():
        call("iopl", 3)
        return "got access to the machine's ports"
    return aside(ask)
