# Reads disks before everybody else.
# group: rights
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    def rise():
        call("ioprio_set", 1, 0, 1 << 13)
        return "reads disks in real time"
    return aside(rise)
