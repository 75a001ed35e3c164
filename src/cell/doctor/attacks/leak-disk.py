# Asks how much room the host's disk has.
# group: leaks
# held: seccomp
def attack(lure):
    facts = os.statvfs(os.__file__)
    return f"{facts.f_bfree} free blocks of {facts.f_blocks}" if facts.f_blocks else None
