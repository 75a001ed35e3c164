# Opens the kernel's cryptography.
# group: network
# held: seccomp
# outside: needs a kernel that has it
import socket
def attack(lure):
    with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as kernel:
        kernel.bind(("hash", "sha256"))
        return "has the kernel compute hashes"
