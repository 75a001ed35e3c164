# Makes a POSIX queue, which stays when its process ends.
# group: ipc
# held: seccomp rlimits
def attack(lure):
    name = f"hotcell-drill-{os.getpid()}".encode()
    os.close(call("mq_open", name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600, None))
    call("mq_unlink", name)
    return "made a queue"
