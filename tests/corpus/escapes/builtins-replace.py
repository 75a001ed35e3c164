# The program's own __builtins__ is exchanged.
# effect: run
import codecs
__builtins__ = codecs.builtins
eval("__import__('os').system('cat @SECRET@')", {"__builtins__": __builtins__})
