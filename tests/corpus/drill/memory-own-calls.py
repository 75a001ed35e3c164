# Writes into its own memory by the call that is for others.
# group: memory
# held: seccomp
import struct
def attack(lure):
    here = ctypes.create_string_buffer(b"here", 4)
    there = ctypes.create_string_buffer(4)
    call("process_vm_writev", os.getpid(), struct.pack("PN", ctypes.addressof(here), 4), 1,
         struct.pack("PN", ctypes.addressof(there), 4), 1, 0)
    return "wrote into its memory from outside"
