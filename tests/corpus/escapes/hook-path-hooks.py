# A hook on sys.path_hooks.
# effect: run
import os
import sys
def hook(path):
    if path == "cat @SECRET@":
        os.system(path)
    raise ImportError
sys.path_hooks.insert(0, hook)
sys.path.insert(0, "cat @SECRET@")
try:
    import harmless
except ImportError:
    pass
