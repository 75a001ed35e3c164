# Maps the host's root into its own user namespace.
# group: namespaces
# held: seccomp proc capabilities
# outside: the map of the host's own namespace cannot be written
def attack(lure):
    def map_root():
        with open("/proc/self/uid_map", "w", encoding="ascii") as file:
            file.write("0 0 1")
        return "mapped the host's root"
    return aside(map_root)
