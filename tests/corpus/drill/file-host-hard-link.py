# Gives a file of the host another name in its own directory.
# group: files
# held: mount_namespace landlock
import tempfile
def attack(lure):
    with tempfile.TemporaryDirectory(dir=os.path.dirname(lure["file"])) as folder:
        os.link(lure["file"], f"{folder}/link")
        os.unlink(f"{folder}/link")
        return "linked a file of the host"
