# Sets on which memory its pages shall lie.
# group: kernel
# held: seccomp
def attack(lure):
    call("set_mempolicy", 0, None, 0)
    return "set a memory policy"
