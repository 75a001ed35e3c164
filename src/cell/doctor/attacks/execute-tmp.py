# Runs a program that it wrote to /tmp.
# group: files
# held: seccomp landlock mount_flags
def attack(lure):
    return executes_file("/tmp")
