# Mounts a writable layer over the read-only tree.
# group: mounts
# held: seccomp
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS)
        call("mount", b"none", b"/tmp", b"tmpfs", 0, None)
        for name in ("up", "work", "all"):
            os.mkdir(f"/tmp/{name}")
        call("mount", b"none", b"/tmp/all", b"overlay", 0, b"lowerdir=/usr,upperdir=/tmp/up,workdir=/tmp/work")
        return "made the tree writable"
    return aside(mount)
