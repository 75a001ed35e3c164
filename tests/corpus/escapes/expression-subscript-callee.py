# The callee is an element of a list.
# effect: run
[print, eval, exec][1]("__import__('os').system('cat @SECRET@')")
