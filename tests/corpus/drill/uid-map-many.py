# Maps all ids of the namespace above into a user namespace of its own.
# group: namespaces
# held: seccomp proc capabilities
# outside: only a process of the namespace above may map as much
def attack(lure):
    def map_all():
        call("unshare", CLONE_NEWUSER)
        with open("/proc/self/uid_map", "w", encoding="ascii") as file:
            file.write("0 0 4294967295")
        return "mapped every id"
    return aside(map_all)
