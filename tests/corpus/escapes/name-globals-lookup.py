# globals() finds what a name would.
# effect: run
globals()["__builtins__"].__dict__["__import__"]("os").system("cat @SECRET@")
