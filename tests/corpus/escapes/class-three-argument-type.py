# type() with three arguments makes a class whose bases and attributes are text.
# effect: run
made = type("Made", (object,), {"__init_" + "subclass__": classmethod(lambda cls: __import__("os").system("cat @SECRET@"))})
type("Child", (made,), {})
