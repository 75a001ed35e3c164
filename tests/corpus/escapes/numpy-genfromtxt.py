# numpy.genfromtxt reads text.
# effect: read
# tree: scientific
import numpy
print(numpy.genfromtxt("@SECRET@", dtype=str))
