# Makes mappings until there are no more.
# group: resources
# held: cgroup launcher
# status: ok memory error
# options: --memory=128M
import mmap

kept = []
try:
    while len(kept) < 100000:
        kept.append(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, (mmap.PROT_READ, mmap.PROT_WRITE)[len(kept) % 2]))
except (OSError, ValueError, MemoryError):
    pass
assert len(kept) < 100000
