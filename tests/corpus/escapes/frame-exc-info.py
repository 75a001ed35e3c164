# sys.exc_info() has the traceback as its third element.
# effect: run
import sys
try:
    raise ValueError
except ValueError:
    sys.exc_info()[2].tb_frame.f_globals["__builtins__"].__import__("os").system("cat @SECRET@")
