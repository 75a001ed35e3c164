# Leaves symbolic links to a file of the host.
# group: output
# held: landlock mount_flags launcher
# status: ok
# manifest: files 0
import os

os.makedirs("deep")
for target in ("@FILE@", "/etc/passwd", "/proc/self/environ", "..", ".", "/", "loop", "../../../../../@FILE@"):
    for name in ("loop", "deep/link"):
        try:
            os.symlink(target, name)
        except OSError:
            pass
