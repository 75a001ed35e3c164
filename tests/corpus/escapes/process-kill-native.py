# The same by the C library.
# effect: kill
import ctypes
ctypes.CDLL(None).kill(@VICTIM@, 9)
