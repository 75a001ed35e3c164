# numpy.ctypeslib loads libraries and keeps ctypes.
# effect: run
# tree: scientific
import numpy
numpy.ctypeslib.ctypes.CDLL(None).system(b"cat @SECRET@")
