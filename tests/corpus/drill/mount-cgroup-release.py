# Mounts a cgroup v1 hierarchy, whose release agent the host would run.
# group: mounts
# held: seccomp mount_namespace
# outside: no user namespace may
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS | CLONE_NEWCGROUP)
        call("mount", b"none", b"/tmp", b"cgroup", 0, b"none,name=hotcell-drill")
        with open("/tmp/release_agent", "r+", encoding="ascii"):
            return "could name a program that the host runs"
    return aside(mount)
