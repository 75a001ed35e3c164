# Takes every capability.
# group: rights
# held: seccomp capabilities
# outside: needs root
import struct
def attack(lure):
    def take():
        call("capset", struct.pack("II", 0x20080522, 0), struct.pack("6I", 0x1ff, 0x1ff, 0, 0, 0, 0))
        return "has capabilities"
    return aside(take)
