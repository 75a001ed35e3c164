# Leaves attributes that give rights.
# group: output
# held: seccomp launcher
# status: ok
# manifest: files 1
import os

with open("file", "w") as file:
    file.write("x")
for name in ("user.x", "security.capability", "trusted.overlay.opaque", "system.posix_acl_access"):
    try:
        os.setxattr("file", name, b"x" * 20)
    except OSError:
        pass
