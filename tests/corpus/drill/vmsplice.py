# Puts its memory into a pipe without copying it.
# group: kernel
# held: seccomp
import struct
def attack(lure):
    mine, its = os.pipe()
    try:
        page = ctypes.create_string_buffer(64)
        call("vmsplice", its, struct.pack("PN", ctypes.addressof(page), 64), 1, 0)
        return "put pages into a pipe"
    finally:
        os.close(mine)
        os.close(its)
