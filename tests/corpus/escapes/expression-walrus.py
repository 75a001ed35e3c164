# An assignment expression in a comprehension binds the module.
# effect: run
[(m := __import__("os")), m.system("cat @SECRET@")]
