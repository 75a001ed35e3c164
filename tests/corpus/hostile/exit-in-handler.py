# Fails, and has a handler of failures end its process with status 0.
# group: ending
# held: launcher
# status: error
import os
import sys

sys.excepthook = lambda *_: os._exit(0)
sys.unraisablehook = sys.excepthook
1 / 0
