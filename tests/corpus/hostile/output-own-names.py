# Leaves files with names like those that the launcher uses.
# group: output
# held: launcher
# status: ok
import os

for name in (".hotcell-1-0", ".hotcell-session", ".hotcell-deep-0", "hotcell.lock", ".lock"):
    with open(name, "w") as file:
        file.write("x")
    os.makedirs(f"{name}.d/{name}")
