# Gives a file of its own to the group that it is in already.
# group: files
# held: seccomp
import tempfile
def attack(lure):
    with tempfile.NamedTemporaryFile() as file:
        os.fchown(file.fileno(), -1, os.getgid())
        return "changed the owner of a file"
