# Makes a symbolic link in its output or working directory.
# group: files
# held: landlock
def attack(lure):
    os.symlink(lure["file"], "hotcell-drill-link")
    os.unlink("hotcell-drill-link")
    return "made a symbolic link where results are collected"
