# Descriptors that were left open: each is tried as a directory, after one for the working directory.
# effect: read
import os
os.open(".", os.O_RDONLY)
for number in os.listdir("/proc/self/fd"):
    try:
        print(open(f"/proc/self/fd/{number}/{'../' * 40}@SECRET@").read())
    except OSError:
        pass
