# Maps little memory at very many places: what fills up is what the kernel keeps of it.
# group: resources
# held: cgroup launcher
# status: memory error killed
# options: --memory=64M --timeout=20
import mmap

no_reserve = 0x4000
for _ in range(4):
    place = mmap.mmap(-1, 32 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve, mmap.PROT_READ)
    place.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, len(place), 2 << 20):
        place[at]
