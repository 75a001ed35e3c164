# Drops its groups, with which rights go that were denied to a group.
# group: rights
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    def drop():
        call("setgroups", 0, None)
        return "dropped its groups"
    return aside(drop)
