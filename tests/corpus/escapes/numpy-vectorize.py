# A universal function calls any function for each element.
# effect: run
# tree: scientific
import os
import numpy
numpy.frompyfunc(os.system, 1, 1)(numpy.array(["cat @SECRET@"], dtype=object))
