# Traces its parent.
# group: processes
# held: seccomp user_namespace
# outside: its parent there is not its user's
def attack(lure):
    parent = os.getppid()
    def trace():
        call("ptrace", 0x4206, parent, 0, 0)  # PTRACE_SEIZE
        return "traced its parent"
    return aside(trace)
