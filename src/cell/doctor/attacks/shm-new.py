# Makes a System V segment, which stays when its process ends.
# group: ipc
# held: seccomp
def attack(lure):
    segment = call("shmget", 0, 4096, 0o600)
    call("shmctl", segment, 0, None)
    return "made a segment"
