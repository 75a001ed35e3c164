# Leaves one file under several names.
# group: output
# held: launcher
# status: ok
# manifest: skipped link
import os

with open("one", "w") as file:
    file.write("x")
os.makedirs("deep")
os.link("one", "two")
os.link("one", "deep/three")
