# Traces a child of its own.
# group: processes
# held: seccomp
def attack(lure):
    mine, its = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(its)
        os.read(mine, 1)
        os._exit(0)
    try:
        call("ptrace", 0x4206, child, 0, 0)  # PTRACE_SEIZE
        return "traced its child"
    finally:
        os.close(mine)
        os.close(its)
        os.waitpid(child, 0)
