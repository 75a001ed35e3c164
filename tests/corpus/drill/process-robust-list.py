# Asks for the list of locks of a process of the host.
# group: processes
# held: pid_namespace
def attack(lure):
    call("get_robust_list", lure["pid"], ctypes.byref(ctypes.c_ulong()), ctypes.byref(ctypes.c_ulong()))
    return "knows where a process of the host keeps its locks"
