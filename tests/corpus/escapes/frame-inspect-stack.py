# inspect.stack() gives all frames.
# effect: run
import inspect
inspect.stack()[0].frame.f_builtins["__import__"]("os").system("cat @SECRET@")
