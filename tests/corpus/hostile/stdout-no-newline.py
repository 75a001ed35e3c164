# Prints one enormous line.
# group: stdout
# held: launcher
# status: ok
# options: --stdout-size=64K
# manifest: truncated stdout
import os

for _ in range(300):
    os.write(1, b"x" * 10000)
