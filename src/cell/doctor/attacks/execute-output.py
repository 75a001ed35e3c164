# Runs a program that it wrote to its output or working directory.
# group: files
# held: seccomp landlock mount_flags
def attack(lure):
    return executes_file(os.getcwd())
