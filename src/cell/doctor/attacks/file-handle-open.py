# Opens a file by a handle, which goes round all names.
# group: files
# held: seccomp capabilities
# outside: needs root
import struct
def attack(lure):
    root = os.open("/", os.O_RDONLY)
    try:
        handle = ctypes.create_string_buffer(struct.pack("IiQ", 8, 1, 2), 16)
        return accepted("open_by_handle_at", root, handle, 0, beyond=("ESTALE", "EOPNOTSUPP", "EINVAL"))
    finally:
        os.close(root)
