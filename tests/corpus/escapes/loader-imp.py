# The old imp module.
# effect: run
# until: 3.11
import warnings
warnings.simplefilter("ignore")
import imp
imp.init_builtin("posix").system("cat @SECRET@")
