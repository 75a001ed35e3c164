# A built-in function's __self__ is the module builtins, whole.
# effect: run
print.__self__.__import__("os").system("cat @SECRET@")
