# Reads a file of the host by a symbolic link that it makes.
# group: files
# held: mount_namespace mount_flags landlock
import tempfile
def attack(lure):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(lure["file"], f"{folder}/link")
        with open(f"{folder}/link", encoding="utf-8") as file:
            return "read the secret" if lure["secret"] in file.read() else None
