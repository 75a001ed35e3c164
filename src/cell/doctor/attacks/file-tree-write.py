# Opens a file of the tree for writing.
# group: files
# held: read_only_tree landlock ids
# outside: needs root
def attack(lure):
    os.close(os.open(os.__file__, os.O_WRONLY))
    return "may write the standard library"
