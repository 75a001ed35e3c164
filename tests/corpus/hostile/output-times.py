# Leaves files from the far past and the far future.
# group: output
# held: launcher
# status: ok
# manifest: files 2
import os

for name, time in (("past", -(1 << 40)), ("future", 1 << 40)):
    with open(name, "w") as file:
        file.write("x")
    os.utime(name, (time, time))
