# Writes into memory that it mapped read-only, through its own file in /proc.
# group: memory
# held: proc
import mmap
def attack(lure):
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    call("mprotect", address, 4096, mmap.PROT_READ)
    fd = os.open("/proc/self/mem", os.O_RDWR)
    try:
        os.pwrite(fd, b"x", address)
    finally:
        os.close(fd)
    return "wrote into read-only memory"
