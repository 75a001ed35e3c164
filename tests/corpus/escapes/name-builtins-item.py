# __builtins__ as an object or a dict, whichever it is.
# effect: run
built = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
built["__import__"]("os").system("cat @SECRET@")
