# The old imp module.
# effect: run
import warnings
warnings.simplefilter("ignore")
import imp
imp.init_builtin("posix").system("cat @SECRET@")
