# Sets the times of what it was given, which others could read.
# group: descriptors
# held: read_only_tree
def attack(lure):
    os.utime(0)
    return "set the times of what it reads as its standard input"
