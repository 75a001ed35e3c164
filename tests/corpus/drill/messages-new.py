# Makes a System V queue, which stays when its process ends.
# group: ipc
# held: seccomp
def attack(lure):
    queue = call("msgget", 0, 0o600)
    call("msgctl", queue, 0, None)
    return "made a queue"
