# Makes very many long names in /tmp, which hold no data.
# group: limits
# held: cgroup launcher
# cell: small
import os
def attack(lure):
    links = lure["memory"] + (64 << 20) >> 10
    for number in range(links):
        os.symlink("x" * 120, f"/tmp/{number:0250d}")
    return f"made {links} names"
