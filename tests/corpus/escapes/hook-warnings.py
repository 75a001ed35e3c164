# warnings.showwarning is called from the C code of warnings.
# effect: run
import os
import warnings
warnings.showwarning = lambda *_: os.system("cat @SECRET@")
warnings.warn("now")
