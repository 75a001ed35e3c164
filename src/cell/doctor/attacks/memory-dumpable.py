# Makes its memory readable for others of its uid, and core dumps possible.
# group: memory
# held: seccomp
def attack(lure):
    call("prctl", 4, 1, 0, 0, 0)
    if call("prctl", 3, 0, 0, 0, 0) == 1:
        return "is dumpable"
