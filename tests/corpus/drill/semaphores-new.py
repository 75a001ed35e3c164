# Makes System V semaphores, which stay when their process ends.
# group: ipc
# held: seccomp
def attack(lure):
    semaphores = call("semget", 0, 1, 0o600)
    call("semctl", semaphores, 0, 0, 0)
    return "made semaphores"
