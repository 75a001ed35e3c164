# A shared library that the program brought: a copy of the C library.
# effect: run
import ctypes
import shutil
import tempfile
path = [line.split()[-1] for line in open("/proc/self/maps") if "libc.so" in line or "libc-" in line][0]
copy = tempfile.mkdtemp() + "/mine.so"
shutil.copy(path, copy)
ctypes.CDLL(copy).execl(b"/bin/cat", b"cat", b"@SECRET@", None)
