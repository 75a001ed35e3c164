# numpy.distutils runs commands.
# effect: run
# until: 3.11
# tree: scientific
import warnings
warnings.simplefilter("ignore")
from numpy.distutils.exec_command import exec_command
print(exec_command("cat @SECRET@"))
