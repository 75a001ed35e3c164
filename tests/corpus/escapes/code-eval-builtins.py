# eval with globals without builtins, which then are put in.
# effect: run
scope = {}
eval("1", scope)
found = scope["__builtins__"]
(found["__import__"] if isinstance(found, dict) else found.__import__)("os").system("cat @SECRET@")
