# Leaves files that are easily made, and that would take many times as long to hash as a program may run.
# group: limits
# held: launcher
# cell: bind
import tempfile
def attack(lure):
    place = tempfile.mkdtemp(dir="/output")
    for number in range(8):
        with open(f"{place}/{number}", "wb") as file:
            file.truncate(256 << 20)
