# ctypes calls system of the C library.
# effect: run
import ctypes
ctypes.CDLL(None).system(b"cat @SECRET@")
