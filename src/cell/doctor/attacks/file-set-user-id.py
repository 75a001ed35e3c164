# Makes a file that runs as whoever owns it.
# group: files
# held: seccomp
import tempfile
def attack(lure):
    with tempfile.NamedTemporaryFile() as file:
        os.fchmod(file.fileno(), 0o4711)
        return "made a set-user-id file" if os.fstat(file.fileno()).st_mode & 0o4000 else None
