# Leaves programs that run as whoever owns them.
# group: output
# held: seccomp mount_flags launcher
# status: ok
# options: --output-mode=bind
# manifest: plain-modes
import os

with open("program", "w") as file:
    file.write("#!/bin/sh\nid\n")
for mode in (0o4755, 0o2755, 0o6777):
    try:
        os.chmod("program", mode)
    except OSError:
        pass
