# Makes a map for programs that run in the kernel.
# group: kernel
# held: seccomp capabilities
# outside: needs root where kernel.unprivileged_bpf_disabled is set
import struct
def attack(lure):
    os.close(call("bpf", 0, struct.pack("IIIII", 2, 4, 8, 1, 0) + bytes(52), 72))  # BPF_MAP_CREATE, an array
    return "made a map in the kernel"
