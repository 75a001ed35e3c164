# Sets the flags of a file of its own.
# group: files
# held: seccomp landlock
# outside: needs a file system with flags
import fcntl
import struct
def attack(lure):
    name = f"hotcell-drill-{os.getpid()}"
    with open(name, "wb") as file:
        os.unlink(name)
        fcntl.ioctl(file, 0x40086602, struct.pack("q", 0x80))  # FS_IOC_SETFLAGS, no access times
        return "set the flags of a file"
