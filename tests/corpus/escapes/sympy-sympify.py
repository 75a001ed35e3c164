# sympify() evaluates its text.
# effect: run
# tree: scientific-more
import sympy
sympy.sympify("__import__('os').system('cat @SECRET@')")
