# Reads a file of the host by the newer call to open.
# group: files
# held: seccomp mount_namespace landlock
import struct
def attack(lure):
    fd = call("openat2", AT_FDCWD, lure["file"].encode(), struct.pack("3Q", os.O_RDONLY, 0, 0), 24)
    with open(fd, encoding="utf-8") as file:
        return "read the secret" if lure["secret"] in file.read() else None
