# Opens files until there are no more.
# group: resources
# held: rlimits
# status: ok
# options: --open-files=64
import os

kept = []
try:
    while True:
        kept.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
assert len(kept) < 64
