# Looks for capabilities that were left to it.
# group: rights
# held: capabilities
# outside: needs root
import struct
def attack(lure):
    data = ctypes.create_string_buffer(24)
    call("capget", ctypes.create_string_buffer(struct.pack("II", 0x20080522, 0), 8), data)
    rights = struct.unpack("6I", data.raw)
    return f"has {rights}" if any(rights) else None
