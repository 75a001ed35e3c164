# Alternatives hide the callee from a check of call names.
# effect: run
(eval if 1 else print)("__import__('os').system('cat @SECRET@')")
