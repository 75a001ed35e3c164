# Sets the host's time zone to one that cannot be.
# group: kernel
# held: seccomp capabilities
# outside: needs root
import struct
def attack(lure):
    return accepted("settimeofday", None, struct.pack("ii", 99999, 0))
