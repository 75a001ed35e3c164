# Sets up a context for asynchronous input and output.
# group: kernel
# held: seccomp
def attack(lure):
    context = ctypes.c_ulong(0)
    call("io_setup", 1, ctypes.byref(context))
    return "set up a context for asynchronous input and output"
