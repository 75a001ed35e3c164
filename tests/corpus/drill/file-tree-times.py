# Changes the times of a file of the tree.
# group: files
# held: read_only_tree ids
# outside: needs root
def attack(lure):
    times = os.stat(os.__file__)
    os.utime(os.__file__, ns=(times.st_atime_ns, times.st_mtime_ns))
    return "changed times in the tree"
