# Swaps to a file that is not there.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("swapon", b"/hotcell-drill/none", 0)
