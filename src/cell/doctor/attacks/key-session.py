# Joins a new session keyring.
# group: kernel
# held: seccomp
def attack(lure):
    def join():
        call("keyctl", 1, None, 0, 0, 0)
        return "joined a session keyring"
    return aside(join)
