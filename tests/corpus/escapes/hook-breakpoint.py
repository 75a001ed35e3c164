# breakpoint() calls whatever sys.breakpointhook is.
# effect: run
import os
import sys
sys.breakpointhook = lambda: os.system("cat @SECRET@")
breakpoint()
