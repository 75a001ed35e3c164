# Adds a key to its process's keyring.
# group: kernel
# held: seccomp
def attack(lure):
    call("add_key", b"user", b"hotcell-drill", b"x", 1, -2)
    return "added a key"
