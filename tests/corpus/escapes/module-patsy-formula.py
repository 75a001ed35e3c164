# A formula is evaluated by a library, with the library's built-in functions.
# effect: run
# tree: scientific
from patsy.eval import EvalEnvironment
EvalEnvironment.capture(0).eval("__import__('os').system('cat @SECRET@')")
