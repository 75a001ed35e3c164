# getenv of the C library.
# effect: env
import ctypes
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
print(getenv(b"ESCAPE_SECRET").decode())
