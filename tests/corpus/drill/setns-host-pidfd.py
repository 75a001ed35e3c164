# Enters the namespaces of a process of the host, by a descriptor of the process.
# group: namespaces
# held: seccomp pid_namespace
# outside: needs root
def attack(lure):
    def enter():
        call("setns", call("pidfd_open", lure["pid"], 0), CLONE_NEWNS | CLONE_NEWPID)
        return "entered the namespaces of a process of the host"
    return aside(enter)
