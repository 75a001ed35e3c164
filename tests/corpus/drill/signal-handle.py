# Sends nothing to a process of the host by a descriptor.
# group: signals
# held: seccomp pid_namespace
def attack(lure):
    process = call("pidfd_open", lure["pid"], 0)
    try:
        call("pidfd_send_signal", process, 0, None, 0)
        return "may send signals to a process of the host"
    finally:
        os.close(process)
