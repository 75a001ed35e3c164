# Looks for the keyring that is shared by everybody of its uid.
# group: kernel
# held: seccomp
def attack(lure):
    call("keyctl", 0, -4, 1, 0, 0)
    return "found the keyring of its uid"
