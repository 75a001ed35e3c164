# ndarray.tofile writes without Python's open.
# effect: write
# tree: scientific
import numpy
numpy.arange(3).tofile("@WRITE@")
