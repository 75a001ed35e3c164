# Gets a table of open files for one thread, with a limit of its own.
# group: limits
# held: seccomp
def attack(lure):
    call("close_range", 500, 501, 2)
    return "has a table of its own"
