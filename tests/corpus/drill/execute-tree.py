# Runs a program that it finds in the tree.
# group: files
# held: seccomp landlock read_only_tree
def attack(lure):
    for name in ("/bin/true", "/usr/bin/env", "/usr/bin/python3", "/bin/busybox"):
        if os.access(name, os.X_OK) and executes(lambda: os.execv(name, [name, "--version"]), expected=(0,)):
            return f"ran {name}"
