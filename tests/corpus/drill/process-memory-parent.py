# Reads the memory of its parent.
# group: processes
# held: seccomp
# outside: its parent there is not its user's
import struct
def attack(lure):
    buffer = ctypes.create_string_buffer(4)
    return accepted("process_vm_readv", os.getppid(), struct.pack("PN", ctypes.addressof(buffer), 4), 1,
                    struct.pack("PN", 8, 4), 1, 0, beyond=("EFAULT",))
