# A warning shows the source line of the place it is blamed on.
# effect: read
import warnings
warnings.warn_explicit("x", UserWarning, "@SECRET@", 1)
