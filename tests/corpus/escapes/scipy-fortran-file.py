# scipy.io opens files by name.
# effect: read
# tree: scientific
import numpy
import scipy.io
print(scipy.io.FortranFile("@SECRET@")._fp.read())
