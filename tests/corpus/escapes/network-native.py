# A socket made by the C library.
# effect: connect
import ctypes
import struct
libc = ctypes.CDLL(None)
address = struct.pack("=H", 2) + struct.pack("!H", @PORT@) + bytes([127, 0, 0, 1]) + bytes(8)
libc.connect(libc.socket(2, 1, 0), address, 16)
