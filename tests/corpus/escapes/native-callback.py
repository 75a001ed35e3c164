# A callback that the C library calls: its caller is no Python frame at all.
# effect: run
import ctypes
import os
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: os.system("cat @SECRET@") and 0)
numbers = (ctypes.c_int * 2)(2, 1)
ctypes.CDLL(None).qsort(numbers, 2, 4, compare)
