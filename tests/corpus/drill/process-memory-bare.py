# Reads at an address that is not mapped in a process of the host.
# group: processes
# held: seccomp pid_namespace
import struct
def attack(lure):
    buffer = ctypes.create_string_buffer(4)
    return accepted("process_vm_readv", lure["pid"], struct.pack("PN", ctypes.addressof(buffer), 4), 1,
                    struct.pack("PN", 8, 4), 1, 0, beyond=("EFAULT",))
