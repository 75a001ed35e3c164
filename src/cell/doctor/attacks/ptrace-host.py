# Traces a process of the host.
# group: processes
# held: seccomp pid_namespace
def attack(lure):
    def trace():
        call("ptrace", 0x4206, lure["pid"], 0, 0)  # PTRACE_SEIZE: it is not even stopped
        return "traced a process of the host"
    return aside(trace)
