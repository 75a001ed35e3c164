# The same without the module types.
# effect: run
def work():
    pass
code = compile("__import__('os').system('cat @SECRET@')", "x", "eval")
type(work)(code, {})()
