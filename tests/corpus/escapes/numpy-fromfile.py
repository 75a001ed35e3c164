# numpy.fromfile reads with the C library's functions.
# effect: read
# tree: scientific
import numpy
print(numpy.fromfile("@SECRET@", dtype="u1").tobytes())
