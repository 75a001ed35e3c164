# Fills pipes, as many as it may have.
# group: resources
# held: rlimits seccomp
# status: ok memory
# options: --memory=64M
import os

kept, written = [], 0
try:
    while True:
        kept.append(os.pipe())
        os.set_blocking(kept[-1][1], False)
        try:
            while True:
                written += os.write(kept[-1][1], bytes(4096))
        except BlockingIOError:
            pass
except OSError:
    pass
assert len(kept) < 128 and written <= 128 * 65536
