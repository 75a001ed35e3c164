# Asks the kernel for a key, for which the kernel may start a program of the host.
# group: kernel
# held: seccomp
def attack(lure):
    return accepted("request_key", b"user", b"hotcell-drill", None, -2, beyond=("ENOKEY",))
