# Leaves a file nine hundred directories deep.
# group: output
# held: launcher
# status: ok
# manifest: files 0; skipped deep
import os

for _ in range(900):
    os.mkdir("d")
    os.chdir("d")
with open("file", "w") as file:
    file.write("x")
