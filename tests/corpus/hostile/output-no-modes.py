# Leaves files that nobody may read, and directories that nobody may enter.
# group: output
# held: launcher
# status: ok
import os

os.makedirs("closed/deep")
for name in ("closed/file", "closed/deep/file", "file"):
    with open(name, "w") as file:
        file.write("x")
    os.chmod(name, 0)
os.chmod("closed/deep", 0)
os.chmod("closed", 0o600)
os.chmod("/output", 0)
