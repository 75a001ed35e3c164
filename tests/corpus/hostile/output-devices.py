# Leaves devices.
# group: output
# held: seccomp landlock capabilities mount_flags launcher
# status: ok
# manifest: files 0
import os
import stat

for kind, number in ((stat.S_IFCHR, os.makedev(1, 3)), (stat.S_IFBLK, os.makedev(8, 0)), (stat.S_IFCHR, 0)):
    try:
        os.mknod("device", kind | 0o666, number)
    except OSError:
        pass
