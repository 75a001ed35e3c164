# Asks to change where the kernel believes its memory to be.
# group: memory
# held: seccomp
def attack(lure):
    size = ctypes.c_uint(0)
    call("prctl", 35, 15, ctypes.byref(size), 0, 0)
    return "may change its memory layout"
