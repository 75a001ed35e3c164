# inspect.currentframe(), and getattr with a built name.
# effect: run
import inspect
frame = inspect.currentframe()
getattr(frame, "f_" + "builtins")["__import__"]("os").system("cat @SECRET@")
