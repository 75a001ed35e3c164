# Loads a system call filter with a listener of its own.
# group: kernel
# held: seccomp
import struct
def attack(lure):
    def load():
        allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000), 8)
        program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow))
        call("prctl", 38, 1, 0, 0, 0)
        os.close(call("seccomp", 1, 8, program))
        return "got a listener for system calls"
    return aside(load)
