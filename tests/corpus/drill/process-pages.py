# Asks on which memory the pages of a process of the host lie.
# group: processes
# held: seccomp pid_namespace
# outside: needs a kernel that knows several memories
def attack(lure):
    call("move_pages", lure["pid"], 0, None, None, None, 0)
    return "asked for pages of a process of the host"
