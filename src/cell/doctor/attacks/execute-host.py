# Runs a program of the host by the root of one of its processes.
# group: files
# held: seccomp pid_namespace proc
def attack(lure):
    name = f"/proc/{lure['pid']}/exe"
    return "ran a program of the host" if executes(lambda: os.execv(name, ["sed", "--version"]), expected=(0,)) else None
