# Takes a descriptor of a process of the host.
# group: processes
# held: seccomp pid_namespace
def attack(lure):
    process = call("pidfd_open", lure["pid"], 0)
    try:
        os.close(call("pidfd_getfd", process, 1, 0))
        return "has the standard output of a process of the host"
    finally:
        os.close(process)
