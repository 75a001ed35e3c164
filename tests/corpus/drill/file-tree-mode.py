# Changes the mode of a file of the tree to what it is.
# group: files
# held: read_only_tree ids
# outside: needs root
def attack(lure):
    os.chmod(os.__file__, os.stat(os.__file__).st_mode & 0o777)
    return "changed modes in the tree"
