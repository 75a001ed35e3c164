# Opens a POSIX queue of the host.
# group: ipc
# held: seccomp ipc_namespace
def attack(lure):
    os.close(call("mq_open", lure["mqueue"][1:].encode(), os.O_RDONLY | os.O_NONBLOCK, 0, None))
    return "opened a queue of the host"
