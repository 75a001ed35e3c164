# Closes an output directory that is the host's own, to its owner too.
# group: output
# held: launcher
# status: ok
# options: --output-mode=bind
# manifest: private; files 1
import os

with open("file", "w") as file:
    file.write("x")
os.chmod("/output", 0)
