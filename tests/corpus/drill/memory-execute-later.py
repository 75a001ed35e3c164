# Makes a mapping of a file that it wrote executable.
# group: memory
# held: mount_flags
import mmap
import tempfile
def attack(lure):
    with tempfile.TemporaryFile() as file:
        file.write(bytes(4096))
        file.flush()
        page = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
        call("mprotect", ctypes.addressof(ctypes.c_char.from_buffer(page)), 4096, mmap.PROT_READ | mmap.PROT_EXEC)
        return "made a mapping of a file executable"
