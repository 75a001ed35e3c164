# Makes a system call by a number that only x32 programs use.
# group: kernel
# held: seccomp
# machine: x86_64
# outside: needs a kernel that runs x32 programs
def attack(lure):
    def getpid():
        return "made an x32 system call" if libc.syscall(ctypes.c_long(0x40000000 | 39)) == os.getpid() else None
    return aside(getpid)
