# Reads the memory of a process of the host.
# group: processes
# held: seccomp pid_namespace proc
import struct
def attack(lure):
    with open(f"/proc/{lure['pid']}/maps", encoding="ascii") as maps:
        start = int(maps.readline().partition("-")[0], 16)
    buffer = ctypes.create_string_buffer(4)
    call("process_vm_readv", lure["pid"], struct.pack("PN", ctypes.addressof(buffer), 4), 1, struct.pack("PN", start, 4), 1, 0)
    return f"read {buffer.raw!r} in a process of the host"
