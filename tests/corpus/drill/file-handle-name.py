# Asks for a handle of the root directory, one that works in every mount.
# group: files
# held: seccomp
# outside: needs a file system that gives handles
import struct
def attack(lure):
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    call("name_to_handle_at", AT_FDCWD, b"/", handle, ctypes.byref(ctypes.c_int()), 0)
    return "has a handle of the root directory"
