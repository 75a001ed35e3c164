# Prints byte by byte, to make the launcher work.
# group: stdout
# held: launcher
# status: ok
import os

for _ in range(20000):
    os.write(1, b"x")
