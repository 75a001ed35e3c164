# Allows everybody to trace it.
# group: rights
# held: seccomp
# outside: needs a kernel with Yama
def attack(lure):
    call("prctl", 0x59616d61, -1, 0, 0, 0)
    return "may be traced by everybody"
