# Makes very many long names in /tmp, which hold no data.
# group: limits
# held: cgroup launcher
# cell: small
import os
import time
def attack(lure):
    links = lure["memory"] + (64 << 20) >> 10
    end = time.monotonic() + lure["seconds"]
    for number in range(links):
        if time.monotonic() > end:
            raise TimeoutError(f"no more than {number} names")
        os.symlink("x" * 120, f"/tmp/{number:0250d}")
    return f"made {links} names"
