# Creates a file that runs as whoever owns it by the call whose arguments no filter sees.
# group: files
# held: seccomp
import struct
def attack(lure):
    name = f"hotcell-drill-{os.getpid()}"
    how = struct.pack("3Q", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o4700, 0)
    fd = call("openat2", AT_FDCWD, name.encode(), how, 24)
    try:
        return "created a set-user-id file" if os.fstat(fd).st_mode & 0o4000 else None
    finally:
        os.close(fd)
        os.unlink(name)
