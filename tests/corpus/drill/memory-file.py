# Makes a file that is in no file system.
# group: memory
# held: seccomp
def attack(lure):
    os.close(call("memfd_create", b"drill", 0))
    return "made a file outside of all file systems"
