# Leaves files that nobody may read in an output directory that is the host's own.
# group: output
# held: launcher
# status: ok
# options: --output-mode=bind
import os

os.makedirs("closed")
for name in ("closed/file", "file"):
    with open(name, "w") as file:
        file.write("x")
    os.chmod(name, 0)
os.chmod("closed", 0)
