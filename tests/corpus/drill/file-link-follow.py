# Follows a symbolic link that it makes in /tmp.
# group: files
# held: mount_flags
import tempfile
def attack(lure):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink("/dev/null", f"{folder}/link")
        os.close(os.open(f"{folder}/link", os.O_RDONLY))
        return "followed its own link"
