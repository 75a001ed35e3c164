# Keeps its capabilities over a change of its user.
# group: rights
# held: seccomp capabilities
def attack(lure):
    def keep():
        call("prctl", 8, 1, 0, 0, 0)
        return "keeps its capabilities"
    return aside(keep)
