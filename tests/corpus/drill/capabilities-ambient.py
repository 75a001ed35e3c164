# Gives a capability to all programs that it starts.
# group: rights
# held: seccomp capabilities
import struct
def attack(lure):
    def give():
        become_root()
        call("capset", struct.pack("II", 0x20080522, 0), struct.pack("6I", 1, 1, 1, 0, 0, 0))
        call("prctl", 47, 2, 0, 0, 0)
        return "gives capabilities to programs"
    return aside(give)
