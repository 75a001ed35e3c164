# Opens the files that it is made of for writing.
# group: descriptors
# held: read_only_tree proc landlock
# outside: needs root
def attack(lure):
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    for name in files:
        try:
            os.close(os.open(name, os.O_WRONLY))
        except OSError:
            continue
        return f"may write {name}"
