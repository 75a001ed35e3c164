# Makes a system call of another architecture, by the old gate.
# group: kernel
# held: seccomp
# machine: x86_64
# outside: needs a kernel that runs 32-bit programs
import mmap
def attack(lure):
    def gate():
        code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(bytes.fromhex("53 b814000000 cd80 5b c3"))  # getpid, as i386 numbers it
        function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
        return "made a 32-bit system call" if function() == os.getpid() else None
    return aside(gate)
