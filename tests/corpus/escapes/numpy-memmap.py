# numpy.memmap maps a file.
# effect: read
# tree: scientific
import numpy
print(numpy.memmap("@SECRET@", mode="r").tobytes())
