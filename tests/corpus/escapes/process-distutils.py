# distutils starts compilers.
# effect: run
# until: 3.11
import warnings
warnings.simplefilter("ignore")
import distutils.spawn
distutils.spawn.spawn(["cat", "@SECRET@"])
