# Makes a directory in the place of the manifest.
# group: output
# held: launcher
# status: ok
import os

os.makedirs("manifest.json/manifest.json")
with open("manifest.json/file", "w") as file:
    file.write("x")
