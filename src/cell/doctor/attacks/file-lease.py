# Takes a lease on a file of its own: who opens it waits.
# group: files
# held: seccomp
import fcntl
import tempfile
def attack(lure):
    with tempfile.NamedTemporaryFile() as file:
        with open(file.name, "rb") as reader:
            file.close()
            fcntl.fcntl(reader, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            return "has a lease"
