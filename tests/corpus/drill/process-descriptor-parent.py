# Takes a descriptor of its parent.
# group: processes
# held: seccomp
# outside: its parent there is not its user's
def attack(lure):
    process = call("pidfd_open", os.getppid(), 0)
    try:
        os.close(call("pidfd_getfd", process, 0, 0))
        return "has the standard input of its parent"
    finally:
        os.close(process)
