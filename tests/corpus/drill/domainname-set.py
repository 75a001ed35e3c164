# Sets the host's domain, with a length that cannot be.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("setdomainname", None, -1)
