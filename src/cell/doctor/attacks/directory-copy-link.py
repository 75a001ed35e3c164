# Makes a link in its copy of a directory, for whoever takes its changes over.
# group: files
# held: landlock
# cell: directories
def attack(lure):
    os.symlink(lure["file"], lure["copied"] + "/drill-link")
    os.unlink(lure["copied"] + "/drill-link")
    return "made a symbolic link in a copy of a directory"
