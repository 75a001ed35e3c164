# sys._getframe() gives the frame, its builtins are the interpreter's.
# effect: run
import sys
sys._getframe().f_builtins["__import__"]("os").system("cat @SECRET@")
