# Leaves files that it still has open, mapped and locked.
# group: output
# held: launcher
# status: ok
# manifest: files 1
import fcntl
import mmap

file = open("mapped", "w+b")
file.write(b"x" * 4096)
file.flush()
fcntl.lockf(file, fcntl.LOCK_EX)
page = mmap.mmap(file.fileno(), 4096)
page[0:1] = b"y"
