# Moves pages between descriptors that are not open.
# group: kernel
# held: seccomp
def attack(lure):
    return accepted("splice", -1, None, -1, None, 4096, 0)
