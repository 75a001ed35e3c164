# Puts another directory in the place of the root.
# group: mounts
# held: seccomp
def attack(lure):
    def pivot():
        become_root(CLONE_NEWNS)
        call("mount", b"none", b"/tmp", b"tmpfs", 0, None)
        os.chdir("/tmp")
        call("pivot_root", b".", b".")
        return "has another root"
    return aside(pivot)
