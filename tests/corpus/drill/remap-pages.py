# Changes the order of pages in a mapping.
# group: kernel
# held: seccomp
def attack(lure):
    return accepted("remap_file_pages", 0, 0, 0, 0, 0)
