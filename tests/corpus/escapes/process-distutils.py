# distutils starts compilers.
# effect: run
import warnings
warnings.simplefilter("ignore")
import distutils.spawn
distutils.spawn.spawn(["cat", "@SECRET@"])
