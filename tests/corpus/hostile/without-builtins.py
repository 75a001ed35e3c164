# Takes away what the interpreter itself needs.
# group: ending
# held: launcher
# status: ok error
import builtins
import sys

sys.modules.clear()
vars(builtins).clear()
