# Gives a file of its own a capability.
# group: files
# held: seccomp
import struct
import tempfile
def attack(lure):
    def give():
        with tempfile.NamedTemporaryFile() as file:
            become_root()
            rights = struct.pack("<IIIII", 0x02000001, 1 << 21, 0, 0, 0)
            call("setxattr", file.name.encode(), b"security.capability", rights, len(rights), 0)
            return "made a file with a capability"
    return aside(give)
