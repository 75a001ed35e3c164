# Prints more than is kept.
# group: stdout
# held: launcher
# status: ok
# options: --stdout-size=64K
# manifest: truncated stdout
import sys

for _ in range(300):
    sys.stdout.write("x" * 9999 + "\n")
