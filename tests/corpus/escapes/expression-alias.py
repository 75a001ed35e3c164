# Another name for eval.
# effect: run
calculate = eval
calculate("__import__('os').system('cat @SECRET@')")
