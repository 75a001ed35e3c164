# numpy.distutils runs commands.
# effect: run
# tree: scientific
import warnings
warnings.simplefilter("ignore")
from numpy.distutils.exec_command import exec_command
print(exec_command("cat @SECRET@"))
