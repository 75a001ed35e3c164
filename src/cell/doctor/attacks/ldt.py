# Reads its local descriptor table, one that the kernel keeps for old programs.
# group: kernel
# held: seccomp
# machine: x86_64
def attack(lure):
    call("modify_ldt", 0, ctypes.create_string_buffer(64), 64)
    return "read its local descriptor table"
