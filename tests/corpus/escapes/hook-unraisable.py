# sys.unraisablehook gets what a destructor raised.
# effect: run
import os
import sys
sys.unraisablehook = lambda details: os.system("cat @SECRET@")
class Late:
    def __del__(self):
        raise ValueError
Late()
