# Opens what it was given once more, with more rights.
# group: descriptors
# held: proc mount_flags landlock
# outside: it is given nothing there that it may not write
import stat
def attack(lure):
    for fd in range(64):
        try:
            facts = os.fstat(fd)
            again = os.open(f"/proc/self/fd/{fd}", os.O_RDWR | os.O_NONBLOCK)
        except OSError:
            continue
        os.close(again)
        if stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode):
            return f"reopened descriptor {fd} for writing"
