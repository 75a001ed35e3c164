# Leaves as many files as it may, each of a size that takes a while to hash.
# group: limits
# held: launcher
# cell: bind
import tempfile
def attack(lure):
    place = tempfile.mkdtemp(dir="/output")
    for number in range(1000):
        with open(f"{place}/{number}", "wb") as file:
            file.truncate(2 << 20)
