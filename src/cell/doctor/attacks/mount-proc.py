# Mounts the whole of /proc, in a pid namespace of its own.
# group: mounts
# held: seccomp proc
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS | CLONE_NEWPID)
        return aside(inside)
    def inside():
        call("mount", b"proc", b"/tmp", b"proc", 0, None)
        with open("/tmp/uptime", encoding="ascii") as file:
            return "reads the uptime in a new /proc: " + file.read().split()[0]
    return aside(mount)
