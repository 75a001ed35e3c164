# Prints more errors than are kept.
# group: stdout
# held: launcher
# status: ok
# options: --stderr-size=64K
# manifest: truncated stderr
import os

for _ in range(300):
    os.write(2, b"x" * 9999 + b"\n")
