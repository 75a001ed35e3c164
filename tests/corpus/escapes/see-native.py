# The same by the C library's open and read.
# effect: see
import ctypes
libc = ctypes.CDLL(None)
data = ctypes.create_string_buffer(4096)
libc.read(libc.open(b"/proc/@VICTIM@/cmdline", 0), data, 4096)
print(data.raw.replace(b"\0", b" ").decode())
