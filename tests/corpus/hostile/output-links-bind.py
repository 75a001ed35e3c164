# Leaves symbolic links to a file of the host in an output directory that is the host's own.
# group: output
# held: landlock mount_flags launcher
# status: ok
# options: --output-mode=bind
# manifest: files 0
import os

for target in ("@FILE@", "/etc/passwd", ".."):
    try:
        os.symlink(target, f"link{len(target)}")
    except OSError:
        pass
