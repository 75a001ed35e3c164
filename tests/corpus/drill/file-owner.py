# Gives a file of its own away.
# group: files
# held: seccomp capabilities
# outside: needs root
import tempfile
def attack(lure):
    with tempfile.NamedTemporaryFile() as file:
        os.fchown(file.fileno(), 1, 1)
        return "gave a file away"
