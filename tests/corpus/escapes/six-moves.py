# six finds modules under other names, builtins among them.
# effect: run
# tree: scientific
from six.moves import builtins
builtins.eval("__import__('os').system('cat @SECRET@')")
