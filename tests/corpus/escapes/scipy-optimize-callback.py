# A callback that compiled code calls; its caller is no Python frame of a library.
# effect: run
# tree: scientific
import sys
import scipy.optimize
def f(x):
    sys._getframe(0).f_builtins["__import__"]("os").system("cat @SECRET@")
    return x
scipy.optimize.brentq(f, -1, 1)
