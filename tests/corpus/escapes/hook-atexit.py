# atexit runs when the program, and perhaps the guard, has ended.
# effect: run
import atexit
import os
atexit.register(os.system, "cat @SECRET@")
