# Mounts the tree of cgroups.
# group: mounts
# held: seccomp mount_namespace
# outside: needs a host that mounts cgroup v2
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS | CLONE_NEWCGROUP)
        call("mount", b"none", b"/tmp", b"cgroup2", 0, None)
        return "mounted the cgroups"
    return aside(mount)
