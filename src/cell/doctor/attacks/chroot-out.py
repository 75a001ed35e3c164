# Goes above its root: a directory that is held open, a new root below it, and up.
# group: mounts
# held: seccomp
import tempfile
def attack(lure):
    def leave():
        outside = os.open("/", os.O_RDONLY)
        become_root()
        folder = tempfile.mkdtemp()
        call("chroot", folder.encode())
        call("fchdir", outside)
        os.rmdir("." + folder)
        return "left its root"
    return aside(leave)
