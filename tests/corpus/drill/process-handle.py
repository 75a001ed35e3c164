# Opens a descriptor of a process of the host.
# group: processes
# held: seccomp pid_namespace
def attack(lure):
    os.close(call("pidfd_open", lure["pid"], 0))
    return "has a descriptor of a process of the host"
