# Takes the root file system up to change its options.
# group: mounts
# held: seccomp
def attack(lure):
    def pick():
        become_root(CLONE_NEWNS)
        os.close(call("fspick", AT_FDCWD, b"/", 0))
        return "may change the options of the root file system"
    return aside(pick)
