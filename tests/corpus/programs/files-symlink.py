# Symbolic links.
# difference: os.symlink fails with PermissionError; the mounts of a cell follow no links, so it may not make any
import os
from pathlib import Path
Path("target.txt").write_text("x")
try:
    os.symlink("target.txt", "link")
except PermissionError:
    print("no links")
print(os.path.islink("link"), os.path.exists("link"))
