# Looks for descriptors that it was given and that are more than pipes and its own control channel.
# group: descriptors
# held: launcher
# outside: it is given none there
import stat
def attack(lure):
    for fd in range(1024):
        try:
            facts = os.fstat(fd)
        except OSError:
            continue
        if stat.S_ISDIR(facts.st_mode) or stat.S_ISBLK(facts.st_mode) or stat.S_ISCHR(facts.st_mode) and facts.st_rdev != os.makedev(1, 3):
            return f"descriptor {fd} is of mode {facts.st_mode:o}"
