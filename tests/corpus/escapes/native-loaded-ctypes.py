# ctypes as another module imported it.
# effect: run
import multiprocessing.sharedctypes
multiprocessing.sharedctypes.ctypes.CDLL(None).system(b"cat @SECRET@")
