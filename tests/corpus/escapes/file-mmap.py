# A mapping of the file.
# effect: read
import mmap
with open("@SECRET@") as file:
    print(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)[:])
