# Sets the host's name, with a length that cannot be.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("sethostname", None, -1)
