# Gives a file in its copy of a directory a set-user-ID bit.
# group: files
# held: seccomp
# cell: directories
def attack(lure):
    os.chmod(lure["copied"] + "/words", 0o4755)
    os.chmod(lure["copied"] + "/words", 0o644)
    return "set a set-user-ID bit"
