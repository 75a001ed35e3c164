# Gives files of the tree, of its inputs and of /proc a name among its results.
# group: output
# held: launcher read_only_tree
# status: ok
# manifest: files 0
import os

for path in ("/etc/passwd", os.__file__, "/proc/self/environ", "/dev/null", "/proc/self/exe"):
    for follow in (True, False):
        try:
            os.link(path, "/output/linked", follow_symlinks=follow)
        except OSError:
            pass
