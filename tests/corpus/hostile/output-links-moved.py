# Makes symbolic links in /tmp and moves them to /output.
# group: output
# held: landlock launcher
# status: ok
# manifest: files 0
import os

os.symlink("@FILE@", "/tmp/link")
for move in (os.rename, os.link):
    try:
        move("/tmp/link", "/output/link")
    except OSError:
        pass
